// SPDX-License-Identifier: Apache-2.0
//
// One segment in strips.
#include "driver/plan/footprint_segments.h"
#include "driver/plan/paper/row_build.h"

struct tile {
	const struct paper_graph *graph;
	struct strip_rows rows; // of each strip's slabs
	struct strip_rows own;  // 2PS: what each strip makes
	int first, last;
};

static const struct net_node *node_of(const struct tile *tile, int node)
{
	return &tile->graph->net->nodes[node];
}

static bool is_chain(const struct paper_graph *graph, int first, int last)
{
	for (int node = first; node <= last; node++) {
		const struct net_node *of = &graph->net->nodes[node];

		if (!row_tileable(of) || (node > first && (of->inputs[0] != node - 1 || graph->net->nodes[node - 1].consumer_count != 1)))
			return false;
	}
	return true;
}

static uint64_t row_bits(const struct tile *tile, int node)
{
	const struct net_shape *shape = &node_of(tile, node)->out;

	return 16 * (uint64_t)shape->width * (uint64_t)shape->channels;
}

// Lines of feature maps between strips i - 1 and i, and of gradients that strip i hands up; none with OverL.
static void count_lines(const struct tile *tile, int i, uint64_t *lines, uint64_t *handed)
{
	*lines = *handed = 0;
	for (int node = tile->first; node < tile->last; node++) {
		const struct rows read = rows_of_input(node_of(tile, node + 1), *strip_rows_at(&tile->own, i, node + 1));
		const struct rows above = { read.lo, strip_rows_at(&tile->own, i, node)->lo };
		struct rows below;

		*lines += row_bits(tile, node) * (uint64_t)rows_count(above);
		if (node == tile->first || !node_of(tile, node - 1)->has_gradient)
			continue;
		below = rows_of_gradient(node_of(tile, node), *strip_rows_at(&tile->own, i - 1, node - 1));
		below.lo = strip_rows_at(&tile->own, i - 1, node)->hi;
		*handed += row_bits(tile, node) * (uint64_t)rows_count(below);
	}
}

// A strip's slab: what it makes, and the lines above that its reader in the segment needs.
static void add_lines(struct tile *tile)
{
	for (int i = 0; i < tile->own.strips; i++)
		for (int node = tile->first; node <= tile->last; node++) {
			struct rows rows = *strip_rows_at(&tile->own, i, node);

			if (node < tile->last)
				rows = rows_hull(rows, rows_of_input(node_of(tile, node + 1), *strip_rows_at(&tile->own, i, node + 1)));
			*strip_rows_at(&tile->rows, i, node) = rows;
		}
}

// Begin the tables with a number of strips; false: the layers cannot be cut so.
static bool divide(struct tile *tile, enum sched_tiling tiling, int strips)
{
	tile->rows.strips = tile->own.strips = strips;
	if (tiling == SCHED_TILING_OVERL) {
		strip_rows_overl(&tile->rows, tile->graph->net);
		return true;
	}
	if (!strip_rows_2ps(&tile->own, tile->graph->net))
		return false;
	add_lines(tile);
	return true;
}

static int count_strips(const struct tile *tile, enum sched_tiling tiling, struct footprint_way *way, struct wc_error *err)
{
	uint64_t most = 0;

	for (int i = 0; i < tile->rows.strips; i++) {
		const struct footprint_stretch stretch = { .first = tile->first, .last = tile->last, .again = true, .strip = &tile->rows, .index = i };
		uint64_t bits, lines = 0, handed = 0;
		int rc = footprint_live_bits(tile->graph, &stretch, &bits, err);

		if (rc)
			return rc;
		if (tiling == SCHED_TILING_2PS && i > 0)
			count_lines(tile, i, &lines, &handed);
		way->keep_bits += lines;
		most = bits + handed > most ? bits + handed : most;
	}
	way->live_bits += most;
	return 0;
}

int footprint_tile(const struct footprint_units *units, int first_unit, int last_unit, enum sched_tiling tiling, int strips, struct footprint_way *way,
		   struct wc_error *err)
{
	const int first = footprint_first_node(units, first_unit), last = units->last[last_unit];
	struct tile tile = { .graph = &units->graph, .first = first, .last = last };
	const struct net_node *input = node_of(&tile, first - 1);
	int rc = 0;

	*way = (struct footprint_way){ .keep_bits = 16 * (uint64_t)paper_elements(input) };
	if (!is_chain(tile.graph, first, last))
		return 0;
	if (strips > node_of(&tile, last)->out.height)
		strips = node_of(&tile, last)->out.height;
	if (strip_rows_init(&tile.rows, first, last, strips) || strip_rows_init(&tile.own, first, last, strips)) {
		strip_rows_release(&tile.rows);
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	}
	// One strip is no tiling.
	while (strips > 1 && !divide(&tile, tiling, strips))
		strips--;
	if (strips > 1) {
		way->possible = true;
		way->live_bits = (input->has_gradient ? 16 * (uint64_t)paper_elements(input) : 0) +
				 (node_of(&tile, last)->has_gradient ? 16 * (uint64_t)paper_elements(node_of(&tile, last)) : 0);
		rc = count_strips(&tile, tiling, way, err);
	}
	strip_rows_release(&tile.rows);
	strip_rows_release(&tile.own);
	return rc;
}
