// SPDX-License-Identifier: Apache-2.0
//
// The frame of a SIMD command.
#include "driver/host/lower_internal.h"

struct op *lower_simd(struct lower *lower, int step, struct wc_error *err)
{
	return lower_push(lower, step, OP_SIMD, err);
}

struct simd_nest lower_row_nest(const struct lower *lower, enum wc_simd_program program, const struct op_rows *rows)
{
	return (struct simd_nest){
		.program = program, .n = rows->sample_count, .y = rows->hi - rows->lo, .x = 1, .channels = (int64_t)rows->count,
		.lanes = wc_device_lanes(&lower->params),
	};
}

int lower_simd_finish(struct lower *lower, struct op *op, struct wc_error *err)
{
	assert(op->result_count > 0);
	op->value = op->results[0].value;
	return lower_finish(lower, op, WC_OP_SIMD, err);
}
