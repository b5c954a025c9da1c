// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "driver/cli/plan.h"
#include "driver/plan/account_paper.h"
#include "driver/plan/device/program.h"
#include "driver/plan/paper/occupancy.h"

// Highest byte of the global buffer that a group places slabs at, and bytes of its resident weights and sums.
static void device_group(struct plan_costs *costs, const struct program *program, int group)
{
	const struct sched_group *of = &program->schedule->groups[group];
	uint64_t peak = 0, pinned = 0;

	for (int i = 0; i < program->step_count; i++) {
		const struct step *step = &program->steps[i];
		const int slabs[] = {step->source, step->operand, step->result, step->mask};

		if (step->group != group)
			continue;
		for (size_t s = 0; s < sizeof(slabs) / sizeof(*slabs); s++)
			if (slabs[s] >= 0) {
				const struct slab *slab = &program->slabs[slabs[s]];

				peak = peak > slab->offset + slab->bytes ? peak : slab->offset + slab->bytes;
			}
	}
	for (int node = of->first; node <= of->last; node++) {
		if (program->net->nodes[node].op != NET_CONV)
			continue;
		if (of->weight[node].resident)
			pinned += 2 * (uint64_t)net_conv_weights(&program->net->nodes[node]);
		if (of->wgrad[node].resident && of->phase == SCHED_BACKWARD)
			pinned += 4 * (uint64_t)net_conv_weights(&program->net->nodes[node]);
	}
	costs->group_buffer_bytes[group] = peak;
	costs->group_pinned_bytes[group] = pinned;
}

static int device_costs(struct plan_costs *costs, const struct schedule *schedule, const struct net *net, const struct plan_options *options,
			struct wc_error *err)
{
	const struct schedule core = schedule_of_core(schedule);
	struct program program = {0};
	int result = program_expand(&program, &core, net, err);

	if (result)
		return result;
	account_schedule(schedule, net, options->acc_rows, &costs->account);
	costs->high_water_bytes = program.live_bytes;
	costs->placed_bytes = program.peak_bytes;
	for (int i = 0; i < schedule->group_count; i++)
		device_group(costs, &program, i);
	program_release(&program);
	return 0;
}

static int paper_costs(struct plan_costs *costs, const struct schedule *schedule, const struct net *net, struct wc_error *err)
{
	const int batch = schedule_of_core(schedule).batch;
	struct paper_graph graph;
	int result = paper_graph_init(&graph, net, err);

	if (!result)
		result = account_paper_schedule(schedule, net, &costs->account, err);
	for (int i = 0; !result && i < schedule->group_count; i++) {
		const int sub_batch = schedule->groups[i].sub_batch;
		struct paper_occupancy occupancy;

		result = paper_occupancy(&graph, &schedule->groups[i], &occupancy, err);
		if (result)
			break;
		costs->group_pinned_bytes[i] = (uint64_t)occupancy.resident_bytes;
		costs->group_buffer_bytes[i] = (uint64_t)(occupancy.sample_bytes * (sub_batch < batch ? sub_batch : batch) +
							  occupancy.resident_bytes + schedule->reserve_bytes);
	}
	paper_graph_release(&graph);
	return result;
}

// A problem that has no layer-by-layer schedule has 0.
static uint64_t baseline_bytes(const struct net *net, const struct plan_options *options)
{
	struct schedule schedule;
	struct account account = {0};

	if (plan_by_name(&schedule, "baseline", net, options, NULL))
		return 0;
	if (options->accounting == SCHED_DEVICE)
		account_schedule(&schedule, net, options->acc_rows, &account);
	else if (account_paper_schedule(&schedule, net, &account, NULL))
		account = (struct account){0};
	schedule_release(&schedule);
	return account_total_bytes(&account);
}

int plan_costs(struct plan_costs *costs, const struct schedule *schedule, const struct net *net, const struct plan_options *options,
	       const struct check_result *check, struct wc_error *err)
{
	const size_t groups = (size_t)schedule->group_count;
	int result;

	*costs = (struct plan_costs){.baseline_bytes = baseline_bytes(net, options), .peak_buffer_bytes = check->peak_bytes};
	costs->group_buffer_bytes = calloc(groups, sizeof(uint64_t));
	costs->group_pinned_bytes = calloc(groups, sizeof(uint64_t));
	if (!costs->group_buffer_bytes || !costs->group_pinned_bytes)
		result = wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	else if (schedule->accounting == SCHED_DEVICE)
		result = device_costs(costs, schedule, net, options, err);
	else
		result = paper_costs(costs, schedule, net, err);
	if (!result)
		result = account_footprint(schedule, net, &costs->footprint_bytes, err);
	if (result)
		plan_costs_release(costs);
	return result;
}

void plan_costs_release(struct plan_costs *costs)
{
	free(costs->group_buffer_bytes);
	free(costs->group_pinned_bytes);
	*costs = (struct plan_costs){0};
}
