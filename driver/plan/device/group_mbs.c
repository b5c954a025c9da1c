// SPDX-License-Identifier: Apache-2.0
//
// Groups of whole feature maps: a sub-batch runs through all layers in the buffer. What backward needs of
// the forward pass, the convolutions' inputs and the ReLUs' masks, is stored on the way.
#include "driver/plan/device/planner.h"

int build_mbs_forward(struct planner *planner, struct sched_group *group, int first, int last, int strips)
{
	const struct net *net = planner->net;
	bool training = planner->options->phases == PLAN_ALL;
	struct sched_strip *strip;
	int rc;

	if (strips != 1)
		return PLAN_NO_FIT;
	group->tiling = SCHED_TILING_NONE;
	strip = build_strip(group);
	if (!strip)
		return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
	rc = planner_move(planner, strip, SCHED_LOAD, SCHED_ACT, first - 1, planner_all_rows(planner, first - 1));
	for (int i = first; !rc && i <= last; i++) {
		struct rows rows = planner_all_rows(planner, i);
		bool masked = training && net->nodes[i].op == NET_RELU;

		rc = planner_say(planner, strip, SCHED_COMPUTE, SCHED_ACT, i, rows, masked ? SCHED_WITH_MASK : SCHED_WITH_NONE);
		if (!rc && masked)
			rc = planner_move(planner, strip, SCHED_STORE, SCHED_MASK, i, rows);
		if (!rc && (i == last || (training && net->nodes[i + 1].op == NET_CONV)))
			rc = planner_move(planner, strip, SCHED_STORE, SCHED_ACT, i, rows);
	}
	return rc;
}

int build_mbs_backward(struct planner *planner, struct sched_group *group, int first, int last, int strips)
{
	const struct net *net = planner->net;
	struct sched_strip *strip;
	int rc;

	if (strips != 1)
		return PLAN_NO_FIT;
	group->tiling = SCHED_TILING_NONE;
	strip = build_strip(group);
	if (!strip)
		return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
	rc = planner_move(planner, strip, SCHED_LOAD, SCHED_GRAD, last, planner_all_rows(planner, last));
	for (int i = last; !rc && i >= first; i--) {
		bool conv = net->nodes[i].op == NET_CONV;

		if (conv)
			rc = planner_move(planner, strip, SCHED_LOAD, SCHED_ACT, i - 1, planner_all_rows(planner, i - 1));
		else
			rc = planner_move(planner, strip, SCHED_LOAD, SCHED_MASK, i, planner_all_rows(planner, i));
		if (!rc && conv)
			rc = planner_move(planner, strip, SCHED_ACCUMULATE, SCHED_GRAD, i, planner_all_rows(planner, i));
		if (!rc && i > 1)
			rc = planner_say(planner, strip, SCHED_COMPUTE, SCHED_GRAD, i - 1, planner_all_rows(planner, i - 1),
					 conv ? SCHED_WITH_NONE : SCHED_WITH_MASK);
	}
	if (!rc && first > 1)
		rc = planner_move(planner, strip, SCHED_STORE, SCHED_GRAD, first - 1, planner_all_rows(planner, first - 1));
	return rc;
}
