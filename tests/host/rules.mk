# SPDX-License-Identifier: Apache-2.0
#
# tests/host runs on the C model, on the quick RTL configuration, and on one of two cores.
TEST_NEEDS_host := $(RTL_BUILD)/$(QUICK)/wc_rtl.so $(RTL_BUILD)/r8c4-b16384-w32-c2-m2-rtl-rand/wc_rtl.so
