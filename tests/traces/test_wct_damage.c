// SPDX-License-Identifier: Apache-2.0
//
// Damaged traces: cut at every length, every byte flipped, planted faults. Whatever comes back must be a part of what
// was written, and the damage must be told with its place.
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support.h"
#include "traces/wct_layout.h"
#include "traces/wct_reader.h"
#include "traces/wct_writer.h"

TestSuite(wct_damage, .init = scratch_create, .fini = scratch_remove);

enum { CHUNK_EVENTS = 12 };

// A complete trace, its bytes and its events as text.
struct whole {
	struct run run;
	uint8_t *bytes;
	size_t count;
	char *text;
};

static void whole_create(struct whole *whole)
{
	char error[WC_ERROR_TEXT_BYTES];

	run_create(&whole->run, test_seed(), true);
	run_write(&whole->run, whole->run.count, scratch_path("whole.wct"), WCT_LEVEL_CYCLE, CHUNK_EVENTS, true);
	whole->bytes = file_read(scratch_path("whole.wct"), &whole->count);
	cr_assert_eq(trace_read(scratch_path("whole.wct"), &whole->text, error), 0, "%s", error);
}

static void whole_free(struct whole *whole)
{
	run_free(&whole->run);
	free(whole->bytes);
	free(whole->text);
}

static void whole_chunk(size_t chunk, struct wct_chunk *info)
{
	struct wct_reader *reader;
	struct wc_error err;

	cr_assert_eq(wct_reader_open(&reader, scratch_path("whole.wct"), &err), 0);
	wct_reader_chunk(reader, chunk, info);
	wct_reader_free(reader);
}

static bool begins_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

Test(wct_damage, a_trace_cut_at_any_length_gives_its_whole_chunks_and_says_so)
{
	struct whole whole;
	struct wct_chunk chunk;
	size_t whole_chunks = 0;

	whole_create(&whole);
	whole_chunk(0, &chunk);
	for (size_t length = 0; length < whole.count; length++) {
		struct wct_reader *reader;
		struct wc_error err;
		char *text, error[WC_ERROR_TEXT_BYTES];
		int ret;

		file_write(scratch_path("cut.wct"), whole.bytes, length);
		ret = trace_read(scratch_path("cut.wct"), &text, error);
		cr_assert_eq(ret, WC_ERR_INPUT, "%zu bytes", length);
		cr_assert(begins_with(whole.text, text), "%zu bytes", length);
		free(text);
		if (length < WCT_FILE_HEADER_BYTES) {
			cr_assert(strstr(error, "a trace has at least 16"), "%s", error);
			continue;
		}
		cr_assert(strstr(error, "cut off"), "%zu bytes: %s", length, error);
		cr_assert_eq(wct_reader_open(&reader, scratch_path("cut.wct"), &err), 0, "%s", err.text);
		cr_assert(wct_reader_is_cut(reader));
		// A chunk counts from the length on at which its last byte is there.
		if (whole_chunks * CHUNK_EVENTS < whole.run.count && length == chunk.offset + WCT_CHUNK_HEADER_BYTES + chunk.packed_bytes) {
			whole_chunks++;
			if (whole_chunks * CHUNK_EVENTS < whole.run.count)
				whole_chunk(whole_chunks, &chunk);
		}
		cr_assert_eq(wct_reader_chunks(reader), whole_chunks, "%zu bytes", length);
		wct_reader_free(reader);
	}
	cr_assert_eq(whole_chunks, (whole.run.count + CHUNK_EVENTS - 1) / CHUNK_EVENTS);
	whole_free(&whole);
}

Test(wct_damage, a_writer_that_never_finished_leaves_all_flushed_events)
{
	char *text, error[WC_ERROR_TEXT_BYTES];
	struct whole whole;
	size_t events = 0;

	whole_create(&whole);
	run_write(&whole.run, 2 * CHUNK_EVENTS + 3, scratch_path("killed.wct"), WCT_LEVEL_CYCLE, CHUNK_EVENTS, false);
	cr_assert_eq(trace_read(scratch_path("killed.wct"), &text, error), WC_ERR_INPUT);
	cr_assert(strstr(error, "chunk 2 at offset"), "%s", error);
	cr_assert(strstr(error, "cut off"), "%s", error);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		events += at[1] != ' '; // rows of tiles are indented
	cr_assert(begins_with(whole.text, text));
	cr_assert_eq(events, 2 * CHUNK_EVENTS);
	free(text);
	whole_free(&whole);
}

