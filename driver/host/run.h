// SPDX-License-Identifier: Apache-2.0
//
// Running a schedule on a device, every result compared with the golden model as it is produced. The first
// difference stops the run and is explained by a replay (diagnose.h).
#ifndef WC_RUN_H
#define WC_RUN_H

#include <signal.h>

#include "driver/host/compare.h"
#include "driver/host/device.h"
#include "driver/host/diagnose.h"
#include "driver/host/fault.h"
#include "driver/host/profile.h"
#include "traces/wct.h"

enum { RUN_RING_ENTRIES = 1024 };

// Training: the steps of a run with an optimizer (struct expect).
struct run_training {
	int steps;
	// Put the images and labels of step `step`, from 1 on, into the data, and its learning rate into the optimizer: the first step's are there.
	int (*next_batch)(void *context, int step, struct wc_error *err);
	// A step is complete and all equal. `loss`: the mean over the batch, from the losses that the device stored.
	void (*step_done)(void *context, int step, double loss);
	void *context;
};

// How far a run has come: parts that are complete, and the device's counters then. A part is a group of the schedule, and behind a step's
// last one the update; they count on over the steps.
struct run_position {
	uint64_t parts;
	uint64_t cycles;
	uint64_t counters[WC_COUNTER_COUNT];
	struct profile profile; // of cycles alone
};

// A run that can be taken up where it was stopped. The device comes to rest after each part, so that its counters and cycles are those of the
// parts, however often it was stopped.
struct run_resume {
	const char *name;                // of the file that holds `from`, for messages
	const struct run_position *from; // what was complete before; NULL: nothing. It runs on the functional model again, and is compared all the same
	// A part is complete on the device; `position` is valid during the call. Anything but 0 ends the run with it.
	int (*part_done)(void *context, const struct run_position *position, struct wc_error *err);
	void *context;
};

struct run_options {
	const struct schedule *schedule; // all borrowed
	const struct net *net;
	const struct data *data;
	struct device device;
	uint64_t seed;
	struct fault fault;
	const char *schedule_name; // for the trace's header
	const char *trace, *golden_trace; // paths or NULL
	enum wct_level trace_level;
	const char *dump;          // directory or NULL; of the last step
	const struct run_training *training; // NULL: one step
	const struct run_resume *resume;     // NULL: the run is not taken up later. With it, commands count from where the device took over
	// Called with the fraction done, 0 to 1, after every command; may be NULL.
	void (*progress)(void *context, double fraction);
	void *progress_context;
	const volatile sig_atomic_t *stop; // the run stops when it is not 0; may be NULL
};

// A tensor's bits as the device made them.
struct run_digest {
	enum collect_kind kind;
	int node;
	uint32_t crc;
};

struct run_result {
	uint64_t cycles;           // in which the device was at work; 0: the backend has none
	uint64_t end_cycle;        // since reset, as events and waveforms count
	uint64_t counters[WC_COUNTER_COUNT]; // summed over the cores
	struct profile profile;    // by layer and phase
	double update_wall_s;      // from the end of backward to the end of the update
	int steps;                 // completed
	int updates;               // of them are in the optimizer and its parameters: the last one's only at the end
	double loss;               // of the last one, the mean over the batch; NaN: the network has none
	uint64_t commands;         // completed
	uint64_t macs;             // m n k over the tiles executed, padding included
	uint64_t read_bytes[WC_CLASS_COUNT], write_bytes[WC_CLASS_COUNT]; // what the memory moved
	uint32_t buffer_high_water; // most bytes of a global buffer that slabs hold at one step
	struct compare_counts counts;
	struct run_digest *digests; // owned: act and grad of every node that was made whole
	int digest_count;
	struct mismatch mismatch;
	struct diagnosis diagnosis; // of the mismatch
	bool stopped;              // by options.stop
	struct wc_error waveform;  // why options.device.rtl.waveform is not whole; empty: it is, or none was recorded
	double wall_s;
	double device_cpu_s;       // processor time of the backend, comparison included, the golden operators not
	double golden_cpu_s;       // ... of the golden operators that this run was the first to need
	uint64_t golden_macs;
};

// 0: ran to the end, all equal, something checked. WC_ERR_MISMATCH: result->mismatch and diagnosis say where; err has one line.
// WC_ERR_STOPPED: options.stop. WC_ERR_INPUT, WC_ERR_SYSTEM: err. The result is filled as far as the run went; release it always.
// `expect` may be shared by runs one after another, on the same data and array rows.
int run_schedule(const struct run_options *options, struct expect *expect, struct run_result *result, struct wc_error *err);
void run_result_release(struct run_result *result);

#endif
