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

struct compare {
	const struct net *net;          // all borrowed
	const struct layout *layout;
	const struct program *program;
	struct expect *expect;
	struct collect *collect;
	struct wc_backend *backend;
	struct compare_counts counts;
	struct mismatch mismatch;
	struct value **stored;          // [LAYOUT_STORE_COUNT * node_count] what the last STORE of each row left; NULL: none. Updates are apart
	bool updated;                   // a STORE of updated parameters has been seen
	uint8_t *scratch;               // one vector of elements and gaps of any result
	size_t scratch_bytes;
	// The tile that is being drained: rows so far.
	uint32_t tile_command, tile_complete; // UINT32_MAX: none
	int tile_rows;
	bool keep_tile;                 // whether the arrays below are filled, for a trace
	uint32_t *tile_got, *tile_expected; // [acc_rows * cols]
	uint64_t *tile_cycles;          // [acc_rows]
	// The rows that a command other than a GEMM wrote: elements compared; if keep_tile, digests in (sample, row) order.
	uint64_t result_elements;
	uint32_t digest_got, digest_expected;
	uint64_t digest_bytes;
};

int compare_init(struct compare *compare, const struct program *program, const struct layout *layout, struct expect *expect,
		 struct collect *collect, struct wc_backend *backend, bool keep_tile, struct wc_error *err);
// The program begins again: what the last step left in DRAM is no longer known.
void compare_restart(struct compare *compare);
// Another device is at work, whose commands count from 0.
void compare_new_device(struct compare *compare, struct wc_backend *backend);
void compare_release(struct compare *compare);

// One drained row. Differences in later rows of a tile that has one already are counted only. The tile is complete when
// compare->tile_rows is the op's m_count.
int compare_tile_row(struct compare *compare, uint32_t command, const struct op *op, const struct wc_tile_row *row, struct wc_error *err);
// A command is complete.
int compare_end(struct compare *compare, uint32_t command, const struct op *op, uint64_t cycle, struct wc_error *err);
// Everything in DRAM that was placed or stored.
int compare_memory(struct compare *compare, struct wc_error *err);

#endif
