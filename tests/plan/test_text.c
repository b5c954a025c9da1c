// SPDX-License-Identifier: Apache-2.0
//
// The text form: it round-trips exactly, and every fault of form is refused with file, line and cause.
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "tests/plan/common.h"
#include "tests/net_text.h"

static const char net_text[] = "name: n\ninput: {height: 8, width: 8, channels: 2}\nnodes:\n"
			       "  - {name: c1, op: conv, channels: 6, kernel: 3, pad: 1}\n  - {name: r1, op: relu}\n"
			       "  - {name: c2, op: conv, channels: 4, kernel: 1}\n";

#define HEAD "schedule 1\nnet n\nbatch 4\narray 16x8\nbuffer 64KiB\nbus 16\n"
#define GROUP "group forward c1 r1\nsub_batch 2\n"
#define STRIP GROUP "strip 0\n"

static const char canonical[] =
	"schedule 1\nnet n\nbatch 4\ncores 1\narray 16x8\nbuffer 65536\nbus 16\naccounting device\nplanner by-hand\n"
	"\ngroup forward c1 c2\n  sub_batch 3\n  tiling overl\n  weight c1 resident\n  weight c2 streamed slice 4\n  reason why not\n"
	"  strip 0\n    load act:input=0:6\n    compute act:c1=0:5\n    compute act:r1=0:5 mask\n    store mask:r1=0:5\n    keep act:r1=4:5\n"
	"    compute act:c2=0:5\n    store act:c2=0:5\n"
	"  strip 1\n    take act:r1=4:5\n    compute act:c2=4:8\n"
	"\ngroup backward c1 c2\n  sub_batch 4\n  tiling 2ps\n  wgrad c1 streamed slice 2\n  wgrad c2 resident\n"
	"  strip 0\n    load grad:c2=0:8\n    accumulate c2=0:8\n    compute grad:r1=0:8\n    compute grad:c1=0:8 act\n"
	"    compute grad:c1=0:8 mask\n";

Test(text, canonical_text_round_trips)
{
	struct schedule schedule;
	struct wc_error err;
	struct net net;
	char *text;

	tests_net(&net, net_text);
	cr_assert_eq(common_read(&schedule, &net, canonical, strlen(canonical), &err), 0, "%s", err.text);
	cr_assert_eq(schedule.batch, 4);
	cr_assert_eq(schedule.cols, 8);
	cr_assert_eq(schedule.group_count, 2);
	cr_assert(schedule.groups[0].weight[1].resident);
	cr_assert_eq(schedule.groups[0].weight[3].slice, 4);
	cr_assert_eq(schedule.groups[1].wgrad[1].slice, 2);
	cr_assert_eq(schedule.groups[1].tiling, SCHED_TILING_2PS);
	cr_assert_str_eq(schedule.groups[0].reason, "why not");
	cr_assert_eq(schedule.groups[1].strips[0].statements[3].with, SCHED_WITH_ACT);
	cr_assert_eq(schedule.groups[0].strips[0].statements[0].line, 18);
	text = common_write(&schedule, &net);
	cr_assert_str_eq(text, canonical);
	free(text);
	schedule_release(&schedule);
	net_release(&net);
}

Test(text, free_form_reads_as_its_canonical_form)
{
	static const char loose[] = "# by hand\n\n schedule   1\n\tnet n # comment\nbuffer 64KiB\nbatch 4\nbus 16\narray 4x4\r\n"
				    "group forward c1 c1\nsub_batch 1\nreason  a   b  # c\nstrip 0\nload act:input=0:8\n";
	struct schedule schedule, again;
	struct wc_error err;
	struct net net;
	char *first, *second;

	tests_net(&net, net_text);
	cr_assert_eq(common_read(&schedule, &net, loose, strlen(loose), &err), 0, "%s", err.text);
	cr_assert_eq(schedule.cores, 1);
	cr_assert_eq(schedule.buffer_bytes, 65536);
	cr_assert_null(schedule.planner);
	first = common_write(&schedule, &net);
	cr_assert_eq(common_read(&again, &net, first, strlen(first), &err), 0, "%s", err.text);
	second = common_write(&again, &net);
	cr_assert_str_eq(first, second);
	free(first);
	free(second);
	schedule_release(&schedule);
	schedule_release(&again);
	net_release(&net);
}

