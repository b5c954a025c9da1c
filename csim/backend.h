// SPDX-License-Identifier: Apache-2.0
//
// The one interface through which the driver reaches a device: the verilated RTL and the
// functional C model stand behind it and are interchangeable (a SystemC platform later).
//
// A backend owns the device's state. It works on a `struct wc_memory` that the caller owns and that
// must outlive it. Calls come from one thread; the observer is called from inside step().
//
// Use: create -> reset -> write the ring and the CSRs -> step until the device is idle -> free.
//
// A device has one core or two, each with a ring, CSRs, counters and a global buffer of its own; the memory and its ports are shared. Who
// says nothing about cores works with core 0, which is all that a device of one core has.
#ifndef WC_BACKEND_H
#define WC_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "csim/memory.h"
#include "traces/error.h"

enum { WC_CORES_MAX = 2 };

struct wc_device_params {
	int rows, cols;        // PE array; each one of 4, 8, 16, 32, 64, 128
	int acc_rows;          // rows of the accumulator, 256
	int mac_stages;        // cycles per PE, 1 or 2
	uint32_t buffer_bytes; // global buffer, a multiple of 4096
	uint32_t bus_bytes;    // one memory beat: 16, 32, 64 or 128
	uint32_t mem_ports;    // AXI4 ports to the memory, 1 or 2; the functional model, which has no cycles, takes either for the other
	int cores;             // 1 to WC_CORES_MAX
};

// Lanes of the vector unit: fp16 elements of a line of the global buffer.
static inline uint32_t wc_device_lanes(const struct wc_device_params *params)
{
	uint32_t lanes = (uint32_t)(params->rows > 2 * params->cols ? params->rows : 2 * params->cols);

	return lanes > params->bus_bytes / 2 ? lanes : params->bus_bytes / 2;
}

// CSRs, 32 bits each, by byte offset on AXI4-Lite (rtl/README.md, "Registers").
enum wc_csr {
	WC_CSR_ID = 0x00,        // reads 0x57415645
	WC_CSR_VERSION = 0x04,   // version of commands.def
	WC_CSR_CTRL = 0x08,      // bit 0: run
	WC_CSR_STATUS = 0x0c,    // bit 0 busy, bit 1 idle (all fetched commands complete), bit 2 stopped by an error; 15:8 enum wc_status
	WC_CSR_ERROR_INDEX = 0x10, // index (from 0, counted over the run) of the command that stopped the device
	WC_CSR_RING_BASE_LO = 0x14,
	WC_CSR_RING_BASE_HI = 0x18,
	WC_CSR_RING_SIZE = 0x1c, // entries; command i is at RING_BASE + (i % RING_SIZE) * WC_COMMAND_BYTES
	WC_CSR_TAIL = 0x20,      // commands written so far (doorbell)
	WC_CSR_HEAD = 0x24,      // commands fetched so far: the host may overwrite ring entries below it
	WC_CSR_DONE = 0x28,      // commands complete so far
	WC_CSR_IRQ_ENABLE = 0x2c, // bit 0: idle, bit 1: error
	WC_CSR_IRQ_STATUS = 0x30, // the same bits; write 1 to clear
	WC_CSR_MEM_BASE_LO = 0x34, // the window [base, limit) that the device may touch
	WC_CSR_MEM_BASE_HI = 0x38,
	WC_CSR_MEM_LIMIT_LO = 0x3c,
	WC_CSR_MEM_LIMIT_HI = 0x40,
	WC_CSR_PARAM0 = 0x44,    // 7:0 log2 Rows, 15:8 log2 Cols, 31:16 AccRows
	WC_CSR_PARAM1 = 0x48,    // global buffer bytes
	WC_CSR_COUNTERS = 0x80,  // 64-bit counters, low word first, in the order of enum wc_counter
};

// Where core `core`'s CSRs begin: csr_read(backend, WC_CSR_CORE(core) + WC_CSR_STATUS).
#define WC_CSR_CORE(core) (0x1000u * (uint32_t)(core))

