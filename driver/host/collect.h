// SPDX-License-Identifier: Apache-2.0
//
// What the device made, element by element as it was seen: drained tiles, vector results, stored rows
// in DRAM. For --dump and for comparing schedules with each other; nothing in it comes from the golden model.
#ifndef WC_COLLECT_H
#define WC_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/host/data.h"
#include "driver/host/optimizer.h"
#include "driver/host/value.h"

enum collect_kind {
	COLLECT_ACT,
	COLLECT_GRAD,
	COLLECT_MASK,             // a max pool's indices, too
	COLLECT_WGRAD,
	COLLECT_BIAS_WGRAD,
	COLLECT_PARAMETERS_WGRAD, // of gamma and beta
	COLLECT_STATISTICS,       // mean and reciprocal deviation
	COLLECT_LOSSES,
	COLLECT_STATE,            // masters and momenta behind an update: a kind for each of enum parameter_array
	COLLECT_UPDATED = COLLECT_STATE + ARRAY_COUNT, // fp16 parameters behind it, likewise
	COLLECT_KIND_COUNT = COLLECT_UPDATED + ARRAY_COUNT,
};

struct collect_tensor {
	void *values;        // dense; masks: each row from a byte on; owned; NULL: nothing seen yet
	uint64_t seen_count; // distinct rows of which something was seen
	bool *seen;          // [rows]
};

struct collect {
	const struct net *net; // borrowed
	int batch;
	struct collect_tensor *tensors; // [COLLECT_KIND_COUNT * node_count]
};

int collect_init(struct collect *collect, const struct net *net, int batch, struct wc_error *err);
void collect_release(struct collect *collect);

// Rows, (sample, row, vector) as value.h counts them, and bytes of a row, dense.
uint64_t collect_rows(const struct collect *collect, enum collect_kind kind, int node);
uint64_t collect_row_bytes(const struct collect *collect, enum collect_kind kind, int node);

// Where row `row` ((sample * rows of a sample + row) * vectors + vector) of a tensor is to be put; marks it as seen. NULL without memory.
uint8_t *collect_row(struct collect *collect, enum collect_kind kind, int node, uint64_t row, struct wc_error *err);

// The tensor if every row of it was seen, else NULL.
const void *collect_whole(const struct collect *collect, enum collect_kind kind, int node);

// Make the directory for a dump, if it is not there, before a long run. WC_ERR_INPUT if it cannot be made.
int collect_dump_prepare(const char *directory, struct wc_error *err);
// Call `each` with the name, in its directory, of every file that collect_dump() may write, until it returns other than 0: the result.
int collect_dump_names(const struct net *net, int (*each)(void *context, const char *name), void *context);
// Write every whole tensor and what the step began with, `optimizer` (NULL: there was no update) too, as .npy files into `directory`. Names:
// driver/host/README.md.
int collect_dump(const struct collect *collect, const struct data *data, const struct optimizer *optimizer, const char *directory, struct wc_error *err);

#endif
