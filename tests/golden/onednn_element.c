// SPDX-License-Identifier: Apache-2.0
//
// Operators on elements, and softmax.
#include "tests/golden/onednn.h"
#include "tests/golden/onednn_primitive.h"

void onednn_eltwise(enum onednn_function function, const float *x, size_t count, float *y)
{
	static const dnnl_alg_kind_t kinds[] = {[ONEDNN_EXP] = dnnl_eltwise_exp, [ONEDNN_LOG] = dnnl_eltwise_log};
	dnnl_memory_desc_t line = onednn_describe(1, (dnnl_dims_t){(dnnl_dim_t)count}, dnnl_a);
	struct onednn_tensor tensors[] = {{DNNL_ARG_SRC, line, (float *)x}, {DNNL_ARG_DST, line, y}};
	dnnl_primitive_desc_t desc;
	dnnl_eltwise_desc_t operation;

	ONEDNN_CHECK(dnnl_eltwise_forward_desc_init(&operation, dnnl_forward_inference, kinds[function], &line, 0, 0));
	desc = onednn_prepare(&operation, NULL);
	onednn_execute(desc, tensors, 2, NULL);
	ONEDNN_CHECK(dnnl_primitive_desc_destroy(desc));
}

void onednn_add(const float *a, const float *b, size_t count, float *y)
{
	dnnl_memory_desc_t line = onednn_describe(1, (dnnl_dims_t){(dnnl_dim_t)count}, dnnl_a);
	struct onednn_tensor tensors[] = {
	    {DNNL_ARG_SRC_0, line, (float *)a}, {DNNL_ARG_SRC_1, line, (float *)b}, {DNNL_ARG_DST, line, y}};
	dnnl_primitive_desc_t desc;
	dnnl_binary_desc_t operation;

	ONEDNN_CHECK(dnnl_binary_desc_init(&operation, dnnl_binary_add, &line, &line, &line));
	desc = onednn_prepare(&operation, NULL);
	onednn_execute(desc, tensors, 3, NULL);
	ONEDNN_CHECK(dnnl_primitive_desc_destroy(desc));
}

static void run_softmax(dnnl_alg_kind_t kind, int batch, int classes, const float *z, float *result)
{
	dnnl_memory_desc_t shape = onednn_describe(2, (dnnl_dims_t){batch, classes}, dnnl_ab);
	struct onednn_tensor tensors[] = {{DNNL_ARG_SRC, shape, (float *)z}, {DNNL_ARG_DST, shape, result}};
	dnnl_primitive_desc_t desc;
	dnnl_softmax_v2_desc_t operation;

	ONEDNN_CHECK(dnnl_softmax_v2_forward_desc_init(&operation, dnnl_forward_inference, kind, &shape, &shape, 1));
	desc = onednn_prepare(&operation, NULL);
	onednn_execute(desc, tensors, 2, NULL);
	ONEDNN_CHECK(dnnl_primitive_desc_destroy(desc));
}

void onednn_softmax(int batch, int classes, const float *z, float *p)
{
	run_softmax(dnnl_softmax_accurate, batch, classes, z, p);
}

void onednn_log_softmax(int batch, int classes, const float *z, float *log_p)
{
	run_softmax(dnnl_softmax_log, batch, classes, z, log_p);
}
