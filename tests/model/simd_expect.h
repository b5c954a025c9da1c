// SPDX-License-Identifier: Apache-2.0
//
// What a SIMD case has to leave in the buffer, as plain loops over its tensors.
#ifndef TESTS_MODEL_SIMD_EXPECT_H
#define TESTS_MODEL_SIMD_EXPECT_H

#include "tests/simd_cases.h"

// On an image of the buffer, which has the operands.
void simd_expect(const struct simd_case *c, uint8_t *image);

#endif
