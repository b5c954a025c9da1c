// SPDX-License-Identifier: Apache-2.0
//
// What a trace consists of: events of a run on a device or on the golden model, which writes the same
// events without cycles. traces/README.md has the file format.
#ifndef WC_WCT_H
#define WC_WCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How often events of a level come. A writer drops events above its own level.
enum wct_level { WCT_LEVEL_RUN, WCT_LEVEL_LAYER, WCT_LEVEL_TILE, WCT_LEVEL_WAVE, WCT_LEVEL_CYCLE, WCT_LEVEL_COUNT };

enum wct_kind {
	WCT_HEADER = 1,    // a fact about the run: net, schedule, array, seed, backend, ...
	WCT_COMMAND_BEGIN,
	WCT_COMMAND_END,
	WCT_WAVE_BEGIN,    // a wave's first vector enters the array
	WCT_WAVE_END,      // ... its last
	WCT_TILE,          // what a GEMM command drained
	WCT_RESULT,        // what a LOAD, VECTOR or STORE command wrote
	WCT_BURST,         // an AXI burst; its command is WCT_NO_COMMAND when it fetches commands
	WCT_HIGH_WATER,    // most bytes of the global buffer in use
	WCT_COUNTER,
	WCT_KIND_END
};

enum wct_phase { WCT_PHASE_NONE, WCT_PHASE_FORWARD, WCT_PHASE_DATA_GRADIENT, WCT_PHASE_WEIGHT_GRADIENT, WCT_PHASE_COUNT };

// Where in the tensors an event belongs. Any of them may be absent.
enum wct_coord {
	WCT_SAMPLE,       // first sample
	WCT_SAMPLES,      // samples
	WCT_ROW,          // first row (y) of the tensor
	WCT_ROWS,         // rows
	WCT_STRIP,        // strip of the schedule
	WCT_TILE_M,       // index of the tile along m
	WCT_TILE_N,       // ... along n
	WCT_M_FIRST,      // the tile's element (0, 0) in the result of the whole GEMM
	WCT_N_FIRST,
	WCT_M_PER_SAMPLE, // rows m of one sample, where m runs over pixels
	WCT_CUT,          // K cut of a weight gradient
	WCT_CORE,         // of a device of several, whose command it is
	WCT_COORD_COUNT
};

#define WCT_NO_COMMAND UINT32_MAX

enum {
	WCT_TEXT_BYTES_MAX = 4096,      // of any string, without its terminator
	WCT_TILE_ROWS_MAX = 4096,
	WCT_TILE_COLS_MAX = 1024,
	WCT_TILE_BYTES_MAX = 512 << 10, // rows x cols x 2 or 4
};

// No string may be NULL where the event has one: "" says nothing.
struct wct_event {
	enum wct_kind kind;
	enum wct_level level;
	enum wct_phase phase;
	bool has_cycle;
	uint64_t cycle;          // of the device, from reset
	uint32_t command;        // index in the run, or WCT_NO_COMMAND
	int32_t layer;           // index in the network, or -1
	const char *layer_name;  // not NULL when layer >= 0
	uint32_t coords_present; // bit i: coord[i] is valid
	int64_t coord[WCT_COORD_COUNT];
	union {
		struct {
			const char *key, *value;
		} header;
		struct {
			uint32_t opcode;
			const char *name; // of the opcode
		} command_info;       // WCT_COMMAND_BEGIN, WCT_COMMAND_END
		struct {
			uint32_t index, rows; // wave in the tile; vectors that it streams
		} wave;                       // WCT_WAVE_BEGIN, WCT_WAVE_END
		struct {
			uint32_t rows, cols;
			uint32_t waves;             // that made up the sum
			bool is_fp32;
			uint32_t digest;            // wct_digest_values(); a writer computes it when there are data
			const uint32_t *bits;       // rows x cols, row-major: fp32 bits, or fp16 bits in the low half. NULL: digest only
			const uint64_t *row_cycles; // when each row was drained, or NULL; only with bits and has_cycle
		} tile;
		struct {
			uint32_t opcode;  // of the command: LOAD, VECTOR or STORE
			const char *name; // of the tensor it wrote
			uint64_t bytes;
			uint32_t digest;  // wct_digest_bytes() of what was written, in memory order, a mask behind its values
		} result;
		struct {
			uint64_t address, bytes;
			bool write;
		} burst;
		struct {
			uint64_t bytes, capacity_bytes;
		} high_water;
		struct {
			const char *name;
			uint64_t value;
		} counter;
	};
};

// An event of `kind` at its usual level, everything else absent or zero.
void wct_event_init(struct wct_event *event, enum wct_kind kind);

static inline void wct_event_set_coord(struct wct_event *event, enum wct_coord coord, int64_t value)
{
	event->coords_present |= UINT32_C(1) << coord;
	event->coord[coord] = value;
}

static inline bool wct_event_has_coord(const struct wct_event *event, enum wct_coord coord)
{
	return event->coords_present >> coord & 1;
}

// Whether a trace of this level carries the data of tiles, not digests alone.
static inline bool wct_level_has_data(enum wct_level level)
{
	return level >= WCT_LEVEL_WAVE;
}

// Names as they are printed. Static storage.
const char *wct_kind_name(enum wct_kind kind);
const char *wct_level_name(enum wct_level level);
const char *wct_phase_name(enum wct_phase phase);
const char *wct_coord_name(enum wct_coord coord);

// The level of a name; false for an unknown one.
bool wct_level_parse(const char *name, enum wct_level *level);

// CRC-32 of `count` values as little-endian bytes, 4 each if is_fp32, else the low 2.
uint32_t wct_digest_values(const uint32_t *bits, size_t count, bool is_fp32);

// CRC-32 of bytes; start with 0 and pass the last result to go on.
uint32_t wct_digest_bytes(uint32_t digest, const void *bytes, size_t count);

#endif
