// SPDX-License-Identifier: Apache-2.0
//
// See values.h.
#include "tests/check/values.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { ACT, GRAD, MASK };

// Garbage has the top bit set, values never have; a value made from garbage is garbage.
static const uint64_t garbage_bit = (uint64_t)1 << 63;

uint64_t garbage(void)
{
	static uint64_t count;

	return garbage_bit | ++count;
}

bool is_garbage(uint64_t value)
{
	return (value & garbage_bit) != 0;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	uint64_t tainted = (hash | value) & garbage_bit;

	hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
	hash ^= hash >> 29;
	hash = hash * 0xbf58476d1ce4e5b9u + value;
	hash ^= hash >> 32;
	return (hash & ~garbage_bit) | tainted;
}

void values_init(struct values *values, const struct net *net, int samples)
{
	*values = (struct values){.net = net, .samples = samples};
	values->first = calloc((size_t)net->node_count, sizeof(*values->first));
	cr_assert_not_null(values->first);
	for (int i = 0; i < net->node_count; i++) {
		values->first[i] = values->rows;
		values->rows += net->nodes[i].out.height;
	}
	values->value = calloc(3 * (size_t)samples * (size_t)values->rows, sizeof(*values->value));
	cr_assert_not_null(values->value);
	for (size_t i = 0; i < 3 * (size_t)samples * (size_t)values->rows; i++)
		values->value[i] = garbage();
}

void values_release(struct values *values)
{
	free(values->first);
	free(values->value);
}

uint64_t *values_at(const struct values *values, int kind, int node, int sample, int y)
{
	return &values->value[(size_t)(kind * values->samples + sample) * (size_t)values->rows + (size_t)(values->first[node] + y)];
}

// Taps one by one; a tap outside the image contributes nothing.
uint64_t value_forward(const struct net *net, int node, int y, row_source input, void *context)
{
	const struct net_node *at = &net->nodes[node];
	uint64_t hash = mix(1, (uint64_t)node);

	if (at->op == NET_RELU)
		return mix(hash, input(context, y));
	for (int r = 0; r < at->conv.kernel_h; r++) {
		int from = y * at->conv.stride_h - at->conv.pad_h + r * at->conv.dilation_h;

		if (from >= 0 && from < at->in.height)
			hash = mix(mix(hash, (uint64_t)r), input(context, from));
	}
	return hash;
}

uint64_t value_mask(int node, uint64_t stored_output)
{
	return mix(mix(2, (uint64_t)node), stored_output);
}

uint64_t value_relu_gradient(int node, uint64_t gradient, uint64_t mask)
{
	return mix(mix(mix(3, (uint64_t)node), gradient), mask);
}

// The output rows that depend on input row y, found by trying all of them.
uint64_t value_conv_gradient(const struct net *net, int conv, int y, row_source gradient, void *context)
{
	const struct net_node *at = &net->nodes[conv];
	uint64_t hash = mix(4, (uint64_t)conv);

	for (int out = 0; out < at->out.height; out++) {
		for (int r = 0; r < at->conv.kernel_h; r++) {
			if (out * at->conv.stride_h - at->conv.pad_h + r * at->conv.dilation_h == y)
				hash = mix(mix(hash, (uint64_t)r), gradient(context, out));
		}
	}
	return hash;
}

uint64_t value_product(const struct net *net, int conv, int y, uint64_t gradient, row_source input, void *context)
{
	return mix(mix(value_forward(net, conv, y, input, context), 5), gradient);
}

struct reference_row {
	const struct values *values;
	int kind, node, sample;
};

static uint64_t reference_row(void *context, int y)
{
	const struct reference_row *row = context;

	return *values_at(row->values, row->kind, row->node, row->sample, y);
}

static void reference_forward(struct values *values, int sample)
{
	const struct net *net = values->net;

	for (int y = 0; y < net->nodes[0].out.height; y++)
		*values_at(values, ACT, 0, sample, y) = mix(mix(6, (uint64_t)sample), (uint64_t)y);
	for (int node = 1; node < net->node_count; node++) {
		struct reference_row input = {values, ACT, net->nodes[node].inputs[0], sample};

		for (int y = 0; y < net->nodes[node].out.height; y++) {
			uint64_t value = value_forward(net, node, y, reference_row, &input);

			*values_at(values, ACT, node, sample, y) = value;
			*values_at(values, MASK, node, sample, y) = value_mask(node, value);
		}
	}
}

static void reference_backward(struct values *values, int sample, uint64_t *sums)
{
	const struct net *net = values->net;
	int last = net->node_count - 1;

	for (int y = 0; y < net->nodes[last].out.height; y++)
		*values_at(values, GRAD, last, sample, y) = mix(mix(7, (uint64_t)sample), (uint64_t)y);
	for (int node = last; node > 0; node--) {
		const struct net_node *at = &net->nodes[node];
		struct reference_row gradient = {values, GRAD, node, sample}, input = {values, ACT, at->inputs[0], sample};

		for (int y = 0; at->op == NET_CONV && y < at->out.height; y++)
			sums[node] += value_product(net, node, y, reference_row(&gradient, y), reference_row, &input);
		for (int y = 0; y < at->in.height; y++) {
			*values_at(values, GRAD, at->inputs[0], sample, y) =
				at->op == NET_CONV ? value_conv_gradient(net, node, y, reference_row, &gradient)
						   : value_relu_gradient(node, reference_row(&gradient, y), *values_at(values, MASK, node, sample, y));
		}
	}
}

void values_reference(struct values *values, uint64_t *sums)
{
	for (int node = 0; node < values->net->node_count; node++)
		sums[node] = 0;
	for (int sample = 0; sample < values->samples; sample++) {
		reference_forward(values, sample);
		reference_backward(values, sample, sums);
	}
}
