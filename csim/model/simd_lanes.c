// SPDX-License-Identifier: Apache-2.0
//
// SIMD: registers and operations, each on all lanes.
#include <string.h>

#include "csim/golden/half.h"
#include "csim/model/simd.h"

// Patterns in the order of the numbers: sign and magnitude, so that the zeros are one, NaNs the greatest, all ones the least.
static int32_t key(uint32_t bits)
{
	return bits >> 31 ? -(int32_t)(bits & 0x7fffffff) : (int32_t)bits;
}

static uint32_t rounded(enum wc_simd_op op, uint32_t a, uint32_t b)
{
	float x = golden_float_of(a), y = golden_float_of(b);

	return golden_float_bits(op == WC_SIMD_OP_ADD ? x + y : op == WC_SIMD_OP_SUB ? x - y : x * y);
}

static uint32_t integer(enum wc_simd_op op, uint32_t a, uint32_t b)
{
	switch (op) {
	case WC_SIMD_OP_IADD:
		return a + b;
	case WC_SIMD_OP_ISUB:
		return a - b;
	case WC_SIMD_OP_AND:
		return a & b;
	case WC_SIMD_OP_SRL1:
		return a >> 1;
	case WC_SIMD_OP_SRA23:
		return (uint32_t)((int32_t)a >> 23);
	default:
		return a << 23;
	}
}

// From the other lanes.
static void moved(const struct simd_run *run, enum wc_simd_op op, const uint32_t *a, uint32_t *to)
{
	uint32_t lanes = run->lanes, group = run->command->group;

	for (uint32_t lane = 0; lane < lanes; lane++) {
		if (op == WC_SIMD_OP_BCAST)
			to[lane] = a[0];
		else if (op == WC_SIMD_OP_FILL)
			to[lane] = lane % group == 0 ? a[lane] : a[lane - 1];
		else
			to[lane] = lane + 1 < lanes ? a[lane + 1] : 0;
	}
}

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
	uint32_t a[SIMD_LANES_MAX], b[SIMD_LANES_MAX], to[SIMD_LANES_MAX];
	enum wc_simd_op op = (enum wc_simd_op)code->op;
	model_result result;

	if ((result = fetch(run, code->a, part, a)) || (result = fetch(run, code->b, part, b)))
		return result;
	if (op == WC_SIMD_OP_ACC) {
		moved(run, WC_SIMD_OP_SHIFT, run->registers[code->b], b);
		memcpy(run->registers[code->b], b, run->lanes * sizeof(*b));
		op = WC_SIMD_OP_ADD;
	}
	for (uint32_t lane = 0; lane < run->lanes; lane++) {
		switch (op) {
		case WC_SIMD_OP_MOV:
			to[lane] = a[lane];
			break;
		case WC_SIMD_OP_SEL:
			to[lane] = run->predicate[lane] ? a[lane] : b[lane];
			break;
		case WC_SIMD_OP_ADD:
		case WC_SIMD_OP_SUB:
		case WC_SIMD_OP_MUL:
			to[lane] = rounded(op, a[lane], b[lane]);
			break;
		default:
			to[lane] = integer(op, a[lane], b[lane]);
			break;
		}
	}
	if (op == WC_SIMD_OP_SHIFT || op == WC_SIMD_OP_FILL || op == WC_SIMD_OP_BCAST)
		moved(run, op, a, to);
	if (op == WC_SIMD_OP_GT || op == WC_SIMD_OP_EQ || op == WC_SIMD_OP_ACTIVE) {
		for (uint32_t lane = 0; lane < run->lanes; lane++)
			run->predicate[lane] = op == WC_SIMD_OP_GT ? key(a[lane]) > key(b[lane]) : op == WC_SIMD_OP_EQ ? a[lane] == b[lane] : lane < run->active;
		return 0;
	}
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
