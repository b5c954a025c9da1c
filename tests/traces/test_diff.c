// SPDX-License-Identifier: Apache-2.0
//
// Comparing a device's trace, with cycles and overlapping commands, with the golden model's. Planted differences must be found where
// they are, and nothing else.
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "traces/wct_diff.h"

static struct run device, golden;

static void create(void)
{
	scratch_create();
	run_create(&device, test_seed(), true);
	run_create(&golden, 99, false);
	run_interleave(&device, test_seed());
}

static void destroy(void)
{
	run_free(&device);
	run_free(&golden);
	scratch_remove();
}

TestSuite(diff, .init = create, .fini = destroy);

static int diff_levels(enum wct_level device_level, enum wct_level golden_level, struct wct_diff_report *report, struct wc_error *err)
{
	struct wct_diff_options options = { .timing = false };

	run_write(&device, device.count, scratch_path("device.wct"), device_level, 11, true);
	run_write(&golden, golden.count, scratch_path("golden.wct"), golden_level, 17, true);
	return wct_diff(scratch_path("device.wct"), scratch_path("golden.wct"), &options, report, err);
}

static int diff(struct wct_diff_report *report, struct wc_error *err)
{
	return diff_levels(WCT_LEVEL_CYCLE, WCT_LEVEL_CYCLE, report, err);
}

static struct wct_event *event_of(struct run *run, enum wct_kind kind, uint32_t command, size_t nth)
{
	return &run->events[run_find(run, kind, command, nth)];
}

Test(diff, equal_runs_agree_however_the_device_interleaves)
{
	for (uint64_t seed = 1; seed < 20; seed++) {
		struct wct_diff_report report;
		struct wc_error err;

		run_interleave(&device, seed);
		cr_assert_eq(diff(&report, &err), 0, "%s", err.text);
		cr_assert_eq(report.first.difference, WCT_SAME);
		cr_assert_eq(report.compared[WCT_TILE], 12);
		cr_assert_eq(report.elements_compared, 12 * 24);
		cr_assert_eq(report.compared[WCT_RESULT], 6);
		cr_assert_eq(report.compared[WCT_WAVE_BEGIN], 36);
		cr_assert_eq(report.compared[WCT_COMMAND_END], 24);
		cr_assert_eq(report.compared[WCT_HIGH_WATER], 2);
		cr_assert_eq(report.compared[WCT_BURST], 0);
		cr_assert_eq(report.not_compared_got[WCT_BURST], 18);
		cr_assert_eq(report.not_compared_got[WCT_COUNTER], 1);
		cr_assert_eq(report.not_compared_expected[WCT_BURST], 0);
	}
}

Test(diff, one_flipped_bit_is_located_to_the_element)
{
	uint64_t state = test_seed();

	for (int round = 0; round < 40; round++) {
		uint32_t gemm = 4 * (uint32_t)(random_next(&state) % 6) + 1 + (uint32_t)(random_next(&state) % 2);
		struct wct_event *event = event_of(&device, WCT_TILE, gemm, 0);
		uint32_t m = (uint32_t)(random_next(&state) % event->tile.rows), n = (uint32_t)(random_next(&state) % event->tile.cols);
		uint32_t *value = (uint32_t *)&event->tile.bits[m * event->tile.cols + n], right = *value;
		struct wct_diff_report report;
		struct wc_error err;

		*value ^= 1;
		cr_assert_eq(diff(&report, &err), WC_ERR_MISMATCH);
		cr_assert_eq(report.first.difference, WCT_DIFFERS);
		cr_assert_eq(report.first.kind, WCT_TILE);
		cr_assert_eq(report.first.command, gemm);
		cr_assert_eq(report.first.layer, event->layer);
		cr_assert_str_eq(report.first.layer_name, event->layer_name);
		cr_assert_eq(report.first.phase, event->phase);
		// Layer 0: rows m from 3 on, 4 to a sample, from sample 2 on. Layer 1: m is no pixel.
		cr_assert_eq(report.first.sample, event->layer == 0 ? 2 + (3 + m) / 4 : 2);
		cr_assert_eq(report.first.tile_m, gemm);
		cr_assert_eq(report.first.tile_n, 0);
		cr_assert_eq(report.first.wave, 2);
		cr_assert(report.first.has_element);
		cr_assert_eq(report.first.m, m);
		cr_assert_eq(report.first.n, n);
		cr_assert(report.first.has_cycle);
		cr_assert_eq(report.first.cycle, event->tile.row_cycles[m]);
		cr_assert_eq(report.first.got, right ^ 1);
		cr_assert_eq(report.first.expected, right);
		cr_assert_eq(report.first.is_fp32, event->tile.is_fp32);
		cr_assert_eq(report.first.ulps, 1);
		cr_assert_eq(report.first.elements, 24);
		cr_assert_eq(report.first.elements_differing, 1);
		cr_assert_eq(report.differing[WCT_TILE], 1);
		cr_assert_eq(report.differing[WCT_RESULT], 0);
		*value = right;
	}
}

