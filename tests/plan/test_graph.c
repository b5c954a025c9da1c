// SPDX-License-Identifier: Apache-2.0
//
// Any planner for any network on the device: what is unfolded is proven by the checker, which shares nothing with it; bytes of every class,
// commands, MACs and footprint are those of the checker, and of the program's steps.
#include <criterion/criterion.h>

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "driver/net/builtin.h"
#include "driver/plan/account.h"
#include "driver/plan/check/check.h"
#include "driver/plan/device/fit.h"
#include "driver/plan/device/program.h"
#include "driver/plan/paper/paper.h"
#include "tests/net_text.h"
#include "tests/plan/common.h"
#include "tests/plan/sound.h"
#include "tests/plan_own.h"

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
	case SLAB_UPDATE_WEIGHT:
		return WC_CLASS_WEIGHT;
	case SLAB_WGRAD:
	case SLAB_BIAS_WGRAD:
	case SLAB_PARAMETERS_WGRAD:
	case SLAB_UPDATE_GRADIENT:
		return WC_CLASS_WEIGHT_GRADIENT;
	case SLAB_UPDATE_STATE:
		return WC_CLASS_OPTIMIZER;
	case SLAB_LABELS:
	case SLAB_LOSSES:
		return WC_CLASS_IO;
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

// What may be said of a network that is not planned for.
static bool is_reason(const char *text)
{
	static const char *const reasons[] = { "cannot fit", "which the device has not", "operands apart", "twice" };

	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (strstr(text, reasons[i]))
			return true;
	return false;
}

// Most live bytes of a statement, of all groups.
static uint64_t most_live(const char *what, const struct schedule *schedule, const struct net *net)
{
	uint64_t most = 0;

	for (int i = 0; i < schedule->group_count; i++) {
		struct wc_error err = { "" };
		struct fit fit;

		cr_assert_eq(fit_group(schedule, &schedule->groups[i], net, &fit, &err), 0, "%s, group %d: %s", what, i, err.text);
		most = fit.live_bytes > most ? fit.live_bytes : most;
	}
	return most;
}

// Commands of the steps that belong to no group, those of the loss and the update.
static uint64_t commands_beside(const struct program *program)
{
	uint64_t commands = 0;

	for (int i = 0; i < program->step_count; i++)
		if (program->steps[i].group == program->schedule->group_count)
			commands += program->steps[i].op == STEP_LOSS ? 3 : 1;
	return commands;
}

// `peak_bytes`: those of the groups; the loss and the update may need more.
static void compare(const char *what, const struct schedule *schedule, const struct net *net, const struct plan_options *options, struct program_whole whole,
		    uint64_t peak_bytes)
{
	const struct check_options check = { whole.loss, whole.update };
	uint64_t bytes[WC_CLASS_COUNT][2], footprint;
	struct account account, groups;
	struct check_result result;
	struct program program;
	struct wc_error err = { "" };

	if (schedule_check_with(schedule, net, &check, &result, &err)) {
		char *text = common_write(schedule, net);

		cr_assert_fail("%s: %s\n%.20000s", what, err.text, text);
	}
	account_schedule(schedule, net, options->acc_rows, &groups);
	account_schedule_whole(schedule, net, options->acc_rows, whole, &account);
	cr_assert_eq(account_footprint_whole(schedule, net, whole, &footprint, &err), 0);
	cr_assert_eq(program_expand_whole(&program, schedule, net, whole, &err), 0, "%s: %s", what, err.text);
	sound_program(what, &program);
	count_steps(&program, bytes);
	cr_assert_eq(account.commands - groups.commands, commands_beside(&program), "%s: commands of the loss and the update", what);
	for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++) {
		cr_assert_eq(account.read_bytes[class], result.read_bytes[class], "%s: %s read", what, wc_class_name(class));
		cr_assert_eq(account.write_bytes[class], result.write_bytes[class], "%s: %s written", what, wc_class_name(class));
		if (class == WC_CLASS_COMMAND)
			continue;
		cr_assert_eq(account.read_bytes[class], bytes[class][0], "%s: %s read by steps", what, wc_class_name(class));
		cr_assert_eq(account.write_bytes[class], bytes[class][1], "%s: %s written by steps", what, wc_class_name(class));
	}
	cr_assert_eq(account.commands, result.commands, "%s", what);
	cr_assert_eq(account.macs, result.macs, "%s", what);
	cr_assert_eq(account.extra_macs, result.extra_macs, "%s", what);
	cr_assert_eq(footprint, result.footprint_bytes, "%s: footprint %lu, checker %lu", what, footprint, result.footprint_bytes);
	cr_assert_leq(program.peak_bytes, options->buffer_bytes);
	cr_assert(result.peak_bytes == peak_bytes || (result.peak.group < 0 && result.peak_bytes > peak_bytes), "%s: %lu live bytes, checker %lu", what, peak_bytes,
		  result.peak_bytes);
	program_release(&program);
}

