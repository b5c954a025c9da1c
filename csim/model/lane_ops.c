// SPDX-License-Identifier: Apache-2.0
#include "csim/model/lane_ops.h"

#include <stdbool.h>
#include <string.h>

#include "csim/golden/half.h"

// Patterns in the order of the numbers: sign and magnitude, so that the zeros are one, NaNs the greatest, all ones the least.
static int32_t key(uint32_t bits)
{
	return bits >> 31 ? -(int32_t)(bits & 0x7fffffff) : (int32_t)bits;
}

static uint32_t mask(bool on)
{
	return on ? UINT32_MAX : 0;
}

static void add(uint32_t *restrict to, const uint32_t *restrict a, const uint32_t *restrict b, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		to[i] = golden_float_bits(golden_float_of(a[i]) + golden_float_of(b[i]));
}

static void subtract(uint32_t *restrict to, const uint32_t *restrict a, const uint32_t *restrict b, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		to[i] = golden_float_bits(golden_float_of(a[i]) - golden_float_of(b[i]));
}

static void multiply(uint32_t *restrict to, const uint32_t *restrict a, const uint32_t *restrict b, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		to[i] = golden_float_bits(golden_float_of(a[i]) * golden_float_of(b[i]));
}

static void choose(uint32_t *restrict to, const uint32_t *restrict a, const uint32_t *restrict b, const uint32_t *restrict predicate,
		   uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		to[i] = (a[i] & predicate[i]) | (b[i] & ~predicate[i]);
}

static void compare(uint32_t *restrict predicate, enum wc_simd_op op, const struct lane_operands *operands, uint32_t count)
{
	const uint32_t *restrict a = operands->a, *restrict b = operands->b;

	if (op == WC_SIMD_OP_GT)
		for (uint32_t i = 0; i < count; i++)
			predicate[i] = mask(key(a[i]) > key(b[i]));
	else if (op == WC_SIMD_OP_EQ)
		for (uint32_t i = 0; i < count; i++)
			predicate[i] = mask(a[i] == b[i]);
	else
		for (uint32_t i = 0; i < count; i++)
			predicate[i] = mask(i < operands->active);
}

static void integer(uint32_t *restrict to, enum wc_simd_op op, const uint32_t *restrict a, const uint32_t *restrict b, uint32_t count)
{
	if (op == WC_SIMD_OP_IADD)
		for (uint32_t i = 0; i < count; i++)
			to[i] = a[i] + b[i];
	else if (op == WC_SIMD_OP_ISUB)
		for (uint32_t i = 0; i < count; i++)
			to[i] = a[i] - b[i];
	else
		for (uint32_t i = 0; i < count; i++)
			to[i] = a[i] & b[i];
}

static void shift_bits(uint32_t *restrict to, enum wc_simd_op op, const uint32_t *restrict a, uint32_t count)
{
	if (op == WC_SIMD_OP_SRL1)
		for (uint32_t i = 0; i < count; i++)
			to[i] = a[i] >> 1;
	else if (op == WC_SIMD_OP_SRA23)
		for (uint32_t i = 0; i < count; i++)
			to[i] = (uint32_t)((int32_t)a[i] >> 23);
	else
		for (uint32_t i = 0; i < count; i++)
			to[i] = a[i] << 23;
}

static void broadcast(uint32_t *restrict to, uint32_t value, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		to[i] = value;
}

// a in lanes that begin a group, of which lane 0 is one; b of the lane before in others.
static void fill(uint32_t *restrict to, const uint32_t *restrict a, const uint32_t *restrict b, const uint32_t *restrict first, uint32_t count)
{
	to[0] = a[0];
	for (uint32_t i = 1; i < count; i++)
		to[i] = (a[i] & first[i]) | (b[i - 1] & ~first[i]);
}

void lane_ops_apply(enum wc_simd_op op, const struct lane_operands *operands, uint32_t *predicate, uint32_t *to, uint32_t count)
{
	const uint32_t *a = operands->a, *b = operands->b;

	switch (op) {
	case WC_SIMD_OP_ADD:
		add(to, a, b, count);
		break;
	case WC_SIMD_OP_SUB:
		subtract(to, a, b, count);
		break;
	case WC_SIMD_OP_MUL:
		multiply(to, a, b, count);
		break;
	case WC_SIMD_OP_SEL:
		choose(to, a, b, predicate, count);
		break;
	case WC_SIMD_OP_IADD:
	case WC_SIMD_OP_ISUB:
	case WC_SIMD_OP_AND:
		integer(to, op, a, b, count);
		break;
	case WC_SIMD_OP_SRL1:
	case WC_SIMD_OP_SRA23:
	case WC_SIMD_OP_SLL23:
		shift_bits(to, op, a, count);
		break;
	case WC_SIMD_OP_SHIFT:
		memcpy(to, a + 1, (count - 1) * sizeof(*to));
		to[count - 1] = 0;
		break;
	case WC_SIMD_OP_FILL:
		fill(to, a, a, operands->first, count);
		break;
	case WC_SIMD_OP_ACC2:
		fill(to, a, b, operands->first, count);
		break;
	case WC_SIMD_OP_BCAST:
		broadcast(to, a[0], count);
		break;
	case WC_SIMD_OP_GT:
	case WC_SIMD_OP_EQ:
	case WC_SIMD_OP_ACTIVE:
		compare(predicate, op, operands, count);
		memcpy(to, a, count * sizeof(*to));
		break;
	default:
		memcpy(to, a, count * sizeof(*to));
		break;
	}
}
