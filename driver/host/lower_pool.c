// SPDX-License-Identifier: Apache-2.0
//
// Max, average and global pools and their gradients. Pixels outside the image, or windows that do not exist, are left out by the unit.
#include "csim/golden/pool.h"
#include "driver/host/lower_axis.h"
#include "driver/host/lower_internal.h"

enum { INDEX_BITS_MAX = 8 }; // of a stream's bit fields

static int index_bits(const struct net_node *pool)
{
	const struct golden_pool shape = {.kernel_h = pool->conv.kernel_h, .kernel_w = pool->conv.kernel_w};

	return golden_pool_index_bits(&shape);
}

static float reciprocal_area(const struct net_node *pool)
{
	return (float)(1.0 / ((double)pool->conv.kernel_h * pool->conv.kernel_w));
}

// Limits of the fields that the shape decides. A row of indices is written block by block, each from a half on.
static int check(const struct lower *lower, int node, const struct simd_nest *nest, const struct simd_window *y, const struct simd_window *x, int bits,
		 struct wc_error *err)
{
	const int64_t rest = nest->channels > nest->lanes ? nest->channels * bits % 16 : 0;
	int result;

	if ((result = lower_check(lower, node, "rows of a window", y->taps, 0, UINT8_MAX, err)) ||
	    (result = lower_check(lower, node, "columns of a window", x->taps, 0, UINT8_MAX, err)) ||
	    (result = lower_check(lower, node, "rows of the padded image", y->size + y->taps, 1, INT16_MAX, err)) ||
	    (result = lower_check(lower, node, "columns of the padded image", x->size + x->taps, 1, INT16_MAX, err)) ||
	    (result = lower_check(lower, node, "bits of an index", bits, 0, INDEX_BITS_MAX, err)))
		return result;
	return lower_check(lower, node, "bits of a pixel's indices in the last half", rest, 0, 0, err);
}

// Indices are addressed bit by bit.
static int check_indices(const struct lower *lower, int node, const struct slab *slab, struct wc_error *err)
{
	return lower_check(lower, node, "bits of the buffer up to the last index", 8 * ((int64_t)slab->offset + slab->bytes), 0, UINT32_MAX, err);
}

static struct simd_nest nest_of(const struct lower *lower, enum wc_simd_program program, const struct step *from, int64_t y, int64_t x, int64_t channels)
{
	return (struct simd_nest){program, from->sample_count, y, x, channels, wc_device_lanes(&lower->params)};
}

// The slab as an image: its row 0 may lie outside of it, and is not touched then.
static struct simd_stream image(const struct slab *slab, int sample, int64_t y, int64_t x, int64_t pixel, int64_t step_y, int64_t step_x)
{
	return (struct simd_stream){
		.base = slab_row(slab, sample, 0) + y * (int64_t)slab->pitch_bytes + x * pixel,
		.n = (int64_t)(slab->hi - slab->lo) * slab->pitch_bytes,
		.y = step_y * (int64_t)slab->pitch_bytes,
		.x = step_x * pixel,
	};
}

// A row's indices, `pixel` bits a pixel, from pixel x on.
static struct simd_stream indices(const struct slab *slab, int sample, int64_t y, int64_t x, int64_t pixel)
{
	return (struct simd_stream){
		.base = 8 * (slab_row(slab, sample, 0) + y * (int64_t)slab->pitch_bytes) + x * pixel,
		.n = 8 * (int64_t)(slab->hi - slab->lo) * slab->pitch_bytes,
		.y = 8 * (int64_t)slab->pitch_bytes,
		.x = pixel,
	};
}

