// SPDX-License-Identifier: Apache-2.0
//
// Planners for `paper` accounting. The totals below come from another program, which adds up formulas per layer and knows
// no statements; here the statements are counted.
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "driver/net/builtin.h"
#include "driver/plan/account_paper.h"
#include "driver/plan/paper/occupancy.h"
#include "driver/plan/paper/paper.h"
#include "tests/net_text.h"
#include "tests/plan/common.h"

enum { MIB = 1 << 20 };

static struct plan_options paper_options(int batch, uint32_t buffer_bytes)
{
	return (struct plan_options){ .batch = batch, .cores = 1, .buffer_bytes = buffer_bytes, .accounting = SCHED_PAPER };
}

static uint64_t bytes_of(const struct net *net, const char *name, const struct plan_options *options)
{
	struct schedule schedule;
	struct account account;
	struct wc_error err;

	cr_assert_eq(plan_by_name(&schedule, name, net, options, &err), 0, "%s", err.text);
	cr_assert_eq(account_paper_schedule(&schedule, net, &account, &err), 0);
	schedule_release(&schedule);
	return account_total_bytes(&account);
}

static void open_net(struct net *net, const char *name, int image)
{
	struct wc_error err;

	cr_assert_eq(net_open(net, name, image, &err), 0, "%s", err.text);
}

