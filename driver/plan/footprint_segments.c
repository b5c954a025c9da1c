// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/footprint_segments.h"

#include <stdlib.h>
#include <string.h>

#include "driver/plan/paper/row_build.h"

// The last node that reads a tensor, or 0. The loss is not there.
static int last_reader(const struct paper_graph *graph, int node)
{
	const struct net_node *of = &graph->net->nodes[node];
	int last = 0;

	for (int i = 0; i < of->consumer_count; i++)
		if (graph->net->nodes[of->consumers[i]].op != NET_LOSS)
			last = of->consumers[i];
	return last;
}

// Ends of units: one tensor alone goes on, and not to a ReLU.
static void find_units(struct footprint_units *units)
{
	const struct paper_graph *graph = &units->graph;

	for (int node = 0, reach = 0; node <= graph->output; node++) {
		// `reach`: the last reader of what lies before.
		if (node && reach <= node && (node == graph->output || graph->net->nodes[node + 1].op != NET_RELU))
			units->last[units->count++] = node;
		reach = last_reader(graph, node) > reach ? last_reader(graph, node) : reach;
	}
}

// How many of the first units are a chain that can be tiled.
static void find_run(struct footprint_units *units)
{
	const struct net *net = units->graph.net;

	for (int unit = 0; unit < units->count; unit++) {
		for (int node = footprint_first_node(units, unit); node <= units->last[unit]; node++)
			if (!row_tileable(&net->nodes[node]) || (unit && (net->nodes[node].inputs[0] != node - 1 || net->nodes[node - 1].consumer_count != 1)))
				return;
		units->run = unit + 1;
	}
}

int footprint_units_init(struct footprint_units *units, const struct net *net, struct wc_error *err)
{
	int rc;

	*units = (struct footprint_units){ .count = 0 };
	rc = paper_graph_init(&units->graph, net, err);
	if (rc)
		return rc;
	units->last = calloc((size_t)net->node_count, sizeof(*units->last));
	if (!units->last)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	find_units(units);
	find_run(units);
	units->ways = calloc((size_t)units->count * (size_t)units->count * FOOTPRINT_WAYS, sizeof(*units->ways));
	return units->ways ? 0 : wc_fail(err, WC_ERR_SYSTEM, "out of memory");
}

void footprint_units_release(struct footprint_units *units)
{
	paper_graph_release(&units->graph);
	free(units->last);
	free(units->ways);
}

int footprint_first_node(const struct footprint_units *units, int unit)
{
	return unit ? units->last[unit - 1] + 1 : 1;
}

struct footprint_way *footprint_way_at(const struct footprint_units *units, int first, int last, int way)
{
	return &units->ways[(first * units->count + last) * FOOTPRINT_WAYS + way];
}

uint64_t footprint_input_bits(const struct footprint_units *units, int unit)
{
	return 16 * (uint64_t)paper_elements(&units->graph.net->nodes[footprint_first_node(units, unit) - 1]);
}

int footprint_find_ways(struct footprint_units *units, enum sched_tiling tiling, int strips, struct wc_error *err)
{
	int rc = 0;

	for (int first = 0; first < units->count; first++)
		for (int last = first; !rc && last < units->count; last++) {
			const struct footprint_stretch stretch = {
				.first = footprint_first_node(units, first), .last = units->last[last], .again = last + 1 < units->count,
			};
			struct footprint_way *again = footprint_way_at(units, first, last, FOOTPRINT_AGAIN);

			// The last segment's backward follows its forward.
			*again = (struct footprint_way){ .keep_bits = footprint_input_bits(units, first), .possible = true };
			rc = footprint_live_bits(&units->graph, &stretch, &again->live_bits, err);
			if (!rc && strips)
				rc = footprint_tile(units, first, last, tiling, strips, footprint_way_at(units, first, last, FOOTPRINT_TILED), err);
		}
	return rc;
}

struct cut {
	uint64_t *kept; // [unit]: least bits kept for the segments before it, UINT64_MAX: none fit
	int *from;      // [unit]: the first unit of the segment that ends before it
	int *way;       // [unit]: that segment's way
};

// Whether there are segments whose peaks do not exceed the limit. What is kept for the segments before is all that these have to do with those
// behind, so that less is always better.
static bool cut_below(const struct footprint_units *units, struct cut *cut, uint64_t limit)
{
	cut->kept[0] = 0;
	for (int end = 1; end <= units->count; end++) {
		cut->kept[end] = UINT64_MAX;
		for (int first = 0; first < end; first++)
			for (int i = 0; i < FOOTPRINT_WAYS && cut->kept[first] != UINT64_MAX; i++) {
				const struct footprint_way *way = footprint_way_at(units, first, end - 1, i);
				const uint64_t kept = cut->kept[first] + way->keep_bits;

				if (!way->possible || kept + way->live_bits > limit || kept >= cut->kept[end])
					continue;
				cut->kept[end] = kept;
				cut->from[end] = first;
				cut->way[end] = i;
			}
	}
	return cut->kept[units->count] != UINT64_MAX;
}

static void tell_segments(const struct footprint_units *units, const struct cut *cut, int *ends, bool *tiled, int *segments)
{
	*segments = 0;
	for (int end = units->count; end > 0; end = cut->from[end])
		++*segments;
	for (int end = units->count, i = *segments - 1; end > 0; end = cut->from[end], i--) {
		ends[i] = end - 1;
		tiled[i] = cut->way[end] == FOOTPRINT_TILED;
	}
}

int footprint_cut(const struct footprint_units *units, uint64_t *peak_bits, int *ends, bool *tiled, int *segments, struct wc_error *err)
{
	const size_t room = (size_t)units->count + 1;
	const struct footprint_way *whole = footprint_way_at(units, 0, units->count - 1, FOOTPRINT_AGAIN);
	uint64_t low = 0, high = whole->keep_bits + whole->live_bits; // the network as one segment does
	struct cut cut = {
		.kept = calloc(room, sizeof(*cut.kept)), .from = calloc(room, sizeof(*cut.from)), .way = calloc(room, sizeof(*cut.way)),
	};

	if (cut.kept && cut.from && cut.way) {
		while (low < high) {
			const uint64_t middle = low + (high - low) / 2;

			if (cut_below(units, &cut, middle))
				high = middle;
			else
				low = middle + 1;
		}
		cut_below(units, &cut, high);
		tell_segments(units, &cut, ends, tiled, segments);
		*peak_bits = high;
	} else {
		*segments = -1;
	}
	free(cut.kept);
	free(cut.from);
	free(cut.way);
	return *segments < 0 ? wc_fail(err, WC_ERR_SYSTEM, "out of memory") : 0;
}