int lower_pool(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct net_node *pool = &lower->program->net->nodes[from->node];
	const struct net_conv *c = &pool->conv;
	const struct slab *x = lower_slab(lower, from->source), *y = lower_slab(lower, from->result);
	const struct rows rows = {from->lo, from->hi};
	const bool max = pool->op == NET_MAX_POOL;
	const int bits = max ? index_bits(pool) : 0;
	const int64_t pixel = 2 * (int64_t)pool->out.channels, first_y = (int64_t)from->lo * c->stride_h - c->pad_h;
	const struct simd_nest nest =
		nest_of(lower, max ? WC_SIMD_MAX_POOL : WC_SIMD_AVERAGE, from, from->hi - from->lo, pool->out.width, pool->out.channels);
	const struct simd_window tall = {c->kernel_h, first_y, c->stride_h, pool->in.height, 1, c->kernel_w};
	const struct simd_window wide = {c->kernel_w, -c->pad_w, c->stride_w, pool->in.width, 1, 1};
	struct op *op;
	int result = check(lower, from->node, &nest, &tall, &wide, bits, err);

	if (!result && bits)
		result = check_indices(lower, from->node, lower_slab(lower, from->mask), err);
	if (result)
		return result;
	op = lower_simd(lower, step, err);
	if (!op)
		return WC_ERR_SYSTEM;
	simd_put_nest(&op->command.simd, &nest);
	simd_put_windows(&op->command.simd, &tall, &wide, 0);
	simd_put_stream(&op->command.simd, 0, SIMD_HALF, image(x, from->sample_first, first_y, -c->pad_w, pixel, c->stride_h, c->stride_w));
	simd_put_tap(&op->command.simd, 0, x->pitch_bytes, pixel);
	simd_put_stream(&op->command.simd, 1, SIMD_HALF, image(y, from->sample_first, from->lo, 0, pixel, 1, 1));
	lower_reads(op, lower_rows(lower, from, from->source, rows_of_input(pool, rows), lower_value(lower, from, from->source)));
	lower_writes(op, lower_rows(lower, from, from->result, rows, lower_value(lower, from, from->result)));
	if (!max)
		simd_put_constant(&op->command.simd, 0, reciprocal_area(pool));
	else if (!bits)
		op->command.simd.off = 1 << 2;
	if (bits) {
		simd_put_stream(&op->command.simd, 2, SIMD_BITS + bits,
				indices(lower_slab(lower, from->mask), from->sample_first, from->lo, 0, (int64_t)pool->out.channels * bits));
		lower_writes(op, lower_rows(lower, from, from->mask, rows, lower_value(lower, from, from->mask)));
	}
	return lower_simd_finish(lower, op, err);
}

// Windows that cover a pixel of a class, ascending: taps of the kernel downwards.
static struct simd_window windows(const struct lower_axis *axis, int64_t size, int64_t number)
{
	const int64_t last = axis->taps - 1;

	// Without taps one window outside of all: the sum of nothing.
	if (!axis->taps)
		return (struct simd_window){1, -1, 0, size, 0, 0};
	return (struct simd_window){axis->taps, axis->position + last * axis->tap_position, 1, size, 1, -number * axis->tap_step};
}

