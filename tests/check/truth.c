// SPDX-License-Identifier: Apache-2.0
//
// See truth.h.
#include "tests/check/truth.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { ACT, GRAD, MASK };

static bool views = true;

void truth_set_views(bool are_views)
{
	views = are_views;
}

static bool is_view(const struct net_node *node)
{
	return views && node->op == NET_CONCAT;
}

int truth_pieces(const struct net *net, int node, int pieces[TRUTH_PIECES])
{
	int count = 0;

	if (!is_view(&net->nodes[node])) {
		pieces[0] = node;
		return 1;
	}
	for (int i = 0; i < net->nodes[node].input_count; i++)
		count += truth_pieces(net, net->nodes[node].inputs[i], &pieces[count]);
	return count;
}

// The last node that runs first reads last; before all, the caller of a network without loss has left its part.
int truth_parts(const struct net *net, int node, struct truth_part parts[TRUTH_PARTS])
{
	int count = 0, pieces[TRUTH_PIECES];

	for (int reader = net->node_count; reader > 0; reader--) {
		bool caller = reader == net->node_count;
		int inputs = caller ? net->nodes[reader - 1].op != NET_LOSS : net->nodes[reader].input_count;

		if (!caller && is_view(&net->nodes[reader]))
			continue;
		for (int i = 0; i < inputs; i++) {
			int found = truth_pieces(net, caller ? reader - 1 : net->nodes[reader].inputs[i], pieces);

			for (int j = 0; j < found; j++) {
				if (pieces[j] != node)
					continue;
				cr_assert_lt(count, TRUTH_PARTS);
				// A concatenation that is none takes its gradient apart by inputs.
				parts[count++] = (struct truth_part){reader, i, !caller && net->nodes[reader].op == NET_CONCAT ? i : j};
			}
		}
	}
	return count;
}

bool truth_reads(const struct net_node *node, int out, int in, int *tap)
{
	const struct net_conv *conv = &node->conv;

	*tap = 0;
	switch (node->op) {
	case NET_CONV:
	case NET_MAX_POOL:
	case NET_AVG_POOL:
		for (*tap = 0; *tap < conv->kernel_h; ++*tap) {
			if (out * conv->stride_h - conv->pad_h + *tap * (node->op == NET_CONV ? conv->dilation_h : 1) == in)
				return true;
		}
		return false;
	case NET_ADAPTIVE_POOL:
		// floor(out H / size) <= in < ceil((out + 1) H / size)
		return in * node->out.height > out * node->in.height - node->out.height && in * node->out.height < (out + 1) * node->in.height;
	case NET_GLOBAL_POOL:
	case NET_FC:
		*tap = in;
		return true;
	default:
		return out == in;
	}
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	uint64_t tainted = (hash | value) >> 63;

	hash = (hash ^ value) * 0xd6e8feb86659fd93u;
	hash = (hash ^ hash >> 31) * 0xa0761d6478bd642fu + value;
	return (hash ^ hash >> 30) << 1 >> 1 | tainted << 63;
}

static uint64_t name(uint64_t what, int node)
{
	return mix(what << 32, (uint64_t)node);
}

uint64_t truth_join(const uint64_t *pieces, int count)
{
	uint64_t hash = pieces[0];

	for (int i = 1; i < count; i++)
		hash = mix(hash, pieces[i]);
	return hash;
}

uint64_t truth_forward(const struct net *net, int node, int y, uint64_t statistics, truth_row row, void *context)
{
	const struct net_node *at = &net->nodes[node];
	uint64_t hash = name(1, node);
	int tap;

	for (int i = 0; i < at->input_count; i++) {
		for (int in = 0; in < at->in.height; in++) {
			if (truth_reads(at, y, in, &tap))
				hash = mix(mix(hash, (uint64_t)tap), row(context, at->inputs[i], in));
		}
	}
	return at->op == NET_GN ? mix(hash, statistics) : hash;
}

uint64_t truth_mask(int node, uint64_t output)
{
	return mix(name(2, node), output);
}

uint64_t truth_backward(const struct net *net, int reader, int y, uint64_t statistics, uint64_t sums, truth_row gradient, truth_row mask, uint64_t input,
			void *context)
{
	const struct net_node *at = &net->nodes[reader];
	uint64_t hash = name(3, reader);
	int tap;

	// The add's gradient is its inputs'.
	if (at->op == NET_ADD)
		return gradient(context, reader, y);
	for (int out = 0; out < at->out.height; out++) {
		if (!truth_reads(at, out, y, &tap))
			continue;
		hash = mix(mix(hash, (uint64_t)tap), gradient(context, reader, out));
		if (at->op == NET_RELU || at->op == NET_MAX_POOL)
			hash = mix(hash, mask(context, reader, out));
	}
	return at->op == NET_GN ? mix(mix(mix(hash, input), statistics), sums) : hash;
}

uint64_t truth_piece(const struct net *net, int reader, uint64_t part, int piece)
{
	return net->nodes[reader].op == NET_ADD ? part : mix(part, (uint64_t)piece);
}

uint64_t truth_add(uint64_t sum, uint64_t part)
{
	return mix(mix(7, sum), part);
}

uint64_t truth_statistic(int node, int y, uint64_t input)
{
	return mix(mix(name(4, node), (uint64_t)y), input) >> 8;
}

