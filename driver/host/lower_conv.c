// SPDX-License-Identifier: Apache-2.0
//
// Convolutions as GEMM tiles: forward and weight gradient (rtl/README.md, "GEMM tiles and waves").
//
// Image positions are rows and columns of the whole tensor, addresses those of the slab: what lies
// outside the image is padding; what lies inside the image but outside the slab is never touched (the
// checker proves it of every schedule; asserted in lower_span()).
#include "driver/host/lower_conv.h"

// im2col of a feature map: taps over x for the output pixels (rows from y_first on, all columns) of a convolution.
static struct gemm_fetch im2col(const struct slab *slab, const struct net_node *conv, int sample, int y_first, int64_t samples,
				int64_t rows, int64_t chan_block)
{
	const struct net_conv *c = &conv->conv;
	const int64_t pixel = 2 * (int64_t)conv->in.channels;
	const int64_t y = (int64_t)y_first * c->stride_h - c->pad_h;
	struct gemm_fetch fetch = {
		.base = slab_row(slab, sample, 0) + y * (int64_t)slab->pitch_bytes - c->pad_w * pixel,
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
		.chan_total = conv->in.channels,
		.chan_block = chan_block,
	};

	gemm_fetch_taps(&fetch, (int64_t)c->dilation_h * slab->pitch_bytes, c->dilation_w * pixel, 2 * chan_block);
	return fetch;
}

// Filters as vectors whose K order is (block, r, s, c in block).
static struct gemm_fetch filters(int64_t base, const struct net_node *conv, int64_t count, int64_t rows)
{
	const int64_t taps = (int64_t)conv->conv.kernel_h * conv->conv.kernel_w;
	const int64_t channels = conv->in.channels;
	// One block, or one tap: the order in memory is that of K.
	const bool in_order = channels <= rows || taps == 1;
	struct gemm_fetch fetch = gemm_fetch_plain(base, FETCH_K_IN_VECTOR, in_order ? taps * channels : channels);

	fetch.box = (struct walk_box){.count = {count, 1, 1}, .stride = {2 * taps * channels, 0, 0}};
	if (!in_order) {
		fetch.taps_x = taps;
		fetch.chan_block = rows;
		gemm_fetch_taps(&fetch, 0, 2 * channels, 2 * rows);
	}
	return fetch;
}

int lower_forward(struct lower *lower, int step, struct wc_error *err)
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
	struct gemm_fetch a = im2col(x, conv, from->sample_first, from->lo, from->sample_count, rows, lower->params.rows);
	const int64_t a_first = a.base;
	struct gemm_walk out = {
		.box = {
			.count = {conv->out.width, rows, from->sample_count},
			.stride = {pixel_bytes, y->pitch_bytes, (int64_t)(y->hi - y->lo) * y->pitch_bytes},
		},
	};
	int result = lower_check_conv(lower, from->node, from->sample_count, filter, err);

	for (int64_t m = 0; !result && m < pixels; m += lower->params.acc_rows)
		for (int64_t n = from->channel_lo; !result && n < from->channel_hi; n += lower->params.cols) {
			struct op *op = lower_push(lower, step, OP_FORWARD, err);
			struct lower_span span;

			if (!op)
				return WC_ERR_SYSTEM;
			op->store = LAYOUT_ACT;
			op->tensor = from->node;
			op->k_total = filter;
			op->m_first = (int)m;
			op->m_count = (int)min64(pixels - m, lower->params.acc_rows);
			op->n_first = (int)n;
			op->n_count = (int)min64(from->channel_hi - n, lower->params.cols);
			op->y_first = from->lo;
			op->y_step = op->x_step = 1;
			op->y_count = (int)rows;
			op->x_count = conv->out.width;

			walk_start(&a.box, m, a.start);
			a.base = a_first + lower_box_offset(&a.box, a.start);
			walk_start(&out.box, m, out.start);
			out.base = slab_row(y, from->sample_first, from->lo) + lower_box_offset(&out.box, out.start) + 2 * n;
			const struct gemm_fetch b = filters(slab_channel(w, (int)n, filter, 2), conv, op->n_count, lower->params.rows);

			gemm_put_a(&op->command.gemm, &a);
			gemm_put_b(&op->command.gemm, &b);
			gemm_put_out(&op->command.gemm, &out);
			span = lower_span(x, op, a.y_first, a.y_step, 0, reach, conv->in.height);
			lower_access_span(op, false, span);
			lower_access(op, DEPEND_BUFFER, false, b.base, b.base + 2 * filter * op->n_count);
			lower_access_span(op, true, lower_span(y, op, from->lo, 1, 0, 0, conv->out.height));
			result = lower_tile(lower, op, err);
		}
	return result;
}

