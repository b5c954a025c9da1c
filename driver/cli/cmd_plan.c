// SPDX-License-Identifier: Apache-2.0
//
// wavecore plan NET: print a planner's schedule, or what it costs.
#include <jansson.h>
#include <string.h>

#include "driver/cli/cli.h"
#include "driver/plan/account.h"
#include "driver/plan/check/check.h"
#include "driver/plan/device/program.h"

// Names like "act:relu2" of what a group's statements of one kind move or make; forward nodes recomputed in backward.
static json_t *tensors_of(const struct sched_group *group, const struct net *net, enum sched_op op)
{
	static const char *const prefix[] = {[SCHED_ACT] = "act", [SCHED_GRAD] = "grad", [SCHED_MASK] = "mask"};
	json_t *names = json_array();

	for (enum sched_tensor tensor = SCHED_ACT; tensor <= SCHED_MASK; tensor++)
		for (int node = 0; node < net->node_count; node++) {
			bool found = false;

			for (int s = 0; s < group->strip_count; s++)
				for (int i = 0; i < group->strips[s].statement_count; i++) {
					const struct sched_statement *statement = &group->strips[s].statements[i];

					found |= statement->op == op && statement->tensor == tensor && statement->node == node;
				}
			if (found)
				json_array_append_new(names, json_sprintf("%s:%s", prefix[tensor], net->nodes[node].name));
		}
	return names;
}

static json_t *recomputed(const struct sched_group *group, const struct net *net)
{
	json_t *names = json_array();

	for (int node = 0; group->phase == SCHED_BACKWARD && node < net->node_count; node++) {
		bool found = false;

		for (int s = 0; s < group->strip_count; s++)
			for (int i = 0; i < group->strips[s].statement_count; i++) {
				const struct sched_statement *statement = &group->strips[s].statements[i];

				found |= statement->op == SCHED_COMPUTE && statement->tensor == SCHED_ACT && statement->node == node;
			}
		if (found)
			json_array_append_new(names, json_string(net->nodes[node].name));
	}
	return names;
}

// Highest byte of the global buffer that a group places slabs at, and bytes of its resident weights and sums.
static void buffer_use(const struct program *program, int group, uint32_t *peak, uint64_t *pinned)
{
	const struct sched_group *of = &program->schedule->groups[group];

	*peak = 0;
	*pinned = 0;
	for (int i = 0; i < program->step_count; i++) {
		const struct step *step = &program->steps[i];
		const int slabs[] = {step->source, step->operand, step->result, step->mask};

		if (step->group != group)
			continue;
		for (size_t s = 0; s < sizeof(slabs) / sizeof(*slabs); s++)
			if (slabs[s] >= 0) {
				const struct slab *slab = &program->slabs[slabs[s]];

				*peak = *peak > slab->offset + slab->bytes ? *peak : slab->offset + slab->bytes;
			}
	}
	for (int node = of->first; node <= of->last; node++) {
		if (program->net->nodes[node].op != NET_CONV)
			continue;
		if (of->weight[node].resident)
			*pinned += 2 * (uint64_t)net_conv_weights(&program->net->nodes[node]);
		if (of->wgrad[node].resident && of->phase == SCHED_BACKWARD)
			*pinned += 4 * (uint64_t)net_conv_weights(&program->net->nodes[node]);
	}
}

static json_t *group_json(const struct program *program, int index)
{
	static const char *const tilings[] = {[SCHED_TILING_NONE] = "none", [SCHED_TILING_OVERL] = "overl", [SCHED_TILING_2PS] = "2ps"};
	const struct schedule *schedule = program->schedule;
	const struct sched_group *group = &schedule->groups[index];
	const struct net *net = program->net;
	uint32_t peak;
	uint64_t pinned;
	json_t *object;

	buffer_use(program, index, &peak, &pinned);
	object = json_pack("{s:s, s:s, s:s, s:i, s:i, s:s, s:i, s:I, s:o, s:o, s:o, s:I}", "phase", group->phase == SCHED_FORWARD ? "forward" : "backward",
			   "first", net->nodes[group->first].name, "last", net->nodes[group->last].name, "sub_batch", group->sub_batch, "strips",
			   group->strip_count, "tiling", tilings[group->tiling], "iterations", (schedule->batch + group->sub_batch - 1) / group->sub_batch,
			   "buffer_bytes", (json_int_t)peak, "stored", tensors_of(group, net, SCHED_STORE), "recomputed", recomputed(group, net), "held",
			   tensors_of(group, net, SCHED_KEEP), "pinned_bytes", (json_int_t)pinned);
	if (group->reason)
		json_object_set_new(object, "reason", json_string(group->reason));
	return object;
}

