// SPDX-License-Identifier: Apache-2.0
//
// Form of statements: that each means something for this network and its group, before any is executed.
#include "driver/plan/check/device.h"

static const char *name_of(const struct check_state *state, int node)
{
	return state->net->nodes[node].name;
}

// A tensor that may be named, with rows in it.
static int form_tensor(struct check_state *state, enum sched_tensor tensor, int node, struct row_range rows)
{
	const struct net *net = state->net;
	enum net_op op;

	if (node < 0 || node >= net->node_count)
		return check_fail(state, CHECK_FORM, -1, "node %d is not one of the network's %d", node, net->node_count);
	op = net->nodes[node].op;
	if (op == NET_LOSS)
		return check_fail(state, CHECK_FORM, node, "the loss is not scheduled");
	if (tensor == SCHED_MASK && op != NET_RELU && op != NET_MAX_POOL)
		return check_fail(state, CHECK_FORM, node, "only a ReLU and a max pool have a mask");
	if (tensor == SCHED_GRAD && node == 0)
		return check_fail(state, CHECK_FORM, node, "the image has no gradient");
	if (tensor == SCHED_GRAD && !check_has_gradient(state, node))
		return check_fail(state, CHECK_FORM, node, "'%s' has no gradient: it depends on no parameter", name_of(state, node));
	if (rows.lo < 0 || rows.hi > net->nodes[node].out.height || rows.lo >= rows.hi)
		return check_fail(state, CHECK_FORM, node, "not an interval of the tensor's rows 0:%d", net->nodes[node].out.height);
	return 0;
}

static int form_operands(struct check_state *state, const struct sched_operand *list, int count)
{
	if (count < 0 || count > SCHED_LIST_MAX)
		return check_fail(state, CHECK_FORM, -1, "a list of %d tensors, limit %d", count, SCHED_LIST_MAX);
	for (int i = 0; i < count; i++) {
		struct row_range rows = {list[i].lo, list[i].hi};

		if (rows.lo == 0 && rows.hi == 0)
			rows.hi = 1;
		if (form_tensor(state, list[i].tensor, list[i].node, rows) != 0)
			return WC_ERR_INPUT;
	}
	return 0;
}

// Clauses name tensors that exist and stand behind statements that they mean something for.
static int form_clauses(struct check_state *state, const struct sched_statement *statement)
{
	bool gradient = statement->op == SCHED_COMPUTE && statement->tensor == SCHED_GRAD;

	if (!state->paper && (statement->through_count != 0 || statement->saved_count != 0 || statement->from_count != 0 ||
			      statement->to_count != 0 || statement->view))
		return check_fail(state, CHECK_FORM, statement->node, "a clause that belongs to 'paper' accounting");
	if (statement->from_count + statement->to_count != 0 && check_operator(state->net, statement) < 0 && statement->op != SCHED_COMPUTE)
		return check_fail(state, CHECK_FORM, statement->node, "'from' and 'to' belong to operators");
	if (statement->by < 0 || statement->by >= state->net->node_count || statement->through_count < 0 ||
	    statement->through_count > SCHED_THROUGH_MAX)
		return check_fail(state, CHECK_FORM, statement->node, "'by' or 'through' names no nodes of the network");
	for (int i = 0; i < statement->through_count; i++) {
		if (statement->through[i] < 1 || statement->through[i] >= state->net->node_count)
			return check_fail(state, CHECK_FORM, statement->node, "'through' names no node of the network");
	}
	if ((statement->by != 0 || statement->through_count != 0) && !gradient)
		return check_fail(state, CHECK_FORM, statement->node, "'by' and 'through' belong to gradients");
	if (statement->view && statement->op != SCHED_SPLIT)
		return check_fail(state, CHECK_FORM, statement->node, "'view' belongs to split");
	if (statement->saved_count != 0 && statement->op != SCHED_COMPUTE && statement->op != SCHED_ACCUMULATE && statement->op != SCHED_STATISTICS)
		return check_fail(state, CHECK_FORM, statement->node, "'using' belongs to what reads activations");
	if (form_operands(state, statement->saved, statement->saved_count) != 0)
		return WC_ERR_INPUT;
	for (int i = 0; i < statement->saved_count; i++) {
		if (statement->saved[i].tensor != SCHED_ACT)
			return check_fail(state, CHECK_FORM, statement->saved[i].node, "'using' takes activations");
	}
	if (form_operands(state, statement->from, statement->from_count) != 0)
		return WC_ERR_INPUT;
	return form_operands(state, statement->to, statement->to_count);
}

