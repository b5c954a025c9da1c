// SPDX-License-Identifier: Apache-2.0
//
// Data gradient of a fully connected layer: dx[n][y, x, c] = sum over output channels k of dy[n][k] w[k][y, x, c]. A tile is samples x elements of
// one row of the image.
#include "driver/host/lower_conv.h"

// dy as the A operand: a sample's channels are a vector.
static struct gemm_fetch samples_of(const struct slab *dy, const struct step *from, int64_t m, int64_t rows)
{
	struct gemm_fetch fetch = gemm_fetch_plain(slab_row(dy, from->sample_first + (int)m, 0) + 2 * (int64_t)from->channel_lo, FETCH_K_IN_VECTOR,
						   from->channel_hi - from->channel_lo);

	fetch.box = (struct walk_box){.count = {from->sample_count, 1, 1}, .stride = {(int64_t)(dy->hi - dy->lo) * dy->pitch_bytes, 0, 0}};
	fetch.start[0] = m;
	fetch.chan_block = rows;
	gemm_fetch_taps(&fetch, 0, 0, 2 * rows);
	return fetch;
}

// Weights as the B operand: element `first` and those behind it of each filter.
static struct gemm_fetch elements_of(const struct slab *w, const struct net_node *fc, const struct step *from, int64_t first, int64_t rows)
{
	const int64_t row = (int64_t)fc->in.width * fc->in.channels, filter = row * (w->tap_hi - w->tap_lo);
	struct gemm_fetch fetch = gemm_fetch_plain(slab_channel(w, from->channel_lo, filter, 2) + 2 * (first - row * w->tap_lo), FETCH_K_OVER_TAPS,
						   from->channel_hi - from->channel_lo);

	fetch.chan_delta = 2 * filter;
	fetch.chan_block = rows;
	gemm_fetch_taps(&fetch, 0, 0, 2 * filter * rows);
	return fetch;
}

static int lower_image_row(struct lower *lower, int step, struct value value, int y, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct net_node *fc = &lower->program->net->nodes[from->node];
	const struct slab *dy = lower_slab(lower, from->source), *w = lower_slab(lower, from->operand), *dx = lower_slab(lower, from->result);
	const int64_t row = (int64_t)fc->in.width * fc->in.channels, element = dx->kind == SLAB_WIDE ? 4 : 2;
	int result = 0;

	for (int64_t m = 0; !result && m < from->sample_count; m += lower->params.acc_rows)
		for (int64_t n = 0; !result && n < row; n += lower->params.cols) {
			struct op *op = lower_push(lower, step, OP_DATA_GRADIENT, err);

			if (!op)
				return WC_ERR_SYSTEM;
			op->value = value;
			op->k_total = from->channel_hi - from->channel_lo;
			op->m_first = (int)m;
			op->m_count = (int)min64(from->sample_count - m, lower->params.acc_rows);
			op->n_first = (int)n;
			op->n_count = (int)min64(row - n, lower->params.cols);
			op->y_first = y;
			op->y_step = op->x_step = op->y_count = op->x_count = 1;

			const struct gemm_fetch a = samples_of(dy, from, m, lower->params.rows), b = elements_of(w, fc, from, y * row + n, lower->params.rows);
			const struct gemm_walk out = {
				.base = slab_row(dx, from->sample_first + (int)m, y) + element * n,
				.box = {.count = {from->sample_count, 1, 1}, .stride = {(int64_t)(dx->hi - dx->lo) * dx->pitch_bytes, 0, 0}},
				.start = {m, 0, 0},
			};

			gemm_put_a(&op->command.gemm, &a);
			gemm_put_b(&op->command.gemm, &b);
			gemm_put_out(&op->command.gemm, &out);
			lower_access_span(op, false, lower_span(dy, op, 0, 0, 0, 0, 1));
			lower_access(op, DEPEND_BUFFER, false, w->offset, w->offset + (int64_t)w->bytes);
			if (dx->kind == SLAB_WIDE && !from->first_cut)
				lower_access_span(op, false, lower_span(dx, op, y, 0, 0, 0, fc->in.height));
			lower_access_span(op, true, lower_span(dx, op, y, 0, 0, 0, fc->in.height));
			lower_sum_slices(op, from, dx);
			result = lower_tile(lower, op, err);
		}
	return result;
}

int lower_fc_gradient(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct net_node *fc = &lower->program->net->nodes[from->node];
	const struct value value = lower_made_gradient(lower, from);
	int result;

	if ((result = lower_check(lower, from->node, "samples of a tile", from->sample_count, 1, UINT16_MAX, err)) ||
	    (result = lower_check(lower, from->node, "output channels", fc->out.channels, 1, UINT16_MAX, err)))
		return result;
	for (int y = from->lo; !result && y < from->hi; y++)
		result = lower_image_row(lower, step, value, y, err);
	return result;
}
