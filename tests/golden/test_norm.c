// SPDX-License-Identifier: Apache-2.0
//
// Group normalization, forward and backward: the bits against a second statement of them, planted faults, strips, specials.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "csim/golden/half.h"
#include "csim/golden/scalar.h"
#include "tests/golden/naive.h"
#include "tests/golden/naive_norm.h"
#include "tests/golden/norm_trial.h"
#include "tests/golden/rig.h"

// What of the trial's results differs from the second statement with `fault`; NULL: nothing does.
static const char *difference(const struct norm_trial *trial, enum norm_fault fault)
{
	struct naive_norm naive = naive_norm_create(&trial->norm, trial->x, trial->dy, trial->gamma, trial->beta, fault);
	const char *what = NULL;

	for (int c = 0; c < trial->norm.channels; c++) {
		what = golden_bits_of(trial->parameter_totals[c].first) != golden_float_bits(naive.dgamma[c]) ? "dgamma" : what;
		what = golden_bits_of(trial->parameter_totals[c].second) != golden_float_bits(naive.dbeta[c]) ? "dbeta" : what;
	}
	what = rig_difference(trial->dx, naive.dx, trial->count) >= 0 ? "dx" : what;
	what = rig_difference(trial->y, naive.y, trial->count) >= 0 ? "y" : what;
	for (size_t i = 0; i < trial->groups; i++) {
		what = golden_bits_of(trial->statistics[i].rstd) != golden_float_bits(naive.rstd[i]) ? "rstd" : what;
		what = golden_bits_of(trial->statistics[i].mean) != golden_float_bits(naive.mean[i]) ? "mean" : what;
	}
	naive_norm_free(&naive);
	return what;
}

Test(norm, bits_are_those_of_the_second_statement)
{
	uint64_t state = rig_seed() + 400;

	for (int i = 0; i < norm_shape_count + 30; i++)
		for (int operands = 0; operands < NORM_OPERANDS; operands++) {
			struct norm_trial trial = norm_trial_create(
			    i < norm_shape_count ? norm_shapes[i] : norm_trial_random(&state), operands, &state);
			const char *what;

			norm_trial_run(&trial, trial.norm.height);
			what = difference(&trial, NORM_RIGHT);
			cr_assert_null(what, "%s, operands %d: %s", what, operands, norm_trial_name(&trial.norm));
			norm_trial_free(&trial);
		}
}

Test(norm, planted_faults_are_seen)
{
	uint64_t state = rig_seed() + 401;
	int seen[NORM_FAULTS] = {0};

	for (int i = 3; i < norm_shape_count; i++)
		for (int operands = NORM_USUAL; operands <= NORM_WIDE; operands++) {
			struct norm_trial trial = norm_trial_create(norm_shapes[i], operands, &state);

			norm_trial_run(&trial, trial.norm.height);
			for (int fault = NORM_RIGHT; fault < NORM_FAULTS; fault++)
				seen[fault] += difference(&trial, fault) != NULL;
			norm_trial_free(&trial);
		}
	cr_assert_eq(seen[NORM_RIGHT], 0);
	for (int fault = NORM_RIGHT + 1; fault < NORM_FAULTS; fault++)
		cr_assert_gt(seen[fault], 0, "fault %d", fault);
}

// c1 and c2, as the input's gradient has them.
Test(norm, means_give_the_gradient)
{
	uint64_t state = rig_seed() + 407;

	for (int i = 0; i < norm_shape_count; i++) {
		struct norm_trial trial = norm_trial_create(norm_shapes[i], NORM_USUAL, &state);
		const struct golden_norm *norm = &trial.norm;
		struct golden_norm_sums *means = rig_zeros(trial.groups, sizeof(*means));
		struct wc_error err = {0};

		// What the trial ends with are backward's totals.
		norm_trial_run(&trial, norm->height);
		cr_assert_eq(golden_norm_gradient_means(norm, trial.totals, 0, norm->batch, means, &err), 0, "%s", err.text);
		for (size_t at = 0; at < trial.count; at++) {
			size_t c = at % norm->channels, n = at / norm->channels / norm->width / norm->height;
			size_t group = n * golden_norm_groups(norm) + c / norm->group_channels;
			struct golden_norm_statistics of = trial.statistics[group];
			float xhat = naive_mul(naive_sub(naive_widen(trial.x[at]), of.mean), of.rstd);
			float g = naive_mul(naive_widen(trial.dy[at]), naive_widen(trial.gamma[c]));
			float dx = naive_mul(of.rstd, naive_sub(naive_sub(g, means[group].first), naive_mul(xhat, means[group].second)));

			cr_assert_eq(naive_narrow(dx), trial.dx[at], "%zu: %s", at, norm_trial_name(norm));
		}
		cr_assert_eq(golden_norm_gradient_means(norm, trial.totals, 0, norm->batch + 1, means, &err), WC_ERR_INPUT);
		norm_trial_free(&trial);
		free(means);
	}
}

