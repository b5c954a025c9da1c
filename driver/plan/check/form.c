// SPDX-License-Identifier: Apache-2.0
//
// Form: that header, groups and statements mean something for this network, before rows are looked at.
#include "driver/plan/check/internal.h"

int check_form_header(struct check_state *state)
{
	const struct schedule *schedule = state->schedule;

	if (schedule->cores != 1)
		return wc_fail(state->err, WC_ERR_INPUT, "cannot check a schedule for %d cores: it can be checked for 1 core", schedule->cores);
	if (schedule->accounting != SCHED_DEVICE)
		return wc_fail(state->err, WC_ERR_INPUT, "cannot check a schedule with 'paper' accounting: it can be checked with 'device'");
	if (schedule->batch < 1)
		return check_fail(state, CHECK_FORM, -1, "batch is %d, at least 1 is needed", schedule->batch);
	if (schedule->cols < 1)
		return check_fail(state, CHECK_FORM, -1, "the array has %d columns, at least 1 is needed", schedule->cols);
	if (schedule->bus_bytes == 0 || (schedule->bus_bytes & (schedule->bus_bytes - 1)) != 0)
		return check_fail(state, CHECK_FORM, -1, "bus of %u bytes is not a power of two", schedule->bus_bytes);
	if (schedule->group_count < 1)
		return check_fail(state, CHECK_FORM, -1, "there is no group");
	for (int i = 1; i < schedule->group_count; i++) {
		if (schedule->groups[i - 1].phase != SCHED_BACKWARD || schedule->groups[i].phase != SCHED_FORWARD)
			continue;
		state->place.group = i;
		state->place.line = schedule->groups[i].line;
		return check_fail(state, CHECK_ORDER, -1, "a forward group stands behind a backward one");
	}
	return 0;
}

static int form_policy(struct check_state *state, int node, const struct sched_policy *policy, const char *word, int element_bytes)
{
	const struct sched_group *group = check_group(state);
	const struct net_node *conv = &state->net->nodes[node];
	int64_t bytes;

	if (!policy->resident && policy->slice == 0)
		return 0;
	if (conv->op != NET_CONV || node < group->first || node > group->last)
		return check_fail(state, CHECK_FORM, node, "'%s %s' does not name a convolution of the group", word, conv->name);
	if (policy->slice < 0)
		return check_fail(state, CHECK_FORM, node, "'%s %s' has slices of %d channels", word, conv->name, policy->slice);
	bytes = (int64_t)policy->slice * conv->in.channels * conv->conv.kernel_h * conv->conv.kernel_w * element_bytes;
	if (!policy->resident && policy->slice < conv->out.channels && bytes % (int64_t)state->schedule->bus_bytes != 0)
		return check_fail(state, CHECK_FORM, node, "'%s %s slice %d' is %lld bytes, not a multiple of the bus of %u bytes", word,
				  conv->name, policy->slice, (long long)bytes, state->schedule->bus_bytes);
	return 0;
}

int check_form_group(struct check_state *state)
{
	const struct sched_group *group = check_group(state);
	const struct net *net = state->net;

	if (group->first < 0 || group->last >= net->node_count || group->first > group->last)
		return check_fail(state, CHECK_FORM, -1, "layers %d..%d are not a range of the network's %d nodes", group->first, group->last,
				  net->node_count);
	if (group->sub_batch < 1)
		return check_fail(state, CHECK_FORM, -1, "sub_batch is %d, at least 1 is needed", group->sub_batch);
	if (group->strip_count < 1)
		return check_fail(state, CHECK_FORM, -1, "the group has no strip");
	if (group->tiling == SCHED_TILING_NONE && group->strip_count > 1)
		return check_fail(state, CHECK_FORM, -1, "tiling none with %d strips", group->strip_count);
	for (int node = 0; node < net->node_count; node++) {
		if (form_policy(state, node, &group->weight[node], "weight", 2) != 0)
			return WC_ERR_INPUT;
		if (form_policy(state, node, &group->wgrad[node], "wgrad", 4) != 0)
			return WC_ERR_INPUT;
		if (group->wgrad[node].resident && group->phase == SCHED_FORWARD)
			return check_fail(state, CHECK_FORM, node, "'wgrad %s resident' in a forward group", net->nodes[node].name);
	}
	return 0;
}

static int form_compute(struct check_state *state, const struct sched_statement *statement)
{
	const struct net *net = state->net;
	int operator = check_operator(net, statement);
	bool relu;

	if (statement->tensor == SCHED_MASK)
		return check_fail(state, CHECK_FORM, statement->node, "a mask is written by its ReLU, 'compute act:%s=... mask'",
				  net->nodes[statement->node].name);
	if (statement->tensor == SCHED_GRAD && operator < 0)
		return check_fail(state, CHECK_FORM, statement->node, "nothing consumes the last layer: its gradient is given, not computed");
	relu = net->nodes[operator].op == NET_RELU;
	if (statement->tensor == SCHED_ACT) {
		if (net->nodes[statement->node].op == NET_INPUT)
			return check_fail(state, CHECK_FORM, statement->node, "the image is given, not computed");
		if (statement->with == SCHED_WITH_ACT || (statement->with == SCHED_WITH_MASK && !relu))
			return check_fail(state, CHECK_FORM, statement->node, "the word behind has no meaning here");
		return 0;
	}
	if (relu != (statement->with != SCHED_WITH_NONE))
		return check_fail(state, CHECK_FORM, statement->node,
				  relu ? "the gradient of a ReLU needs 'mask' or 'act'" : "the gradient of a convolution takes no word");
	return 0;
}

int check_form_statement(struct check_state *state)
{
	const struct sched_statement *statement = check_statement(state);
	const struct sched_group *group = check_group(state);
	const struct net *net = state->net;
	int operator, height;
	int rc;

	if (statement->node < 0 || statement->node >= net->node_count)
		return check_fail(state, CHECK_FORM, -1, "node %d is not one of the network's %d", statement->node, net->node_count);
	if (statement->tensor == SCHED_MASK && net->nodes[statement->node].op != NET_RELU)
		return check_fail(state, CHECK_FORM, statement->node, "only a ReLU has a mask");
	if (statement->tensor == SCHED_GRAD && statement->node == 0)
		return check_fail(state, CHECK_FORM, statement->node, "the image has no gradient");
	height = net->nodes[statement->node].out.height;
	if (statement->lo < 0 || statement->hi > height || statement->lo >= statement->hi)
		return check_fail(state, CHECK_FORM, statement->node, "not an interval of the tensor's rows 0:%d", height);
	if (statement->op != SCHED_COMPUTE && statement->with != SCHED_WITH_NONE)
		return check_fail(state, CHECK_FORM, statement->node, "the word behind has no meaning here");
	if (statement->op == SCHED_ACCUMULATE && (statement->tensor != SCHED_GRAD || net->nodes[statement->node].op != NET_CONV))
		return check_fail(state, CHECK_FORM, statement->node, "only a convolution has a weight gradient");
	if (statement->op == SCHED_COMPUTE) {
		rc = form_compute(state, statement);
		if (rc != 0)
			return rc;
	}
	operator = check_operator(net, statement);
	if (operator < 0)
		return 0;
	if (operator < group->first || operator > group->last)
		return check_fail(state, CHECK_FORM, statement->node, "it runs layer '%s', which the group does not cover", net->nodes[operator].name);
	if (group->phase == SCHED_FORWARD && (statement->op == SCHED_ACCUMULATE || statement->tensor == SCHED_GRAD))
		return check_fail(state, CHECK_FORM, statement->node, "a gradient in a forward group");
	return 0;
}
