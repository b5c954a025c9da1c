// SPDX-License-Identifier: Apache-2.0
//
// What the text's parser already refuses, made in memory: the checker does not lean on the parser. And the buffer's limit.
#include <criterion/criterion.h>
#include <string.h>

#include "tests/check/fixture.h"

enum { IMAGE, CONV1, RELU1, CONV2 };

static struct net net;
static struct schedule schedule;

static void setup(void)
{
	fixture_small_net(&net);
	fixture_schedule(&schedule, &net, fixture_layerwise);
}

static void teardown(void)
{
	schedule_release(&schedule);
	net_release(&net);
}

TestSuite(form, .init = setup, .fini = teardown);

static struct check_result expect(enum check_kind kind)
{
	struct check_result result;
	struct wc_error err = {""};
	int rc = schedule_check(&schedule, &net, &result, &err);

	cr_assert_eq(rc == 0, kind == CHECK_NONE, "%s", err.text);
	cr_assert_eq(result.ok, kind == CHECK_NONE);
	cr_assert_eq(result.violation.kind, kind, "%s: %s", check_kind_name(result.violation.kind), err.text);
	return result;
}

static struct sched_statement *statement(int group, int index)
{
	return &schedule.groups[group].strips[0].statements[index];
}

static void swap_groups(int a, int b)
{
	struct sched_group group = schedule.groups[a];

	schedule.groups[a] = schedule.groups[b];
	schedule.groups[b] = group;
}

Test(form, the_unchanged_schedule_is_proven)
{
	expect(CHECK_NONE);
}

Test(form, what_the_device_has_not_is_refused_without_a_verdict)
{
	struct check_result result;
	struct wc_error err = {""};

	net.nodes[RELU1].op = NET_ADAPTIVE_POOL;
	cr_assert_eq(schedule_check(&schedule, &net, &result, &err), WC_ERR_INPUT);
	cr_assert_not(result.ok);
	cr_assert_eq(result.violation.kind, CHECK_NONE);
	cr_assert_not_null(strstr(err.text, "node 'relu1' is an adaptive pool, which the device has not"), "%s", err.text);
	net.nodes[RELU1].op = NET_MAX_POOL;
	net.nodes[RELU1].conv.kernel_h = net.nodes[RELU1].conv.kernel_w = 17;
	cr_assert_eq(schedule_check(&schedule, &net, &result, &err), WC_ERR_INPUT);
	cr_assert_eq(result.violation.kind, CHECK_NONE);
	cr_assert_not_null(strstr(err.text, "node 'relu1' is of op max_pool with a kernel of 17x17, 289 taps, the device's limit is 256 taps"), "%s", err.text);
	net.nodes[RELU1].op = NET_RELU;
	cr_assert_eq(schedule_check_with(&schedule, &net, &(struct check_options){.loss = true}, &result, &err), WC_ERR_INPUT);
	cr_assert_eq(result.violation.kind, CHECK_NONE);
	cr_assert_not_null(strstr(err.text, "has no loss node"), "%s", err.text);
}

Test(form, what_belongs_to_paper_accounting_is_refused)
{
	int *const counts[] = {&statement(0, 1)->from_count, &statement(0, 1)->to_count, &statement(0, 1)->saved_count, &statement(3, 3)->through_count};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		*counts[i] = 1;
		expect(CHECK_FORM);
		*counts[i] = 0;
	}
	statement(3, 3)->by = CONV2; // which the only reader may say as well
	expect(CHECK_NONE);
	statement(3, 3)->by = RELU1;
	expect(CHECK_FORM);
	statement(3, 3)->by = 0;
	schedule.groups[0].weight[CONV1] = (struct sched_policy){.blocked = true};
	expect(CHECK_FORM);
}

Test(form, batch_bus_and_groups_must_make_sense)
{
	int groups = schedule.group_count;

	schedule.batch = 0;
	expect(CHECK_FORM);
	schedule.batch = 3;
	schedule.bus_bytes = 24;
	expect(CHECK_FORM);
	schedule.bus_bytes = 16;
	schedule.group_count = 0;
	expect(CHECK_FORM);
	schedule.group_count = groups;
	expect(CHECK_NONE);
}

