// SPDX-License-Identifier: Apache-2.0
//
// Writing and releasing schedules. The text is what driver/README.md defines.
#include "driver/plan/schedule.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *sched_tensor_name(enum sched_tensor tensor)
{
	static const char *const names[] = { [SCHED_ACT] = "act", [SCHED_GRAD] = "grad", [SCHED_MASK] = "mask" };

	return names[tensor];
}

const char *sched_op_name(enum sched_op op)
{
	static const char *const names[] = {
		[SCHED_LOAD] = "load", [SCHED_TAKE] = "take", [SCHED_COMPUTE] = "compute",
		[SCHED_ACCUMULATE] = "accumulate", [SCHED_KEEP] = "keep", [SCHED_STORE] = "store",
	};

	return names[op];
}

const char *sched_tiling_name(enum sched_tiling tiling)
{
	static const char *const names[] = {
		[SCHED_TILING_NONE] = "none", [SCHED_TILING_OVERL] = "overl", [SCHED_TILING_2PS] = "2ps",
	};

	return names[tiling];
}

const char *sched_phase_name(enum sched_phase phase)
{
	return phase == SCHED_FORWARD ? "forward" : "backward";
}

static void write_policies(const struct sched_policy *policies, const char *what, const struct net *net, FILE *file)
{
	for (int i = 0; i < net->node_count; i++) {
		if (policies[i].resident)
			fprintf(file, "  %s %s resident\n", what, net->nodes[i].name);
		else if (policies[i].slice)
			fprintf(file, "  %s %s streamed slice %d\n", what, net->nodes[i].name, policies[i].slice);
	}
}

static void write_statement(const struct sched_statement *statement, const struct net *net, FILE *file)
{
	static const char *const with[] = { [SCHED_WITH_NONE] = "", [SCHED_WITH_MASK] = " mask", [SCHED_WITH_ACT] = " act" };

	fprintf(file, "    %s ", sched_op_name(statement->op));
	if (statement->op != SCHED_ACCUMULATE)
		fprintf(file, "%s:", sched_tensor_name(statement->tensor));
	fprintf(file, "%s=%d:%d%s\n", net->nodes[statement->node].name, statement->lo, statement->hi, with[statement->with]);
}

static void write_group(const struct sched_group *group, const struct net *net, FILE *file)
{
	fprintf(file, "\ngroup %s %s %s\n", sched_phase_name(group->phase), net->nodes[group->first].name, net->nodes[group->last].name);
	fprintf(file, "  sub_batch %d\n  tiling %s\n", group->sub_batch, sched_tiling_name(group->tiling));
	write_policies(group->weight, "weight", net, file);
	write_policies(group->wgrad, "wgrad", net, file);
	if (group->reason)
		fprintf(file, "  reason %s\n", group->reason);
	for (int i = 0; i < group->strip_count; i++) {
		fprintf(file, "  strip %d\n", i);
		for (int j = 0; j < group->strips[i].statement_count; j++)
			write_statement(&group->strips[i].statements[j], net, file);
	}
}

int schedule_write(const struct schedule *schedule, const struct net *net, FILE *file, struct wc_error *err)
{
	fprintf(file, "schedule 1\nnet %s\nbatch %d\ncores %d\narray %dx%d\nbuffer %" PRIu32 "\nbus %" PRIu32 "\naccounting %s\n",
		schedule->net_name, schedule->batch, schedule->cores, schedule->rows, schedule->cols, schedule->buffer_bytes,
		schedule->bus_bytes, schedule->accounting == SCHED_DEVICE ? "device" : "paper");
	if (schedule->planner)
		fprintf(file, "planner %s\n", schedule->planner);
	for (int i = 0; i < schedule->group_count; i++)
		write_group(&schedule->groups[i], net, file);
	if (fflush(file) || ferror(file))
		return wc_fail(err, WC_ERR_SYSTEM, "cannot write the schedule: %m");
	return 0;
}

void sched_group_release(struct sched_group *group)
{
	for (int i = 0; i < group->strip_count; i++)
		free(group->strips[i].statements);
	free(group->strips);
	free(group->weight);
	free(group->wgrad);
	free(group->reason);
	memset(group, 0, sizeof(*group));
}

void schedule_release(struct schedule *schedule)
{
	for (int i = 0; i < schedule->group_count; i++)
		sched_group_release(&schedule->groups[i]);
	free(schedule->groups);
	free(schedule->net_name);
	free(schedule->planner);
	memset(schedule, 0, sizeof(*schedule));
}
