// SPDX-License-Identifier: Apache-2.0
#include "csim/lanes/lane_macro.h"

#include <stdlib.h>
#include <string.h>

#include "csim/lanes/stream.h"
#include "csim/model/lane_ops.h"
#include "traces/splitmix.h"

enum { SLOTS = 8, REGISTERS = 8 };

// Sources of an operation; other values are scalars.
enum { SOURCE_REGISTER = 0, SOURCE_STREAM = 1, SOURCE_CHANNEL = WC_SIMD_CHANNEL };

struct lane_macro {
	uint32_t lanes;
	uint8_t slots[SLOTS][4 * LANE_OPS_MAX]; // two lines each, one after the other
	uint32_t registers[REGISTERS][LANE_OPS_MAX];
	uint32_t predicate[LANE_OPS_MAX];

	// Of an operation.
	uint32_t vector[LANE_OPS_MAX], a[LANE_OPS_MAX], b[LANE_OPS_MAX], addends[LANE_OPS_MAX], first[LANE_OPS_MAX], result[LANE_OPS_MAX];
};

static uint64_t seed;

void lane_macro_seed(uint64_t value)
{
	seed = value;
}

// Nothing is reset: give the state bits that depend on the seed and the name alone.
static void scramble(struct lane_macro *m, const char *name)
{
	uint64_t state = seed;

	for (; *name; name++)
		state = splitmix_next(&state) ^ (unsigned char)*name;
	for (int s = 0; s < SLOTS; s++)
		for (size_t i = 0; i < sizeof(m->slots[s]); i++)
			m->slots[s][i] = (uint8_t)splitmix_next(&state);
	for (uint32_t i = 0; i < LANE_OPS_MAX; i++) {
		for (int r = 0; r < REGISTERS; r++)
			m->registers[r][i] = (uint32_t)splitmix_next(&state);
		m->predicate[i] = splitmix_next(&state) >> 63 ? UINT32_MAX : 0;
	}
}

int lane_macro_create(const char *name, int lanes, struct lane_macro **out, struct wc_error *err)
{
	struct lane_macro *m;

	if (lanes < 8 || lanes > LANE_OPS_MAX || (lanes & (lanes - 1)) != 0)
		return wc_fail(err, WC_ERR_INPUT, "vector unit '%.80s' of %d lanes: must be one of 8, 16, 32, 64, 128, 256", name, lanes);
	m = calloc(1, sizeof(*m));
	if (!m)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory: vector unit '%.80s'", name);
	m->lanes = (uint32_t)lanes;
	scramble(m, name);
	*out = m;
	return 0;
}

void lane_macro_free(struct lane_macro *m)
{
	free(m);
}

void lane_macro_line(struct lane_macro *m, int slot, bool high, const uint32_t *line)
{
	uint32_t bytes = 2 * m->lanes;

	memcpy(m->slots[slot] + (high ? bytes : 0), line, bytes);
}

static void read_stream(struct lane_macro *m, const struct lane_macro_inputs *in)
{
	if (in->has_vector)
		lane_stream_expand(m->vector, m->slots[in->head], in->type, in->shift, in->active, m->lanes);
	else
		memset(m->vector, 0, m->lanes * sizeof(*m->vector));
}

// A source's lanes; `room` is for those that are not there already.
static const uint32_t *source(const struct lane_macro *m, uint32_t code, uint32_t scalar, uint32_t channel, uint32_t *room)
{
	switch (code >> 3) {
	case SOURCE_REGISTER:
		return m->registers[code & 7];
	case SOURCE_STREAM:
		return m->vector;
	default:
		break;
	}
	for (uint32_t i = 0; i < m->lanes; i++)
		room[i] = code == SOURCE_CHANNEL ? channel + i : scalar;
	return room;
}

static void spread_first(struct lane_macro *m, const uint32_t *first)
{
	for (uint32_t i = 0; i < m->lanes; i++)
		m->first[i] = 0 - (first[i / 32] >> i % 32 & 1);
}

// A register takes each next lane's value of `from`, which may be the register itself.
static void shift(const struct lane_macro *m, uint32_t *to, const uint32_t *from)
{
	memmove(to, from + 1, (m->lanes - 1) * sizeof(*to));
	to[m->lanes - 1] = 0;
}

static bool compares(enum wc_simd_op op)
{
	return op == WC_SIMD_OP_GT || op == WC_SIMD_OP_EQ || op == WC_SIMD_OP_ACTIVE;
}

void lane_macro_fire(struct lane_macro *m, const struct lane_macro_inputs *in)
{
	enum wc_simd_op op = (enum wc_simd_op)(in->code >> 18);
	uint32_t d = in->code >> 14 & 15, code_a = in->code >> 7 & 127, code_b = in->code & 127;
	struct lane_operands operands = {.first = m->first, .active = in->active};

	if (code_a >> 3 == SOURCE_STREAM || code_b >> 3 == SOURCE_STREAM)
		read_stream(m, in);
	operands.a = source(m, code_a, in->scalar_a, in->channel, m->a);
	operands.b = source(m, code_b, in->scalar_b, in->channel, m->b);
	if (op == WC_SIMD_OP_FILL || op == WC_SIMD_OP_ACC2)
		spread_first(m, in->first);
	if (op == WC_SIMD_OP_ACC) {
		uint32_t *shifted = m->registers[code_b & 7];

		// What the sum takes from that register is its old value.
		if (operands.a == shifted)
			operands.a = memcpy(m->a, shifted, m->lanes * sizeof(*m->a));
		shift(m, shifted, operands.b);
		operands.b = shifted;
		op = WC_SIMD_OP_ADD;
	}
	if (op == WC_SIMD_OP_ACC2) {
		lane_ops_apply(op, &operands, NULL, m->addends, m->lanes);
		shift(m, m->registers[code_a & 7], operands.a);
		shift(m, m->registers[code_b & 7], operands.b);
		operands.a = m->registers[d & 7];
		operands.b = m->addends;
		op = WC_SIMD_OP_ADD;
	}
	lane_ops_apply(op, &operands, m->predicate, m->result, m->lanes);
	if (d < REGISTERS && !compares(op))
		memcpy(m->registers[d], m->result, m->lanes * sizeof(*m->result));
}

int lane_macro_lanes(const struct lane_macro *m)
{
	return (int)m->lanes;
}

const uint32_t *lane_macro_result(const struct lane_macro *m)
{
	return m->result;
}

const uint32_t *lane_macro_register(const struct lane_macro *m, int index)
{
	return m->registers[index];
}

const uint32_t *lane_macro_predicate(const struct lane_macro *m)
{
	return m->predicate;
}
