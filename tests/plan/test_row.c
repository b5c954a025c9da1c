// SPDX-License-Identifier: Apache-2.0
//
// Row-centric planners for `paper` accounting: the checker, which knows nothing of them, proves what they make and counts it.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/net/builtin.h"
#include "driver/plan/account_paper.h"
#include "driver/plan/check/check.h"
#include "driver/plan/paper/paper.h"
#include "tests/net_text.h"
#include "tests/plan/common.h"

static const char *const planners[] = { "overl", "2ps", "overl-h", "2ps-h" };

static struct plan_options row_options(int batch, uint32_t buffer_bytes, int strips)
{
	return (struct plan_options){ .batch = batch, .cores = 1, .buffer_bytes = buffer_bytes, .strips = strips, .accounting = SCHED_PAPER };
}

static void open_net(struct net *net, const char *name, int image)
{
	struct wc_error err;

	cr_assert_eq(net_open(net, name, image, &err), 0, "%s", err.text);
}

// Plan, prove, and compare the two counts of bytes, MACs and footprint.
static void prove(struct schedule *schedule, const char *planner, const struct net *net, const struct plan_options *options, struct account *account)
{
	struct check_result result;
	struct wc_error err = { "" };
	uint64_t footprint;

	common_plan(schedule, planner, net, options);
	cr_assert_eq(account_paper_schedule(schedule, net, account, &err), 0);
	cr_assert_eq(account_footprint(schedule, net, &footprint, &err), 0);
	if (schedule_check(schedule, net, &result, &err)) {
		char *text = common_write(schedule, net);

		cr_assert_fail("%s %s: %s\n%.20000s", net->name, planner, err.text, text);
	}
	for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++)
		cr_assert_eq(account->read_bytes[class] + account->write_bytes[class], result.read_bytes[class] + result.write_bytes[class], "%s %s: %s", net->name,
			     planner, wc_class_name(class));
	cr_assert_eq(footprint, result.footprint_bytes);
	cr_assert_eq(account->extra_macs, result.extra_macs);
	cr_assert_leq(result.peak_bytes, options->buffer_bytes);
}

Test(row, schedules_of_random_graphs_are_proven)
{
	struct random random = random_begin("row", 4711);
	int tiled = 0;

	for (int round = rounds(150, 3000); round; round--) {
		const struct plan_options options = row_options(1 + random_below(&random, 9), 4096u << random_below(&random, 4), random_below(&random, 3) ? 0 : 1 + random_below(&random, 6));
		struct net net;

		common_random_graph(&net, &random);
		for (int i = 0; paper_plan_name(i); i++) {
			struct schedule schedule;
			struct account account;

			prove(&schedule, paper_plan_name(i), &net, &options, &account);
			for (int g = 0; g < schedule.group_count; g++)
				tiled += schedule.groups[g].strip_count > 1;
			schedule_release(&schedule);
		}
		net_release(&net);
	}
	cr_assert_gt(tiled, 100);
}

Test(row, schedules_of_every_network_are_proven)
{
	for (size_t n = 0; net_builtin_at(n); n++) {
		struct net net;

		open_net(&net, net_builtin_at(n)->name, 0);
		for (size_t i = 0; i < sizeof(planners) / sizeof(*planners); i++)
			for (int small = 0; small < 2; small++) {
				const struct plan_options options = row_options(small ? 5 : 32, small ? 1 << 20 : 10 << 20, small ? 3 : 0);
				struct schedule schedule;
				struct account account;

				prove(&schedule, planners[i], &net, &options, &account);
				schedule_release(&schedule);
			}
		net_release(&net);
	}
}

static uint64_t bytes_of(const char *planner, const struct net *net, const struct plan_options *options)
{
	struct schedule schedule;
	struct account account;

	prove(&schedule, planner, net, options, &account);
	schedule_release(&schedule);
	return account_total_bytes(&account);
}

// The more may be cut, the fewer bytes; layer by layer is always left.
Test(row, hybrids_move_no_more_than_plain_forms_and_these_no_more_than_layers)
{
	static const char *const nets[] = { "vgg16", "alexnet", "resnet50", "inception-v3", "lenet" };

	for (size_t n = 0; n < sizeof(nets) / sizeof(*nets); n++)
		for (int mib = 1; mib <= 16; mib *= 4) {
			const struct plan_options options = row_options(32, (uint32_t)mib << 20, 0);
			struct net net;

			open_net(&net, nets[n], 0);
			for (int kind = 0; kind < 2; kind++) {
				const uint64_t plain = bytes_of(planners[kind], &net, &options), hybrid = bytes_of(planners[2 + kind], &net, &options);

				cr_assert_leq(hybrid, plain, "%s", nets[n]);
				cr_assert_leq(plain, bytes_of("baseline", &net, &options), "%s", nets[n]);
			}
			net_release(&net);
		}
}

