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
		[SCHED_FREE] = "free", [SCHED_STATISTICS] = "statistics", [SCHED_SPLIT] = "split",
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
		if (policies[i].resident && policies[i].slice)
			fprintf(file, "  %s %s resident slice %d\n", what, net->nodes[i].name, policies[i].slice);
		else if (policies[i].resident)
			fprintf(file, "  %s %s resident\n", what, net->nodes[i].name);
		else if (policies[i].blocked)
			fprintf(file, "  %s %s blocked\n", what, net->nodes[i].name);
		else if (policies[i].slice)
			fprintf(file, "  %s %s streamed slice %d\n", what, net->nodes[i].name, policies[i].slice);
	}
}

static void write_tensors(const char *word, const struct sched_operand *tensors, int count, const struct net *net, FILE *file)
{
	for (int i = 0; i < count; i++) {
		fprintf(file, "%s%s:%s", i ? "," : word, sched_tensor_name(tensors[i].tensor), net->nodes[tensors[i].node].name);
		if (tensors[i].lo < tensors[i].hi)
			fprintf(file, "=%d:%d", tensors[i].lo, tensors[i].hi);
	}
}

static void write_statement(const struct sched_statement *statement, const struct net *net, FILE *file)
{
	static const char *const with[] = { [SCHED_WITH_NONE] = "", [SCHED_WITH_MASK] = " mask", [SCHED_WITH_ACT] = " act" };
	const bool names_node = statement->op == SCHED_ACCUMULATE || statement->op == SCHED_STATISTICS || statement->op == SCHED_SPLIT;

	fprintf(file, "    %s ", sched_op_name(statement->op));
	if (!names_node)
		fprintf(file, "%s:", sched_tensor_name(statement->tensor));
	fprintf(file, "%s", net->nodes[statement->node].name);
	if (statement->op != SCHED_FREE)
		fprintf(file, "=%d:%d", statement->lo, statement->hi);
	fprintf(file, "%s", with[statement->with]);
	if (statement->by)
		fprintf(file, " by %s", net->nodes[statement->by].name);
	for (int i = 0; i < statement->through_count; i++)
		fprintf(file, "%s%s", i ? "," : " through ", net->nodes[statement->through[i]].name);
	write_tensors(" using ", statement->saved, statement->saved_count, net, file);
	write_tensors(" from ", statement->from, statement->from_count, net, file);
	write_tensors(" to ", statement->to, statement->to_count, net, file);
	fprintf(file, "%s\n", statement->view ? " view" : "");
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

static void write_header(const struct schedule *schedule, FILE *file)
{
	fprintf(file, "schedule 1\nnet %s\n", schedule->net_name);
	if (schedule->image)
		fprintf(file, "image %d\n", schedule->image);
	fprintf(file, "batch %d\ncores %d\n", schedule->batch, schedule->cores);
	if (schedule->rows)
		fprintf(file, "array %dx%d\n", schedule->rows, schedule->cols);
	fprintf(file, "buffer %" PRIu32 "\n", schedule->buffer_bytes);
	if (schedule->bus_bytes)
		fprintf(file, "bus %" PRIu32 "\n", schedule->bus_bytes);
	fprintf(file, "accounting %s\n", schedule->accounting == SCHED_DEVICE ? "device" : "paper");
	if (schedule->reserve_bytes)
		fprintf(file, "reserve %" PRIu32 "\n", schedule->reserve_bytes);
	if (schedule->planner)
		fprintf(file, "planner %s\n", schedule->planner);
}

int schedule_write(const struct schedule *schedule, const struct net *net, FILE *file, struct wc_error *err)
{
	write_header(schedule, file);
	for (int i = 0; i < schedule->group_count; i++)
		write_group(&schedule->groups[i], net, file);
	if (fflush(file) || ferror(file))
		return wc_fail(err, WC_ERR_SYSTEM, "cannot write the schedule: %m");
	return 0;
}

struct schedule schedule_of_core(const struct schedule *schedule)
{
	struct schedule core = *schedule;

	core.batch /= schedule->cores;
	core.cores = 1;
	return core;
}

int sched_gradient_reader(const struct net *net, const struct sched_statement *statement)
{
	if (statement->by)
		return statement->by;
	if (statement->through_count)
		return statement->through[0];
	return net->nodes[statement->node].consumer_count == 1 ? net->nodes[statement->node].consumers[0] : -1;
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
	free(schedule->file_name);
	memset(schedule, 0, sizeof(*schedule));
}
