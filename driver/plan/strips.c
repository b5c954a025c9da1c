// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/strips.h"

#include <stdlib.h>
#include <string.h>

#include "traces/error.h"

int strip_rows_init(struct strip_rows *table, int first, int last, int strips)
{
	*table = (struct strip_rows){ .first = first, .last = last, .strips = strips };
	table->rows = calloc((size_t)strips * (size_t)(last - first + 2), sizeof(*table->rows));
	return table->rows ? 0 : WC_ERR_SYSTEM;
}

void strip_rows_release(struct strip_rows *table)
{
	free(table->rows);
	memset(table, 0, sizeof(*table));
}

struct rows *strip_rows_at(const struct strip_rows *table, int strip, int node)
{
	return &table->rows[strip * (table->last - table->first + 2) + node - table->first + 1];
}

// Rows of a layer of the table; of the input for first - 1.
static int height_of(const struct strip_rows *table, const struct net *net, int node)
{
	return node < table->first ? net->nodes[table->first].in.height : net->nodes[node].out.height;
}

// The i-th of the boundaries that divide `rows` into `strips` as evenly as can be.
static int even(int rows, int i, int strips)
{
	return (int)((int64_t)rows * i / strips);
}

void strip_rows_overl(struct strip_rows *need, const struct net *net)
{
	int strips = need->strips, height = net->nodes[need->last].out.height;

	for (int i = 0; i < strips; i++)
		*strip_rows_at(need, i, need->last) = (struct rows){ even(height, i, strips), even(height, i + 1, strips) };
	for (int node = need->last - 1; node >= need->first - 1; node--) {
		for (int i = 0; i < strips; i++)
			*strip_rows_at(need, i, node) = rows_of_input(&net->nodes[node + 1], *strip_rows_at(need, i, node + 1));
		if (node < need->first)
			break;
		strip_rows_at(need, 0, node)->lo = 0;
		strip_rows_at(need, strips - 1, node)->hi = net->nodes[node].out.height;
		for (int i = 0; i + 1 < strips; i++)
			if (strip_rows_at(need, i, node)->hi < strip_rows_at(need, i + 1, node)->lo)
				strip_rows_at(need, i, node)->hi = strip_rows_at(need, i + 1, node)->lo;
	}
}

void strip_rows_own(struct strip_rows *own, const struct strip_rows *need, const struct net *net)
{
	for (int node = own->first - 1; node <= own->last; node++) {
		int lo = 0;

		for (int i = 0; i < own->strips; i++) {
			int hi = height_of(own, net, node);

			if (i + 1 < own->strips)
				hi = (strip_rows_at(need, i, node)->hi + strip_rows_at(need, i + 1, node)->lo) / 2;
			*strip_rows_at(own, i, node) = (struct rows){ lo, hi };
			lo = hi;
		}
	}
}

// Output rows that can be computed from the first `rows` rows of the input.
static int computable(const struct net_node *node, int rows)
{
	struct row_window window;
	int span, out;

	if (!rows_window(node, &window))
		return rows;
	span = rows + window.pad - window.span;
	out = span < 0 ? 0 : span / window.stride + 1;
	return out < node->out.height ? out : node->out.height;
}

// Input rows that the first `rows` output rows need, rows > 0; not cut to the image.
static int needed(const struct net_node *node, int rows)
{
	struct row_window window;

	rows_window(node, &window);
	return (rows - 1) * window.stride - window.pad + window.span;
}

// Write boundary `boundary`, at row `out` of the last layer, into the strips on both its sides. False if a layer below
// has no rows left behind it.
static bool cut(struct strip_rows *table, const struct net *net, int boundary, int out)
{
	for (int node = table->last, rows = out; node >= table->first - 1; node--) {
		if (rows <= 0 || rows >= height_of(table, net, node))
			return false;
		strip_rows_at(table, boundary - 1, node)->hi = rows;
		strip_rows_at(table, boundary, node)->lo = rows;
		rows = node >= table->first ? needed(&net->nodes[node], rows) : rows;
	}
	return true;
}

// The i-th boundary of the last layer if the input, or else the output, is divided evenly.
static int boundary_of(const struct strip_rows *table, const struct net *net, bool by_input, int i)
{
	int rows;

	if (!by_input)
		return even(net->nodes[table->last].out.height, i, table->strips);
	rows = even(height_of(table, net, table->first - 1), i, table->strips);
	for (int node = table->first; node <= table->last; node++)
		rows = computable(&net->nodes[node], rows);
	return rows;
}

static void end_last_strip(struct strip_rows *table, const struct net *net)
{
	for (int node = table->first - 1; node <= table->last; node++)
		strip_rows_at(table, table->strips - 1, node)->hi = height_of(table, net, node);
}

bool strip_rows_2ps_at(struct strip_rows *table, const struct net *net, const int *boundaries)
{
	for (int i = 1; i < table->strips; i++)
		if (boundaries[i - 1] <= (i > 1 ? boundaries[i - 2] : 0) || !cut(table, net, i, boundaries[i - 1]))
			return false;
	end_last_strip(table, net);
	return true;
}

bool strip_rows_2ps(struct strip_rows *table, const struct net *net)
{
	for (int by_input = 1; by_input >= 0; by_input--) {
		bool good = true;
		int before = 0;

		for (int i = 1; good && i < table->strips; i++) {
			int out = boundary_of(table, net, by_input, i);

			good = out > before && cut(table, net, i, out);
			before = out;
		}
		if (!good)
			continue;
		end_last_strip(table, net);
		return true;
	}
	return false;
}
