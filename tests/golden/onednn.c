// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/onednn.h"

#include <criterion/criterion.h>
#include <dnnl.h>
#include <stdlib.h>

#include "csim/golden/half.h"

#define CHECK(call) cr_assert_eq((call), dnnl_success, "%s", #call)

struct context {
	dnnl_engine_t engine;
	dnnl_stream_t stream;
	dnnl_memory_desc_t x, w, y;
	dnnl_dims_t strides, dilations, padding;
};

static void describe(dnnl_memory_desc_t *desc, int a, int b, int c, int d)
{
	dnnl_dims_t dims = {a, b, c, d};

	CHECK(dnnl_memory_desc_init_by_tag(desc, 4, dims, dnnl_f32, dnnl_acdb)); // NHWC, and KRSC
}

static void open_context(struct context *context, const struct golden_conv *conv)
{
	CHECK(dnnl_engine_create(&context->engine, dnnl_cpu, 0));
	CHECK(dnnl_stream_create(&context->stream, context->engine, dnnl_stream_default_flags));
	describe(&context->x, conv->batch, conv->in_c, conv->in_h, conv->in_w);
	describe(&context->w, conv->out_c, conv->in_c, conv->kernel_h, conv->kernel_w);
	describe(&context->y, conv->batch, conv->out_c, conv->out_h, conv->out_w);
	context->strides[0] = conv->stride_h;
	context->strides[1] = conv->stride_w;
	context->dilations[0] = conv->dilation_h - 1;
	context->dilations[1] = conv->dilation_w - 1;
	context->padding[0] = conv->pad_h;
	context->padding[1] = conv->pad_w;
}

static dnnl_primitive_desc_t describe_forward(const struct context *context)
{
	dnnl_convolution_desc_t desc;
	dnnl_primitive_desc_t result;

	CHECK(dnnl_dilated_convolution_forward_desc_init(&desc, dnnl_forward_training, dnnl_convolution_direct, &context->x, &context->w, NULL, &context->y,
	                                                 context->strides, context->dilations, context->padding, context->padding));
	CHECK(dnnl_primitive_desc_create(&result, &desc, NULL, context->engine, NULL));
	return result;
}

static dnnl_primitive_desc_t describe_backward(const struct context *context, enum rig_operator operator, dnnl_primitive_desc_t forward)
{
	dnnl_convolution_desc_t desc;
	dnnl_primitive_desc_t result;

	if (operator == RIG_DATA_GRADIENT)
		CHECK(dnnl_dilated_convolution_backward_data_desc_init(&desc, dnnl_convolution_direct, &context->x, &context->w, &context->y, context->strides,
		                                                       context->dilations, context->padding, context->padding));
	else
		CHECK(dnnl_dilated_convolution_backward_weights_desc_init(&desc, dnnl_convolution_direct, &context->x, &context->w, NULL, &context->y,
		                                                          context->strides, context->dilations, context->padding, context->padding));
	CHECK(dnnl_primitive_desc_create(&result, &desc, NULL, context->engine, forward));
	return result;
}

static float *floats(const uint16_t *halves, size_t count)
{
	float *values = malloc(count * sizeof(*values));

	cr_assert_not_null(values);
	golden_halves_to_floats(values, halves, count);
	return values;
}

float *onednn_run(const struct rig *rig, enum rig_operator operator)
{
	static const int result_arg[RIG_OPERATORS] = {DNNL_ARG_DST, DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_WEIGHTS};
	struct context context;
	dnnl_primitive_desc_t forward, desc;
	dnnl_primitive_t primitive;
	float *x = floats(rig->x, rig->in_count), *w = floats(rig->w, rig->weight_count), *y = floats(rig->dy, rig->out_count);
	float *values[RIG_OPERATORS] = {y, x, w}; // the result takes the place of the tensor that the operator does not read
	dnnl_exec_arg_t args[3] = {
		{operator == RIG_DATA_GRADIENT ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, NULL},
		{operator == RIG_WEIGHT_GRADIENT ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, NULL},
		{operator == RIG_FORWARD ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, NULL},
	};

	open_context(&context, &rig->conv);
	forward = describe_forward(&context);
	desc = operator == RIG_FORWARD ? forward : describe_backward(&context, operator, forward);
	CHECK(dnnl_primitive_create(&primitive, desc));
	CHECK(dnnl_memory_create(&args[0].memory, &context.x, context.engine, x));
	CHECK(dnnl_memory_create(&args[1].memory, &context.w, context.engine, w));
	CHECK(dnnl_memory_create(&args[2].memory, &context.y, context.engine, y));
	CHECK(dnnl_primitive_execute(primitive, context.stream, 3, args));
	CHECK(dnnl_stream_wait(context.stream));

	for (int i = 0; i < 3; i++) {
		CHECK(dnnl_memory_destroy(args[i].memory));
		if (args[i].arg == result_arg[operator])
			continue;
		free(i == 0 ? x : i == 1 ? w : y);
	}
	CHECK(dnnl_primitive_destroy(primitive));
	if (desc != forward)
		CHECK(dnnl_primitive_desc_destroy(desc));
	CHECK(dnnl_primitive_desc_destroy(forward));
	CHECK(dnnl_stream_destroy(context.stream));
	CHECK(dnnl_engine_destroy(context.engine));
	return values[operator];
}