int lower_weight_gradient(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct net_node *conv = &lower->program->net->nodes[from->node];
	const struct slab *dy = lower_slab(lower, from->source);
	const struct slab *x = lower_slab(lower, from->operand);
	const struct slab *sums = lower_slab(lower, from->result);
	const int64_t rows = from->hi - from->lo;
	const int64_t pixels = from->sample_count * rows * conv->out.width;
	const int64_t filter = net_conv_weights(conv) / conv->out.channels;
	const int64_t reach = (int64_t)conv->conv.dilation_h * (conv->conv.kernel_h - 1);
	const int64_t channels = conv->in.channels;
	struct gemm_fetch b = im2col(x, conv, from->sample_first, from->lo, from->sample_count, rows, channels);
	const int64_t b_first = b.base;
	int result = lower_check_conv(lower, from->node, from->sample_count, pixels, err);

	b.mode = FETCH_K_OVER_PIXELS;
	for (int64_t k = from->channel_lo; k < from->channel_hi; k++)
		lower->cuts[from->node][k] = from->cut;
	for (int64_t m = from->channel_lo; !result && m < from->channel_hi; m += lower->params.acc_rows)
		for (int64_t n = 0; !result && n < filter; n += lower->params.cols) {
			struct op *op = lower_push(lower, step, OP_WEIGHT_GRADIENT, err);
			const int64_t tap = n / channels;

			if (!op)
				return WC_ERR_SYSTEM;
			op->store = LAYOUT_WGRAD;
			op->tensor = from->node;
			op->cut = from->cut;
			op->k_total = pixels;
			op->m_first = (int)m;
			op->m_count = (int)min64(from->channel_hi - m, lower->params.acc_rows);
			op->n_first = (int)n;
			op->n_count = (int)min64(filter - n, lower->params.cols);
			op->y_first = from->lo;
			op->y_step = op->x_step = 1;
			op->y_count = (int)rows;
			op->x_count = conv->out.width;

			struct gemm_fetch a = gemm_fetch_plain(slab_row(dy, from->sample_first, from->lo) + 2 * m, FETCH_K_OVER_PIXELS,
							       op->m_count);

			a.box = (struct walk_box){
				.count = {conv->out.width, rows, from->sample_count},
				.stride = {2 * (int64_t)conv->out.channels, dy->pitch_bytes,
					   (int64_t)(dy->hi - dy->lo) * dy->pitch_bytes},
			};
			a.y_first = from->lo;
			a.y_step = a.x_step = 1;
			a.y_size = conv->out.height;
			a.x_size = conv->out.width;
			b.tap_y_start = tap / conv->conv.kernel_w;
			b.tap_x_start = tap % conv->conv.kernel_w;
			b.chan_start = n % channels;
			b.base = b_first + b.tap_y_start * conv->conv.dilation_h * (int64_t)x->pitch_bytes +
				 b.tap_x_start * conv->conv.dilation_w * 2 * channels;
			const int64_t first = slab_channel(sums, (int)m, filter, 4) + 4 * n;
			const int64_t last = slab_channel(sums, (int)m + op->m_count - 1, filter, 4) + 4 * (n + op->n_count);
			const struct gemm_walk out = {
				.base = first,
				.box = {.count = {op->m_count, 1, 1}, .stride = {4 * filter, 0, 0}},
			};

			op->command.gemm.flags = (uint16_t)(GEMM_FP32 | (from->first_cut ? 0 : GEMM_PRELOAD));
			op->command.gemm.pre_base = from->first_cut ? 0 : (uint32_t)first;
			gemm_put_a(&op->command.gemm, &a);
			gemm_put_b(&op->command.gemm, &b);
			gemm_put_out(&op->command.gemm, &out);
			const struct op all = lower_all_pixels(op, pixels);

			lower_access_span(op, false, lower_span(dy, &all, from->lo, 1, 0, 0, conv->out.height));
			lower_access_span(op, false, lower_span(x, &all, b.y_first, b.y_step, 0, reach, conv->in.height));
			if (!from->first_cut)
				lower_access(op, DEPEND_BUFFER, false, first, last);
			lower_access(op, DEPEND_BUFFER, true, first, last);
			result = lower_tile(lower, op, err);
		}
	return result;
}
