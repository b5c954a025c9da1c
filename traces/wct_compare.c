// SPDX-License-Identifier: Apache-2.0
//
// What differs between two events, in the order of what explains most: place, shape, content, time.
#include "traces/wct_compare.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "traces/wct_value.h"

static int64_t coord_or_none(const struct wct_event *event, enum wct_coord coord)
{
	return wct_event_has_coord(event, coord) ? event->coord[coord] : -1;
}

static void locate(const struct wct_event *event, struct wct_divergence *divergence)
{
	memset(divergence, 0, sizeof(*divergence));
	divergence->kind = event->kind;
	divergence->command = event->command;
	divergence->layer = event->layer;
	if (event->layer >= 0)
		snprintf(divergence->layer_name, sizeof(divergence->layer_name), "%s", event->layer_name);
	divergence->phase = event->phase;
	divergence->sample = coord_or_none(event, WCT_SAMPLE);
	divergence->tile_m = coord_or_none(event, WCT_TILE_M);
	divergence->core = coord_or_none(event, WCT_CORE);
	divergence->tile_n = coord_or_none(event, WCT_TILE_N);
	divergence->wave = -1;
	if (event->kind == WCT_WAVE_BEGIN || event->kind == WCT_WAVE_END)
		divergence->wave = event->wave.index;
	if (event->kind == WCT_TILE && event->tile.waves)
		divergence->wave = event->tile.waves - 1;
	divergence->has_cycle = event->has_cycle;
	divergence->cycle = event->cycle;
}

void wct_describe_one_sided(const struct wct_event *event, enum wct_difference difference, struct wct_divergence *divergence)
{
	locate(event, divergence);
	divergence->difference = difference;
	snprintf(divergence->text, sizeof(divergence->text), "%s only in the %s trace", wct_kind_name(event->kind),
		 difference == WCT_ONLY_IN_GOT ? "first" : "second");
}

__attribute__((format(printf, 2, 3))) static bool differ(struct wct_divergence *divergence, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(divergence->text, sizeof(divergence->text), format, args);
	va_end(args);
	return false;
}

static bool same_number(struct wct_divergence *divergence, const char *what, uint64_t got, uint64_t expected)
{
	return got == expected || differ(divergence, "%s: got %" PRIu64 ", expected %" PRIu64, what, got, expected);
}

static bool same_digest(struct wct_divergence *divergence, uint32_t got, uint32_t expected)
{
	return got == expected || differ(divergence, "digest: got 0x%08" PRIx32 ", expected 0x%08" PRIx32, got, expected);
}

// Coordinates count where both events have them.
static bool same_place(struct wct_divergence *divergence, const struct wct_event *got, const struct wct_event *expected)
{
	uint32_t common = got->coords_present & expected->coords_present;

	if (got->layer != expected->layer || (got->layer >= 0 && strcmp(got->layer_name, expected->layer_name)))
		return differ(divergence, "layer: got %" PRId32 " '%.80s', expected %" PRId32 " '%.80s'", got->layer,
			      got->layer >= 0 ? got->layer_name : "", expected->layer, expected->layer >= 0 ? expected->layer_name : "");
	if (got->phase != expected->phase)
		return differ(divergence, "phase: got %s, expected %s", wct_phase_name(got->phase), wct_phase_name(expected->phase));
	for (int i = 0; i < WCT_COORD_COUNT; i++) {
		if (common >> i & 1 && got->coord[i] != expected->coord[i])
			return differ(divergence, "%s: got %" PRId64 ", expected %" PRId64, wct_coord_name((enum wct_coord)i), got->coord[i],
				      expected->coord[i]);
	}
	return true;
}

// The sample that row m of the tile belongs to, or -1.
static int64_t sample_of_row(const struct wct_event *event, uint32_t m)
{
	int64_t per_sample = coord_or_none(event, WCT_M_PER_SAMPLE);
	int64_t first = coord_or_none(event, WCT_M_FIRST);

	if (per_sample <= 0 || first < 0 || first > INT64_MAX - m || !wct_event_has_coord(event, WCT_SAMPLE))
		return coord_or_none(event, WCT_SAMPLE);
	return (int64_t)((uint64_t)event->coord[WCT_SAMPLE] + (uint64_t)((first + m) / per_sample));
}

static void point_at_element(struct wct_divergence *divergence, const struct wct_event *got, const struct wct_event *expected, size_t at)
{
	const struct wct_event *timed = got->has_cycle ? got : expected;
	const struct wct_event *placed = wct_event_has_coord(got, WCT_SAMPLE) ? got : expected;

	divergence->has_element = true;
	divergence->m = (uint32_t)(at / got->tile.cols);
	divergence->n = (uint32_t)(at % got->tile.cols);
	divergence->is_fp32 = got->tile.is_fp32;
	divergence->got = got->tile.bits[at];
	divergence->expected = expected->tile.bits[at];
	divergence->ulps = wct_ulps(divergence->got, divergence->expected, divergence->is_fp32);
	divergence->sample = sample_of_row(placed, divergence->m);
	if (timed->has_cycle && timed->tile.row_cycles)
		divergence->cycle = timed->tile.row_cycles[divergence->m];
}

