// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/onednn_primitive.h"

enum { TENSORS_MAX = 10 };

static dnnl_engine_t engine; // of the test's process, left to its end

static dnnl_engine_t the_engine(void)
{
	if (!engine)
		ONEDNN_CHECK(dnnl_engine_create(&engine, dnnl_cpu, 0));
	return engine;
}

dnnl_memory_desc_t onednn_describe(int rank, const dnnl_dims_t dims, dnnl_format_tag_t tag)
{
	dnnl_memory_desc_t desc;

	ONEDNN_CHECK(dnnl_memory_desc_init_by_tag(&desc, rank, dims, dnnl_f32, tag));
	return desc;
}

dnnl_primitive_desc_t onednn_prepare(const_dnnl_op_desc_t operation, const_dnnl_primitive_desc_t forward)
{
	dnnl_primitive_desc_t desc;

	ONEDNN_CHECK(dnnl_primitive_desc_create(&desc, operation, NULL, the_engine(), forward));
	return desc;
}

size_t onednn_workspace_bytes(const_dnnl_primitive_desc_t desc)
{
	const dnnl_memory_desc_t *workspace = dnnl_primitive_desc_query_md(desc, dnnl_query_workspace_md, 0);

	return workspace ? dnnl_memory_desc_get_size(workspace) : 0;
}

void onednn_execute(const_dnnl_primitive_desc_t desc, const struct onednn_tensor *tensors, int count, void *workspace)
{
	dnnl_stream_t stream;
	dnnl_primitive_t primitive;
	dnnl_exec_arg_t args[TENSORS_MAX];

	cr_assert_lt(count, TENSORS_MAX);
	ONEDNN_CHECK(dnnl_stream_create(&stream, the_engine(), dnnl_stream_default_flags));
	ONEDNN_CHECK(dnnl_primitive_create(&primitive, desc));
	for (int i = 0; i < count; i++) {
		args[i].arg = tensors[i].arg;
		ONEDNN_CHECK(dnnl_memory_create(&args[i].memory, &tensors[i].desc, the_engine(), tensors[i].values));
	}
	if (workspace) {
		args[count].arg = DNNL_ARG_WORKSPACE;
		ONEDNN_CHECK(dnnl_memory_create(&args[count++].memory,
						dnnl_primitive_desc_query_md(desc, dnnl_query_workspace_md, 0), the_engine(),
						workspace));
	}
	ONEDNN_CHECK(dnnl_primitive_execute(primitive, stream, count, args));
	ONEDNN_CHECK(dnnl_stream_wait(stream));
	for (int i = 0; i < count; i++)
		ONEDNN_CHECK(dnnl_memory_destroy(args[i].memory));
	ONEDNN_CHECK(dnnl_primitive_destroy(primitive));
	ONEDNN_CHECK(dnnl_stream_destroy(stream));
}
