// SPDX-License-Identifier: Apache-2.0
//
// What is written to a trace comes back: all fields, all levels, all chunks, and the same bytes every time.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "traces/wct_layout.h"
#include "traces/wct_reader.h"
#include "traces/wct_writer.h"

TestSuite(wct, .init = scratch_create, .fini = scratch_remove);

static void check_tile(const struct wct_event *got, const struct wct_event *want, bool with_data)
{
	size_t count = (size_t)want->tile.rows * want->tile.cols;

	cr_assert_eq(got->tile.rows, want->tile.rows);
	cr_assert_eq(got->tile.cols, want->tile.cols);
	cr_assert_eq(got->tile.waves, want->tile.waves);
	cr_assert_eq(got->tile.is_fp32, want->tile.is_fp32);
	cr_assert_eq(got->tile.digest, wct_digest_values(want->tile.bits, count, want->tile.is_fp32));
	cr_assert_eq(got->tile.bits != NULL, with_data);
	if (!with_data)
		return;
	cr_assert_eq(memcmp(got->tile.bits, want->tile.bits, count * sizeof(*want->tile.bits)), 0);
	cr_assert_eq(got->tile.row_cycles != NULL, want->tile.row_cycles != NULL);
	if (want->tile.row_cycles)
		cr_assert_eq(memcmp(got->tile.row_cycles, want->tile.row_cycles, want->tile.rows * sizeof(uint64_t)), 0);
}

static void check_payload(const struct wct_event *got, const struct wct_event *want, bool with_data)
{
	switch (want->kind) {
	case WCT_HEADER:
		cr_assert_str_eq(got->header.key, want->header.key);
		cr_assert_str_eq(got->header.value, want->header.value);
		break;
	case WCT_COMMAND_BEGIN:
	case WCT_COMMAND_END:
		cr_assert_eq(got->command_info.opcode, want->command_info.opcode);
		cr_assert_str_eq(got->command_info.name, want->command_info.name);
		break;
	case WCT_WAVE_BEGIN:
	case WCT_WAVE_END:
		cr_assert_eq(got->wave.index, want->wave.index);
		cr_assert_eq(got->wave.rows, want->wave.rows);
		break;
	case WCT_TILE:
		check_tile(got, want, with_data);
		break;
	case WCT_RESULT:
		cr_assert_eq(got->result.opcode, want->result.opcode);
		cr_assert_str_eq(got->result.name, want->result.name);
		cr_assert_eq(got->result.bytes, want->result.bytes);
		cr_assert_eq(got->result.digest, want->result.digest);
		break;
	case WCT_BURST:
		cr_assert_eq(got->burst.address, want->burst.address);
		cr_assert_eq(got->burst.bytes, want->burst.bytes);
		cr_assert_eq(got->burst.write, want->burst.write);
		break;
	case WCT_HIGH_WATER:
		cr_assert_eq(got->high_water.bytes, want->high_water.bytes);
		cr_assert_eq(got->high_water.capacity_bytes, want->high_water.capacity_bytes);
		break;
	case WCT_COUNTER:
		cr_assert_str_eq(got->counter.name, want->counter.name);
		cr_assert_eq(got->counter.value, want->counter.value);
		break;
	case WCT_KIND_END:
		cr_assert_fail();
	}
}

static void check_event(const struct wct_event *got, const struct wct_event *want, bool with_data)
{
	cr_assert_eq(got->kind, want->kind);
	cr_assert_eq(got->level, want->level);
	cr_assert_eq(got->phase, want->phase);
	cr_assert_eq(got->has_cycle, want->has_cycle);
	cr_assert_eq(got->cycle, want->cycle);
	cr_assert_eq(got->command, want->command);
	cr_assert_eq(got->layer, want->layer);
	if (want->layer >= 0)
		cr_assert_str_eq(got->layer_name, want->layer_name);
	cr_assert_eq(got->coords_present, want->coords_present);
	for (int i = 0; i < WCT_COORD_COUNT; i++)
		cr_assert_eq(got->coord[i], want->coord[i]);
	check_payload(got, want, with_data);
}

