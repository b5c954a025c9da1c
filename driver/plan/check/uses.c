// SPDX-License-Identifier: Apache-2.0
//
// What a statement reads and fills, after driver/README.md, "Meaning", "Several readers", "Streaming" and "Regeneration".
#include "driver/plan/check/internal.h"

int check_operator(const struct net *net, const struct sched_statement *statement)
{
	switch (statement->op) {
	case SCHED_COMPUTE:
		return statement->tensor == SCHED_GRAD ? sched_gradient_reader(net, statement) : statement->node;
	case SCHED_ACCUMULATE:
	case SCHED_STATISTICS:
	case SCHED_SPLIT:
		return statement->node;
	default:
		return -1;
	}
}

// Which of the tensors in a list, if any, names a use; its rows stream.
static void stream(const struct check_state *state, const struct sched_operand *list, int count, uint64_t *unused, struct check_use *use)
{
	for (int i = 0; i < count; i++) {
		if (list[i].tensor != use->tensor || !check_is_leaf(state, list[i].node, use->node))
			continue;
		*unused &= ~(UINT64_C(1) << i);
		use->stream = list[i].lo < list[i].hi ? (struct row_range){list[i].lo, list[i].hi} : use->rows;
		return;
	}
	if (state->paper && use->tensor == SCHED_MASK)
		use->stream = use->rows;
}

// Whether the statement before, which makes this tensor, sends the rows to DRAM: statistics may read them on their way.
static bool passes_by(const struct check_state *state, const struct sched_statement *statement, const struct check_use *use)
{
	const struct sched_statement *before = statement - 1;

	if (statement->op != SCHED_STATISTICS || state->place.statement < 1 || before->op != SCHED_COMPUTE || before->tensor != use->tensor ||
	    before->lo > use->rows.lo || before->hi < use->rows.hi || !check_is_leaf(state, before->node, use->node))
		return false;
	for (int i = 0; i < before->to_count; i++) {
		if (before->to[i].tensor == use->tensor && check_is_leaf(state, before->to[i].node, use->node))
			return true;
	}
	return false;
}

static void add_use(struct check_state *state, const struct sched_statement *statement, struct check_use use)
{
	struct check_step *step = &state->step;

	// An operator that reads a tensor twice finds it in one place.
	for (int i = 0; i < step->count; i++) {
		if (step->uses[i].role == use.role && step->uses[i].tensor == use.tensor && step->uses[i].node == use.node)
			return;
	}
	if (use.role == USE_RESULT)
		stream(state, statement->to, statement->to_count, &step->unused_to, &use);
	else
		stream(state, statement->from, statement->from_count, &step->unused_from, &use);
	use.passing = use.role != USE_RESULT && row_range_empty(use.stream) && passes_by(state, statement, &use);
	step->uses[step->count++] = use;
}

// act or mask of a node, or of a concatenation's pieces.
static void add_tensor(struct check_state *state, const struct sched_statement *statement, enum use_role role, enum sched_tensor tensor,
		       int named, struct row_range rows)
{
	const struct check_list *leaves = &state->graph.leaves[named];

	for (int i = 0; i < leaves->count; i++)
		add_use(state, statement, (struct check_use){role, tensor, leaves->nodes[i], rows, {0, 0}, false, 0, named});
}

// The complete gradient of an operator's output, which is no concatenation.
static void add_gradient(struct check_state *state, const struct sched_statement *statement, int node, struct row_range rows)
{
	add_use(state, statement, (struct check_use){USE_GRADIENT, SCHED_GRAD, node, rows, {0, 0}, false, check_parts_all(state, node), node});
}

// The part of `reader` of the gradient of its input `named`, added to what is there.
static void add_part(struct check_state *state, const struct sched_statement *statement, int named, int reader, struct row_range rows)
{
	const struct check_list *leaves = &state->graph.leaves[named];

	for (int i = 0; i < leaves->count; i++) {
		int node = leaves->nodes[i], before = check_parts_before(state, node, reader);

		if (!check_has_gradient(state, node))
			continue;
		if (before > 0)
			add_use(state, statement, (struct check_use){USE_SUM, SCHED_GRAD, node, rows, {0, 0}, false, before, named});
		add_use(state, statement, (struct check_use){USE_RESULT, SCHED_GRAD, node, rows, {0, 0}, false, check_parts_with(state, node, reader), named});
	}
}

// The node `made` is made on the way.
static void add_remade(struct check_state *state, int made)
{
	struct check_step *step = &state->step;

	for (int i = 0; i < step->remade_count; i++) {
		if (step->remade[i] == made)
			return;
	}
	step->remade[step->remade_count++] = made;
}

// What stands for act:`leaf` by `using`; itself without.
static int source_of(struct check_state *state, const struct sched_statement *statement, int leaf)
{
	for (int i = 0; i < statement->saved_count; i++) {
		int source = statement->saved[i].node, node = leaf;

		if (!check_follows(state, leaf, source))
			continue;
		state->step.unused_using &= ~(UINT64_C(1) << i);
		if (check_is_leaf(state, source, leaf))
			return leaf;
		for (; node != source && !check_is_leaf(state, source, node); node = state->net->nodes[node].inputs[0])
			add_remade(state, node);
		return node == source ? source : node;
	}
	return leaf;
}

// An operand of forward, or saved from it: the tensor itself, or what it is made from on the way.
static void add_operand(struct check_state *state, const struct sched_statement *statement, int named, struct row_range rows)
{
	const struct check_list *leaves = &state->graph.leaves[named];

	for (int i = 0; i < leaves->count; i++) {
		int source = source_of(state, statement, leaves->nodes[i]);
		const struct check_list *pieces = &state->graph.leaves[source];

		for (int j = 0; j < pieces->count; j++)
			add_use(state, statement, (struct check_use){USE_OPERAND, SCHED_ACT, pieces->nodes[j], rows, {0, 0}, false, 0, named});
	}
}

