// SPDX-License-Identifier: Apache-2.0
//
// Every planner's schedules, expanded and placed, run right on the machine of tags, never overlap in the buffer, and
// move what the accounting says, class by class.
#include <criterion/criterion.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/check/check.h"
#include "driver/plan/device/fit.h"
#include "tests/plan/common.h"
#include "tests/net_text.h"
#include "tests/plan/machine.h"

static bool starts_in_place(const struct program *program, const struct slab *slab)
{
	const struct step *step = &program->steps[slab->first_step];
	bool relu = program->net->nodes[step->node].op == NET_RELU;

	return relu && (step->op == STEP_FORWARD || step->op == STEP_DATA_GRADIENT);
}

// Slabs alive at the same step have no byte in common, except a ReLU's in its own step. Peaks are what they are said to be.
static void check_slabs(const struct program *program)
{
	uint32_t peak = 0;

	for (int i = 0; i < program->slab_count; i++) {
		const struct slab *a = &program->slabs[i];

		peak = a->offset + a->bytes > peak ? a->offset + a->bytes : peak;
		for (int j = i + 1; j < program->slab_count && j < i + 200; j++) {
			const struct slab *b = &program->slabs[j];

			if (a->last_step < b->first_step || b->last_step < a->first_step || a->offset + a->bytes <= b->offset ||
			    b->offset + b->bytes <= a->offset)
				continue;
			cr_assert(a->offset == b->offset && a->bytes == b->bytes && a->last_step == b->first_step && starts_in_place(program, b),
				  "slabs %d and %d overlap", i, j);
		}
	}
	cr_assert_eq(program->peak_bytes, peak);
	cr_assert_leq(program->peak_bytes, program->schedule->buffer_bytes);
	cr_assert_leq(program->live_bytes, program->peak_bytes);
	cr_assert_gt(program->live_bytes, 0);
}

// Steps that compute or store are in the schedule's order; only loads and takes have moved.
static void check_order(const struct program *program)
{
	int group = 0, iteration = -1, strip = -1;

	for (int i = 0; i < program->step_count; i++) {
		const struct step *step = &program->steps[i];

		if (step->op == STEP_LOAD || step->op == STEP_TAKE || step->iteration < 0)
			continue;
		if (step->group != group)
			iteration = strip = -1;
		cr_assert_geq(step->group, group);
		cr_assert(step->iteration > iteration || (step->iteration == iteration && step->strip >= strip), "step %d is out of order", i);
		group = step->group;
		iteration = step->iteration;
		strip = step->strip;
	}
}

static void check_sums(const struct schedule *schedule, const struct net *net, int acc_rows, const struct machine_sums *sums, const char *what)
{
	struct account account;

	account_schedule(schedule, net, acc_rows, &account);
	for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++) {
		cr_assert_eq(account.read_bytes[class], sums->read_bytes[class], "%s: class %d read %" PRIu64 ", steps %" PRIu64, what, class,
			     account.read_bytes[class], sums->read_bytes[class]);
		cr_assert_eq(account.write_bytes[class], sums->write_bytes[class], "%s: class %d written %" PRIu64 ", steps %" PRIu64, what, class,
			     account.write_bytes[class], sums->write_bytes[class]);
		cr_assert_eq(account.payload_bytes[class], sums->payload_bytes[class], "%s: class %d payload", what, class);
	}
	cr_assert_eq(account.commands, sums->commands, "%s: %" PRIu64 " commands, steps %" PRIu64, what, account.commands, sums->commands);
}

static void run(const struct schedule *schedule, const struct net *net, int acc_rows, const char *what)
{
	struct wc_error err = { "" };
	struct machine_sums sums;
	struct program program;

	cr_assert_eq(program_expand(&program, schedule, net, &err), 0, "%s: %s", what, err.text);
	machine_run(&program, acc_rows, &sums);
	check_slabs(&program);
	check_order(&program);
	check_sums(schedule, net, acc_rows, &sums, what);
	program_release(&program);
}

