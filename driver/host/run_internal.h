// SPDX-License-Identifier: Apache-2.0
//
// The state of one run, shared by its parts: run.c (loop and results), run_setup.c, run_observe.c.
#ifndef WC_RUN_INTERNAL_H
#define WC_RUN_INTERNAL_H

#include "driver/host/lower.h"
#include "driver/host/run.h"
#include "driver/host/trace.h"

struct run {
	const struct run_options *options;
	struct run_result *result;
	struct expect *expect;
	struct program_whole whole;
	struct program program;
	struct layout layout;
	struct wc_memory memory;
	struct op_queue queue;
	struct lower lower;
	struct collect collect;
	struct compare compare;
	struct host_trace trace;
	struct device device;    // the one at work: options->device, or the functional model for what was complete before
	struct wc_backend *backend;
	int *part_ends;          // steps of the program; one part without options->resume
	int part_count;
	int step_limit;          // no step from it on is to be lowered yet
	uint64_t parts_done;
	bool catches_up;         // the functional model is at work on what was complete before
	uint32_t commands_before; // complete on a device that was at work before
	uint32_t tail;           // commands written to the ring
	int next_step;           // to be lowered
	double work_done, work_all; // of a step
	double update_from_s;    // when the last command before the update was complete
	uint8_t *snapshot;       // the global buffer at the first difference
	int failure;             // what an observer found, and its text
	struct wc_error observed;
};

// Expand, lay out, make the device, place the inputs. On failure what is there is released by run_tear_down().
int run_set_up(struct run *run, struct wc_error *err);
void run_tear_down(struct run *run);

// The device with its observer, ready for commands; the one before is freed, and its global buffer copied.
int run_open_device(struct run *run, struct wc_error *err);

// Where the program comes to rest (run_part.c). WC_ERR_INPUT: the run has fewer parts than are said to be complete.
int run_find_parts(struct run *run, struct wc_error *err);
// Before a part: the device takes over from the functional model if it is its turn.
int run_begin_part(struct run *run, struct wc_error *err);
int run_end_part(struct run *run, struct wc_error *err);
// Of the device, with what it had counted before it was taken up again.
uint64_t run_counter(const struct run *run, enum wc_counter counter);

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
