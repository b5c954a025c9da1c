// SPDX-License-Identifier: Apache-2.0
//
// Places of tensors in DRAM; see layout.h.
#include "driver/host/layout.h"

#include <assert.h>

#include "traces/alloc.h"
#include "wc_commands.h"

enum layout_store layout_store_of(enum slab_kind kind, bool kept)
{
	switch (kind) {
	case SLAB_ACT:
		return kept ? LAYOUT_KEPT_ACT : LAYOUT_ACT;
	case SLAB_GRAD:
		return kept ? LAYOUT_KEPT_GRAD : LAYOUT_GRAD;
	case SLAB_MASK:
		return kept ? LAYOUT_KEPT_MASK : LAYOUT_MASK;
	case SLAB_WEIGHT:
		return LAYOUT_WEIGHT;
	default:
		return LAYOUT_WGRAD;
	}
}

static struct layout_place *place_at(const struct layout *layout, enum layout_store store, int node)
{
	assert(node >= 0 && node < layout->net->node_count);
	return &layout->places[(int)store * layout->net->node_count + node];
}

const struct layout_place *layout_place(const struct layout *layout, enum layout_store store, int node)
{
	return place_at(layout, store, node);
}

uint64_t layout_address(const struct layout *layout, enum layout_store store, int node, int sample, int row)
{
	const struct layout_place *place = place_at(layout, store, node);

	assert(place->bytes && row >= 0 && row < place->rows);
	return place->base + (uint64_t)sample * place->sample_bytes + (uint64_t)row * place->row_bytes;
}

static enum wc_class class_of(const struct net *net, enum layout_store store, int node)
{
	switch (store) {
	case LAYOUT_ACT:
		return net->nodes[node].op == NET_INPUT ? WC_CLASS_IO : WC_CLASS_ACTIVATION;
	case LAYOUT_GRAD:
		return WC_CLASS_GRADIENT;
	case LAYOUT_MASK:
		return WC_CLASS_MASK;
	case LAYOUT_WEIGHT:
		return WC_CLASS_WEIGHT;
	case LAYOUT_WGRAD:
		return WC_CLASS_WEIGHT_GRADIENT;
	default:
		return WC_CLASS_BOUNDARY;
	}
}

// Give the tensor a place, once, with its size; offsets come when all sizes are known.
static void want_map(struct layout *layout, enum layout_store store, enum slab_kind kind, int node, uint32_t bus_bytes)
{
	struct layout_place *place = place_at(layout, store, node);

	if (place->bytes)
		return;
	place->class = class_of(layout->net, store, node);
	place->row_bytes = program_row_bytes(layout->net, kind, node, bus_bytes);
	place->rows = layout->net->nodes[node].out.height;
	place->sample_bytes = (uint64_t)place->row_bytes * (uint64_t)place->rows;
	place->bytes = place->sample_bytes * (uint64_t)layout->batch;
}

static void want_weights(struct layout *layout, enum layout_store store, int node, uint32_t element_bytes)
{
	const struct net_node *conv = &layout->net->nodes[node];
	struct layout_place *place = place_at(layout, store, node);

	place->class = class_of(layout->net, store, node);
	place->rows = conv->out.channels;
	place->row_bytes = (uint32_t)(net_conv_weights(conv) / conv->out.channels) * element_bytes;
	place->bytes = (uint64_t)place->row_bytes * (uint64_t)place->rows;
}

static void want_statement(struct layout *layout, const struct sched_statement *statement, uint32_t bus_bytes)
{
	static const enum slab_kind kinds[] = {
		[SCHED_ACT] = SLAB_ACT,
		[SCHED_GRAD] = SLAB_GRAD,
		[SCHED_MASK] = SLAB_MASK,
	};
	enum slab_kind kind = kinds[statement->tensor];

	switch (statement->op) {
	case SCHED_LOAD:
	case SCHED_STORE:
		want_map(layout, layout_store_of(kind, false), kind, statement->node, bus_bytes);
		break;
	case SCHED_KEEP:
	case SCHED_TAKE:
		want_map(layout, layout_store_of(kind, true), kind, statement->node, bus_bytes);
		break;
	default:
		break;
	}
}

int layout_init(struct layout *layout, const struct schedule *schedule, const struct net *net, uint32_t ring_entries,
		struct wc_error *err)
{
	const size_t count = LAYOUT_STORE_COUNT * (size_t)net->node_count;

	*layout = (struct layout){.net = net, .batch = schedule->batch, .ring_entries = ring_entries};
	layout->places = wc_alloc(count, sizeof(*layout->places));
	if (!layout->places)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for the layout of %d nodes", net->node_count);
	for (int g = 0; g < schedule->group_count; g++)
		for (int s = 0; s < schedule->groups[g].strip_count; s++) {
			const struct sched_strip *strip = &schedule->groups[g].strips[s];

			for (int i = 0; i < strip->statement_count; i++)
				want_statement(layout, &strip->statements[i], schedule->bus_bytes);
		}
	for (int node = 0; node < net->node_count; node++)
		if (net->nodes[node].op == NET_CONV) {
			want_weights(layout, LAYOUT_WEIGHT, node, 2);
			want_weights(layout, LAYOUT_WGRAD, node, 4);
		}

	layout->region_bytes[WC_CLASS_COMMAND] = (uint64_t)ring_entries * WC_COMMAND_BYTES;
	for (size_t i = 0; i < count; i++) {
		struct layout_place *place = &layout->places[i];
		uint64_t *end = &layout->region_bytes[place->class];

		if (!place->bytes)
			continue;
		// The last beat of dense weights may reach past their end.
		place->base = *end;
		*end += (place->bytes + schedule->bus_bytes - 1) / schedule->bus_bytes * schedule->bus_bytes;
	}
	return 0;
}

void layout_release(struct layout *layout)
{
	wc_free(layout->places);
	*layout = (struct layout){0};
}

void layout_bind(struct layout *layout, const struct wc_memory *memory)
{
	const size_t count = LAYOUT_STORE_COUNT * (size_t)layout->net->node_count;

	for (size_t i = 0; i < count; i++)
		if (layout->places[i].bytes)
			layout->places[i].base += memory->regions[layout->places[i].class].base;
	layout->ring_base = memory->regions[WC_CLASS_COMMAND].base;
}