Test(text, cores_share_the_batch)
{
	static const char text[] = "schedule 1\nnet n\nbatch 6\ncores 2\narray 16x8\nbuffer 64KiB\nbus 16\n"
				   "group forward c1 r1\nsub_batch 3\nstrip 0\nload act:input=0:1\n";
	struct schedule schedule, core;
	struct wc_error err;
	struct net net;

	tests_net(&net, net_text);
	cr_assert_eq(common_read(&schedule, &net, text, strlen(text), &err), 0, "%s", err.text);
	core = schedule_of_core(&schedule);
	cr_expect_eq(core.batch, 3);
	cr_expect_eq(core.cores, 1);
	cr_expect_eq(core.groups, schedule.groups);
	cr_expect_eq(schedule.batch, 6);
	schedule_release(&schedule);
	net_release(&net);
}

Test(text, every_planner_round_trips)
{
	struct random random = random_begin("round trip", 1001);

	for (int i = 0; i < rounds(60, 600); i++) {
		struct plan_options options = common_options(1 + random_below(&random, 9), 65536);
		struct net net;

		common_random_net(&net, &random);
		for (int p = 0; plan_name(p); p++) {
			struct schedule schedule, again;
			struct wc_error err = { "" };
			char *first, *second;

			if (plan_by_name(&schedule, plan_name(p), &net, &options, &err)) {
				cr_assert(strstr(err.text, "cannot fit"), "%s", err.text);
				continue;
			}
			first = common_write(&schedule, &net);
			cr_assert_eq(common_read(&again, &net, first, strlen(first), &err), 0, "%s\n%s", err.text, first);
			second = common_write(&again, &net);
			cr_assert_str_eq(first, second);
			free(first);
			free(second);
			schedule_release(&schedule);
			schedule_release(&again);
		}
		net_release(&net);
	}
}

struct fault {
	const char *text;
	int line;
	const char *words;
};

