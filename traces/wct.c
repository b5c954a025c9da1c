// SPDX-License-Identifier: Apache-2.0
//
// Names of events and digests of data.
#include "traces/wct.h"

#include <string.h>
#include <zlib.h>

static const struct {
	const char *name;
	enum wct_level level;
} kinds[WCT_KIND_END] = {
	[WCT_HEADER] = { "header", WCT_LEVEL_RUN },
	[WCT_COMMAND_BEGIN] = { "command_begin", WCT_LEVEL_TILE },
	[WCT_COMMAND_END] = { "command_end", WCT_LEVEL_TILE },
	[WCT_WAVE_BEGIN] = { "wave_begin", WCT_LEVEL_WAVE },
	[WCT_WAVE_END] = { "wave_end", WCT_LEVEL_WAVE },
	[WCT_TILE] = { "tile", WCT_LEVEL_TILE },
	[WCT_RESULT] = { "result", WCT_LEVEL_TILE },
	[WCT_BURST] = { "burst", WCT_LEVEL_CYCLE },
	[WCT_HIGH_WATER] = { "high_water", WCT_LEVEL_LAYER },
	[WCT_COUNTER] = { "counter", WCT_LEVEL_RUN },
};

static const char *const level_names[WCT_LEVEL_COUNT] = { "run", "layer", "tile", "wave", "cycle" };
static const char *const phase_names[WCT_PHASE_COUNT] = { "none", "forward", "data_gradient", "weight_gradient" };
static const char *const coord_names[WCT_COORD_COUNT] = {
	[WCT_SAMPLE] = "sample",   [WCT_SAMPLES] = "samples", [WCT_ROW] = "row",
	[WCT_ROWS] = "rows",       [WCT_STRIP] = "strip",     [WCT_TILE_M] = "tile_m",
	[WCT_TILE_N] = "tile_n",   [WCT_M_FIRST] = "m_first", [WCT_N_FIRST] = "n_first",
	[WCT_M_PER_SAMPLE] = "m_per_sample", [WCT_CUT] = "cut",         [WCT_CORE] = "core",
};

void wct_event_init(struct wct_event *event, enum wct_kind kind)
{
	memset(event, 0, sizeof(*event));
	event->kind = kind;
	event->level = kinds[kind].level;
	event->command = WCT_NO_COMMAND;
	event->layer = -1;
}

const char *wct_kind_name(enum wct_kind kind)
{
	return kinds[kind].name;
}

const char *wct_level_name(enum wct_level level)
{
	return level_names[level];
}

const char *wct_phase_name(enum wct_phase phase)
{
	return phase_names[phase];
}

const char *wct_coord_name(enum wct_coord coord)
{
	return coord_names[coord];
}

bool wct_level_parse(const char *name, enum wct_level *level)
{
	for (int i = 0; i < WCT_LEVEL_COUNT; i++) {
		if (!strcmp(name, level_names[i])) {
			*level = (enum wct_level)i;
			return true;
		}
	}
	return false;
}

uint32_t wct_digest_values(const uint32_t *bits, size_t count, bool is_fp32)
{
	uint8_t block[4096];
	size_t fill = 0, value_bytes = is_fp32 ? 4 : 2;
	uLong crc = crc32(0, NULL, 0);

	for (size_t i = 0; i < count; i++) {
		for (size_t b = 0; b < value_bytes; b++)
			block[fill++] = (uint8_t)(bits[i] >> 8 * b);
		if (fill == sizeof(block)) {
			crc = crc32(crc, block, (uInt)fill);
			fill = 0;
		}
	}
	return (uint32_t)crc32(crc, block, (uInt)fill);
}

uint32_t wct_digest_bytes(uint32_t digest, const void *bytes, size_t count)
{
	return (uint32_t)crc32_z(digest, bytes, count);
}
