# SPDX-License-Identifier: Apache-2.0
#
# The verilated configurations that tests/device loads (tests/device/harness.h names them).
TEST_NEEDS_device := $(foreach config,r16c16-b65536-w16-m1-dpi r8c4-b16384-w32-m2-rtl-rand r8c4-b16384-w32-m2-rtl-waves \
	r16c16-b65536-w16-p2-m1-dpi r8c4-b16384-w32-p2-m2-rtl-rand, \
	$(RTL_BUILD)/$(config)/wc_rtl.so)