static bool is_input(const struct net_node *node, int input)
{
	for (int i = 0; i < node->input_count; i++) {
		if (node->inputs[i] == input)
			return true;
	}
	return false;
}

// Each node of the chain reads the one before, which nothing else reads.
static int form_chain(struct check_state *state, const struct sched_statement *statement)
{
	for (int i = 0; i < statement->through_count; i++) {
		int node = statement->through[i];
		enum net_op op = state->net->nodes[node].op;

		if (op != NET_GN && op != NET_RELU)
			return check_fail(state, CHECK_FORM, node, "'through' leads over '%s', which is neither a gn nor a relu", name_of(state, node));
		if (i == 0)
			continue;
		if (state->net->nodes[node].inputs[0] != statement->through[i - 1])
			return check_fail(state, CHECK_FORM, node, "'through': '%s' does not read '%s'", name_of(state, node),
					  name_of(state, statement->through[i - 1]));
		if (check_parts_all(state, statement->through[i - 1]) != 1)
			return check_fail(state, CHECK_FORM, node, "'through': others than '%s' read '%s' too", name_of(state, node),
					  name_of(state, statement->through[i - 1]));
	}
	return 0;
}

// What a reader's backward operator takes as saved operand.
static int form_saved(struct check_state *state, const struct sched_statement *statement, int reader)
{
	enum net_op op = state->net->nodes[reader].op;
	bool relu = op == NET_RELU && statement->through_count == 0;

	if (relu && statement->with != SCHED_WITH_NONE && statement->saved_count > 0)
		return check_fail(state, CHECK_FORM, statement->node, "the gradient of a ReLU needs one of 'mask', 'act' and 'using'");
	if (relu && statement->with == SCHED_WITH_NONE && statement->saved_count == 0)
		return check_fail(state, CHECK_FORM, statement->node, "the gradient of a ReLU needs 'mask' or 'act'");
	if (!relu && statement->with != SCHED_WITH_NONE)
		return check_fail(state, CHECK_FORM, statement->node,
				  op == NET_CONV ? "the gradient of a convolution takes no word" : "only the gradient of a ReLU alone takes a word");
	if (statement->saved_count > 0 && op != NET_RELU && op != NET_GN)
		return check_fail(state, CHECK_FORM, statement->node, "the gradient of '%s' has no saved operand", name_of(state, reader));
	return 0;
}

static int form_gradient(struct check_state *state, const struct sched_statement *statement)
{
	int reader = check_operator(state->net, statement);
	const struct net_node *node;

	if (reader < 0 && state->net->nodes[statement->node].consumer_count > 1)
		return check_fail(state, CHECK_FORM, statement->node, "%d nodes read '%s': 'by' must say whose part it is",
				  state->net->nodes[statement->node].consumer_count, name_of(state, statement->node));
	if (reader < 0)
		return check_fail(state, CHECK_FORM, statement->node, "nothing consumes the last layer: its gradient is given, not computed");
	node = &state->net->nodes[reader];
	if (node->op == NET_LOSS || node->op == NET_CONCAT || node->op == NET_ADD || node->op == NET_INPUT)
		return check_fail(state, CHECK_FORM, reader, "'%s' is of op %s, which no gradient is computed by", node->name, net_op_name(node->op));
	if (!is_input(node, statement->node))
		return check_fail(state, CHECK_FORM, reader, "'%s' does not read '%s'", node->name, name_of(state, statement->node));
	if (statement->by != 0 && statement->through_count > 0 && statement->by != statement->through[0])
		return check_fail(state, CHECK_FORM, reader, "'by %s' is not where the chain begins, '%s'", node->name, name_of(state, statement->through[0]));
	if (form_chain(state, statement) != 0)
		return WC_ERR_INPUT;
	return form_saved(state, statement, reader);
}