// Write counters 0, 1, 2, ... for ever.
static void write_until_killed(const char *path)
{
	struct wct_writer *writer;
	struct wct_event event;
	struct wc_error err;

	if (wct_writer_open(&writer, path, WCT_LEVEL_RUN, &err))
		_exit(1);
	wct_event_init(&event, WCT_COUNTER);
	event.counter.name = "n";
	while (!wct_writer_event(writer, &event, &err))
		event.counter.value++;
	_exit(1);
}

Test(wct_damage, a_killed_process_leaves_a_readable_trace)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	struct wct_reader *reader;
	struct wct_event event;
	struct wc_error err = { "" };
	struct stat status = { 0 };
	char path[512];
	uint64_t count = 0;
	pid_t child;
	int ret;

	snprintf(path, sizeof(path), "%s", scratch_path("killed.wct"));
	child = fork();
	cr_assert_geq(child, 0);
	if (!child)
		write_until_killed(path);
	while ((stat(path, &status) || status.st_size < 100000) && !waitpid(child, &ret, WNOHANG))
		nanosleep(&pause, NULL);
	cr_assert_eq(kill(child, SIGKILL), 0);
	cr_assert_eq(waitpid(child, &ret, 0), child);
	cr_assert(WIFSIGNALED(ret));

	cr_assert_eq(wct_reader_open(&reader, path, &err), 0, "%s", err.text);
	cr_assert(wct_reader_is_cut(reader));
	while ((ret = wct_reader_next(reader, &event, &err)) > 0)
		cr_assert_eq(event.counter.value, count++);
	cr_assert_eq(ret, WC_ERR_INPUT);
	cr_assert(strstr(err.text, "cut off"), "%s", err.text);
	cr_assert_gt(count, 1000);
	wct_reader_free(reader);
}

Test(wct_damage, a_flipped_byte_anywhere_is_told_and_never_changes_an_event)
{
	static const uint8_t masks[] = { 0x01, 0x80, 0xff };
	struct whole whole;

	whole_create(&whole);
	for (size_t at = 0; at < whole.count; at++) {
		for (size_t i = 0; i < sizeof(masks); i++) {
			char *text, error[WC_ERROR_TEXT_BYTES];
			int ret;

			whole.bytes[at] ^= masks[i];
			file_write(scratch_path("flip.wct"), whole.bytes, whole.count);
			whole.bytes[at] ^= masks[i];
			ret = trace_read(scratch_path("flip.wct"), &text, error);
			cr_assert_eq(ret, WC_ERR_INPUT, "byte %zu", at);
			cr_assert(begins_with(whole.text, text), "byte %zu", at);
			cr_assert(strstr(error, "flip.wct"), "%s", error);
			cr_assert(strstr(error, "offset") || at < WCT_FILE_HEADER_BYTES, "byte %zu: %s", at, error);
			free(text);
		}
	}
	whole_free(&whole);
}

Test(wct_damage, a_flipped_bit_in_a_chunk_is_located_and_the_others_can_be_read)
{
	enum { VICTIM = 3 };
	char *text, error[WC_ERROR_TEXT_BYTES], place[64];
	struct wct_reader *reader;
	struct wct_chunk chunk;
	struct wct_event event;
	struct whole whole;
	struct wc_error err;
	size_t events = 0, chunks;

	whole_create(&whole);
	whole_chunk(VICTIM, &chunk);
	whole.bytes[chunk.offset + WCT_CHUNK_HEADER_BYTES + chunk.packed_bytes / 2] ^= 4;
	file_write(scratch_path("flip.wct"), whole.bytes, whole.count);
	cr_assert_eq(trace_read(scratch_path("flip.wct"), &text, error), WC_ERR_INPUT);
	snprintf(place, sizeof(place), "chunk %d at offset %llu: damaged payload", VICTIM, (unsigned long long)chunk.offset);
	cr_assert(strstr(error, place), "'%s' does not say '%s'", error, place);
	free(text);

	cr_assert_eq(wct_reader_open(&reader, scratch_path("flip.wct"), &err), 0);
	cr_assert_not(wct_reader_is_cut(reader));
	chunks = wct_reader_chunks(reader);
	for (size_t i = 0; i < chunks; i++) {
		wct_reader_chunk(reader, i, &chunk);
		cr_assert_eq(wct_reader_seek(reader, i, &err), 0);
		if (i == VICTIM)
			cr_assert_eq(wct_reader_next(reader, &event, &err), WC_ERR_INPUT);
		for (uint32_t e = 0; e < chunk.events && i != VICTIM; e++, events++)
			cr_assert_eq(wct_reader_next(reader, &event, &err), 1, "%s", err.text);
	}
	cr_assert_eq(events, whole.run.count - CHUNK_EVENTS);
	wct_reader_free(reader);
	whole_free(&whole);
}

