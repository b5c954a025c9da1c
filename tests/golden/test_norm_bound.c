// SPDX-License-Identifier: Apache-2.0
//
// Group normalization against float64 and oneDNN, within the bound of the running error analysis.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "csim/golden/bound_norm.h"
#include "csim/golden/half.h"
#include "csim/golden/reference_norm.h"
#include "tests/golden/norm_trial.h"
#include "tests/golden/onednn.h"
#include "tests/golden/rig.h"

// Float64 operands and results.
struct exact {
	double *x, *dy, *gamma, *beta, *mean, *rstd, *y, *dx, *dgamma, *dbeta;
};

// What the bound says of each result.
struct limits {
	struct golden_approx *mean, *rstd, *y, *dx, *dgamma, *dbeta;
};

static struct exact exact_create(const struct norm_trial *trial)
{
	const struct golden_norm *norm = &trial->norm;
	struct exact exact = {
		.x = rig_doubles(trial->x, trial->count, false), .dy = rig_doubles(trial->dy, trial->count, false),
		.gamma = rig_doubles(trial->gamma, norm->channels, false), .beta = rig_doubles(trial->beta, norm->channels, false),
		.mean = rig_zeros(trial->groups, sizeof(double)), .rstd = rig_zeros(trial->groups, sizeof(double)),
		.y = rig_zeros(trial->count, sizeof(double)), .dx = rig_zeros(trial->count, sizeof(double)),
		.dgamma = rig_zeros(norm->channels, sizeof(double)), .dbeta = rig_zeros(norm->channels, sizeof(double)),
	};

	golden_reference_norm(norm, exact.x, exact.gamma, exact.beta, exact.mean, exact.rstd, exact.y);
	golden_reference_norm_gradient(norm, exact.x, exact.dy, exact.gamma, exact.mean, exact.rstd, exact.dx, exact.dgamma,
				       exact.dbeta);
	return exact;
}

static void exact_free(struct exact *exact)
{
	double *const all[] = {exact->x,    exact->dy, exact->gamma, exact->beta,   exact->mean,
			       exact->rstd, exact->y,  exact->dx,    exact->dgamma, exact->dbeta};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]);
}

static struct limits limits_create(const struct norm_trial *trial)
{
	size_t bytes = sizeof(struct golden_approx);

	return (struct limits){
	    rig_zeros(trial->groups, bytes), rig_zeros(trial->groups, bytes),	     rig_zeros(trial->count, bytes),
	    rig_zeros(trial->count, bytes),  rig_zeros(trial->norm.channels, bytes), rig_zeros(trial->norm.channels, bytes),
	};
}

static void limits_free(struct limits *limits)
{
	free(limits->mean);
	free(limits->rstd);
	free(limits->y);
	free(limits->dx);
	free(limits->dgamma);
	free(limits->dbeta);
}

static struct limits limits_of_bits(const struct norm_trial *trial, const struct exact *exact)
{
	struct limits limits = limits_create(trial);
	const struct golden_norm *norm = &trial->norm;

	golden_bound_norm_statistics(norm, exact->x, limits.mean, limits.rstd);
	golden_bound_norm_apply(norm, exact->x, limits.mean, limits.rstd, exact->gamma, exact->beta, false, limits.y);
	golden_bound_norm_gradient(norm, golden_bound_norm_chain(norm), exact->x, exact->dy, limits.mean, limits.rstd,
				   exact->gamma, false, limits.dx);
	golden_bound_norm_parameters(norm, golden_bound_norm_parameter_chain(norm), exact->x, exact->dy, limits.mean, limits.rstd,
				     limits.dgamma, limits.dbeta);
	return limits;
}

// oneDNN sums x itself, then squared deviations from the mean, in an order of its own, and takes a square root and a quotient of
// two roundings.
static struct limits limits_of_onednn(const struct norm_trial *trial, const struct exact *exact)
{
	struct limits limits = limits_create(trial);
	const struct golden_norm *norm = &trial->norm;
	double length = (double)norm->height * norm->width * norm->group_channels;
	struct golden_approx inverse = golden_approx_rounded(1 / length);

