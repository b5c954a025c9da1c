// SPDX-License-Identifier: Apache-2.0
//
// Softmax cross-entropy: a second statement of the bits, float64 within the bound, oneDNN, planted faults, specials.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "csim/golden/bound_loss.h"
#include "csim/golden/half.h"
#include "csim/golden/reference_loss.h"
#include "csim/golden/scalar.h"
#include "tests/golden/naive.h"
#include "tests/golden/onednn.h"
#include "tests/golden/rig.h"

struct trial {
	struct golden_loss loss;
	size_t count;
	uint16_t *z, *dz;
	int32_t *labels;
	float *losses;
};

// Logits up to `size` in magnitude.
static struct trial trial_create(int batch, int classes, float scale, float size, uint64_t *state)
{
	struct trial trial = {.loss = {batch, classes, scale}, .count = (size_t)batch * classes};
	struct wc_error err = {0};

	trial.z = rig_halves(trial.count, state);
	trial.dz = rig_zeros(trial.count, sizeof(*trial.dz));
	trial.labels = rig_zeros(batch, sizeof(*trial.labels));
	trial.losses = rig_zeros(batch, sizeof(*trial.losses));
	for (size_t i = 0; i < trial.count; i++)
		trial.z[i] = golden_half_from_float(golden_half_to_float(trial.z[i]) * size);
	for (int n = 0; n < batch; n++)
		trial.labels[n] = rig_between(state, 0, classes - 1);
	cr_assert_eq(golden_softmax_loss(&trial.loss, trial.z, trial.labels, trial.losses, trial.dz, &err), 0, "%s", err.text);
	return trial;
}

static void trial_free(struct trial *trial)
{
	free(trial->z);
	free(trial->dz);
	free(trial->labels);
	free(trial->losses);
}

// Of several sizes of batch, classes, logits and scale.
static struct trial trial_number(int i, uint64_t *state)
{
	static const float sizes[] = {1, 8, 80, 60000, 0x1p-20f}, scales[] = {1, 1.0f / 32, 1024.0f / 3};
	static const int classes[] = {1, 2, 10, 1000, 37};

	return trial_create(1 + i % 4, classes[i % 5], scales[i % 3], sizes[i / 5 % 5], state);
}

enum fault { RIGHT, DESCENDING, DIVIDED, NO_LARGEST, LABEL_OFF_BY_ONE, SCALED_LAST, FAULTS };

static bool agrees(const struct trial *trial, enum fault fault)
{
	bool same = true;

	for (int n = 0; n < trial->loss.batch; n++) {
		int classes = trial->loss.classes, label = trial->labels[n] + (fault == LABEL_OFF_BY_ONE);
		const uint16_t *z = trial->z + (size_t)n * classes;
		float m = -INFINITY, sum = 0, loss;

		for (int k = classes - 1; k >= 0; k--)
			m = fmaxf(m, naive_widen(z[k]));
		if (fault == NO_LARGEST)
			m = naive_widen(z[0]);
		label = label < classes ? label : 0;
		for (int k = 0; k < classes; k++)
			sum = naive_add(sum, golden_exp(naive_sub(naive_widen(z[fault == DESCENDING ? classes - 1 - k : k]), m)));
		loss = naive_sub(golden_log(sum), naive_sub(naive_widen(z[label]), m));
		same &= golden_bits_of(trial->losses[n]) == naive_bits(loss);
		for (int k = 0; k < classes; k++) {
			float e = golden_exp(naive_sub(naive_widen(z[k]), m)), one = k == label;
			float p = fault == DIVIDED ? e / sum : naive_mul(e, golden_reciprocal(sum));
			float dz = naive_mul(naive_sub(p, one), trial->loss.scale);

			if (fault == SCALED_LAST) // rounded to fp16 before the scale
				dz = naive_mul(naive_widen(naive_narrow(naive_sub(p, one))), trial->loss.scale);
			same &= trial->dz[(size_t)n * classes + k] == naive_narrow(dz);
		}
	}
	return same;
}

