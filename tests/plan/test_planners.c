// SPDX-License-Identifier: Apache-2.0
//
// What each planner promises beyond a schedule that is right.
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "driver/plan/account.h"
#include "driver/plan/check/check.h"
#include "driver/plan/rows.h"
#include "tests/plan/common.h"
#include "tests/net_text.h"

static void open_fashion(struct net *net)
{
	struct wc_error err;

	cr_assert_eq(net_builtin(net, "fashion-conv", &err), 0);
}

static uint64_t total_bytes(const char *planner, const struct net *net, const struct plan_options *options)
{
	struct schedule schedule;
	struct account account;

	common_plan(&schedule, planner, net, options);
	account_schedule(&schedule, net, options->acc_rows, &account);
	schedule_release(&schedule);
	return account_total_bytes(&account);
}

Test(planners, names_and_the_unknown_one)
{
	struct plan_options options = common_options(1, 65536);
	struct wc_error err = { "" };
	struct schedule schedule;
	struct net net;

	open_fashion(&net);
	cr_assert_str_eq(plan_name(0), "baseline");
	cr_assert_str_eq(plan_name(3), "2ps");
	cr_assert_null(plan_name(4));
	cr_assert_null(plan_name(-1));
	cr_assert_eq(plan_by_name(&schedule, "best", &net, &options, &err), WC_ERR_INPUT);
	cr_assert_str_eq(err.text, "no planner 'best' for device accounting; there are: baseline, il, mbs-fs, mbs1, mbs2, mbs, overl, 2ps, overl-h, 2ps-h, hybrid");
	schedule_release(&schedule);
	net_release(&net);
}

Test(planners, options_outside_their_limits_are_refused)
{
	static const struct { struct plan_options options; const char *words; } faults[] = {
		{ { .batch = 0, .cores = 1, .rows = 16, .cols = 16, .acc_rows = 256, .buffer_bytes = 65536, .bus_bytes = 16, .strips = 0 }, "batch is 0" },
		{ { .batch = 65536, .cores = 1, .rows = 16, .cols = 16, .acc_rows = 256, .buffer_bytes = 65536, .bus_bytes = 16, .strips = 0 }, "batch is 65536" },
		{ { .batch = 1, .cores = 2, .rows = 16, .cols = 16, .acc_rows = 256, .buffer_bytes = 65536, .bus_bytes = 16, .strips = 0 }, "the batch of 1 is not a multiple of the 2 cores" },
		{ { .batch = 1, .cores = 0, .rows = 16, .cols = 16, .acc_rows = 256, .buffer_bytes = 65536, .bus_bytes = 16, .strips = 0 }, "cores is 0" },
		{ { .batch = 1, .cores = 1, .rows = 24, .cols = 16, .acc_rows = 256, .buffer_bytes = 65536, .bus_bytes = 16, .strips = 0 }, "array is 24x16" },
		{ { .batch = 1, .cores = 1, .rows = 16, .cols = 256, .acc_rows = 256, .buffer_bytes = 65536, .bus_bytes = 16, .strips = 0 }, "array is 16x256" },
		{ { .batch = 1, .cores = 1, .rows = 16, .cols = 16, .acc_rows = 0, .buffer_bytes = 65536, .bus_bytes = 16, .strips = 0 }, "accumulator rows is 0" },
		{ { .batch = 1, .cores = 1, .rows = 16, .cols = 16, .acc_rows = 256, .buffer_bytes = 65537, .bus_bytes = 16, .strips = 0 }, "buffer is 65537" },
		{ { .batch = 1, .cores = 1, .rows = 16, .cols = 16, .acc_rows = 256, .buffer_bytes = 0, .bus_bytes = 16, .strips = 0 }, "buffer is 0" },
		{ { .batch = 1, .cores = 1, .rows = 16, .cols = 16, .acc_rows = 256, .buffer_bytes = 65536, .bus_bytes = 48, .strips = 0 }, "bus is 48" },
		{ { .batch = 1, .cores = 1, .rows = 16, .cols = 16, .acc_rows = 256, .buffer_bytes = 65536, .bus_bytes = 16, .strips = -1 }, "strips is -1" },
	};
	struct net net;

	open_fashion(&net);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		for (int p = 0; plan_name(p); p++) {
			struct wc_error err = { "" };
			struct schedule schedule;

			cr_assert_eq(plan_by_name(&schedule, plan_name(p), &net, &faults[i].options, &err), WC_ERR_INPUT);
			cr_assert(strstr(err.text, faults[i].words), "'%s' lacks '%s'", err.text, faults[i].words);
			cr_assert_null(schedule.net_name);
		}
	}
	net_release(&net);
}

