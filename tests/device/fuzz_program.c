// SPDX-License-Identifier: Apache-2.0
//
// Random programs: see fuzz.h.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/device/fuzz.h"
#include "tests/device/gemm.h"
#include "tests/simd_cases.h"

static uint32_t round_up(uint32_t value, uint32_t to)
{
	return (value + to - 1) / to * to;
}

static void note(struct program *p, const char *format, ...)
{
	size_t used = strlen(p->text);
	va_list args;

	va_start(args, format);
	vsnprintf(p->text + used, sizeof p->text - used, format, args);
	va_end(args);
}

// ---- valid commands ------------------------------------------------------------------------------

static union command transfer(struct bench *b, uint64_t *rng, enum wc_opcode opcode)
{
	uint32_t bus = b->params.bus_bytes, row_bytes = random_in(rng, 1, 700);
	uint32_t pitch = round_up(row_bytes, bus) + random_in(rng, 0, 3) * bus;
	// One in eight is at the memory's end, where it may leave the window, or find no answer in a wider one.
	uint64_t dram = random_in(rng, 0, 7) ? b->data + random_in(rng, 0, 2000) * bus
					     : b->memory.base + b->memory.bytes + random_in(rng, 0, 40) * bus - 20 * bus;
	union command c = opcode == WC_OP_LOAD ? command_load(dram, 0, row_bytes) : command_store(dram, 0, row_bytes);

	c.load.count1 = (uint16_t)random_in(rng, 1, 4);
	c.load.count2 = (uint16_t)random_in(rng, 1, 3);
	c.load.gbuf_addr = random_in(rng, 0, 60) * bus;
	c.load.gbuf_stride1 = (int32_t)round_up(row_bytes, bus);
	c.load.gbuf_stride2 = c.load.gbuf_stride1 * c.load.count1;
	c.load.dram_stride1 = (int32_t)pitch;
	c.load.dram_stride2 = (int32_t)(pitch * c.load.count1);
	return c;
}

static union command vector(struct bench *b, uint64_t *rng)
{
	uint32_t bus = b->params.bus_bytes, elements = random_in(rng, 1, 300), pitch = round_up(2 * elements, bus);
	uint32_t part = b->params.buffer_bytes / 3 / bus * bus;
	union command c = command_vector((int)random_in(rng, 0, 2), elements, random_in(rng, 0, 3) * bus, part + random_in(rng, 0, 3) * bus, 2 * part);

	c.vector.flags = c.vector.op == 0 && random_in(rng, 0, 1);
	c.vector.count1 = (uint16_t)random_in(rng, 1, 3);
	c.vector.count2 = (uint16_t)random_in(rng, 1, 2);
	c.vector.src_stride1 = c.vector.dst_stride1 = c.vector.aux_stride1 = pitch;
	c.vector.src_stride2 = c.vector.dst_stride2 = c.vector.aux_stride2 = pitch * c.vector.count1;
	if (random_in(rng, 0, 3) == 0)
		c.vector.dst_base = c.vector.src_base;
	return c;
}

static union command simd(struct bench *b, uint64_t *rng)
{
	struct simd_case drawn;

	simd_case_draw(&drawn, (enum wc_simd_program)random_in(rng, 0, WC_SIMD_PROGRAMS - 1), &b->params, rng);
	return (union command){ .simd = drawn.command };
}