enum wc_counter {
	WC_COUNTER_CYCLES,        // cycles while not idle
	WC_COUNTER_ARRAY_BUSY,    // cycles in which a vector enters the array
	WC_COUNTER_STALL_OPERAND, // a tile is in progress, none enters: A or B is not filled yet
	WC_COUNTER_STALL_WEIGHT,  // ... the wave was shorter than Rows and its weights are still loading
	WC_COUNTER_STALL_ACCUMULATOR, // ... the accumulator is not free (drain or preload)
	WC_COUNTER_STALL_LOAD,    // no wave is left to stream: what the array waits for is a LOAD
	WC_COUNTER_STALL_STORE,   // ... a STORE
	WC_COUNTER_STALL_VECTOR,  // ... a VECTOR or SIMD
	WC_COUNTER_STALL_DRAIN,   // ... a GEMM whose sums are still being written
	WC_COUNTER_STALL_COMMAND, // ... none of these: the next command is on its way from the ring, or there is none
	WC_COUNTER_WAVES,
	WC_COUNTER_BUBBLES,       // idle cycles between two waves of which the first had >= Rows rows and the second was ready
	WC_COUNTER_DMA_READ_BEATS,
	WC_COUNTER_DMA_WRITE_BEATS,
	WC_COUNTER_VECTOR_BUSY,
	WC_COUNTER_COMMAND_BEATS, // ring fetch
	WC_COUNTER_COUNT
};
const char *wc_counter_name(enum wc_counter counter);

// One drained row of a tile, before it is written to the global buffer.
struct wc_tile_row {
	uint64_t cycle;         // 0 where the backend has no cycles
	int core;
	uint32_t command_index; // index of the GEMM command in the core's run
	int row, count;         // row m of the tile, columns
	bool is_fp32;
	const uint32_t *bits;   // count values: fp32 bits, or fp16 bits in the low half; valid during the call
};

enum wc_event_kind {
	WC_EVENT_COMMAND_BEGIN, // a = opcode
	WC_EVENT_COMMAND_END,   // a = opcode. For STORE the memory, for VECTOR and GEMM the global buffer, holds the result
	WC_EVENT_WAVE_BEGIN,    // a = wave in the tile, b = rows: the first vector enters the array
	WC_EVENT_WAVE_END,      // a = wave, b = rows: the last vector enters the array
	WC_EVENT_BURST,         // a = address, b = bytes of beats; write = direction; an AXI burst's address is accepted
};

struct wc_event {
	enum wc_event_kind kind;
	int core;
	uint64_t cycle;
	uint32_t command_index; // UINT32_MAX for a burst that fetches commands
	bool write;
	uint64_t a, b;
};

// What a replay looks at, wave by wave, inside one tile.
enum wc_probe_kind {
	WC_PROBE_OPERAND_A,   // vector `index` (row m) as it enters the array, before the skew: `count` = Rows fp16 values
	WC_PROBE_OPERAND_B,   // weight row `index` (k) as it enters the array, before the skew: Cols fp16 values
	WC_PROBE_COLUMN,      // partial sums of vector `index` (row m) in the probed column: Rows fp32 values, PE row 0 first
	WC_PROBE_ACCUMULATOR, // row `index` after the wave's sum was added: Cols fp32 values
};

struct wc_probe {
	enum wc_probe_kind kind;
	int core;
	uint64_t cycle;
	uint32_t command_index;
	int wave, index, count;
	const uint32_t *bits;
};

// Callbacks; any may be NULL. A return other than 0 stops step() with WC_ERR_STOPPED before another
// command's result is reported.
struct wc_observer {
	void *context;
	int (*tile_row)(void *context, const struct wc_tile_row *row);
	int (*event)(void *context, const struct wc_event *event);
	int (*probe)(void *context, const struct wc_probe *probe);
	int probe_column;            // which column WC_PROBE_COLUMN shows
	bool waves;                  // whether wave events are wanted
};

