# SPDX-License-Identifier: Apache-2.0
#
# SIMD commands on random shapes, which the device's tests use too.
TEST_OBJS_model := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard tests/simd_*.c)))
