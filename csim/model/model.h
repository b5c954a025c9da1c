// SPDX-License-Identifier: Apache-2.0
//
// Inside csim/model, and for tests: the functional model of the device.
//
// It executes the ring's commands on a global buffer of its own, following the commands and rtl/README.md, and knows nothing
// of convolutions. Commands take no time: a run's results, errors, events, bytes and functional counters are the RTL's, its
// cycles are not there (they read 0).
//
//   cores.c     one core or two on one memory
//   backend.c   struct wc_backend of one core, CSRs
//   issue.c     ring, order of execution
//   check.c     what the sequencer checks
//   transfer.c  LOAD, STORE
//   gemm.c      GEMM; operand.c its two operands; walk.c addresses
//   vector.c    VECTOR
//   simd.c      SIMD; simd_stream.c and simd_lanes.c
#ifndef WC_MODEL_H
#define WC_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "csim/backend.h"
#include "csim/model/check.h"
#include "wc_commands.h"
#include "wc_programs.h"

// What executing a command returns: 0, an enum wc_status (> 0) that stops the device, or an enum wc_result (< 0) that ends step().
typedef int model_result;

enum { MODEL_QUEUE_DEPTH = 4 };

struct model_queued {
	uint32_t index;
	uint8_t command[WC_COMMAND_BYTES];
};

// Commands of one engine that are fetched and not executed, oldest first.
struct model_queue {
	struct model_queued entries[MODEL_QUEUE_DEPTH];
	int count;
};

struct operand_run;

// Work space of the GEMM engine.
struct model_tile {
	struct operand_run *a_runs, *b_runs;
	uint16_t *a_halves, *b_halves; // as operand_wave() leaves them
	float *a;                      // [acc_rows][rows]
	float *b;                      // [rows][padded columns]
	float *acc;                    // [acc_rows][padded columns]
	uint32_t *bits;                // one row for callbacks
};

// A core. Alone it is the device.
struct wc_model {
	struct wc_backend base; // first
	int core;               // its number
	uint8_t *buffer;        // global buffer, base.params.buffer_bytes
	struct model_tile tile;
	const struct wc_simd_code *simd_code; // the micro-programs; a test may put a changed copy here

	// CSRs.
	bool run;
	uint64_t ring_base, mem_base, mem_limit;
	uint32_t ring_size, tail, head, done;
	uint32_t irq_enable, irq_status;
	enum wc_status status;
	uint32_t error_index;
	uint64_t counters[WC_COUNTER_COUNT];

	// Commands issued and complete, per engine.
	uint32_t issued[MODEL_ENGINES], complete[MODEL_ENGINES];
	struct model_queue queues[MODEL_ENGINES];
	enum wc_status bad_status; // a fetched command that failed its check, reported when its turn comes
	uint32_t bad_index;

	bool overlap;
	uint64_t random;

	struct wc_observer observer;
	struct wc_fault planted; // as set; a reset arms it again
	struct wc_fault fault;   // kind WC_FAULT_NONE once it has struck
};

// Execute in any order that the waits and the queues allow, drawn from the reset seed, instead of in program order. A
// program whose waits are complete gives the same results. With two cores, which one comes next is drawn too; else they take turns. Takes
// effect at the next command.
void wc_model_set_overlap(struct wc_backend *backend, bool overlap);

// One core. model_issue() makes progress while model_has_work().
struct wc_model *model_core_create(const struct wc_device_params *params, struct wc_memory *memory, int core, struct wc_error *err);
bool model_has_work(const struct wc_model *model);
// Next in a repeatable sequence (Marsaglia's xorshift64); the state must not be 0.
uint64_t model_draw(uint64_t *state);

// Execute up to `max_commands` commands.
int model_issue(struct wc_model *model, uint64_t max_commands, struct wc_error *err);
// Forget all commands, results and errors; CSR settings and the buffer stay.
void model_issue_reset(struct wc_model *model);

model_result model_load(struct wc_model *model, const struct wc_load_command *command);
model_result model_store(struct wc_model *model, const struct wc_store_command *command);
model_result model_gemm(struct wc_model *model, const struct wc_gemm_command *command, uint32_t index, struct wc_error *err);
model_result model_vector(struct wc_model *model, const struct wc_vector_command *command, uint32_t index);
model_result model_simd(struct wc_model *model, const struct wc_simd_command *command, uint32_t index);

int model_tile_init(struct model_tile *tile, const struct wc_device_params *params, struct wc_error *err);
void model_tile_release(struct model_tile *tile);

// Report to the observer, if it wants to know. 0, or WC_ERR_STOPPED.
int model_event(struct wc_model *model, enum wc_event_kind kind, uint32_t index, uint64_t a, uint64_t b, struct wc_error *err);

// Whether the planted fault is of this kind and strikes in this command now. The caller flips the bit.
bool model_fault_strikes(struct wc_model *model, enum wc_fault_kind kind, uint32_t index);

static inline bool model_in_buffer(const struct wc_model *model, uint32_t address, uint64_t bytes)
{
	return address + bytes <= model->base.params.buffer_bytes;
}

#endif