// conv5's data gradient takes all its 18,000 bytes of weights at once.
Test(planners, a_layer_that_fits_in_no_way_is_named_with_its_bytes)
{
	struct plan_options options = common_options(4, 16384);
	struct net net;

	open_fashion(&net);
	for (int p = 0; plan_name(p); p++) {
		struct wc_error err = { "" };
		struct schedule schedule;

		cr_assert_eq(plan_by_name(&schedule, plan_name(p), &net, &options, &err), WC_ERR_INPUT);
		cr_assert(strstr(err.text, "cannot fit layer 'conv5'") && strstr(err.text, "buffer has 16384"), "%s: %s", plan_name(p), err.text);
	}
	net_release(&net);
}

// The search goes over hundreds of sub-batches and up to 16384 strips; those that cannot fit cost it nothing.
Test(planners, what_cannot_fit_is_told_soon_at_any_size, .timeout = 60)
{
	static const char text[] = "name: wide\ninput: {height: 16384, width: 16384, channels: 1}\nnodes:\n"
				   "  - {name: c1, op: conv, channels: 1, kernel: 3, pad: 1}\n";
	struct plan_options options = common_options(65535, 65536);
	struct net net;

	tests_net(&net, text);
	for (int p = 0; plan_name(p); p++) {
		struct wc_error err = { "" };
		struct schedule schedule;

		cr_assert_eq(plan_by_name(&schedule, plan_name(p), &net, &options, &err), WC_ERR_INPUT);
		cr_assert(strstr(err.text, "cannot fit layer 'c1'") && strstr(err.text, "buffer has 65536"), "%s: %s", plan_name(p), err.text);
	}
	net_release(&net);
}

// The least that a 3x3 convolution needs: three input rows, one output row, two slices of one filter.
Test(planners, one_row_strip_is_enough)
{
	struct net net;

	tests_net(&net, "name: n\ninput: {height: 9, width: 64, channels: 32}\nnodes:\n"
			 "  - {name: c1, op: conv, channels: 32, kernel: 3, pad: 1}\n");
	for (int p = 0; plan_name(p); p++) {
		struct plan_options options = common_options(3, 20480);
		struct wc_error err = { "" };
		struct schedule schedule;

		options.phases = PLAN_FORWARD;
		common_plan(&schedule, plan_name(p), &net, &options);
		cr_assert_eq(schedule.groups[0].sub_batch, 1);
		cr_assert_eq(schedule.groups[0].strip_count, 9);
		cr_assert(schedule.groups[0].weight[1].slice > 0 && schedule.groups[0].weight[1].slice < options.cols);
		schedule_release(&schedule);
		options.buffer_bytes = 16384;
		cr_assert_eq(plan_by_name(&schedule, plan_name(p), &net, &options, &err), WC_ERR_INPUT);
		cr_assert(strstr(err.text, "cannot fit layer 'c1' in a forward group c1..c1: needs 17536 bytes, buffer has 16384"), "%s", err.text);
	}
	net_release(&net);
}

Test(planners, mbs_moves_less_than_baseline_and_stores_masks)
{
	struct plan_options options = common_options(32, 65536);
	struct schedule schedule;
	struct account account;
	struct net net;

	open_fashion(&net);
	cr_assert_lt(total_bytes("mbs", &net, &options) * 2, total_bytes("baseline", &net, &options));
	common_plan(&schedule, "mbs", &net, &options);
	account_schedule(&schedule, &net, options.acc_rows, &account);
	cr_assert_gt(account.write_bytes[WC_CLASS_MASK], 0);
	cr_assert_eq(account.write_bytes[WC_CLASS_MASK], account.read_bytes[WC_CLASS_MASK]);
	cr_assert_eq(account.extra_macs, 0);
	cr_assert_eq(account.macs, 32 * (uint64_t)net_training_macs(&net));
	for (int i = 0; i < schedule.group_count; i++) {
		cr_assert_not_null(schedule.groups[i].reason);
		cr_assert(strstr(schedule.groups[i].reason, "of 65536 bytes"), "%s", schedule.groups[i].reason);
	}
	schedule_release(&schedule);
	net_release(&net);
}

Test(planners, baseline_computes_each_layer_once_and_apart)
{
	struct plan_options options = common_options(32, 65536);
	struct schedule schedule;
	struct account account;
	struct net net;

	open_fashion(&net);
	common_plan(&schedule, "baseline", &net, &options);
	account_schedule(&schedule, &net, options.acc_rows, &account);
	cr_assert_eq(schedule.group_count, 2 * (net.node_count - 1));
	for (int i = 0; i < schedule.group_count; i++)
		cr_assert_eq(schedule.groups[i].first, schedule.groups[i].last);
	cr_assert_eq(account.extra_macs, 0);
	cr_assert_eq(account.write_bytes[WC_CLASS_MASK], 0);
	schedule_release(&schedule);
	net_release(&net);
}