// All planners that fit; how many did.
static int run_all(const struct net *net, const struct plan_options *options, uint64_t seed)
{
	int fitting = 0;

	for (int i = 0; plan_name(i); i++) {
		struct check_result result;
		struct schedule schedule;
		struct wc_error err = { "" };
		char what[64];

		snprintf(what, sizeof(what), "seed %" PRIu64 ", %s, buffer %u", seed, plan_name(i), options->buffer_bytes);
		if (plan_by_name(&schedule, plan_name(i), net, options, &err)) {
			cr_assert(strstr(err.text, "cannot fit layer '") && strstr(err.text, "buffer has "), "%s: %s", what, err.text);
			cr_assert_null(schedule.groups);
			continue;
		}
		cr_assert_eq(schedule_check(&schedule, net, &result, &err), 0, "%s: %s", what, err.text);
		run(&schedule, net, options->acc_rows, what);
		schedule_release(&schedule);
		fitting++;
	}
	return fitting;
}

Test(program, fashion_conv_in_many_buffers)
{
	static const uint32_t sizes[] = { 16384, 20480, 24576, 32768, 49152, 65536, 131072, 1048576 };
	struct wc_error err;
	struct net net;
	int fitting = 0;

	cr_assert_eq(net_builtin(&net, "fashion-conv", &err), 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (int batch = 1; batch < 33; batch = batch * 3 + 1) {
			struct plan_options options = common_options(batch, sizes[i]);

			fitting += run_all(&net, &options, 0);
			options.strips = 1 + batch % 5;
			options.phases = PLAN_FORWARD;
			fitting += run_all(&net, &options, 0);
		}
	}
	net_release(&net);
	cr_assert_geq(fitting, 8 * 4 * 4);
}

Test(program, random_chains_in_random_devices)
{
	static const int sides[] = { 4, 8, 16, 32, 64, 128 };
	struct random random = random_begin("random chains", 20231);
	int fitting = 0;

	for (int i = 0; i < rounds(150, 3000); i++) {
		struct plan_options options = common_options(1 + random_below(&random, 9), 4096 * (1 + (uint32_t)random_below(&random, 20)));
		uint64_t seed = random.state;
		struct net net;

		options.rows = sides[random_below(&random, 6)];
		options.cols = sides[random_below(&random, 6)];
		options.bus_bytes = 16u << random_below(&random, 4);
		options.strips = random_below(&random, 3) ? 0 : 1 + random_below(&random, 6);
		options.phases = random_below(&random, 5) ? PLAN_ALL : PLAN_FORWARD;
		common_random_net(&net, &random);
		fitting += run_all(&net, &options, seed);
		net_release(&net);
	}
	cr_assert_gt(fitting, rounds(150, 3000), "only %d schedules fit", fitting);
}

// A convolution whose weights do not fit runs forward with its feature maps in the buffer and its weights streamed past in
// slices that fill the array's columns, the next one always loaded before the present one is worked on.
Test(program, weights_larger_than_the_buffer_are_streamed_ahead)
{
	struct plan_options options = common_options(8, 262144);
	struct wc_error err = { "" };
	struct schedule schedule;
	struct program program;
	struct net net;
	int forward = 0, ahead = 0;

	options.phases = PLAN_FORWARD;
	tests_net(&net, "name: wide\ninput: {height: 14, width: 14, channels: 256}\nnodes:\n"
			 "  - {name: conv1, op: conv, channels: 256, kernel: 3, pad: 1}\n");
	common_plan(&schedule, "baseline", &net, &options);
	cr_assert_eq(schedule.groups[0].weight[1].slice % options.cols, 0);
	cr_assert_gt(schedule.groups[0].weight[1].slice, 0);
	run(&schedule, &net, options.acc_rows, "wide");
	cr_assert_eq(program_expand(&program, &schedule, &net, &err), 0, "%s", err.text);
	for (int i = 0; i < program.step_count; i++) {
		const struct step *step = &program.steps[i];

		if (step->op != STEP_FORWARD)
			continue;
		forward++;
		// The steps between the loads of a slice and its use hold the use of the slice before.
		for (int j = program.slabs[step->operand].first_step; j < i; j++) {
			if (program.steps[j].op == STEP_FORWARD) {
				ahead++;
				break;
			}
		}
	}
	cr_assert_eq(forward, 8 * schedule.groups[0].strip_count * (256 / schedule.groups[0].weight[1].slice));
	cr_assert_eq(ahead, forward - 1, "%d of %d slices were loaded ahead", ahead, forward);
	program_release(&program);
	schedule_release(&schedule);
	net_release(&net);
}

