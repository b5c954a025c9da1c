// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/norm_trial.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csim/golden/half.h"
#include "tests/golden/rig.h"

//  batch h  w  c  group
const struct golden_norm norm_shapes[] = {
	{1, 1, 1, 1, 1, 1e-5f},     // a group of one value
	{2, 1, 1, 8, 4, 1e-5f},     // 1x1 images
	{2, 5, 7, 6, 1, 1e-5f},     // groups of one channel
	{2, 6, 5, 12, 12, 1e-5f},   // one group
	{3, 9, 4, 32, 16, 1e-5f},   // the networks'
	{1, 28, 28, 16, 16, 1e-5f},
	{2, 3, 11, 15, 5, 0x1p-126f}, // smallest eps
	{1, 13, 1, 9, 3, 1.0f},
};
const int norm_shape_count = sizeof(norm_shapes) / sizeof(norm_shapes[0]);

struct golden_norm norm_trial_random(uint64_t *state)
{
	struct golden_norm norm = {
	    .batch = rig_between(state, 1, 3),
	    .height = rig_between(state, 1, 12),
	    .width = rig_between(state, 1, 12),
	    .group_channels = rig_between(state, 1, 9),
	    .eps = 1e-5f,
	};

	norm.channels = norm.group_channels * rig_between(state, 1, 4);
	return norm;
}

static uint16_t draw(enum norm_operands operands, uint16_t usual, uint64_t *state)
{
	float unit = (float)(rig_random(state) >> 40) * 0x1p-23f - 1;

	switch (operands) {
	case NORM_OFFSET:
		return golden_half_from_float(10 + unit * 0.01f);
	case NORM_HUGE:
		return golden_half_from_float(unit * 65504);
	case NORM_SUBNORMAL:
		return (uint16_t)(rig_random(state) & 0x81ff);
	default:
		return usual;
	}
}

struct norm_trial norm_trial_create(struct golden_norm norm, enum norm_operands operands, uint64_t *state)
{
	struct norm_trial trial = {.norm = norm, .count = golden_norm_count(&norm)};
	bool wide = operands == NORM_WIDE;

	trial.groups = (size_t)norm.batch * golden_norm_groups(&norm);
	trial.rows = trial.groups * norm.height;
	trial.x = wide ? rig_wide_halves(trial.count, state) : rig_halves(trial.count, state);
	trial.dy = wide ? rig_wide_halves(trial.count, state) : rig_halves(trial.count, state);
	trial.gamma = rig_halves(norm.channels, state);
	trial.beta = rig_halves(norm.channels, state);
	for (size_t i = 0; i < trial.count; i++)
		trial.x[i] = operands == NORM_CONSTANT ? trial.x[i / ((size_t)norm.height * norm.width * norm.channels)]
						       : draw(operands, trial.x[i], state);
	trial.row_sums = rig_zeros(trial.rows, sizeof(*trial.row_sums));
	trial.totals = rig_zeros(trial.groups, sizeof(*trial.totals));
	trial.parameter_row_sums = rig_zeros((size_t)norm.batch * norm.height * norm.channels, sizeof(*trial.parameter_row_sums));
	trial.parameter_totals = rig_zeros(norm.channels, sizeof(*trial.parameter_totals));
	trial.statistics = rig_zeros(trial.groups, sizeof(*trial.statistics));
	trial.y = rig_zeros(trial.count, sizeof(*trial.y));
	trial.dx = rig_zeros(trial.count, sizeof(*trial.dx));
	return trial;
}

static void must(int result, const struct wc_error *err)
{
	cr_assert_eq(result, 0, "%s", err->text);
}

// Each step over all strips before the next, as the whole group's sums are a barrier.
void norm_trial_run(struct norm_trial *trial, int strip_rows)
{
	const struct golden_norm *norm = &trial->norm;
	struct wc_error err = {0};

	memset(trial->totals, 0, trial->groups * sizeof(*trial->totals));
	memset(trial->parameter_totals, 0, norm->channels * sizeof(*trial->parameter_totals));
	for (int step = 0; step < 6; step++) {
		if (step == 1)
			must(golden_norm_finish(norm, trial->x, trial->totals, 0, norm->batch, trial->statistics, &err), &err);
		if (step == 2)
			memset(trial->totals, 0, trial->groups * sizeof(*trial->totals));
		for (int n = 0; n < norm->batch; n++)
			for (int row = 0; row < norm->height; row += strip_rows) {
				struct golden_range strip = {n, n + 1, row,
							     row + strip_rows < norm->height ? row + strip_rows : norm->height};

				if (step == 0) {
					must(golden_norm_row_sums(norm, trial->x, strip, trial->row_sums, &err), &err);
					must(golden_norm_combine(norm, trial->row_sums, strip, trial->totals, &err), &err);
				} else if (step == 1) {
					must(golden_norm_apply(norm, trial->x, trial->statistics, trial->gamma, trial->beta,
							       strip, trial->y, &err),
					     &err);
				} else if (step == 2) {
					must(golden_norm_gradient_row_sums(norm, trial->x, trial->dy, trial->statistics,
									   trial->gamma, strip, trial->row_sums, &err),
					     &err);
					must(golden_norm_combine(norm, trial->row_sums, strip, trial->totals, &err), &err);
				} else if (step == 3) {
					must(golden_norm_gradient(norm, trial->x, trial->dy, trial->statistics, trial->gamma,
								  trial->totals, strip, trial->dx, &err),
					     &err);
				} else if (step == 4) {
					must(golden_norm_parameter_row_sums(norm, trial->x, trial->dy, trial->statistics, strip,
									    trial->parameter_row_sums, &err),
					     &err);
				} else {
					must(golden_norm_parameter_add(norm, trial->parameter_row_sums, strip,
								       trial->parameter_totals, &err),
					     &err);
				}
			}
	}
}

void norm_trial_free(struct norm_trial *trial)
{
	free(trial->x);
	free(trial->dy);
	free(trial->gamma);
	free(trial->beta);
	free(trial->row_sums);
	free(trial->totals);
	free(trial->parameter_row_sums);
	free(trial->parameter_totals);
	free(trial->statistics);
	free(trial->y);
	free(trial->dx);
}

const char *norm_trial_name(const struct golden_norm *norm)
{
	static char text[128];

	snprintf(text, sizeof(text), "{%d, %d, %d, %d, %d, %g} WC_SEED=%llu", norm->batch, norm->height, norm->width,
		 norm->channels, norm->group_channels, (double)norm->eps, (unsigned long long)rig_seed());
	return text;
}
