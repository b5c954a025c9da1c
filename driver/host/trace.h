// SPDX-License-Identifier: Apache-2.0
//
// The run's traces: what the device did, and what the golden model says it should have done, as the same
// events (traces/wct.h), so that `wavecore diff` can compare them.
#ifndef WC_HOST_TRACE_H
#define WC_HOST_TRACE_H

#include "csim/backend.h"
#include "driver/host/compare.h"
#include "traces/wct_writer.h"

struct host_trace {
	struct wct_writer *device, *golden; // NULL: not wanted
	const struct program *programs[WC_CORES_MAX]; // borrowed
	int cores;
	int rows, cols, acc_rows;           // of the device
};

// `device_path`, `golden_path`: NULL for none.
int host_trace_open(struct host_trace *trace, const struct wc_device_params *params, const char *device_path, const char *golden_path,
		    enum wct_level level, struct wc_error *err);
// What a core executes, before its first event. Borrowed.
void host_trace_program(struct host_trace *trace, const struct program *program);
// One fact about the run, in both traces.
int host_trace_header(struct host_trace *trace, const char *key, const char *value, struct wc_error *err);
// ... in the device's alone.
int host_trace_device_header(struct host_trace *trace, const char *key, const char *value, struct wc_error *err);
// An event of the device: command begin and end, waves, bursts. `op` is NULL for a burst of the ring.
int host_trace_event(struct host_trace *trace, const struct wc_event *event, const struct op *op, bool has_cycle, struct wc_error *err);
// The result of a command that has ended (or whose tile differs), with the golden side's whole account of that command.
int host_trace_result(struct host_trace *trace, const struct compare *compare, uint32_t command, const struct op *op, uint64_t cycle, bool has_cycle,
		      struct wc_error *err);
int host_trace_counter(struct host_trace *trace, const char *name, uint64_t value, struct wc_error *err);
// Close both with their index. `ended`: how the run ended, if not at its end, for the device's header; NULL: at its end.
int host_trace_close(struct host_trace *trace, const char *ended, struct wc_error *err);

static inline bool host_trace_wanted(const struct host_trace *trace)
{
	return trace->device || trace->golden;
}

#endif
