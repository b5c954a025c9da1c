// SPDX-License-Identifier: Apache-2.0
//
// The PE grid of rtl/array.v as a cycle-exact C macro: the same bits at the ports in every cycle, for arrays too big to
// simulate as RTL. rtl/sim/array_dpi.sv calls it once per clock edge.
//
// State: two weight registers and a partial sum per PE (row-major, [row * cols + col]), held as float; per row a ring of
// the activations on their way to the right, newest at `at`, so that what column c sees lies at [at + c] and a step moves nothing; one
// ring of weight enables for the whole array, as at most one row's enable enters per cycle.
//
//     ring of row r:   ....| now: col 0 | col 1 | ... | col C-1 | left the array ...
//                          ^ at (moves down by one per step)
//
// A step without anything valid in flight leaves the sums alone (they are zero), one without a weight enable in flight the weights.
//
// Pointers from create() and find() belong to the registry and die with array_macro_free(). Not for use from several threads at once.
#ifndef WC_ARRAY_MACRO_H
#define WC_ARRAY_MACRO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "traces/error.h"

enum {
	ARRAY_MACRO_MAX = 256,        // instances in a process
	ARRAY_MACRO_WINDOW = 4,       // rows and columns of the window mirrored for waveforms
	ARRAY_MACRO_NAME_BYTES = 256, // longest hierarchical name, with its 0
};

struct array_macro;

// ---- life ----------------------------------------------------------------------------------------

// Seed of the undefined state (weights never loaded) of instances created from now on. The default is 0.
void array_macro_seed(uint64_t seed);

// Make an instance for `rows` x `cols` PEs of `mac_stages` (1 or 2) cycles each, in reset. `name` is its hierarchical name.
// Returns its id >= 0, or WC_ERR_INPUT (bad shape) or WC_ERR_SYSTEM (no memory, too many instances).
int array_macro_create(const char *name, int rows, int cols, int mac_stages, struct wc_error *err);
void array_macro_free(int id);

// NULL when there is none. By name: the newest instance whose name is `name` or ends in `.name`.
struct array_macro *array_macro_get(int id);
struct array_macro *array_macro_find(const char *name);

// ---- simulation ----------------------------------------------------------------------------------

// Asynchronous reset: nothing in flight, sums zero. Weights stay.
void array_macro_reset(struct array_macro *m);

// Inputs of one enabled clock edge, packed as at the ports of rtl/array.v: element i of a vector at bits [i * width +: width], 32
// bits per word, least significant first. At most one bit of w_en may be set.
struct array_macro_inputs {
	const uint32_t *a;       // rows x 16
	const uint32_t *a_valid; // rows x 1
	const uint32_t *a_sel;   // rows x 1
	const uint32_t *w;       // cols x 16
	const uint32_t *w_en;    // rows x 1
	const uint32_t *w_sel;   // rows x 1
};

// Advance by one edge and write what the ports show after it: psum (cols words) and psum_valid (cols bits).
// Returns false when nothing is left in flight, so that a step with no valid and no enable would change nothing.
bool array_macro_step(struct array_macro *m, const struct array_macro_inputs *in, uint32_t *psum, uint32_t *psum_valid);

// ---- looking and breaking ------------------------------------------------------------------------

int array_macro_rows(const struct array_macro *m);
int array_macro_cols(const struct array_macro *m);
const char *array_macro_name(const struct array_macro *m);

// Partial sums of one column as fp32 bits, rows in ascending order: what each PE's register holds after the last step.
void array_macro_column(const struct array_macro *m, int col, uint32_t *psum);

// fp16 bits of one weight register (sel 0 or 1). A NaN reads 0x7e00.
uint16_t array_macro_weight(const struct array_macro *m, int row, int col, int sel);

// The activation that PE (row, col) used in the last step, as fp16 bits, and whether it was valid.
uint16_t array_macro_operand(const struct array_macro *m, int row, int col, bool *valid);

// Fault injection: flip one bit of a weight register (0..15) or of a partial sum (0..31). A sum's flip lives until the next step, where the
// PE below takes it in; in the last row, whose sums have already gone to the port, and while nothing is in flight it has no effect.
void array_macro_flip_weight(struct array_macro *m, int row, int col, int sel, int bit);
void array_macro_flip_psum(struct array_macro *m, int row, int col, int bit);

// The window for waveforms: ARRAY_MACRO_WINDOW x ARRAY_MACRO_WINDOW PEs from (row, col), moved inward where it would leave the array.
// Off (the default) when row < 0.
struct array_macro_view {
	uint32_t psum[ARRAY_MACRO_WINDOW * ARRAY_MACRO_WINDOW];
	uint16_t w0[ARRAY_MACRO_WINDOW * ARRAY_MACRO_WINDOW];
	uint16_t w1[ARRAY_MACRO_WINDOW * ARRAY_MACRO_WINDOW];
	uint16_t a[ARRAY_MACRO_WINDOW * ARRAY_MACRO_WINDOW];
	uint32_t valid; // one bit per PE
	int row, col;   // of the first PE
};
void array_macro_set_window(struct array_macro *m, int row, int col);
bool array_macro_has_window(const struct array_macro *m);
void array_macro_view(const struct array_macro *m, struct array_macro_view *view);

// ---- checkpoints ---------------------------------------------------------------------------------

// All instances of the process. Restoring makes those that are missing under the id they had, so that a restored model finds them;
// an id that belongs to another name or shape is an error (WC_ERR_INPUT), as is a file that is not from save (WC_ERR_INPUT).
int array_macro_save_all(FILE *file, struct wc_error *err);
int array_macro_restore_all(FILE *file, struct wc_error *err);

#endif
