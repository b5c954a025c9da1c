// SPDX-License-Identifier: Apache-2.0
//
// One pool with its operands and all results of the bits, for the tests.
#ifndef TESTS_GOLDEN_POOL_TRIAL_H
#define TESTS_GOLDEN_POOL_TRIAL_H

#include "csim/golden/pool.h"

// Shape, operands, results of one pool.
struct pool_trial {
	struct golden_pool pool;
	size_t in, out, index_bytes;
	uint16_t *x, *dy, *y, *dx, *naive_y, *naive_dx;
	uint8_t *index, *naive_index;
	int *taps;
};

// Hand-picked corner shapes, out_h and out_w still 0.
extern const struct golden_pool pool_shapes[];
extern const int pool_shape_count;

struct golden_pool pool_trial_complete(struct golden_pool pool);
struct golden_pool pool_trial_random(uint64_t *state);
// `kind`: 0 as the rig draws them; 1 many ties; 2 no two alike within a window; 3 with NaNs and infinities; 4 of any size.
struct pool_trial pool_trial_create(struct golden_pool pool, int kind, uint64_t *state);
void pool_trial_free(struct pool_trial *trial);
// Forward and backward, of all rows.
void pool_trial_max(struct pool_trial *trial);
void pool_trial_average(struct pool_trial *trial);

// All rows of the output, of the input.
struct golden_range pool_all_out(const struct golden_pool *pool);
struct golden_range pool_all_in(const struct golden_pool *pool);
// The shape in one line, for messages. Static storage.
const char *pool_trial_name(const struct golden_pool *pool);

#endif
