# SPDX-License-Identifier: Apache-2.0
#
# The verilated configurations that tests/device loads (tests/device/harness.h names them).
TEST_NEEDS_device := $(foreach config,r16c16-b65536-w16-m1-dpi r8c4-b16384-w32-m2-rtl-rand r8c4-b16384-w32-m2-rtl-waves \
	r16c16-b65536-w16-m1-dpi-waves \
	r16c16-b65536-w16-p2-m1-dpi r8c4-b16384-w32-p2-m2-rtl-rand \
	r8c4-b16384-w32-c2-m2-rtl-rand, \
	$(RTL_BUILD)/$(config)/wc_rtl.so)

# Waveforms are read with the library that Verilator writes them with.
FST_DIR := $(VERILATOR_INCLUDE)/gtkwave
TEST_OBJS_device := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard tests/simd_*.c))) $(patsubst %,$(BUILD)/tests/device/fst/%.o,fstapi lz4 fastlz)
$(BUILD)/tests/device/fst/%.o: $(FST_DIR)/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) -O2 -w '-DFST_CONFIG_INCLUDE="fst_config.h"' -I$(FST_DIR) -c $< -o $@
$(BUILD)/tests/device/test_window.o: CFLAGS += -isystem $(FST_DIR)
