# SPDX-License-Identifier: Apache-2.0
#
# SIMD commands on random shapes, which the device's tests use too.
TEST_OBJS_model := $(BUILD)/tests/simd_cases.o