// Read on from where the reader stands: run's events from `first` up to its level, then the end.
static void check_rest(struct wct_reader *reader, const struct run *run, size_t first)
{
	struct wc_error err = { "" };
	struct wct_event event;

	for (size_t i = first; i < run->count; i++) {
		if (run->events[i].level > wct_reader_level(reader))
			continue;
		cr_assert_eq(wct_reader_next(reader, &event, &err), 1, "event %zu: %s", i, err.text);
		check_event(&event, &run->events[i], wct_level_has_data(wct_reader_level(reader)));
	}
	cr_assert_eq(wct_reader_next(reader, &event, &err), 0, "%s", err.text);
	cr_assert_eq(wct_reader_next(reader, &event, &err), 0, "the end must stay the end");
}

Test(wct, every_field_of_every_kind_comes_back_at_every_level)
{
	for (int with_cycles = 0; with_cycles < 2; with_cycles++) {
		struct run run;

		run_create(&run, test_seed(), with_cycles);
		run_interleave(&run, test_seed());
		for (int level = 0; level < WCT_LEVEL_COUNT; level++) {
			struct wct_reader *reader;
			struct wc_error err;

			run_write(&run, run.count, scratch_path("a.wct"), (enum wct_level)level, 7, true);
			cr_assert_eq(wct_reader_open(&reader, scratch_path("a.wct"), &err), 0, "%s", err.text);
			cr_assert_eq(wct_reader_level(reader), level);
			cr_assert_not(wct_reader_is_cut(reader));
			check_rest(reader, &run, 0);
			wct_reader_free(reader);
		}
		run_free(&run);
	}
}

Test(wct, every_chunk_can_be_sought_and_its_summary_is_right)
{
	enum { CHUNK_EVENTS = 10 };
	struct wct_reader *reader;
	struct wc_error err;
	struct run run;
	uint32_t kinds = 0;

	run_create(&run, test_seed(), true);
	run_write(&run, run.count, scratch_path("a.wct"), WCT_LEVEL_CYCLE, CHUNK_EVENTS, true);
	cr_assert_eq(wct_reader_open(&reader, scratch_path("a.wct"), &err), 0, "%s", err.text);
	cr_assert_eq(wct_reader_chunks(reader), (run.count + CHUNK_EVENTS - 1) / CHUNK_EVENTS);
	for (size_t i = wct_reader_chunks(reader); i-- > 0;) {
		struct wct_chunk chunk;

		wct_reader_chunk(reader, i, &chunk);
		cr_assert_eq(chunk.first_event, i * CHUNK_EVENTS);
		cr_assert_leq(chunk.events, CHUNK_EVENTS);
		for (size_t e = chunk.first_event; e < chunk.first_event + chunk.events; e++) {
			cr_assert(chunk.kinds >> run.events[e].kind & 1);
			if (run.events[e].has_cycle)
				cr_assert(chunk.cycle_min <= run.events[e].cycle && run.events[e].cycle <= chunk.cycle_max);
		}
		kinds |= chunk.kinds;
		cr_assert_eq(wct_reader_seek(reader, i, &err), 0);
		check_rest(reader, &run, i * CHUNK_EVENTS);
	}
	cr_assert_eq(wct_reader_kinds(reader), kinds);
	cr_assert_eq(wct_reader_seek(reader, wct_reader_chunks(reader) + 1, &err), WC_ERR_INPUT);
	wct_reader_free(reader);
	run_free(&run);
}

