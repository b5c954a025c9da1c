// SPDX-License-Identifier: Apache-2.0
//
// Steps and slabs by themselves.
#include <string.h>

#include "driver/plan/device/program.h"
#include "driver/plan/rows.h"

struct step step_make(enum step_op op, int node, int lo, int hi)
{
	return (struct step){ .op = op, .node = node, .lo = lo, .hi = hi, .source = -1, .operand = -1, .result = -1, .mask = -1, .vectors = -1,
			      .parameters = -1, .sums = -1 };
}

void step_slabs(const struct step *step, int slabs[STEP_SLABS])
{
	const int all[STEP_SLABS] = { step->source, step->operand, step->result, step->mask, step->vectors, step->parameters, step->sums };

	memcpy(slabs, all, sizeof(all));
}

uint64_t program_array_count(const struct net_node *node, enum parameter_array array)
{
	const uint64_t channels = (uint64_t)node->out.channels;

	switch (array) {
	case ARRAY_FILTERS:
		return (uint64_t)net_weights(node);
	case ARRAY_BIAS:
		return node->bias ? channels : 0;
	default:
		return node->op == NET_GN ? channels : 0;
	}
}

uint32_t program_row_bytes(const struct net *net, enum slab_kind kind, int node, uint32_t bus_bytes)
{
	const struct net_shape *shape = &net->nodes[node].out;
	const uint32_t channels = (uint32_t)shape->channels, halves = (uint32_t)round_up(2 * channels, bus_bytes);
	const uint32_t floats = (uint32_t)round_up(4 * channels, bus_bytes);

	switch (kind) {
	case SLAB_ACT:
		return rows_pitch_bytes(net, SCHED_ACT, node, bus_bytes);
	case SLAB_GRAD:
	case SLAB_PART:
		return rows_pitch_bytes(net, SCHED_GRAD, node, bus_bytes);
	case SLAB_MASK:
		return rows_pitch_bytes(net, SCHED_MASK, node, bus_bytes);
	case SLAB_WIDE:
		return (uint32_t)round_up((uint64_t)shape->width * channels * 4, bus_bytes);
	case SLAB_ONES:
		return (uint32_t)round_up(16, bus_bytes);
	case SLAB_PARAMETERS:
		return 2 * halves;
	case SLAB_GAMMA:
		return halves;
	case SLAB_SHIFT:
		return floats;
	case SLAB_PARAMETERS_WGRAD:
	case SLAB_STATISTICS:
	case SLAB_SUMS:
	case SLAB_ROW_STATISTICS:
		return 2 * floats;
	case SLAB_ROW_SUMS:
		return 4 * floats;
	default:
		return 0; // weights have no rows
	}
}