static bool same_elements(struct wct_divergence *divergence, const struct wct_event *got, const struct wct_event *expected)
{
	size_t count = (size_t)got->tile.rows * got->tile.cols;
	size_t differing = 0, first = 0;

	for (size_t i = count; i-- > 0;) {
		if (got->tile.bits[i] != expected->tile.bits[i]) {
			differing++;
			first = i;
		}
	}
	if (!differing)
		return true;
	point_at_element(divergence, got, expected, first);
	divergence->elements = count;
	divergence->elements_differing = differing;
	return differ(divergence, "%zu of %zu elements of the tile differ", differing, count);
}

static bool same_tile(struct wct_divergence *divergence, const struct wct_event *got, const struct wct_event *expected, uint64_t *elements)
{
	if (got->tile.is_fp32 != expected->tile.is_fp32)
		return differ(divergence, "type: got %s, expected %s", got->tile.is_fp32 ? "fp32" : "fp16",
			      expected->tile.is_fp32 ? "fp32" : "fp16");
	if (!same_number(divergence, "rows", got->tile.rows, expected->tile.rows) ||
	    !same_number(divergence, "columns", got->tile.cols, expected->tile.cols))
		return false;
	if (got->tile.bits && expected->tile.bits) {
		*elements = (uint64_t)got->tile.rows * got->tile.cols;
		if (!same_elements(divergence, got, expected))
			return false;
	}
	return same_digest(divergence, got->tile.digest, expected->tile.digest) &&
	       same_number(divergence, "waves", got->tile.waves, expected->tile.waves);
}

static bool same_content(struct wct_divergence *divergence, const struct wct_event *got, const struct wct_event *expected, uint64_t *elements)
{
	switch (got->kind) {
	case WCT_COMMAND_BEGIN:
	case WCT_COMMAND_END:
		return same_number(divergence, "opcode", got->command_info.opcode, expected->command_info.opcode);
	case WCT_WAVE_BEGIN:
	case WCT_WAVE_END:
		return same_number(divergence, "wave", got->wave.index, expected->wave.index) &&
		       same_number(divergence, "rows", got->wave.rows, expected->wave.rows);
	case WCT_TILE:
		return same_tile(divergence, got, expected, elements);
	case WCT_RESULT:
		if (strcmp(got->result.name, expected->result.name))
			return differ(divergence, "tensor: got '%.80s', expected '%.80s'", got->result.name, expected->result.name);
		return same_number(divergence, "opcode", got->result.opcode, expected->result.opcode) &&
		       same_number(divergence, "bytes", got->result.bytes, expected->result.bytes) &&
		       same_digest(divergence, got->result.digest, expected->result.digest);
	case WCT_BURST:
		return same_number(divergence, "write", got->burst.write, expected->burst.write) &&
		       same_number(divergence, "address", got->burst.address, expected->burst.address) &&
		       same_number(divergence, "bytes", got->burst.bytes, expected->burst.bytes);
	case WCT_HIGH_WATER:
		return same_number(divergence, "bytes", got->high_water.bytes, expected->high_water.bytes) &&
		       same_number(divergence, "capacity", got->high_water.capacity_bytes, expected->high_water.capacity_bytes);
	case WCT_COUNTER:
		return got->counter.value == expected->counter.value ||
		       differ(divergence, "counter %.80s: got %" PRIu64 ", expected %" PRIu64, got->counter.name, got->counter.value,
			      expected->counter.value);
	case WCT_HEADER:
	case WCT_KIND_END:
		break;
	}
	return true;
}

static bool same_cycles(struct wct_divergence *divergence, const struct wct_event *got, const struct wct_event *expected)
{
	if (!got->has_cycle || !expected->has_cycle)
		return true;
	if (got->kind == WCT_TILE && got->tile.row_cycles && expected->tile.row_cycles) {
		for (uint32_t m = 0; m < got->tile.rows; m++) {
			if (got->tile.row_cycles[m] != expected->tile.row_cycles[m])
				return differ(divergence, "cycle of row %" PRIu32 ": got %" PRIu64 ", expected %" PRIu64, m,
					      got->tile.row_cycles[m], expected->tile.row_cycles[m]);
		}
	}
	return same_number(divergence, "cycle", got->cycle, expected->cycle);
}

bool wct_compare(const struct wct_event *got, const struct wct_event *expected, bool with_cycles, struct wct_divergence *divergence,
		 uint64_t *elements)
{
	*elements = 0;
	locate(got->layer >= 0 || expected->layer < 0 ? got : expected, divergence);
	divergence->difference = WCT_DIFFERS;
	if (!got->has_cycle) {
		divergence->has_cycle = expected->has_cycle;
		divergence->cycle = expected->cycle;
	}
	return same_place(divergence, got, expected) && same_content(divergence, got, expected, elements) &&
	       (!with_cycles || same_cycles(divergence, got, expected));
}