static const struct program_whole neither = { .loss = false, .update = false }, both = { .loss = true, .update = true };

// False if the planner gives a reason why there is no schedule. `whole`: it is proven with the loss and the update, too.
static bool prove_with(const char *planner, const struct net *net, const struct plan_options *options, struct program_whole whole)
{
	struct schedule schedule;
	struct wc_error err = { "" };
	uint64_t peak_bytes;
	char what[200];

	snprintf(what, sizeof(what), "%s, %s, buffer %u, batch %d, array %d, bus %u", net->name, planner, options->buffer_bytes, options->batch, options->rows,
		 options->bus_bytes);
	if (plan_own(&schedule, planner, net, options, &err)) {
		cr_assert(is_reason(err.text), "%s: %s", what, err.text);
		return false;
	}
	peak_bytes = most_live(what, &schedule, net);
	compare(what, &schedule, net, options, neither, peak_bytes);
	if (whole.loss || whole.update)
		compare(what, &schedule, net, options, whole, peak_bytes);
	schedule_release(&schedule);
	return true;
}

static bool prove(const char *planner, const struct net *net, const struct plan_options *options)
{
	return prove_with(planner, net, options, neither);
}

static void prove_all(const char *name, uint32_t buffer_bytes, int batch, int side, uint32_t bus)
{
	const struct plan_options options = { .batch = batch, .cores = 1, .rows = side, .cols = side, .acc_rows = 256, .buffer_bytes = buffer_bytes,
					      .bus_bytes = bus, .accounting = SCHED_DEVICE };
	struct wc_error err;
	struct net net;

	cr_assert_eq(net_open(&net, name, 0, &err), 0, "%s", err.text);
	for (int i = 0; paper_plan_name(i); i++)
		cr_assert(prove_with(paper_plan_name(i), &net, &options, both), "%s", paper_plan_name(i));
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
	static const char *const planners[] = { "baseline", "mbs2", "hybrid", "2ps-h" }, *const nets[] = { "resnet50", "vgg16", "mobilenet-v1" };
	const struct plan_options options = { .batch = 1, .cores = 1, .rows = 128, .cols = 128, .acc_rows = 256, .buffer_bytes = 10 << 20,
					      .bus_bytes = 128, .accounting = SCHED_DEVICE };

	for (size_t n = 0; n < sizeof(nets) / sizeof(*nets); n++) {
		struct wc_error err;
		struct net net;

		cr_assert_eq(net_open(&net, nets[n], 0, &err), 0, "%s", err.text);
		for (size_t i = 0; i < sizeof(planners) / sizeof(*planners); i++)
			cr_assert(prove(planners[i], &net, &options), "%s", planners[i]);
		net_release(&net);
	}
}

static int count_proven(const struct net *net, const struct plan_options *options)
{
	int proven = 0;

	for (int i = 0; paper_plan_name(i); i++)
		proven += prove(paper_plan_name(i), net, options);
	return proven;
}

