// SPDX-License-Identifier: Apache-2.0
//
// What a slab's bytes stand for when a step reads or writes them.
#include "driver/host/lower_internal.h"

int lower_reader(const struct lower *lower, int node, int consumer)
{
	const struct net_node *of = &lower->program->net->nodes[node];
	int reader = 0;

	while (of->consumers[reader] != consumer) {
		reader++;
		assert(reader < of->consumer_count);
	}
	return reader;
}

static int16_t *reader_at(const struct lower *lower, int node, int sample, int row)
{
	return &lower->readers[node][(int64_t)sample * lower->program->net->nodes[node].out.height + row];
}

struct value lower_value(const struct lower *lower, const struct step *from, int slab)
{
	const struct slab *of = lower_slab(lower, slab);
	struct value value = {.kind = of->kind, .node = of->node, .array = of->array};

	switch (of->kind) {
	case SLAB_PART:
	case SLAB_WIDE:
		value.reader = lower_reader(lower, of->node, from->node);
		value.stage = from->channel_hi;
		break;
	case SLAB_WGRAD:
	case SLAB_BIAS_WGRAD:
		value.core = lower->program->core;
		// Slices are loaded ahead, so each channel is at a cut of its own.
		value.stage = lower->cuts[of->node][of->lo];
		break;
	case SLAB_PARAMETERS_WGRAD:
		value.core = lower->program->core;
		value.stage = lower->cuts[of->node][0];
		break;
	case SLAB_CORE_GRADIENT:
		value.core = of->core;
		break;
	case SLAB_UPDATE_GRADIENT:
		// It begins with core 0's.
		value.stage = from->op == STEP_LOAD && lower->program->schedule->cores > 1;
		break;
	default:
		break;
	}
	return value;
}

struct value lower_sum_so_far(const struct lower *lower, const struct step *from, int slab)
{
	const struct slab *of = lower_slab(lower, slab);
	struct value value = {.kind = SLAB_GRAD, .node = of->node};

	if (lower->readers[of->node])
		value.reader = *reader_at(lower, of->node, from->sample_first, from->lo);
	return value;
}

void lower_add_part(struct lower *lower, const struct step *from, int node, int reader)
{
	for (int sample = from->sample_first; lower->readers[node] && sample < from->sample_first + from->sample_count; sample++)
		for (int row = from->lo; row < from->hi; row++)
			*reader_at(lower, node, sample, row) = (int16_t)reader;
}

struct value lower_made_gradient(struct lower *lower, const struct step *from)
{
	struct value value = lower_value(lower, from, from->result);

	if (value.kind != SLAB_GRAD)
		return value;
	value.reader = lower_reader(lower, value.node, from->node);
	lower_add_part(lower, from, value.node, value.reader);
	return value;
}