// With room for two sub-batches, the next one's input is listed before the present one's last layer.
Test(program, loads_move_ahead_where_there_is_room)
{
	struct plan_options options = common_options(4, 65536);
	struct wc_error err = { "" };
	struct schedule schedule;
	struct program program;
	struct net net;
	int early = 0;
	static const char text[] = "schedule 1\nnet n\nbatch 4\narray 16x16\nbuffer 65536\nbus 16\n"
				   "group forward c1 c2\nsub_batch 1\nweight c1 resident\nweight c2 resident\nstrip 0\nload act:input=0:8\n"
				   "compute act:c1=0:8\ncompute act:c2=0:8\nstore act:c2=0:8\n";

	tests_net(&net, "name: n\ninput: {height: 8, width: 8, channels: 8}\nnodes:\n"
			 "  - {name: c1, op: conv, channels: 8, kernel: 3, pad: 1}\n  - {name: c2, op: conv, channels: 8, kernel: 3, pad: 1}\n");
	cr_assert_eq(common_read(&schedule, &net, text, strlen(text), &err), 0, "%s", err.text);
	run(&schedule, &net, options.acc_rows, "two sub-batches");
	cr_assert_eq(program_expand(&program, &schedule, &net, &err), 0, "%s", err.text);
	for (int i = 0; i < program.step_count; i++) {
		const struct step *step = &program.steps[i];

		if (step->op != STEP_LOAD || step->iteration < 1)
			continue;
		for (int j = i + 1; j < program.step_count; j++)
			early += program.steps[j].op == STEP_FORWARD && program.steps[j].node == 2 && program.steps[j].iteration == step->iteration - 1;
	}
	cr_assert_eq(early, 3);
	program_release(&program);
	schedule_release(&schedule);
	net_release(&net);
}

Test(program, what_cannot_be_placed_is_refused_with_layer_and_bytes)
{
	static const struct { const char *statements, *words; } faults[] = {
		{ "load act:input=0:8\ncompute act:c1=0:8\n", "cannot fit layer 'c1' in group 0 (forward c1..c1): needs 5696 bytes, buffer has 4096" },
		{ "compute act:c1=0:2\n", "rows 0:3 of act:input are read but not in the buffer" },
		{ "load act:input=0:2\ncompute act:c1=0:2\n", "rows 0:3 of act:input are read but not in the buffer" },
		{ "load grad:c1=0:1\naccumulate c1=0:1\n", "rows 0:2 of act:input are read but not in the buffer" },
	};
	struct net net;

	tests_net(&net, "name: n\ninput: {height: 8, width: 8, channels: 8}\nnodes:\n  - {name: c1, op: conv, channels: 32, kernel: 3, pad: 1}\n");
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct wc_error err = { "" };
		struct schedule schedule;
		struct program program;
		char text[512];

		snprintf(text, sizeof(text),
			 "schedule 1\nnet n\nbatch 1\narray 16x16\nbuffer 4096\nbus 16\ngroup forward c1 c1\nsub_batch 1\n"
			 "weight c1 streamed slice 2\nwgrad c1 streamed slice 2\nstrip 0\n%s", faults[i].statements);
		cr_assert_eq(common_read(&schedule, &net, text, strlen(text), &err), 0, "%s", err.text);
		cr_assert_eq(program_expand(&program, &schedule, &net, &err), WC_ERR_INPUT, "accepted:\n%s", text);
		cr_assert(strstr(err.text, faults[i].words), "'%s' lacks '%s'", err.text, faults[i].words);
		cr_assert_null(program.steps);
		schedule_release(&schedule);
	}
	net_release(&net);
}

// A schedule that would expand to millions of steps is refused before memory is asked for.
Test(program, too_many_steps)
{
	const struct plan_options options = common_options(65535, 4096);
	struct schedule schedule;
	struct program program;
	struct wc_error err;
	struct net net;

	tests_net(&net, "name: tall\ninput: {height: 16384, width: 1, channels: 1}\nnodes: [{name: c, op: conv, channels: 1, kernel: 1}]\n");
	common_plan(&schedule, "baseline", &net, &options);
	cr_assert_eq(program_expand(&program, &schedule, &net, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "more than 16777216 steps"), "%s", err.text);
	schedule_release(&schedule);
	net_release(&net);
}