Test(planners, row_centric_schedules_are_cut_into_strips)
{
	struct net net;

	open_fashion(&net);
	for (int p = 2; plan_name(p); p++) {
		for (int strips = 0; strips <= 4; strips++) {
			struct plan_options options = common_options(8, 131072);
			struct schedule schedule;
			int most = 0;

			options.strips = strips;
			common_plan(&schedule, plan_name(p), &net, &options);
			for (int i = 0; i < schedule.group_count; i++) {
				const struct sched_group *group = &schedule.groups[i];

				most = group->strip_count > most ? group->strip_count : most;
				cr_assert(strips ? group->strip_count == strips : group->strip_count >= 2, "%s, %d strips asked: group %d has %d",
					  plan_name(p), strips, i, group->strip_count);
				if (group->strip_count > 1)
					cr_assert_eq(group->tiling, p == 2 ? SCHED_TILING_OVERL : SCHED_TILING_2PS);
			}
			cr_assert_geq(most, strips ? strips : 2);
			schedule_release(&schedule);
		}
	}
	net_release(&net);
}

// The row at which a strip's own rows of an activation begin; -1 if the strip does not compute it.
static int computed_from(const struct sched_strip *strip, int node)
{
	for (int i = 0; i < strip->statement_count; i++) {
		const struct sched_statement *statement = &strip->statements[i];

		if (statement->op == SCHED_COMPUTE && statement->tensor == SCHED_ACT && statement->node == node)
			return statement->lo;
	}
	return -1;
}

// b_out = floor((b_in + pad - dilation (kernel - 1) - 1) / stride) + 1 between any two layers of a 2PS group.
static int check_boundaries(const struct sched_group *group, const struct net *net)
{
	int checked = 0;

	for (int i = 1; group->tiling == SCHED_TILING_2PS && i < group->strip_count; i++) {
		for (int node = group->first + 1; node <= group->last; node++) {
			int in = computed_from(&group->strips[i], node - 1), out = computed_from(&group->strips[i], node);
			const struct net_conv *conv = &net->nodes[node].conv;

			if (net->nodes[node].op == NET_RELU) {
				cr_assert_eq(in, out);
				continue;
			}
			cr_assert_eq(out, (in + conv->pad_h - conv->dilation_h * (conv->kernel_h - 1) - 1) / conv->stride_h + 1);
			checked++;
		}
	}
	return checked;
}

// In both phases of 2PS every row of every layer is worked on once; only backward's recomputation is extra.
static void check_once(const struct sched_group *group, const struct net *net)
{
	for (int node = group->first; node <= group->last; node++) {
		int act = 0, grad = 0, accumulated = 0, height = net->nodes[node].out.height;

		for (int i = 0; i < group->strip_count; i++) {
			for (int j = 0; j < group->strips[i].statement_count; j++) {
				const struct sched_statement *statement = &group->strips[i].statements[j];
				int rows = statement->hi - statement->lo;

				if (statement->op == SCHED_ACCUMULATE && statement->node == node)
					accumulated += rows;
				else if (statement->op == SCHED_COMPUTE && statement->node == node)
					*(statement->tensor == SCHED_ACT ? &act : &grad) += rows;
			}
		}
		if (group->phase == SCHED_FORWARD)
			cr_assert_eq(act, height);
		else
			cr_assert(act == 0 || act == height, "%d of %d rows", act, height);
		if (group->phase == SCHED_BACKWARD && net->nodes[node].op == NET_CONV)
			cr_assert_eq(accumulated, height);
		if (group->phase == SCHED_BACKWARD && node < group->last)
			cr_assert_eq(grad, height);
	}
}

