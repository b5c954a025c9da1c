// SPDX-License-Identifier: Apache-2.0
//
// Strips that hand lines on. Every layer's rows are divided once, the same way forward and backward. See row_build.h.
#include "driver/plan/paper/row_emit.h"

// Rows of `node`'s input, above strip i's own, that strip i reads.
static struct rows lines_above(const struct row_emit *emit, const struct strip_rows *table, int i, int node)
{
	const struct rows read = rows_of_input(row_node(emit, node), *strip_rows_at(table, i, node));

	return (struct rows){ read.lo, strip_rows_at(table, i, node - 1)->lo };
}

// Rows of `node`'s output gradient, below strip i's own, that strip i reads.
static struct rows lines_below(const struct row_emit *emit, const struct strip_rows *table, int i, int node)
{
	const struct rows read = rows_of_gradient(row_node(emit, node), *strip_rows_at(table, i, node - 1));

	return (struct rows){ strip_rows_at(table, i, node)->hi, read.hi };
}

// Whether a layer inside the segment hands lines of its feature map on: its reader slides over them.
static bool hands_on(const struct row_emit *emit, int node)
{
	return node >= emit->body && node < emit->build->last && row_is_windowed(emit, node + 1);
}

// Whether backward needs such lines again: for a weight gradient, or to make the next layer again.
static bool lines_return(const struct row_emit *emit, int node)
{
	return emit->build->training && node <= emit->top && (row_node(emit, node + 1)->op == NET_CONV || node + 1 <= emit->top);
}

static void forward_strip(struct row_emit *emit, const struct strip_rows *table, int i)
{
	for (int node = table->first; node <= table->last; node++) {
		struct rows lines;

		if (hands_on(emit, node))
			row_move(emit, SCHED_TAKE, SCHED_ACT, node, lines_above(emit, table, i, node + 1));
		row_activation(emit, node, *strip_rows_at(table, i, node));
		if (!hands_on(emit, node) || i + 1 == table->strips)
			continue;
		lines = lines_above(emit, table, i + 1, node + 1);
		row_move(emit, SCHED_KEEP, SCHED_ACT, node, lines);
		// A thin strip hands on lines that the one before it has stored.
		if (lines.lo < strip_rows_at(table, i, node)->lo)
			lines.lo = strip_rows_at(table, i, node)->lo;
		if (lines_return(emit, node))
			row_move(emit, SCHED_STORE, SCHED_ACT, node, lines);
	}
}

// Whether a layer hands lines of its output's gradient upwards: inside the segment, and where the last one's is made here.
static bool hands_up(const struct row_emit *emit, int node)
{
	return node >= emit->body && (node < emit->build->last || row_applies(emit->build)) && row_is_windowed(emit, node) &&
	       row_input_has_gradient(emit, node);
}

static void backward_layer(struct row_emit *emit, const struct strip_rows *table, int i, int node)
{
	if (hands_up(emit, node) && i > 0)
		row_move(emit, SCHED_KEEP, SCHED_GRAD, node, lines_below(emit, table, i - 1, node));
	if (row_node(emit, node)->op == NET_CONV)
		row_accumulate(emit, node, *strip_rows_at(table, i, node));
	if (!row_input_has_gradient(emit, node))
		return;
	if (hands_up(emit, node - 1))
		row_move(emit, SCHED_TAKE, SCHED_GRAD, node - 1, lines_below(emit, table, i, node - 1));
	row_gradient(emit, node, *strip_rows_at(table, i, node - 1));
}

// Rows of the segment's input that a strip reads backward.
static struct rows source_rows(const struct row_emit *emit, const struct strip_rows *table, int i)
{
	const struct rows read = rows_of_input(row_node(emit, emit->body), *strip_rows_at(table, i, emit->body));

	return row_has_norm(emit) ? rows_hull(read, *strip_rows_at(table, i, emit->body - 1)) : read;
}

static void backward_strip(struct row_emit *emit, const struct strip_rows *table, int i)
{
	const int first = table->first, last = table->last;

	if (emit->holds_input)
		row_move(emit, SCHED_LOAD, SCHED_ACT, row_source(emit), source_rows(emit, table, i));
	for (int node = first; node <= emit->top; node++) {
		if (hands_on(emit, node) && lines_return(emit, node))
			row_move(emit, SCHED_LOAD, SCHED_ACT, node, lines_above(emit, table, i, node + 1));
		row_activation(emit, node, *strip_rows_at(table, i, node));
	}
	if (row_applies(emit->build)) {
		if (hands_up(emit, last))
			row_move(emit, SCHED_TAKE, SCHED_GRAD, last, lines_below(emit, table, i, last));
		row_output_gradient(emit, *strip_rows_at(table, i, last));
	} else {
		// The lines below the strip of the last layer's gradient are in DRAM like the rest of it.
		row_output_gradient(emit, rows_hull(*strip_rows_at(table, i, last), lines_below(emit, table, i, last)));
	}
	for (int node = last; node >= first; node--)
		backward_layer(emit, table, i, node);
	row_norm_gradient(emit, *strip_rows_at(table, i, first - 1));
}

int row_build_2ps(struct row_emit *emit, struct sched_group *group)
{
	const struct row_build *build = emit->build;
	struct strip_rows table;
	int rc = 0;

	if (strip_rows_init(&table, emit->body, build->last, build->strips))
		rc = wc_fail(emit->writer.err, WC_ERR_SYSTEM, "out of memory");
	else if (!strip_rows_2ps(&table, build->graph->net))
		rc = ROW_NO_FIT;
	for (int position = 0; !rc && position < table.strips; position++) {
		if (!row_begin_strip(emit, group, position)) {
			rc = emit->writer.rc;
			continue;
		}
		if (build->phase == SCHED_FORWARD)
			forward_strip(emit, &table, position);
		else
			backward_strip(emit, &table, table.strips - 1 - position);
		rc = emit->writer.rc;
	}
	strip_rows_release(&table);
	return rc;
}
