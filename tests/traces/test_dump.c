// SPDX-License-Identifier: Apache-2.0
//
// The printed forms of a trace and the counts of what it holds.
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "traces/wct_dump.h"
#include "traces/wct_stat.h"
#include "traces/wct_writer.h"

TestSuite(dump, .init = scratch_create, .fini = scratch_remove);

// Dump to a string, to free(); the result must be `want`.
static char *dump(const char *path, const struct wct_dump_options *options, uint64_t *printed, int want)
{
	struct wc_error err = { "" };
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	int ret = wct_dump(path, options, out, printed, &err);

	fclose(out);
	cr_assert_eq(ret, want, "%s", err.text);
	return text;
}

// One event of every kind, with fixed numbers.
static void write_one_of_each(const char *path)
{
	static const uint32_t bits[] = { 0x3c00, 0x8000, 0x7bff, 0x0001 };
	static const uint64_t row_cycles[] = { 98, 99 };
	struct wct_writer *writer;
	struct wct_event event;
	struct wc_error err;

	cr_assert_eq(wct_writer_open(&writer, path, WCT_LEVEL_CYCLE, &err), 0);
	cr_assert_eq(wct_writer_header(writer, "net", "my \"net\"", &err), 0);
	wct_event_init(&event, WCT_COMMAND_BEGIN);
	event.has_cycle = true;
	event.cycle = 10;
	event.command = 0;
	event.layer = 1;
	event.layer_name = "conv1";
	event.phase = WCT_PHASE_DATA_GRADIENT;
	event.command_info.opcode = 3;
	event.command_info.name = "gemm";
	cr_assert_eq(wct_writer_event(writer, &event, &err), 0);
	wct_event_init(&event, WCT_WAVE_BEGIN);
	event.command = 0;
	event.wave.index = 2;
	event.wave.rows = 196;
	cr_assert_eq(wct_writer_event(writer, &event, &err), 0);
	wct_event_init(&event, WCT_TILE);
	event.has_cycle = true;
	event.cycle = 99;
	event.command = 0;
	wct_event_set_coord(&event, WCT_SAMPLE, 4);
	wct_event_set_coord(&event, WCT_ROW, -1);
	event.tile.rows = 2;
	event.tile.cols = 2;
	event.tile.waves = 3;
	event.tile.bits = bits;
	event.tile.row_cycles = row_cycles;
	cr_assert_eq(wct_writer_event(writer, &event, &err), 0);
	wct_event_init(&event, WCT_RESULT);
	event.command = 1;
	event.result.opcode = 2;
	event.result.name = "act:conv1";
	event.result.bytes = 64;
	event.result.digest = 0xabc;
	cr_assert_eq(wct_writer_event(writer, &event, &err), 0);
	wct_event_init(&event, WCT_BURST);
	event.has_cycle = true;
	event.cycle = 120;
	event.burst.address = 0x1000;
	event.burst.bytes = 64;
	event.burst.write = true;
	cr_assert_eq(wct_writer_event(writer, &event, &err), 0);
	wct_event_init(&event, WCT_HIGH_WATER);
	event.high_water.bytes = 1;
	event.high_water.capacity_bytes = 2;
	cr_assert_eq(wct_writer_event(writer, &event, &err), 0);
	wct_event_init(&event, WCT_COUNTER);
	event.counter.name = "caf\xc3\xa9 \xff";
	event.counter.value = UINT64_MAX;
	cr_assert_eq(wct_writer_event(writer, &event, &err), 0);
	cr_assert_eq(wct_writer_finish(writer, &err), 0);
	wct_writer_free(writer);
}

