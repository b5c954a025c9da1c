// SPDX-License-Identifier: Apache-2.0
//
// Helpers of the tests of traces.
#include "support.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/seed.h"
#include "traces/splitmix.h"
#include "traces/wct_reader.h"
#include "traces/wct_text.h"
#include "traces/wct_writer.h"

static char scratch[256];

void scratch_create(void)
{
	const char *build = getenv("WC_BUILD");

	snprintf(scratch, sizeof(scratch), "%s/tests/traces/scratch-XXXXXX", build ? build : "build");
	cr_assert(mkdtemp(scratch));
}

const char *scratch_path(const char *name)
{
	static char paths[4][512];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", scratch, name);
	return path;
}

void scratch_remove(void)
{
	DIR *directory = opendir(scratch);
	struct dirent *entry;

	cr_assert(directory);
	while ((entry = readdir(directory))) {
		if (entry->d_name[0] != '.')
			unlink(scratch_path(entry->d_name));
	}
	closedir(directory);
	cr_assert_eq(rmdir(scratch), 0);
}

void file_write(const char *path, const void *bytes, size_t count)
{
	FILE *file;

	unlink(path); // a file that is overwritten may be flushed to disk, a new one is not
	file = fopen(path, "wb");
	cr_assert(file, "cannot create %s", path);
	cr_assert_eq(fwrite(bytes, 1, count, file), count);
	cr_assert_eq(fclose(file), 0);
}

uint8_t *file_read(const char *path, size_t *count)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes;
	long length;

	cr_assert(file, "cannot open %s", path);
	fseek(file, 0, SEEK_END);
	length = ftell(file);
	rewind(file);
	bytes = malloc((size_t)length + 1);
	cr_assert(bytes);
	*count = fread(bytes, 1, (size_t)length, file);
	cr_assert_eq(*count, (size_t)length);
	fclose(file);
	return bytes;
}

TESTS_ONE_SEED("tests/traces", 1)

uint64_t test_seed(void)
{
	return tests_seed_chosen();
}

uint64_t random_next(uint64_t *state)
{
	return splitmix_next(state);
}

enum { LOAD = 1, STORE = 2, GEMM = 3, EVENTS_MAX = 1024, ROWS = 6, COLS = 4, WAVES = 3 };

struct maker {
	struct run *run;
	uint64_t random, cycle;
	bool with_cycles;
};

static struct wct_event *add(struct maker *maker, enum wct_kind kind, uint32_t command, int layer)
{
	struct wct_event *event = &maker->run->events[maker->run->count++];

	cr_assert(maker->run->count <= EVENTS_MAX);
	wct_event_init(event, kind);
	event->command = command;
	event->layer = layer;
	event->layer_name = layer == 0 ? "conv 1" : layer == 1 ? "conv2" : NULL;
	maker->cycle += 1 + random_next(&maker->random) % 50;
	event->has_cycle = maker->with_cycles && kind != WCT_HEADER;
	event->cycle = event->has_cycle ? maker->cycle : 0;
	return event;
}

static void add_header(struct maker *maker, const char *key, const char *value)
{
	struct wct_event *event = add(maker, WCT_HEADER, WCT_NO_COMMAND, -1);

	event->header.key = key;
	event->header.value = value;
}

static void add_command(struct maker *maker, enum wct_kind kind, uint32_t command, int layer, uint32_t opcode)
{
	struct wct_event *event = add(maker, kind, command, layer);

	event->phase = layer ? WCT_PHASE_WEIGHT_GRADIENT : WCT_PHASE_FORWARD;
	event->command_info.opcode = opcode;
	event->command_info.name = opcode == LOAD ? "load" : opcode == STORE ? "store" : "gemm";
}

static void add_result(struct maker *maker, uint32_t command, int layer)
{
	struct wct_event *event = add(maker, WCT_RESULT, command, layer);

	event->phase = layer ? WCT_PHASE_WEIGHT_GRADIENT : WCT_PHASE_FORWARD;
	event->result.opcode = STORE;
	event->result.name = layer ? "grad:conv2" : "act:conv 1";
	event->result.bytes = 2 * ROWS * COLS;
	event->result.digest = (uint32_t)command * UINT32_C(2654435761);
}

// Values and digest depend on tile and position alone, so that runs with and without cycles agree.
static void add_tile(struct maker *maker, uint32_t command, int layer)
{
	struct wct_event *event = add(maker, WCT_TILE, command, layer);
	struct run *run = maker->run;
	uint32_t *bits = calloc(ROWS * COLS, sizeof(*bits));
	uint64_t *row_cycles = calloc(ROWS, sizeof(*row_cycles));
	uint64_t state = command;

	event->phase = layer ? WCT_PHASE_WEIGHT_GRADIENT : WCT_PHASE_FORWARD;
	wct_event_set_coord(event, WCT_SAMPLE, 2);
	wct_event_set_coord(event, WCT_TILE_M, command);
	wct_event_set_coord(event, WCT_TILE_N, 0);
	if (layer == 0) {
		wct_event_set_coord(event, WCT_M_FIRST, 3);
		wct_event_set_coord(event, WCT_M_PER_SAMPLE, 4);
	}
	event->tile.rows = ROWS;
	event->tile.cols = COLS;
	event->tile.waves = WAVES;
	event->tile.is_fp32 = layer != 0;
	for (int i = 0; i < ROWS * COLS; i++)
		bits[i] = (uint32_t)random_next(&state) & (event->tile.is_fp32 ? UINT32_C(0x3fffffff) : UINT32_C(0x3fff));
	for (int m = 0; m < ROWS; m++)
		row_cycles[m] = maker->cycle - ROWS + (uint64_t)m + 1;
	event->tile.bits = bits;
	event->tile.row_cycles = maker->with_cycles ? row_cycles : NULL;
	event->tile.digest = wct_digest_values(bits, ROWS * COLS, event->tile.is_fp32);
	run->bits[run->tiles] = bits;
	run->row_cycles[run->tiles++] = row_cycles;
}

