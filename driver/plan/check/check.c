// SPDX-License-Identifier: Apache-2.0
//
// The checker's course: form, then group by group traffic, and strip by strip occupancy and execution; coverage at the end of each phase.
#include <stdlib.h>
#include <string.h>

#include "driver/plan/check/internal.h"

static void release(struct check_state *state)
{
	free(state->flags);
	free(state->rows);
	free(state->accumulated_in);
	free(state->slabs);
	free(state->gradients);
}

// What is in DRAM at the start: the image, and the gradient of the last layer's output.
static void give(struct check_state *state)
{
	int last = state->net->node_count - 1;
	uint16_t *image = check_flags(state, SCHED_ACT, 0), *gradient = check_flags(state, SCHED_GRAD, last);

	for (int y = 0; y < state->net->nodes[0].out.height; y++)
		image[y] |= ROW_STORED;
	for (int y = 0; y < state->net->nodes[last].out.height; y++)
		gradient[y] |= ROW_STORED;
}

static int init(struct check_state *state)
{
	size_t nodes = (size_t)state->net->node_count, heights = 0;
	uint16_t *next;

	for (size_t i = 0; i < nodes; i++)
		heights += (size_t)state->net->nodes[i].out.height;
	state->flags = calloc(3 * heights, sizeof(*state->flags));
	state->rows = calloc(3 * nodes, sizeof(*state->rows));
	state->accumulated_in = calloc(nodes, sizeof(*state->accumulated_in));
	state->slabs = calloc(3 * nodes, sizeof(*state->slabs));
	state->gradients = calloc(nodes, sizeof(*state->gradients));
	if (state->flags == NULL || state->rows == NULL || state->accumulated_in == NULL || state->slabs == NULL || state->gradients == NULL) {
		release(state);
		return wc_fail(state->err, WC_ERR_SYSTEM, "out of memory checking a schedule");
	}
	next = state->flags;
	for (size_t i = 0; i < 3 * nodes; i++) {
		state->rows[i] = next;
		next += state->net->nodes[i % nodes].out.height;
	}
	for (size_t i = 0; i < nodes; i++)
		state->accumulated_in[i] = -1;
	give(state);
	return 0;
}

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
	check_begin_strip(state);
	for (int i = 0; i < strip->statement_count; i++) {
		state->place.statement = i;
		state->place.line = strip->statements[i].line;
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
	check_begin_group(state);
	for (int strip = 0; strip < group->strip_count; strip++) {
		state->place.strip = strip;
		rc = check_strip(state);
		if (rc != 0)
			return rc;
	}
	state->place = whole;
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

static int check_coverage(struct check_state *state, enum sched_phase phase)
{
	const struct net *net = state->net;

	state->place = (struct check_place){-1, -1, -1, 0};
	if (phase == SCHED_FORWARD)
		return check_covered(state, SCHED_ACT, net->node_count - 1, ROW_STORED, "stored in forward", "DRAM has");
	for (int node = 0; node < net->node_count; node++) {
		if (net->nodes[node].op == NET_CONV &&
		    check_covered(state, SCHED_GRAD, node, ROW_ACCUMULATED, "accumulated", "accumulated are") != 0)
			return WC_ERR_INPUT;
	}
	return 0;
}

static int check_groups(struct check_state *state)
{
	const struct schedule *schedule = state->schedule;
	int rc;

	for (int i = 0; i < schedule->group_count; i++) {
		if (schedule->groups[i].phase == SCHED_BACKWARD && state->result->forward_only) {
			state->result->forward_only = false;
			rc = check_coverage(state, SCHED_FORWARD);
			if (rc != 0)
				return rc;
		}
		rc = check_one_group(state, i);
		if (rc != 0)
			return rc;
	}
	return check_coverage(state, state->result->forward_only ? SCHED_FORWARD : SCHED_BACKWARD);
}

// Data gradients: in proportion to the rows of the input's gradient, whatever their number of taps.
static void add_gradient_macs(struct check_state *state)
{
	for (int i = 1; i < state->net->node_count; i++) {
		const struct net_node *node = &state->net->nodes[i];
		const struct check_work *work = &state->gradients[node->inputs[0]];
		uint64_t all = (uint64_t)state->schedule->batch * check_row_macs(node) * (uint64_t)node->out.height;

		state->result->macs += all * work->rows / (uint64_t)node->in.height;
		state->result->extra_macs += all * work->again / (uint64_t)node->in.height;
	}
}

int schedule_check(const struct schedule *schedule, const struct net *net, struct check_result *result, struct wc_error *err)
{
	struct check_state state = {.schedule = schedule, .net = net, .result = result, .err = err, .place = {-1, -1, -1, 0}};
	int rc;

	memset(result, 0, sizeof(*result));
	result->forward_only = true;
	result->peak = state.place;
	result->violation.place = state.place;
	result->violation.node = -1;
	rc = check_form_header(&state);
	if (rc != 0)
		return rc;
	rc = init(&state);
	if (rc != 0)
		return rc;
	rc = check_groups(&state);
	add_gradient_macs(&state);
	result->ok = rc == 0;
	release(&state);
	return rc;
}