Test(dump, lines_of_text_name_every_field)
{
	struct wct_dump_options options;
	uint64_t printed;
	char *text;

	write_one_of_each(scratch_path("a.wct"));
	wct_dump_options_init(&options);
	options.data = true;
	text = dump(scratch_path("a.wct"), &options, &printed, 0);
	cr_assert_str_eq(text,
			 "header key=net value=\"my \\\"net\\\"\"\n"
			 "command_begin cycle=10 command=0 layer=1 layer_name=conv1 phase=data_gradient opcode=3 name=gemm\n"
			 "wave_begin command=0 wave=2 wave_rows=196\n"
			 "tile cycle=99 command=0 sample=4 row=-1 tile_rows=2 tile_cols=2 waves=3 type=fp16 digest=0x24bd10dc\n"
			 "  m=0 cycle=98 3c00 8000\n"
			 "  m=1 cycle=99 7bff 0001\n"
			 "result command=1 opcode=2 name=act:conv1 bytes=64 digest=0x00000abc\n"
			 "burst cycle=120 direction=write address=0x1000 bytes=64\n"
			 "high_water bytes=1 capacity_bytes=2\n"
			 "counter name=\"caf\xc3\xa9 \xff\" value=18446744073709551615\n");
	cr_assert_eq(printed, 8);
	free(text);
}

Test(dump, json_lines_parse_and_hold_the_same)
{
	struct wct_dump_options options;
	uint64_t printed;
	char *text, *line, *rest;
	json_t *objects[8];
	int count = 0;

	write_one_of_each(scratch_path("a.wct"));
	wct_dump_options_init(&options);
	options.data = true;
	options.json_lines = true;
	text = dump(scratch_path("a.wct"), &options, &printed, 0);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		cr_assert_lt(count, 8);
		objects[count] = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
		cr_assert(objects[count++], "'%s' is no JSON", line);
	}
	cr_assert_eq(count, 8);
	cr_assert_str_eq(json_string_value(json_object_get(objects[0], "value")), "my \"net\"");
	cr_assert_str_eq(json_string_value(json_object_get(objects[1], "phase")), "data_gradient");
	cr_assert_eq(json_integer_value(json_object_get(objects[1], "cycle")), 10);
	cr_assert_eq(json_integer_value(json_object_get(objects[3], "row")), -1);
	cr_assert_eq(json_integer_value(json_array_get(json_array_get(json_object_get(objects[3], "bits"), 1), 0)), 0x7bff);
	cr_assert_eq(json_integer_value(json_array_get(json_object_get(objects[3], "row_cycles"), 0)), 98);
	cr_assert_eq(json_integer_value(json_object_get(objects[5], "address")), 0x1000);
	cr_assert_str_eq(json_string_value(json_object_get(objects[7], "name")), "caf?? ?");
	cr_assert_eq(json_real_value(json_object_get(objects[7], "value")), 18446744073709551616.0);
	for (int i = 0; i < count; i++)
		json_decref(objects[i]);
	free(text);
}

static uint64_t count_wanted(const struct run *run, const struct wct_dump_options *options)
{
	uint64_t count = 0;

	for (size_t i = 0; i < run->count; i++) {
		const struct wct_event *event = &run->events[i];

		count += event->level <= options->level && (!options->kinds || options->kinds >> event->kind & 1) &&
			 (!options->has_command || event->command == options->command) &&
			 (!options->has_window ||
			  (event->has_cycle && event->cycle >= options->cycle_from && event->cycle < options->cycle_to));
	}
	return count;
}

static void check_filter(const struct run *run, const struct wct_dump_options *options)
{
	uint64_t wanted = count_wanted(run, options), printed;

	free(dump(scratch_path("a.wct"), options, &printed, 0));
	cr_assert_gt(wanted, 0);
	cr_assert_lt(wanted, run->count);
	cr_assert_eq(printed, wanted);
}

Test(dump, filters_print_exactly_what_they_say)
{
	struct wct_dump_options options;
	struct run run;

	run_create(&run, test_seed(), true);
	run_interleave(&run, test_seed());
	run_write(&run, run.count, scratch_path("a.wct"), WCT_LEVEL_CYCLE, 9, true);
	wct_dump_options_init(&options);
	options.level = WCT_LEVEL_TILE;
	check_filter(&run, &options);
	wct_dump_options_init(&options);
	options.kinds = UINT32_C(1) << WCT_HIGH_WATER | UINT32_C(1) << WCT_RESULT;
	check_filter(&run, &options);
	wct_dump_options_init(&options);
	options.has_command = true;
	options.command = 5;
	check_filter(&run, &options);
	wct_dump_options_init(&options);
	options.has_window = true;
	options.cycle_from = run.events[40].cycle;
	options.cycle_to = run.events[60].cycle + 1;
	check_filter(&run, &options);
	run_free(&run);
}