Test(norm, strips_give_the_same_bits)
{
	uint64_t state = rig_seed() + 402;

	for (int i = 0; i < norm_shape_count; i++) {
		struct norm_trial trial = norm_trial_create(norm_shapes[i], NORM_WIDE, &state);
		const char *what;

		norm_trial_run(&trial, rig_between(&state, 1, trial.norm.height));
		what = difference(&trial, NORM_RIGHT);
		cr_assert_null(what, "%s: %s", what, norm_trial_name(&trial.norm));
		norm_trial_free(&trial);
	}
}

Test(norm, a_range_leaves_the_rest)
{
	uint64_t state = rig_seed() + 403;
	struct norm_trial trial = norm_trial_create(norm_shapes[4], NORM_USUAL, &state);
	const struct golden_norm *norm = &trial.norm;
	uint16_t *part = rig_zeros(trial.count, sizeof(*part));
	struct golden_range range = {1, 2, 3, 7};
	size_t row = (size_t)norm->width * norm->channels;
	struct wc_error err = {0};

	norm_trial_run(&trial, norm->height);
	for (int backward = 0; backward < 2; backward++) {
		const uint16_t *whole = backward ? trial.dx : trial.y;

		memset(part, 0xa5, trial.count * sizeof(*part));
		if (backward)
			cr_assert_eq(golden_norm_gradient(norm, trial.x, trial.dy, trial.statistics, trial.gamma, trial.totals,
							  range, part, &err),
				     0);
		else
			cr_assert_eq(
			    golden_norm_apply(norm, trial.x, trial.statistics, trial.gamma, trial.beta, range, part, &err), 0);
		for (size_t at = 0; at < trial.count; at++) {
			bool inside = at / row >= 9 + 3 && at / row < 9 + 7;

			cr_assert_eq(part[at], inside ? whole[at] : 0xa5a5, "element %zu", at);
		}
	}
	free(part);
	norm_trial_free(&trial);
}

Test(norm, a_constant_group_gives_beta)
{
	uint64_t state = rig_seed() + 404;
	struct norm_trial trial = norm_trial_create(norm_shapes[4], NORM_CONSTANT, &state);

	norm_trial_run(&trial, 1);
	for (size_t i = 0; i < trial.groups; i++)
		cr_assert_eq(golden_bits_of(trial.statistics[i].rstd), golden_bits_of(golden_rsqrt(trial.norm.eps)));
	for (size_t at = 0; at < trial.count; at++)
		cr_assert_eq(golden_half_to_float(trial.y[at]), golden_half_to_float(trial.beta[at % trial.norm.channels]),
			     "element %zu", at);
	norm_trial_free(&trial);
}

// A NaN or an infinity stays in its group, and in its one form.
Test(norm, a_nan_fills_its_group_and_no_other)
{
	static const uint16_t values[] = {0xfe77, 0x7c00};
	uint64_t state = rig_seed() + 405;

	for (int i = 0; i < 2; i++) {
		struct norm_trial trial = norm_trial_create(norm_shapes[4], NORM_USUAL, &state); // 9 x 4 x 32, groups of 16
		size_t sample = 9 * 4 * 32;

		trial.x[sample + 40] = values[i]; // sample 1, pixel 1, channel 8
		norm_trial_run(&trial, 2);
		for (size_t at = 0; at < trial.count; at++) {
			bool hit = at / sample == 1 && at % 32 < 16;

			cr_assert(hit ? trial.y[at] == 0x7e00 && trial.dx[at] == 0x7e00
				      : !golden_half_is_nan(trial.y[at]) && !golden_half_is_nan(trial.dx[at]),
				  "element %zu", at);
		}
		cr_assert_eq(golden_bits_of(trial.statistics[2].mean), 0x7fc00000 + (i ? 0x7f800000 - 0x7fc00000 : 0));
		cr_assert_eq(golden_bits_of(trial.statistics[2].rstd), 0x7fc00000);
		cr_assert_eq(golden_bits_of(trial.parameter_totals[0].first), 0x7fc00000);
		cr_assert_not(isnan(trial.parameter_totals[16].first));
		norm_trial_free(&trial);
	}
}

