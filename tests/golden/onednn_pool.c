// SPDX-License-Identifier: Apache-2.0
//
// Max and average pooling, padding included in the average.
#include <stdlib.h>

#include "tests/golden/onednn.h"
#include "tests/golden/onednn_primitive.h"

static const dnnl_alg_kind_t kinds[] = {
    [ONEDNN_MAX_POOL] = dnnl_pooling_max, [ONEDNN_AVERAGE_POOL] = dnnl_pooling_avg_include_padding};

struct shape {
	dnnl_memory_desc_t x, y;
	dnnl_dims_t strides, kernel, padding;
};

static struct shape describe(const struct golden_pool *pool)
{
	return (struct shape){
	    .x = onednn_describe(4, (dnnl_dims_t){pool->batch, pool->channels, pool->in_h, pool->in_w}, dnnl_acdb),
	    .y = onednn_describe(4, (dnnl_dims_t){pool->batch, pool->channels, pool->out_h, pool->out_w}, dnnl_acdb),
	    .strides = {pool->stride_h, pool->stride_w},
	    .kernel = {pool->kernel_h, pool->kernel_w},
	    .padding = {pool->pad_h, pool->pad_w},
	};
}

static dnnl_primitive_desc_t prepare_forward(enum onednn_pool kind, const struct shape *shape)
{
	dnnl_pooling_desc_t operation;

	ONEDNN_CHECK(dnnl_pooling_forward_desc_init(&operation, dnnl_forward_training, kinds[kind], &shape->x, &shape->y,
						    shape->strides, shape->kernel, shape->padding, shape->padding));
	return onednn_prepare(&operation, NULL);
}

static void run_forward(dnnl_primitive_desc_t desc, const struct shape *shape, const float *x, float *y, void *workspace)
{
	struct onednn_tensor tensors[] = {{DNNL_ARG_SRC, shape->x, (float *)x}, {DNNL_ARG_DST, shape->y, y}};

	onednn_execute(desc, tensors, 2, workspace);
}

void onednn_pool(enum onednn_pool kind, const struct golden_pool *pool, const float *x, float *y)
{
	struct shape shape = describe(pool);
	dnnl_primitive_desc_t desc = prepare_forward(kind, &shape);
	size_t bytes = onednn_workspace_bytes(desc);
	void *workspace = bytes ? rig_zeros(bytes, 1) : NULL;

	run_forward(desc, &shape, x, y, workspace);
	free(workspace);
	ONEDNN_CHECK(dnnl_primitive_desc_destroy(desc));
}

void onednn_pool_gradient(enum onednn_pool kind, const struct golden_pool *pool, const float *x, const float *dy, float *dx)
{
	struct shape shape = describe(pool);
	dnnl_primitive_desc_t forward = prepare_forward(kind, &shape), desc;
	struct onednn_tensor tensors[] = {{DNNL_ARG_DIFF_DST, shape.y, (float *)dy}, {DNNL_ARG_DIFF_SRC, shape.x, dx}};
	size_t bytes = onednn_workspace_bytes(forward);
	void *workspace = bytes ? rig_zeros(bytes, 1) : NULL;
	float *y = rig_zeros((size_t)pool->batch * pool->out_h * pool->out_w * pool->channels, sizeof(*y));
	dnnl_pooling_desc_t operation;

	run_forward(forward, &shape, x, y, workspace);
	ONEDNN_CHECK(dnnl_pooling_backward_desc_init(&operation, kinds[kind], &shape.x, &shape.y, shape.strides, shape.kernel,
						     shape.padding, shape.padding));
	desc = onednn_prepare(&operation, forward);
	onednn_execute(desc, tensors, 2, workspace);
	free(workspace);
	free(y);
	ONEDNN_CHECK(dnnl_primitive_desc_destroy(desc));
	ONEDNN_CHECK(dnnl_primitive_desc_destroy(forward));
}
