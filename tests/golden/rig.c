// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/rig.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "csim/golden/half.h"
#include "csim/golden/reference.h"
#include "tests/seed.h"
#include "traces/splitmix.h"

//  batch  in h w c      out h w c    kernel  stride  pad   dilation
const struct golden_conv rig_shapes[] = {
	{1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1},      // one MAC
	{2, 1, 1, 5, 0, 0, 3, 1, 1, 1, 1, 0, 0, 1, 1},      // 1x1 images
	{1, 1, 1, 4, 0, 0, 4, 3, 3, 1, 1, 1, 1, 1, 1},      // 1x1 image, all taps but one in the padding
	{2, 28, 28, 1, 0, 0, 6, 5, 5, 1, 1, 2, 2, 1, 1},    // single input channel
	{1, 9, 9, 17, 0, 0, 1, 3, 3, 1, 1, 1, 1, 1, 1},     // single output channel
	{2, 7, 7, 16, 0, 0, 16, 3, 3, 1, 1, 1, 1, 1, 1},    // everything a multiple
	{1, 8, 8, 19, 0, 0, 21, 3, 3, 2, 2, 1, 1, 1, 1},    // tails in every dimension
	{2, 6, 5, 33, 0, 0, 18, 6, 5, 1, 1, 0, 0, 1, 1},    // kernel as large as the image
	{1, 11, 11, 3, 0, 0, 8, 11, 11, 4, 4, 5, 5, 1, 1},  // largest kernel
	{2, 13, 12, 8, 0, 0, 9, 1, 1, 2, 3, 0, 0, 1, 1},    // stride larger than kernel: pixels without taps
	{1, 14, 14, 6, 0, 0, 7, 2, 2, 4, 4, 1, 1, 1, 1},    // the same with padding
	{1, 15, 16, 20, 0, 0, 10, 3, 3, 1, 1, 2, 2, 2, 2},  // dilation
	{1, 17, 13, 5, 0, 0, 6, 3, 2, 2, 3, 3, 1, 2, 3},    // stride and dilation with a common divisor or not, oblong kernel
	{2, 10, 9, 4, 0, 0, 5, 4, 3, 4, 2, 2, 2, 2, 2},     // residue classes that no tap reaches
	{1, 5, 30, 7, 0, 0, 12, 1, 7, 1, 1, 0, 3, 1, 1},    // one-dimensional kernel
	{3, 4, 4, 130, 0, 0, 40, 3, 3, 1, 1, 1, 1, 1, 1},   // more channels than the largest array has rows
	{1, 3, 3, 2, 0, 0, 2, 3, 3, 1, 1, 6, 6, 1, 1},      // outputs that see nothing but padding
};
const int rig_shape_count = sizeof(rig_shapes) / sizeof(rig_shapes[0]);

TESTS_ONE_SEED("tests/golden", 1)

uint64_t rig_seed(void)
{
	return tests_seed_chosen();
}

uint64_t rig_random(uint64_t *state)
{
	return splitmix_next(state);
}

int rig_between(uint64_t *state, int lo, int hi)
{
	return lo + (int)(rig_random(state) % (uint64_t)(hi - lo + 1));
}

bool rig_long(void)
{
	return getenv("WC_LONG") != NULL;
}

static uint16_t random_half(uint64_t *state)
{
	uint64_t bits = rig_random(state);

	if (bits % 8 == 0)
		return 0;
	if (bits % 64 == 1)
		return (uint16_t)(bits >> 16 & 0x83ff); // subnormal, or a zero of either sign
	return golden_half_from_float((float)(int32_t)(bits >> 32) * 0x1p-31f);
}

uint16_t *rig_halves(size_t count, uint64_t *state)
{
	uint16_t *halves = malloc(count * sizeof(*halves));

	cr_assert_not_null(halves);
	for (size_t i = 0; i < count; i++)
		halves[i] = random_half(state);
	return halves;
}

void *rig_zeros(size_t count, size_t bytes)
{
	void *block = calloc(count ? count : 1, bytes);

	cr_assert_not_null(block);
	return block;
}

long rig_difference(const uint16_t *a, const uint16_t *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (a[i] != b[i])
			return (long)i;
	return -1;
}

long rig_float_difference(const float *a, const float *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (golden_bits_of(a[i]) != golden_bits_of(b[i]))
			return (long)i;
	return -1;
}

struct rig rig_create(struct golden_conv conv, uint64_t *state)
{
	struct rig rig = {.conv = conv};

	rig.conv.out_h = golden_conv_output(conv.in_h, conv.kernel_h, conv.stride_h, conv.pad_h, conv.dilation_h);
	rig.conv.out_w = golden_conv_output(conv.in_w, conv.kernel_w, conv.stride_w, conv.pad_w, conv.dilation_w);
	cr_assert(golden_conv_valid(&rig.conv), "%s", rig_name(&conv));
	rig.in_count = golden_conv_in_count(&rig.conv);
	rig.out_count = golden_conv_out_count(&rig.conv);
	rig.weight_count = golden_conv_weight_count(&rig.conv);
	rig.x = rig_halves(rig.in_count, state);
	rig.w = rig_halves(rig.weight_count, state);
	rig.dy = rig_halves(rig.out_count, state);
	return rig;
}

