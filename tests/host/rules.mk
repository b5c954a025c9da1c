# SPDX-License-Identifier: Apache-2.0
#
# tests/host runs on the C model, and on the quick RTL configuration.
TEST_NEEDS_host := $(RTL_BUILD)/$(QUICK)/wc_rtl.so
