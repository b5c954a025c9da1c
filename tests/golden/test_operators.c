// SPDX-License-Identifier: Apache-2.0
//
// Both forms of the three convolution operators against oneDNN and against each other, within the proven bound.
#include <criterion/criterion.h>
#include <stdlib.h>

#include "csim/golden/half.h"
#include "csim/golden/ordered.h"
#include "tests/golden/onednn.h"
#include "tests/golden/rig.h"
#include "tests/reference.h"

static const char *const operator_names[RIG_OPERATORS] = {"forward", "data gradient", "weight gradient"};

// The ordered form of any operator as float values. The caller frees them.
static float *ordered(const struct rig *rig, enum rig_operator operator, int rows)
{
	size_t counts[RIG_OPERATORS] = {rig->out_count, rig->in_count, rig->weight_count};
	size_t count = counts[operator];
	float *values = malloc(count * sizeof(*values));
	uint16_t *halves = malloc(count * sizeof(*halves));
	struct golden_range all = golden_range_out(&rig->conv);
	struct wc_error err = {0};
	int result;

	if (operator == RIG_FORWARD)
		result = golden_forward(&rig->conv, rows, rig->x, rig->w, all, halves, &err);
	else if (operator == RIG_DATA_GRADIENT)
		result = golden_data_gradient(&rig->conv, rows, rig->dy, rig->w, golden_range_in(&rig->conv), halves, &err);
	else
		result = reference_weight_gradient(&rig->conv, rows, rig->x, rig->dy, &all, 1, values, &err);
	cr_assert_eq(result, 0, "%s", err.text);
	if (operator != RIG_WEIGHT_GRADIENT)
		golden_halves_to_floats(values, halves, count);
	free(halves);
	return values;
}

// Whether anything but zeros was compared: some shapes see nothing but padding.
static bool check_operator(const struct rig *rig, enum rig_operator operator, int rows)
{
	struct rig_reference reference = rig_reference_create(rig, operator);
	float *independent = onednn_run(rig, operator);
	float *bits = ordered(rig, operator, rows);
	double largest = 0;
	long bad = rig_outside_bound(&reference, independent, 1, false);

	for (size_t i = 0; i < reference.count; i++)
		largest = reference.magnitude[i] > largest ? reference.magnitude[i] : largest;
	cr_assert_eq(bad, -1, "%s, float64 against oneDNN, element %ld: %s", operator_names[operator], bad, rig_name(&rig->conv));
	bad = rig_outside_bound(&reference, bits, 1, operator != RIG_WEIGHT_GRADIENT);
	cr_assert_eq(bad, -1, "%s, %d rows, ordered against float64, element %ld: %s", operator_names[operator], rows, bad, rig_name(&rig->conv));
	// Ordered against oneDNN directly: two summations, each with its own error.
	for (size_t i = 0; i < reference.count; i++)
		reference.value[i] = independent[i];
	bad = rig_outside_bound(&reference, bits, 2, operator != RIG_WEIGHT_GRADIENT);
	cr_assert_eq(bad, -1, "%s, %d rows, ordered against oneDNN, element %ld: %s", operator_names[operator], rows, bad, rig_name(&rig->conv));
	rig_reference_free(&reference);
	free(independent);
	free(bits);
	return largest > 0;
}

static bool check_shape(struct golden_conv conv, uint64_t *state)
{
	static const int sizes[] = {4, 8, 16, 32, 64, 128};
	struct rig rig = rig_create(conv, state);
	bool meaningful = true;

	for (enum rig_operator operator = 0; operator < RIG_OPERATORS; operator++)
		meaningful &= check_operator(&rig, operator, sizes[rig_between(state, 0, 5)]);
	rig_free(&rig);
	return meaningful;
}

Test(operators, corner_shapes_agree_with_onednn)
{
	uint64_t state = rig_seed() + 1;
	int meaningful = 0;

	for (int i = 0; i < rig_shape_count; i++)
		meaningful += check_shape(rig_shapes[i], &state);
	cr_assert_geq(meaningful, rig_shape_count - 1, "only the single MAC may have a zero operand");
}

Test(operators, random_shapes_agree_with_onednn)
{
	uint64_t state = rig_seed() + 2;
	int shapes = rig_long() ? 500 : 40, meaningful = 0;

	for (int i = 0; i < shapes; i++)
		meaningful += check_shape(rig_random_conv(&state), &state);
	cr_assert_gt(meaningful, shapes * 3 / 4, "too many shapes that are all padding");
}

// The bound must not be so wide that it hides an error: one flipped bit of one operand or result is seen.
Test(operators, a_planted_wrong_bit_is_seen_where_it_is)
{
	uint64_t state = rig_seed() + 3;
	struct rig rig = rig_create((struct golden_conv){2, 7, 7, 16, 0, 0, 16, 3, 3, 1, 1, 1, 1, 1, 1}, &state);
	struct rig_reference reference = rig_reference_create(&rig, RIG_FORWARD);
	size_t at = rig_random(&state) % rig.out_count;
	size_t weight = golden_weight_index(&rig.conv, 5, 1, 1, 3);
	float *values = ordered(&rig, RIG_FORWARD, 16);
	long bad;

	values[at] = golden_half_to_float(golden_half_from_float(values[at]) ^ 0x200);
	cr_assert_eq(rig_outside_bound(&reference, values, 1, true), (long)at, "element %zu: %s", at, rig_name(&rig.conv));
	free(values);

	rig.w[weight] = 0x3c00 ^ 0x4000;
	rig_reference_free(&reference);
	reference = rig_reference_create(&rig, RIG_FORWARD);
	rig.w[weight] ^= 0x4000;
	values = ordered(&rig, RIG_FORWARD, 16);
	bad = rig_outside_bound(&reference, values, 1, true);
	cr_assert_eq(bad % rig.conv.out_c, 5, "element %ld: %s", bad, rig_name(&rig.conv));
	free(values);
	rig_reference_free(&reference);
	rig_free(&rig);
}