	for (size_t i = 0; i < trial->groups; i++) {
		int groups = golden_norm_groups(norm);
		struct golden_approx_sum sum = {0}, squares = {0};
		struct golden_approx var;

		for (int pass = 0; pass < 2; pass++) {
			for (int j = 0; j < length; j++) {
				size_t pixel = i / groups * norm->height * norm->width + j / norm->group_channels;
				double x = exact->x[pixel * norm->channels + i % groups * norm->group_channels +
						    j % norm->group_channels];

				if (pass == 0) {
					golden_approx_sum_add(&sum, golden_approx_exact(x));
				} else {
					struct golden_approx d = golden_approx_sub(golden_approx_exact(x), limits.mean[i]);

					golden_approx_sum_add(&squares, golden_approx_mul(d, d));
				}
			}
			if (pass == 0)
				limits.mean[i] = golden_approx_mul(golden_approx_sum_of(&sum, length), inverse);
		}
		var = golden_approx_mul(golden_approx_sum_of(&squares, length), inverse);
		limits.rstd[i] = golden_approx_rsqrt(golden_approx_add(var, golden_approx_exact(norm->eps)), norm->eps);
	}
	golden_bound_norm_apply(norm, exact->x, limits.mean, limits.rstd, exact->gamma, exact->beta, true, limits.y);
	golden_bound_norm_gradient(norm, length, exact->x, exact->dy, limits.mean, limits.rstd, exact->gamma, true, limits.dx);
	golden_bound_norm_parameters(norm, length * norm->batch, exact->x, exact->dy, limits.mean, limits.rstd, limits.dgamma,
				     limits.dbeta);
	return limits;
}

// Counts what was compared: elements with a finite bound.
static void check(const char *what, const struct norm_trial *trial, size_t at, double value, double exact, double error,
		  long *compared)
{
	if (!isfinite(error))
		return;
	cr_assert_leq(fabs(value - exact), error, "%s %zu: %a, exactly %a, bound %g: %s", what, at, value, exact, error,
		      norm_trial_name(&trial->norm));
	++*compared;
}

static long check_bits(const struct norm_trial *trial, const struct exact *exact)
{
	struct limits limits = limits_of_bits(trial, exact);
	long compared = 0;

	for (size_t i = 0; i < trial->groups; i++) {
		check("mean", trial, i, trial->statistics[i].mean, exact->mean[i], limits.mean[i].error, &compared);
		check("rstd", trial, i, trial->statistics[i].rstd, exact->rstd[i], limits.rstd[i].error, &compared);
	}
	for (size_t i = 0; i < trial->count; i++) {
		check("y", trial, i, golden_half_to_float(trial->y[i]), exact->y[i], limits.y[i].error, &compared);
		check("dx", trial, i, golden_half_to_float(trial->dx[i]), exact->dx[i], limits.dx[i].error, &compared);
	}
	for (int c = 0; c < trial->norm.channels; c++) {
		check("dgamma", trial, c, trial->parameter_totals[c].first, exact->dgamma[c], limits.dgamma[c].error, &compared);
		check("dbeta", trial, c, trial->parameter_totals[c].second, exact->dbeta[c], limits.dbeta[c].error, &compared);
	}
	limits_free(&limits);
	return compared;
}

// oneDNN against float64 within its own bound, and so against the bits within the sum of both.
static long check_onednn(const struct norm_trial *trial, const struct exact *exact)
{
	const struct golden_norm *norm = &trial->norm;
	struct limits limits = limits_of_onednn(trial, exact), ours = limits_of_bits(trial, exact);
	size_t bytes = sizeof(float);
	float *x = rig_zeros(trial->count, bytes), *dy = rig_zeros(trial->count, bytes), *y = rig_zeros(trial->count, bytes),
	      *dx = rig_zeros(trial->count, bytes);
	float *gamma = rig_zeros(norm->channels, bytes), *beta = rig_zeros(norm->channels, bytes);
	double *dgamma = rig_zeros(norm->channels, sizeof(double)), *dbeta = rig_zeros(norm->channels, sizeof(double));
	long compared = 0;

	golden_halves_to_floats(x, trial->x, trial->count);
	golden_halves_to_floats(dy, trial->dy, trial->count);
	golden_halves_to_floats(gamma, trial->gamma, norm->channels);
	golden_halves_to_floats(beta, trial->beta, norm->channels);
	onednn_norm(norm, x, dy, gamma, beta, y, dx, dgamma, dbeta);
	for (size_t i = 0; i < trial->count; i++) {
		check("oneDNN's y", trial, i, y[i], exact->y[i], limits.y[i].error, &compared);
		check("oneDNN's dx", trial, i, dx[i], exact->dx[i], limits.dx[i].error, &compared);
		check("y against oneDNN", trial, i, golden_half_to_float(trial->y[i]), y[i], limits.y[i].error + ours.y[i].error,
		      &compared);
		check("dx against oneDNN", trial, i, golden_half_to_float(trial->dx[i]), dx[i],
		      limits.dx[i].error + ours.dx[i].error, &compared);
	}
	for (int c = 0; c < norm->channels; c++) {
		check("oneDNN's dgamma", trial, c, dgamma[c], exact->dgamma[c], limits.dgamma[c].error, &compared);
		check("oneDNN's dbeta", trial, c, dbeta[c], exact->dbeta[c], limits.dbeta[c].error, &compared);
		check("dgamma against oneDNN", trial, c, trial->parameter_totals[c].first, dgamma[c],
		      limits.dgamma[c].error + ours.dgamma[c].error, &compared);
	}
	free(x);
	free(dy);
	free(y);
	free(dx);
	free(gamma);
	free(beta);
	free(dgamma);
	free(dbeta);
	limits_free(&limits);
	limits_free(&ours);
	return compared;
}