uint64_t truth_sum(int node, int y, uint64_t gradient, uint64_t input)
{
	return mix(mix(mix(name(5, node), (uint64_t)y), gradient), input) >> 8;
}

uint64_t truth_product(const struct net *net, int node, int y, uint64_t gradient, truth_row row, void *context)
{
	return mix(mix(truth_forward(net, node, y, 0, row, context), 6), gradient) >> 8;
}

struct sample {
	struct truth *truth;
	int index;
};

static uint64_t act_row(void *context, int tensor, int y)
{
	struct sample *sample = context;
	int pieces[TRUTH_PIECES], count = truth_pieces(sample->truth->net, tensor, pieces);
	uint64_t values[TRUTH_PIECES] = {0};

	for (int i = 0; i < count; i++)
		values[i] = *values_at(&sample->truth->values, ACT, pieces[i], sample->index, y);
	return truth_join(values, count);
}

static uint64_t grad_row(void *context, int node, int y)
{
	struct sample *sample = context;

	return *values_at(&sample->truth->values, GRAD, node, sample->index, y);
}

static uint64_t mask_row(void *context, int node, int y)
{
	struct sample *sample = context;

	return *values_at(&sample->truth->values, MASK, node, sample->index, y);
}

static void forward(struct sample *sample)
{
	struct truth *truth = sample->truth;
	const struct net *net = truth->net;

	for (int y = 0; y < net->nodes[0].out.height; y++)
		*values_at(&truth->values, ACT, 0, sample->index, y) = mix(mix(11, (uint64_t)sample->index), (uint64_t)y);
	for (int node = 1; node < net->node_count; node++) {
		const struct net_node *at = &net->nodes[node];
		uint64_t *statistics = &truth->statistics[sample->index * net->node_count + node];

		for (int y = 0; at->op == NET_GN && y < at->out.height; y++)
			*statistics += truth_statistic(node, y, act_row(sample, at->inputs[0], y));
		for (int y = 0; !is_view(at) && at->op != NET_LOSS && y < at->out.height; y++) {
			uint64_t value = truth_forward(net, node, y, *statistics, act_row, sample);

			*values_at(&truth->values, ACT, node, sample->index, y) = value;
			*values_at(&truth->values, MASK, node, sample->index, y) = truth_mask(node, value);
		}
	}
}

static uint64_t part_of(struct sample *sample, int node, const struct truth_part *part, int y)
{
	const struct net *net = sample->truth->net;
	int reader = part->reader;
	uint64_t value;

	if (reader == net->node_count || net->nodes[reader].op == NET_LOSS)
		return mix(mix(name(8, node), (uint64_t)sample->index), (uint64_t)y);
	value = truth_backward(net, reader, y, sample->truth->statistics[sample->index * net->node_count + reader],
			       sample->truth->sums[sample->index * net->node_count + reader], grad_row, mask_row,
			       act_row(sample, net->nodes[reader].inputs[part->input], y), sample);
	return truth_piece(net, reader, value, part->piece);
}

static void backward(struct sample *sample)
{
	struct truth *truth = sample->truth;
	const struct net *net = truth->net;

	for (int node = net->node_count - 1; node > 0; node--) {
		const struct net_node *at = &net->nodes[node];
		struct truth_part parts[TRUTH_PARTS];
		int count = truth_parts(net, node, parts);

		if (is_view(at) || at->op == NET_LOSS)
			continue;
		for (int y = 0; y < at->out.height; y++) {
			uint64_t sum = 0, input = act_row(sample, at->inputs[0], y < at->in.height ? y : 0);

			for (int i = 0; i < count; i++) {
				uint64_t part = part_of(sample, node, &parts[i], y);

				sum = i == 0 ? part : truth_add(sum, part);
				*values_at(&truth->partial[i], GRAD, node, sample->index, y) = sum;
			}
			*values_at(&truth->values, GRAD, node, sample->index, y) = sum;
			if (at->op == NET_GN)
				truth->sums[sample->index * net->node_count + node] += truth_sum(node, y, sum, input);
			if (at->op == NET_CONV || at->op == NET_FC)
				truth->weights[node] += truth_product(net, node, y, sum, act_row, sample);
		}
		if (at->op == NET_GN)
			truth->weights[node] += truth->sums[sample->index * net->node_count + node];
	}
}

void truth_init(struct truth *truth, const struct net *net, int samples)
{
	size_t nodes = (size_t)net->node_count;

	*truth = (struct truth){.net = net};
	values_init(&truth->values, net, samples);
	for (int i = 0; i < TRUTH_PARTS; i++)
		values_init(&truth->partial[i], net, samples);
	truth->statistics = calloc(nodes * (size_t)samples, sizeof(*truth->statistics));
	truth->sums = calloc(nodes * (size_t)samples, sizeof(*truth->sums));
	truth->weights = calloc(nodes, sizeof(*truth->weights));
	cr_assert(truth->statistics != NULL && truth->sums != NULL && truth->weights != NULL);
	for (int i = 0; i < samples; i++) {
		struct sample sample = {truth, i};

		forward(&sample);
		backward(&sample);
	}
}

void truth_release(struct truth *truth)
{
	values_release(&truth->values);
	for (int i = 0; i < TRUTH_PARTS; i++)
		values_release(&truth->partial[i]);
	free(truth->statistics);
	free(truth->sums);
	free(truth->weights);
}