Test(wct_damage, a_damaged_index_loses_no_event)
{
	char *text, error[WC_ERROR_TEXT_BYTES];
	struct whole whole;

	whole_create(&whole);
	whole.bytes[whole.count - WCT_TRAILER_BYTES - 3] ^= 1;
	file_write(scratch_path("flip.wct"), whole.bytes, whole.count);
	cr_assert_eq(trace_read(scratch_path("flip.wct"), &text, error), WC_ERR_INPUT);
	cr_assert_str_eq(text, whole.text);
	cr_assert(strstr(error, "damaged index or trailer"), "%s", error);
	free(text);
	whole_free(&whole);
}

Test(wct_damage, bytes_behind_the_trailer_are_told)
{
	char *text, error[WC_ERROR_TEXT_BYTES];
	struct whole whole;

	whole_create(&whole);
	file_write(scratch_path("long.wct"), whole.bytes, whole.count + 1);
	cr_assert_eq(trace_read(scratch_path("long.wct"), &text, error), WC_ERR_INPUT);
	cr_assert_str_eq(text, whole.text);
	cr_assert(strstr(error, "bytes behind the trailer"), "%s", error);
	free(text);
	whole_free(&whole);
}

Test(wct_damage, exchanged_chunks_are_told)
{
	struct wct_chunk first, second;
	char *text, error[WC_ERROR_TEXT_BYTES];
	size_t first_bytes, second_bytes;
	struct whole whole;
	uint8_t *bytes;

	whole_create(&whole);
	whole_chunk(0, &first);
	whole_chunk(1, &second);
	first_bytes = WCT_CHUNK_HEADER_BYTES + first.packed_bytes;
	second_bytes = WCT_CHUNK_HEADER_BYTES + second.packed_bytes;
	bytes = malloc(whole.count);
	memcpy(bytes, whole.bytes, whole.count);
	memcpy(bytes + first.offset, whole.bytes + second.offset, second_bytes);
	memcpy(bytes + first.offset + second_bytes, whole.bytes + first.offset, first_bytes);
	file_write(scratch_path("swap.wct"), bytes, whole.count);
	cr_assert_eq(trace_read(scratch_path("swap.wct"), &text, error), WC_ERR_INPUT);
	cr_assert_str_empty(text);
	cr_assert(strstr(error, "chunk 0 at offset 16"), "%s", error);
	free(text);
	file_write(scratch_path("swap.wct"), bytes, whole.count - WCT_TRAILER_BYTES);
	cr_assert_eq(trace_read(scratch_path("swap.wct"), &text, error), WC_ERR_INPUT);
	cr_assert(strstr(error, "not the next number"), "%s", error);
	free(text);
	free(bytes);
	whole_free(&whole);
}

static const struct {
	const char *bytes;
	size_t count;
	const char *says;
} other_files[] = {
	{ "", 0, "has 0 bytes" },
	{ "GIF89a\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20, "not a trace" },
	{ "\x89WCT\n\x1a\n\0\0\0\0\0\0\0\0\0\0\0", 18, "not a trace" },
	{ "\x89WCT\r\n\x1a\n\x02\0\0\0\0\0\0\0", 16, "another version" },
	{ "\x89WCT\r\n\x1a\n\x01\0\0\0\0\0\0\0", 16, "damaged file header" },
};

Test(wct_damage, other_files_are_refused_at_once)
{
	char *text, error[WC_ERROR_TEXT_BYTES];

	for (size_t i = 0; i < sizeof(other_files) / sizeof(*other_files); i++) {
		file_write(scratch_path("other.wct"), other_files[i].bytes, other_files[i].count);
		cr_assert_eq(trace_read(scratch_path("other.wct"), &text, error), WC_ERR_INPUT);
		cr_assert(strstr(error, other_files[i].says), "'%s' does not say '%s'", error, other_files[i].says);
		free(text);
	}
	cr_assert_eq(trace_read(scratch_path("none.wct"), &text, error), WC_ERR_INPUT);
	cr_assert(strstr(error, "none.wct"), "%s", error);
	free(text);
	cr_assert_eq(trace_read("/", &text, error), WC_ERR_INPUT);
	cr_assert(strstr(error, "not a regular file"), "%s", error);
	free(text);
}
