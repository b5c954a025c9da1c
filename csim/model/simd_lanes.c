// SPDX-License-Identifier: Apache-2.0
//
// SIMD: what operations read and write; lane_ops.c has the operations themselves.
#include <string.h>

#include "csim/model/lane_ops.h"
#include "csim/model/simd.h"

static model_result fetch(const struct simd_run *run, uint8_t source, enum wc_simd_part part, uint32_t *to)
{
	uint32_t value = 0;

	if (source < WC_SIMD_STREAM) {
		memcpy(to, run->registers[source], run->lanes * sizeof(*to));
		return 0;
	}
	if (source < WC_SIMD_CONSTANT)
		return simd_read(run, source - WC_SIMD_STREAM, part, to);
	if (source >= WC_SIMD_LITERAL)
		value = wc_simd_literals[source - WC_SIMD_LITERAL];
	else if (source == WC_SIMD_TAP)
		value = run->tap;
	else if (source != WC_SIMD_CHANNEL)
		value = run->constants[source - WC_SIMD_CONSTANT];
	for (uint32_t lane = 0; lane < run->lanes; lane++)
		to[lane] = source == WC_SIMD_CHANNEL ? run->channel + lane : value;
	return 0;
}

static model_result operate(struct simd_run *run, const struct wc_simd_code *code, enum wc_simd_part part)
{
	uint32_t a[SIMD_LANES_MAX], b[SIMD_LANES_MAX], addends[SIMD_LANES_MAX], to[SIMD_LANES_MAX];
	struct lane_operands operands = {.a = a, .b = b, .first = run->first, .active = run->active};
	enum wc_simd_op op = (enum wc_simd_op)code->op;
	model_result result;

	if ((result = fetch(run, code->a, part, a)) || (result = fetch(run, code->b, part, b)))
		return result;
	if (op == WC_SIMD_OP_ACC) {
		lane_ops_apply(WC_SIMD_OP_SHIFT, &(struct lane_operands){.a = b}, NULL, run->registers[code->b], run->lanes);
		operands.b = run->registers[code->b];
		op = WC_SIMD_OP_ADD;
	}
	if (op == WC_SIMD_OP_ACC2) {
		lane_ops_apply(op, &operands, NULL, addends, run->lanes);
		lane_ops_apply(WC_SIMD_OP_SHIFT, &(struct lane_operands){.a = a}, NULL, run->registers[code->a], run->lanes);
		lane_ops_apply(WC_SIMD_OP_SHIFT, &(struct lane_operands){.a = b}, NULL, run->registers[code->b], run->lanes);
		operands.a = run->registers[code->d];
		operands.b = addends;
		op = WC_SIMD_OP_ADD;
	}
	lane_ops_apply(op, &operands, run->predicate, to, run->lanes);
	if (op == WC_SIMD_OP_GT || op == WC_SIMD_OP_EQ || op == WC_SIMD_OP_ACTIVE)
		return 0;
	if (code->d >= WC_SIMD_STREAM)
		return simd_write(run, code->d - WC_SIMD_STREAM, part, to);
	memcpy(run->registers[code->d], to, run->lanes * sizeof(*to));
	return 0;
}

model_result simd_execute(struct simd_run *run, enum wc_simd_part part)
{
	const struct wc_simd_code *code = run->model->simd_code + run->text->first[part], *end = code + run->text->count[part];

	while (code < end) {
		uint32_t times = 1, length = 1;

		if (code->op == WC_SIMD_OP_LOOP) {
			times = (code->a ? run->command->block : run->command->group) - 1u;
			length = code->b;
			code++;
		}
		for (uint32_t i = 0; i < times; i++)
			for (uint32_t j = 0; j < length; j++) {
				model_result result = operate(run, code + j, part);

				if (result)
					return result;
			}
		code += length;
	}
	return 0;
}
