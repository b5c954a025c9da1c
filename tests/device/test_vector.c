// SPDX-License-Identifier: Apache-2.0
//
// VECTOR: the three operations on rows of any length and stride, against plain loops written from commands.def; every byte of the
// buffer is compared.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/device/harness.h"

struct work {
	int op;
	bool mask;     // op 0: write it
	bool in_place;
	uint32_t elements, count1, count2, gap; // gap: buses between rows
};

static bool is_nan(uint16_t h)
{
	return (h & 0x7fff) > 0x7c00;
}

static bool keeps(uint16_t h)
{
	return is_nan(h) || (!(h & 0x8000) && h != 0);
}

static uint16_t half_at(const uint8_t *buffer, uint32_t address)
{
	return (uint16_t)(buffer[address] | buffer[address + 1] << 8);
}

// The operation on an image of the buffer.
static void reference(uint8_t *buffer, const struct wc_vector_command *c)
{
	for (uint32_t i2 = 0; i2 < c->count2; i2++)
		for (uint32_t i1 = 0; i1 < c->count1; i1++) {
			uint32_t src = c->src_base + i1 * c->src_stride1 + i2 * c->src_stride2;
			uint32_t aux = c->aux_base + i1 * c->aux_stride1 + i2 * c->aux_stride2;
			uint32_t dst = c->dst_base + i1 * c->dst_stride1 + i2 * c->dst_stride2;

			if (c->op == 0 && c->flags)
				memset(buffer + aux, 0, (c->row_elements + 7) / 8);
			for (uint32_t i = 0; i < c->row_elements; i++) {
				uint16_t x = half_at(buffer, src + 2 * i);
				bool keep = c->op == 0 ? keeps(x) : c->op == 1 ? buffer[aux + i / 8] >> i % 8 & 1 : keeps(half_at(buffer, aux + 2 * i));
				uint16_t y = !keep ? 0 : is_nan(x) ? 0x7e00 : x;

				if (c->op == 0 && c->flags)
					buffer[aux + i / 8] |= (uint8_t)(keep << i % 8);
				buffer[dst + 2 * i] = (uint8_t)y;
				buffer[dst + 2 * i + 1] = y >> 8;
			}
		}
}

static uint32_t round_up(uint32_t value, uint32_t to)
{
	return (value + to - 1) / to * to;
}

static union command command_of(const struct work *w, uint32_t bus)
{
	uint32_t row = round_up(2 * w->elements, bus) + w->gap * bus;
	uint32_t mask_row = round_up((w->elements + 7) / 8, bus) + w->gap * bus;
	uint32_t aux_row = w->op == 2 ? row : mask_row;
	uint32_t tensor = row * w->count1 * w->count2;
	union command c = command_vector(w->op, w->elements, 0, w->in_place ? 0 : tensor, w->in_place ? tensor : 2 * tensor);

	c.vector.flags = w->op == 0 && w->mask;
	c.vector.count1 = w->count1;
	c.vector.count2 = w->count2;
	c.vector.src_stride1 = c.vector.dst_stride1 = row;
	c.vector.src_stride2 = c.vector.dst_stride2 = row * w->count1;
	c.vector.aux_stride1 = aux_row;
	c.vector.aux_stride2 = aux_row * w->count1;
	return c;
}

static bool fits(const struct work *w, const struct wc_device_params *p)
{
	uint64_t row = round_up(2 * w->elements, p->bus_bytes) + w->gap * p->bus_bytes;

	return 3 * row * w->count1 * w->count2 <= p->buffer_bytes;
}