Test(wct, the_same_events_give_the_same_bytes)
{
	uint8_t *a, *b;
	size_t a_count, b_count;
	struct run run;

	run_create(&run, test_seed(), true);
	run_write(&run, run.count, scratch_path("a.wct"), WCT_LEVEL_CYCLE, 1000, true);
	run_write(&run, run.count, scratch_path("other name.wct"), WCT_LEVEL_CYCLE, 1000, true);
	a = file_read(scratch_path("a.wct"), &a_count);
	b = file_read(scratch_path("other name.wct"), &b_count);
	cr_assert_eq(a_count, b_count);
	cr_assert_eq(memcmp(a, b, a_count), 0);
	free(a);
	free(b);
	run_free(&run);
}

Test(wct, a_trace_without_events_is_complete)
{
	struct wct_reader *reader;
	struct wct_event event;
	struct wc_error err;
	struct run run = { 0 };

	run_write(&run, 0, scratch_path("a.wct"), WCT_LEVEL_RUN, 1, true);
	cr_assert_eq(wct_reader_open(&reader, scratch_path("a.wct"), &err), 0, "%s", err.text);
	cr_assert_eq(wct_reader_chunks(reader), 0);
	cr_assert_eq(wct_reader_next(reader, &event, &err), 0);
	wct_reader_free(reader);
}

Test(wct, extreme_numbers_come_back)
{
	static const uint64_t cycles[] = { 0, UINT64_MAX, 1, UINT64_C(1) << 63, 0 };
	static const uint32_t commands[] = { WCT_NO_COMMAND - 1, 0, WCT_NO_COMMAND - 1, WCT_NO_COMMAND, 0 };
	struct run run = { .events = calloc(5, sizeof(*run.events)), .count = 5 };
	struct wct_reader *reader;
	struct wc_error err;

	for (int i = 0; i < 5; i++) {
		struct wct_event *event = &run.events[i];

		wct_event_init(event, WCT_BURST);
		event->has_cycle = true;
		event->cycle = cycles[i];
		event->command = commands[i];
		event->layer = i & 1 ? INT32_MAX : -1;
		event->layer_name = "";
		event->burst.address = UINT64_MAX;
		event->burst.bytes = UINT64_MAX;
		for (int c = 0; c < WCT_COORD_COUNT; c++)
			wct_event_set_coord(event, (enum wct_coord)c, c & 1 ? INT64_MIN : INT64_MAX);
	}
	run_write(&run, run.count, scratch_path("a.wct"), WCT_LEVEL_CYCLE, 100, true);
	cr_assert_eq(wct_reader_open(&reader, scratch_path("a.wct"), &err), 0, "%s", err.text);
	check_rest(reader, &run, 0);
	wct_reader_free(reader);
	free(run.events);
}

Test(wct, the_largest_tile_and_many_strings_fit)
{
	enum { ROWS = 1024, COLS = 128, STRINGS = 3000 };
	struct run run = { .events = calloc(STRINGS + 8, sizeof(*run.events)) };
	char (*names)[16] = calloc(STRINGS, sizeof(*names));
	uint32_t *bits = calloc(ROWS * COLS, sizeof(*bits));
	uint64_t *row_cycles = calloc(ROWS, sizeof(*row_cycles));
	uint64_t state = test_seed();
	struct wct_reader *reader;
	struct wc_error err;

	for (int i = 0; i < ROWS * COLS; i++)
		bits[i] = (uint32_t)random_next(&state);
	for (int i = 0; i < ROWS; i++)
		row_cycles[i] = random_next(&state);
	for (int i = 0; i < STRINGS + 8; i++) {
		struct wct_event *event = &run.events[run.count++];

		wct_event_init(event, i < STRINGS ? WCT_COUNTER : WCT_TILE);
		if (i < STRINGS) {
			snprintf(names[i], sizeof(names[i]), "counter %d", i);
			event->counter.name = names[i];
			continue;
		}
		event->has_cycle = true;
		event->tile.rows = ROWS;
		event->tile.cols = COLS;
		event->tile.is_fp32 = true;
		event->tile.bits = bits;
		event->tile.row_cycles = row_cycles;
	}
	run_write(&run, run.count, scratch_path("a.wct"), WCT_LEVEL_CYCLE, SIZE_MAX, true);
	cr_assert_eq(wct_reader_open(&reader, scratch_path("a.wct"), &err), 0, "%s", err.text);
	cr_assert_geq(wct_reader_chunks(reader), 8);
	check_rest(reader, &run, 0);
	wct_reader_free(reader);
	free(row_cycles);
	free(bits);
	free(names);
	free(run.events);
}

