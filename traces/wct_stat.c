// SPDX-License-Identifier: Apache-2.0
//
// Counting a trace's events.
#include "traces/wct_stat.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "traces/wct_json.h"
#include "traces/wct_reader.h"

static void count_event(struct wct_stat *stat, const struct wct_event *event)
{
	stat->events++;
	stat->kinds[event->kind]++;
	stat->levels[event->level]++;
	if (event->has_cycle) {
		if (!stat->has_cycles || event->cycle < stat->cycle_min)
			stat->cycle_min = event->cycle;
		if (!stat->has_cycles || event->cycle > stat->cycle_max)
			stat->cycle_max = event->cycle;
		stat->has_cycles = true;
	}
	if (event->kind == WCT_BURST)
		*(event->burst.write ? &stat->burst_write_bytes : &stat->burst_read_bytes) += event->burst.bytes;
	if (event->kind == WCT_TILE) {
		uint64_t elements = (uint64_t)event->tile.rows * event->tile.cols;

		stat->tile_elements += elements;
		stat->tile_elements_with_data += event->tile.bits ? elements : 0;
	}
}

int wct_stat(const char *path, struct wct_stat *stat, struct wc_error *err)
{
	struct wct_reader *reader;
	struct wct_event event;
	int ret;

	memset(stat, 0, sizeof(*stat));
	ret = wct_reader_open(&reader, path, err);
	if (ret)
		return ret;
	stat->level = wct_reader_level(reader);
	stat->is_cut = wct_reader_is_cut(reader);
	stat->file_bytes = wct_reader_file_bytes(reader);
	stat->chunks = wct_reader_chunks(reader);
	for (size_t i = 0; i < stat->chunks; i++) {
		struct wct_chunk chunk;

		wct_reader_chunk(reader, i, &chunk);
		stat->raw_bytes += chunk.raw_bytes;
	}
	while ((ret = wct_reader_next(reader, &event, err)) > 0)
		count_event(stat, &event);
	wct_reader_free(reader);
	return ret;
}

int wct_stat_print(const struct wct_stat *stat, FILE *out, struct wc_error *err)
{
	fprintf(out, "level      %s%s\n", wct_level_name(stat->level), stat->is_cut ? ", cut off" : "");
	fprintf(out, "size       %" PRIu64 " bytes, %" PRIu64 " unpacked, %" PRIu64 " chunks\n", stat->file_bytes, stat->raw_bytes,
		stat->chunks);
	if (stat->has_cycles)
		fprintf(out, "cycles     %" PRIu64 " to %" PRIu64 "\n", stat->cycle_min, stat->cycle_max);
	else
		fprintf(out, "cycles     none\n");
	fprintf(out, "events     %" PRIu64 "\n", stat->events);
	for (int i = WCT_HEADER; i < WCT_KIND_END; i++) {
		if (stat->kinds[i])
			fprintf(out, "  %-15s %" PRIu64 "\n", wct_kind_name((enum wct_kind)i), stat->kinds[i]);
	}
	if (stat->kinds[WCT_TILE])
		fprintf(out, "elements   %" PRIu64 " in tiles, %" PRIu64 " with their data\n", stat->tile_elements,
			stat->tile_elements_with_data);
	if (stat->kinds[WCT_BURST])
		fprintf(out, "bursts     %" PRIu64 " bytes read, %" PRIu64 " bytes written\n", stat->burst_read_bytes,
			stat->burst_write_bytes);
	if (fflush(out) || ferror(out))
		return wc_fail(err, WC_ERR_SYSTEM, "cannot write the counts: %s", strerror(errno));
	return 0;
}

static bool set_levels(json_t *object, const struct wct_stat *stat)
{
	for (int i = 0; i < WCT_LEVEL_COUNT; i++) {
		if (stat->levels[i] && !wct_json_set(object, wct_level_name((enum wct_level)i), wct_json_u64(stat->levels[i])))
			return false;
	}
	return true;
}

int wct_stat_print_json(const struct wct_stat *stat, FILE *out, struct wc_error *err)
{
	json_t *object = json_object(), *levels = json_object();
	bool complete = set_levels(levels, stat) && wct_json_set(object, "level", json_string(wct_level_name(stat->level))) &&
			wct_json_set(object, "cut_off", json_boolean(stat->is_cut)) &&
			wct_json_set(object, "chunks", wct_json_u64(stat->chunks)) &&
			wct_json_set(object, "file_bytes", wct_json_u64(stat->file_bytes)) &&
			wct_json_set(object, "raw_bytes", wct_json_u64(stat->raw_bytes)) &&
			wct_json_set(object, "events", wct_json_u64(stat->events)) &&
			wct_json_set(object, "by_kind", wct_json_counts(stat->kinds)) &&
			wct_json_set(object, "by_level", json_incref(levels)) &&
			wct_json_set(object, "tile_elements", wct_json_u64(stat->tile_elements)) &&
			wct_json_set(object, "tile_elements_with_data", wct_json_u64(stat->tile_elements_with_data)) &&
			wct_json_set(object, "burst_read_bytes", wct_json_u64(stat->burst_read_bytes)) &&
			wct_json_set(object, "burst_write_bytes", wct_json_u64(stat->burst_write_bytes)) &&
			wct_json_set(object, "cycle_min", stat->has_cycles ? wct_json_u64(stat->cycle_min) : json_null()) &&
			wct_json_set(object, "cycle_max", stat->has_cycles ? wct_json_u64(stat->cycle_max) : json_null());

	json_decref(levels);
	if (!complete) {
		json_decref(object);
		object = NULL;
	}
	return wct_json_print(object, out, err);
}
