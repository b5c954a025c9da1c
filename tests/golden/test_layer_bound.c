// SPDX-License-Identifier: Apache-2.0
//
// Bias, groups and fully connected layers against float64 within the bound, and oneDNN.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "csim/golden/bound.h"
#include "csim/golden/grouped.h"
#include "csim/golden/half.h"
#include "csim/golden/reference.h"
#include "tests/golden/layer.h"
#include "tests/golden/onednn.h"
#include "tests/golden/rig.h"

// Channel by channel through the ungrouped float64 operators.
static void reference_groups(const struct layer *layer, bool magnitude, double *y, double *dx, double *dw, double *db)
{
	const struct golden_conv *conv = &layer->conv, group = golden_group_conv(conv, layer->groups);
	double *x = rig_doubles(layer->x, layer->in, magnitude), *w = rig_doubles(layer->w, layer->weights, magnitude);
	double *dy = rig_doubles(layer->dy, layer->out, magnitude), *bias = rig_doubles(layer->bias, conv->out_c, magnitude);
	double *group_x = rig_zeros(layer->in, sizeof(double)), *group_y = rig_zeros(layer->out, sizeof(double));
	double *group_dx = rig_zeros(layer->in, sizeof(double)), *group_dy = rig_zeros(layer->out, sizeof(double));
	size_t weights = golden_conv_weight_count(&group);

	for (int g = 0; g < layer->groups; g++) {
		for (size_t i = 0; i < golden_conv_in_count(&group); i++)
			group_x[i] = x[i / group.in_c * conv->in_c + g * group.in_c + i % group.in_c];
		for (size_t i = 0; i < golden_conv_out_count(&group); i++)
			group_dy[i] = dy[i / group.out_c * conv->out_c + g * group.out_c + i % group.out_c];
		golden_reference_forward_bias(&group, group_x, w + g * weights, bias + g * group.out_c, group_y);
		golden_reference_data_gradient(&group, group_dy, w + g * weights, group_dx);
		golden_reference_weight_gradient(&group, group_x, group_dy, dw + g * weights);
		golden_reference_bias_gradient(&group, group_dy, db + g * group.out_c);
		for (size_t i = 0; i < golden_conv_in_count(&group); i++)
			dx[i / group.in_c * conv->in_c + g * group.in_c + i % group.in_c] = group_dx[i];
		for (size_t i = 0; i < golden_conv_out_count(&group); i++)
			y[i / group.out_c * conv->out_c + g * group.out_c + i % group.out_c] = group_y[i];
	}
	free(x);
	free(w);
	free(dy);
	free(bias);
	free(group_x);
	free(group_y);
	free(group_dx);
	free(group_dy);
}

// Bits (halves, or floats) and oneDNN's values against float64, and against each other.
static void check(const char *what, const struct layer *layer, double k, const double *exact, const double *magnitude,
		  const uint16_t *halves, const float *floats, const float *theirs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double sum = golden_bound_sum(k, magnitude[i]), value = halves ? golden_half_to_float(halves[i]) : floats[i];
		double bound = halves ? golden_bound_half(exact[i], sum) : sum;

		cr_assert_leq(fabs(value - exact[i]), bound, "%s %zu against float64, %d groups: %s", what, i, layer->groups,
			      rig_name(&layer->conv));
		cr_assert_leq(fabs(theirs[i] - exact[i]), sum, "%s %zu, oneDNN against float64, %d groups: %s", what, i,
			      layer->groups, rig_name(&layer->conv));
		cr_assert_leq(fabs(value - theirs[i]), bound + sum, "%s %zu against oneDNN, %d groups: %s", what, i,
			      layer->groups, rig_name(&layer->conv));
	}
}