Test(paper, totals_at_10_mib_equal_the_formulas)
{
	static const struct {
		const char *net;
		int batch;
		uint64_t baseline, il, mbs_fs, mbs1, mbs2;
	} known[] = {
		{ "alexnet", 64, 1089042672, 1036958960, 2426329584, 533407984, 533407984 },
		{ "vgg16", 32, 10309731056, 10257647856, 39079421872, 5402486512, 5402486512 },
		{ "resnet50", 32, 14606464368, 13843131248, 6430333168, 4907880368, 3515509296 },
		{ "resnet101", 32, 21817310576, 20276048752, 10069893360, 7331944368, 5284475440 },
		{ "resnet152", 32, 30677923184, 28355521392, 13893540080, 10181283760, 7333538352 },
		{ "inception-v3", 32, 13460891504, 10169720560, 7521652720, 4968908080, 3515380400 },
		{ "inception-v4", 32, 24259768560, 18336185584, 15011835504, 10857173936, 7067729136 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct plan_options options = paper_options(known[i].batch, 10 * MIB);
		struct net net;

		open_net(&net, known[i].net, 0);
		cr_expect_eq(bytes_of(&net, "baseline", &options), known[i].baseline, "%s", known[i].net);
		cr_expect_eq(bytes_of(&net, "il", &options), known[i].il, "%s", known[i].net);
		cr_expect_eq(bytes_of(&net, "mbs-fs", &options), known[i].mbs_fs, "%s", known[i].net);
		cr_expect_eq(bytes_of(&net, "mbs1", &options), known[i].mbs1, "%s", known[i].net);
		cr_expect_eq(bytes_of(&net, "mbs2", &options), known[i].mbs2, "%s", known[i].net);
		net_release(&net);
	}
}

// The MBS paper's headline: three quarters of the traffic gone.
Test(paper, mbs2_saves_three_quarters_in_the_mean_of_the_deep_networks)
{
	static const char *const nets[] = { "resnet50", "resnet101", "resnet152", "inception-v3", "inception-v4" };
	const struct plan_options options = paper_options(32, 10 * MIB);
	double sum = 0;

	for (size_t i = 0; i < 5; i++) {
		struct net net;

		open_net(&net, nets[i], 0);
		sum += (double)bytes_of(&net, "mbs2", &options) / (double)bytes_of(&net, "baseline", &options);
		net_release(&net);
	}
	cr_assert_leq(sum / 5, 0.26, "%f", sum / 5);
}

// Every group's slabs fit, at every buffer and many sizes; text round-trips; MACs are those of one training step.
Test(paper, groups_fit_and_compute_everything_once)
{
	static const int sizes[] = { 1, 3, 10, 40 };

	for (size_t i = 0; net_builtin_at(i); i++)
		for (int planner = 0; paper_plan_name(planner); planner++)
			for (size_t size = 0; size < 4; size++) {
				const struct plan_options options = paper_options(size == 1 ? 7 : 32, (uint32_t)sizes[size] * MIB);
				struct schedule schedule;
				struct paper_graph graph;
				struct account account;
				struct wc_error err;
				struct net net;

				open_net(&net, net_builtin_at(i)->name, 0);
				cr_assert_eq(paper_plan(&schedule, paper_plan_name(planner), &net, &options, &err), 0, "%s", err.text);
				cr_assert_eq(paper_graph_init(&graph, &net, &err), 0);
				for (int g = 0; g < schedule.group_count; g++) {
					struct paper_occupancy occupancy;

					cr_assert_eq(paper_occupancy(&graph, &schedule.groups[g], &occupancy, &err), 0);
					cr_assert_leq((uint64_t)(occupancy.sample_bytes * schedule.groups[g].sub_batch + occupancy.resident_bytes) +
							      schedule.reserve_bytes,
						      options.buffer_bytes, "%s %s %d MiB group %d", net.name, schedule.planner, sizes[size], g);
				}
				cr_assert_eq(account_paper_schedule(&schedule, &net, &account, &err), 0);
				if (strncmp(schedule.planner, "hybrid", 6) && !strstr(schedule.planner, "overl") && !strstr(schedule.planner, "2ps")) {
					cr_assert_eq(account.macs, (uint64_t)net_training_macs(&net) * (uint64_t)options.batch, "%s %s", net.name, schedule.planner);
					cr_assert_eq(account.extra_macs, 0);
				}
				paper_graph_release(&graph);
				schedule_release(&schedule);
				net_release(&net);
			}
}

Test(paper, text_round_trips_and_counts_the_same)
{
	static const char *const nets[] = { "resnet50", "inception-v4", "vgg16", "inception-small" };

	for (size_t i = 0; i < 4; i++)
		for (int planner = 0; paper_plan_name(planner); planner++) {
			const struct plan_options options = paper_options(5, 4 * MIB);
			struct schedule schedule, again;
			struct account first, second;
			struct wc_error err;
			struct net net;
			char *text, *twice;

			open_net(&net, nets[i], 0);
			cr_assert_eq(paper_plan(&schedule, paper_plan_name(planner), &net, &options, &err), 0, "%s", err.text);
			text = common_write(&schedule, &net);
			cr_assert_eq(common_read(&again, &net, text, strlen(text), &err), 0, "%s", err.text);
			twice = common_write(&again, &net);
			cr_assert_str_eq(text, twice);
			cr_assert_eq(account_paper_schedule(&schedule, &net, &first, &err), 0);
			cr_assert_eq(account_paper_schedule(&again, &net, &second, &err), 0);
			cr_assert_arr_eq(&first, &second, sizeof(first));
			free(text);
			free(twice);
			schedule_release(&schedule);
			schedule_release(&again);
			net_release(&net);
		}
}

// A larger buffer never moves more.
Test(paper, traffic_falls_with_the_buffer)
{
	static const char *const planners[] = { "il", "mbs1", "mbs2" };

	for (size_t planner = 0; planner < 3; planner++) {
		uint64_t before = UINT64_MAX;
		struct net net;

		open_net(&net, "resnet50", 0);
		for (int mib = 5; mib <= 40; mib += 5) {
			const struct plan_options options = paper_options(32, (uint32_t)mib * MIB);
			const uint64_t bytes = bytes_of(&net, planners[planner], &options);

			// Greedy merging is not monotonic to the byte.
			cr_expect_leq(bytes, before + before / 100, "%s at %d MiB", planners[planner], mib);
			before = bytes;
		}
		net_release(&net);
	}
}

Test(paper, an_operator_that_reads_a_tensor_twice_is_refused)
{
	const struct plan_options options = paper_options(4, MIB);

	for (int i = 0; paper_plan_name(i); i++) {
		struct wc_error err = { "" };
		struct schedule schedule;
		struct net net;

		tests_net(&net, "name: twice\ninput: {height: 4, width: 4, channels: 1}\nnodes:\n  - {name: a, op: conv, channels: 2, kernel: 1}\n"
				"  - {name: s, op: add, inputs: [a, a]}\n");
		cr_expect_eq(plan_by_name(&schedule, paper_plan_name(i), &net, &options, &err), WC_ERR_INPUT);
		cr_expect(strstr(err.text, "node 's' reads 'a' twice"), "%s", err.text);
		net_release(&net);
	}
}
