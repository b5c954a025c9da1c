// SPDX-License-Identifier: Apache-2.0
//
// Implicit GEMM: K's order as runs, weights gathered once, the source's elements gathered chunk by chunk.
#include "csim/golden/implicit.h"

#include <string.h>

#include "csim/golden/half.h"
#include "csim/golden/wave.h"
#include "traces/alloc.h"

int implicit_init(struct implicit_gemm *gemm, int tap_max, struct wc_error *err)
{
	gemm->taps = wc_alloc(tap_max, sizeof(*gemm->taps));
	if (!gemm->taps)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for %d taps", tap_max);
	return 0;
}

void implicit_add_tap(struct implicit_gemm *gemm, int y, int x, size_t weight)
{
	gemm->taps[gemm->tap_count++] = (struct implicit_tap){y, x, weight};
}

static int minimum(int a, int b)
{
	return a < b ? a : b;
}

// The runs of K. A run ends with its tap's channels of the block, or with the chunk.
static void cut_runs(struct implicit_gemm *gemm)
{
	int run = 0, chunk = 0, lane = 0;

	for (int first = gemm->channel_lo; first < gemm->channel_hi; first += gemm->rows) {
		int end = minimum(first + gemm->rows, gemm->channel_hi);

		for (int tap = 0; tap < gemm->tap_count; tap++)
			for (int channel = first; channel < end;) {
				int count = minimum(end - channel, gemm->rows - lane);

				if (lane == 0)
					gemm->chunk_runs[chunk++] = run;
				gemm->runs[run++] = (struct implicit_run){tap, channel, lane, count};
				channel += count;
				lane = (lane + count) % gemm->rows;
			}
	}
	gemm->chunk_runs[chunk] = run;
}

int implicit_set_weights(struct implicit_gemm *gemm, const uint16_t *weights, struct wc_error *err)
{
	size_t channels = (size_t)(gemm->channel_hi - gemm->channel_lo), k_total = channels * gemm->tap_count;
	size_t blocks = (channels + gemm->rows - 1) / gemm->rows;

	gemm->chunk_count = (int)((k_total + gemm->rows - 1) / gemm->rows);
	gemm->padded = golden_wave_pad(gemm->columns);
	gemm->runs = wc_alloc(blocks * gemm->tap_count + gemm->chunk_count + 1, sizeof(*gemm->runs));
	gemm->chunk_runs = wc_alloc(gemm->chunk_count + 1, sizeof(*gemm->chunk_runs));
	gemm->weights = wc_alloc((size_t)gemm->chunk_count * gemm->rows * gemm->padded, sizeof(*gemm->weights));
	gemm->source = wc_alloc((size_t)gemm->height * gemm->width * gemm->channels, sizeof(*gemm->source));
	gemm->acc = wc_alloc((size_t)IMPLICIT_PIXELS * gemm->padded, sizeof(*gemm->acc));
	gemm->a = wc_alloc((size_t)IMPLICIT_PIXELS * gemm->rows, sizeof(*gemm->a));
	if (!gemm->runs || !gemm->chunk_runs || !gemm->weights || !gemm->source || !gemm->acc || !gemm->a)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for a convolution of %zu x %d weights", k_total, gemm->columns);

	cut_runs(gemm);
	for (int chunk = 0; chunk < gemm->chunk_count; chunk++)
		for (int i = gemm->chunk_runs[chunk]; i < gemm->chunk_runs[chunk + 1]; i++) {
			const struct implicit_run *run = &gemm->runs[i];

			for (int j = 0; j < run->count; j++) {
				const uint16_t *from = weights + gemm->taps[run->tap].weight + (run->channel + j) * gemm->channel_stride;
				float *to = gemm->weights + ((size_t)chunk * gemm->rows + run->lane + j) * gemm->padded;

				for (int column = 0; column < gemm->columns; column++)
					to[column] = golden_half_to_float(from[column * gemm->column_stride]);
			}
		}
	return 0;
}

