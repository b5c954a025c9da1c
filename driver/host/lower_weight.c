// SPDX-License-Identifier: Apache-2.0
//
// Gradients of filters and biases: K runs over pixels, sums go on from cut to cut.
#include "driver/host/lower_conv.h"

static int64_t pixels_of(const struct step *from, const struct net_node *conv)
{
	return (int64_t)from->sample_count * (from->hi - from->lo) * conv->out.width;
}

// Rows m.. of the tile are output channels, its K the pixels of the step.
static void set_tile(struct op *op, const struct step *from, const struct net_node *conv, int64_t m, int64_t count)
{
	op->k_total = pixels_of(from, conv);
	op->m_first = (int)m;
	op->m_count = (int)count;
	op->y_first = from->lo;
	op->y_step = op->x_step = 1;
	op->y_count = from->hi - from->lo;
	op->x_count = conv->out.width;
}

// dy as the A operand: of each pixel the tile's channels.
static struct gemm_fetch channels_of_pixels(const struct slab *dy, const struct net_node *conv, const struct step *from, const struct op *op)
{
	struct gemm_fetch fetch =
		gemm_fetch_plain(slab_row(dy, from->sample_first, from->lo) + 2 * (int64_t)op->m_first, FETCH_K_OVER_PIXELS, op->m_count);

	fetch.box = (struct walk_box){
		.count = {conv->out.width, from->hi - from->lo, from->sample_count},
		.stride = {2 * (int64_t)conv->out.channels, dy->pitch_bytes, (int64_t)(dy->hi - dy->lo) * dy->pitch_bytes},
	};
	fetch.y_first = from->lo;
	fetch.y_step = fetch.x_step = 1;
	fetch.y_size = conv->out.height;
	fetch.x_size = conv->out.width;
	return fetch;
}

// Sums in fp32 at [first, last), from those before but in the first cut.
static void go_on(struct op *op, const struct step *from, int64_t first, int64_t last)
{
	op->command.gemm.flags = (uint16_t)(GEMM_FP32 | (from->first_cut ? 0 : GEMM_PRELOAD));
	op->command.gemm.pre_base = from->first_cut ? 0 : (uint32_t)first;
	if (!from->first_cut)
		lower_access(op, DEPEND_BUFFER, false, first, last);
	lower_access(op, DEPEND_BUFFER, true, first, last);
}

static int lower_weight_part(struct lower *lower, int step, const struct lower_part *part, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct net_node *conv = &lower->program->net->nodes[from->node];
	const struct slab *dy = lower_slab(lower, from->source);
	const struct slab *x = lower_slab(lower, from->operand);
	const struct slab *sums = lower_slab(lower, from->result);
	const int64_t rows = from->hi - from->lo;
	const int64_t filter = net_conv_weights(conv) / conv->out.channels;
	const int64_t reach = (int64_t)conv->conv.dilation_h * (conv->conv.kernel_h - 1);
	const int64_t channels = lower_in_channels(part);
	struct gemm_fetch b = lower_im2col(x, conv, part, from->sample_first, from->lo, from->sample_count, rows, channels);
	const int64_t b_first = b.base;
	int result = 0;

	b.mode = FETCH_K_OVER_PIXELS;
	for (int64_t m = part->out_lo; !result && m < part->out_hi; m += lower->params.acc_rows)
		for (int64_t n = 0; !result && n < filter; n += lower->params.cols) {
			struct op *op = lower_push(lower, step, OP_WEIGHT_GRADIENT, err);
			const int64_t tap = n / channels;

			if (!op)
				return WC_ERR_SYSTEM;
			op->value = (struct value){.kind = SLAB_WGRAD, .node = from->node, .stage = from->cut, .core = op->core};
			set_tile(op, from, conv, m, min64(part->out_hi - m, lower->params.acc_rows));
			op->n_first = (int)n;
			op->n_count = (int)min64(filter - n, lower->params.cols);
			const struct gemm_fetch a = channels_of_pixels(dy, conv, from, op);

			b.tap_y_start = tap / conv->conv.kernel_w;
			b.tap_x_start = tap % conv->conv.kernel_w;
			b.chan_start = n % channels;
			b.base = b_first + b.tap_y_start * conv->conv.dilation_h * (int64_t)x->pitch_bytes +
				 b.tap_x_start * conv->conv.dilation_w * 2 * conv->in.channels;
			const int64_t first = slab_channel(sums, (int)m, filter, 4) + 4 * n;
			const int64_t last = slab_channel(sums, (int)m + op->m_count - 1, filter, 4) + 4 * (n + op->n_count);
			const struct gemm_walk out = {
				.base = first,
				.box = {.count = {op->m_count, 1, 1}, .stride = {4 * filter, 0, 0}},
			};

			const struct op all = lower_all_pixels(op, op->k_total);

			gemm_put_a(&op->command.gemm, &a);
			gemm_put_b(&op->command.gemm, &b);
			gemm_put_out(&op->command.gemm, &out);
			lower_access_span(op, false, lower_span(dy, &all, from->lo, 1, 0, 0, conv->out.height));
			lower_access_span(op, false, lower_span(x, &all, b.y_first, b.y_step, 0, reach, conv->in.height));
			go_on(op, from, first, last);
			result = lower_tile(lower, op, err);
		}
	return result;
}

