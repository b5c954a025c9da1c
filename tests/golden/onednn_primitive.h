// SPDX-License-Identifier: Apache-2.0
//
// One oneDNN primitive on plain float arrays, from its operation descriptor to its result. Included by the onednn_*.c alone.
#ifndef TESTS_GOLDEN_ONEDNN_PRIMITIVE_H
#define TESTS_GOLDEN_ONEDNN_PRIMITIVE_H

#include <criterion/criterion.h>
#include <dnnl.h>

#define ONEDNN_CHECK(call) cr_assert_eq((call), dnnl_success, "%s", #call)

// An argument of the primitive: the caller's array, dense as `desc` says.
struct onednn_tensor {
	int arg; // DNNL_ARG_*
	dnnl_memory_desc_t desc;
	void *values;
};

// Dense, of one to five dimensions in the order of `tag`.
dnnl_memory_desc_t onednn_describe(int rank, const dnnl_dims_t dims, dnnl_format_tag_t tag);
// The descriptor of a primitive; `forward`, the hint of a backward one, may be NULL. The caller destroys it.
dnnl_primitive_desc_t onednn_prepare(const_dnnl_op_desc_t operation, const_dnnl_primitive_desc_t forward);
// Run it. A workspace that the descriptor asks for is the array `workspace` (NULL: none is), of onednn_workspace_bytes().
void onednn_execute(const_dnnl_primitive_desc_t desc, const struct onednn_tensor *tensors, int count, void *workspace);
size_t onednn_workspace_bytes(const_dnnl_primitive_desc_t desc);

#endif