Test(planners, two_phase_strips_join_and_compute_nothing_twice)
{
	struct random random = random_begin("2ps", 42);
	int boundaries = 0, groups = 0;

	for (int i = 0; i < rounds(300, 3000); i++) {
		struct plan_options options = common_options(1 + random_below(&random, 5), 65536);
		struct wc_error err = { "" };
		struct schedule schedule;
		struct account account;
		struct net net;

		options.strips = random_below(&random, 4);
		common_random_net(&net, &random);
		if (plan_2ps(&schedule, &net, &options, &err) == 0) {
			for (int g = 0; g < schedule.group_count; g++) {
				if (schedule.groups[g].tiling != SCHED_TILING_2PS)
					continue;
				boundaries += schedule.groups[g].phase == SCHED_FORWARD ? check_boundaries(&schedule.groups[g], &net) : 0;
				check_once(&schedule.groups[g], &net);
				groups++;
			}
			schedule_release(&schedule);
		}
		options.phases = PLAN_FORWARD;
		options.buffer_bytes = 1 << 20;
		cr_assert_eq(plan_2ps(&schedule, &net, &options, &err), 0, "%s", err.text);
		account_schedule(&schedule, &net, options.acc_rows, &account);
		cr_assert_eq(account.extra_macs, 0);
		schedule_release(&schedule);
		net_release(&net);
	}
	cr_assert_gt(groups, 100);
	cr_assert_gt(boundaries, 50);
}

Test(planners, overl_counts_its_halo_as_extra_work)
{
	struct plan_options options = common_options(2, 1 << 20);
	struct schedule schedule;
	struct account account;
	struct net net;

	tests_net(&net, "name: n\ninput: {height: 16, width: 8, channels: 4}\nnodes:\n"
			 "  - {name: c1, op: conv, channels: 4, kernel: 3, pad: 1}\n  - {name: c2, op: conv, channels: 4, kernel: 3, pad: 1}\n");
	options.phases = PLAN_FORWARD;
	options.strips = 4;
	common_plan(&schedule, "overl", &net, &options);
	account_schedule(&schedule, &net, options.acc_rows, &account);
	// One segment, three joints, two rows of c1 at each, two samples.
	cr_assert_eq(schedule.group_count, 1);
	cr_assert_eq(account.extra_macs, 2ull * 3 * 2 * (uint64_t)net_conv_macs(&net.nodes[1]) / 16);
	schedule_release(&schedule);
	net_release(&net);
}

Test(planners, corner_shapes)
{
	static const char *const nets[] = {
		"name: dot\ninput: {height: 1, width: 1, channels: 1}\nnodes:\n  - {name: c1, op: conv, channels: 1, kernel: 1}\n",
		"name: dots\ninput: {height: 1, width: 1, channels: 3}\nnodes:\n  - {name: c1, op: conv, channels: 5, kernel: 3, pad: 1}\n"
		"  - {name: r1, op: relu}\n  - {name: c2, op: conv, channels: 2, kernel: 1}\n",
		"name: leap\ninput: {height: 17, width: 9, channels: 2}\nnodes:\n  - {name: c1, op: conv, channels: 3, kernel: 1, stride: 4}\n"
		"  - {name: r1, op: relu}\n  - {name: c2, op: conv, channels: 3, kernel: 2, stride: 3}\n",
		"name: whole\ninput: {height: 11, width: 11, channels: 2}\nnodes:\n  - {name: c1, op: conv, channels: 3, kernel: 11}\n  - {name: r1, op: relu}\n",
		"name: pads\ninput: {height: 5, width: 3, channels: 2}\nnodes:\n  - {name: c1, op: conv, channels: 3, kernel: [11, 2], pad: [10, 1]}\n"
		"  - {name: r1, op: relu}\n  - {name: r2, op: relu}\n  - {name: c2, op: conv, channels: 3, kernel: 3, dilation: [4, 1], pad: [5, 1], stride: [4, 1]}\n",
	};

	for (size_t i = 0; i < sizeof(nets) / sizeof(nets[0]); i++) {
		for (int p = 0; plan_name(p); p++) {
			for (int batch = 1; batch <= 3; batch += 2) {
				struct plan_options options = common_options(batch, 16384);
				struct check_result result;
				struct wc_error err = { "" };
				struct schedule schedule;
				struct net net;

				tests_net(&net, nets[i]);
				common_plan(&schedule, plan_name(p), &net, &options);
				cr_assert_eq(schedule_check(&schedule, &net, &result, &err), 0, "%s, %s: %s", net.name, plan_name(p), err.text);
				schedule_release(&schedule);
				net_release(&net);
			}
		}
	}
}

Test(planners, same_input_same_schedule)
{
	struct plan_options options = common_options(5, 40960);
	struct net net;

	open_fashion(&net);
	for (int p = 0; plan_name(p); p++) {
		struct schedule one, two;
		char *first, *second;

		common_plan(&one, plan_name(p), &net, &options);
		common_plan(&two, plan_name(p), &net, &options);
		first = common_write(&one, &net);
		second = common_write(&two, &net);
		cr_assert_str_eq(first, second);
		free(first);
		free(second);
		schedule_release(&one);
		schedule_release(&two);
	}
	net_release(&net);
}