static const struct fault faults[] = {
	{ "", 0, "no group" },
	{ "net n\n", 1, "begins with 'schedule 1'" },
	{ "schedule 2\n", 1, "version of the schedule format is 2" },
	{ "schedule\n", 1, "'schedule' takes 1 word, got 0" },
	{ "schedule 1\nschedule 1\n", 2, "'schedule' given twice" },
	{ "schedule 1\nnet m\n", 2, "for network 'm', not for 'n'" },
	{ "schedule 1\nbatch 0\n", 2, "batch is 0, must be from 1 to 65535" },
	{ "schedule 1\nbatch 99999999999999999999\n", 2, "batch is 99999999999999999999" },
	{ "schedule 1\nbatch -1\n", 2, "batch '-1' must be a number" },
	{ "schedule 1\nbatch 4x\n", 2, "batch '4x' must be a number" },
	{ "schedule 1\nbatch 4 5\n", 2, "takes 1 word, got 2" },
	{ "schedule 1\ncores 0\n", 2, "cores is 0" },
	{ "schedule 1\narray 16\n", 2, "ROWSxCOLS" },
	{ "schedule 1\narray 16x12\n", 2, "sides must be" },
	{ "schedule 1\narray 256x16\n", 2, "array rows is 256" },
	{ "schedule 1\nbuffer 1000\n", 2, "multiple of 4096" },
	{ "schedule 1\nbuffer 4096MB\n", 2, "number of KiB" },
	{ "schedule 1\nbuffer 1073741824GiB\n", 2, "multiple of 4096" },
	{ "schedule 1\nbus 24\n", 2, "bus is 24 bytes" },
	{ "schedule 1\naccounting best\n", 2, "must be device or paper" },
	{ "schedule 1\nspeed 3\n", 2, "unknown word 'speed'" },
	{ "schedule 1\nnet n\ngroup forward c1 r1\n", 3, "'batch' must be given before" },
	{ "schedule 1\ncores 65\n", 2, "cores is 65, must be from 1 to 64" },
	{ HEAD "cores 3\ngroup forward c1 r1\n", 8, "the batch of 4 is not a multiple of the 3 cores" },
	{ HEAD "cores 2\ngroup forward c1 r1\nsub_batch 3\n", 9, "sub_batch is 3, must be from 1 to 2" },
	{ HEAD "group sideways c1 r1\n", 7, "must be forward or backward" },
	{ HEAD "group forward c1\n", 7, "takes 3 words, got 2" },
	{ HEAD "group forward c1 c9\n", 7, "no node 'c9'" },
	{ HEAD "group forward input c1\n", 7, "the image is not computed" },
	{ HEAD "group forward r1 c1\n", 7, "stands before" },
	{ HEAD "sub_batch 1\n", 7, "between a group's first line and its strips" },
	{ HEAD "strip 0\n", 7, "outside of any group" },
	{ HEAD "load act:input=0:1\n", 7, "outside of any strip" },
	{ HEAD GROUP "load act:input=0:1\n", 9, "outside of any strip" },
	{ HEAD GROUP, 8, "no strip" },
	{ HEAD "group forward c1 r1\nstrip 0\n", 8, "no 'sub_batch'" },
	{ HEAD "group forward c1 r1\nstrip 0\ngroup forward c2 c2\n", 9, "group of line 7 has no 'sub_batch'" },
	{ HEAD "group backward c1 c2\nsub_batch 1\nstrip 0\ngroup forward c1 c1\n", 10, "behind a backward one" },
	{ HEAD "group forward c1 r1\nsub_batch 5\n", 8, "sub_batch is 5, must be from 1 to 4" },
	{ HEAD GROUP "sub_batch 2\n", 9, "given twice" },
	{ HEAD GROUP "tiling some\n", 9, "must be none, overl or 2ps" },
	{ HEAD GROUP "tiling none\ntiling none\n", 10, "given twice" },
	{ HEAD GROUP "reason a\nreason b\n", 10, "given twice" },
	{ HEAD GROUP "weight r1 resident\n", 9, "not a node of this group with weights" },
	{ HEAD GROUP "weight c2 resident\n", 9, "not a node of this group with weights" },
	{ HEAD GROUP "weight c1\n", 9, "takes 2 to 4 words, got 1" },
	{ HEAD GROUP "weight c1 blocked\n", 9, "belongs to 'accounting paper'" },
	{ HEAD GROUP "weight c1 pinned\n", 9, "must be resident or streamed" },
	{ HEAD GROUP "weight c1 streamed slice\n", 9, "expected 'slice' and a number" },
	{ HEAD GROUP "weight c1 streamed slice 7\n", 9, "slice is 7, must be from 1 to 6" },
	{ HEAD GROUP "weight c1 streamed slice 3\n", 9, "108 bytes, not a multiple of the bus of 16" },
	{ HEAD GROUP "weight c1 resident slice 4\n", 9, "not streamed" },
	{ HEAD GROUP "weight c1 resident\nweight c1 resident\n", 10, "given twice" },
	{ HEAD GROUP "strip 1\n", 9, "strip 1 where strip 0 is next" },
	{ HEAD STRIP "batch 4\n", 10, "before the first group" },
	{ HEAD STRIP "tiling none\n", 10, "between a group's first line and its strips" },
	{ HEAD STRIP "load act:input\n", 10, "must be followed by =LO:HI" },
	{ HEAD STRIP "load input=0:1\n", 10, "must begin with act:" },
	{ HEAD STRIP "load foo:input=0:1\n", 10, "must begin with act:" },
	{ HEAD STRIP "load act:c7=0:1\n", 10, "no node 'c7'" },
	{ HEAD STRIP "load act:c1=0-1\n", 10, "must be LO:HI" },
	{ HEAD STRIP "load act:c1=0:9\n", 10, "is 9, must be from 0 to 8" },
	{ HEAD STRIP "load act:c1=3:3\n", 10, "rows 3:3 of 'c1' are empty" },
	{ HEAD STRIP "load act:c1=5:3\n", 10, "are empty" },
	{ HEAD STRIP "load act:c1=0:3 mask\n", 10, "takes 1 word, got 2" },
	{ HEAD STRIP "load mask:c1=0:3\n", 10, "has no mask" },
	{ HEAD STRIP "load grad:input=0:3\n", 10, "gradient of the image" },
	{ HEAD STRIP "compute act:input=0:3\n", 10, "the image is not computed" },
	{ HEAD STRIP "compute mask:r1=0:3\n", 10, "computed with its node" },
	{ HEAD STRIP "compute act:c1=0:3 mask\n", 10, "'mask' cannot stand behind act:c1" },
	{ HEAD STRIP "compute act:r1=0:3 act\n", 10, "'act' cannot stand behind act:r1" },
	{ HEAD STRIP "compute act:r1=0:3 twice\n", 10, "must be mask, act, by" },
	{ HEAD STRIP "compute grad:c2=0:3\n", 10, "gradient of the last node" },
	{ HEAD STRIP "compute grad:c1=0:3\n", 10, "needs the word 'mask' or 'act'" },
	{ HEAD STRIP "compute grad:r1=0:3 act\n", 10, "which is no relu" },
	{ HEAD STRIP "accumulate r1=0:3\n", 10, "no weight gradient" },
	{ HEAD STRIP "compute act:c1=0:4 to act:c1\n", 10, "'to' belongs to 'accounting paper'" },
	{ HEAD STRIP "compute act:c1=0:3 from act:input\n", 10, "'from' belongs to" },
	{ "schedule 1\nreserve 4KiB\n", 2, "'reserve' belongs to" },
	{ "schedule 1\nnet n\nimage 9\n", 3, "for an image of 9, the network has 8x8" },
	{ "schedule 1\nnet n\nimage 0\n", 3, "image is 0" },
	{ HEAD STRIP "accumulate grad:c1=0:3\n", 10, "no node 'grad:c1'" },
};

