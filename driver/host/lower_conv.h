// SPDX-License-Identifier: Apache-2.0
//
// Shared by the lowerings of a convolution's three GEMMs.
#ifndef WC_LOWER_CONV_H
#define WC_LOWER_CONV_H

#include "driver/host/gemm_fields.h"
#include "driver/host/lower_internal.h"

enum { GEMM_PRELOAD = 1, GEMM_FP32 = 2, GEMM_ONE_ROW = 4 }; // flags of a GEMM command

// Bytes of a buffer; lo = hi: none.
struct lower_span {
	int64_t lo, hi;
};

static inline int64_t min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

// Whether a convolution's sizes fit the fields of a command.
int lower_check_conv(const struct lower *lower, int node, int64_t samples, int64_t k_total, struct wc_error *err);

// The rows of `slab` that the op's pixels touch: pixel row i touches rows row_first + i row_step + [reach_lo, reach_hi],
// those inside the image of `height` rows. All of them must be in the slab. A bounding range.
struct lower_span lower_span(const struct slab *slab, const struct op *op, int64_t row_first, int64_t row_step, int64_t reach_lo,
			     int64_t reach_hi, int64_t height);
void lower_access_span(struct op *op, bool write, struct lower_span span);

// Input and output channels of a GEMM: of one group of a convolution, or, where there is one group, all and those that the step works on.
struct lower_part {
	int64_t in_lo, in_hi, out_lo, out_hi;
};

// Part i of a step of a convolution or fully connected layer, from 0; false past the last.
bool lower_part_of(const struct net_node *conv, const struct step *from, int i, struct lower_part *part);

static inline int64_t lower_in_channels(const struct lower_part *part)
{
	return part->in_hi - part->in_lo;
}

static inline int64_t lower_out_channels(const struct lower_part *part)
{
	return part->out_hi - part->out_lo;
}

// im2col of the part's channels of a feature map: taps over x for the output pixels (rows from y_first on, all columns) of a convolution.
struct gemm_fetch lower_im2col(const struct slab *slab, const struct net_node *conv, const struct lower_part *part, int sample, int y_first,
			       int64_t samples, int64_t rows, int64_t chan_block);
// Bytes from the box's first position to `start`.
int64_t lower_box_offset(const struct walk_box *box, const int64_t start[3]);
// The op with m running over all `pixels` of its step, as K does in a weight gradient.
struct op lower_all_pixels(const struct op *op, int64_t pixels);
// A data gradient over some of the reader's channels is fp32 and goes on from the sums over those before.
void lower_sum_slices(struct op *op, const struct step *from, const struct slab *dx);
// Sizes, header and waits: the last thing to do for a tile.
int lower_tile(struct lower *lower, struct op *op, struct wc_error *err);

#endif