static void check(struct bench *b, uint64_t *rng, const struct work *w)
{
	uint32_t bytes = b->params.buffer_bytes;
	uint8_t *expected = malloc(bytes), *got = malloc(bytes);
	union command c = command_of(w, b->params.bus_bytes);

	// Random bits: about one half in 32 is NaN; one in 8 becomes a zero of either sign.
	random_fill(rng, expected, bytes);
	for (uint32_t i = 0; i < bytes; i += 16)
		expected[i] = 0, expected[i + 1] &= 0x80;
	b->backend->ops->buffer_write(b->backend, 0, expected, bytes);
	reference(expected, &c.vector);
	bench_issue(b, &c);
	bench_finish(b);
	b->backend->ops->buffer_read(b->backend, 0, got, bytes);
	for (uint32_t i = 0; i < bytes; i++)
		cr_assert(got[i] == expected[i], "byte %u: got %02x, expected %02x (op %d, %u elements, counts %u %u)", i, got[i], expected[i],
			  w->op, w->elements, w->count1, w->count2);
	free(expected);
	free(got);
}

static void random_work(const char *config, const struct wc_rtl_options *options, uint64_t seed, int count)
{
	struct bench b;
	uint64_t rng = seed;

	bench_open(&b, config, options, seed);
	for (int i = 0; i < count; i++) {
		struct work w = {
			.op = i % 3,
			.mask = random_in(&rng, 0, 3) != 0,
			.in_place = random_in(&rng, 0, 1),
			.elements = random_in(&rng, 1, i % 2 ? 90 : 2600),
			.count1 = random_in(&rng, 1, 5),
			.count2 = random_in(&rng, 1, 3),
			.gap = random_in(&rng, 0, 2),
		};

		if (!fits(&w, &b.params))
			w.count1 = w.count2 = 1;
		check(&b, &rng, &w);
	}
	bench_close(&b);
}

Test(vector, operations_equal_plain_loops)
{
	random_work(CONFIG_QUICK, NULL, test_seed(31), 90);
	random_work(CONFIG_SMALL, NULL, test_seed(32), 90);
}

Test(vector, tails_of_every_length)
{
	struct bench b;
	uint64_t rng = test_seed(33);

	bench_open(&b, CONFIG_SMALL, NULL, 1);
	// Up to past a chunk (16 elements here), round a mask group (256), and one group more.
	for (uint32_t n = 1; n <= 34; n++)
		for (int op = 0; op < 3; op++)
			check(&b, &rng, &(struct work){ op, true, false, n, 2, 2, 0 });
	for (uint32_t n = 253; n <= 259; n++)
		for (int op = 0; op < 3; op++)
			check(&b, &rng, &(struct work){ op, true, false, n, 2, 1, 0 });
	for (uint32_t n = 510; n <= 514; n++)
		for (int op = 0; op < 3; op++)
			check(&b, &rng, &(struct work){ op, true, true, n, 1, 2, 1 });
	bench_close(&b);
}

Test(vector, specials_pass_as_the_rule_says)
{
	//                              +0  -0      min sub     -sub    1       -1      inf     -inf    NaNs
	static const uint16_t in[] = { 0, 0x8000, 0x0001, 0x8001, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7c01, 0xfe00, 0x7fff, 0xfc01 };
	static const uint16_t out[] = { 0, 0, 0x0001, 0, 0x3c00, 0, 0x7c00, 0, 0x7e00, 0x7e00, 0x7e00, 0x7e00 };
	struct bench b;
	union command c;
	uint16_t got[12];
	uint8_t mask[2];

	bench_open(&b, CONFIG_QUICK, NULL, 1);
	b.backend->ops->buffer_write(b.backend, 0, in, sizeof in);
	c = command_vector(0, 12, 0, 64, 128);
	c.vector.flags = 1;
	bench_issue(&b, &c);
	bench_finish(&b);
	b.backend->ops->buffer_read(b.backend, 64, got, sizeof got);
	b.backend->ops->buffer_read(b.backend, 128, mask, sizeof mask);
	cr_assert(memcmp(got, out, sizeof got) == 0);
	cr_assert(mask[0] == 0x54 && mask[1] == 0x0f, "mask %02x %02x", mask[0], mask[1]);
	bench_close(&b);
}
