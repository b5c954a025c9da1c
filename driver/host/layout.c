// SPDX-License-Identifier: Apache-2.0
//
// Places of tensors in DRAM; see layout.h.
#include "driver/host/layout.h"

#include <assert.h>

#include "driver/plan/rows.h"
#include "traces/alloc.h"
#include "wc_commands.h"

// What each store holds.
static const struct {
	enum slab_kind kind;
	enum wc_class class;
} stores[] = {
	[LAYOUT_ACT] = {SLAB_ACT, WC_CLASS_ACTIVATION},
	[LAYOUT_GRAD] = {SLAB_GRAD, WC_CLASS_GRADIENT},
	[LAYOUT_MASK] = {SLAB_MASK, WC_CLASS_MASK},
	[LAYOUT_WEIGHT] = {SLAB_WEIGHT, WC_CLASS_WEIGHT},
	[LAYOUT_WGRAD] = {SLAB_WGRAD, WC_CLASS_WEIGHT_GRADIENT},
	[LAYOUT_KEPT_ACT] = {SLAB_ACT, WC_CLASS_BOUNDARY},
	[LAYOUT_KEPT_GRAD] = {SLAB_GRAD, WC_CLASS_BOUNDARY},
	[LAYOUT_KEPT_MASK] = {SLAB_MASK, WC_CLASS_BOUNDARY},
	[LAYOUT_BIAS] = {SLAB_BIAS, WC_CLASS_WEIGHT},
	[LAYOUT_BIAS_WGRAD] = {SLAB_BIAS_WGRAD, WC_CLASS_WEIGHT_GRADIENT},
	[LAYOUT_PARAMETERS] = {SLAB_PARAMETERS, WC_CLASS_WEIGHT},
	[LAYOUT_PARAMETERS_WGRAD] = {SLAB_PARAMETERS_WGRAD, WC_CLASS_WEIGHT_GRADIENT},
	[LAYOUT_STATISTICS] = {SLAB_STATISTICS, WC_CLASS_STATISTICS},
	[LAYOUT_SHIFT] = {SLAB_SHIFT, WC_CLASS_STATISTICS},
	[LAYOUT_SUMS] = {SLAB_SUMS, WC_CLASS_STATISTICS},
	[LAYOUT_ROW_STATISTICS] = {SLAB_ROW_STATISTICS, WC_CLASS_STATISTICS},
	[LAYOUT_ROW_SUMS] = {SLAB_ROW_SUMS, WC_CLASS_STATISTICS},
	[LAYOUT_LABELS] = {SLAB_LABELS, WC_CLASS_IO},
	[LAYOUT_LOSSES] = {SLAB_LOSSES, WC_CLASS_IO},
	[LAYOUT_OPTIMIZER] = {SLAB_UPDATE_STATE, WC_CLASS_OPTIMIZER},
};

_Static_assert(sizeof(stores) / sizeof(*stores) == LAYOUT_STORE_COUNT, "every store");

enum layout_store layout_store_of(enum slab_kind kind, bool kept)
{
	// Gamma by itself is the beginning of the parameters.
	const enum slab_kind stored = kind == SLAB_GAMMA ? SLAB_PARAMETERS : kind;
	int store = 0;

	while (store < LAYOUT_STORE_COUNT && (stores[store].kind != stored || (stores[store].class == WC_CLASS_BOUNDARY) != kept))
		store++;
	assert(store < LAYOUT_STORE_COUNT);
	return (enum layout_store)store;
}

enum slab_kind layout_kind_of(enum layout_store store)
{
	return stores[store].kind;
}

bool layout_is_sums(enum layout_store store)
{
	return store == LAYOUT_WGRAD || store == LAYOUT_BIAS_WGRAD || store == LAYOUT_PARAMETERS_WGRAD;
}