struct golden_conv rig_random_conv(uint64_t *state)
{
	for (;;) {
		struct golden_conv conv = {
			.batch = rig_between(state, 1, 3), .in_h = rig_between(state, 1, 20), .in_w = rig_between(state, 1, 20), .in_c = rig_between(state, 1, 40),
			.out_c = rig_between(state, 1, 40), .kernel_h = rig_between(state, 1, 11), .kernel_w = rig_between(state, 1, 11),
			.stride_h = rig_between(state, 1, 4), .stride_w = rig_between(state, 1, 4), .pad_h = rig_between(state, 0, 5), .pad_w = rig_between(state, 0, 5),
			.dilation_h = rig_between(state, 1, 3), .dilation_w = rig_between(state, 1, 3),
		};

		if (golden_conv_output(conv.in_h, conv.kernel_h, conv.stride_h, conv.pad_h, conv.dilation_h) > 0 &&
		    golden_conv_output(conv.in_w, conv.kernel_w, conv.stride_w, conv.pad_w, conv.dilation_w) > 0)
			return conv;
	}
}

void rig_free(struct rig *rig)
{
	free(rig->x);
	free(rig->w);
	free(rig->dy);
}

const char *rig_name(const struct golden_conv *conv)
{
	static char text[256];

	snprintf(text, sizeof(text), "{%d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d} WC_SEED=%llu", conv->batch, conv->in_h, conv->in_w,
	         conv->in_c, conv->out_h, conv->out_w, conv->out_c, conv->kernel_h, conv->kernel_w, conv->stride_h, conv->stride_w, conv->pad_h, conv->pad_w,
	         conv->dilation_h, conv->dilation_w, (unsigned long long)rig_seed());
	return text;
}

uint16_t *rig_wide_halves(size_t count, uint64_t *state)
{
	uint16_t *halves = rig_zeros(count, sizeof(*halves));

	for (size_t i = 0; i < count; i++)
		halves[i] = (uint16_t)((rig_random(state) % 2 ? 0x7800 : rig_random(state) % 0x7c00) | (rig_random(state) & 0x8000));
	return halves;
}

double *rig_doubles(const uint16_t *halves, size_t count, bool magnitude)
{
	double *values = malloc(count * sizeof(*values));

	cr_assert_not_null(values);
	for (size_t i = 0; i < count; i++)
		values[i] = magnitude ? fabs((double)golden_half_to_float(halves[i])) : (double)golden_half_to_float(halves[i]);
	return values;
}

static double *evaluate(const struct rig *rig, enum rig_operator operator, size_t count, bool magnitude)
{
	double *x = rig_doubles(rig->x, rig->in_count, magnitude);
	double *w = rig_doubles(rig->w, rig->weight_count, magnitude);
	double *dy = rig_doubles(rig->dy, rig->out_count, magnitude);
	double *result = malloc(count * sizeof(*result));

	cr_assert_not_null(result);
	if (operator == RIG_FORWARD)
		golden_reference_forward(&rig->conv, x, w, result);
	else if (operator == RIG_DATA_GRADIENT)
		golden_reference_data_gradient(&rig->conv, dy, w, result);
	else
		golden_reference_weight_gradient(&rig->conv, x, dy, result);
	free(x);
	free(w);
	free(dy);
	return result;
}

struct rig_reference rig_reference_create(const struct rig *rig, enum rig_operator operator)
{
	const struct golden_conv *conv = &rig->conv;
	size_t counts[RIG_OPERATORS] = {rig->out_count, rig->in_count, rig->weight_count};
	double taps = (double)conv->kernel_h * conv->kernel_w;
	double k[RIG_OPERATORS] = {taps * conv->in_c, taps * conv->out_c, (double)conv->batch * conv->out_h * conv->out_w};
	struct rig_reference reference = {.count = counts[operator]};

	reference.value = evaluate(rig, operator, reference.count, false);
	reference.magnitude = evaluate(rig, operator, reference.count, true);
	reference.gamma = k[operator] * 0x1p-24 / (1 - k[operator] * 0x1p-24);
	return reference;
}

void rig_reference_free(struct rig_reference *reference)
{
	free(reference->value);
	free(reference->magnitude);
}

long rig_outside_bound(const struct rig_reference *reference, const float *values, int sums, bool rounded)
{
	for (size_t i = 0; i < reference->count; i++) {
		// The reference's own error, K 2^-53 sum |a b|, hides in the last factor.
		double bound = sums * reference->gamma * reference->magnitude[i] * (1 + 0x1p-20);

		if (rounded)
			bound += fmax((fabs(reference->value[i]) + bound) * 0x1p-11, 0x1p-25);
		if (!(fabs(values[i] - reference->value[i]) <= bound))
			return (long)i;
	}
	return -1;
}
