// SPDX-License-Identifier: Apache-2.0
//
// Form: that header and groups mean something for this network, before statements are looked at.
#include "driver/plan/check/internal.h"

// What the device has not is no fault of the schedule.
static int form_network(struct check_state *state)
{
	const struct net *net = state->net;

	if (!state->paper && net_require_device(net, "cannot check a 'device' schedule", state->err) != 0)
		return WC_ERR_INPUT;
	if (state->options.loss && net->nodes[net->node_count - 1].op != NET_LOSS)
		return wc_fail(state->err, WC_ERR_INPUT, "cannot check the loss of network '%s': it has no loss node", net->name);
	return 0;
}

int check_form_header(struct check_state *state)
{
	const struct schedule *schedule = state->schedule;

	if (form_network(state) != 0)
		return WC_ERR_INPUT;
	if (schedule->batch < 1)
		return check_fail(state, CHECK_FORM, -1, "batch is %d, at least 1 is needed", schedule->batch);
	if (schedule->cores < 1)
		return check_fail(state, CHECK_FORM, -1, "cores is %d, at least 1 is needed", schedule->cores);
	if (schedule->batch % schedule->cores != 0)
		return check_fail(state, CHECK_FORM, -1, "the batch of %d is not a multiple of the %d cores that it is split among", schedule->batch,
				  schedule->cores);
	if ((schedule->rows < 1 || schedule->cols < 1) && !state->paper)
		return check_fail(state, CHECK_FORM, -1, "the array is %dx%d, at least 1x1 is needed", schedule->rows, schedule->cols);
	if (!state->paper && (schedule->bus_bytes == 0 || (schedule->bus_bytes & (schedule->bus_bytes - 1)) != 0))
		return check_fail(state, CHECK_FORM, -1, "bus of %u bytes is not a power of two", schedule->bus_bytes);
	if (!state->paper && net_require_lanes(state->net, check_lanes(state), "cannot check a 'device' schedule", state->err) != 0)
		return WC_ERR_INPUT;
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

// A slice, of filters and of biases, starts where a beat starts, and where a group of the convolution does.
static int form_slice(struct check_state *state, int node, const struct sched_policy *policy, const char *word, int element_bytes)
{
	const struct net_node *named = &state->net->nodes[node];
	uint64_t bytes, bias_bytes;

	if (policy->slice < 0)
		return check_fail(state, CHECK_FORM, node, "'%s %s' has slices of %d channels", word, named->name, policy->slice);
	if (policy->slice > 0 && named->op == NET_GN)
		return check_fail(state, CHECK_FORM, node, "'%s %s slice %d': gamma and beta pass whole", word, named->name, policy->slice);
	if (policy->resident || policy->slice == 0 || policy->slice >= named->out.channels)
		return 0;
	if (named->conv.groups > 1 && policy->slice % (named->out.channels / named->conv.groups) != 0)
		return check_fail(state, CHECK_FORM, node, "'%s %s slice %d' cuts a group: each of its %d groups has %d output channels", word, named->name,
				  policy->slice, named->conv.groups, named->out.channels / named->conv.groups);
	bias_bytes = (uint64_t)policy->slice * (uint64_t)element_bytes;
	bytes = bias_bytes * check_filter(named);
	if (bytes % state->schedule->bus_bytes != 0)
		return check_fail(state, CHECK_FORM, node, "'%s %s slice %d' is %llu bytes, not a multiple of the bus of %u bytes", word,
				  named->name, policy->slice, (unsigned long long)bytes, state->schedule->bus_bytes);
	if (named->bias && bias_bytes % state->schedule->bus_bytes != 0)
		return check_fail(state, CHECK_FORM, node, "'%s %s slice %d' has %llu bytes of bias, not a multiple of the bus of %u bytes", word,
				  named->name, policy->slice, (unsigned long long)bias_bytes, state->schedule->bus_bytes);
	return 0;
}

static int form_policy(struct check_state *state, int node, const struct sched_policy *policy, const char *word, int element_bytes)
{
	const struct sched_group *group = check_group(state);
	const struct net_node *named = &state->net->nodes[node];

	if (!policy->resident && policy->slice == 0 && !policy->blocked)
		return 0;
	if (net_parameters(named) == 0 || node < group->first || node > group->last)
		return check_fail(state, CHECK_FORM, node, "'%s %s' does not name a node of the group with parameters", word, named->name);
	if (!state->paper && !policy->blocked)
		return form_slice(state, node, policy, word, element_bytes);
	if (!state->paper || policy->slice < 0 || policy->slice > named->out.channels || policy->resident + policy->blocked != 1 ||
	    (policy->blocked && (policy->slice != 0 || element_bytes != 2)))
		return check_fail(state, CHECK_FORM, node, "'%s %s' has a policy that does not exist under '%s' accounting", word, named->name,
				  state->paper ? "paper" : "device");
	if (policy->blocked && group->sub_batch < state->schedule->batch)
		return check_fail(state, CHECK_FORM, node, "'weight %s blocked' in iterations of %d of %d samples: it is worked on for all samples",
				  named->name, group->sub_batch, state->schedule->batch);
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