Test(diff, the_lowest_command_comes_first_wherever_it_stands)
{
	struct wct_diff_report report;
	struct wc_error err;

	((uint32_t *)event_of(&device, WCT_TILE, 9, 0)->tile.bits)[0] ^= 2;
	((uint32_t *)event_of(&device, WCT_TILE, 5, 0)->tile.bits)[7] ^= 4;
	((uint32_t *)event_of(&device, WCT_TILE, 5, 0)->tile.bits)[9] ^= 4;
	event_of(&device, WCT_RESULT, 7, 0)->result.digest++;
	cr_assert_eq(diff(&report, &err), WC_ERR_MISMATCH);
	cr_assert_eq(report.first.command, 5);
	cr_assert_eq(report.first.m, 1);
	cr_assert_eq(report.first.n, 3);
	cr_assert_eq(report.first.elements_differing, 2);
	cr_assert_eq(report.differing[WCT_TILE], 2);
	cr_assert_eq(report.differing[WCT_RESULT], 1);
	cr_assert(strstr(err.text, "command 5"), "%s", err.text);
}

Test(diff, digests_alone_find_the_tile)
{
	for (int side = 0; side < 2; side++) {
		struct wct_diff_report report;
		struct wc_error err;

		cr_assert_eq(diff_levels(side ? WCT_LEVEL_CYCLE : WCT_LEVEL_TILE, side ? WCT_LEVEL_TILE : WCT_LEVEL_CYCLE, &report, &err), 0,
			     "%s", err.text);
		cr_assert_eq(report.compared[WCT_TILE], 12);
		cr_assert_eq(report.elements_compared, 0);
		cr_assert_eq(report.compared[WCT_WAVE_BEGIN], 0);
		((uint32_t *)event_of(&device, WCT_TILE, 6, 0)->tile.bits)[3] ^= 1;
		cr_assert_eq(diff_levels(side ? WCT_LEVEL_CYCLE : WCT_LEVEL_TILE, side ? WCT_LEVEL_TILE : WCT_LEVEL_CYCLE, &report, &err),
			     WC_ERR_MISMATCH);
		cr_assert_eq(report.first.command, 6);
		cr_assert_not(report.first.has_element);
		cr_assert(strstr(report.first.text, "digest"), "%s", report.first.text);
		((uint32_t *)event_of(&device, WCT_TILE, 6, 0)->tile.bits)[3] ^= 1;
	}
}

// What is changed in one event of command 5 or 7, and what the report must then say.
static void check_change(enum wct_kind kind, uint32_t command, const char *says)
{
	struct wct_diff_report report;
	struct wc_error err;

	cr_assert_eq(diff(&report, &err), WC_ERR_MISMATCH, "%s", says);
	cr_assert_eq(report.first.kind, kind);
	cr_assert_eq(report.first.command, command);
	cr_assert(strstr(report.first.text, says), "'%s' does not say '%s'", report.first.text, says);
}