static bool canonical(float value)
{
	return golden_bits_of(value) == golden_float_bits(value);
}

// An infinite first element makes infinity - infinity, which the machine may give another sign.
Test(norm, sums_and_statistics_are_stored_with_one_nan)
{
	uint64_t state = rig_seed() + 406;
	struct norm_trial trial = norm_trial_create(norm_shapes[4], NORM_USUAL, &state);
	size_t parameters = (size_t)trial.norm.batch * trial.norm.height * trial.norm.channels;
	int nans = 0;

	trial.x[0] = 0xfc00;
	norm_trial_run(&trial, 4);
	for (size_t i = 0; i < trial.groups; i++) {
		cr_assert(canonical(trial.statistics[i].mean) && canonical(trial.statistics[i].rstd));
		cr_assert(canonical(trial.totals[i].first) && canonical(trial.totals[i].second));
		nans += isnan(trial.statistics[i].mean);
	}
	for (size_t i = 0; i < parameters; i++)
		cr_assert(canonical(trial.parameter_row_sums[i].first) && canonical(trial.parameter_row_sums[i].second));
	memset(trial.row_sums, 0, trial.rows * sizeof(*trial.row_sums));
	cr_assert_eq(golden_norm_row_sums(&trial.norm, trial.x, (struct golden_range){0, 1, 0, 9}, trial.row_sums, NULL), 0);
	for (size_t i = 0; i < trial.rows; i++) {
		cr_assert(canonical(trial.row_sums[i].first) && canonical(trial.row_sums[i].second));
		nans += isnan(trial.row_sums[i].first);
	}
	cr_assert_eq(nans, 1 + 1, "the group's mean, and the sum of its first row; the other rows are infinitely far from it");
	norm_trial_free(&trial);
}

Test(norm, bad_shapes_eps_and_ranges_are_refused)
{
	struct golden_norm good = {1, 4, 4, 6, 3, 1e-5f}, wrong = good;
	struct golden_range range = {0, 1, 0, 4}, outside = {0, 1, 0, 5};
	struct golden_norm_sums sums = {0, 0};
	struct golden_norm_statistics statistics = {0, 0};
	uint16_t none = 0;
	struct wc_error err = {0};

	wrong.group_channels = 4;
	cr_assert_eq(golden_norm_row_sums(&wrong, &none, range, &sums, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "4 channels a group"));
	cr_assert_eq(golden_norm_row_sums(&good, &none, outside, &sums, &err), WC_ERR_INPUT);
	cr_assert_eq(golden_norm_combine(&good, &sums, outside, &sums, &err), WC_ERR_INPUT);
	cr_assert_eq(golden_norm_finish(&good, &none, &sums, 0, 2, &statistics, &err), WC_ERR_INPUT);
	cr_assert_eq(golden_norm_apply(&good, &none, &statistics, &none, &none, outside, &none, &err), WC_ERR_INPUT);
	cr_assert_eq(golden_norm_gradient_row_sums(&good, &none, &none, &statistics, &none, outside, &sums, &err), WC_ERR_INPUT);
	cr_assert_eq(golden_norm_gradient(&good, &none, &none, &statistics, &none, &sums, outside, &none, &err), WC_ERR_INPUT);
	cr_assert_eq(golden_norm_parameter_row_sums(&good, &none, &none, &statistics, outside, &sums, &err), WC_ERR_INPUT);
	cr_assert_eq(golden_norm_parameter_add(&good, &sums, outside, &sums, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "0:5"));
	for (int i = 0; i < 4; i++) {
		wrong = good;
		wrong.eps = (float[]){0, -1, INFINITY, NAN}[i];
		cr_assert_eq(golden_norm_row_sums(&wrong, &none, range, &sums, &err), WC_ERR_INPUT, "eps %g", (double)wrong.eps);
	}
}