Test(loss, bits_are_those_of_the_second_statement_and_of_no_other)
{
	uint64_t state = rig_seed() + 600;
	int seen[FAULTS] = {0};

	for (int i = 0; i < 75; i++) {
		struct trial trial = trial_number(i, &state);

		cr_assert(agrees(&trial, RIGHT), "%d samples, %d classes, WC_SEED=%llu", trial.loss.batch, trial.loss.classes,
			  (unsigned long long)rig_seed());
		for (int fault = RIGHT + 1; fault < FAULTS; fault++)
			seen[fault] += !agrees(&trial, fault);
		trial_free(&trial);
	}
	for (int fault = RIGHT + 1; fault < FAULTS; fault++)
		cr_assert_gt(seen[fault], 0, "fault %d", fault);
}

// Of the logits alone: what lies between them and the losses.
Test(loss, what_is_on_the_way_gives_the_losses)
{
	uint64_t state = rig_seed() + 507;

	for (int i = 0; i < 60; i++) {
		struct trial trial = trial_number(i, &state);
		struct golden_softmax *softmax = rig_zeros(trial.loss.batch, sizeof(*softmax));
		struct wc_error err = {0};

		cr_assert_eq(golden_softmax(&trial.loss, trial.z, softmax, &err), 0, "%s", err.text);
		for (int n = 0; n < trial.loss.batch; n++) {
			const uint16_t *z = trial.z + (size_t)n * trial.loss.classes;
			float sum = 0;

			for (int k = 0; k < trial.loss.classes; k++) {
				cr_assert_geq(softmax[n].largest, naive_widen(z[k]));
				sum = naive_add(sum, golden_exp(naive_sub(naive_widen(z[k]), softmax[n].largest)));
			}
			cr_assert_eq(golden_bits_of(softmax[n].reciprocal), naive_bits(golden_reciprocal(sum)));
			cr_assert_eq(naive_bits(naive_sub(softmax[n].logarithm, naive_sub(naive_widen(z[trial.labels[n]]), softmax[n].largest))),
				     golden_bits_of(trial.losses[n]));
		}
		trial.loss.classes = 0;
		cr_assert_eq(golden_softmax(&trial.loss, trial.z, softmax, &err), WC_ERR_INPUT);
		trial_free(&trial);
		free(softmax);
	}
}

Test(loss, float64_agrees_within_the_bound)
{
	uint64_t state = rig_seed() + 601;
	long compared = 0, seen = 0, large = 0;

	for (int i = 0; i < 75; i++) {
		struct trial trial = trial_number(i, &state);
		double *z = rig_doubles(trial.z, trial.count, false), *dz = rig_zeros(trial.count, sizeof(*dz)),
		       *losses = rig_zeros(trial.loss.batch, sizeof(*losses));
		struct golden_approx *limits = rig_zeros(trial.loss.classes, sizeof(*limits)), limit;

		golden_reference_softmax_loss(&trial.loss, z, trial.labels, losses, dz);
		for (int n = 0; n < trial.loss.batch; n++) {
			size_t first = (size_t)n * trial.loss.classes;

			golden_bound_softmax_loss(&trial.loss, z + first, trial.labels[n], &limit, limits);
			cr_assert(isfinite(limit.error));
			cr_assert_leq(fabs(trial.losses[n] - losses[n]), limit.error,
				      "loss of sample %d, %d classes: %a, exactly %a", n, trial.loss.classes, trial.losses[n],
				      losses[n]);
			// It sees an error of 1e-5 in the loss.
			cr_assert_lt(limit.error, 1e-5 * fmax(1, fabs(losses[n])) * fmax(1, trial.loss.classes / 100.0));
			for (int k = 0; k < trial.loss.classes; k++, compared++) {
				uint16_t bits = trial.dz[first + k];

				cr_assert_leq(fabs(golden_half_to_float(bits) - dz[first + k]), limits[k].error,
					      "dz[%d][%d] of %d: %a, exactly %a", n, k, trial.loss.classes,
					      golden_half_to_float(bits), dz[first + k]);
				if (fabs(dz[first + k]) > 0x1p-10) {
					large++;
					seen += fabs(golden_half_to_float(bits ^ 2) - dz[first + k]) > limits[k].error;
				}
			}
		}
		free(z);
		free(dz);
		free(losses);
		free(limits);
		trial_free(&trial);
	}
	cr_assert_gt(compared, 10000);
	cr_assert(large > 100 && seen > large * 9 / 10, "a wrong bit is seen in %ld of %ld", seen, large);
}