// Bytes of the layer-by-layer schedule of the same problem; 0 if there is none.
static uint64_t baseline_bytes(const struct net *net, const struct plan_options *options)
{
	struct schedule schedule;
	struct account account;

	if (plan_baseline(&schedule, net, options, NULL))
		return 0;
	account_schedule(&schedule, net, options->acc_rows, &account);
	schedule_release(&schedule);
	return account_total_bytes(&account);
}

static int print_json(const char *name, const struct schedule *schedule, const struct net *net, const struct plan_options *options, struct wc_error *err)
{
	json_t *by_class = json_object(), *groups = json_array(), *all;
	const double training = (double)net_training_macs(net) * schedule->batch;
	const uint64_t baseline = baseline_bytes(net, options);
	struct account account;
	struct program program = {0};
	int result = program_expand(&program, schedule, net, err);

	if (!result) {
		account_schedule(schedule, net, options->acc_rows, &account);
		for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++)
			json_object_set_new(by_class, wc_class_name(class),
					    json_integer((json_int_t)(account.read_bytes[class] + account.write_bytes[class])));
		for (int i = 0; i < schedule->group_count; i++)
			json_array_append_new(groups, group_json(&program, i));
		all = json_pack("{s:s, s:s, s:i, s:I, s:s, s:I, s:o, s:O, s:I, s:f, s:I, s:I, s:O}", "net", net->name, "schedule", name, "batch",
				schedule->batch, "buffer_bytes", (json_int_t)schedule->buffer_bytes, "accounting", "device", "dram_bytes",
				(json_int_t)account_total_bytes(&account), "baseline_dram_bytes", baseline ? json_integer((json_int_t)baseline) : json_null(),
				"by_class", by_class, "macs", (json_int_t)account.macs, "extra_macs", 100 * (double)account.extra_macs / training,
				"peak_footprint_bytes", (json_int_t)program.live_bytes, "commands", (json_int_t)account.commands, "groups", groups);
		json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
		printf("\n");
		json_decref(all);
	}
	json_decref(by_class);
	json_decref(groups);
	program_release(&program);
	return result;
}

static int run(int argc, const char **argv)
{
	static int json;
	static char *schedule_name;
	static struct cli_device_words words;
	static const struct poptOption table[] = {
		{"schedule", 0, POPT_ARG_STRING, &schedule_name, 0, "planner, or a schedule's file (default mbs)", "NAME|FILE"},
		CLI_DEVICE_OPTIONS(words),
		{"json", 0, POPT_ARG_NONE, &json, 0, "print what it costs, as JSON, instead of the schedule's text", NULL},
		POPT_TABLEEND,
	};
	struct schedule schedule = {0};
	struct cli_problem problem;
	struct check_result check;
	struct net net = {0};
	struct wc_error err;
	const char *net_name;
	int status = cli_parse(&cli_plan, argc, argv, table, &net_name, 1, 1), result;

	if (status >= 0)
		return status;
	if ((result = cli_problem(&words, &problem, &err)) || (result = net_open(&net, net_name, 0, &err)))
		return cli_fail(&err, result);
	result = cli_schedule(schedule_name ? schedule_name : "mbs", &net, &problem.plan, &schedule, &err);
	if (!result)
		result = schedule_check(&schedule, &net, &check, &err);
	if (!result)
		result = json ? print_json(schedule_name ? schedule_name : "mbs", &schedule, &net, &problem.plan, &err)
			      : schedule_write(&schedule, &net, stdout, &err);
	status = result ? cli_fail(&err, result) : CLI_OK;
	schedule_release(&schedule);
	net_release(&net);
	return status;
}

const struct cli_command cli_plan = {"plan", "NET|FILE", "plan a schedule and print it", run};
