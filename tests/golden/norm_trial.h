// SPDX-License-Identifier: Apache-2.0
//
// One normalization with its operands and all results of the bits, for the tests.
#ifndef TESTS_GOLDEN_NORM_TRIAL_H
#define TESTS_GOLDEN_NORM_TRIAL_H

#include "csim/golden/norm.h"

enum norm_operands {
	NORM_USUAL,     // as the rig draws them
	NORM_WIDE,      // of any size, with cancelling sums
	NORM_CONSTANT,  // every group constant
	NORM_OFFSET,    // a mean that is 1000 times the deviation
	NORM_HUGE,      // near fp16's largest
	NORM_SUBNORMAL,
	NORM_OPERANDS,
};

struct norm_trial {
	struct golden_norm norm;
	size_t count, groups, rows; // elements, [batch][groups], [batch][height][groups]
	uint16_t *x, *dy, *gamma, *beta;
	struct golden_norm_sums *row_sums, *totals, *parameter_row_sums, *parameter_totals;
	struct golden_norm_statistics *statistics;
	uint16_t *y, *dx;
};

extern const struct golden_norm norm_shapes[];
extern const int norm_shape_count;

struct golden_norm norm_trial_random(uint64_t *state);
struct norm_trial norm_trial_create(struct golden_norm norm, enum norm_operands operands, uint64_t *state);
// Forward and backward in strips that end at `strip_rows`, 2 strip_rows, ... of every sample.
void norm_trial_run(struct norm_trial *trial, int strip_rows);
void norm_trial_free(struct norm_trial *trial);
// The shape in one line, for messages. Static storage.
const char *norm_trial_name(const struct golden_norm *norm);

#endif
