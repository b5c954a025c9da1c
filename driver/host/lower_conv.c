// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and fully connected layers as GEMM tiles: forward (rtl/README.md, "GEMM tiles and waves").
//
// Image positions are rows and columns of the whole tensor, addresses those of the slab: what lies
// outside the image is padding; what lies inside the image but outside the slab is never touched (the
// checker proves it of every schedule; asserted in lower_span()).
#include "driver/host/lower_conv.h"

struct gemm_fetch lower_im2col(const struct slab *slab, const struct net_node *conv, const struct lower_part *part, int sample, int y_first,
			       int64_t samples, int64_t rows, int64_t chan_block)
{
	const struct net_conv *c = &conv->conv;
	const int64_t pixel = 2 * (int64_t)conv->in.channels;
	const int64_t y = (int64_t)y_first * c->stride_h - c->pad_h;
	struct gemm_fetch fetch = {
		.base = slab_row(slab, sample, 0) + y * (int64_t)slab->pitch_bytes - c->pad_w * pixel + 2 * part->in_lo,
		.taps_y = c->kernel_h,
		.taps_x = c->kernel_w,
		.box = {
			.count = {conv->out.width, rows, samples},
			.stride = {c->stride_w * pixel, c->stride_h * (int64_t)slab->pitch_bytes,
				   (int64_t)(slab->hi - slab->lo) * slab->pitch_bytes},
		},
		.y_first = y,
		.x_first = -c->pad_w,
		.y_step = c->stride_h,
		.x_step = c->stride_w,
		.y_size = conv->in.height,
		.x_size = conv->in.width,
		.tap_y_step = c->dilation_h,
		.tap_x_step = c->kernel_w > 1 ? c->dilation_w : 1,
		.chan_delta = 2,
		.chan_total = lower_in_channels(part),
		.chan_block = chan_block,
	};

	gemm_fetch_taps(&fetch, (int64_t)c->dilation_h * slab->pitch_bytes, c->dilation_w * pixel, 2 * chan_block);
	return fetch;
}

// Filters as vectors whose K order is (block, r, s, c in block).
static struct gemm_fetch filters(int64_t base, const struct net_node *conv, int64_t channels, int64_t count, int64_t rows)
{
	const int64_t taps = (int64_t)conv->conv.kernel_h * conv->conv.kernel_w, row = conv->conv.kernel_w * channels;
	// One block, or one tap: the order in memory is that of K. A filter that a field cannot count goes row by row of the kernel.
	const bool in_order = channels <= rows || taps == 1, by_rows = in_order && taps * channels > UINT16_MAX;
	struct gemm_fetch fetch = gemm_fetch_plain(base, FETCH_K_IN_VECTOR, by_rows ? row : in_order ? taps * channels : channels);

	fetch.box = (struct walk_box){.count = {count, 1, 1}, .stride = {2 * taps * channels, 0, 0}};
	if (!in_order) {
		fetch.taps_y = conv->conv.kernel_h;
		fetch.taps_x = conv->conv.kernel_w;
		fetch.chan_block = rows;
		gemm_fetch_taps(&fetch, 2 * row, 2 * channels, 2 * rows);
	} else if (by_rows) {
		fetch.taps_y = conv->conv.kernel_h;
		gemm_fetch_taps(&fetch, 2 * row, 0, 0);
	}
	return fetch;
}

// Every row of the tile starts from the bias of its columns.
static void start_from_bias(struct op *op, const struct slab *bias)
{
	const int64_t base = slab_channel(bias, op->n_first, 1, 4);

	op->command.gemm.flags = GEMM_PRELOAD | GEMM_ONE_ROW;
	op->command.gemm.pre_base = (uint32_t)base;
	lower_access(op, DEPEND_BUFFER, false, base, base + 4 * op->n_count);
}

static int lower_forward_part(struct lower *lower, int step, const struct lower_part *part, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct net_node *conv = &lower->program->net->nodes[from->node];
	const struct slab *x = lower_slab(lower, from->source);
	const struct slab *w = lower_slab(lower, from->operand);
	const struct slab *y = lower_slab(lower, from->result);
	const int64_t rows = from->hi - from->lo;
	const int64_t pixels = from->sample_count * rows * conv->out.width;
	const int64_t filter = net_conv_weights(conv) / conv->out.channels;
	const int64_t reach = (int64_t)conv->conv.dilation_h * (conv->conv.kernel_h - 1);
	const int64_t pixel_bytes = 2 * (int64_t)conv->out.channels;
	struct gemm_fetch a = lower_im2col(x, conv, part, from->sample_first, from->lo, from->sample_count, rows, lower->params.rows);
	const int64_t a_first = a.base;
	struct gemm_walk out = {
		.box = {
			.count = {conv->out.width, rows, from->sample_count},
			.stride = {pixel_bytes, y->pitch_bytes, (int64_t)(y->hi - y->lo) * y->pitch_bytes},
		},
	};
	int result = 0;

	for (int64_t m = 0; !result && m < pixels; m += lower->params.acc_rows)
		for (int64_t n = part->out_lo; !result && n < part->out_hi; n += lower->params.cols) {
			struct op *op = lower_push(lower, step, OP_FORWARD, err);
			struct lower_span span;

			if (!op)
				return WC_ERR_SYSTEM;
			op->value = lower_value(lower, from, from->result);
			op->k_total = filter;
			op->m_first = (int)m;
			op->m_count = (int)min64(pixels - m, lower->params.acc_rows);
			op->n_first = (int)n;
			op->n_count = (int)min64(part->out_hi - n, lower->params.cols);
			op->y_first = from->lo;
			op->y_step = op->x_step = 1;
			op->y_count = (int)rows;
			op->x_count = conv->out.width;

			walk_start(&a.box, m, a.start);
			a.base = a_first + lower_box_offset(&a.box, a.start);
			walk_start(&out.box, m, out.start);
			out.base = slab_row(y, from->sample_first, from->lo) + lower_box_offset(&out.box, out.start) + 2 * n;
			const struct gemm_fetch b = filters(slab_channel(w, (int)n, filter, 2), conv, lower_in_channels(part), op->n_count, lower->params.rows);

			gemm_put_a(&op->command.gemm, &a);
			gemm_put_b(&op->command.gemm, &b);
			gemm_put_out(&op->command.gemm, &out);
			span = lower_span(x, op, a.y_first, a.y_step, 0, reach, conv->in.height);
			lower_access_span(op, false, span);
			lower_access(op, DEPEND_BUFFER, false, b.base, b.base + 2 * filter * op->n_count);
			lower_access_span(op, true, lower_span(y, op, from->lo, 1, 0, 0, conv->out.height));
			if (from->parameters >= 0)
				start_from_bias(op, lower_slab(lower, from->parameters));
			result = lower_tile(lower, op, err);
		}
	return result;
}

int lower_forward(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct net_node *conv = &lower->program->net->nodes[from->node];
	int result = lower_check_conv(lower, from->node, from->sample_count, net_conv_weights(conv) / conv->out.channels, err);
	struct lower_part part;

	for (int i = 0; !result && lower_part_of(conv, from, i, &part); i++)
		result = lower_forward_part(lower, step, &part, err);
	return result;
}
