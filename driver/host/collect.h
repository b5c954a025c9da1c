// SPDX-License-Identifier: Apache-2.0
//
// What the device made, element by element as it was seen: drained tiles, vector results, stored rows
// in DRAM. For --dump and for comparing schedules with each other; nothing in it comes from the golden model.
#ifndef WC_COLLECT_H
#define WC_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/host/data.h"

enum collect_kind { COLLECT_ACT, COLLECT_GRAD, COLLECT_MASK, COLLECT_WGRAD, COLLECT_KIND_COUNT };

struct collect_tensor {
	void *values;        // dense; masks: rows of ceil(W C / 8) bytes; owned; NULL: nothing seen yet
	uint64_t seen_count; // distinct rows (sample, y), or output channels, of which something was seen
	bool *seen;          // [samples * rows], or [output channels]
};

struct collect {
	const struct net *net; // borrowed
	int batch;
	struct collect_tensor *tensors; // [COLLECT_KIND_COUNT * node_count]
};

int collect_init(struct collect *collect, const struct net *net, int batch, struct wc_error *err);
void collect_release(struct collect *collect);

// Rows (samples times height; output channels of weight gradients) and bytes of a row, dense.
uint64_t collect_rows(const struct collect *collect, enum collect_kind kind, int node);
uint64_t collect_row_bytes(const struct collect *collect, enum collect_kind kind, int node);

// Where row `row` (sample * height + y, or the output channel) of a tensor is to be put; marks it as seen. NULL without memory.
uint8_t *collect_row(struct collect *collect, enum collect_kind kind, int node, uint64_t row, struct wc_error *err);

// The tensor if every row of it was seen, else NULL.
const void *collect_whole(const struct collect *collect, enum collect_kind kind, int node);

// Make the directory for a dump, if it is not there, before a long run. WC_ERR_INPUT if it cannot be made.
int collect_dump_prepare(const char *directory, struct wc_error *err);
// Call `each` with the name, in its directory, of every file that collect_dump() may write, until it returns other than 0: the result.
int collect_dump_names(const struct net *net, int (*each)(void *context, const char *name), void *context);
// Write every whole tensor, the inputs and the weights as .npy files into `directory`. Names: driver/host/README.md.
int collect_dump(const struct collect *collect, const struct data *data, const char *directory, struct wc_error *err);

#endif