static int form_compute(struct check_state *state, const struct sched_statement *statement)
{
	enum net_op op = state->net->nodes[statement->node].op;

	if (statement->tensor == SCHED_MASK)
		return check_fail(state, CHECK_FORM, statement->node, "a mask is written by its ReLU, 'compute act:%s=... mask'",
				  name_of(state, statement->node));
	if (statement->tensor == SCHED_GRAD)
		return form_gradient(state, statement);
	if (op == NET_INPUT)
		return check_fail(state, CHECK_FORM, statement->node, "the image is given, not computed");
	if (op == NET_CONCAT && state->paper)
		return check_fail(state, CHECK_FORM, statement->node, "a concatenation is a view of its pieces and is not computed");
	if (statement->with == SCHED_WITH_ACT || (statement->with == SCHED_WITH_MASK && op != NET_RELU))
		return check_fail(state, CHECK_FORM, statement->node, "the word behind has no meaning here");
	return 0;
}

static int form_operation(struct check_state *state, const struct sched_statement *statement)
{
	enum net_op op = state->net->nodes[statement->node].op;

	switch (statement->op) {
	case SCHED_COMPUTE:
		return form_compute(state, statement);
	case SCHED_ACCUMULATE:
		if (statement->tensor != SCHED_GRAD || (op != NET_CONV && op != NET_FC))
			return check_fail(state, CHECK_FORM, statement->node, "only a convolution has a weight gradient");
		return 0;
	case SCHED_STATISTICS:
		if (statement->tensor != SCHED_ACT || op != NET_GN)
			return check_fail(state, CHECK_FORM, statement->node, "'%s' is no gn and has no statistics", name_of(state, statement->node));
		return 0;
	case SCHED_SPLIT:
		if (statement->tensor != SCHED_GRAD || (op != NET_ADD && (op != NET_CONCAT || state->paper)))
			return check_fail(state, CHECK_FORM, statement->node, "'%s' is no add%s and cannot be split", name_of(state, statement->node),
					  state->paper ? "" : " and no concatenation");
		return 0;
	default:
		if (state->paper && statement->tensor == SCHED_MASK)
			return check_fail(state, CHECK_FORM, statement->node, "masks stream: they are neither loaded nor stored by themselves");
		return 0;
	}
}

// The parts of a view are the add's gradient, so there can be no sum to add them to.
static int form_view(struct check_state *state, const struct sched_statement *statement)
{
	const struct net_node *add = &state->net->nodes[statement->node];

	if (statement->from_count + statement->to_count > 0)
		return check_fail(state, CHECK_FORM, statement->node, "a view moves nothing");
	for (int i = 0; i < add->input_count; i++) {
		const struct check_list *leaves = &state->graph.leaves[add->inputs[i]];

		for (int j = 0; j < leaves->count; j++) {
			if (check_has_gradient(state, leaves->nodes[j]) && check_parts_with(state, leaves->nodes[j], statement->node) != 1)
				return check_fail(state, CHECK_FORM, leaves->nodes[j], "a view of grad:%s cannot be added to the parts of other readers of '%s'",
						  add->name, name_of(state, leaves->nodes[j]));
		}
	}
	return 0;
}

static int form_blocked(struct check_state *state, const struct sched_statement *statement, int node)
{
	int height = state->net->nodes[statement->node].out.height;

	if (!check_group(state)->weight[node].blocked || (statement->lo == 0 && statement->hi == height))
		return 0;
	return check_fail(state, CHECK_FORM, node, "'weight %s blocked' with rows %d:%d of 0:%d: it is worked on whole", name_of(state, node),
			  statement->lo, statement->hi, height);
}

