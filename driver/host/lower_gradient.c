// SPDX-License-Identifier: Apache-2.0
//
// Data gradient of a convolution: every element of dx gathered once from all dy it depends on.
//
// With a stride, the pixels of each residue class (y mod stride_h, x mod stride_w) are reached by the
// same taps, those with (y + pad - r dilation) mod stride = 0: r0, r0 + rs, ... with rs = stride / gcd(stride, dilation).
// Tap j of them reads dy row (y + pad - r0 dilation) / stride - j dilation / gcd. So a class is a GEMM of its own,
// without a multiplication by an inserted zero; a class without taps is a tile of +0 (k_total 0).
#include "driver/host/lower_axis.h"
#include "driver/host/lower_conv.h"

// dy as the A operand: im2col with the class's taps, whose rows step backwards, of the part's channels.
static struct gemm_fetch gather(const struct slab *dy, const struct net_node *conv, const struct lower_axis *y, const struct lower_axis *x,
				const struct step *from, const struct lower_part *part, int64_t rows)
{
	const int64_t pixel = 2 * (int64_t)conv->out.channels;
	struct gemm_fetch fetch = {
		.base = slab_row(dy, from->sample_first, 0) + y->position * (int64_t)dy->pitch_bytes + x->position * pixel +
			2 * part->out_lo,
		.mode = FETCH_K_IN_VECTOR,
		.taps_y = y->taps,
		.taps_x = x->taps,
		.box = {
			.count = {x->count, y->count, from->sample_count},
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
		.chan_total = lower_out_channels(part),
		.chan_block = rows,
	};

	gemm_fetch_taps(&fetch, y->tap_position * dy->pitch_bytes, x->tap_position * pixel, 2 * rows);
	return fetch;
}

// Weights as the B operand: K over (block, r, s, output channel in block), each element followed by input channels, from `channel` of the part's on.
static struct gemm_fetch transposed(const struct slab *w, const struct net_node *conv, const struct lower_axis *y, const struct lower_axis *x,
				    const struct lower_part *part, int64_t channel, int64_t rows)
{
	const int64_t tap = 2 * lower_in_channels(part);
	const int64_t row = tap * conv->conv.kernel_w;
	const int64_t filter = row * conv->conv.kernel_h;
	struct gemm_fetch fetch = gemm_fetch_plain(slab_channel(w, (int)part->out_lo, filter / 2, 2) + y->tap_first * row + x->tap_first * tap + 2 * channel,
						   FETCH_K_OVER_TAPS, lower_out_channels(part));

	fetch.taps_y = y->taps;
	fetch.taps_x = x->taps;
	fetch.chan_delta = filter;
	fetch.chan_block = rows;
	gemm_fetch_taps(&fetch, y->tap_step * row, x->tap_step * tap, rows * filter);
	return fetch;
}

static int lower_class(struct lower *lower, int step, struct value value, const struct lower_part *part, const struct lower_axis *y,
		       const struct lower_axis *x, struct wc_error *err)
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
	const int64_t element = dx->kind == SLAB_WIDE ? 4 : 2, pixel = element * conv->in.channels;
	const int64_t k_total = taps * lower_out_channels(part);
	struct gemm_fetch a = taps ? gather(dy, conv, y, x, from, part, lower->params.rows)
				   : gemm_fetch_plain(dy->offset, FETCH_K_IN_VECTOR, 1);
	const int64_t a_first = a.base;
	const int64_t out_first = slab_row(dx, from->sample_first, (int)y->first) + x->first * pixel;
	struct gemm_walk out = {
		.box = {
			.count = {x->count, y->count, from->sample_count},
			.stride = {x->step * pixel, y->step * (int64_t)dx->pitch_bytes, (int64_t)(dx->hi - dx->lo) * dx->pitch_bytes},
		},
	};
	int result = lower_check_conv(lower, from->node, from->sample_count, k_total, err);

	for (int64_t m = 0; !result && m < pixels; m += lower->params.acc_rows)
		for (int64_t n = 0; !result && n < lower_in_channels(part); n += lower->params.cols) {
			struct op *op = lower_push(lower, step, OP_DATA_GRADIENT, err);

			if (!op)
				return WC_ERR_SYSTEM;
			op->value = value;
			op->k_total = k_total;
			op->m_first = (int)m;
			op->m_count = (int)min64(pixels - m, lower->params.acc_rows);
			op->n_first = (int)(part->in_lo + n);
			op->n_count = (int)min64(lower_in_channels(part) - n, lower->params.cols);
			op->y_first = (int)y->first;
			op->y_step = (int)y->step;
			op->y_count = (int)y->count;
			op->x_first = (int)x->first;
			op->x_step = (int)x->step;
			op->x_count = (int)x->count;

			const struct gemm_fetch b = taps ? transposed(w, conv, y, x, part, n, lower->params.rows)
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
			out.base = out_first + lower_box_offset(&out.box, out.start) + element * op->n_first;
			if (dx->kind == SLAB_WIDE && !from->first_cut)
				lower_access_span(op, false, lower_span(dx, op, y->first, y->step, 0, 0, conv->in.height));
			lower_access_span(op, true, lower_span(dx, op, y->first, y->step, 0, 0, conv->in.height));
			gemm_put_a(&op->command.gemm, &a);
			gemm_put_b(&op->command.gemm, &b);
			gemm_put_out(&op->command.gemm, &out);
			lower_sum_slices(op, from, dx);
			result = lower_tile(lower, op, err);
		}
	return result;
}

int lower_data_gradient(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct net_node *conv = &lower->program->net->nodes[from->node];
	const struct net_conv *c = &conv->conv;
	const struct value value = lower_made_gradient(lower, from);

	for (int residue_y = 0; residue_y < c->stride_h; residue_y++) {
		const struct lower_axis y = lower_axis_of(residue_y, from->lo, from->hi, c->kernel_h, c->stride_h, c->pad_h, c->dilation_h);

		for (int residue_x = 0; residue_x < c->stride_w; residue_x++) {
			const struct lower_axis x = lower_axis_of(residue_x, 0, conv->in.width, c->kernel_w, c->stride_w, c->pad_w, c->dilation_w);
			struct lower_part part;

			for (int i = 0; y.count && x.count && lower_part_of(conv, from, i, &part); i++) {
				const int result = lower_class(lower, step, value, &part, &y, &x, err);

				if (result)
					return result;
			}
		}
	}
	return 0;
}
