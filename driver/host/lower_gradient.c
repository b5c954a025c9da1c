// SPDX-License-Identifier: Apache-2.0
//
// Data gradient of a convolution: every element of dx gathered once from all dy it depends on.
//
// With a stride, the pixels of each residue class (y mod stride_h, x mod stride_w) are reached by the
// same taps, those with (y + pad - r dilation) mod stride = 0: r0, r0 + rs, ... with rs = stride / gcd(stride, dilation).
// Tap j of them reads dy row (y + pad - r0 dilation) / stride - j dilation / gcd. So a class is a GEMM of its own,
// without a multiplication by an inserted zero; a class without taps is a tile of +0 (k_total 0).
#include "driver/host/lower_conv.h"

// One axis of a residue class.
struct axis {
	int64_t first, step, count; // pixels of dx: first + i step
	int64_t taps, tap_first, tap_step; // taps r of the kernel
	int64_t position;    // dy position that tap tap_first of pixel 0 reads
	int64_t tap_position; // added to it per tap, negative
};

static int gcd(int a, int b)
{
	return b ? gcd(b, a % b) : a;
}

// Pixels of [lo, hi) that are `residue` mod stride, and their taps.
static struct axis axis_of(int residue, int lo, int hi, int kernel, int stride, int pad, int dilation)
{
	const int first = lo + ((residue - lo) % stride + stride) % stride;
	const int divisor = gcd(stride, dilation);
	struct axis axis = {
		.first = first,
		.step = stride,
		.count = first < hi ? (hi - first + stride - 1) / stride : 0,
		.tap_step = stride / divisor,
		.tap_position = -(dilation / divisor),
	};
	int r = 0;

	while (r < kernel && (residue + pad - r * dilation) % stride != 0)
		r++;
	if (r < kernel) {
		axis.tap_first = r;
		axis.taps = (kernel - 1 - r) / axis.tap_step + 1;
		axis.position = (first + pad - r * dilation) / stride;
	}
	return axis;
}

// dy as the A operand: im2col with the class's taps, whose rows step backwards.
static struct gemm_fetch gather(const struct slab *dy, const struct net_node *conv, const struct axis *y, const struct axis *x,
				int sample, int64_t samples, int64_t rows)
{
	const int64_t pixel = 2 * (int64_t)conv->out.channels;
	struct gemm_fetch fetch = {
		.base = slab_row(dy, sample, 0) + y->position * (int64_t)dy->pitch_bytes + x->position * pixel,
		.mode = FETCH_K_IN_VECTOR,
		.taps_y = y->taps,
		.taps_x = x->taps,
		.box = {
			.count = {x->count, y->count, samples},
			.stride = {pixel, dy->pitch_bytes, (int64_t)(dy->hi - dy->lo) * dy->pitch_bytes},
		},
		.y_first = y->position,
		.x_first = x->position,
		.y_step = 1,
		.x_step = 1,
		.y_size = conv->out.height,
		.x_size = conv->out.width,
		.tap_y_step = y->tap_position,
		.tap_x_step = x->tap_position,
		.chan_delta = 2,
		.chan_total = conv->out.channels,
		.chan_block = rows,
	};

	gemm_fetch_taps(&fetch, y->tap_position * dy->pitch_bytes, x->tap_position * pixel, 2 * rows);
	return fetch;
}

// Weights as the B operand: K over (block, r, s, output channel in block), each element followed by input channels.
static struct gemm_fetch transposed(const struct slab *w, const struct net_node *conv, const struct axis *y, const struct axis *x,
				    int64_t channel, int64_t rows)
{
	const int64_t tap = 2 * (int64_t)conv->in.channels;
	const int64_t row = tap * conv->conv.kernel_w;
	const int64_t filter = row * conv->conv.kernel_h;
	struct gemm_fetch fetch = gemm_fetch_plain(w->offset + y->tap_first * row + x->tap_first * tap + 2 * channel, FETCH_K_OVER_TAPS,
						   conv->out.channels);

	fetch.taps_y = y->taps;
	fetch.taps_x = x->taps;
	fetch.chan_delta = filter;
	fetch.chan_block = rows;
	gemm_fetch_taps(&fetch, y->tap_step * row, x->tap_step * tap, rows * filter);
	return fetch;
}

