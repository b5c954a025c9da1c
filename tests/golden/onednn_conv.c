// SPDX-License-Identifier: Apache-2.0
//
// Convolutions with bias and groups, and inner products.
#include <stdlib.h>
#include <string.h>

#include "tests/golden/onednn.h"
#include "tests/golden/onednn_primitive.h"

struct shape {
	dnnl_memory_desc_t x, w, bias, y;
	dnnl_dims_t strides, dilations, padding;
};

static struct shape describe(const struct golden_conv *conv, int groups)
{
	int group_in = conv->in_c / groups, group_out = conv->out_c / groups;
	dnnl_dims_t dims = {groups, group_out, group_in, conv->kernel_h, conv->kernel_w};
	dnnl_dim_t tap = group_in, row = tap * conv->kernel_w, filter = row * conv->kernel_h;
	dnnl_dims_t strides = {filter * group_out, filter, 1, row, tap};
	struct shape shape = {
	    .x = onednn_describe(4, (dnnl_dims_t){conv->batch, conv->in_c, conv->in_h, conv->in_w}, dnnl_acdb),
	    .bias = onednn_describe(1, (dnnl_dims_t){conv->out_c}, dnnl_a),
	    .y = onednn_describe(4, (dnnl_dims_t){conv->batch, conv->out_c, conv->out_h, conv->out_w}, dnnl_acdb),
	    .strides = {conv->stride_h, conv->stride_w},
	    .dilations = {conv->dilation_h - 1, conv->dilation_w - 1},
	    .padding = {conv->pad_h, conv->pad_w},
	};

	ONEDNN_CHECK(dnnl_memory_desc_init_by_strides(&shape.w, 5, dims, dnnl_f32, strides));
	return shape;
}

void onednn_conv(const struct golden_conv *conv, int groups, const float *x, const float *w, const float *bias, const float *dy,
		 struct onednn_conv *result)
{
	struct shape shape = describe(conv, groups);
	size_t weights = (size_t)conv->out_c * conv->kernel_h * conv->kernel_w * (conv->in_c / groups);
	dnnl_convolution_desc_t operation;
	dnnl_primitive_desc_t forward, desc;

	result->y = rig_zeros(golden_conv_out_count(conv), sizeof(float));
	result->dx = rig_zeros(golden_conv_in_count(conv), sizeof(float));
	result->dw = rig_zeros(weights, sizeof(float));
	result->db = rig_zeros(conv->out_c, sizeof(float));

	struct onednn_tensor y_tensors[] = {
	    {DNNL_ARG_SRC, shape.x, (float *)x},
	    {DNNL_ARG_WEIGHTS, shape.w, (float *)w},
	    {DNNL_ARG_BIAS, shape.bias, (float *)bias},
	    {DNNL_ARG_DST, shape.y, result->y},
	};
	struct onednn_tensor dx_tensors[] = {
	    {DNNL_ARG_DIFF_DST, shape.y, (float *)dy},
	    {DNNL_ARG_WEIGHTS, shape.w, (float *)w},
	    {DNNL_ARG_DIFF_SRC, shape.x, result->dx},
	};
	struct onednn_tensor dw_tensors[] = {
	    {DNNL_ARG_SRC, shape.x, (float *)x},
	    {DNNL_ARG_DIFF_DST, shape.y, (float *)dy},
	    {DNNL_ARG_DIFF_WEIGHTS, shape.w, result->dw},
	    {DNNL_ARG_DIFF_BIAS, shape.bias, result->db},
	};

	ONEDNN_CHECK(dnnl_dilated_convolution_forward_desc_init(&operation, dnnl_forward_training, dnnl_convolution_direct,
								&shape.x, &shape.w, &shape.bias, &shape.y, shape.strides,
								shape.dilations, shape.padding, shape.padding));
	forward = onednn_prepare(&operation, NULL);
	onednn_execute(forward, y_tensors, 4, NULL);
	ONEDNN_CHECK(dnnl_dilated_convolution_backward_data_desc_init(&operation, dnnl_convolution_direct, &shape.x, &shape.w,
								      &shape.y, shape.strides, shape.dilations, shape.padding,
								      shape.padding));
	desc = onednn_prepare(&operation, forward);
	onednn_execute(desc, dx_tensors, 3, NULL);
	ONEDNN_CHECK(dnnl_primitive_desc_destroy(desc));
	ONEDNN_CHECK(dnnl_dilated_convolution_backward_weights_desc_init(&operation, dnnl_convolution_direct, &shape.x, &shape.w,
									 &shape.bias, &shape.y, shape.strides, shape.dilations,
									 shape.padding, shape.padding));
	desc = onednn_prepare(&operation, forward);
	onednn_execute(desc, dw_tensors, 4, NULL);
	ONEDNN_CHECK(dnnl_primitive_desc_destroy(desc));
	ONEDNN_CHECK(dnnl_primitive_desc_destroy(forward));
}

void onednn_conv_free(struct onednn_conv *result)
{
	free(result->y);
	free(result->dx);
	free(result->dw);
	free(result->db);
}

void onednn_inner_product(int batch, int inputs, int outputs, const float *x, const float *w, const float *bias, float *y)
{
	dnnl_memory_desc_t x_desc = onednn_describe(2, (dnnl_dims_t){batch, inputs}, dnnl_ab),
			   w_desc = onednn_describe(2, (dnnl_dims_t){outputs, inputs}, dnnl_ab);
	dnnl_memory_desc_t bias_desc = onednn_describe(1, (dnnl_dims_t){outputs}, dnnl_a),
			   y_desc = onednn_describe(2, (dnnl_dims_t){batch, outputs}, dnnl_ab);
	struct onednn_tensor tensors[] = {
	    {DNNL_ARG_SRC, x_desc, (float *)x},
	    {DNNL_ARG_WEIGHTS, w_desc, (float *)w},
	    {DNNL_ARG_BIAS, bias_desc, (float *)bias},
	    {DNNL_ARG_DST, y_desc, y},
	};
	dnnl_inner_product_desc_t operation;
	dnnl_primitive_desc_t desc;

	ONEDNN_CHECK(
	    dnnl_inner_product_forward_desc_init(&operation, dnnl_forward_training, &x_desc, &w_desc, &bias_desc, &y_desc));
	desc = onednn_prepare(&operation, NULL);
	onednn_execute(desc, tensors, 4, NULL);
	ONEDNN_CHECK(dnnl_primitive_desc_destroy(desc));
}