bool layout_is_filters(enum layout_store store)
{
	return store == LAYOUT_WEIGHT || store == LAYOUT_WGRAD || store == LAYOUT_BIAS || store == LAYOUT_BIAS_WGRAD;
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

uint64_t layout_ring(const struct layout *layout, int core)
{
	return layout->ring_base + (uint64_t)core * layout->ring_entries * WC_COMMAND_BYTES;
}

static bool is_numbers(enum layout_store store)
{
	return store == LAYOUT_LABELS || store == LAYOUT_LOSSES;
}

static int core_samples(const struct layout *layout)
{
	return layout->batch / layout->cores;
}

// From a core's labels or losses to the next one's.
static uint64_t numbers_bytes(const struct layout *layout)
{
	return round_up(4 * (uint64_t)core_samples(layout), layout->bus_bytes);
}

uint64_t layout_address(const struct layout *layout, enum layout_store store, int node, int sample, int row)
{
	const struct layout_place *place = place_at(layout, store, node);

	assert(place->bytes && row >= 0 && row < place->rows && sample >= 0 && sample < place->samples);
	// Rows are samples.
	if (is_numbers(store))
		return place->base + (uint64_t)(row / core_samples(layout)) * numbers_bytes(layout) + (uint64_t)(row % core_samples(layout)) * place->row_bytes;
	return place->base + (uint64_t)sample * place->sample_bytes + (uint64_t)row * place->row_bytes;
}

static struct layout_place *begin_place(struct layout *layout, enum layout_store store, int node)
{
	struct layout_place *place = place_at(layout, store, node);

	place->class = store == LAYOUT_ACT && layout->net->nodes[node].op == NET_INPUT ? WC_CLASS_IO : stores[store].class;
	return place;
}

// Give the tensor a place, once, with its size; offsets come when all sizes are known.
static void want_rows(struct layout *layout, enum layout_store store, int node, int rows, uint32_t bus_bytes)
{
	struct layout_place *place = begin_place(layout, store, node);

	if (place->bytes)
		return;
	place->row_bytes = program_row_bytes(layout->net, stores[store].kind, node, bus_bytes);
	place->rows = rows;
	place->samples = layout->batch;
	place->sample_bytes = (uint64_t)place->row_bytes * (uint64_t)place->rows;
	place->bytes = place->sample_bytes * (uint64_t)layout->batch;
}

// Of what has rows but no samples.
static void size_place(struct layout *layout, enum layout_store store, struct layout_place *place)
{
	place->samples = layout_is_sums(store) ? layout->cores : 1;
	place->sample_bytes = round_up((uint64_t)place->row_bytes * (uint64_t)place->rows, layout->bus_bytes);
	place->bytes = (uint64_t)place->samples * place->sample_bytes;
}

static void want_filters(struct layout *layout, enum layout_store store, int node)
{
	const struct net_node *of = &layout->net->nodes[node];
	const uint32_t element_bytes = store == LAYOUT_WGRAD || store == LAYOUT_BIAS_WGRAD ? 4 : 2;
	struct layout_place *place = begin_place(layout, store, node);

	place->rows = of->out.channels;
	place->row_bytes = (store == LAYOUT_WEIGHT || store == LAYOUT_WGRAD ? (uint32_t)(net_conv_weights(of) / of->out.channels) : 1) * element_bytes;
	size_place(layout, store, place);
}

static void want_vectors(struct layout *layout, enum layout_store store, int node, uint32_t bus_bytes)
{
	struct layout_place *place = begin_place(layout, store, node);

	place->rows = 1;
	place->row_bytes = program_row_bytes(layout->net, stores[store].kind, node, bus_bytes);
	size_place(layout, store, place);
}

// One number for each sample.
static void want_numbers(struct layout *layout, enum layout_store store, int node)
{
	struct layout_place *place = begin_place(layout, store, node);

	place->samples = 1;
	place->rows = layout->batch;
	place->row_bytes = 4;
	place->bytes = (uint64_t)layout->cores * numbers_bytes(layout);
}

static uint64_t array_bytes(const struct layout *layout, int node, enum parameter_array array)
{
	return round_up(4 * program_array_count(&layout->net->nodes[node], array), layout->bus_bytes);
}

static void want_optimizer(struct layout *layout, int node)
{
	struct layout_place *place = begin_place(layout, LAYOUT_OPTIMIZER, node);

	place->samples = place->rows = 1;
	for (enum parameter_array array = 0; array < ARRAY_COUNT; array++)
		place->bytes += 2 * array_bytes(layout, node, array);
}

uint64_t layout_momentum_stride(const struct layout *layout, int node, enum parameter_array array)
{
	return array_bytes(layout, node, array);
}

uint64_t layout_array(const struct layout *layout, enum slab_kind kind, int node, enum parameter_array array, int core)
{
	static const enum layout_store weights[ARRAY_COUNT] = {LAYOUT_WEIGHT, LAYOUT_BIAS, LAYOUT_PARAMETERS, LAYOUT_PARAMETERS};
	static const enum layout_store gradients[ARRAY_COUNT] = {LAYOUT_WGRAD, LAYOUT_BIAS_WGRAD, LAYOUT_PARAMETERS_WGRAD, LAYOUT_PARAMETERS_WGRAD};
	const enum layout_store store = kind == SLAB_UPDATE_STATE ? LAYOUT_OPTIMIZER : kind == SLAB_UPDATE_WEIGHT ? weights[array] : gradients[array];
	const uint64_t element = kind == SLAB_UPDATE_WEIGHT ? 2 : 4;
	const struct layout_place *place = place_at(layout, store, node);
	uint64_t address = place->base + (uint64_t)core * place->sample_bytes;

	if (kind != SLAB_UPDATE_STATE)
		return array != ARRAY_BETA ? address : address + round_up(element * (uint64_t)layout->net->nodes[node].out.channels, layout->bus_bytes);
	for (enum parameter_array before = 0; before < array; before++)
		address += 2 * array_bytes(layout, node, before);
	return address;
}

static void want_parameters(struct layout *layout, int node, uint32_t bus_bytes)
{
	const struct net_node *of = &layout->net->nodes[node];

	if (of->op == NET_CONV || of->op == NET_FC) {
		want_filters(layout, LAYOUT_WEIGHT, node);
		want_filters(layout, LAYOUT_WGRAD, node);
	}
	if (of->bias) {
		want_filters(layout, LAYOUT_BIAS, node);
		want_filters(layout, LAYOUT_BIAS_WGRAD, node);
	}
	if (of->op != NET_GN)
		return;
	want_vectors(layout, LAYOUT_PARAMETERS, node, bus_bytes);
	want_vectors(layout, LAYOUT_PARAMETERS_WGRAD, node, bus_bytes);
	for (enum layout_store store = LAYOUT_STATISTICS; store <= LAYOUT_SUMS; store++)
		want_rows(layout, store, node, 1, bus_bytes);
	want_rows(layout, LAYOUT_ROW_STATISTICS, node, of->out.height, bus_bytes);
	want_rows(layout, LAYOUT_ROW_SUMS, node, of->out.height, bus_bytes);
}

static void want_statement(struct layout *layout, const struct sched_statement *statement, uint32_t bus_bytes)
{
	static const enum slab_kind kinds[] = {
		[SCHED_ACT] = SLAB_ACT,
		[SCHED_GRAD] = SLAB_GRAD,
		[SCHED_MASK] = SLAB_MASK,
	};
	const bool moves = statement->op == SCHED_LOAD || statement->op == SCHED_STORE, keeps = statement->op == SCHED_KEEP || statement->op == SCHED_TAKE;

	if (moves || keeps)
		want_rows(layout, layout_store_of(kinds[statement->tensor], keeps), statement->node, layout->net->nodes[statement->node].out.height,
			  bus_bytes);
}

// The loss reads the network's output and makes its gradient.
static void want_loss(struct layout *layout, uint32_t bus_bytes)
{
	const int loss = layout->net->node_count - 1, output = layout->net->nodes[loss].inputs[0];

	want_rows(layout, LAYOUT_ACT, output, layout->net->nodes[output].out.height, bus_bytes);
	want_rows(layout, LAYOUT_GRAD, output, layout->net->nodes[output].out.height, bus_bytes);
	want_numbers(layout, LAYOUT_LABELS, loss);
	want_numbers(layout, LAYOUT_LOSSES, loss);
}

int layout_init(struct layout *layout, const struct schedule *schedule, const struct net *net, struct program_whole whole, uint32_t ring_entries,
		struct wc_error *err)
{
	const size_t count = LAYOUT_STORE_COUNT * (size_t)net->node_count;

	*layout = (struct layout){.net = net, .batch = schedule->batch, .cores = schedule->cores, .bus_bytes = schedule->bus_bytes, .ring_entries = ring_entries};
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
		want_parameters(layout, node, schedule->bus_bytes);
	if (whole.loss && net->nodes[net->node_count - 1].op == NET_LOSS)
		want_loss(layout, schedule->bus_bytes);
	for (int node = 0; whole.update && node < net->node_count; node++)
		want_optimizer(layout, node);
	layout->region_bytes[WC_CLASS_COMMAND] = (uint64_t)layout->cores * ring_entries * WC_COMMAND_BYTES;
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