int lower_weight_gradient(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct net_node *conv = &lower->program->net->nodes[from->node];
	int result = lower_check_conv(lower, from->node, from->sample_count, pixels_of(from, conv), err);
	struct lower_part part;

	for (int k = from->channel_lo; k < from->channel_hi; k++)
		lower->cuts[from->node][k] = from->cut;
	for (int i = 0; !result && lower_part_of(conv, from, i, &part); i++)
		result = lower_weight_part(lower, step, &part, err);
	return result;
}

// A column of ones as the B operand: the same one for every pixel. All groups at once.
int lower_bias_gradient(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct net_node *conv = &lower->program->net->nodes[from->node];
	const struct slab *dy = lower_slab(lower, from->source), *ones = lower_slab(lower, from->operand), *sums = lower_slab(lower, from->result);
	int result = lower_check_conv(lower, from->node, from->sample_count, pixels_of(from, conv), err);

	for (int64_t m = from->channel_lo; !result && m < from->channel_hi; m += lower->params.acc_rows) {
		struct op *op = lower_push(lower, step, OP_BIAS_GRADIENT, err);
		struct gemm_fetch b = gemm_fetch_plain(ones->offset, FETCH_K_OVER_PIXELS, 1);

		if (!op)
			return WC_ERR_SYSTEM;
		op->value = (struct value){.kind = SLAB_BIAS_WGRAD, .node = from->node, .stage = from->cut, .core = op->core};
		set_tile(op, from, conv, m, min64(from->channel_hi - m, lower->params.acc_rows));
		op->n_count = 1;

		const struct gemm_fetch a = channels_of_pixels(dy, conv, from, op);
		const int64_t first = slab_channel(sums, (int)m, 1, 4);
		const struct gemm_walk out = {.base = first, .box = {.count = {op->m_count, 1, 1}, .stride = {4, 0, 0}}};
		const struct op all = lower_all_pixels(op, op->k_total);

		b.box.count[0] = a.box.count[0];
		b.box.count[1] = a.box.count[1];
		b.box.count[2] = a.box.count[2];
		gemm_put_a(&op->command.gemm, &a);
		gemm_put_b(&op->command.gemm, &b);
		gemm_put_out(&op->command.gemm, &out);
		lower_access_span(op, false, lower_span(dy, &all, from->lo, 1, 0, 0, conv->out.height));
		lower_access(op, DEPEND_BUFFER, false, ones->offset, ones->offset + 2);
		go_on(op, from, first, first + 4 * op->m_count);
		result = lower_tile(lower, op, err);
	}
	return result;
}