Test(diff, every_field_that_matters_is_compared)
{
	struct wct_event *event, saved;

#define CHANGE(KIND, COMMAND, NTH, STATEMENT, SAYS)                   \
	do {                                                          \
		event = event_of(&device, (KIND), (COMMAND), (NTH));  \
		saved = *event;                                       \
		STATEMENT;                                            \
		check_change((KIND), (COMMAND), (SAYS));              \
		*event = saved;                                       \
	} while (0)
	CHANGE(WCT_COMMAND_BEGIN, 5, 0, event->command_info.opcode = 9, "opcode: got 9, expected 3");
	CHANGE(WCT_WAVE_BEGIN, 5, 1, event->wave.index = 7, "wave: got 7, expected 1");
	CHANGE(WCT_WAVE_END, 5, 2, event->wave.rows = 7, "rows: got 7, expected 6");
	CHANGE(WCT_TILE, 5, 0, event->tile.rows = 5, "rows: got 5, expected 6");
	CHANGE(WCT_TILE, 5, 0, event->tile.cols = 3, "columns: got 3, expected 4");
	CHANGE(WCT_TILE, 5, 0, event->tile.is_fp32 = true, "type: got fp32, expected fp16");
	CHANGE(WCT_TILE, 5, 0, event->tile.waves = 4, "waves: got 4, expected 3");
	CHANGE(WCT_TILE, 5, 0, event->layer_name = "conv9", "layer: got 0 'conv9', expected 0 'conv 1'");
	CHANGE(WCT_TILE, 5, 0, event->phase = WCT_PHASE_DATA_GRADIENT, "phase: got data_gradient, expected forward");
	CHANGE(WCT_TILE, 5, 0, event->coord[WCT_TILE_M] = 4, "tile_m: got 4, expected 5");
	CHANGE(WCT_RESULT, 7, 0, event->result.name = "act:other", "tensor: got 'act:other'");
	CHANGE(WCT_RESULT, 7, 0, event->result.bytes = 1, "bytes: got 1, expected 48");
	CHANGE(WCT_RESULT, 7, 0, event->result.digest ^= 1, "digest: got");
	CHANGE(WCT_HIGH_WATER, WCT_NO_COMMAND, 0, event->high_water.bytes = 5, "bytes: got 5, expected 60000");
	CHANGE(WCT_HIGH_WATER, WCT_NO_COMMAND, 1, event->high_water.capacity_bytes = 5, "capacity: got 5");
#undef CHANGE
}

// Both runs as core 0's and, once more, as core 1's.
static void double_cores(struct run *run)
{
	struct wct_event *events = malloc(2 * run->count * sizeof(*events));
	size_t count = 0;

	cr_assert(events);
	for (int core = 0; core < 2; core++)
		for (size_t i = 0; i < run->count; i++) {
			if (core && run->events[i].command == WCT_NO_COMMAND)
				continue;
			events[count] = run->events[i];
			if (events[count].command != WCT_NO_COMMAND)
				wct_event_set_coord(&events[count], WCT_CORE, core);
			count++;
		}
	free(run->events);
	run->events = events;
	run->count = count;
}

Test(diff, commands_of_two_cores_are_told_apart)
{
	struct wct_diff_report report;
	struct wct_event *event;
	struct wc_error err;
	char *text = NULL;
	size_t size;
	FILE *file;

	double_cores(&device);
	double_cores(&golden);
	run_interleave(&device, test_seed());
	cr_assert_eq(diff(&report, &err), 0, "%s", err.text);
	cr_assert_eq(report.compared[WCT_TILE], 24);
	event = event_of(&device, WCT_RESULT, 7, 0);
	if (event->coord[WCT_CORE] == 0)
		event = event_of(&device, WCT_RESULT, 7, 1);
	cr_assert_eq(event->coord[WCT_CORE], 1);
	event->result.digest ^= 1;
	cr_assert_eq(diff(&report, &err), WC_ERR_MISMATCH);
	cr_expect_eq(report.first.command, 7);
	cr_expect_eq(report.first.core, 1);
	file = open_memstream(&text, &size);
	cr_assert(file);
	cr_assert_eq(wct_diff_print(&report, file, &err), 0);
	fclose(file);
	cr_expect(strstr(text, "result, command 7 of core 1"), "%s", text);
	free(text);
}

// A device that a mismatch of core 0 ended: what core 1 had not come to is no divergence before it.
Test(diff, a_slower_core_is_not_the_first_divergence)
{
	struct wct_diff_report report;
	struct wct_event *event;
	struct wc_error err;
	size_t kept = 0;

	double_cores(&device);
	double_cores(&golden);
	for (size_t i = 0; i < device.count; i++)
		if (device.events[i].command == WCT_NO_COMMAND || device.events[i].coord[WCT_CORE] == 0 || device.events[i].command < 9)
			device.events[kept++] = device.events[i];
	device.count = kept;
	event = event_of(&device, WCT_RESULT, 15, 0);
	cr_assert_eq(event->coord[WCT_CORE], 0);
	event->result.digest ^= 1;
	cr_assert_eq(diff(&report, &err), WC_ERR_MISMATCH);
	cr_expect_eq(report.first.command, 15);
	cr_expect_eq(report.first.core, 0);
	cr_expect_eq(report.first.difference, WCT_DIFFERS);
}

