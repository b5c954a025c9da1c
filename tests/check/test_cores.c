// SPDX-License-Identifier: Apache-2.0
//
// Rule: a schedule for several cores is one core's on a share of the batch; what moves is that of all cores, and under `device` the reduction
// of their weight gradients. Checker and accounting, written apart, agree on it.
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/account_paper.h"
#include "driver/plan/device/program.h"
#include "driver/plan/paper/paper.h"
#include "tests/check/compare.h"
#include "tests/check/fixture.h"
#include "tests/check/mutate.h"
#include "tests/net_text.h"

// 3 x 3 of 2 channels to 4: 72 filters, of 144 and 288 bytes, and a bias of 4, of 8, padded to 16, and 16.
static const char hand_net[] = "name: hand\ninput: {height: 4, width: 4, channels: 2}\nnodes:\n"
			       "  - {name: c, op: conv, channels: 4, kernel: 3, pad: 1, bias: true}\n";
#define HAND(header)                                                                                                                                       \
	"schedule 1\nnet hand\n" header "array 4x4\nbuffer 65536\nbus 16\naccounting device\n"                                                             \
	"group forward c c\nsub_batch 2\nweight c resident\nstrip 0\nload act:input=0:4\ncompute act:c=0:4\nstore act:c=0:4\n"                             \
	"group backward c c\nsub_batch 2\nwgrad c resident\nstrip 0\nload grad:c=0:4\nload act:input=0:4\naccumulate c=0:4\n"

// With what runs beside the groups; `device`.
static struct check_result check_whole(const char *what, const struct schedule *schedule, const struct net *net, struct check_options options,
				       struct account *account)
{
	const struct program_whole whole = {.loss = options.loss, .update = options.update};
	struct wc_error err = {""};
	struct check_result result;
	uint64_t footprint;

	cr_assert_eq(schedule_check_with(schedule, net, &options, &result, &err), 0, "%s: %s", what, err.text);
	account_schedule_whole(schedule, net, CHECK_ACC_ROWS, whole, account);
	cr_assert_eq(account_footprint_whole(schedule, net, whole, &footprint, NULL), 0);
	cr_expect_eq(result.footprint_bytes, footprint, "%s", what);
	for (int class = 0; class < WC_CLASS_COUNT; class++) {
		cr_expect_eq(result.read_bytes[class], account->read_bytes[class], "%s: %s", what, wc_class_name((enum wc_class)class));
		cr_expect_eq(result.write_bytes[class], account->write_bytes[class], "%s: %s", what, wc_class_name((enum wc_class)class));
	}
	cr_expect_eq(result.commands, account->commands, "%s", what);
	cr_expect_eq(result.macs, account->macs, "%s", what);
	return result;
}

static struct check_result check(const char *text, struct check_options options, struct account *account)
{
	struct check_result result;
	struct schedule schedule;
	struct net net;

	tests_net(&net, hand_net);
	fixture_schedule(&schedule, &net, text);
	result = check_whole(text, &schedule, &net, options, account);
	schedule_release(&schedule);
	net_release(&net);
	return result;
}

// Two arrays, a block each: two loads, an add, a store.
Test(cores, the_reduction_by_hand)
{
	struct account one_account, two_account;
	const struct check_result one = check(HAND("batch 3\n"), (struct check_options){false, false}, &one_account);
	const struct check_result two = check(HAND("batch 6\ncores 2\n"), (struct check_options){false, false}, &two_account);

	cr_expect_eq(one.write_bytes[WC_CLASS_WEIGHT_GRADIENT], 288 + 16);
	cr_expect_eq(one.read_bytes[WC_CLASS_WEIGHT_GRADIENT], 0);
	cr_expect_eq(two.write_bytes[WC_CLASS_WEIGHT_GRADIENT], 2 * (288 + 16) + 288 + 16);
	cr_expect_eq(two.read_bytes[WC_CLASS_WEIGHT_GRADIENT], 2 * (288 + 16));
	cr_expect_eq(two.commands, 2 * one.commands + 2 * (2 + 1 + 1));
	cr_expect_eq(two.macs, 2 * one.macs);
	cr_expect_eq(two.peak_bytes, one.peak_bytes);
	cr_expect_eq(two.read_bytes[WC_CLASS_WEIGHT], 2 * one.read_bytes[WC_CLASS_WEIGHT]);
	// Image and output's gradient of 4 rows of 16 bytes and 32 bytes, of 6 samples; parameters, and gradients twice.
	cr_expect_eq(two.footprint_bytes, 6 * 4 * (16 + 32) + 144 + 16 + 2 * (288 + 16));
	cr_expect_eq(two_account.payload_bytes[WC_CLASS_WEIGHT_GRADIENT], 2 * (288 + 16) + 3 * (288 + 16));
}