Test(norm_bound, float64_agrees_on_all_kinds_of_operands)
{
	uint64_t state = rig_seed() + 410;

	for (int operands = 0; operands < NORM_OPERANDS; operands++) {
		long compared = 0, possible = 0;

		for (int i = 0; i < norm_shape_count + (rig_long() ? 200 : 20); i++) {
			struct norm_trial trial = norm_trial_create(
			    i < norm_shape_count ? norm_shapes[i] : norm_trial_random(&state), operands, &state);
			struct exact exact = exact_create(&trial);

			norm_trial_run(&trial, trial.norm.height);
			compared += check_bits(&trial, &exact);
			possible += 2 * (long)(trial.groups + trial.count + trial.norm.channels);
			exact_free(&exact);
			norm_trial_free(&trial);
		}
		cr_assert_gt(compared, possible * 3 / 4, "operands %d: only %ld of %ld values have a finite bound", operands,
			     compared, possible);
	}
}

Test(norm_bound, onednn_agrees)
{
	static const enum norm_operands kinds[] = {NORM_USUAL, NORM_OFFSET, NORM_SUBNORMAL};
	uint64_t state = rig_seed() + 411;

	for (int kind = 0; kind < 3; kind++) {
		long compared = 0;

		for (int i = 0; i < norm_shape_count + 20; i++) {
			struct norm_trial trial = norm_trial_create(
			    i < norm_shape_count ? norm_shapes[i] : norm_trial_random(&state), kinds[kind], &state);
			struct exact exact = exact_create(&trial);

			norm_trial_run(&trial, trial.norm.height);
			compared += check_onednn(&trial, &exact);
			exact_free(&exact);
			norm_trial_free(&trial);
		}
		cr_assert_gt(compared, 0);
	}
}

// The bound is no wider than it must be: most of it is the rounding to fp16, and a change of two units in the last place is seen
// (but where the result is far smaller than what it is the sum of).
Test(norm_bound, the_bound_sees_a_wrong_bit)
{
	uint64_t state = rig_seed() + 412;
	struct norm_trial trial = norm_trial_create(norm_shapes[4], NORM_USUAL, &state);
	struct exact exact;
	struct limits limits;
	long seen_y = 0, seen_dx = 0, seen_rstd = 0;

	for (int c = 0; c < trial.norm.channels; c++)
		trial.gamma[c] = (uint16_t)(0x3c00 + c);
	exact = exact_create(&trial);
	limits = limits_of_bits(&trial, &exact);
	norm_trial_run(&trial, trial.norm.height);
	for (size_t i = 0; i < trial.count; i++) {
		seen_y += fabs(golden_half_to_float(trial.y[i] ^ 2) - exact.y[i]) > limits.y[i].error;
		seen_dx += fabs(golden_half_to_float(trial.dx[i] ^ 2) - exact.dx[i]) > limits.dx[i].error;
	}
	for (size_t i = 0; i < trial.groups; i++) // M - 1 for M
		seen_rstd += fabs(exact.rstd[i] * sqrt(1 - 1.0 / (9 * 4 * 16)) - exact.rstd[i]) > limits.rstd[i].error;
	cr_assert_gt(seen_y, (long)trial.count * 3 / 4, "%ld of %zu", seen_y, trial.count);
	cr_assert_gt(seen_dx, (long)trial.count * 3 / 4, "%ld of %zu", seen_dx, trial.count);
	cr_assert_eq(seen_rstd, (long)trial.groups, "rstd: bound %g of %g", limits.rstd[0].error, limits.rstd[0].value);
	limits_free(&limits);
	exact_free(&exact);
	norm_trial_free(&trial);
}