// A planted fault: flip one bit once, when its time comes.
enum wc_fault_kind {
	WC_FAULT_NONE,
	WC_FAULT_BUFFER,      // byte `address` of the global buffer, when command `command` begins
	WC_FAULT_WEIGHT,      // weight register in use of PE (row, column) in wave `wave` of command `command`; stays until reloaded
	WC_FAULT_ACCUMULATOR, // accumulator (row, column) in command `command`, after wave `wave` was added
	WC_FAULT_MEMORY,      // byte `address` of the DRAM, when command `command` has ended
	// What lane `column` of the vector unit writes in vector `row` (from 0, in the order in which they are written) of command `command`.
	// SIMD: its 32-bit result, before the stream's type narrows it. VECTOR: an fp16 element of dst, a vector being a line (bit `bit` mod 16);
	// the mask stays right.
	WC_FAULT_LANE,
};

struct wc_fault {
	enum wc_fault_kind kind;
	int core; // whose command, array, buffer
	uint32_t command;
	int wave, row, column, bit;
	uint64_t address;
};

struct wc_backend;

struct wc_backend_ops {
	const char *name; // "rtl" or "model"
	bool has_cycles;
	// Back to the state after power-up. The seed decides undefined state, and in the RTL the memory's
	// latency and back-pressure. Same seed, same cycles.
	int (*reset)(struct wc_backend *backend, uint64_t seed, struct wc_error *err);
	uint32_t (*csr_read)(struct wc_backend *backend, uint32_t offset);
	void (*csr_write)(struct wc_backend *backend, uint32_t offset, uint32_t value);
	// Run until every core is idle or stopped by an error, the observer stops it, or `max_cycles`
	// cycles (max_commands, where the backend has no cycles) are over. 0 in all these cases but the observer's; look at each core's WC_CSR_STATUS.
	// WC_ERR_SYSTEM: an assertion of the design, or the watchdog: no progress of a core for 1,000,000 cycles.
	int (*step)(struct wc_backend *backend, uint64_t max_cycles, struct wc_error *err);
	void (*set_observer)(struct wc_backend *backend, const struct wc_observer *observer); // copied; NULL: none
	void (*set_fault)(struct wc_backend *backend, const struct wc_fault *fault);          // copied; NULL: none
	uint64_t (*cycle)(struct wc_backend *backend);
	// Debug access to the global buffers, which lie one after another here: core i's begins at i * buffer_bytes. The range must lie inside
	// one of them.
	void (*buffer_read)(struct wc_backend *backend, uint32_t address, void *bytes, uint32_t count);
	void (*buffer_write)(struct wc_backend *backend, uint32_t address, const void *bytes, uint32_t count);
	void (*free)(struct wc_backend *backend);
};

struct wc_backend {
	const struct wc_backend_ops *ops; // first member of each implementation's structure
	struct wc_device_params params;
	struct wc_memory *memory; // borrowed
};

// csim/model: the functional model, in this process.
struct wc_backend *wc_model_create(const struct wc_device_params *params, struct wc_memory *memory, struct wc_error *err);

struct wc_rtl_options {
	const char *library;       // shared object of the verilated configuration (build/rtl/<config>/wc_rtl.so)
	uint32_t latency_cycles;   // memory latency, first beat of a read; default 100
	bool random_memory;        // random latency up to twice that, and random back-pressure on every channel
	const char *waveform;      // FST file or NULL; needs a library built with WAVES=1
	uint64_t wave_from, wave_to; // window in cycles for the waveform; to 0: to the end
	bool pe_window;            // show 4 x 4 PEs of the array macro in the waveform; needs `waveform` and an array in C (dpi)
	int pe_row, pe_column;     // ... from this one on, moved inward where they would leave the array
};
// csim/rtl: loads the library and checks its parameters against `params`.
struct wc_backend *wc_rtl_create(const struct wc_device_params *params, const struct wc_rtl_options *options, struct wc_memory *memory, struct wc_error *err);

static inline void wc_backend_free(struct wc_backend *backend)
{
	if (backend)
		backend->ops->free(backend);
}

#endif