// With an update the sums stay in the buffer.
Test(cores, the_update_takes_the_sum_from_the_buffer)
{
	struct account account;
	const struct check_result none = check(HAND("batch 6\ncores 2\n"), (struct check_options){false, false}, &account);
	const struct check_result update = check(HAND("batch 6\ncores 2\n"), (struct check_options){false, true}, &account);

	cr_expect_eq(update.write_bytes[WC_CLASS_WEIGHT_GRADIENT], 2 * (288 + 16));
	cr_expect_eq(update.read_bytes[WC_CLASS_WEIGHT_GRADIENT], none.read_bytes[WC_CLASS_WEIGHT_GRADIENT]);
	cr_expect_eq(update.read_bytes[WC_CLASS_OPTIMIZER], 2 * (288 + 16));
	cr_expect_eq(update.write_bytes[WC_CLASS_OPTIMIZER], 2 * (288 + 16));
	cr_expect_eq(update.write_bytes[WC_CLASS_WEIGHT], 144 + 16);
	// Each block: masters and momenta, the command, two stores, in the place of one.
	cr_expect_eq(update.commands, none.commands + 2 * 3);
	cr_expect_eq(update.footprint_bytes, none.footprint_bytes + 2 * (288 + 16));
}

// Of 22 bytes each the buffer of 4096 holds 128, of 18 each as many, of 46 each (8 cores) 64: of 72 filters two blocks.
Test(cores, blocks_shrink_with_the_cores)
{
	struct account account;
	char *text = fixture_replace(HAND("batch 16\ncores 8\n"), "65536", 0, "4096");
	const struct check_result eight = check(text, (struct check_options){false, true}, &account);
	const struct check_result one = check(HAND("batch 2\n"), (struct check_options){false, false}, &account);

	cr_expect_eq(eight.commands, 8 * one.commands + 3 * (8 + 7 + 1 + 1 + 2));
	free(text);
}

Test(cores, a_batch_that_cannot_be_split_is_refused)
{
	struct wc_error err = {""};
	struct check_result result;
	struct schedule schedule;
	struct net net;

	tests_net(&net, hand_net);
	fixture_schedule(&schedule, &net, HAND("batch 4\ncores 2\n"));
	schedule.batch = 3;
	cr_expect_eq(schedule_check(&schedule, &net, &result, &err), WC_ERR_INPUT);
	cr_expect_eq(result.violation.kind, CHECK_FORM);
	cr_expect(strstr(err.text, "the batch of 3 is not a multiple of the 2 cores"), "%s", err.text);
	schedule.cores = 0;
	cr_expect_eq(schedule_check(&schedule, &net, &result, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "cores is 0"), "%s", err.text);
	schedule_release(&schedule);
	net_release(&net);
}

Test(cores, the_verdict_names_them)
{
	struct check_result result;
	struct schedule schedule;
	struct net net;
	char *text;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);

	tests_net(&net, hand_net);
	fixture_schedule(&schedule, &net, HAND("batch 6\ncores 2\n"));
	cr_assert_eq(schedule_check(&schedule, &net, &result, NULL), 0);
	schedule_check_print(&result, &schedule, &net, file);
	fclose(file);
	cr_expect(strstr(text, "the output of 6 samples on 2 cores is computed and stored whole"), "%s", text);
	free(text);
	schedule_release(&schedule);
	net_release(&net);
}

