// SPDX-License-Identifier: Apache-2.0
//
// A concatenation that is the network's output: `paper` has its pieces alone, the device a tensor that forward stores and whose gradient backward finds.
#include <string.h>

#include "driver/plan/build.h"
#include "driver/plan/device/unfold.h"

// A group that puts the output together, or its gradient apart, all of it through DRAM. Moved to place `at` among the schedule's.
static int insert(const struct paper_graph *graph, struct schedule *schedule, enum sched_phase phase, int at)
{
	const int output = graph->output;
	struct sched_statement statement = { .op = phase == SCHED_FORWARD ? SCHED_COMPUTE : SCHED_SPLIT, .node = output };
	const struct sched_operand all = { .tensor = phase == SCHED_FORWARD ? SCHED_ACT : SCHED_GRAD, .node = (int16_t)output };
	struct sched_strip *strip;
	struct sched_group group;

	statement.tensor = all.tensor;
	statement.hi = graph->net->nodes[output].out.height;
	statement.from[statement.from_count++] = all;
	statement.to[statement.to_count++] = all;
	if (build_group_init(&group, phase, output, output, graph->net->node_count))
		return WC_ERR_SYSTEM;
	group.sub_batch = schedule->batch;
	group.reason = strdup(phase == SCHED_FORWARD ? "the network's output, a concatenation, is put together" : "the gradient of the network's output is taken apart");
	strip = build_strip(&group);
	if (!group.reason || !strip || build_statement(strip, &statement) || build_append(schedule, &group)) {
		sched_group_release(&group);
		return WC_ERR_SYSTEM;
	}
	group = schedule->groups[schedule->group_count - 1];
	memmove(schedule->groups + at + 1, schedule->groups + at, (size_t)(schedule->group_count - 1 - at) * sizeof(*schedule->groups));
	schedule->groups[at] = group;
	return 0;
}

int unfold_add_output(const struct paper_graph *graph, struct schedule *schedule, struct wc_error *err)
{
	int forward = 0, rc;

	if (graph->net->nodes[graph->output].op != NET_CONCAT)
		return 0;
	while (forward < schedule->group_count && schedule->groups[forward].phase == SCHED_FORWARD)
		forward++;
	rc = insert(graph, schedule, SCHED_FORWARD, forward);
	if (!rc && forward + 1 < schedule->group_count)
		rc = insert(graph, schedule, SCHED_BACKWARD, forward + 1);
	return rc ? wc_fail(err, rc, "out of memory") : 0;
}