// A data gradient that sums over slices of output channels cuts K where the array does. Several groups have no such sums.
static int form_sliced(struct check_state *state, const struct sched_statement *statement, int node)
{
	int slice = check_group(state)->weight[node].slice;

	if (state->paper || !state->step.backward || !check_is_sliced(state, node))
		return 0;
	if (state->net->nodes[node].conv.groups > 1)
		return check_fail(state, CHECK_FORM, statement->node, "a data gradient in slices of %d channels of '%s', which has %d groups", slice,
				  name_of(state, node), state->net->nodes[node].conv.groups);
	if (slice % state->schedule->rows == 0)
		return 0;
	return check_fail(state, CHECK_FORM, statement->node, "a data gradient in slices of %d channels of '%s', not a multiple of the array's %d rows", slice,
			  name_of(state, node), state->schedule->rows);
}

// What the statement reads and fills suits its clauses.
static int form_uses(struct check_state *state, const struct sched_statement *statement)
{
	const struct check_step *step = &state->step;
	int rc = check_derive(state, statement);

	if (rc != 0)
		return rc;
	for (int i = 0; i < statement->from_count; i++) {
		if ((step->unused_from >> i & 1) != 0)
			return check_fail(state, CHECK_FORM, statement->from[i].node, "'from %s:%s' is no operand of the statement",
					  check_tensor_name(statement->from[i].tensor), name_of(state, statement->from[i].node));
	}
	for (int i = 0; i < statement->to_count; i++) {
		if ((step->unused_to >> i & 1) != 0)
			return check_fail(state, CHECK_FORM, statement->to[i].node, "'to %s:%s' is no result of the statement",
					  check_tensor_name(statement->to[i].tensor), name_of(state, statement->to[i].node));
	}
	for (int i = 0; i < statement->saved_count; i++) {
		if ((step->unused_using >> i & 1) != 0)
			return check_fail(state, CHECK_FORM, statement->saved[i].node, "no operand follows from 'using act:%s' through gn and relu alone",
					  name_of(state, statement->saved[i].node));
	}
	return 0;
}

static int form_place(struct check_state *state, const struct sched_statement *statement)
{
	const struct sched_group *group = check_group(state);
	const struct check_step *step = &state->step;

	for (int i = 0; i < step->operator_count; i++) {
		int node = step->operators[i];

		if (node < group->first || node > group->last)
			return check_fail(state, CHECK_FORM, statement->node, "it runs layer '%s', which the group does not cover", name_of(state, node));
		if (form_blocked(state, statement, node) != 0 || form_sliced(state, statement, node) != 0)
			return WC_ERR_INPUT;
	}
	if (group->phase == SCHED_FORWARD && step->operator_count > 0 && statement->tensor == SCHED_GRAD)
		return check_fail(state, CHECK_FORM, statement->node, "a gradient in a forward group");
	return 0;
}

int check_form_statement(struct check_state *state)
{
	const struct sched_statement *statement = check_statement(state);
	struct row_range rows = {statement->lo, statement->hi};
	int rc;

	if (statement->op == SCHED_FREE)
		rows = (struct row_range){0, 1};
	rc = form_tensor(state, statement->tensor, statement->node, rows);
	if (rc != 0)
		return rc;
	if (statement->op != SCHED_COMPUTE && statement->with != SCHED_WITH_NONE)
		return check_fail(state, CHECK_FORM, statement->node, "the word behind has no meaning here");
	if (form_clauses(state, statement) != 0 || form_operation(state, statement) != 0)
		return WC_ERR_INPUT;
	rc = form_uses(state, statement);
	if (rc == 0)
		rc = form_place(state, statement);
	return rc == 0 && statement->view ? form_view(state, statement) : rc;
}
