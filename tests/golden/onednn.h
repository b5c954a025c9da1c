// SPDX-License-Identifier: Apache-2.0
//
// oneDNN's float convolutions on this project's layouts: the independent reference of the golden model's tests.
#ifndef TESTS_GOLDEN_ONEDNN_H
#define TESTS_GOLDEN_ONEDNN_H

#include "tests/golden/rig.h"

// The operator on the rig's operands, made float. The caller frees the result.
float *onednn_run(const struct rig *rig, enum rig_operator operator);

#endif
