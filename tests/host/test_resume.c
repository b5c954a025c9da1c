// SPDX-License-Identifier: Apache-2.0
//
// Rule: a run that was stopped and taken up again has the results and the bytes of one that was not, and on the RTL its cycles: the
// device rests after each part anyway.
#include <criterion/criterion.h>
#include <string.h>

#include "rig.h"
#include "whole_net.h"

// Where to stop, and what was known there.
struct stop {
	uint64_t at, last;
	struct run_position position;
};

static void keep(struct run_position *to, const struct run_position *from)
{
	const size_t bytes = (size_t)from->profile.node_count * PROFILE_PHASES * sizeof(*from->profile.entries);

	free(to->profile.entries);
	*to = *from;
	to->profile.entries = malloc(bytes);
	cr_assert(to->profile.entries);
	memcpy(to->profile.entries, from->profile.entries, bytes);
}

static int on_part(void *context, const struct run_position *position, struct wc_error *err)
{
	struct stop *stop = context;

	(void)err;
	cr_expect_eq(position->parts, stop->last + 1);
	stop->last = position->parts;
	keep(&stop->position, position);
	return position->parts == stop->at ? WC_ERR_STOPPED : 0;
}

static void start(struct rig *rig, enum device_kind kind, int cores)
{
	rig_start_cores(rig, whole_net, "mbs2", cores, 16, 16, 3 * cores, 65536, 16, 11);
	cr_assert(rig->planned, "%s", rig->err.text);
	rig_train(rig);
	rig->options.device.kind = kind;
	if (kind == DEVICE_RTL)
		rig->options.device.rtl = (struct wc_rtl_options){.library = "build/rtl/r16c16-b65536-w16-m1-rtl/wc_rtl.so", .latency_cycles = 100};
}

// The run without a stop; its result is the caller's to release.
static uint64_t run_through(enum device_kind kind, int cores, struct run_result *result)
{
	struct stop stop = {0};
	const struct run_resume resume = {.part_done = on_part, .context = &stop};
	struct rig rig;

	start(&rig, kind, cores);
	rig.options.resume = &resume;
	rig_expect_right(&rig, rig_run(&rig));
	*result = rig.result;
	rig.result = (struct run_result){0};
	rig_stop(&rig);
	free(stop.position.profile.entries);
	return stop.last;
}

static void expect_same(const struct run_result *result, const struct run_result *whole)
{
	cr_expect_eq(result->loss, whole->loss);
	cr_expect_eq(result->counts.tiles, whole->counts.tiles);
	cr_expect_eq(result->commands, whole->commands);
	cr_expect_arr_eq(result->read_bytes, whole->read_bytes, sizeof(whole->read_bytes));
	cr_expect_arr_eq(result->write_bytes, whole->write_bytes, sizeof(whole->write_bytes));
	cr_assert_eq(result->digest_count, whole->digest_count);
	for (int i = 0; i < whole->digest_count; i++)
		cr_expect_eq(result->digests[i].crc, whole->digests[i].crc, "node %d", whole->digests[i].node);
	cr_expect_eq(result->cycles, whole->cycles);
	for (enum wc_counter counter = 0; result->cycles && counter < WC_COUNTER_COUNT; counter++)
		cr_expect_eq(result->counters[counter], whole->counters[counter], "%s", wc_counter_name(counter));
	cr_expect_eq(rig_profile_cycles(&result->profile), result->cycles);
	for (int i = 0; i < whole->profile.node_count * PROFILE_PHASES; i++)
		cr_expect_eq(result->profile.entries[i].cycles, whole->profile.entries[i].cycles, "layer and phase %d", i);
}

// Stop after part `at`, and take the run up there.
static void stop_at(enum device_kind kind, int cores, uint64_t at, const struct run_result *whole)
{
	struct stop stop = {.at = at};
	struct run_resume resume = {.part_done = on_part, .context = &stop};
	struct rig rig;

	start(&rig, kind, cores);
	rig.options.resume = &resume;
	cr_assert_eq(rig_run(&rig), WC_ERR_STOPPED);
	rig_stop(&rig);

	struct run_position from = {0};

	keep(&from, &stop.position);
	resume.from = &from;
	stop.at = 0;
	start(&rig, kind, cores);
	rig.options.resume = &resume;
	rig_expect_right(&rig, rig_run(&rig));
	expect_same(&rig.result, whole);
	rig_stop(&rig);
	free(from.profile.entries);
	free(stop.position.profile.entries);
}

Test(resume, goes_on_behind_any_part)
{
	struct run_result whole;
	const uint64_t parts = run_through(DEVICE_MODEL, 1, &whole);

	cr_assert_gt(parts, 1);
	for (uint64_t at = 1; at < parts; at++)
		stop_at(DEVICE_MODEL, 1, at, &whole);
	run_result_release(&whole);
}

// Both global buffers, and each core's place in its ring.
Test(resume, of_two_cores_goes_on_behind_any_part)
{
	struct run_result whole;
	const uint64_t parts = run_through(DEVICE_MODEL, 2, &whole);

	cr_assert_gt(parts, 2);
	for (uint64_t at = 1; at < parts; at++)
		stop_at(DEVICE_MODEL, 2, at, &whole);
	run_result_release(&whole);
}

Test(resume, has_the_cycles_of_the_rtl_before)
{
	struct run_result whole;
	const uint64_t parts = run_through(DEVICE_RTL, 1, &whole);

	stop_at(DEVICE_RTL, 1, 1, &whole);
	stop_at(DEVICE_RTL, 1, parts / 2, &whole);
	run_result_release(&whole);
}
