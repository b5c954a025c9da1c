// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/row_emit.h"

#include "driver/plan/build.h"

const struct net_node *row_node(const struct row_emit *emit, int node)
{
	return &emit->build->graph->net->nodes[node];
}

int row_input(const struct row_emit *emit, int node)
{
	return row_node(emit, node)->inputs[0];
}

bool row_input_has_gradient(const struct row_emit *emit, int node)
{
	return row_node(emit, row_input(emit, node))->has_gradient;
}

int row_source(const struct row_emit *emit)
{
	return row_input(emit, emit->build->first);
}

bool row_has_norm(const struct row_emit *emit)
{
	return emit->body > emit->build->first;
}

bool row_applies(const struct row_build *build)
{
	return build->next_norm && build->graph->net->nodes[build->last].has_gradient;
}

bool row_is_windowed(const struct row_emit *emit, int node)
{
	struct row_window window;

	return rows_window(row_node(emit, node), &window);
}

bool row_tileable(const struct net_node *node)
{
	return node->op == NET_CONV || node->op == NET_RELU || node->op == NET_MAX_POOL || node->op == NET_AVG_POOL;
}

static void add(struct row_emit *emit, const struct sched_statement *statement)
{
	if (statement->lo < statement->hi)
		paper_add(&emit->writer, statement);
}

void row_move(struct row_emit *emit, enum sched_op op, enum sched_tensor tensor, int node, struct rows rows)
{
	const struct sched_statement statement = paper_on_rows(op, tensor, node, rows);

	add(emit, &statement);
}

static bool is_forward(const struct row_emit *emit)
{
	return emit->build->phase == SCHED_FORWARD;
}

// The body's first operator reads the segment's input, or what is made from it on the way.
static void read_source(struct row_emit *emit, struct sched_statement *statement)
{
	if (row_has_norm(emit))
		paper_using(&emit->writer, statement, SCHED_ACT, row_source(emit));
	if (!emit->holds_input)
		paper_from_needed(&emit->writer, statement, SCHED_ACT, row_source(emit));
}

void row_activation(struct row_emit *emit, int node, struct rows rows)
{
	const struct row_build *build = emit->build;
	struct sched_statement compute = paper_on_rows(SCHED_COMPUTE, SCHED_ACT, node, rows);
	const bool ends = is_forward(emit) && node == build->last;

	if (node == emit->body)
		read_source(emit, &compute);
	if (ends)
		paper_to(&emit->writer, &compute, SCHED_ACT, node);
	if (row_node(emit, node)->op == NET_MAX_POOL)
		paper_to(&emit->writer, &compute, SCHED_MASK, node);
	add(emit, &compute);
	// On their way to DRAM.
	if (ends && build->next_norm)
		row_move(emit, SCHED_STATISTICS, SCHED_ACT, build->next_norm, rows);
}

void row_accumulate(struct row_emit *emit, int node, struct rows rows)
{
	struct sched_statement accumulate = paper_on_rows(SCHED_ACCUMULATE, SCHED_GRAD, node, rows);

	if (node == emit->build->last && !emit->holds_gradient)
		paper_from_needed(&emit->writer, &accumulate, SCHED_GRAD, node);
	if (node == emit->body)
		read_source(emit, &accumulate);
	add(emit, &accumulate);
}

// The segment's input may have other readers, and be a concatenation: sums so far come from DRAM, and sums go there.
static void place_parts(struct row_emit *emit, struct sched_statement *statement, int reader)
{
	const struct paper_graph *graph = emit->build->graph;
	const struct paper_list *pieces = &graph->pieces[statement->node];

	for (int i = 0; !emit->writer.rc && i < pieces->count; i++) {
		const struct paper_list *uses = &graph->uses[pieces->items[i]];

		if (!graph->net->nodes[pieces->items[i]].has_gradient)
			continue;
		if (uses->items[uses->count - 1] != reader)
			paper_from_needed(&emit->writer, statement, SCHED_GRAD, pieces->items[i]);
		paper_to(&emit->writer, statement, SCHED_GRAD, pieces->items[i]);
	}
}