Test(form, a_forward_group_behind_a_backward_one_is_out_of_order)
{
	// A second forward run of conv1 behind everything: harmless to the values, but not a schedule.
	struct sched_group group = schedule.groups[5];

	schedule.groups[5] = schedule.groups[0];
	cr_assert_eq(expect(CHECK_ORDER).violation.place.group, 5);
	schedule.groups[5] = group;
	swap_groups(2, 3);
	cr_assert_eq(expect(CHECK_ORDER).violation.place.group, 3);
	swap_groups(2, 3);
	swap_groups(0, 1);
	expect(CHECK_NOT_STORED);
}

Test(form, the_gradient_of_a_relu_needs_its_word)
{
	statement(4, 2)->with = SCHED_WITH_NONE;
	cr_assert_eq(expect(CHECK_FORM).violation.node, CONV1);
	statement(4, 2)->with = SCHED_WITH_MASK;
	cr_assert_eq(expect(CHECK_ABSENT).violation.tensor, SCHED_MASK);
}

Test(form, words_stand_only_where_they_mean_something)
{
	statement(0, 1)->with = SCHED_WITH_MASK;
	expect(CHECK_FORM);
	statement(0, 1)->with = SCHED_WITH_NONE;
	statement(1, 1)->with = SCHED_WITH_ACT;
	expect(CHECK_FORM);
	statement(1, 1)->with = SCHED_WITH_NONE;
	statement(0, 0)->with = SCHED_WITH_ACT;
	expect(CHECK_FORM);
}

Test(form, what_is_given_is_not_computed)
{
	*statement(0, 1) = (struct sched_statement){.op = SCHED_COMPUTE, .tensor = SCHED_ACT, .node = IMAGE, .lo = 0, .hi = 16};
	expect(CHECK_FORM);
	*statement(0, 1) = (struct sched_statement){.op = SCHED_COMPUTE, .tensor = SCHED_GRAD, .node = CONV2, .lo = 0, .hi = 16};
	expect(CHECK_FORM);
	*statement(0, 1) = (struct sched_statement){.op = SCHED_COMPUTE, .tensor = SCHED_MASK, .node = RELU1, .lo = 0, .hi = 16};
	expect(CHECK_FORM);
	*statement(0, 1) = (struct sched_statement){.op = SCHED_LOAD, .tensor = SCHED_GRAD, .node = IMAGE, .lo = 0, .hi = 16};
	expect(CHECK_FORM);
}

Test(form, gradients_belong_to_backward_groups)
{
	schedule.groups[0].last = CONV2;
	*statement(0, 1) = (struct sched_statement){.op = SCHED_COMPUTE, .tensor = SCHED_GRAD, .node = RELU1, .lo = 0, .hi = 16};
	expect(CHECK_FORM);
	*statement(0, 1) = (struct sched_statement){.op = SCHED_ACCUMULATE, .tensor = SCHED_GRAD, .node = CONV1, .lo = 0, .hi = 16};
	expect(CHECK_FORM);
}

Test(form, rows_outside_a_tensor_are_refused)
{
	statement(0, 1)->hi = 17;
	expect(CHECK_FORM);
	statement(0, 1)->hi = 0;
	expect(CHECK_FORM);
	statement(0, 1)->hi = 16;
	statement(0, 1)->lo = -1;
	expect(CHECK_FORM);
	statement(0, 1)->lo = 0;
	statement(0, 1)->node = 4;
	expect(CHECK_FORM);
}

Test(form, a_slice_must_end_on_the_bus)
{
	// conv2 has filters of 4 x 9 channels of 2 bytes: 72 bytes, 4.5 beats.
	schedule.groups[2].weight[CONV2].slice = 1;
	cr_assert_eq(expect(CHECK_FORM).violation.node, CONV2);
	schedule.groups[2].weight[CONV2].slice = 4;
	expect(CHECK_NONE);
	// Filters of 1 x 36 channels end on it, biases do not.
	schedule.groups[2].weight[CONV2].slice = 2;
	expect(CHECK_NONE);
	net.nodes[CONV2].bias = true;
	cr_assert_eq(expect(CHECK_FORM).violation.node, CONV2);
}

