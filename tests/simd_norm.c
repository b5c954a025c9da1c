// SPDX-License-Identifier: Apache-2.0
//
// SIMD cases of group normalization.
#include "tests/simd_draw.h"

// Of `least` channels at least.
static void draw_groups(struct draw *d, int least)
{
	struct simd_case *m = d->made;
	int groups;

	simd_draw_map(d);
	m->cpg = simd_draw_between(d, least, d->lanes);
	if (simd_draw_between(d, 0, 1))
		m->cpg = 1 << simd_draw_between(d, least - 1, 31 - __builtin_clz((unsigned)d->lanes));
	groups = simd_draw_between(d, 1, 2 * d->lanes / m->cpg + 1);
	m->c = groups * m->cpg;
	m->command.constant0 = simd_draw_pattern(1.0f / (float)(m->h * m->w * m->cpg));
	// Variances that are zero or negative reach the root where epsilon does not help.
	m->command.constant1 = simd_draw_pattern(simd_draw_between(d, 0, 3) ? 1e-5f : (float)simd_draw_between(d, -1, 0));
}

// Taps are the parts of a group.
static void cut_groups(struct draw *d, int groups, int part)
{
	struct simd_case *m = d->made;
	struct wc_simd_command *c = &m->command;
	int parts = simd_draw_between(d, 2, 3);

	m->cpg = parts * part;
	m->c = groups * m->cpg;
	simd_draw_nest(d, m->h, m->w);
	simd_draw_blocks(d, part, 1, m->cpg);
	c->taps_x = (uint8_t)parts;
	c->tap_x_step = 1;
	c->x_size = (uint16_t)parts;
}

// A tap goes on by the lanes of a block.
static void part_taps(struct draw *d, int i)
{
	struct stream_fields f = simd_draw_fields(&d->made->command, i);

	*f.tap_y = 0;
	*f.tap_x = (int32_t)d->made->command.block * d->made->tensors[i].bits / 8;
}

void simd_draw_norm_sums(struct draw *d)
{
	struct simd_case *m = d->made;
	bool single = m->program == WC_SIMD_NORM_SUMS_SINGLE || m->program == WC_SIMD_NORM_BACKWARD_SUMS_SINGLE;
	bool wide = m->program == WC_SIMD_NORM_SUMS_WIDE || m->program == WC_SIMD_NORM_BACKWARD_SUMS_WIDE ||
		    (single && simd_draw_between(d, 0, 1));
	bool backward = simd_case_sums_backward(m);

	draw_groups(d, 2);
	if (wide) {
		cut_groups(d, simd_draw_between(d, 1, 3), single ? 1 : simd_draw_between(d, 2, d->lanes));
	} else {
		if (single)
			m->cpg = 1;
		simd_draw_nest(d, m->h, m->w);
		simd_draw_whole_groups(d);
	}
	simd_draw_map_of(d, 0, KIND_HALF);
	if (backward) {
		simd_draw_map_of(d, 1, KIND_HALF);
		simd_draw_tensor(d, 2, KIND_HALF, 1, 1, m->c, 16);
		simd_draw_statistic(d, 3);
		simd_draw_statistic(d, 4);
		simd_draw_row_sums(d, 5);
		simd_draw_row_sums(d, 6);
	} else {
		m->tensors[1] = m->tensors[0];
		simd_draw_row_sums(d, 3);
		simd_draw_row_sums(d, 4);
	}
	simd_draw_plain_all(d);
	if (backward)
		m->command.s2_stride_n = 0;
	for (int i = 0; wide && i < 3; i++)
		if (m->tensors[i].used)
			part_taps(d, i);
}

void simd_draw_norm_stats(struct draw *d)
{
	struct simd_case *m = d->made;

	draw_groups(d, 1);
	simd_draw_nest(d, m->h, 1);
	simd_draw_whole_groups(d);
	simd_draw_row_sums(d, 0);
	simd_draw_row_sums(d, 1);
	simd_draw_statistic(d, 2);
	simd_draw_statistic(d, 3);
	if (m->program == WC_SIMD_NORM_STATS)
		simd_draw_tensor(d, 4, KIND_HALF, 1, 1, m->c, 16);
	else
		simd_draw_statistic(d, 4);
	simd_draw_statistic(d, 5);
	if (m->program == WC_SIMD_NORM_STATS)
		simd_draw_statistic(d, 6);
	simd_draw_plain_all(d);
	// The first strip of several, the last, one in the middle, or the only one.
	if (simd_draw_between(d, 0, 1))
		m->command.zero = 0x0c;
	if (simd_draw_between(d, 0, 1))
		m->command.off = 0x0c;
}

void simd_draw_norm_apply(struct draw *d)
{
	struct simd_case *m = d->made;
	bool gradient = m->program == WC_SIMD_NORM_INPUT_GRADIENT, parameters = m->program == WC_SIMD_NORM_PARAMETER_GRADIENT;

	simd_draw_map(d);
	simd_draw_nest(d, m->h, m->w);
	simd_draw_any_blocks(d);
	simd_draw_map_of(d, 0, KIND_HALF);
	if (parameters) {
		simd_draw_map_of(d, 1, KIND_HALF);
		simd_draw_statistic(d, 2);
		simd_draw_statistic(d, 3);
		simd_draw_row_sums(d, 4);
		simd_draw_row_sums(d, 5);
	} else if (gradient) {
		simd_draw_map_of(d, 1, KIND_HALF);
		simd_draw_tensor(d, 2, KIND_HALF, 1, 1, m->c, 16);
		for (int i = 3; i < 7; i++)
			simd_draw_statistic(d, i);
		simd_draw_map_of(d, 7, KIND_HALF);
		simd_draw_in_place(d, 7, 1);
	} else {
		simd_draw_statistic(d, 1);
		simd_draw_statistic(d, 2);
		simd_draw_tensor(d, 3, KIND_HALF, 1, 1, m->c, 16);
		simd_draw_tensor(d, 4, KIND_HALF, 1, 1, m->c, 16);
		simd_draw_map_of(d, 5, KIND_HALF);
		simd_draw_in_place(d, 5, 0);
	}
	simd_draw_plain_all(d);
	if (gradient)
		m->command.s2_stride_n = 0;
	else if (!parameters)
		m->command.s3_stride_n = m->command.s4_stride_n = 0;
}