Test(dump, a_cut_trace_prints_what_it_has_and_fails)
{
	struct wct_dump_options options;
	uint64_t printed;
	struct run run;

	run_create(&run, test_seed(), true);
	run_write(&run, 25, scratch_path("a.wct"), WCT_LEVEL_CYCLE, 10, false);
	wct_dump_options_init(&options);
	free(dump(scratch_path("a.wct"), &options, &printed, WC_ERR_INPUT));
	cr_assert_eq(printed, 20);
	free(dump(scratch_path("none.wct"), &options, &printed, WC_ERR_INPUT));
	cr_assert_eq(printed, 0);
	run_free(&run);
}

Test(dump, stat_counts_what_was_written)
{
	struct wc_error err;
	struct wct_stat stat;
	uint64_t kinds[WCT_KIND_END] = { 0 }, cycle_max = 0;
	struct run run;

	run_create(&run, test_seed(), true);
	run_write(&run, run.count, scratch_path("a.wct"), WCT_LEVEL_CYCLE, 10, true);
	for (size_t i = 0; i < run.count; i++) {
		kinds[run.events[i].kind]++;
		cycle_max = run.events[i].cycle > cycle_max ? run.events[i].cycle : cycle_max;
	}
	cr_assert_eq(wct_stat(scratch_path("a.wct"), &stat, &err), 0, "%s", err.text);
	cr_assert_eq(stat.level, WCT_LEVEL_CYCLE);
	cr_assert_not(stat.is_cut);
	cr_assert_eq(stat.events, run.count);
	cr_assert_eq(stat.chunks, (run.count + 9) / 10);
	for (int i = 0; i < WCT_KIND_END; i++)
		cr_assert_eq(stat.kinds[i], kinds[i]);
	cr_assert_eq(stat.cycle_max, cycle_max);
	cr_assert_eq(stat.tile_elements, kinds[WCT_TILE] * 24);
	cr_assert_eq(stat.tile_elements_with_data, stat.tile_elements);
	cr_assert_eq(stat.burst_write_bytes, 6 * 256);
	cr_assert_eq(stat.burst_read_bytes, 12 * 256);
	run_write(&run, 25, scratch_path("a.wct"), WCT_LEVEL_TILE, 10, false);
	cr_assert_eq(wct_stat(scratch_path("a.wct"), &stat, &err), WC_ERR_INPUT);
	cr_assert(stat.is_cut);
	cr_assert_gt(stat.events, 0);
	cr_assert_eq(stat.tile_elements_with_data, 0);
	run_free(&run);
}

Test(dump, stat_prints_text_and_json)
{
	struct wc_error err;
	struct wct_stat stat;
	char *text;
	size_t length;
	FILE *out;
	json_t *json;

	write_one_of_each(scratch_path("a.wct"));
	cr_assert_eq(wct_stat(scratch_path("a.wct"), &stat, &err), 0);
	out = open_memstream(&text, &length);
	cr_assert_eq(wct_stat_print(&stat, out, &err), 0);
	fclose(out);
	cr_assert(strstr(text, "level      cycle\n"), "%s", text);
	cr_assert(strstr(text, "cycles     10 to 120\n"), "%s", text);
	cr_assert(strstr(text, "  high_water      1\n"), "%s", text);
	cr_assert(strstr(text, "elements   4 in tiles, 4 with their data\n"), "%s", text);
	cr_assert(strstr(text, "bursts     0 bytes read, 64 bytes written\n"), "%s", text);
	free(text);
	out = open_memstream(&text, &length);
	cr_assert_eq(wct_stat_print_json(&stat, out, &err), 0);
	fclose(out);
	json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	cr_assert(json);
	cr_assert_eq(json_integer_value(json_object_get(json, "events")), 8);
	cr_assert_eq(json_integer_value(json_object_get(json_object_get(json, "by_kind"), "burst")), 1);
	cr_assert_eq(json_integer_value(json_object_get(json, "cycle_max")), 120);
	cr_assert(json_is_false(json_object_get(json, "cut_off")));
	json_decref(json);
	free(text);
}