static int lower_class(struct lower *lower, int step, const struct axis *y, const struct axis *x, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct net_node *conv = &lower->program->net->nodes[from->node];
	// Rows that no row of dy reaches have no source: every tap lies outside of the image and is fetched as padding, which the weights
	// multiply all the same. The walk's addresses mean nothing then.
	static const struct slab nothing = {.kind = SLAB_GRAD};
	const struct slab *dy = from->source < 0 ? &nothing : lower_slab(lower, from->source);
	const struct slab *w = lower_slab(lower, from->operand);
	const struct slab *dx = lower_slab(lower, from->result);
	const int64_t pixels = from->sample_count * y->count * x->count;
	const int64_t taps = y->taps * x->taps;
	const int64_t pixel = 2 * (int64_t)conv->in.channels;
	struct gemm_fetch a = taps ? gather(dy, conv, y, x, from->sample_first, from->sample_count, lower->params.rows)
				   : gemm_fetch_plain(dy->offset, FETCH_K_IN_VECTOR, 1);
	const int64_t a_first = a.base;
	const int64_t out_first = slab_row(dx, from->sample_first, (int)y->first) + x->first * pixel;
	struct gemm_walk out = {
		.box = {
			.count = {x->count, y->count, from->sample_count},
			.stride = {x->step * pixel, y->step * (int64_t)dx->pitch_bytes, (int64_t)(dx->hi - dx->lo) * dx->pitch_bytes},
		},
	};
	int result = lower_check_conv(lower, from->node, from->sample_count, taps * conv->out.channels, err);

	for (int64_t m = 0; !result && m < pixels; m += lower->params.acc_rows)
		for (int64_t n = 0; !result && n < conv->in.channels; n += lower->params.cols) {
			struct op *op = lower_push(lower, step, OP_DATA_GRADIENT, err);

			if (!op)
				return WC_ERR_SYSTEM;
			op->store = LAYOUT_GRAD;
			op->tensor = conv->inputs[0];
			op->k_total = taps * conv->out.channels;
			op->m_first = (int)m;
			op->m_count = (int)min64(pixels - m, lower->params.acc_rows);
			op->n_first = (int)n;
			op->n_count = (int)min64(conv->in.channels - n, lower->params.cols);
			op->y_first = (int)y->first;
			op->y_step = (int)y->step;
			op->y_count = (int)y->count;
			op->x_first = (int)x->first;
			op->x_step = (int)x->step;
			op->x_count = (int)x->count;

			const struct gemm_fetch b = taps ? transposed(w, conv, y, x, n, lower->params.rows)
							 : gemm_fetch_plain(w->offset, FETCH_K_IN_VECTOR, 1);

			if (taps) {
				walk_start(&a.box, m, a.start);
				a.base = a_first + lower_box_offset(&a.box, a.start);
				if (from->source >= 0)
					lower_access_span(op, false,
							  lower_span(dy, op, y->position, 1, (y->taps - 1) * y->tap_position, 0, conv->out.height));
				lower_access(op, DEPEND_BUFFER, false, w->offset, w->offset + (int64_t)w->bytes);
			}
			walk_start(&out.box, m, out.start);
			out.base = out_first + lower_box_offset(&out.box, out.start) + 2 * n;
			lower_access_span(op, true, lower_span(dx, op, y->first, y->step, 0, 0, conv->in.height));
			gemm_put_a(&op->command.gemm, &a);
			gemm_put_b(&op->command.gemm, &b);
			gemm_put_out(&op->command.gemm, &out);
			result = lower_tile(lower, op, err);
		}
	return result;
}

int lower_data_gradient(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct net_node *conv = &lower->program->net->nodes[from->node];
	const struct net_conv *c = &conv->conv;

	for (int residue_y = 0; residue_y < c->stride_h; residue_y++) {
		const struct axis y = axis_of(residue_y, from->lo, from->hi, c->kernel_h, c->stride_h, c->pad_h, c->dilation_h);

		for (int residue_x = 0; residue_x < c->stride_w; residue_x++) {
			const struct axis x = axis_of(residue_x, 0, conv->in.width, c->kernel_w, c->stride_w, c->pad_w, c->dilation_w);
			int result;

			if (!y.count || !x.count)
				continue;
			result = lower_class(lower, step, &y, &x, err);
			if (result)
				return result;
		}
	}
	return 0;
}
