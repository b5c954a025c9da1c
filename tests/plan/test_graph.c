// SPDX-License-Identifier: Apache-2.0
//
// Any planner for any network on the device: what is unfolded is proven by the checker, which shares nothing with it; bytes of every class,
// commands, MACs and footprint are those of the checker, and of the program's steps.
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "driver/net/builtin.h"
#include "driver/plan/account.h"
#include "driver/plan/check/check.h"
#include "driver/plan/device/program.h"
#include "driver/plan/paper/paper.h"
#include "tests/net_text.h"
#include "tests/plan/common.h"

static enum wc_class class_of(const struct slab *slab, bool boundary)
{
	if (boundary)
		return WC_CLASS_BOUNDARY;
	switch (slab->kind) {
	case SLAB_ACT:
		return slab->node ? WC_CLASS_ACTIVATION : WC_CLASS_IO;
	case SLAB_GRAD:
		return WC_CLASS_GRADIENT;
	case SLAB_MASK:
		return WC_CLASS_MASK;
	case SLAB_WEIGHT:
	case SLAB_BIAS:
	case SLAB_PARAMETERS:
	case SLAB_GAMMA:
		return WC_CLASS_WEIGHT;
	case SLAB_WGRAD:
	case SLAB_BIAS_WGRAD:
	case SLAB_PARAMETERS_WGRAD:
		return WC_CLASS_WEIGHT_GRADIENT;
	default:
		return WC_CLASS_STATISTICS;
	}
}

// Bytes that the program's transfers move.
static void count_steps(const struct program *program, uint64_t bytes[WC_CLASS_COUNT][2])
{
	memset(bytes, 0, WC_CLASS_COUNT * sizeof(*bytes));
	for (int i = 0; i < program->step_count; i++) {
		const struct step *step = &program->steps[i];
		const bool write = step->op == STEP_STORE || step->op == STEP_KEEP, boundary = step->op == STEP_TAKE || step->op == STEP_KEEP;
		const struct slab *slab;

		if (step->op > STEP_KEEP)
			continue;
		slab = &program->slabs[step->source];
		bytes[class_of(slab, boundary)][write] +=
			slab->sample_count ? (uint64_t)step->sample_count * (uint64_t)(step->hi - step->lo) * slab->pitch_bytes : slab->bytes;
	}
}

static void prove(const char *planner, const struct net *net, const struct plan_options *options)
{
	uint64_t bytes[WC_CLASS_COUNT][2], footprint;
	struct schedule schedule;
	struct check_result result;
	struct program program;
	struct account account;
	struct wc_error err = { "" };

	cr_assert_eq(plan_by_name(&schedule, planner, net, options, &err), 0, "%s %s: %s", net->name, planner, err.text);
	cr_assert_eq(schedule_check(&schedule, net, &result, &err), 0, "%s %s: %s", net->name, planner, err.text);
	account_schedule(&schedule, net, options->acc_rows, &account);
	cr_assert_eq(account_footprint(&schedule, net, &footprint, &err), 0);
	cr_assert_eq(program_expand(&program, &schedule, net, &err), 0, "%s %s: %s", net->name, planner, err.text);
	count_steps(&program, bytes);
	for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++) {
		cr_assert_eq(account.read_bytes[class], result.read_bytes[class], "%s %s: %s read", net->name, planner, wc_class_name(class));
		cr_assert_eq(account.write_bytes[class], result.write_bytes[class], "%s %s: %s written", net->name, planner, wc_class_name(class));
		if (class == WC_CLASS_COMMAND)
			continue;
		cr_assert_eq(account.read_bytes[class], bytes[class][0], "%s %s: %s read by steps", net->name, planner, wc_class_name(class));
		cr_assert_eq(account.write_bytes[class], bytes[class][1], "%s %s: %s written by steps", net->name, planner, wc_class_name(class));
	}
	cr_assert_eq(account.commands, result.commands, "%s %s", net->name, planner);
	cr_assert_eq(account.macs, result.macs, "%s %s", net->name, planner);
	cr_assert_eq(account.extra_macs, result.extra_macs, "%s %s", net->name, planner);
	cr_assert_eq(footprint, result.footprint_bytes, "%s %s: footprint %lu, checker %lu", net->name, planner, footprint, result.footprint_bytes);
	cr_assert_leq(program.peak_bytes, options->buffer_bytes);
	program_release(&program);
	schedule_release(&schedule);
}

static void prove_all(const char *name, uint32_t buffer_bytes, int batch, int side, uint32_t bus)
{
	const struct plan_options options = { .batch = batch, .cores = 1, .rows = side, .cols = side, .acc_rows = 256, .buffer_bytes = buffer_bytes,
					      .bus_bytes = bus, .accounting = SCHED_DEVICE };
	struct wc_error err;
	struct net net;

	cr_assert_eq(net_open(&net, name, 0, &err), 0, "%s", err.text);
	for (int i = 0; paper_plan_name(i); i++)
		prove(paper_plan_name(i), &net, &options);
	net_release(&net);
}

Test(graph, lenet_is_proven_under_every_planner)
{
	prove_all("lenet", 64 << 10, 5, 16, 16);
	prove_all("lenet", 256 << 10, 8, 8, 64);
}

Test(graph, resnet8_is_proven_under_every_planner)
{
	prove_all("resnet8", 64 << 10, 3, 16, 16);
	prove_all("resnet8", 128 << 10, 8, 16, 16);
}

Test(graph, inception_small_is_proven_under_every_planner)
{
	prove_all("inception-small", 128 << 10, 4, 16, 16);
	prove_all("inception-small", 256 << 10, 7, 16, 32);
}

Test(graph, vgg_small_is_proven_under_every_planner)
{
	prove_all("vgg-small", 128 << 10, 4, 16, 16);
	prove_all("vgg-small", 256 << 10, 8, 32, 16);
}

// At full size, one sample.
Test(graph, large_networks_are_proven)
{
	static const char *const planners[] = { "baseline", "mbs2", "hybrid", "2ps-h" }, *const nets[] = { "resnet50", "vgg16" };
	const struct plan_options options = { .batch = 1, .cores = 1, .rows = 128, .cols = 128, .acc_rows = 256, .buffer_bytes = 10 << 20,
					      .bus_bytes = 128, .accounting = SCHED_DEVICE };

	for (size_t n = 0; n < sizeof(nets) / sizeof(*nets); n++) {
		struct wc_error err;
		struct net net;

		cr_assert_eq(net_open(&net, nets[n], 0, &err), 0, "%s", err.text);
		for (size_t i = 0; i < sizeof(planners) / sizeof(*planners); i++)
			prove(planners[i], &net, &options);
		net_release(&net);
	}
}