Test(diff, a_missing_event_is_a_divergence)
{
	struct wct_diff_report report;
	struct wc_error err;

	run_remove(&device, run_find(&device, WCT_TILE, 5, 0));
	((uint32_t *)event_of(&device, WCT_TILE, 9, 0)->tile.bits)[0] ^= 2;
	cr_assert_eq(diff(&report, &err), WC_ERR_MISMATCH);
	cr_assert_eq(report.first.difference, WCT_ONLY_IN_EXPECTED);
	cr_assert_eq(report.first.kind, WCT_TILE);
	cr_assert_eq(report.first.command, 5);
	cr_assert_eq(report.only_expected[WCT_TILE], 1);
	cr_assert_eq(report.differing[WCT_TILE], 1);
}

Test(diff, an_extra_event_is_a_divergence)
{
	struct wct_diff_report report;
	struct wc_error err;

	run_remove(&golden, run_find(&golden, WCT_WAVE_END, 6, 1));
	cr_assert_eq(diff(&report, &err), WC_ERR_MISMATCH);
	// The second wave's end is missing, so the device's pairs with the golden third, and its third is left.
	cr_assert_eq(report.first.command, 6);
	cr_assert_eq(report.first.wave, 1);
	cr_assert_eq(report.only_got[WCT_WAVE_END], 1);
}

Test(diff, a_run_that_stopped_at_its_mismatch_is_located_there)
{
	struct wct_diff_report report;
	struct wc_error err;
	size_t stop;

	((uint32_t *)event_of(&device, WCT_TILE, 10, 0)->tile.bits)[1] ^= 1;
	stop = run_find(&device, WCT_TILE, 10, 0) + 1;
	while (device.count > stop)
		run_remove(&device, device.count - 1);
	// The load before it is still under way when the run stops: the event that is missing is no divergence of its own.
	run_remove(&device, run_find(&device, WCT_COMMAND_END, 8, 0));
	cr_assert_eq(diff(&report, &err), WC_ERR_MISMATCH);
	cr_assert_eq(report.first.difference, WCT_DIFFERS);
	cr_assert_eq(report.first.kind, WCT_TILE);
	cr_assert_eq(report.first.command, 10);
	cr_assert_gt(report.only_expected[WCT_TILE], 0);
}

Test(diff, a_run_that_stopped_without_a_mismatch_still_differs)
{
	struct wct_diff_report report;
	struct wc_error err;
	size_t stop = run_find(&device, WCT_COMMAND_BEGIN, 16, 0);

	while (device.count > stop)
		run_remove(&device, device.count - 1);
	cr_assert_eq(diff(&report, &err), WC_ERR_MISMATCH);
	cr_assert_eq(report.first.difference, WCT_ONLY_IN_EXPECTED);
	cr_assert_geq(report.first.command, 12);
}

Test(diff, a_cut_trace_is_compared_as_far_as_it_goes)
{
	struct wct_diff_options options = { .timing = false };
	struct wct_diff_report report;
	struct wc_error err;

	run_write(&golden, golden.count, scratch_path("golden.wct"), WCT_LEVEL_CYCLE, 10, true);
	run_write(&device, device.count / 2, scratch_path("device.wct"), WCT_LEVEL_CYCLE, 10, false);
	cr_assert_eq(wct_diff(scratch_path("device.wct"), scratch_path("golden.wct"), &options, &report, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "cut off; the traces agree up to there"), "%s", err.text);
	cr_assert(report.got_is_cut);
	cr_assert_not(report.expected_is_cut);
	cr_assert_eq(report.first.difference, WCT_SAME, "%s", report.first.text);
	cr_assert_gt(report.compared[WCT_TILE], 0);

	((uint32_t *)event_of(&device, WCT_TILE, 1, 0)->tile.bits)[1] ^= 1;
	run_write(&device, device.count / 2, scratch_path("device.wct"), WCT_LEVEL_CYCLE, 10, false);
	cr_assert_eq(wct_diff(scratch_path("device.wct"), scratch_path("golden.wct"), &options, &report, &err), WC_ERR_MISMATCH);
	cr_assert_eq(report.first.command, 1);
}

Test(diff, a_damaged_trace_is_not_compared)
{
	struct wct_diff_options options = { .timing = false };
	struct wct_diff_report report;
	struct wc_error err;
	uint8_t *bytes;
	size_t count;

	run_write(&golden, golden.count, scratch_path("golden.wct"), WCT_LEVEL_CYCLE, 10, true);
	run_write(&device, device.count, scratch_path("device.wct"), WCT_LEVEL_CYCLE, 10, true);
	bytes = file_read(scratch_path("device.wct"), &count);
	bytes[count / 2] ^= 1;
	file_write(scratch_path("device.wct"), bytes, count);
	free(bytes);
	cr_assert_eq(wct_diff(scratch_path("device.wct"), scratch_path("golden.wct"), &options, &report, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "device.wct"), "%s", err.text);
	cr_assert_eq(wct_diff(scratch_path("golden.wct"), scratch_path("none.wct"), &options, &report, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "none.wct"), "%s", err.text);
}