// Loads of both cores' gradients, and the stored sum, array by array.
static void add_reduction(struct check_result *result, const struct net *net, const struct schedule *schedule)
{
	uint64_t block = 4096;

	while (block * (14 + 4 * 2) > schedule->buffer_bytes)
		block /= 2;
	for (int node = 0; node < net->node_count; node++)
		for (enum parameter_array array = ARRAY_FILTERS; array < ARRAY_COUNT; array++) {
			uint64_t count = program_array_count(&net->nodes[node], array);

			for (; count; count -= count < block ? count : block) {
				const uint64_t n = count < block ? count : block, bytes = (4 * n + schedule->bus_bytes - 1) / schedule->bus_bytes * schedule->bus_bytes;

				result->read_bytes[WC_CLASS_WEIGHT_GRADIENT] += 2 * bytes;
				result->write_bytes[WC_CLASS_WEIGHT_GRADIENT] += bytes;
				result->read_bytes[WC_CLASS_COMMAND] += 4 * CHECK_COMMAND_BYTES;
				result->commands += 4;
			}
		}
}

static void double_counts(struct check_result *result)
{
	for (int class = 0; class < WC_CLASS_COUNT; class++) {
		result->read_bytes[class] *= 2;
		result->write_bytes[class] *= 2;
	}
	result->commands *= 2;
	result->macs *= 2;
	result->extra_macs *= 2;
}

static void prove(const char *what, const struct schedule *schedule, const struct net *net, struct check_result *result)
{
	struct wc_error err = {""};

	cr_assert_eq(schedule_check(schedule, net, result, &err), 0, "%s: %s", what, err.text);
	if (schedule->accounting == SCHED_DEVICE)
		compare_account(schedule, net, result, what);
	else
		compare_paper_account(schedule, net, result, what);
}

// A core's labels and losses are rounded up by themselves.
static void prove_loss(const char *what, const struct schedule *schedule, const struct net *net)
{
	const uint64_t bus = schedule->bus_bytes, share = 4 * (uint64_t)schedule->batch / 2, bytes = 2 * ((share + bus - 1) / bus * bus);
	struct check_result none, whole;
	struct account account;

	none = check_whole(what, schedule, net, (struct check_options){false, false}, &account);
	whole = check_whole(what, schedule, net, (struct check_options){true, true}, &account);
	cr_expect_eq(whole.read_bytes[WC_CLASS_IO], none.read_bytes[WC_CLASS_IO] + bytes, "%s", what);
	cr_expect_eq(whole.write_bytes[WC_CLASS_IO], bytes, "%s", what);
}

// Twice the plan of half the batch, and the reduction.
static void compare_halves(const char *what, const struct schedule *both, const struct schedule *half, const struct net *net)
{
	struct check_result two, one;

	prove(what, both, net, &two);
	prove(what, half, net, &one);
	double_counts(&one);
	if (both->accounting == SCHED_DEVICE && both->groups[both->group_count - 1].phase == SCHED_BACKWARD)
		add_reduction(&one, net, both);
	for (int class = 0; class < WC_CLASS_COUNT; class++) {
		cr_expect_eq(two.read_bytes[class], one.read_bytes[class], "%s: %s read: %" PRIu64 ", not %" PRIu64, what,
			     wc_class_name((enum wc_class)class), two.read_bytes[class], one.read_bytes[class]);
		cr_expect_eq(two.write_bytes[class], one.write_bytes[class], "%s: %s written: %" PRIu64 ", not %" PRIu64, what,
			     wc_class_name((enum wc_class)class), two.write_bytes[class], one.write_bytes[class]);
	}
	cr_expect_eq(two.commands, one.commands, "%s", what);
	cr_expect_eq(two.macs, one.macs, "%s", what);
	cr_expect_eq(two.extra_macs, one.extra_macs, "%s", what);
	cr_expect_eq(schedule_of_core(both).batch, half->batch, "%s", what);
}

