# SPDX-License-Identifier: Apache-2.0
#
# tests/cli drives the command itself.
TEST_NEEDS_cli := $(BUILD)/wavecore
TEST_OBJS_cli := $(BUILD)/driver/cli/prove.o $(BUILD)/driver/cli/run_compare.o $(BUILD)/driver/cli/run_memory.o
TEST_NEEDS_cli += $(RTL_BUILD)/$(QUICK)/wc_rtl.so $(RTL_BUILD)/r16c16-b65536-w16-m1-dpi/wc_rtl.so \
	$(RTL_BUILD)/r16c16-b65536-w16-p2-m1-dpi/wc_rtl.so
# The long suite's: a command of a test is given a minute, which a build may take by itself.
ifdef WC_LONG
TEST_NEEDS_cli += $(RTL_BUILD)/$(QUICK)-waves/wc_rtl.so $(RTL_BUILD)/$(QUICK)-rand/wc_rtl.so
endif
