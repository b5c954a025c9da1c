// SPDX-License-Identifier: Apache-2.0
//
// What the lowerings of a convolution's three GEMMs have in common; see lower_conv.h.
#include <assert.h>

#include "driver/host/field.h"
#include "driver/host/lower_conv.h"

enum { K_TOTAL_MAX = 16777215 }; // a command's k_total

int lower_check_conv(const struct lower *lower, int node, int64_t samples, int64_t k_total, struct wc_error *err)
{
	const struct net_node *conv = &lower->program->net->nodes[node];
	const struct net_conv *c = &conv->conv;
	const int64_t reach_y = (int64_t)conv->in.height + c->pad_h + (int64_t)c->dilation_h * c->kernel_h;
	const int64_t reach_x = (int64_t)conv->in.width + c->pad_w + (int64_t)c->dilation_w * c->kernel_w;
	int result;

	if ((result = lower_check(lower, node, "samples of a tile", samples, 1, UINT16_MAX, err)) ||
	    (result = lower_check(lower, node, "rows of the kernel", c->kernel_h, 1, UINT8_MAX, err)) ||
	    (result = lower_check(lower, node, "columns of the kernel", c->kernel_w, 1, UINT8_MAX, err)) ||
	    (result = lower_check(lower, node, "rows of the padded image", reach_y, 1, INT16_MAX, err)) ||
	    (result = lower_check(lower, node, "columns of the padded image", reach_x, 1, INT16_MAX, err)) ||
	    (result = lower_check(lower, node, "input channels", conv->in.channels, 1, UINT16_MAX, err)) ||
	    (result = lower_check(lower, node, "output channels", conv->out.channels, 1, UINT16_MAX, err)))
		return result;
	return lower_check(lower, node, "length of a sum", k_total, 0, K_TOTAL_MAX, err);
}

bool lower_part_of(const struct net_node *conv, const struct step *from, int i, struct lower_part *part)
{
	const int groups = conv->conv.groups;
	const int64_t in = conv->in.channels / groups, out = conv->out.channels / groups, group = groups > 1 ? from->channel_lo / out + i : i;

	*part = (struct lower_part){.in_lo = group * in, .in_hi = (group + 1) * in, .out_lo = group * out, .out_hi = (group + 1) * out};
	if (groups > 1)
		return part->out_hi <= from->channel_hi;
	part->out_lo = from->channel_lo;
	part->out_hi = from->channel_hi;
	return i == 0;
}

struct lower_span lower_span(const struct slab *slab, const struct op *op, int64_t row_first, int64_t row_step, int64_t reach_lo,
			     int64_t reach_hi, int64_t height)
{
	const int64_t per_sample = (int64_t)op->y_count * op->x_count;
	const int64_t end = (int64_t)op->m_first + op->m_count - 1;
	const int64_t sample_a = op->m_first / per_sample;
	const int64_t sample_b = end / per_sample;
	const bool one = sample_a == sample_b;
	const int64_t i_a = one ? op->m_first % per_sample / op->x_count : 0;
	const int64_t i_b = one ? end % per_sample / op->x_count : op->y_count - 1;
	int64_t lo = row_first + i_a * row_step + reach_lo;
	int64_t hi = row_first + i_b * row_step + reach_hi;

	lo = lo < 0 ? 0 : lo;
	hi = hi >= height ? height - 1 : hi;
	if (lo > hi)
		return (struct lower_span){0, 0};
	assert(lo >= slab->lo && hi < slab->hi);
	return (struct lower_span){
		.lo = slab_row(slab, op->sample_first + (int)sample_a, (int)lo),
		.hi = slab_row(slab, op->sample_first + (int)sample_b, (int)hi) + slab->pitch_bytes,
	};
}

void lower_access_span(struct op *op, bool write, struct lower_span span)
{
	if (span.lo < span.hi)
		lower_access(op, DEPEND_BUFFER, write, span.lo, span.hi);
}

int64_t lower_box_offset(const struct walk_box *box, const int64_t start[3])
{
	return start[0] * box->stride[0] + start[1] * box->stride[1] + start[2] * box->stride[2];
}

struct op lower_all_pixels(const struct op *op, int64_t pixels)
{
	struct op all = *op;

	all.m_first = 0;
	all.m_count = (int)pixels;
	return all;
}

void lower_sum_slices(struct op *op, const struct step *from, const struct slab *dx)
{
	if (dx->kind != SLAB_WIDE)
		return;
	op->command.gemm.flags = (uint16_t)(GEMM_FP32 | (from->first_cut ? 0 : GEMM_PRELOAD));
	op->command.gemm.pre_base = from->first_cut ? 0 : op->command.gemm.out_base;
}

int lower_tile(struct lower *lower, struct op *op, struct wc_error *err)
{
	op->command.gemm.m_rows = field_u16(op->m_count);
	op->command.gemm.n_cols = field_u16(op->n_count);
	op->command.gemm.k_total = field_u32(op->k_total);
	return lower_finish(lower, op, WC_OP_GEMM, err);
}