// A planner's schedule for one core, called one for two: each has half of the samples. As text, and without its limits on form.
static void relabel(const char *what, struct schedule *schedule, const struct net *net)
{
	char *text = mutant_text(schedule, net), *relabelled = fixture_replace(text, "cores 1\n", 0, "cores 2\n");
	FILE *file = fmemopen(relabelled, strlen(relabelled), "r");
	struct wc_error err = {""};
	struct check_result result;
	struct schedule read;

	if (schedule_read(&read, net, file, "relabelled", &err) == 0)
		prove(what, &read, net, &result);
	else
		cr_expect(strstr(err.text, schedule->batch % 2 ? "is not a multiple of the 2 cores" : "sub_batch is") != NULL, "%s: %s", what, err.text);
	schedule->cores = 2;
	if (schedule->batch % 2 == 0) {
		prove(what, schedule, net, &result);
	} else {
		cr_expect_eq(schedule_check(schedule, net, &result, &err), WC_ERR_INPUT, "%s", what);
		cr_expect(strstr(err.text, "is not a multiple of the 2 cores") != NULL, "%s: %s", what, err.text);
	}
	fclose(file);
	schedule_release(&read);
	free(relabelled);
	free(text);
}

static void prove_planners(const char *name, const struct plan_options *options)
{
	struct wc_error err = {""};
	struct net net;

	cr_assert_eq(net_open(&net, name, 0, &err), 0, "%s", err.text);
	for (int i = 0; paper_plan_name(i); i++) {
		struct plan_options half = *options;
		struct schedule schedules[2];
		char what[120];

		snprintf(what, sizeof(what), "%s, %s, %s accounting", name, paper_plan_name(i), options->accounting == SCHED_DEVICE ? "device" : "paper");
		half.batch /= 2;
		half.cores = 1;
		cr_assert_eq(plan_by_name(&schedules[0], paper_plan_name(i), &net, options, &err), 0, "%s: %s", what, err.text);
		cr_assert_eq(plan_by_name(&schedules[1], paper_plan_name(i), &net, &half, &err), 0, "%s: %s", what, err.text);
		compare_halves(what, &schedules[0], &schedules[1], &net);
		if (options->accounting == SCHED_DEVICE)
			prove_loss(what, &schedules[0], &net);
		relabel(what, &schedules[1], &net);
		schedule_release(&schedules[0]);
		schedule_release(&schedules[1]);
	}
	net_release(&net);
}

// Half the batch is even for one network and odd for the other: relabelled, the one is proven and the other not.
Test(cores, every_planner_for_two_of_them)
{
	struct plan_options options = {.batch = 6, .cores = 2, .rows = 16, .cols = 16, .acc_rows = CHECK_ACC_ROWS, .buffer_bytes = 1 << 20, .bus_bytes = 16};

	for (enum sched_accounting accounting = SCHED_DEVICE; accounting <= SCHED_PAPER; accounting++) {
		options.accounting = accounting;
		options.phases = PLAN_ALL;
		options.buffer_bytes = 64 << 10;
		options.batch = 8;
		prove_planners("lenet", &options);
		options.buffer_bytes = 1 << 20;
		prove_planners("resnet8", &options);
		options.batch = 6;
		prove_planners("inception-small", &options);
		options.phases = PLAN_FORWARD;
		prove_planners("lenet", &options);
	}
}

Test(cores, planners_refuse_what_cannot_be_split)
{
	struct plan_options options = {.batch = 5, .cores = 2, .rows = 16, .cols = 16, .acc_rows = CHECK_ACC_ROWS, .buffer_bytes = 1 << 20, .bus_bytes = 16};
	struct wc_error err = {""};
	struct net net;

	cr_assert_eq(net_open(&net, "lenet", 0, &err), 0, "%s", err.text);
	for (enum sched_accounting accounting = SCHED_DEVICE; accounting <= SCHED_PAPER; accounting++)
		for (int i = 0; paper_plan_name(i); i++) {
			struct schedule schedule;

			options.accounting = accounting;
			cr_assert_eq(plan_by_name(&schedule, paper_plan_name(i), &net, &options, &err), WC_ERR_INPUT);
			cr_expect_str_eq(err.text, "the batch of 5 is not a multiple of the 2 cores that it is split among");
			cr_expect_null(schedule.net_name);
		}
	net_release(&net);
}
