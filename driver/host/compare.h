// SPDX-License-Identifier: Apache-2.0
//
// Comparing results with the golden model as they are produced: every drained row of a tile, every row a VECTOR
// or SIMD wrote, every row a LOAD brought and a STORE left, and at the end all of DRAM once more. Every element, bit by bit.
//
// The functions return 0 when all is equal, WC_ERR_MISMATCH with compare->mismatch filled at the first
// difference, or an error. Only the first difference is recorded.
#ifndef WC_COMPARE_H
#define WC_COMPARE_H

#include "csim/backend.h"
#include "driver/host/collect.h"
#include "driver/host/expect.h"
#include "driver/host/mismatch.h"

struct compare_counts {
	uint64_t tiles, tile_elements;
	uint64_t vectors, loads, stores; // commands
	uint64_t vector_elements, load_elements, store_elements; // of their results; a mask's too
	uint64_t elements;               // all compared: these and DRAM once more in the end
};

// The tile that a core is draining.
struct compare_tile {
	uint32_t command, complete;  // that it is of; that all rows of the last complete one were; UINT32_MAX: none
	int rows;                    // so far
	uint32_t *got, *expected;    // [acc_rows * cols], filled for a trace alone; owned
	uint64_t *cycles;            // [acc_rows]
};

struct compare {
	const struct net *net;          // all borrowed
	const struct layout *layout;
	struct expect *expect;
	struct collect *collect;
	struct wc_backend *backend;
	struct compare_counts counts;
	struct mismatch mismatch;
	struct value **stored;          // [LAYOUT_STORE_COUNT * node_count] what the last STORE of each row left; NULL: none. Updates are apart
	bool updated, reduced;          // a STORE of updated parameters, of gradients summed over the cores has been seen
	uint8_t *scratch;               // one vector of elements and gaps of any result
	size_t scratch_bytes;
	struct compare_tile tiles[WC_CORES_MAX];
	bool keep_results;              // for a trace
	// The rows that a command other than a GEMM wrote: elements compared; if keep_results, digests in (sample, row) order.
	uint64_t result_elements;
	uint32_t digest_got, digest_expected;
	uint64_t digest_bytes;
};

int compare_init(struct compare *compare, const struct layout *layout, struct expect *expect, struct collect *collect, struct wc_backend *backend,
		 bool keep_results, struct wc_error *err);
// The program begins again: what the last step left in DRAM is no longer known.
void compare_restart(struct compare *compare);
// Another device is at work, whose commands count from 0.
void compare_new_device(struct compare *compare, struct wc_backend *backend);
void compare_release(struct compare *compare);

// One drained row of the op's core. Differences in later rows of a tile that has one already are counted only. The tile is complete when the
// core's tile has m_count rows.
int compare_tile_row(struct compare *compare, uint32_t command, const struct op *op, const struct wc_tile_row *row, struct wc_error *err);
// A command is complete.
int compare_end(struct compare *compare, uint32_t command, const struct op *op, uint64_t cycle, struct wc_error *err);
// Everything in DRAM that was placed or stored.
int compare_memory(struct compare *compare, struct wc_error *err);

#endif
