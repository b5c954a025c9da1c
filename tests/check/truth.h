// SPDX-License-Identifier: Apache-2.0
//
// What every row of every tensor of a graph is worth, computed straight from the network: hashes that tell from which rows a row was
// made. Gradients with each number of readers' parts, statistics of normalizations, and parameters' gradients included.
#ifndef TRUTH_H
#define TRUTH_H

#include "driver/plan/schedule.h"
#include "tests/check/values.h"

enum { TRUTH_PARTS = 8, TRUTH_PIECES = 64 };

// A reader's part of the gradient of a tensor: as `input` of `reader`, in which the tensor is the piece `piece`.
// `reader` is node_count for the caller of a network without loss.
struct truth_part {
	int reader, input, piece;
};

struct truth {
	const struct net *net;
	struct values values;                // act; grad, complete; mask
	struct values partial[TRUTH_PARTS];  // kind grad: of the first i + 1 parts
	uint64_t *statistics, *sums;         // [sample * node_count + node] of normalizations: forward, backward
	uint64_t *weights;                   // [node]: the parameters' gradient
};

// Whether concatenations are views, as under `paper`, or tensors of their own. Of all that follows, until it is said again.
void truth_set_views(bool views);

void truth_init(struct truth *truth, const struct net *net, int samples);
void truth_release(struct truth *truth);

// The nodes that a tensor stands for: itself, or a view's pieces. Returns their number.
int truth_pieces(const struct net *net, int node, int pieces[TRUTH_PIECES]);
// The parts of a tensor's gradient in the order in which they are added. Returns their number.
int truth_parts(const struct net *net, int node, struct truth_part parts[TRUTH_PARTS]);
// Whether output row `out` of a node reads input row `in`; and the number of the tap, for windows.
bool truth_reads(const struct net_node *node, int out, int in, int *tap);

// Operators on one row. `row(context, input, y)` gives row y of the tensor that the node's input stands for.
typedef uint64_t (*truth_row)(void *context, int tensor, int y);
uint64_t truth_forward(const struct net *net, int node, int y, uint64_t statistics, truth_row row, void *context);
uint64_t truth_mask(int node, uint64_t output);
// The part of `reader`: from grad and mask of its output, and its input's row for a normalization.
uint64_t truth_backward(const struct net *net, int reader, int y, uint64_t statistics, uint64_t sums, truth_row gradient, truth_row mask, uint64_t input,
			void *context);
uint64_t truth_piece(const struct net *net, int reader, uint64_t part, int piece);
uint64_t truth_add(uint64_t sum, uint64_t part);
// What a row adds to statistics, to a normalization's sums in backward, and to parameters' gradients: so little that no sum looks like garbage.
uint64_t truth_statistic(int node, int y, uint64_t input);
uint64_t truth_sum(int node, int y, uint64_t gradient, uint64_t input);
uint64_t truth_product(const struct net *net, int node, int y, uint64_t gradient, truth_row row, void *context);
// A concatenation's row.
uint64_t truth_join(const uint64_t *pieces, int count);

#endif
