// SPDX-License-Identifier: Apache-2.0
//
// The checker's course: form, then group by group traffic, and strip by strip occupancy and execution; coverage at the end of each phase.
#include <string.h>

#include "driver/plan/check/device.h"

static int check_form(struct check_state *state)
{
	const struct sched_group *group = check_group(state);
	int rc = check_form_group(state);

	for (int strip = 0; rc == 0 && strip < group->strip_count; strip++) {
		state->place.strip = strip;
		for (int i = 0; rc == 0 && i < group->strips[strip].statement_count; i++) {
			state->place.statement = i;
			state->place.line = group->strips[strip].statements[i].line;
			rc = check_form_statement(state);
			if (rc == 0)
				rc = check_size(state);
		}
	}
	return rc;
}

static int check_strip(struct check_state *state)
{
	const struct sched_strip *strip = &check_group(state)->strips[state->place.strip];
	int rc = check_buffer_strip(state);

	if (rc != 0)
		return rc;
	for (int i = 0; i < strip->statement_count; i++) {
		state->place.statement = i;
		state->place.line = strip->statements[i].line;
		rc = check_buffer_statement(state);
		if (rc == 0)
			rc = check_execute_statement(state);
		if (rc != 0)
			return rc;
	}
	return check_end_strip(state);
}

static int check_one_group(struct check_state *state, int index)
{
	const struct sched_group *group = &state->schedule->groups[index];
	struct check_place whole = {index, -1, -1, group->line};
	int rc;

	state->place = whole;
	rc = check_form(state);
	if (rc != 0)
		return rc;
	state->place = whole;
	check_traffic_group(state);
	state->kept_bytes = 0;
	for (int strip = 0; strip < group->strip_count; strip++) {
		state->place.strip = strip;
		rc = check_strip(state);
		if (rc != 0)
			return rc;
	}
	state->place = whole;
	rc = check_forget_kept(state);
	if (rc == 0)
		rc = check_whole_norms(state);
	if (rc != 0)
		return rc;
	for (int node = 0; node < state->net->node_count; node++) {
		if (group->wgrad[node].resident && state->accumulated_in[node] != index)
			return check_fail(state, CHECK_FORM, node, "'wgrad %s resident', but nothing in the group accumulates into it",
					  state->net->nodes[node].name);
	}
	return 0;
}

static int check_covered(struct check_state *state, enum sched_tensor tensor, int node, unsigned flag, const char *what, const char *holder)
{
	const uint16_t *flags = check_flags(state, tensor, node);
	int height = state->net->nodes[node].out.height;
	struct check_rows_fault fault = {tensor, node, {0, height}, {0, 0}, flag, holder};

	while (fault.fault.lo < height && (flags[fault.fault.lo] & flag) != 0)
		fault.fault.lo++;
	if (fault.fault.lo == height)
		return 0;
	for (fault.fault.hi = fault.fault.lo; fault.fault.hi < height && (flags[fault.fault.hi] & flag) == 0;)
		fault.fault.hi++;
	return check_fail_rows(state, CHECK_COVERAGE, &fault, "%s:%s rows %d:%d are never %s", check_tensor_name(tensor),
			       state->net->nodes[node].name, fault.fault.lo, fault.fault.hi, what);
}

static bool has_parameters(const struct check_state *state, int node)
{
	return net_parameters(&state->net->nodes[node]) > 0;
}

static int check_coverage(struct check_state *state, enum sched_phase phase)
{
	const struct net *net = state->net;
	const struct check_list *output = &state->graph.leaves[check_output(net)];
	int rc = 0;

	state->place = (struct check_place){-1, -1, -1, 0};
	for (int i = 0; rc == 0 && phase == SCHED_FORWARD && i < output->count; i++)
		rc = check_covered(state, SCHED_ACT, output->nodes[i], ROW_STORED, "stored in forward", "DRAM has");
	for (int node = 0; rc == 0 && phase == SCHED_BACKWARD && node < net->node_count; node++) {
		if (has_parameters(state, node))
			rc = check_covered(state, SCHED_GRAD, node, ROW_ACCUMULATED, "accumulated", "accumulated are");
	}
	return rc;
}

static int end_forward(struct check_state *state)
{
	int rc = check_coverage(state, SCHED_FORWARD);

	return rc == 0 && state->options.loss ? check_loss(state) : rc;
}

static int check_groups(struct check_state *state)
{
	const struct schedule *schedule = state->schedule;
	int rc;

	for (int i = 0; i < schedule->group_count; i++) {
		if (schedule->groups[i].phase == SCHED_BACKWARD && state->result->forward_only) {
			state->result->forward_only = false;
			rc = end_forward(state);
			if (rc != 0)
				return rc;
			check_give_gradient(state);
		}
		rc = check_one_group(state, i);
		if (rc != 0)
			return rc;
	}
	return state->result->forward_only ? end_forward(state) : check_coverage(state, SCHED_BACKWARD);
}

// Data gradients: in proportion to the rows of the input's gradient, whatever their number of taps.
static void add_gradient_macs(struct check_state *state)
{
	for (int i = 1; i < state->net->node_count; i++) {
		const struct net_node *node = &state->net->nodes[i];
		// A product with rows may need more than 64 bits where the quotient does not.
		unsigned __int128 all = (unsigned __int128)state->schedule->batch * check_row_macs(node) * (uint64_t)node->out.height;

		if (all == 0)
			continue;
		state->result->macs += (uint64_t)(all * state->work[i].rows / (uint64_t)node->in.height);
		state->result->extra_macs += (uint64_t)(all * state->work[i].again / (uint64_t)node->in.height);
	}
}

// What has been counted is one core's.
static void multiply(struct check_result *result, uint64_t cores)
{
	for (int class = 0; class < WC_CLASS_COUNT; class++) {
		result->read_bytes[class] *= cores;
		result->write_bytes[class] *= cores;
	}
	result->commands *= cores;
	result->macs *= cores;
	result->extra_macs *= cores;
}

int schedule_check(const struct schedule *schedule, const struct net *net, struct check_result *result, struct wc_error *err)
{
	return schedule_check_with(schedule, net, &(struct check_options){false, false}, result, err);
}

int schedule_check_with(const struct schedule *schedule, const struct net *net, const struct check_options *options, struct check_result *result,
			struct wc_error *err)
{
	struct check_state state = {.schedule = schedule, .cores = 1, .net = net, .result = result, .err = err, .place = {-1, -1, -1, 0}};
	struct schedule core;
	int rc;

	memset(result, 0, sizeof(*result));
	result->forward_only = true;
	result->peak = state.place;
	result->violation.place = state.place;
	result->violation.node = -1;
	state.paper = schedule->accounting == SCHED_PAPER;
	state.options = state.paper ? (struct check_options){false, false} : *options;
	rc = check_form_header(&state);
	if (rc != 0)
		return rc;
	core = schedule_of_core(schedule);
	state.schedule = &core;
	state.cores = schedule->cores;
	rc = check_state_init(&state);
	if (rc == 0) {
		rc = check_groups(&state);
		add_gradient_macs(&state);
	}
	if (state.paper)
		check_paper_masks(&state);
	multiply(result, (uint64_t)state.cores);
	if (rc == 0 && !state.paper && !result->forward_only)
		rc = check_parameters(&state);
	if (rc == 0)
		rc = check_footprint(&state);
	result->ok = rc == 0;
	check_state_release(&state);
	return rc;
}
