// SPDX-License-Identifier: Apache-2.0
#include "value_case.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tests/golden/naive.h"
#include "tests/net_text.h"

const char value_case_graph[] = "name: g\ninput: {height: 9, width: 8, channels: 3}\nnodes:\n"
				"  - {name: c0, op: conv, channels: 8, kernel: 3, pad: 1, bias: true}\n"
				"  - {name: g0, op: gn, group_channels: 4}\n"
				"  - {name: r0, op: relu}\n"
				"  - {name: p0, op: max_pool, kernel: 3, stride: 2, pad: 1}\n"
				"  - {name: a1, op: conv, channels: 12, kernel: 3, pad: 2, dilation: 2}\n"
				"  - {name: a2, op: gn, group_channels: 3}\n"
				"  - {name: a3, op: relu}\n"
				"  - {name: a4, op: conv, channels: 8, kernel: 1, bias: true}\n"
				"  - {name: s, op: add, inputs: [a4, p0]}\n"
				"  - {name: rs, op: relu}\n"
				"  - {name: b1, op: conv, input: p0, channels: 9, kernel: 3, stride: 2, pad: 1}\n"
				"  - {name: d1, op: conv, input: rs, channels: 5, kernel: [1, 3], stride: 2, pad: [0, 1]}\n"
				"  - {name: m, op: avg_pool, input: rs, kernel: 3, stride: 2, pad: 1}\n"
				"  - {name: cat, op: concat, inputs: [b1, d1, m]}\n"
				"  - {name: gp, op: global_pool}\n"
				"  - {name: fc, op: fc, units: 7, bias: true}\n"
				"  - {name: loss, op: loss}\n";

const char value_case_dense[] = "name: d\ninput: {height: 6, width: 5, channels: 2}\nnodes:\n"
				"  - {name: c0, op: conv, channels: 3, kernel: 3, pad: 1}\n"
				"  - {name: f1, op: fc, units: 13, bias: true}\n"
				"  - {name: r1, op: relu}\n"
				"  - {name: f2, op: fc, units: 6}\n"
				"  - {name: loss, op: loss}\n";

void value_case_begin(struct value_case *c, const char *yaml)
{
	const struct data_options options = {.seed = 17};
	const struct golden_sgd sgd = {.decay = 1e-3f, .mu = 0.9f, .lr = 0.05f};
	struct wc_error err;

	*c = (struct value_case){0};
	tests_net(&c->net, yaml);
	cr_assert_eq(data_init(&c->data, &c->net, VALUE_CASE_BATCH, &options, &err), 0, "%s", err.text);
	cr_assert_eq(optimizer_init(&c->optimizer, &c->data, &sgd, &err), 0, "%s", err.text);
	cr_assert_eq(expect_init(&c->expect, &c->data, VALUE_CASE_ROWS, &err), 0, "%s", err.text);
	c->expect.optimizer = &c->optimizer;
}

void value_case_end(struct value_case *c)
{
	expect_release(&c->expect);
	optimizer_release(&c->optimizer);
	data_release(&c->data);
	net_release(&c->net);
}

int value_case_node(const struct value_case *c, const char *name)
{
	const int node = net_find(&c->net, name);

	cr_assert(node >= 0, "%s", name);
	return node;
}

static const uint8_t *bytes_of(struct value_case *c, const struct value *value, int sample, int row, int vector)
{
	struct wc_error err = {""};
	const uint8_t *bytes = expect_values(&c->expect, value, sample, row, vector, &err);

	cr_assert_not_null(bytes, "kind %d of %s: %s", value->kind, c->net.nodes[value->node].name, err.text);
	return bytes;
}

uint32_t value_case_bits(struct value_case *c, const struct value *value, int sample, int row, int vector, uint64_t element)
{
	const struct value_shape shape = value_shape_of(&c->net, c->data.batch, value);
	const uint8_t *bytes = bytes_of(c, value, sample, row, vector);
	uint32_t bits = 0;

	cr_assert_lt(element, shape.count);
	for (int i = 0; i < shape.bits; i++) {
		const uint64_t bit = element * (uint64_t)shape.bits + (uint64_t)i;

		bits |= (uint32_t)(bytes[bit / 8] >> bit % 8 & 1) << i;
	}
	return bits;
}

float value_float(struct value_case *c, const struct value *value, int sample, int row, int vector, uint64_t element)
{
	const uint32_t bits = value_case_bits(c, value, sample, row, vector, element);

	return value_shape_of(&c->net, c->data.batch, value).bits == 16 ? naive_widen((uint16_t)bits) : naive_of(bits);
}

void value_plant(struct value_case *c, const struct value *value)
{
	uint8_t *bytes = (uint8_t *)(uintptr_t)bytes_of(c, value, 0, 0, 0);
	const int bits = value_shape_of(&c->net, c->data.batch, value).bits;

	if (bits < 16)
		bytes[0] ^= 1;
	else
		bytes[bits / 8 - 1] ^= 0x40;
}

float value_map(struct value_case *c, enum slab_kind kind, int node, int n, int y, int x, int channel)
{
	const struct net_shape *shape = &c->net.nodes[node].out;

	if (y < 0 || y >= shape->height || x < 0 || x >= shape->width)
		return 0;
	return value_float(c, &(struct value){.kind = kind, .node = node}, n, y, 0, (uint64_t)(x * shape->channels + channel));
}

void value_case_sum(struct value_case *c)
{
	struct wc_error err;

	for (int node = 0; node < c->net.node_count; node++)
		if (net_parameters(&c->net.nodes[node]))
			cr_assert_eq(expect_advance(&c->expect, 0, node, 0, (struct golden_range){0, c->data.batch, 0, c->net.nodes[node].out.height}, &err), 0,
				     "%s", err.text);
}