// Odd networks (tests/plan/nets), also the large ones among them with little room.
Test(graph, odd_networks_are_proven_or_refused_with_a_reason)
{
	static const struct {
		int batch, side;
		uint32_t buffer_bytes, bus;
		enum plan_phases phases;
	} problems[] = { { 3, 16, 8192, 16, PLAN_ALL }, { 7, 8, 65536, 32, PLAN_ALL }, { 4, 16, 262144, 16, PLAN_ALL }, { 7, 16, 32768, 16, PLAN_FORWARD } };
	int proven = 0;
	glob_t files;

	cr_assert_eq(glob("tests/plan/nets/*.yaml", 0, NULL, &files), 0);
	cr_assert_geq(files.gl_pathc, 20);
	for (size_t i = 0; i < files.gl_pathc; i++)
		for (size_t k = 0; k < sizeof(problems) / sizeof(*problems); k++) {
			const struct plan_options options = { .batch = problems[k].batch, .cores = 1, .rows = problems[k].side, .cols = problems[k].side,
							      .acc_rows = 256, .buffer_bytes = problems[k].buffer_bytes, .bus_bytes = problems[k].bus,
							      .phases = problems[k].phases, .accounting = SCHED_DEVICE, .max_extra_percent = k % 2 ? 33 : 0 };
			struct wc_error err;
			struct net net;

			cr_assert_eq(net_read(&net, files.gl_pathv[i], &err), 0, "%s", err.text);
			proven += count_proven(&net, &options);
			net_release(&net);
		}
	cr_assert_gt(proven, 600, "%d", proven);
	globfree(&files);
}

// A slice of filters, its bias as it came and in fp32, and the slice that comes: of two layers, each of which needs most of what it is alone in.
Test(graph, slices_with_biases_need_what_the_rules_say)
{
	static const char *const layers[] = { "op: fc, units: 200, bias: true", "op: conv, channels: 200, kernel: 4, bias: true" };

	for (size_t i = 0; i < sizeof(layers) / sizeof(*layers); i++) {
		struct plan_options options = common_options(1, 8192);
		char yaml[300];
		struct net net;

		snprintf(yaml, sizeof(yaml), "name: slices\ninput: {height: 4, width: 4, channels: 8}\nnodes:\n  - {name: a, %s}\n", layers[i]);
		tests_net(&net, yaml);
		options.accounting = SCHED_DEVICE;
		options.phases = PLAN_FORWARD;
		cr_assert(prove("baseline", &net, &options));
		net_release(&net);
	}
}

// At this size the planner cannot say in words what it keeps of 40 pieces; told of a smaller buffer it keeps nothing of them.
Test(graph, what_has_no_words_at_one_size_is_planned_at_another)
{
	struct plan_options options = common_options(4, 96 << 10);
	struct schedule schedule;
	struct wc_error err;
	struct net net;

	cr_assert_eq(net_read(&net, "tests/plan/nets/b40.yaml", &err), 0, "%s", err.text);
	options.accounting = SCHED_PAPER;
	cr_assert_eq(plan_by_name(&schedule, "il", &net, &options, &err), WC_ERR_INPUT);
	cr_assert_not_null(strstr(err.text, "operands apart"), "%s", err.text);
	options.accounting = SCHED_DEVICE;
	cr_assert(prove("il", &net, &options));
	net_release(&net);
}

Test(graph, random_graphs_are_proven)
{
	static const uint32_t buses[] = { 16, 16, 16, 32, 64, 128 };
	struct random random = random_begin("graph", 4712);
	int proven = 0, planned = 0;

	for (int round = rounds(40, 1500); round; round--) {
		struct plan_options options = common_options(1 + random_below(&random, 9), 4096u << random_below(&random, 5));
		struct net net;

		options.rows = 4 << random_below(&random, 4);
		options.cols = 4 << random_below(&random, 4);
		options.bus_bytes = buses[random_below(&random, 6)];
		options.strips = random_below(&random, 3) ? 0 : 1 + random_below(&random, 6);
		options.max_extra_percent = random_below(&random, 2) ? 0 : 33;
		options.phases = random_below(&random, 4) ? PLAN_ALL : PLAN_FORWARD;
		options.accounting = SCHED_DEVICE;
		common_random_graph(&net, &random);
		for (int i = 0; paper_plan_name(i); i++, planned++)
			proven += prove(paper_plan_name(i), &net, &options);
		net_release(&net);
	}
	cr_assert_gt(proven, planned / 2, "%d of %d", proven, planned);
}