// conv2's data gradient in slices, group 3: 4 rows of the array are not 2 channels.
Test(form, slices_of_a_data_gradient_are_multiples_of_the_array)
{
	schedule.groups[3].weight[CONV2].slice = 2;
	cr_assert_eq(expect(CHECK_FORM).violation.place.statement, 3);
	schedule.rows = 2;
	expect(CHECK_NONE);
	schedule.rows = 4;
	schedule.groups[3].weight[CONV2].slice = 4; // one slice is none
	expect(CHECK_NONE);
}

Test(form, policies_name_convolutions_of_the_group)
{
	schedule.groups[0].weight[CONV2].resident = true;
	expect(CHECK_FORM);
	schedule.groups[0].weight[CONV2].resident = false;
	schedule.groups[0].wgrad[CONV1].resident = true;
	expect(CHECK_FORM);
	schedule.groups[0].wgrad[CONV1].resident = false;
	schedule.groups[1].weight[RELU1].resident = true;
	expect(CHECK_FORM);
}

Test(form, resident_sums_that_nothing_fills_are_refused)
{
	*statement(5, 2) = *statement(5, 1);
	schedule.groups[5].strips[0].statement_count = 2;
	schedule.groups[5].wgrad[CONV1].resident = true;
	cr_assert_eq(expect(CHECK_FORM).violation.place.group, 5);
}

Test(form, resident_sums_cannot_continue_those_of_an_earlier_group)
{
	struct sched_group *groups = schedule.groups;

	// conv2's rows are split over groups 3 and 5; streamed sums go on, resident ones start from zero.
	statement(3, 2)->hi = 8;
	groups[4].last = CONV2;
	*statement(4, 1) = (struct sched_statement){.op = SCHED_LOAD, .tensor = SCHED_GRAD, .node = CONV2, .lo = 0, .hi = 16};
	cr_assert_eq(expect(CHECK_ABSENT).violation.place.group, 4);
	*statement(4, 0) = (struct sched_statement){.op = SCHED_LOAD, .tensor = SCHED_ACT, .node = RELU1, .lo = 0, .hi = 16};
	*statement(4, 2) = (struct sched_statement){.op = SCHED_ACCUMULATE, .tensor = SCHED_GRAD, .node = CONV2, .lo = 8, .hi = 16};
	groups[4].strips[0].statement_count = 3;
	cr_assert_eq(expect(CHECK_NOT_STORED).violation.place.group, 5); // grad:conv1 is computed no more
	groups[4].wgrad[CONV2].resident = true;
	cr_assert_eq(expect(CHECK_ORDER).violation.place.group, 4);
}

Test(form, a_layer_outside_its_group_is_refused)
{
	schedule.groups[1].first = schedule.groups[1].last = CONV2;
	cr_assert_eq(expect(CHECK_FORM).violation.place.group, 1);
}

Test(form, an_enlarged_sub_batch_overflows_where_it_no_longer_fits)
{
	struct check_result result;

	schedule_release(&schedule);
	fixture_schedule(&schedule, &net, fixture_serialized);
	schedule.buffer_bytes = 9344; // backward of 2 samples: two slabs of 4096, weights 288, sums 288 + 576
	cr_assert_eq(expect(CHECK_NONE).peak_bytes, 9344);
	schedule.buffer_bytes = 9343;
	result = expect(CHECK_BUFFER);
	cr_assert_eq(result.violation.place.group, 1);
	cr_assert_eq(result.violation.place.statement, 1);
	schedule.buffer_bytes = 9344;
	schedule.groups[0].sub_batch = 3;
	result = expect(CHECK_BUFFER); // forward: 3 samples of relu1 and conv2 with weights 144 + 288
	cr_assert_eq(result.violation.place.group, 0);
	cr_assert_eq(result.violation.node, CONV1);
	cr_assert_not_null(strstr(result.violation.text, "9648"), "%s", result.violation.text);
}
