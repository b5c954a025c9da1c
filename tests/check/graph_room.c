// SPDX-License-Identifier: Apache-2.0
//
// What a statement of a `device` schedule takes of the buffer beside slabs, piece by piece from driver/README.md. See graph_machine.h.
#include "tests/check/graph_machine.h"

// Pieces are rounded up to the bus one by one.
static uint64_t piece(const struct graph_machine *machine, uint64_t bytes)
{
	while (bytes % machine->schedule->bus_bytes != 0)
		bytes++;
	return bytes;
}

static uint64_t pieces(const struct graph_machine *machine, int count, uint64_t bytes)
{
	return (uint64_t)count * piece(machine, bytes);
}

static int filter(const struct net_node *node)
{
	return node->op == NET_FC ? node->in.height * node->in.width * node->in.channels
				  : node->conv.kernel_h * node->conv.kernel_w * node->in.channels / node->conv.groups;
}

// The slice that begins at a channel; 0 channels behind the last.
static int slice_at(const struct net_node *node, const struct sched_policy *policy, int channel)
{
	int left = node->out.channels - channel;

	return policy->resident || policy->slice == 0 || policy->slice > left ? left : policy->slice;
}

// Filters, and with a bias its two forms; the second only while the slice is worked on.
static uint64_t weights(const struct graph_machine *machine, const struct net_node *node, int channels, bool bias, bool working)
{
	uint64_t bytes = piece(machine, 2ull * (uint64_t)(filter(node) * channels));

	if (bias && node->bias)
		bytes += piece(machine, 2 * (uint64_t)channels) + (working ? piece(machine, 4 * (uint64_t)channels) : 0);
	return bytes;
}