// Where one sample does not fit, strips are what helps: less than half of what mini-batch serialization moves.
Test(row, vgg_moves_less_than_half_of_mbs)
{
	for (int image = 224; image <= 448; image += 224) {
		const struct plan_options options = row_options(32, 10 << 20, 0);
		struct net net;

		open_net(&net, "vgg16", image);
		for (int kind = 2; kind < 4; kind++)
			cr_assert_lt(2 * bytes_of(planners[kind], &net, &options), bytes_of("mbs2", &net, &options));
		net_release(&net);
	}
}

Test(row, strips_asked_for_are_made)
{
	const struct plan_options options = row_options(4, 10 << 20, 5);
	struct net net;

	open_net(&net, "vgg16", 0);
	for (size_t i = 0; i < sizeof(planners) / sizeof(*planners); i++) {
		struct schedule schedule;
		struct account account;

		prove(&schedule, planners[i], &net, &options, &account);
		cr_assert_eq(schedule.groups[0].strip_count, 5);
		cr_assert_eq(schedule.groups[0].tiling, i % 2 ? SCHED_TILING_2PS : SCHED_TILING_OVERL);
		schedule_release(&schedule);
	}
	net_release(&net);
}

static bool has_reason(const struct schedule *schedule, const char *words)
{
	for (int i = 0; i < schedule->group_count; i++)
		if (schedule->groups[i].reason && strstr(schedule->groups[i].reason, words))
			return true;
	return false;
}

Test(row, reasons_name_the_norm_in_the_way)
{
	const struct plan_options options = row_options(32, 10 << 20, 0);
	struct schedule schedule;
	struct net net;

	open_net(&net, "resnet50", 0);
	common_plan(&schedule, "overl-h", &net, &options);
	cr_assert(has_reason(&schedule, "gn 'conv1.gn' needs the statistics of whole samples: not split"));
	schedule_release(&schedule);
	net_release(&net);
}

// How many groups of a phase, backward those in several strips, begin with a normalization and make statistics or sums. Forward,
// what lies between two normalizations is often one convolution, and streams.
static int count_fused(const struct schedule *schedule, const struct net *net, enum sched_phase phase)
{
	int fused = 0;

	for (int g = 0; g < schedule->group_count; g++) {
		const struct sched_group *group = &schedule->groups[g];
		bool using = false, statistics = false;

		for (int i = 0; i < group->strip_count; i++)
			for (int k = 0; k < group->strips[i].statement_count; k++) {
				using |= group->strips[i].statements[k].saved_count;
				statistics |= group->strips[i].statements[k].op == SCHED_STATISTICS;
			}
		fused += group->phase == phase && (phase == SCHED_FORWARD || group->strip_count > 1) && net->nodes[group->first].op == NET_GN && using && statistics;
	}
	return fused;
}

// Where one sample does not fit, rows from one normalization to the next are what helps a network full of them; the hybrid takes it, too.
Test(row, what_lies_between_norms_is_fused)
{
	const struct plan_options options = row_options(32, 2 << 20, 0);
	struct net net;

	open_net(&net, "resnet50", 1024);
	for (int kind = 2; kind < 4; kind++) {
		struct schedule schedule;
		struct account account;

		prove(&schedule, planners[kind], &net, &options, &account);
		cr_assert_gt(count_fused(&schedule, &net, SCHED_FORWARD), 10);
		cr_assert_gt(count_fused(&schedule, &net, SCHED_BACKWARD), 10);
		cr_assert_eq(account.extra_macs, 0);
		cr_assert_lt(account_total_bytes(&account) * 10, bytes_of("mbs2", &net, &options) * 7);
		cr_assert_geq(account_total_bytes(&account), bytes_of("hybrid", &net, &options));
		schedule_release(&schedule);
	}
	net_release(&net);
}

// Forward alone stores nothing for backward.
Test(row, forward_alone_stores_segment_outputs_only)
{
	struct plan_options options = row_options(8, 10 << 20, 4);
	struct schedule schedule;
	struct account account;
	struct net net;

	options.phases = PLAN_FORWARD;
	open_net(&net, "vgg16", 0);
	prove(&schedule, "2ps", &net, &options, &account);
	for (int i = 0; i < schedule.group_count; i++)
		for (int k = 0; k < schedule.groups[i].strip_count; k++)
			for (int s = 0; s < schedule.groups[i].strips[k].statement_count; s++)
				cr_assert_neq(schedule.groups[i].strips[k].statements[s].op, SCHED_STORE);
	cr_assert_eq(schedule.groups[schedule.group_count - 1].phase, SCHED_FORWARD);
	schedule_release(&schedule);
	net_release(&net);
}

// A buffer that holds nothing streams as the baseline does.
Test(row, what_fits_in_no_way_streams)
{
	const struct plan_options options = row_options(2, 4096, 0);
	struct net net;

	open_net(&net, "vgg16", 1024);
	for (size_t i = 0; i < sizeof(planners) / sizeof(*planners); i++)
		cr_assert_leq(bytes_of(planners[i], &net, &options), bytes_of("baseline", &net, &options));
	net_release(&net);
}