Test(text, faults_of_form_are_refused_with_their_line)
{
	struct net net;

	tests_net(&net, net_text);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		const struct fault *fault = &faults[i];
		struct schedule schedule;
		struct wc_error err;
		char place[32];

		cr_assert_eq(common_read(&schedule, &net, fault->text, strlen(fault->text), &err), WC_ERR_INPUT, "accepted:\n%s", fault->text);
		snprintf(place, sizeof(place), "s.txt:%d: ", fault->line);
		cr_assert_eq(strncmp(err.text, place, strlen(place)), 0, "'%s' is not at '%s' for:\n%s", err.text, place, fault->text);
		cr_assert(strstr(err.text, fault->words), "'%s' lacks '%s' for:\n%s", err.text, fault->words, fault->text);
		schedule_release(&schedule);
	}
	net_release(&net);
}

// Every single-byte change and every beginning of a text is refused with a message or read and released.
Test(text, changed_and_truncated_texts_never_crash)
{
	static const char replacements[] = { 0, '\n', ' ', ':', '=', '-', '9', 'x', '#', '\xff' };
	char changed[sizeof(canonical)];
	int refused = 0, accepted = 0;
	struct schedule schedule;
	struct wc_error err;
	struct net net;

	tests_net(&net, net_text);
	for (size_t i = 0; i < strlen(canonical); i++) {
		for (size_t j = 0; j <= sizeof(replacements); j++) {
			bool cut = j == sizeof(replacements);
			int rc;

			memcpy(changed, canonical, sizeof(canonical));
			if (!cut)
				changed[i] = replacements[j];
			rc = common_read(&schedule, &net, changed, cut ? i : strlen(canonical), &err);
			cr_assert_eq(!rc, !err.text[0]);
			rc ? refused++ : accepted++;
			schedule_release(&schedule);
		}
	}
	cr_assert_gt(refused, 1000);
	cr_assert_gt(accepted, 100);
	net_release(&net);
}

Test(text, network_name_is_found_ahead_of_parsing)
{
	struct wc_error err = { "" };
	int image;
	char *name;
	FILE *file = fmemopen((void *)canonical, strlen(canonical), "r");

	cr_assert_eq(schedule_net_name(file, "s.txt", &name, &image, &err), 0, "%s", err.text);
	cr_assert_str_eq(name, "n");
	cr_assert_eq(image, 0);
	cr_assert_eq(ftell(file), 0);
	free(name);
	fclose(file);
	file = fmemopen((void *)"net n\nimage 96\ngroup\nimage 3\n", 30, "r");
	cr_assert_eq(schedule_net_name(file, "s.txt", &name, &image, &err), 0, "%s", err.text);
	cr_assert_eq(image, 96);
	free(name);
	fclose(file);
	file = fmemopen((void *)"schedule 1\nbatch 3\n", 19, "r");
	cr_assert_eq(schedule_net_name(file, "s.txt", &name, &image, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "s.txt: not a schedule: it has no line 'net NAME'"), "%s", err.text);
	cr_assert_null(name);
	fclose(file);
}

// The table of driver/README.md, "Grammar".
Test(text, headers_required_and_left_out)
{
	static const char *const lines[] = {"net n\n", "batch 4\n", "array 16x8\n", "buffer 64KiB\n", "bus 16\n"};
	static const bool required[2][5] = {{true, true, true, true, true}, {true, true, false, true, false}}; // device, paper
	struct net net;

	tests_net(&net, net_text);
	for (int paper = 0; paper < 2; paper++)
		for (int left_out = -1; left_out < 5; left_out++) {
			struct wc_error err = { "" };
			struct schedule schedule;
			char text[256] = "schedule 1\n";
			int rc;

			for (int i = 4; i >= 0; i--)
				strcat(text, i == left_out ? "" : lines[i]);
			strcat(text, paper ? "accounting paper\n" STRIP "load act:input=0:8\n" : STRIP "load act:input=0:8\n");
			rc = common_read(&schedule, &net, text, strlen(text), &err);
			cr_expect_eq(rc, left_out >= 0 && required[paper][left_out] ? WC_ERR_INPUT : 0, "%s: %s", text, err.text);
			if (!rc) {
				cr_expect_eq(schedule.cores, 1);
				cr_expect_eq(schedule.accounting, paper ? SCHED_PAPER : SCHED_DEVICE);
				cr_expect_eq(schedule.reserve_bytes + (unsigned)schedule.image + (unsigned)schedule.groups[0].tiling, 0);
				cr_expect_null(schedule.planner);
			}
			schedule_release(&schedule);
		}
	net_release(&net);
}