Test(diff, comparing_nothing_is_a_failure)
{
	struct wct_diff_report report;
	struct wc_error err;

	cr_assert_eq(diff_levels(WCT_LEVEL_RUN, WCT_LEVEL_CYCLE, &report, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "no result compared"), "%s", err.text);
	golden.count = 0;
	cr_assert_eq(diff(&report, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "no result compared"), "%s", err.text);
}

Test(diff, traces_of_different_runs_are_refused)
{
	struct wct_diff_report report;
	struct wc_error err;

	event_of(&golden, WCT_HEADER, WCT_NO_COMMAND, 1)->header.value = "8";
	cr_assert_eq(diff(&report, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "traces of different runs: seed is '7'"), "%s", err.text);
}

Test(diff, timing_is_compared_on_demand)
{
	struct wct_diff_options options = { .timing = true };
	struct wct_diff_report report;
	struct wc_error err;
	struct run other;

	run_create(&other, test_seed(), true);
	run_write(&device, device.count, scratch_path("device.wct"), WCT_LEVEL_CYCLE, 10, true);
	run_write(&other, other.count, scratch_path("other.wct"), WCT_LEVEL_CYCLE, 10, true);
	cr_assert_eq(wct_diff(scratch_path("device.wct"), scratch_path("other.wct"), &options, &report, &err), 0, "%s", err.text);
	cr_assert_eq(report.compared[WCT_COUNTER], 1);
	cr_assert_eq(report.compared[WCT_BURST], 18);

	((uint64_t *)event_of(&other, WCT_TILE, 5, 0)->tile.row_cycles)[2] += 1;
	event_of(&other, WCT_WAVE_BEGIN, 6, 0)->cycle += 3;
	event_of(&other, WCT_COUNTER, WCT_NO_COMMAND, 0)->counter.value++;
	run_write(&other, other.count, scratch_path("other.wct"), WCT_LEVEL_CYCLE, 10, true);
	cr_assert_eq(wct_diff(scratch_path("device.wct"), scratch_path("other.wct"), &options, &report, &err), WC_ERR_MISMATCH);
	cr_assert_eq(report.first.command, 5);
	cr_assert(strstr(report.first.text, "cycle of row 2"), "%s", report.first.text);
	cr_assert_eq(report.differing[WCT_WAVE_BEGIN], 1);
	cr_assert_eq(report.differing[WCT_COUNTER], 1);
	options.timing = false;
	cr_assert_eq(wct_diff(scratch_path("device.wct"), scratch_path("other.wct"), &options, &report, &err), 0, "%s", err.text);
	run_free(&other);
}

static char *print(const struct wct_diff_report *report, bool json)
{
	struct wc_error err;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	cr_assert_eq(json ? wct_diff_print_json(report, out, &err) : wct_diff_print(report, out, &err), 0);
	fclose(out);
	return text;
}

Test(diff, the_report_names_place_values_and_distance)
{
	struct wct_diff_report report;
	struct wc_error err;
	struct wct_event *event = event_of(&device, WCT_TILE, 5, 0);
	char *text;

	((uint32_t *)event->tile.bits)[7] = 0x3c02;
	((uint32_t *)event_of(&golden, WCT_TILE, 5, 0)->tile.bits)[7] = 0x3bff;
	((uint64_t *)event->tile.row_cycles)[1] = 4711;
	cr_assert_eq(diff(&report, &err), WC_ERR_MISMATCH);
	text = print(&report, false);
	cr_assert_str_eq(text, "first divergence: tile, command 5, layer 0 'conv 1', phase forward, sample 3, tile (5, 0), left the array with wave 2, cycle 4711\n"
			       "  1 of 24 elements of the tile differ\n"
			       "  element (1, 3), column 3\n"
			       "  got 0x3c02 (1.00195312), expected 0x3bff (0.999511719), 3 ULPs\n"
			       "compared:                   24 command_begin, 24 command_end, 36 wave_begin, 36 wave_end, 12 tile, 6 result, 2 high_water\n"
			       "elements compared:          288\n"
			       "differing:                  1 tile\n"
			       "not compared of the first:  18 burst, 1 counter\n");
	free(text);
}