// One operand whose walk is drawn anew, in any mode. Most of its addresses lie inside the buffer.
#define DRAW_WALK(g, p, rng, bytes)                                                                                                     \
	((g)->p##mode = (uint8_t)random_in(rng, 0, 2), (g)->p##base = (int32_t)(random_in(rng, (bytes) / 8, (bytes) / 4) * 2),           \
	 (g)->p##taps_y = (uint8_t)random_in(rng, 1, 3), (g)->p##taps_x = (uint8_t)random_in(rng, 1, 3),                                 \
	 (g)->p##count0 = (uint16_t)random_in(rng, 1, 40), (g)->p##count1 = (uint16_t)random_in(rng, 1, 9),                              \
	 (g)->p##count2 = (uint16_t)random_in(rng, 1, 300), (g)->p##delta0 = 2 * (int32_t)random_in(rng, 0, 20) - 20,                    \
	 (g)->p##delta1 = 2 * (int32_t)random_in(rng, 0, 20) - 20, (g)->p##delta2 = 2 * (int32_t)random_in(rng, 0, 4) - 4,               \
	 (g)->p##y_step = (int16_t)random_in(rng, 0, 2), (g)->p##x_step = (int16_t)random_in(rng, 0, 2),                                 \
	 (g)->p##y_size = (uint16_t)random_in(rng, 1, 40), (g)->p##x_size = (uint16_t)random_in(rng, 1, 40),                             \
	 (g)->p##tap_x_delta = 2 * (int32_t)random_in(rng, 0, 20) - 20, (g)->p##tap_y_delta = 2 * (int32_t)random_in(rng, 0, 20) - 20,   \
	 (g)->p##block_delta = 2 * (int32_t)random_in(rng, 0, 20) - 20, (g)->p##chan_delta = 2 * (int32_t)random_in(rng, 0, 20) - 20,    \
	 (g)->p##chan_total = (uint16_t)random_in(rng, 1, 80), (g)->p##chan_block = (uint16_t)random_in(rng, 1, 40))

static union command gemm(struct bench *b, uint64_t *rng)
{
	struct conv_tile t = random_conv(rng, &b->params);
	union command c = command_conv(&t, b->params.rows);

	// Contiguous taps of one block may be merged.
	if (random_in(rng, 0, 1) && t.channels <= b->params.rows) {
		c.gemm.a_merge = 1;
		c.gemm.a_run_length = (uint16_t)(c.gemm.a_taps_x * c.gemm.a_chan_total);
	}
	if (random_in(rng, 0, 2) == 0)
		DRAW_WALK(&c.gemm, a_, rng, b->params.buffer_bytes);
	if (random_in(rng, 0, 2) == 0)
		DRAW_WALK(&c.gemm, b_, rng, b->params.buffer_bytes);
	return c;
}

// ---- random fields -------------------------------------------------------------------------------

static uint64_t limit(const struct bench *b, enum wc_limit kind, int64_t value)
{
	switch (kind) {
	case WC_LIMIT_ROWS:
		return (uint64_t)b->params.rows;
	case WC_LIMIT_COLS:
		return (uint64_t)b->params.cols;
	case WC_LIMIT_ACC_ROWS:
		return (uint64_t)b->params.acc_rows;
	case WC_LIMIT_GBUF_BYTES:
		return b->params.buffer_bytes;
	case WC_LIMIT_LANES:
		return wc_device_lanes(&b->params);
	default:
		return (uint64_t)value;
	}
}

static uint64_t random_value(const struct bench *b, uint64_t *rng, const struct wc_command_field *f, uint64_t old)
{
	uint32_t align = f->align ? f->align : b->params.bus_bytes;
	uint64_t near = (uint64_t)((int64_t)random_in(rng, 0, 16) - 8) * align, value;

	switch (random_in(rng, 0, 7)) {
	case 0:
		value = (uint64_t)random_in(rng, 0, UINT32_MAX) << 32 | random_in(rng, 0, UINT32_MAX);
		break;
	case 1:
		value = random_in(rng, 0, 8);
		break;
	case 2:
		value = limit(b, f->max_kind, f->max) + random_in(rng, 0, 1);
		break;
	case 3:
		value = limit(b, f->min_kind, f->min) - random_in(rng, 0, 1);
		break;
	case 4:
		value = old ^ (uint64_t)1 << random_in(rng, 0, 8 * f->bytes - 1);
		break;
	case 5:
		value = near;
		break;
	default:
		value = old + near;
		break;
	}
	return random_in(rng, 0, 3) ? value - value % align : value;
}

static void change_field(struct program *p, const struct bench *b, uint64_t *rng, int i)
{
	union command *c = &p->commands[i];
	const struct wc_command_field *f;
	uint64_t value = 0;

	do
		f = &wc_command_fields[random_in(rng, 0, WC_COMMAND_FIELD_COUNT - 1)];
	while (f->opcode != c->load.opcode);
	memcpy(&value, c->bytes + f->offset, f->bytes);
	value = random_value(b, rng, f, value);
	note(p, " %d.%s=0x%llx", i, f->name, (unsigned long long)(value & (UINT64_MAX >> (64 - 8 * f->bytes))));
	memcpy(c->bytes + f->offset, &value, f->bytes);
}

// Reserved bytes among them.
static void change_byte(struct program *p, uint64_t *rng, int i)
{
	uint32_t at = random_in(rng, 0, WC_COMMAND_BYTES - 1), byte = random_in(rng, 0, 255);

	note(p, " %d.byte%u=0x%x", i, at, byte);
	p->commands[i].bytes[at] = (uint8_t)byte;
}

static union command valid_command(struct bench *b, uint64_t *rng, enum wc_opcode opcode)
{
	switch (opcode) {
	case WC_OP_VECTOR:
		return vector(b, rng);
	case WC_OP_GEMM:
		return gemm(b, rng);
	case WC_OP_SIMD:
		return simd(b, rng);
	default:
		return transfer(b, rng, opcode);
	}
}

static void draw_command(struct program *p, struct bench *b, uint64_t *rng, int i)
{
	enum wc_opcode opcode = (enum wc_opcode)random_in(rng, WC_OP_LOAD, WC_OP_SIMD);
	union command *c = &p->commands[i];
	uint32_t kind = random_in(rng, 0, 19);

	*c = valid_command(b, rng, opcode);
	if (kind == 0) {
		note(p, " %d.random", i);
		random_fill(rng, c->bytes, sizeof *c);
		c->load.opcode = (uint8_t)opcode;
		c->load.version = WC_COMMAND_VERSION;
	} else if (kind == 1) {
		change_byte(p, rng, i);
	} else if (kind < 10) {
		for (uint32_t n = random_in(rng, 1, random_in(rng, 1, 8)); n && c->load.opcode == opcode; n--)
			change_field(p, b, rng, i);
	}
}

// ---- what a program does -------------------------------------------------------------------------

static bool overlaps(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
	return a < b + b_bytes && b < a + a_bytes;
}

static bool in_buffer(const struct bench *b, uint32_t address, uint64_t bytes)
{
	return address + bytes <= b->params.buffer_bytes;
}

enum { ROWS_MAX = 20000, BYTES_MAX = 4 << 20, CYCLES_MAX = 300000, MARKS = 1 << 21 };

static void look_at_transfer(struct program *p, const struct bench *b, const struct wc_load_command *c)
{
	static uint8_t marks[MARKS]; // bytes written
	uint64_t rows = 0, ring_bytes = RING_SLOTS * WC_COMMAND_BYTES;
	bool store = c->opcode == WC_OP_STORE;

	memset(marks, 0, sizeof marks);
	for (uint32_t i2 = 0; i2 < c->count2; i2++)
		for (uint32_t i1 = 0; i1 < c->count1; i1++) {
			uint64_t dram = c->dram_addr + (uint64_t)(int64_t)c->dram_stride1 * i1 + (uint64_t)(int64_t)c->dram_stride2 * i2;
			uint32_t gbuf = c->gbuf_addr + (uint32_t)c->gbuf_stride1 * i1 + (uint32_t)c->gbuf_stride2 * i2;
			uint64_t at = store ? dram - b->memory.base : gbuf;

			if (!wc_memory_contains(&b->memory, dram, round_up(c->row_bytes, b->params.bus_bytes)) || !in_buffer(b, gbuf, c->row_bytes))
				return;
			if (++rows > ROWS_MAX || rows * c->row_bytes > BYTES_MAX) {
				p->is_long = true;
				return;
			}
			p->spoils_ring |= store && overlaps(dram, c->row_bytes, b->ring, ring_bytes);
			for (uint32_t i = 0; i < c->row_bytes; i++) {
				p->has_order &= b->params.mem_ports == 1 || !marks[at + i];
				marks[at + i] = 1;
			}
		}
}

static void look_at_vector(struct program *p, const struct bench *b, const struct wc_vector_command *c)
{
	uint64_t rows = 0, bytes = 2 * (uint64_t)c->row_elements, mask = (c->row_elements + (uint64_t)7) / 8;
	uint64_t aux_bytes = c->op == 2 ? bytes : c->op == 1 || c->flags ? mask : 0;

	for (uint32_t i2 = 0; i2 < c->count2; i2++)
		for (uint32_t i1 = 0; i1 < c->count1; i1++) {
			uint32_t src = c->src_base + i1 * c->src_stride1 + i2 * c->src_stride2, dst = c->dst_base + i1 * c->dst_stride1 + i2 * c->dst_stride2;
			uint32_t aux = c->aux_base + i1 * c->aux_stride1 + i2 * c->aux_stride2;

			if (!in_buffer(b, src, bytes) || !in_buffer(b, dst, bytes) || (aux_bytes && !in_buffer(b, aux, aux_bytes)))
				return;
			if (++rows > ROWS_MAX || rows * bytes > BYTES_MAX) {
				p->is_long = true;
				return;
			}
			p->has_order &= src == dst || !overlaps(src, bytes, dst, bytes);
			p->has_order &= !overlaps(aux, aux_bytes, dst, bytes) && (c->op != 0 || !overlaps(aux, aux_bytes, src, bytes));
		}
}

static void look_at(struct program *p, const struct bench *b, const union command *c)
{
	uint64_t waves;

	switch (c->load.opcode) {
	case WC_OP_LOAD:
	case WC_OP_STORE:
		look_at_transfer(p, b, &c->load);
		break;
	case WC_OP_VECTOR:
		look_at_vector(p, b, &c->vector);
		break;
	case WC_OP_SIMD:
		fuzz_look_at_simd(p, b, &c->simd);
		break;
	case WC_OP_GEMM:
		// At worst an element of each operand a cycle.
		waves = 1 + c->gemm.k_total / (uint32_t)b->params.rows;
		p->is_long |= waves * (uint64_t)(c->gemm.m_rows + c->gemm.n_cols) * (uint64_t)b->params.rows > CYCLES_MAX;
		break;
	default:
		break;
	}
}

static void at_least(uint32_t *wait, uint32_t count)
{
	if (*wait < count)
		*wait = count;
}

void fuzz_program(struct program *p, struct bench *b, uint64_t *rng)
{
	uint32_t issued[WC_OP_SIMD + 1] = { 0 };

	*p = (struct program){ .count = (int)random_in(rng, 1, FUZZ_COMMANDS), .has_order = true };
	for (int i = 0; i < p->count; i++) {
		union command *c = &p->commands[i];

		draw_command(p, b, rng, i);
		at_least(&c->load.wait_load, issued[WC_OP_LOAD]);
		at_least(&c->load.wait_store, issued[WC_OP_STORE]);
		at_least(&c->load.wait_gemm, issued[WC_OP_GEMM]);
		at_least(&c->load.wait_vector, issued[WC_OP_VECTOR] + issued[WC_OP_SIMD]);
		if (c->load.opcode <= WC_OP_SIMD)
			issued[c->load.opcode]++;
		look_at(p, b, c);
	}
}