static void check_layer(const struct layer *layer)
{
	const struct golden_conv *conv = &layer->conv;
	double *exact[4], *magnitude[4], taps = (double)conv->kernel_h * conv->kernel_w,
					 pixels = (double)conv->batch * conv->out_h * conv->out_w;
	size_t counts[4] = {layer->out, layer->in, layer->weights, conv->out_c};
	float *x = rig_zeros(layer->in, sizeof(float)), *w = rig_zeros(layer->weights, sizeof(float)),
	      *bias = rig_zeros(conv->out_c, sizeof(float));
	float *dy = rig_zeros(layer->out, sizeof(float));
	struct onednn_conv theirs;

	for (int i = 0; i < 4; i++) {
		exact[i] = rig_zeros(counts[i], sizeof(double));
		magnitude[i] = rig_zeros(counts[i], sizeof(double));
	}
	golden_halves_to_floats(x, layer->x, layer->in);
	golden_halves_to_floats(w, layer->w, layer->weights);
	golden_halves_to_floats(bias, layer->bias, conv->out_c);
	golden_halves_to_floats(dy, layer->dy, layer->out);
	reference_groups(layer, false, exact[0], exact[1], exact[2], exact[3]);
	reference_groups(layer, true, magnitude[0], magnitude[1], magnitude[2], magnitude[3]);
	onednn_conv(conv, layer->groups, x, w, bias, dy, &theirs);
	check("y", layer, taps * conv->in_c / layer->groups + 1, exact[0], magnitude[0], layer->y, NULL, theirs.y, counts[0]);
	check("dx", layer, taps * conv->out_c / layer->groups, exact[1], magnitude[1], layer->dx, NULL, theirs.dx, counts[1]);
	check("dw", layer, pixels, exact[2], magnitude[2], NULL, layer->dw, theirs.dw, counts[2]);
	check("db", layer, pixels, exact[3], magnitude[3], NULL, layer->db, theirs.db, counts[3]);
	onednn_conv_free(&theirs);
	for (int i = 0; i < 4; i++) {
		free(exact[i]);
		free(magnitude[i]);
	}
	free(x);
	free(w);
	free(bias);
	free(dy);
}

Test(layer_bound, float64_and_onednn_agree_within_the_bound)
{
	uint64_t state = rig_seed() + 503;

	for (int i = 0; i < layer_shape_count + (rig_long() ? 200 : 20); i++) {
		struct golden_conv conv = i < layer_shape_count ? layer_shapes[i].conv : rig_random_conv(&state);
		int groups = i < layer_shape_count ? layer_shapes[i].groups : rig_between(&state, 1, 6);
		struct layer layer;

		if (i >= layer_shape_count) {
			conv.in_c = groups * rig_between(&state, 1, 6);
			conv.out_c = groups * rig_between(&state, 1, 6);
		}
		layer = layer_create(conv, groups, 4 << rig_between(&state, 0, 5), false, &state);
		check_layer(&layer);
		layer_free(&layer);
	}
}

// A fully connected layer is a convolution whose kernel is the whole image: its weights [K][H][W][C] are those of a matrix
// product with the flattened image.
Test(layer_bound, a_fully_connected_layer_is_a_convolution)
{
	static const struct golden_conv layers[] = {
	    {3, 7, 7, 20, 1, 1, 33, 7, 7, 1, 1, 0, 0, 1, 1},
	    {2, 1, 1, 300, 1, 1, 10, 1, 1, 1, 1, 0, 0, 1, 1},
	    {1, 5, 3, 1, 1, 1, 1, 5, 3, 1, 1, 0, 0, 1, 1},
	};
	uint64_t state = rig_seed() + 504;

	for (int i = 0; i < 3; i++) {
		struct layer layer = layer_create(layers[i], 1, 16, false, &state);
		const struct golden_conv *conv = &layer.conv;
		int inputs = conv->in_h * conv->in_w * conv->in_c;
		float *x = rig_zeros(layer.in, sizeof(float)), *w = rig_zeros(layer.weights, sizeof(float)),
		      *bias = rig_zeros(conv->out_c, sizeof(float));
		float *theirs = rig_zeros(layer.out, sizeof(float));

		golden_halves_to_floats(x, layer.x, layer.in);
		golden_halves_to_floats(w, layer.w, layer.weights);
		golden_halves_to_floats(bias, layer.bias, conv->out_c);
		onednn_inner_product(conv->batch, inputs, conv->out_c, x, w, bias, theirs);
		for (int n = 0; n < conv->batch; n++)
			for (int k = 0; k < conv->out_c; k++) {
				double exact = bias[k], magnitude = fabs(exact), sum,
				       y = golden_half_to_float(layer.y[n * conv->out_c + k]);

				for (int j = 0; j < inputs; j++) {
					exact += (double)x[n * inputs + j] * w[k * inputs + j];
					magnitude += fabs((double)x[n * inputs + j] * w[k * inputs + j]);
				}
				sum = golden_bound_sum(inputs + 1.0, magnitude);
				cr_assert_leq(fabs(y - exact), golden_bound_half(exact, sum), "output %d of sample %d", k, n);
				cr_assert_leq(fabs(theirs[n * conv->out_c + k] - exact), sum, "oneDNN's output %d of sample %d",
					      k, n);
			}
		free(x);
		free(w);
		free(bias);
		free(theirs);
		layer_free(&layer);
	}
}
