// SPDX-License-Identifier: Apache-2.0
//
// SIMD commands on random shapes: see simd_cases.h.
#include "tests/simd_cases.h"

#include "tests/simd_draw.h"
#include "traces/splitmix.h"

static void elementwise(struct draw *d)
{
	struct simd_case *m = d->made;

	simd_draw_map(d);
	simd_draw_nest(d, m->h, m->w);
	simd_draw_any_blocks(d);
	if (m->program == WC_SIMD_SGD) {
		simd_draw_map_of(d, 0, KIND_FLOAT);
		simd_draw_map_of(d, 1, KIND_FLOAT);
		simd_draw_map_of(d, 2, KIND_FLOAT);
		simd_draw_map_of(d, 3, KIND_HALF);
		m->command.constant0 = simd_draw_pattern(1.0f / 1024);
		m->command.constant1 = simd_draw_pattern(1e-4f);
		m->command.constant2 = simd_draw_pattern(0.9f);
		m->command.constant3 = simd_draw_pattern(0.1f);
	} else if (m->program == WC_SIMD_ADD) {
		simd_draw_map_of(d, 0, KIND_HALF);
		simd_draw_map_of(d, 1, KIND_HALF);
		simd_draw_map_of(d, 2, KIND_HALF);
		simd_draw_in_place(d, 2, simd_draw_between(d, 0, 1));
	} else {
		simd_draw_map_of(d, 0, simd_draw_between(d, 0, 1) ? KIND_HALF : KIND_FLOAT);
		simd_draw_map_of(d, 1, simd_draw_between(d, 0, 2) ? KIND_HALF : KIND_FLOAT);
	}
	simd_draw_plain_all(d);
}

static void fill(struct draw *d)
{
	static const enum simd_kind kinds[] = {KIND_HALF, KIND_FLOAT, KIND_ONE, KIND_BITS};
	enum simd_kind kind = kinds[simd_draw_between(d, 0, 3)];
	int bits = kind == KIND_BITS ? simd_draw_between(d, 1, 8) : kind == KIND_HALF ? 16 : 32;
	struct simd_case *m = d->made;

	simd_draw_map(d);
	simd_draw_nest(d, m->h, m->w);
	simd_draw_any_blocks(d);
	// A row of fields is written by one block.
	if (kind == KIND_BITS && m->c > m->command.block)
		m->c = (int)(m->command.channels = m->command.block);
	simd_draw_tensor(d, 0, kind, m->h, m->w, kind == KIND_ONE ? 1 : m->c, bits);
	simd_draw_plain_all(d);
	m->kh = 1 << bits % 32; // any fields before
	m->kw = 1;
	m->command.constant0 = m->wild || kind == KIND_BITS ? (uint32_t)splitmix_next(d->state) : simd_draw_pattern(1.0f);
}

static void sum_rows(struct draw *d)
{
	struct simd_case *m = d->made;

	simd_draw_map(d);
	simd_draw_nest(d, m->h, 1);
	simd_draw_any_blocks(d);
	simd_draw_row_sums(d, 0);
	simd_draw_statistic(d, 1);
	simd_draw_plain_all(d);
	if (simd_draw_between(d, 0, 1))
		m->command.zero = 2;
}

static void softmax(struct draw *d)
{
	struct simd_case *m = d->made;
	int first = m->program == WC_SIMD_SOFTMAX_MAX ? 1 : m->program == WC_SIMD_SOFTMAX_SUM ? 2 : 6;

	m->n = simd_draw_between(d, 1, 4);
	m->h = m->w = 1;
	m->c = simd_draw_between(d, 1, 4 * d->lanes);
	simd_draw_nest(d, 1, 1);
	simd_draw_any_blocks(d);
	simd_draw_map_of(d, 0, KIND_HALF);
	for (int i = 1; i <= (m->program == WC_SIMD_SOFTMAX_SUM ? 3 : first); i++) {
		if (m->program == WC_SIMD_SOFTMAX_GRADIENT && i == 5)
			simd_draw_map_of(d, i, KIND_HALF);
		else
			simd_draw_tensor(d, i, m->program == WC_SIMD_SOFTMAX_GRADIENT && i == 4 ? KIND_LABEL : KIND_ONE, 1, 1, 1, 32);
	}
	simd_draw_plain_all(d);
	m->command.constant0 = simd_draw_pattern(1024.0f / 32);
}

static void draw_program(struct draw *d)
{
	switch (d->made->program) {
	case WC_SIMD_AVERAGE:
		if (simd_draw_between(d, 0, 1)) {
			simd_draw_pool(d);
		} else {
			d->made->gradient = true;
			simd_draw_pool_gradient(d);
		}
		break;
	case WC_SIMD_MAX_POOL:
		simd_draw_pool(d);
		break;
	case WC_SIMD_MAX_POOL_GRADIENT:
		simd_draw_pool_gradient(d);
		break;
	case WC_SIMD_WEIGHTED_SUM:
		simd_draw_weighted_sum(d);
		break;
	case WC_SIMD_NORM_SUMS:
	case WC_SIMD_NORM_SUMS_WIDE:
	case WC_SIMD_NORM_SUMS_SINGLE:
	case WC_SIMD_NORM_BACKWARD_SUMS:
	case WC_SIMD_NORM_BACKWARD_SUMS_WIDE:
	case WC_SIMD_NORM_BACKWARD_SUMS_SINGLE:
		simd_draw_norm_sums(d);
		break;
	case WC_SIMD_NORM_STATS:
	case WC_SIMD_NORM_BACKWARD_STATS:
		simd_draw_norm_stats(d);
		break;
	case WC_SIMD_NORM_APPLY:
	case WC_SIMD_NORM_INPUT_GRADIENT:
	case WC_SIMD_NORM_PARAMETER_GRADIENT:
		simd_draw_norm_apply(d);
		break;
	case WC_SIMD_FILL:
		fill(d);
		break;
	case WC_SIMD_SUM_ROWS:
		sum_rows(d);
		break;
	case WC_SIMD_SOFTMAX_MAX:
	case WC_SIMD_SOFTMAX_SUM:
	case WC_SIMD_SOFTMAX_GRADIENT:
		softmax(d);
		break;
	default:
		elementwise(d);
		break;
	}
}

void simd_case_draw(struct simd_case *drawn, enum wc_simd_program program, const struct wc_device_params *params, uint64_t *state)
{
	struct draw d = {.made = drawn, .params = params, .state = state, .lanes = (int)wc_device_lanes(params)};

	do {
		*drawn = (struct simd_case){.program = program};
		// Somewhere in the buffer.
		d.used = params->bus_bytes * (uint32_t)simd_draw_between(&d, 0, 20);
		drawn->wild = simd_draw_between(&d, 0, 3) == 0;
		draw_program(&d);
	} while (d.used > params->buffer_bytes);
}