void implicit_set_source(struct implicit_gemm *gemm, const uint16_t *source, uint16_t *result)
{
	golden_halves_to_floats(gemm->source, source, (size_t)gemm->height * gemm->width * gemm->channels);
	gemm->result = result;
}

void implicit_set_sums(struct implicit_gemm *gemm, const uint16_t *source, float *sums)
{
	implicit_set_source(gemm, source, NULL);
	gemm->sums = sums;
}

void implicit_add_pixel(struct implicit_gemm *gemm, int y, int x, size_t out)
{
	gemm->pixel_y[gemm->pixel_count] = y;
	gemm->pixel_x[gemm->pixel_count] = x;
	gemm->pixel_out[gemm->pixel_count] = out;
	if (++gemm->pixel_count == IMPLICIT_PIXELS)
		implicit_flush(gemm);
}

// What the waiting pixels see through the chunk's runs; +0 outside the source.
static void gather(struct implicit_gemm *gemm, int chunk)
{
	for (int pixel = 0; pixel < gemm->pixel_count; pixel++)
		for (int i = gemm->chunk_runs[chunk]; i < gemm->chunk_runs[chunk + 1]; i++) {
			const struct implicit_run *run = &gemm->runs[i];
			int y = gemm->pixel_y[pixel] + gemm->taps[run->tap].y;
			int x = gemm->pixel_x[pixel] + gemm->taps[run->tap].x;
			float *to = gemm->a + (size_t)pixel * gemm->rows + run->lane;

			if (y < 0 || y >= gemm->height || x < 0 || x >= gemm->width) {
				for (int j = 0; j < run->count; j++)
					to[j] = 0;
			} else {
				const float *from = gemm->source + ((size_t)y * gemm->width + x) * gemm->channels + run->channel;

				for (int j = 0; j < run->count; j++)
					to[j] = from[j];
			}
		}
}

static void start_accumulators(struct implicit_gemm *gemm)
{
	memset(gemm->acc, 0, (size_t)gemm->pixel_count * gemm->padded * sizeof(*gemm->acc));
	for (int pixel = 0; gemm->sums && pixel < gemm->pixel_count; pixel++)
		memcpy(gemm->acc + (size_t)pixel * gemm->padded, gemm->sums + gemm->pixel_out[pixel], gemm->columns * sizeof(*gemm->acc));
	for (int pixel = 0; gemm->bias && pixel < gemm->pixel_count; pixel++)
		golden_halves_to_floats(gemm->acc + (size_t)pixel * gemm->padded, gemm->bias, gemm->columns);
}

// Sums as they are stored, NaNs canonical.
static void store(struct implicit_gemm *gemm, const float *acc, size_t out)
{
	if (!gemm->sums)
		golden_floats_to_halves(gemm->result + out, acc, gemm->columns);
	for (int column = 0; gemm->sums && column < gemm->columns; column++)
		gemm->sums[out + column] = golden_float_of(golden_float_bits(acc[column]));
}

void implicit_flush(struct implicit_gemm *gemm)
{
	start_accumulators(gemm);
	for (int chunk = 0; chunk < gemm->chunk_count; chunk++) {
		const struct implicit_run *last = &gemm->runs[gemm->chunk_runs[chunk + 1] - 1];

		gather(gemm, chunk);
		golden_wave_add(gemm->acc, gemm->padded, gemm->a, gemm->rows, gemm->weights + (size_t)chunk * gemm->rows * gemm->padded, gemm->padded,
		                gemm->pixel_count, gemm->padded, last->lane + last->count);
	}
	for (int pixel = 0; pixel < gemm->pixel_count; pixel++)
		store(gemm, gemm->acc + (size_t)pixel * gemm->padded, gemm->pixel_out[pixel]);
	gemm->pixel_count = 0;
}

void implicit_release(struct implicit_gemm *gemm)
{
	wc_free(gemm->a);
	wc_free(gemm->acc);
	wc_free(gemm->source);
	wc_free(gemm->weights);
	wc_free(gemm->chunk_runs);
	wc_free(gemm->runs);
	wc_free(gemm->taps);
}