void row_gradient(struct row_emit *emit, int reader, struct rows rows)
{
	const struct net_node *node = row_node(emit, reader);
	const int tensor = row_input(emit, reader);
	struct sched_statement compute = paper_on_rows(SCHED_COMPUTE, SCHED_GRAD, tensor, rows);

	if (row_node(emit, tensor)->consumer_count > 1)
		compute.by = reader;
	if (reader == emit->build->last && !emit->holds_gradient)
		paper_from_needed(&emit->writer, &compute, SCHED_GRAD, reader);
	if (node->op == NET_MAX_POOL)
		paper_from_needed(&emit->writer, &compute, SCHED_MASK, reader);
	if (node->op == NET_RELU && reader <= emit->body && row_has_norm(emit)) {
		read_source(emit, &compute);
	} else if (node->op == NET_RELU) {
		compute.with = SCHED_WITH_ACT;
		// The segment's own output is in DRAM and need not be made again.
		if (reader == emit->build->last)
			paper_from_needed(&emit->writer, &compute, SCHED_ACT, reader);
	}
	if (reader == emit->build->first)
		place_parts(emit, &compute, reader);
	add(emit, &compute);
}

void row_output_gradient(struct row_emit *emit, struct rows rows)
{
	const int last = emit->build->last;
	struct sched_statement compute = paper_on_rows(SCHED_COMPUTE, SCHED_GRAD, last, rows);

	if (row_applies(emit->build)) {
		paper_from_needed(&emit->writer, &compute, SCHED_GRAD, emit->build->next_norm);
		paper_from_needed(&emit->writer, &compute, SCHED_ACT, last);
		add(emit, &compute);
	} else if (emit->holds_gradient) {
		row_move(emit, SCHED_LOAD, SCHED_GRAD, last, rows);
	}
}

void row_norm_gradient(struct row_emit *emit, struct rows rows)
{
	const int norm = emit->build->first;
	struct sched_statement sums = paper_on_rows(SCHED_STATISTICS, SCHED_ACT, norm, rows);

	if (!row_has_norm(emit))
		return;
	for (int node = emit->body - 1; node > norm; node--)
		row_gradient(emit, node, rows);
	if (!emit->holds_input)
		paper_from_needed(&emit->writer, &sums, SCHED_ACT, row_source(emit));
	add(emit, &sums);
	// A normalization of the image has sums, but hands no gradient on.
	if (row_input_has_gradient(emit, norm))
		row_move(emit, SCHED_STORE, SCHED_GRAD, norm, rows);
}

bool row_begin_strip(struct row_emit *emit, struct sched_group *group, int position)
{
	const int strips = emit->build->strips, middle = strips / 2;

	// A strip's occupancy depends on the one before it, too.
	if (emit->writer.rc || (emit->build->probe && position > 2 && position < strips - 2 && (position < middle - 1 || position > middle + 1)))
		return false;
	emit->writer.strip = build_strip(group);
	if (!emit->writer.strip)
		emit->writer.rc = wc_fail(emit->writer.err, WC_ERR_SYSTEM, "out of memory");
	return emit->writer.strip;
}

// The highest node below the last that its own ReLU gradient or a convolution's weight gradient reads.
static int find_top(const struct row_emit *emit)
{
	int node = emit->build->last - 1;

	while (node >= emit->body && !(row_node(emit, node)->op == NET_RELU && row_input_has_gradient(emit, node)) &&
	       row_node(emit, node + 1)->op != NET_CONV)
		node--;
	return node;
}

// Behind the normalization that the segment begins with, and its ReLUs; the last node is a tensor in any case.
static int find_body(const struct row_emit *emit)
{
	int node = emit->build->first;

	if (row_node(emit, node)->op != NET_GN)
		return node;
	for (node++; node < emit->build->last && row_node(emit, node)->op == NET_RELU;)
		node++;
	return node;
}

int row_build(const struct row_build *build, struct sched_group *group, struct wc_error *err)
{
	struct row_emit emit = { .build = build, .writer = { .net = build->graph->net, .err = err, .too_many = WC_ERR_INPUT } };
	const bool backward = build->phase == SCHED_BACKWARD;

	emit.body = find_body(&emit);
	emit.top = find_top(&emit);
	// Needed twice: made again and as an operand; by a normalization's sums and on the way to the body.
	emit.holds_input = backward && build->hold && (row_has_norm(&emit) || (row_node(&emit, emit.body)->op == NET_CONV && emit.top >= emit.body));
	emit.holds_gradient = backward && (row_applies(build) || (build->hold && row_node(&emit, build->last)->op == NET_CONV &&
								   row_input_has_gradient(&emit, build->last)));
	if (build->strips > row_node(&emit, build->last)->out.height)
		return ROW_NO_FIT;
	group->tiling = build->strips > 1 ? build->tiling : SCHED_TILING_NONE;
	return build->tiling == SCHED_TILING_OVERL ? row_build_overl(&emit, group) : row_build_2ps(&emit, group);
}
