// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <string.h>

#include "driver/cli/plan.h"

#include "driver/cli/cli.h"
#include "driver/plan/paper/paper.h"
#include "traces/wct_json.h"

// Whether a statement belongs in one of a group's lists of tensors.
typedef bool belongs(const struct sched_group *group, const struct net *net, const struct sched_statement *statement, enum sched_tensor tensor, int node);

static bool is_stored(const struct sched_group *group, const struct net *net, const struct sched_statement *statement, enum sched_tensor tensor, int node)
{
	(void)group;
	(void)net;
	for (int i = 0; i < statement->to_count; i++)
		if (statement->to[i].tensor == tensor && statement->to[i].node == node)
			return true;
	return statement->op == SCHED_STORE && statement->tensor == tensor && statement->node == node;
}

// Lines for the next strip.
static bool is_kept(const struct sched_group *group, const struct net *net, const struct sched_statement *statement, enum sched_tensor tensor, int node)
{
	(void)group;
	(void)net;
	return statement->op == SCHED_KEEP && statement->tensor == tensor && statement->node == node;
}

// The same, and saved activations that backward holds on the chip where they could stream.
static bool is_held(const struct sched_group *group, const struct net *net, const struct sched_statement *statement, enum sched_tensor tensor, int node)
{
	if (is_kept(group, net, statement, tensor, node))
		return true;
	return group->phase == SCHED_BACKWARD && statement->op == SCHED_LOAD && tensor == SCHED_ACT && statement->tensor == tensor &&
	       statement->node == node;
}

static bool makes_again(const struct sched_group *group, const struct sched_statement *statement, int node)
{
	return group->phase == SCHED_BACKWARD && statement->op == SCHED_COMPUTE && statement->tensor == SCHED_ACT && statement->node == node;
}

static bool is_recomputed(const struct sched_group *group, const struct net *net, const struct sched_statement *statement, enum sched_tensor tensor, int node)
{
	return tensor == SCHED_ACT && net_macs(&net->nodes[node]) && makes_again(group, statement, node);
}

// Between what stands for an operand and the operand itself lie nodes that are made again.
static bool on_the_way(const struct net *net, int from, int to, int node)
{
	while (to > from && net->nodes[to].input_count == 1) {
		if (to == node)
			return true;
		to = net->nodes[to].inputs[0];
	}
	return false;
}

static bool is_regenerated(const struct sched_group *group, const struct net *net, const struct sched_statement *statement, enum sched_tensor tensor, int node)
{
	if (tensor != SCHED_ACT || net_macs(&net->nodes[node]))
		return false;
	if (makes_again(group, statement, node))
		return true;
	for (int i = 0; i < statement->saved_count && group->phase == SCHED_BACKWARD; i++)
		if (on_the_way(net, statement->saved[i].node, net->nodes[statement->node].inputs[0], node))
			return true;
	return false;
}

static json_t *list(const struct sched_group *group, const struct net *net, belongs *belongs)
{
	json_t *names = json_array();

	for (enum sched_tensor tensor = SCHED_ACT; tensor <= SCHED_MASK; tensor++)
		for (int node = 0; node < net->node_count; node++) {
			bool found = false;

			for (int s = 0; !found && s < group->strip_count; s++)
				for (int i = 0; !found && i < group->strips[s].statement_count; i++)
					found = belongs(group, net, &group->strips[s].statements[i], tensor, node);
			if (found)
				json_array_append_new(names, json_sprintf("%s:%s", sched_tensor_name(tensor), net->nodes[node].name));
		}
	return names;
}

static json_t *group_json(const struct schedule *schedule, int index, const struct net *net, const struct plan_costs *costs)
{
	const struct sched_group *group = &schedule->groups[index];
	json_t *object = json_pack("{s:s, s:s, s:s, s:i, s:i, s:s, s:i, s:I, s:o, s:o, s:o, s:o, s:I}", "phase", sched_phase_name(group->phase), "first",
				   net->nodes[group->first].name, "last", net->nodes[group->last].name, "sub_batch", group->sub_batch, "strips",
				   group->strip_count, "tiling", sched_tiling_name(group->tiling), "iterations",
				   (schedule_of_core(schedule).batch + group->sub_batch - 1) / group->sub_batch, "buffer_bytes",
				   (json_int_t)costs->group_buffer_bytes[index], "stored", list(group, net, is_stored), "regenerated",
				   list(group, net, is_regenerated), "recomputed", list(group, net, is_recomputed), "held", list(group, net, schedule->accounting == SCHED_DEVICE ? is_kept : is_held),
				   "pinned_bytes", (json_int_t)costs->group_pinned_bytes[index]);

	if (group->reason)
		json_object_set_new(object, "reason", wct_json_text(group->reason));
	return object;
}

void plan_print_json(const char *name, const struct schedule *schedule, const struct net *net, const struct plan_costs *costs)
{
	const struct account *account = &costs->account;
	json_t *by_class = json_object(), *groups = json_array(), *all;

	for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++)
		if (schedule->accounting == SCHED_DEVICE || class <= WC_CLASS_WEIGHT_GRADIENT)
			json_object_set_new(by_class, wc_class_name(class), json_integer((json_int_t)(account->read_bytes[class] + account->write_bytes[class])));
	for (int i = 0; i < schedule->group_count; i++)
		json_array_append_new(groups, group_json(schedule, i, net, costs));
	all = json_pack("{s:o, s:o, s:i, s:i, s:I, s:s, s:I, s:o, s:o, s:I, s:f, s:I, s:I, s:I}", "net", wct_json_text(net->name), "schedule",
			wct_json_text(name), "batch", schedule->batch, "cores", schedule->cores,
			"buffer_bytes", (json_int_t)schedule->buffer_bytes, "accounting", schedule->accounting == SCHED_DEVICE ? "device" : "paper",
			"dram_bytes", (json_int_t)account_total_bytes(account), "baseline_dram_bytes",
			costs->baseline_bytes ? json_integer((json_int_t)costs->baseline_bytes) : json_null(), "by_class", by_class, "macs",
			(json_int_t)account->macs, "extra_macs", cli_extra_percent(net, schedule->batch, account->extra_macs), "peak_footprint_bytes",
			(json_int_t)costs->footprint_bytes, "peak_buffer_bytes", (json_int_t)costs->peak_buffer_bytes, "commands", (json_int_t)account->commands);
	if (schedule->accounting == SCHED_DEVICE) {
		json_object_set_new(all, "buffer_high_water_bytes", json_integer((json_int_t)costs->high_water_bytes));
		json_object_set_new(all, "placed_buffer_bytes", json_integer((json_int_t)costs->placed_bytes));
	}
	if (schedule->accounting == SCHED_PAPER && schedule->groups[schedule->group_count - 1].phase == SCHED_BACKWARD)
		json_object_set_new(all, "lower_bound_dram_bytes", json_integer((json_int_t)paper_lower_bound(net, schedule->batch, schedule->cores)));
	json_object_set_new(all, "groups", groups);
	json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	printf("\n");
	json_decref(all);
}
