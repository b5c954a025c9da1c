// SPDX-License-Identifier: Apache-2.0
//
// A convolution of several groups on the device: its commands and bytes by hand, in slices of whole groups, and the slices that expansion refuses.
#include <criterion/criterion.h>
#include <string.h>

#include "driver/plan/account.h"
#include "driver/plan/check/check.h"
#include "driver/plan/device/program.h"
#include "tests/net_text.h"
#include "tests/plan/common.h"

// Bytes of a row: image 5 x 8 x 2 = 80, c0 160, a 3 x 24 x 2 = 144. Filters of a have 3 x 3 x 4 = 36 weights; a group has 4 input and 6 output channels.
static const char yaml[] = "name: g\ninput: {height: 7, width: 5, channels: 8}\nnodes:\n  - {name: c0, op: conv, channels: 16, kernel: 1}\n"
			   "  - {name: a, op: conv, channels: 24, kernel: 3, stride: 2, pad: 1, groups: 4, bias: true}\n";

static const char head[] = "schedule 1\nnet g\nbatch 2\narray 4x4\nbuffer 16384\nbus 16\n";
static const char forward[] = "group forward c0 a\nsub_batch 1\nweight a streamed%s\nstrip 0\nload act:input=0:7\ncompute act:c0=0:7\nstore act:c0=0:7\n"
			      "compute act:a=0:4\nstore act:a=0:4\n";
static const char backward[] = "group backward c0 a\nsub_batch 1\nwgrad a streamed%s\nweight a streamed%s\nstrip 0\nload grad:a=0:4\nload act:c0=0:7\n"
			       "accumulate a=0:4\nfree act:c0\ncompute grad:c0=0:7\nload act:input=0:7\naccumulate c0=0:7\n";

static void make(struct schedule *schedule, const struct net *net, const char *forward_slice, const char *sums_slice, const char *weight_slice)
{
	struct wc_error err;
	char text[2048], *end = text + sizeof(text), *at = text;

	at += snprintf(at, (size_t)(end - at), "%s", head);
	at += snprintf(at, (size_t)(end - at), forward, forward_slice);
	snprintf(at, (size_t)(end - at), backward, sums_slice, weight_slice);
	cr_assert_eq(common_read(schedule, net, text, strlen(text), &err), 0, "%s", err.text);
}

static void expect_counts(const char *forward_slice, const char *sums_slice, uint64_t commands, uint64_t weight_bytes, uint64_t sums_read,
			  uint64_t sums_written)
{
	struct check_result result;
	struct schedule schedule;
	struct account account;
	struct program program;
	struct wc_error err;
	struct net net;

	tests_net(&net, yaml);
	make(&schedule, &net, forward_slice, sums_slice, "");
	account_schedule(&schedule, &net, 256, &account);
	cr_expect_eq(account.commands, commands, "%lu commands", account.commands);
	cr_expect_eq(account.read_bytes[WC_CLASS_WEIGHT], weight_bytes, "%lu of weights", account.read_bytes[WC_CLASS_WEIGHT]);
	cr_expect_eq(account.read_bytes[WC_CLASS_WEIGHT_GRADIENT], sums_read, "%lu of sums", account.read_bytes[WC_CLASS_WEIGHT_GRADIENT]);
	cr_expect_eq(account.write_bytes[WC_CLASS_WEIGHT_GRADIENT], sums_written, "%lu of sums", account.write_bytes[WC_CLASS_WEIGHT_GRADIENT]);
	// Of a sample: c0 7 x 5 x 16 x 8, a 4 x 3 x 24 x 36, and forward, weight and data gradient of a.
	cr_expect_eq(account.macs, 2 * (2 * 4480 + 3 * 10368), "%lu MACs", account.macs);
	cr_expect_eq(account.extra_macs, 0);
	cr_expect_eq(schedule_check(&schedule, &net, &result, &err), 0, "%s", err.text);
	cr_expect_eq(result.commands, commands);
	cr_expect_eq(program_expand(&program, &schedule, &net, &err), 0, "%s", err.text);
	program_release(&program);
	schedule_release(&schedule);
	net_release(&net);
}