// The writer must refuse the event, and the trace go on without it.
static void check_refused(struct wct_writer *writer, const struct wct_event *event, const char *says)
{
	struct wc_error err = { "" };

	cr_assert_eq(wct_writer_event(writer, event, &err), WC_ERR_INPUT, "%s", says);
	cr_assert(strstr(err.text, says), "'%s' does not say '%s'", err.text, says);
}

Test(wct, the_writer_refuses_what_the_format_cannot_hold)
{
	char long_text[WCT_TEXT_BYTES_MAX + 2];
	struct wct_writer *writer;
	struct wct_event event;
	struct wc_error err;
	char *text, error[WC_ERROR_TEXT_BYTES];

	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	cr_assert_eq(wct_writer_open(&writer, scratch_path("a.wct"), WCT_LEVEL_CYCLE, &err), 0);
	cr_assert_eq(wct_writer_level(writer), WCT_LEVEL_CYCLE);
	wct_event_init(&event, WCT_COUNTER);
	event.counter.name = "two\nlines";
	check_refused(writer, &event, "control character 0x0a");
	event.counter.name = long_text;
	check_refused(writer, &event, "a text of 4097 bytes, the limit is 4096");
	event.counter.name = "c";
	event.layer = 0;
	event.layer_name = "\x7f";
	check_refused(writer, &event, "control character 0x7f");
	wct_event_init(&event, WCT_TILE);
	check_refused(writer, &event, "0 x 0 values");
	event.tile.rows = WCT_TILE_ROWS_MAX + 1;
	event.tile.cols = 1;
	check_refused(writer, &event, "4097 x 1 values");
	event.tile.rows = 1;
	event.tile.cols = WCT_TILE_COLS_MAX + 1;
	check_refused(writer, &event, "1 x 1025 values");
	event.tile.rows = 512;
	event.tile.cols = 512;
	event.tile.is_fp32 = true;
	check_refused(writer, &event, "512 x 512 values");
	cr_assert_eq(wct_writer_header(writer, "net", "fine", &err), 0, "%s", err.text);
	cr_assert_eq(wct_writer_finish(writer, &err), 0);
	wct_writer_free(writer);
	cr_assert_eq(trace_read(scratch_path("a.wct"), &text, error), 0, "%s", error);
	cr_assert_str_eq(text, "header key=net value=fine\n");
	free(text);
}

Test(wct, digests_are_zlibs_crc_of_the_values_bytes)
{
	static const uint32_t values[] = { 0x1234, 0xabcd };

	// crc32 of 34 12 cd ab and of 34 12 00 00 cd ab 00 00, by Python's zlib.
	cr_assert_eq(wct_digest_values(values, 2, false), UINT32_C(0x7eff1497));
	cr_assert_eq(wct_digest_values(values, 2, true), UINT32_C(0xc5ee8b53));
	cr_assert_eq(wct_digest_bytes(0, "123456789", 9), UINT32_C(0xcbf43926));
	cr_assert_eq(wct_digest_bytes(wct_digest_bytes(0, "1234", 4), "56789", 5), UINT32_C(0xcbf43926));
}

Test(wct, names_of_levels_are_parsed)
{
	enum wct_level level = WCT_LEVEL_RUN;

	for (int i = 0; i < WCT_LEVEL_COUNT; i++) {
		cr_assert(wct_level_parse(wct_level_name((enum wct_level)i), &level));
		cr_assert_eq(level, i);
	}
	cr_assert_not(wct_level_parse("pixel", &level));
}
