// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/layer.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "csim/golden/grouped.h"
#include "csim/golden/ordered.h"
#include "tests/golden/rig.h"

const struct layer_shape layer_shapes[] = {
	{{1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1}, 1},
	{{2, 7, 7, 16, 0, 0, 16, 3, 3, 1, 1, 1, 1, 1, 1}, 1},
	{{2, 9, 8, 12, 0, 0, 12, 3, 3, 1, 1, 1, 1, 1, 1}, 12}, // depthwise
	{{1, 9, 9, 5, 0, 0, 5, 3, 3, 2, 2, 1, 1, 1, 1}, 5},    // depthwise with a stride
	{{1, 6, 7, 4, 0, 0, 12, 3, 2, 1, 2, 1, 0, 1, 1}, 4},   // three filters a channel
	{{2, 8, 5, 20, 0, 0, 8, 1, 1, 1, 1, 0, 0, 1, 1}, 2},
	{{1, 11, 10, 18, 0, 0, 30, 5, 3, 3, 2, 2, 1, 1, 2}, 6},
	{{3, 4, 4, 34, 0, 0, 10, 3, 3, 1, 1, 1, 1, 1, 1}, 2},  // more channels of a group than rows
};
const int layer_shape_count = sizeof(layer_shapes) / sizeof(layer_shapes[0]);
static void must(int result, const struct wc_error *err)
{
	cr_assert_eq(result, 0, "%s", err->text);
}

struct layer layer_create(struct golden_conv conv, int groups, int rows, bool wide, uint64_t *state)
{
	struct layer layer = {.groups = groups, .rows = rows};
	struct golden_range all;
	struct wc_error err = {0};

	conv.out_h = golden_conv_output(conv.in_h, conv.kernel_h, conv.stride_h, conv.pad_h, conv.dilation_h);
	conv.out_w = golden_conv_output(conv.in_w, conv.kernel_w, conv.stride_w, conv.pad_w, conv.dilation_w);
	layer.conv = conv;
	layer.in = golden_conv_in_count(&conv);
	layer.out = golden_conv_out_count(&conv);
	layer.weights = golden_conv_weight_count(&conv) / groups;
	layer.x = wide ? rig_wide_halves(layer.in, state) : rig_halves(layer.in, state);
	layer.w = rig_halves(layer.weights, state);
	layer.dy = wide ? rig_wide_halves(layer.out, state) : rig_halves(layer.out, state);
	layer.bias = wide ? rig_wide_halves(conv.out_c, state) : rig_halves(conv.out_c, state);
	layer.y = rig_zeros(layer.out, sizeof(*layer.y));
	layer.dx = rig_zeros(layer.in, sizeof(*layer.dx));
	layer.dw = rig_zeros(layer.weights, sizeof(*layer.dw));
	layer.db = rig_zeros(conv.out_c, sizeof(*layer.db));
	all = golden_range_out(&conv);
	must(golden_grouped_forward(&conv, groups, rows, layer.x, layer.w, layer.bias, all, layer.y, &err), &err);
	must(golden_grouped_data_gradient(&conv, groups, rows, layer.dy, layer.w, golden_range_in(&conv), layer.dx, &err), &err);
	must(golden_grouped_weight_gradient_add(&conv, groups, rows, layer.x, layer.dy, all, layer.dw, &err), &err);
	must(golden_bias_gradient_add(&conv, rows, layer.dy, all, layer.db, &err), &err);
	return layer;
}

void layer_free(struct layer *layer)
{
	void *const all[] = {layer->x, layer->w, layer->bias, layer->dy, layer->y, layer->dx, layer->dw, layer->db};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]);
}