static uint64_t sums(const struct graph_machine *machine, const struct net_node *node, int channels)
{
	return piece(machine, 4ull * (uint64_t)(filter(node) * channels)) + (node->bias ? piece(machine, 4 * (uint64_t)channels) : 0);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

// Through two buffers: the slices come and go one by one.
static uint64_t passing_weights(const struct graph_machine *machine, int node, bool forward)
{
	const struct net_node *at = &machine->net->nodes[node];
	const struct sched_policy *policy = &machine->group->weight[node];
	uint64_t most = 0;

	for (int k = 0, next; !policy->resident && k < at->out.channels; k = next) {
		next = k + slice_at(at, policy, k);
		most = larger(most, weights(machine, at, next - k, forward, true) +
					    (next < at->out.channels ? weights(machine, at, slice_at(at, policy, next), forward, false) : 0));
	}
	return most;
}

static uint64_t passing_sums(const struct graph_machine *machine, int node)
{
	const struct net_node *at = &machine->net->nodes[node];
	const struct sched_policy *policy = &machine->group->wgrad[node];
	uint64_t most = 0;

	for (int k = 0, next; !policy->resident && k < at->out.channels; k = next) {
		next = k + slice_at(at, policy, k);
		most = larger(most, sums(machine, at, next - k) +
					    (machine->begun[node] && next < at->out.channels ? sums(machine, at, slice_at(at, policy, next)) : 0));
	}
	return most + (at->bias ? piece(machine, 16) : 0);
}

// Statistics, or sums, from rows: the rows at hand and, with the last of them, the result.
static uint64_t statistics(const struct graph_machine *machine, const struct sched_statement *statement, int node, bool backward)
{
	const struct net_node *at = &machine->net->nodes[node];
	uint64_t q = piece(machine, 4 * (uint64_t)at->out.channels), h = piece(machine, 2 * (uint64_t)at->out.channels), bytes = 0;
	int before = (backward ? machine->summed : machine->counted)[machine->sample_first * machine->net->node_count + node];
	int samples = machine->sample_count, rows = statement->hi - statement->lo;
	bool last = before + rows >= at->out.height;

	if (last)
		bytes += pieces(machine, 2 * samples, q);
	bytes += pieces(machine, (backward ? 4 : 2) * samples * (last ? at->out.height : rows), q);
	// The shift, unless the input's rows are all there.
	if (!backward && rows < at->out.height)
		bytes += pieces(machine, samples, q);
	if (backward)
		bytes += pieces(machine, 2 * samples, q) + (machine->group->weight[node].resident ? 0 : h) +
			 (last && !machine->group->wgrad[node].resident ? 2 * q : 0);
	return bytes;
}

static uint64_t normalization(const struct graph_machine *machine, const struct sched_statement *statement, int node, bool backward)
{
	const struct net_node *at = &machine->net->nodes[node];
	uint64_t q = piece(machine, 4 * (uint64_t)at->out.channels), h = piece(machine, 2 * (uint64_t)at->out.channels);
	int before = (backward ? machine->summed : machine->counted)[machine->sample_first * machine->net->node_count + node];
	uint64_t bytes = pieces(machine, (backward ? 4 : 2) * machine->sample_count, q);
	bool own = before == 0 && statement->lo == 0 && statement->hi == at->out.height && backward == (machine->group->phase == SCHED_BACKWARD);

	if (!machine->group->weight[node].resident)
		bytes += backward ? h : 2 * h;
	return own ? larger(bytes, statistics(machine, statement, node, backward)) : bytes;
}

static uint64_t gradient(const struct graph_machine *machine, const struct sched_statement *statement, int reader)
{
	const struct net_node *node = &machine->net->nodes[statement->node], *at = &machine->net->nodes[reader];
	const struct sched_policy *policy = &machine->group->weight[reader];
	int rows = machine->sample_count * (statement->hi - statement->lo);
	struct truth_part parts[TRUTH_PARTS];
	uint64_t bytes = 0;

	truth_parts(machine->net, statement->node, parts);
	if (parts[0].reader != reader)
		bytes += (uint64_t)rows * graph_row_bytes(machine, GRAPH_GRAD, statement->node);
	if (at->op == NET_GN)
		return bytes + normalization(machine, statement, reader, true);
	if (at->op != NET_CONV && at->op != NET_FC)
		return bytes;
	if (slice_at(at, policy, 0) < at->out.channels)
		bytes += pieces(machine, rows, 4 * (uint64_t)(node->out.width * node->out.channels));
	return bytes + passing_weights(machine, reader, false);
}

uint64_t graph_room(const struct graph_machine *machine)
{
	const struct sched_statement *statement = &machine->strip->statements[machine->at];
	int operator = graph_operator(machine, statement);

	switch (statement->op) {
	case SCHED_ACCUMULATE:
		return passing_sums(machine, operator);
	case SCHED_STATISTICS:
		return statistics(machine, statement, operator, machine->group->phase == SCHED_BACKWARD);
	case SCHED_COMPUTE:
		break;
	default:
		return 0;
	}
	if (statement->tensor == SCHED_GRAD)
		return gradient(machine, statement, operator);
	switch (machine->net->nodes[operator].op) {
	case NET_CONV:
	case NET_FC:
		return passing_weights(machine, operator, true);
	case NET_GN:
		return normalization(machine, statement, operator, false);
	default:
		return 0;
	}
}

uint64_t graph_stays(const struct graph_machine *machine)
{
	uint64_t bytes = 0;

	for (int i = 0; i < machine->net->node_count; i++) {
		const struct net_node *node = &machine->net->nodes[i];
		uint64_t channels = (uint64_t)node->out.channels;

		if (machine->group->weight[i].resident)
			bytes += node->op == NET_GN ? pieces(machine, 2, 2 * channels) : weights(machine, node, node->out.channels, true, true);
		if (machine->group->wgrad[i].resident)
			bytes += node->op == NET_GN ? pieces(machine, 2, 4 * channels) : sums(machine, node, node->out.channels);
	}
	return bytes;
}
