// SPDX-License-Identifier: Apache-2.0
//
// Reads a trace and prints what the options let through; chunks that hold none of it are skipped by the index.
#include "traces/wct_dump.h"

#include <errno.h>
#include <string.h>

#include "traces/wct_json.h"
#include "traces/wct_reader.h"
#include "traces/wct_text.h"

void wct_dump_options_init(struct wct_dump_options *options)
{
	memset(options, 0, sizeof(*options));
	options->level = WCT_LEVEL_CYCLE;
}

// Whose command it is; a device of one core does not say. -1: of none.
static int64_t core_of(const struct wct_event *event)
{
	if (wct_event_has_coord(event, WCT_CORE))
		return event->coord[WCT_CORE];
	return event->command == WCT_NO_COMMAND ? -1 : 0;
}

static bool is_wanted(const struct wct_dump_options *options, const struct wct_event *event)
{
	if (event->level > options->level || (options->kinds && !(options->kinds >> event->kind & 1)))
		return false;
	if (options->has_command && event->command != options->command)
		return false;
	if (options->has_core && core_of(event) != options->core)
		return false;
	return !options->has_window || (event->has_cycle && event->cycle >= options->cycle_from && event->cycle < options->cycle_to);
}

static bool may_hold_wanted(const struct wct_dump_options *options, const struct wct_chunk *chunk)
{
	if (options->kinds && !(options->kinds & chunk->kinds))
		return false;
	return !options->has_window || (chunk->cycle_min < options->cycle_to && chunk->cycle_max >= options->cycle_from);
}

static int print_event(const struct wct_event *event, const struct wct_dump_options *options, FILE *out, struct wc_error *err)
{
	if (options->json_lines)
		return wct_json_print(wct_event_json(event, options->data), out, err);
	wct_event_print(event, options->data, out);
	return ferror(out) ? wc_fail(err, WC_ERR_SYSTEM, "cannot write events: %s", strerror(errno)) : 0;
}

// Print `count` events of a chunk that has just been sought.
static int dump_chunk(struct wct_reader *reader, uint32_t count, const struct wct_dump_options *options, FILE *out, uint64_t *printed,
		      struct wc_error *err)
{
	for (uint32_t i = 0; i < count; i++) {
		struct wct_event event;
		int ret = wct_reader_next(reader, &event, err);

		if (ret < 0)
			return ret;
		if (!is_wanted(options, &event))
			continue;
		ret = print_event(&event, options, out, err);
		if (ret)
			return ret;
		++*printed;
	}
	return 0;
}

static int dump_chunks(struct wct_reader *reader, const struct wct_dump_options *options, FILE *out, uint64_t *printed, struct wc_error *err)
{
	size_t chunks = wct_reader_chunks(reader);
	struct wct_event event;
	int ret;

	for (size_t i = 0; i < chunks; i++) {
		struct wct_chunk chunk;

		wct_reader_chunk(reader, i, &chunk);
		if (!may_hold_wanted(options, &chunk))
			continue;
		ret = wct_reader_seek(reader, i, err);
		if (!ret)
			ret = dump_chunk(reader, chunk.events, options, out, printed, err);
		if (ret)
			return ret;
	}
	ret = wct_reader_seek(reader, chunks, err);
	return ret ? ret : wct_reader_next(reader, &event, err);
}

int wct_dump(const char *path, const struct wct_dump_options *options, FILE *out, uint64_t *printed, struct wc_error *err)
{
	struct wct_reader *reader;
	uint64_t count = 0;
	int ret = wct_reader_open(&reader, path, err);

	if (!ret) {
		ret = dump_chunks(reader, options, out, &count, err);
		wct_reader_free(reader);
		if (fflush(out) && !ret)
			ret = wc_fail(err, WC_ERR_SYSTEM, "cannot write events: %s", strerror(errno));
	}
	if (printed)
		*printed = count;
	return ret;
}