static void add_gemm(struct maker *maker, uint32_t command, int layer)
{
	add_command(maker, WCT_COMMAND_BEGIN, command, layer, GEMM);
	for (uint32_t wave = 0; wave < WAVES; wave++) {
		struct wct_event *event = add(maker, WCT_WAVE_BEGIN, command, layer);

		event->wave.index = wave;
		event->wave.rows = ROWS;
		event = add(maker, WCT_WAVE_END, command, layer);
		event->wave.index = wave;
		event->wave.rows = ROWS;
	}
	add_tile(maker, command, layer);
	add_command(maker, WCT_COMMAND_END, command, layer, GEMM);
}

static void add_burst(struct maker *maker, uint32_t command, bool write)
{
	struct wct_event *event = add(maker, WCT_BURST, command, -1);

	event->burst.address = UINT64_C(0x100000000) + 4096 * (uint64_t)command;
	event->burst.bytes = 256;
	event->burst.write = write;
}

void run_create(struct run *run, uint64_t seed, bool with_cycles)
{
	struct maker maker = { .run = run, .random = seed, .cycle = 100, .with_cycles = with_cycles };
	struct wct_event *event;
	uint32_t command = 0;

	memset(run, 0, sizeof(*run));
	run->events = calloc(EVENTS_MAX, sizeof(*run->events));
	cr_assert(run->events);
	add_header(&maker, "net", "two layers");
	add_header(&maker, "seed", "7");
	add_header(&maker, "backend", with_cycles ? "rtl" : "golden");
	for (int layer = 0; layer < 2; layer++) {
		for (int i = 0; i < 3; i++) {
			if (with_cycles)
				add_burst(&maker, WCT_NO_COMMAND, false);
			add_command(&maker, WCT_COMMAND_BEGIN, command, layer, LOAD);
			if (with_cycles)
				add_burst(&maker, command, false);
			add_command(&maker, WCT_COMMAND_END, command++, layer, LOAD);
			add_gemm(&maker, command++, layer);
			add_gemm(&maker, command++, layer);
			add_command(&maker, WCT_COMMAND_BEGIN, command, layer, STORE);
			if (with_cycles)
				add_burst(&maker, command, true);
			add_result(&maker, command, layer);
			add_command(&maker, WCT_COMMAND_END, command++, layer, STORE);
		}
		event = add(&maker, WCT_HIGH_WATER, WCT_NO_COMMAND, layer);
		event->high_water.bytes = 60000;
		event->high_water.capacity_bytes = 65536;
	}
	if (with_cycles) {
		event = add(&maker, WCT_COUNTER, WCT_NO_COMMAND, -1);
		event->counter.name = "array_busy";
		event->counter.value = 12345;
	}
}

void run_free(struct run *run)
{
	for (int i = 0; i < run->tiles; i++) {
		free(run->bits[i]);
		free(run->row_cycles[i]);
	}
	free(run->events);
}

void run_interleave(struct run *run, uint64_t seed)
{
	for (int pass = 0; pass < 20; pass++) {
		for (size_t i = 0; i + 1 < run->count; i++) {
			struct wct_event *a = &run->events[i], *b = a + 1, swap;

			if (a->command == WCT_NO_COMMAND || b->command == WCT_NO_COMMAND || a->command == b->command)
				continue;
			if (random_next(&seed) & 1) {
				swap = *a;
				*a = *b;
				*b = swap;
			}
		}
	}
}

size_t run_find(const struct run *run, enum wct_kind kind, uint32_t command, size_t nth)
{
	for (size_t i = 0; i < run->count; i++) {
		const struct wct_event *event = &run->events[i];

		if (event->kind == kind && (command == WCT_NO_COMMAND || event->command == command) && !nth--)
			return i;
	}
	cr_assert_fail("the run has no such %s", wct_kind_name(kind));
	return 0;
}

void run_remove(struct run *run, size_t index)
{
	memmove(&run->events[index], &run->events[index + 1], (run->count - index - 1) * sizeof(*run->events));
	run->count--;
}

void run_write(const struct run *run, size_t count, const char *path, enum wct_level level, size_t chunk_events, bool finish)
{
	struct wc_error err = { "" };
	struct wct_writer *writer;

	cr_assert_eq(wct_writer_open(&writer, path, level, &err), 0, "%s", err.text);
	for (size_t i = 0; i < count; i++) {
		cr_assert_eq(wct_writer_event(writer, &run->events[i], &err), 0, "%s", err.text);
		if ((i + 1) % chunk_events == 0)
			cr_assert_eq(wct_writer_flush(writer, &err), 0, "%s", err.text);
	}
	if (finish)
		cr_assert_eq(wct_writer_finish(writer, &err), 0, "%s", err.text);
	wct_writer_free(writer);
}

int trace_read(const char *path, char **text, char *error)
{
	struct wc_error err = { "" };
	struct wct_reader *reader;
	struct wct_event event;
	size_t length;
	FILE *out = open_memstream(text, &length);
	int ret;

	cr_assert(out);
	ret = wct_reader_open(&reader, path, &err);
	if (!ret) {
		while ((ret = wct_reader_next(reader, &event, &err)) > 0)
			wct_event_print(&event, true, out);
		cr_assert_eq(wct_reader_next(reader, &event, &err), ret, "the end must come again");
	}
	wct_reader_free(reader);
	fclose(out);
	memcpy(error, err.text, sizeof(err.text));
	return ret;
}