// c0: 256 bytes of weights, 512 of sums; a: 24 x 72 = 1728 and 3456, biases of 48 and 96. Two samples, one after the other.
Test(groups, commands_and_bytes_are_those_of_the_groups)
{
	// Forward, a sample: input 1, c0 1 + 4 + 1, a 2 moves, the bias in fp32, 4 groups of 1 x 2 tiles, 1: 19. Backward: 2 loads, a 4 groups of 1 x 9 tiles, 2
	// for the bias and 2 moves, its input's gradient 1 and 4 groups of four classes of 1 x 1, input 1, c0 2 + 1. The second sample reads sums, 2 + 1.
	expect_counts("", "", 2 * 19 + 2 * (2 + 36 + 2 + 2 + 1 + 16 + 1 + 2 + 1) + 2 + 1, 2 * (256 + 1728 + 48 + 1728), 512 + 3456 + 96, 2 * (512 + 3456 + 96));
}

// Of two groups each: twice the moves of filters and biases, a conversion and a column of ones more, and the same tiles.
Test(groups, slices_of_whole_groups)
{
	const uint64_t plain = 2 * 19 + 2 * 63 + 3;

	// 12 biases of 2 bytes are no whole beats, of 4 they are.
	expect_counts("", " slice 12", plain + 2 * (2 + 2) + 2, 2 * (256 + 1728 + 48 + 1728), 512 + 3456 + 96, 2 * (512 + 3456 + 96));
}

// Made in memory, as the parser would not: expansion and checker do not lean on it.
static void expect_refused(int group, bool sums, int slice, const char *words)
{
	struct check_result result;
	struct schedule schedule;
	struct program program;
	struct wc_error err;
	struct net net;
	int node;

	tests_net(&net, yaml);
	node = net_find(&net, "a");
	make(&schedule, &net, "", "", "");
	(sums ? schedule.groups[group].wgrad : schedule.groups[group].weight)[node].slice = slice;
	cr_expect_eq(program_expand(&program, &schedule, &net, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, words), "'%s' lacks '%s'", err.text, words);
	cr_expect_eq(schedule_check(&schedule, &net, &result, &err), WC_ERR_INPUT);
	cr_expect_eq(result.violation.kind, CHECK_FORM);
	schedule_release(&schedule);
	net_release(&net);
}

Test(groups, other_slices_are_refused)
{
	expect_refused(0, false, 8, "group 0 (forward c0..a): a slice of 8 channels cuts a group of 'a', each of which has 6");
	expect_refused(1, true, 16, "group 1 (backward c0..a): a slice of 16 channels cuts a group of 'a', each of which has 6");
	// A part of the last group.
	expect_refused(1, true, 20, "a slice of 20 channels cuts a group of 'a'");
}

// The sums of a group's data gradient are not kept between slices.
Test(groups, a_data_gradient_has_its_weights_at_once)
{
	expect_refused(1, false, 8, "group 1 (backward c0..a): a data gradient in slices of 8 channels of 'a', which has 4 groups");
}

static void expect_unread(const char *policy, const char *words)
{
	struct schedule schedule;
	struct wc_error err;
	char text[512];
	struct net net;

	tests_net(&net, yaml);
	snprintf(text, sizeof(text), "%sgroup forward c0 a\nsub_batch 1\n%s\n", head, policy);
	cr_assert_eq(common_read(&schedule, &net, text, strlen(text), &err), WC_ERR_INPUT, "accepted: %s", policy);
	cr_expect_str_eq(err.text, words);
	net_release(&net);
}

Test(groups, the_parser_names_the_line_of_a_slice_that_cuts_a_group)
{
	expect_unread("weight a streamed slice 8", "s.txt:9: slice 8 of 'a' cuts a group, each of which has 6 output channels");
	expect_unread("wgrad a streamed slice 20", "s.txt:9: slice 20 of 'a' cuts a group, each of which has 6 output channels");
	// Smaller than a group, whose filters are whole beats.
	expect_unread("weight a streamed slice 2", "s.txt:9: slice 2 of 'a' cuts a group, each of which has 6 output channels");
}