static int lower_class(struct lower *lower, int step, struct value value, const struct lower_axis *y, const struct lower_axis *x, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct net_node *pool = &lower->program->net->nodes[from->node];
	const bool max = pool->op == NET_MAX_POOL;
	const int bits = max ? index_bits(pool) : 0, out = bits ? 2 : 1;
	const int64_t pixel = 2 * (int64_t)pool->in.channels;
	static const struct slab nothing = {.kind = SLAB_GRAD};
	const struct slab *dy = from->source < 0 ? &nothing : lower_slab(lower, from->source), *dx = lower_slab(lower, from->result);
	const struct simd_nest nest = nest_of(lower, bits ? WC_SIMD_MAX_POOL_GRADIENT : WC_SIMD_AVERAGE, from, y->count, x->count, pool->in.channels);
	const struct simd_window tall = windows(y, pool->out.height, pool->conv.kernel_w), wide = windows(x, pool->out.width, 1);
	const int64_t tap_y = y->tap_first + (y->taps - 1) * y->tap_step, tap_x = x->tap_first + (x->taps - 1) * x->tap_step;
	int result = check(lower, from->node, &nest, &tall, &wide, bits, err);
	struct op *op;

	if (!result && bits && from->operand >= 0)
		result = check_indices(lower, from->node, lower_slab(lower, from->operand), err);
	if (result)
		return result;
	op = lower_simd(lower, step, err);
	if (!op)
		return WC_ERR_SYSTEM;
	simd_put_nest(&op->command.simd, &nest);
	simd_put_windows(&op->command.simd, &tall, &wide, tap_y * pool->conv.kernel_w + tap_x);
	simd_put_stream(&op->command.simd, 0, SIMD_HALF, image(dy, from->sample_first, tall.first, wide.first, pixel, 1, 1));
	simd_put_tap(&op->command.simd, 0, dy->pitch_bytes, pixel);
	simd_put_stream(&op->command.simd, out, SIMD_HALF, image(dx, from->sample_first, y->first, x->first, pixel, y->step, x->step));
	simd_put_constant(&op->command.simd, 0, max ? 1 : reciprocal_area(pool));
	if (bits) {
		const struct slab *index = from->operand < 0 ? &nothing : lower_slab(lower, from->operand);
		const int64_t pixel_bits = (int64_t)pool->in.channels * bits;

		simd_put_stream(&op->command.simd, 1, SIMD_BITS + bits, indices(index, from->sample_first, tall.first, wide.first, pixel_bits));
		simd_put_tap(&op->command.simd, 1, 8 * (int64_t)index->pitch_bytes, pixel_bits);
	}
	if (from->source >= 0) {
		const struct rows rows = rows_of_gradient(pool, (struct rows){from->lo, from->hi});

		lower_reads(op, lower_rows(lower, from, from->source, rows, lower_value(lower, from, from->source)));
		if (bits)
			lower_reads(op, lower_rows(lower, from, from->operand, rows, lower_value(lower, from, from->operand)));
	}
	lower_writes(op, lower_class_of(lower, lower_rows(lower, from, from->result, (struct rows){from->lo, from->hi}, value), y, x));
	return lower_simd_finish(lower, op, err);
}

// Every pixel of a global pool's input has the gradient of the one output.
static int lower_global_gradient(struct lower *lower, int step, struct value value, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct net_node *pool = &lower->program->net->nodes[from->node];
	const struct slab *dy = lower_slab(lower, from->source), *dx = lower_slab(lower, from->result);
	const struct simd_nest nest = nest_of(lower, WC_SIMD_AVERAGE, from, from->hi - from->lo, pool->in.width, pool->in.channels);
	const int64_t pixel = 2 * (int64_t)pool->in.channels;
	struct op *op = lower_simd(lower, step, err);

	if (!op)
		return WC_ERR_SYSTEM;
	simd_put_nest(&op->command.simd, &nest);
	simd_put_stream(&op->command.simd, 0, SIMD_HALF, image(dy, from->sample_first, 0, 0, pixel, 0, 0));
	simd_put_stream(&op->command.simd, 1, SIMD_HALF, image(dx, from->sample_first, from->lo, 0, pixel, 1, 1));
	simd_put_constant(&op->command.simd, 0, reciprocal_area(pool));
	lower_reads(op, lower_rows(lower, from, from->source, (struct rows){0, 1}, lower_value(lower, from, from->source)));
	lower_writes(op, lower_rows(lower, from, from->result, (struct rows){from->lo, from->hi}, value));
	return lower_simd_finish(lower, op, err);
}

int lower_pool_gradient(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct net_node *pool = &lower->program->net->nodes[from->node];
	const struct net_conv *c = &pool->conv;
	const struct value value = lower_made_gradient(lower, from);
	int result = 0;

	if (pool->op == NET_GLOBAL_POOL)
		return lower_global_gradient(lower, step, value, err);
	for (int i = 0; !result && i < c->stride_h * c->stride_w; i++) {
		const struct lower_axis y = lower_axis_of(i / c->stride_w, from->lo, from->hi, c->kernel_h, c->stride_h, c->pad_h, 1);
		const struct lower_axis x = lower_axis_of(i % c->stride_w, 0, pool->in.width, c->kernel_w, c->stride_w, c->pad_w, 1);

		if (y.count && x.count)
			result = lower_class(lower, step, value, &y, &x, err);
	}
	return result;
}
