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
	if (!emit->rc && statement->lo < statement->hi && build_statement(emit->strip, statement))
		emit->rc = wc_fail(emit->err, WC_ERR_SYSTEM, "out of memory");
}

static void from(struct sched_statement *statement, enum sched_tensor tensor, int node)
{
	statement->from[statement->from_count++] = (struct sched_operand){ .tensor = tensor, .node = node };
}

static void to(struct sched_statement *statement, enum sched_tensor tensor, int node)
{
	statement->to[statement->to_count++] = (struct sched_operand){ .tensor = tensor, .node = node };
}

void row_move(struct row_emit *emit, enum sched_op op, enum sched_tensor tensor, int node, struct rows rows)
{
	const struct sched_statement statement = { .op = op, .tensor = tensor, .node = node, .lo = rows.lo, .hi = rows.hi };

	add(emit, &statement);
}

static bool is_forward(const struct row_emit *emit)
{
	return emit->build->phase == SCHED_FORWARD;
}

void row_activation(struct row_emit *emit, int node, struct rows rows)
{
	const struct row_build *build = emit->build;
	struct sched_statement compute = { .op = SCHED_COMPUTE, .tensor = SCHED_ACT, .node = node, .lo = rows.lo, .hi = rows.hi };
	const bool ends = is_forward(emit) && node == build->last;

	if (node == build->first && !emit->holds_input)
		from(&compute, SCHED_ACT, row_input(emit, node));
	if (ends)
		to(&compute, SCHED_ACT, node);
	if (row_node(emit, node)->op == NET_MAX_POOL)
		to(&compute, SCHED_MASK, node);
	add(emit, &compute);
	// On their way to DRAM.
	if (ends && build->statistics)
		row_move(emit, SCHED_STATISTICS, SCHED_ACT, build->statistics, rows);
}

void row_accumulate(struct row_emit *emit, int node, struct rows rows)
{
	struct sched_statement accumulate = { .op = SCHED_ACCUMULATE, .tensor = SCHED_GRAD, .node = node, .lo = rows.lo, .hi = rows.hi };

	if (node == emit->build->last && !emit->holds_gradient)
		from(&accumulate, SCHED_GRAD, node);
	if (node == emit->build->first && !emit->holds_input)
		from(&accumulate, SCHED_ACT, row_input(emit, node));
	add(emit, &accumulate);
}

// The segment's input may have other readers, and be a concatenation: sums so far come from DRAM, and sums go there.
static void place_parts(struct row_emit *emit, struct sched_statement *statement, int reader)
{
	const struct paper_graph *graph = emit->build->graph;
	const struct paper_list *pieces = &graph->pieces[statement->node];

	if (pieces->count > SCHED_LIST_MAX - 2 && !emit->rc)
		emit->rc = wc_fail(emit->err, WC_ERR_INPUT, "'%s' has more than %d operands apart", row_node(emit, reader)->name, SCHED_LIST_MAX - 2);
	for (int i = 0; !emit->rc && i < pieces->count; i++) {
		const struct paper_list *uses = &graph->uses[pieces->items[i]];

		if (!graph->net->nodes[pieces->items[i]].has_gradient)
			continue;
		if (uses->items[uses->count - 1] != reader)
			from(statement, SCHED_GRAD, pieces->items[i]);
		to(statement, SCHED_GRAD, pieces->items[i]);
	}
}

void row_gradient(struct row_emit *emit, int reader, struct rows rows)
{
	const struct net_node *node = row_node(emit, reader);
	const int tensor = row_input(emit, reader);
	struct sched_statement compute = { .op = SCHED_COMPUTE, .tensor = SCHED_GRAD, .node = tensor, .lo = rows.lo, .hi = rows.hi };

	if (row_node(emit, tensor)->consumer_count > 1)
		compute.by = reader;
	if (reader == emit->build->last && !emit->holds_gradient)
		from(&compute, SCHED_GRAD, reader);
	if (node->op == NET_MAX_POOL)
		from(&compute, SCHED_MASK, reader);
	if (node->op == NET_RELU) {
		compute.with = SCHED_WITH_ACT;
		// The segment's own output is in DRAM and need not be made again.
		if (reader == emit->build->last)
			from(&compute, SCHED_ACT, reader);
	}
	if (reader == emit->build->first)
		place_parts(emit, &compute, reader);
	add(emit, &compute);
}

bool row_begin_strip(struct row_emit *emit, struct sched_group *group, int position)
{
	const int strips = emit->build->strips, middle = strips / 2;

	// A strip's occupancy depends on the one before it, too.
	if (emit->rc || (emit->build->probe && position > 2 && position < strips - 2 && (position < middle - 1 || position > middle + 1)))
		return false;
	emit->strip = build_strip(group);
	if (!emit->strip)
		emit->rc = wc_fail(emit->err, WC_ERR_SYSTEM, "out of memory");
	return emit->strip;
}

// The highest node below the last that its own ReLU gradient or a convolution's weight gradient reads.
static int find_top(const struct row_emit *emit)
{
	const struct row_build *build = emit->build;
	int node = build->last - 1;

	while (node >= build->first && !(row_node(emit, node)->op == NET_RELU && row_input_has_gradient(emit, node)) &&
	       row_node(emit, node + 1)->op != NET_CONV)
		node--;
	return node;
}

int row_build(const struct row_build *build, struct sched_group *group, struct wc_error *err)
{
	struct row_emit emit = { .build = build, .err = err };
	const bool backward = build->phase == SCHED_BACKWARD;

	emit.top = find_top(&emit);
	emit.holds_input = backward && build->hold && row_node(&emit, build->first)->op == NET_CONV && emit.top >= build->first;
	emit.holds_gradient = backward && build->hold && row_node(&emit, build->last)->op == NET_CONV && row_input_has_gradient(&emit, build->last);
	if (build->strips > row_node(&emit, build->last)->out.height)
		return ROW_NO_FIT;
	group->tiling = build->strips > 1 ? build->tiling : SCHED_TILING_NONE;
	return build->tiling == SCHED_TILING_OVERL ? row_build_overl(&emit, group) : row_build_2ps(&emit, group);
}
