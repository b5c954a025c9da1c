// SPDX-License-Identifier: Apache-2.0
//
// The state of one run, shared by its parts: run.c (loop and results), run_setup.c, run_observe.c.
#ifndef WC_RUN_INTERNAL_H
#define WC_RUN_INTERNAL_H

#include "driver/host/lower.h"
#include "driver/host/run.h"
#include "driver/host/trace.h"

// What one core of the device is given.
struct run_core {
	struct program program;
	struct op_queue queue;
	struct lower lower;
	int step_limit;           // no step from it on is to be lowered yet
	int next_step;            // to be lowered
	uint32_t tail;            // commands written to the ring
	uint32_t commands_before; // complete on a device that was at work before
	uint64_t cycles_before;   // that the device had counted when the present part began
};

struct run {
	const struct run_options *options;
	struct run_result *result;
	struct expect *expect;
	struct program_whole whole;
	struct layout layout;
	struct wc_memory memory;
	struct run_core cores[WC_CORES_MAX];
	int core_count;
	struct collect collect;
	struct compare compare;
	struct host_trace trace;
	struct device device;    // the one at work: options->device, or the functional model for what was complete before
	struct wc_backend *backend;
	int *part_ends;          // steps of every core's program; the last part ends with it
	int part_count;
	uint64_t parts_done;
	uint64_t cycles;         // of the parts that are complete
	bool catches_up;         // the functional model is at work on what was complete before
	double work_done, work_all; // of a step
	double update_from_s;    // when the last command before the update was complete
	uint8_t *snapshot;       // the global buffer of the core with the first difference, then
	int failure;             // what an observer found, and its text
	struct wc_error observed;
};

// Expand, lay out, make the device, place the inputs. On failure what is there is released by run_tear_down().
int run_set_up(struct run *run, struct wc_error *err);
void run_tear_down(struct run *run);

// The device with its observer, ready for commands; the one before is freed, and its global buffer copied.
int run_open_device(struct run *run, struct wc_error *err);

// Where the programs come to rest (run_part.c): with options->resume behind each group, and where cores exchange what they have made.
// WC_ERR_INPUT: the run has fewer parts than are said to be complete.
int run_find_parts(struct run *run, struct wc_error *err);
// Before a part: the device takes over from the functional model if it is its turn.
int run_begin_part(struct run *run, int part, struct wc_error *err);
int run_end_part(struct run *run, struct wc_error *err);
// Of all cores of the device, with what it had counted before it was taken up again; cycles from the first to the last core's end of each part.
uint64_t run_counter(const struct run *run, enum wc_counter counter);
uint64_t run_cycles(const struct run *run);

// Images and labels, or the output's gradient, to their places.
int run_place_batch(struct run *run, struct wc_error *err);

// Callbacks of the device; `context` is the run. What they find is in run->failure and run->observed.
int run_on_tile_row(void *context, const struct wc_tile_row *row);
int run_on_event(void *context, const struct wc_event *event);

static inline bool run_stop_wanted(const struct run *run)
{
	return run->options->stop && *run->options->stop;
}

#endif