// oneDNN's own error, besides sums as here: 4 ULP for its exp, and 2^-18 for its logarithm, which test_scalar.c holds it to.
Test(loss, onednn_agrees)
{
	uint64_t state = rig_seed() + 602;

	for (int i = 0; i < 75; i++) {
		struct trial trial = trial_number(i, &state);
		const struct golden_loss *loss = &trial.loss;
		float *z = rig_zeros(trial.count, sizeof(*z)), *p = rig_zeros(trial.count, sizeof(*p)),
		      *log_p = rig_zeros(trial.count, sizeof(*log_p));
		double *exact = rig_doubles(trial.z, trial.count, false);
		struct golden_approx *limits = rig_zeros(loss->classes, sizeof(*limits)), limit;

		golden_halves_to_floats(z, trial.z, trial.count);
		onednn_softmax(loss->batch, loss->classes, z, p);
		onednn_log_softmax(loss->batch, loss->classes, z, log_p);
		for (int n = 0; n < loss->batch; n++) {
			size_t first = (size_t)n * loss->classes;

			golden_bound_softmax_loss(loss, exact + first, trial.labels[n], &limit, limits);
			cr_assert_leq(fabs(trial.losses[n] + log_p[first + trial.labels[n]]),
				      2 * limit.error + 0x1p-18 * fmax(1, fabs(trial.losses[n])),
				      "loss of sample %d, %d classes: %a, oneDNN %a", n, loss->classes, trial.losses[n],
				      -log_p[first + trial.labels[n]]);
			for (int k = 0; k < loss->classes; k++) {
				double theirs = ((double)p[first + k] - (k == trial.labels[n])) * loss->scale;
				double own = golden_gamma(8 + 2.0 * loss->classes) * loss->scale * p[first + k] + 0x1p-126;

				cr_assert_leq(fabs(golden_half_to_float(trial.dz[first + k]) - theirs), limits[k].error + own,
					      "dz[%d][%d] of %d: %a, oneDNN %a", n, k, loss->classes,
					      golden_half_to_float(trial.dz[first + k]), theirs);
			}
		}
		free(z);
		free(p);
		free(log_p);
		free(exact);
		free(limits);
		trial_free(&trial);
	}
}

Test(loss, specials_are_what_the_steps_make_of_them)
{
	struct golden_loss loss = {1, 3, 1};
	uint16_t nan[3] = {0x3c00, 0xfe01, 0x7c00}, infinite[3] = {0, 0x7c00, 0}, low[3] = {0xfc00, 0, 0xfc00}, one[1] = {0x4500},
		 dz[3];
	int32_t label = 1;
	float result;
	struct wc_error err = {0};

	for (int i = 0; i < 2; i++) {
		cr_assert_eq(golden_softmax_loss(&loss, i ? infinite : nan, &label, &result, dz, &err), 0, "%s", err.text);
		cr_assert_eq(golden_bits_of(result), 0x7fc00000);
		for (int k = 0; k < 3; k++)
			cr_assert_eq(dz[k], 0x7e00, "an infinite logit less itself is a NaN in the sum");
	}
	cr_assert_eq(golden_softmax_loss(&loss, low, &label, &result, dz, &err), 0);
	cr_assert(result == 0 && dz[0] == 0 && golden_half_to_float(dz[1]) == golden_reciprocal(1) - 1 && dz[2] == 0);
	label = 0;
	cr_assert_eq(golden_softmax_loss(&loss, low, &label, &result, NULL, &err), 0);
	cr_assert_eq(result, INFINITY);
	loss.classes = 1;
	cr_assert_eq(golden_softmax_loss(&loss, one, &label, &result, one, &err), 0, "in place");
	cr_assert_eq(result, 0);
}

Test(loss, bad_labels_and_shapes_are_refused)
{
	struct golden_loss loss = {2, 3, 1};
	uint16_t z[6] = {0}, dz[6] = {7, 7, 7, 7, 7, 7};
	int32_t labels[2] = {0, 3};
	struct wc_error err = {0};

	cr_assert_eq(golden_softmax_loss(&loss, z, labels, NULL, dz, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "sample 1: label 3") && strstr(err.text, "0 to 2"), "%s", err.text);
	cr_assert_eq(dz[0], 7);
	labels[1] = -1;
	cr_assert_eq(golden_softmax_loss(&loss, z, labels, NULL, dz, &err), WC_ERR_INPUT);
	loss.classes = 0;
	cr_assert_eq(golden_softmax_loss(&loss, z, labels, NULL, dz, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "0 classes"));
}