static void derive_gradient(struct check_state *state, const struct sched_statement *statement)
{
	struct check_step *step = &state->step;
	int reader = check_operator(state->net, statement), last = reader;
	const struct net_node *node = &state->net->nodes[reader];
	struct row_range rows = {statement->lo, statement->hi}, above = check_rows_gathered(node, rows);

	step->backward = true;
	if (statement->through_count > 0) {
		step->operator_count = statement->through_count;
		for (int i = 0; i < statement->through_count; i++)
			step->operators[i] = statement->through[i];
		last = statement->through[statement->through_count - 1];
	}
	add_gradient(state, statement, last, above);
	if (statement->through_count > 0)
		add_operand(state, statement, statement->node, rows);
	else if (node->op == NET_MAX_POOL || (node->op == NET_RELU && statement->with == SCHED_WITH_MASK))
		add_tensor(state, statement, USE_OPERAND, SCHED_MASK, reader, above);
	else if (node->op == NET_RELU)
		add_operand(state, statement, reader, rows);
	else if (node->op == NET_GN)
		add_operand(state, statement, statement->node, rows);
	add_part(state, statement, statement->node, reader, rows);
}

static void derive_activation(struct check_state *state, const struct sched_statement *statement)
{
	const struct net_node *node = &state->net->nodes[statement->node];
	struct row_range rows = {statement->lo, statement->hi};

	for (int i = 0; i < node->input_count; i++)
		add_operand(state, statement, node->inputs[i], check_rows_read(node, rows));
	add_tensor(state, statement, USE_RESULT, SCHED_ACT, statement->node, rows);
	if (statement->with == SCHED_WITH_MASK || node->op == NET_MAX_POOL)
		add_tensor(state, statement, USE_RESULT, SCHED_MASK, statement->node, rows);
}

// Under a view the parts are where the add's gradient is: there is nothing to fill.
static void derive_split(struct check_state *state, const struct sched_statement *statement)
{
	const struct net_node *node = &state->net->nodes[statement->node];
	struct row_range rows = {statement->lo, statement->hi};

	add_gradient(state, statement, statement->node, rows);
	for (int i = 0; i < node->input_count; i++)
		add_part(state, statement, node->inputs[i], statement->node, rows);
}

static void derive_sums(struct check_state *state, const struct sched_statement *statement)
{
	const struct net_node *node = &state->net->nodes[statement->node];
	struct row_range rows = {statement->lo, statement->hi};

	if (statement->op == SCHED_ACCUMULATE || check_group(state)->phase == SCHED_BACKWARD)
		add_gradient(state, statement, statement->node, rows);
	add_operand(state, statement, node->inputs[0], check_rows_read(node, rows));
}

// Rows that move between a slab and elsewhere; of gradients, as many parts as there are.
static void derive_transfer(struct check_state *state, const struct sched_statement *statement)
{
	const struct check_list *leaves = &state->graph.leaves[statement->node];
	bool fills = statement->op == SCHED_LOAD || statement->op == SCHED_TAKE;

	for (int i = 0; i < leaves->count; i++) {
		if (statement->tensor == SCHED_GRAD && !check_has_gradient(state, leaves->nodes[i]))
			continue;
		add_use(state, statement, (struct check_use){fills ? USE_RESULT : USE_STORED, statement->tensor, leaves->nodes[i],
							     {statement->lo, statement->hi}, {0, 0}, false, 0, statement->node});
	}
}

// The most uses that a statement can have.
static int most_uses(const struct check_state *state, const struct sched_statement *statement)
{
	int operator = check_operator(state->net, statement);
	int count = 4 + 2 * state->graph.leaves[statement->node].count;

	for (int i = 0; i < statement->saved_count; i++)
		count += state->graph.leaves[statement->saved[i].node].count;
	for (int i = 0; operator >= 0 && i < state->net->nodes[operator].input_count; i++)
		count += 2 * state->graph.leaves[state->net->nodes[operator].inputs[i]].count;
	return count;
}

static uint64_t first_bits(int count)
{
	_Static_assert(SCHED_LIST_MAX <= 64, "a bit for each entry of a list");
	return count == 0 ? 0 : UINT64_MAX >> (64 - count);
}

int check_derive(struct check_state *state, const struct sched_statement *statement)
{
	struct check_step *step = &state->step;
	int operator = check_operator(state->net, statement);
	int rc = check_reserve(state, (void **)&step->uses, &step->capacity, most_uses(state, statement), sizeof(*step->uses));

	if (rc == 0)
		rc = check_reserve(state, (void **)&step->remade, &step->remade_capacity, state->net->node_count, sizeof(*step->remade));
	if (rc != 0)
		return rc;
	step->count = 0;
	step->operator_count = operator >= 0;
	step->operators[0] = operator;
	step->backward = false;
	step->remade_count = 0;
	step->unused_using = first_bits(statement->saved_count);
	step->unused_from = first_bits(statement->from_count);
	step->unused_to = first_bits(statement->to_count);
	switch (statement->op) {
	case SCHED_COMPUTE:
		if (statement->tensor == SCHED_GRAD)
			derive_gradient(state, statement);
		else
			derive_activation(state, statement);
		break;
	case SCHED_ACCUMULATE:
	case SCHED_STATISTICS:
		derive_sums(state, statement);
		break;
	case SCHED_SPLIT:
		derive_split(state, statement);
		break;
	case SCHED_FREE:
		break;
	default:
		derive_transfer(state, statement);
		break;
	}
	return 0;
}