static void check_printed(const struct wct_diff_report *report, const char *says)
{
	char *text = print(report, false);

	cr_assert(strstr(text, says), "'%s' does not say '%s'", text, says);
	free(text);
}

Test(diff, nan_and_zeros_are_named_and_agreement_is_said)
{
	struct wct_diff_report report;
	struct wc_error err;
	uint32_t *got = (uint32_t *)event_of(&device, WCT_TILE, 5, 0)->tile.bits;
	uint32_t *expected = (uint32_t *)event_of(&golden, WCT_TILE, 5, 0)->tile.bits;

	cr_assert_eq(diff(&report, &err), 0);
	check_printed(&report, "no divergence\n");
	got[0] = 0x7e00;
	cr_assert_eq(diff(&report, &err), WC_ERR_MISMATCH);
	check_printed(&report, "got 0x7e00 (nan)");
	check_printed(&report, "one is a NaN\n");
	got[0] = 0x8000;
	expected[0] = 0;
	cr_assert_eq(diff(&report, &err), WC_ERR_MISMATCH);
	check_printed(&report, "got 0x8000 (-0), expected 0x0000 (0), zeros of other sign\n");
	report.got_is_cut = true;
	check_printed(&report, "cut off:                    the first trace\n");
}

Test(diff, thousands_of_open_commands_are_paired)
{
	enum { COMMANDS = 5000 };
	struct wct_diff_options options = { .timing = false };
	struct run forward = { .events = calloc(COMMANDS, sizeof(struct wct_event)), .count = COMMANDS };
	struct run backward = { .events = calloc(COMMANDS, sizeof(struct wct_event)), .count = COMMANDS };
	struct wct_diff_report report;
	struct wc_error err;

	// One trace in the reverse order of the other: every event waits for its partner.
	for (uint32_t i = 0; i < COMMANDS; i++) {
		struct wct_event *event = &forward.events[i];

		wct_event_init(event, WCT_RESULT);
		event->command = i;
		event->result.name = "act:x";
		event->result.digest = i * 77;
		backward.events[COMMANDS - 1 - i] = *event;
	}
	run_write(&forward, COMMANDS, scratch_path("a.wct"), WCT_LEVEL_TILE, 1000, true);
	run_write(&backward, COMMANDS, scratch_path("b.wct"), WCT_LEVEL_TILE, 1000, true);
	cr_assert_eq(wct_diff(scratch_path("a.wct"), scratch_path("b.wct"), &options, &report, &err), 0, "%s", err.text);
	cr_assert_eq(report.compared[WCT_RESULT], COMMANDS);
	backward.events[700].result.digest ^= 1;
	backward.events[1700].result.digest ^= 1;
	run_write(&backward, COMMANDS, scratch_path("b.wct"), WCT_LEVEL_TILE, 1000, true);
	cr_assert_eq(wct_diff(scratch_path("a.wct"), scratch_path("b.wct"), &options, &report, &err), WC_ERR_MISMATCH);
	cr_assert_eq(report.first.command, COMMANDS - 1 - 1700);
	cr_assert_eq(report.differing[WCT_RESULT], 2);
	free(forward.events);
	free(backward.events);
}

Test(diff, the_json_report_holds_the_same)
{
	struct wct_diff_report report;
	struct wc_error err;
	json_t *json, *first;
	char *text;

	cr_assert_eq(diff(&report, &err), 0);
	text = print(&report, true);
	json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	cr_assert(json_is_null(json_object_get(json, "first_divergence")));
	cr_assert_eq(json_integer_value(json_object_get(json_object_get(json, "compared"), "tile")), 12);
	json_decref(json);
	free(text);

	((uint32_t *)event_of(&device, WCT_TILE, 5, 0)->tile.bits)[7] = 0x7e00;
	cr_assert_eq(diff(&report, &err), WC_ERR_MISMATCH);
	text = print(&report, true);
	json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	first = json_object_get(json, "first_divergence");
	cr_assert_str_eq(json_string_value(json_object_get(first, "difference")), "differs");
	cr_assert_str_eq(json_string_value(json_object_get(first, "layer_name")), "conv 1");
	cr_assert_eq(json_integer_value(json_object_get(first, "m")), 1);
	cr_assert_eq(json_integer_value(json_object_get(first, "column")), 3);
	cr_assert_eq(json_integer_value(json_object_get(first, "got_bits")), 0x7e00);
	cr_assert(json_is_null(json_object_get(first, "ulps")));
	json_decref(json);
	free(text);
}
