// SPDX-License-Identifier: Apache-2.0
//
// What a statement computes: its work is counted, and rows that its group may not compute again are refused.
#include "driver/plan/check/internal.h"

// Under `device` rows of a gn, a ReLU or a concatenation may be made again in forward, in another slab; any row may in backward, and in `overl`.
static bool is_cheap(enum net_op op)
{
	return op == NET_RELU || op == NET_GN || op == NET_CONCAT;
}

int check_compute_activation(struct check_state *state, const struct check_use *use)
{
	const struct sched_group *group = check_group(state);
	uint16_t *flags = check_flags(state, use->tensor, use->node);
	uint64_t row_macs = (uint64_t)state->schedule->batch * check_row_macs(&state->net->nodes[use->node]);
	bool recompute = group->phase == SCHED_BACKWARD;
	struct row_range again = check_find_rows(flags, use->rows, ROW_FILLED, true);
	bool remake = !state->paper && is_cheap(state->net->nodes[use->node].op);

	for (int y = use->rows.lo; y < use->rows.hi; y++) {
		state->result->macs += row_macs;
		if (recompute || (flags[y] & ROW_COMPUTED) != 0)
			state->result->extra_macs += row_macs;
	}
	if (recompute)
		return 0;
	if (remake && !row_range_empty(again))
		return check_fail_rows(state, CHECK_TWICE, &(struct check_rows_fault){SCHED_ACT, use->node, use->rows, again, ROW_FILLED, "the slab has"},
				       "act:%s rows %d:%d are computed a second time", state->net->nodes[use->node].name, again.lo, again.hi);
	if (group->tiling != SCHED_TILING_OVERL && !remake)
		return check_mark_once(state, SCHED_ACT, use->node, use->rows, ROW_COMPUTED, "computed", "computed are");
	check_set_flags(flags, use->rows, ROW_COMPUTED);
	return 0;
}

// Under `device` so may rows of a gradient through the gn or ReLU that alone reads the tensor, in another slab.
static bool is_remade_gradient(const struct check_state *state, const struct check_use *use)
{
	enum net_op op = state->net->nodes[state->step.operators[0]].op;

	return !state->paper && (op == NET_RELU || op == NET_GN) && check_parts_all(state, use->node) == 1 &&
	       row_range_empty(check_find_rows(check_flags(state, SCHED_GRAD, use->node), use->rows, ROW_FILLED, true));
}

int check_compute_gradient(struct check_state *state, const struct check_use *use, struct check_work *work)
{
	struct check_parts *parts = state->part_rows[use->node];
	struct check_rows_fault fault = {SCHED_GRAD, use->node, use->rows, use->rows, ROW_COMPUTED, "computed are"};

	for (int y = use->rows.lo; work != NULL && y < use->rows.hi; y++) {
		work->rows++;
		work->again += parts[y].computed >= use->parts;
	}
	while (fault.fault.lo < use->rows.hi && parts[fault.fault.lo].computed < use->parts)
		fault.fault.lo++;
	for (fault.fault.hi = fault.fault.lo; fault.fault.hi < use->rows.hi && parts[fault.fault.hi].computed >= use->parts;)
		fault.fault.hi++;
	if (!row_range_empty(fault.fault) && check_group(state)->tiling != SCHED_TILING_OVERL && !is_remade_gradient(state, use))
		return check_fail_rows(state, CHECK_TWICE, &fault, "grad:%s rows %d:%d are computed a second time", state->net->nodes[use->node].name,
				       fault.fault.lo, fault.fault.hi);
	for (int y = use->rows.lo; y < use->rows.hi; y++) {
		if (parts[y].computed < use->parts)
			parts[y].computed = (uint16_t)use->parts;
	}
	check_set_flags(check_flags(state, SCHED_GRAD, use->node), use->rows, ROW_COMPUTED);
	return 0;
}
