// SPDX-License-Identifier: Apache-2.0
//
// Group normalization as a host runs it, forward, backward and parameters, in strips of rows, has the golden model's bits.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "csim/golden/half.h"
#include "csim/golden/norm.h"
#include "tests/model/simd_nest.h"

static const struct wc_device_params params = {.rows = 16, .cols = 8, .acc_rows = 16, .mac_stages = 1, .buffer_bytes = 65536, .bus_bytes = 16, .cores = 1};

enum { LANES = 16 };
// Places in the buffer.
enum { X = 0, DY = 8192, OUT = 16384, GAMMA = 24576, BETA = 25600, ROWS = 26624, TOTALS = 43008, STATISTICS = 47104, GRADIENTS = 51200 };

struct norm {
	struct golden_norm g;
	struct device device;
	uint16_t *x, *dy, *gamma, *beta, *result;
	int strip; // rows of the first strip
};

static int groups_of_block(const struct golden_norm *g)
{
	return LANES / g->group_channels ? LANES / g->group_channels : 1;
}

// Equal ones that a block holds.
static int parts_of(const struct golden_norm *g)
{
	int parts = 1;

	while (g->group_channels % parts || g->group_channels / parts > LANES)
		parts++;
	return parts;
}

// The nest of what works on groups, which are cut into taps when they are too wide; `taps` streams walk them.
static struct wc_simd_command group_nest(const struct norm *m, enum wc_simd_program program, int rows, int pixels, int taps)
{
	const struct golden_norm *g = &m->g;
	bool is_wide = g->group_channels > LANES;
	struct wc_simd_command c = nest(program, g->batch, rows, pixels, g->channels, 1);
	int parts = parts_of(g), part = g->group_channels / parts;

	nest_groups(&c, part, groups_of_block(g), is_wide ? g->group_channels : part * groups_of_block(g));
	if (is_wide && taps) {
		c.taps_x = (uint8_t)parts;
		c.tap_x_step = 1;
		c.x_size = (uint16_t)parts;
		for (int i = 0; i < taps; i++)
			nest_taps(&c, i, 0, 2 * part);
	}
	return c;
}

static void map_stream(struct wc_simd_command *c, const struct golden_norm *g, int stream, uint32_t base, int row)
{
	int pixel = 2 * g->channels;

	nest_stream(c, stream, NEST_HALF, base + (uint32_t)(row * g->width * pixel), g->height * g->width * pixel, g->width * pixel, pixel);
}

static void row_stream(struct wc_simd_command *c, const struct golden_norm *g, int stream, int which, int row)
{
	nest_stream(c, stream, NEST_FLOAT, ROWS + (uint32_t)(which * 8192 + row * 4 * g->channels), g->height * 4 * g->channels, 4 * g->channels, 0);
}

static void statistic_stream(struct wc_simd_command *c, const struct golden_norm *g, int stream, uint32_t base)
{
	nest_stream(c, stream, NEST_FLOAT, base, 4 * g->channels, 0, 0);
}

// What stands in a wide group's first part goes into the others.
static void spread(struct norm *m, uint32_t base)
{
	const struct golden_norm *g = &m->g;
	int parts = parts_of(g), part = g->group_channels / parts;
	struct wc_simd_command c = nest(WC_SIMD_COPY, g->batch, 1, parts - 1, g->channels, part);

	if (parts == 1)
		return;
	c.block_step = (uint32_t)g->group_channels;
	nest_stream(&c, 0, NEST_FLOAT, base, 4 * g->channels, 0, 0);
	nest_stream(&c, 1, NEST_FLOAT, base + (uint32_t)(4 * part), 4 * g->channels, 0, 4 * part);
	nest_run(&m->device, &c);
}

// One of the programs that make the same sums.
static enum wc_simd_program sums_program(const struct golden_norm *g, enum wc_simd_program whole, enum wc_simd_program wide, enum wc_simd_program single)
{
	return g->group_channels == parts_of(g) ? single : g->group_channels > LANES ? wide : whole;
}

static void sums(struct norm *m, int row, int rows)
{
	enum wc_simd_program program = sums_program(&m->g, WC_SIMD_NORM_SUMS, WC_SIMD_NORM_SUMS_WIDE, WC_SIMD_NORM_SUMS_SINGLE);
	struct wc_simd_command c = group_nest(m, program, rows, m->g.width, 1);

	map_stream(&c, &m->g, 0, X, row);
	map_stream(&c, &m->g, 1, X, 0);
	row_stream(&c, &m->g, 3, 0, row);
	row_stream(&c, &m->g, 4, 1, row);
	nest_run(&m->device, &c);
}

static void backward_sums(struct norm *m, int row, int rows)
{
	enum wc_simd_program program =
		sums_program(&m->g, WC_SIMD_NORM_BACKWARD_SUMS, WC_SIMD_NORM_BACKWARD_SUMS_WIDE, WC_SIMD_NORM_BACKWARD_SUMS_SINGLE);
	struct wc_simd_command c = group_nest(m, program, rows, m->g.width, 3);

	map_stream(&c, &m->g, 0, X, row);
	map_stream(&c, &m->g, 1, DY, row);
	nest_stream(&c, 2, NEST_HALF, GAMMA, 0, 0, 0);
	statistic_stream(&c, &m->g, 3, STATISTICS);
	statistic_stream(&c, &m->g, 4, STATISTICS + 2048);
	row_stream(&c, &m->g, 5, 0, row);
	row_stream(&c, &m->g, 6, 1, row);
	nest_run(&m->device, &c);
}

static void statistics(struct norm *m, int row, int rows, bool is_backward)
{
	const struct golden_norm *g = &m->g;
	enum wc_simd_program program = is_backward ? WC_SIMD_NORM_BACKWARD_STATS : WC_SIMD_NORM_STATS;
	struct wc_simd_command c = group_nest(m, program, rows, 1, 0);
	uint32_t base = is_backward ? GRADIENTS : STATISTICS;

	row_stream(&c, g, 0, 0, row);
	row_stream(&c, g, 1, 1, row);
	statistic_stream(&c, g, 2, TOTALS);
	statistic_stream(&c, g, 3, TOTALS + 2048);
	if (!is_backward)
		map_stream(&c, g, 4, X, 0);
	statistic_stream(&c, g, is_backward ? 4 : 5, base);
	statistic_stream(&c, g, is_backward ? 5 : 6, base + 2048);
	c.zero = row == 0 ? 0x0c : 0;
	c.constant0 = nest_pattern((float)(1.0 / ((double)g->height * g->width * g->group_channels)));
	c.constant1 = nest_pattern(g->eps);
	nest_run(&m->device, &c);
	spread(m, base);
	spread(m, base + 2048);
}

// Strips in either order; statistics go over their rows ascending.
static void reduce(struct norm *m, bool is_backward)
{
	int rest = m->g.height - m->strip;

	for (int i = 0; i < 2; i++) {
		bool first = is_backward ? i == 1 : i == 0;

		if (first && is_backward)
			backward_sums(m, 0, m->strip);
		else if (first)
			sums(m, 0, m->strip);
		else if (rest && is_backward)
			backward_sums(m, m->strip, rest);
		else if (rest)
			sums(m, m->strip, rest);
	}
	statistics(m, 0, m->strip, is_backward);
	if (rest)
		statistics(m, m->strip, rest, is_backward);
}

// y into OUT.
static void forward(struct norm *m)
{
	const struct golden_norm *g = &m->g;
	struct wc_simd_command c = nest(WC_SIMD_NORM_APPLY, g->batch, g->height, g->width, g->channels, LANES);

	reduce(m, false);
	map_stream(&c, g, 0, X, 0);
	statistic_stream(&c, g, 1, STATISTICS);
	statistic_stream(&c, g, 2, STATISTICS + 2048);
	nest_stream(&c, 3, NEST_HALF, GAMMA, 0, 0, 0);
	nest_stream(&c, 4, NEST_HALF, BETA, 0, 0, 0);
	map_stream(&c, g, 5, OUT, 0);
	nest_run(&m->device, &c);
}

// dx into OUT.
static void backward(struct norm *m)
{
	const struct golden_norm *g = &m->g;
	struct wc_simd_command c = nest(WC_SIMD_NORM_INPUT_GRADIENT, g->batch, g->height, g->width, g->channels, LANES);

	reduce(m, true);
	map_stream(&c, g, 0, X, 0);
	map_stream(&c, g, 1, DY, 0);
	nest_stream(&c, 2, NEST_HALF, GAMMA, 0, 0, 0);
	statistic_stream(&c, g, 3, STATISTICS);
	statistic_stream(&c, g, 4, STATISTICS + 2048);
	statistic_stream(&c, g, 5, GRADIENTS);
	statistic_stream(&c, g, 6, GRADIENTS + 2048);
	map_stream(&c, g, 7, OUT, 0);
	nest_run(&m->device, &c);
}

static void check_parameters(struct norm *m, const struct golden_norm_statistics *stats)
{
	const struct golden_norm *g = &m->g;
	const struct golden_range all = {0, g->batch, 0, g->height};
	struct golden_norm_sums *rows = calloc((size_t)g->batch * g->height * g->channels, sizeof(*rows)), *totals = calloc((size_t)g->channels, sizeof(*totals));
	float *expected = calloc((size_t)g->channels, sizeof(*expected));
	struct wc_simd_command c = nest(WC_SIMD_NORM_PARAMETER_GRADIENT, g->batch, g->height, g->width, g->channels, LANES);
	struct wc_error err = {0};

	map_stream(&c, g, 0, X, 0);
	map_stream(&c, g, 1, DY, 0);
	statistic_stream(&c, g, 2, STATISTICS);
	statistic_stream(&c, g, 3, STATISTICS + 2048);
	row_stream(&c, g, 4, 0, 0);
	row_stream(&c, g, 5, 1, 0);
	nest_run(&m->device, &c);
	cr_assert_eq(golden_norm_parameter_row_sums(g, m->x, m->dy, stats, all, rows, &err), 0, "%s", err.text);
	cr_assert_eq(golden_norm_parameter_add(g, rows, all, totals, &err), 0, "%s", err.text);
	for (int which = 0; which < 2; which++) {
		c = nest(WC_SIMD_SUM_ROWS, 1, g->batch * g->height, 1, g->channels, LANES);
		row_stream(&c, g, 0, which, 0);
		statistic_stream(&c, g, 1, TOTALS);
		c.zero = 2;
		nest_run(&m->device, &c);
		for (int i = 0; i < g->channels; i++)
			expected[i] = golden_float_of(golden_float_bits(which ? totals[i].second : totals[i].first));
		nest_expect(&m->device, TOTALS, expected, (size_t)g->channels * 4, which ? "beta" : "gamma");
	}
	free(rows);
	free(totals);
	free(expected);
}

static uint16_t *random_halves(struct device *device, uint32_t at, size_t count, uint64_t *state)
{
	uint16_t *halves = malloc(2 * count);

	for (size_t i = 0; i < count; i++)
		halves[i] = golden_half_from_float((float)device_between(state, -4000, 4000) / 1024 + 1);
	nest_write(device, at, halves, 2 * count);
	return halves;
}

static void check(int height, int width, int group, int groups, int strip, uint64_t *state)
{
	struct norm m = {.g = {2, height, width, group * groups, group, 1e-5f}, .strip = strip};
	const struct golden_range all = {0, 2, 0, height};
	size_t count = golden_norm_count(&m.g), cells = (size_t)m.g.batch * groups;
	struct golden_norm_sums *rows = calloc(cells * height, sizeof(*rows)), *totals = calloc(cells, sizeof(*totals));
	struct golden_norm_statistics *stats = calloc(cells, sizeof(*stats));
	struct wc_error err = {0};

	device_open(&m.device, &params, 1);
	cr_assert_leq(2 * count, (size_t)8192);
	cr_assert_leq(8 * height * m.g.channels, 8192);
	m.x = random_halves(&m.device, X, count, state);
	m.dy = random_halves(&m.device, DY, count, state);
	m.gamma = random_halves(&m.device, GAMMA, (size_t)m.g.channels, state);
	m.beta = random_halves(&m.device, BETA, (size_t)m.g.channels, state);
	m.result = malloc(2 * count);

	forward(&m);
	cr_assert_eq(golden_norm_row_sums(&m.g, m.x, all, rows, &err), 0, "%s", err.text);
	cr_assert_eq(golden_norm_combine(&m.g, rows, all, totals, &err), 0, "%s", err.text);
	cr_assert_eq(golden_norm_finish(&m.g, m.x, totals, 0, 2, stats, &err), 0, "%s", err.text);
	cr_assert_eq(golden_norm_apply(&m.g, m.x, stats, m.gamma, m.beta, all, m.result, &err), 0, "%s", err.text);
	nest_expect(&m.device, OUT, m.result, 2 * count, "y");

	backward(&m);
	memset(totals, 0, cells * sizeof(*totals));
	cr_assert_eq(golden_norm_gradient_row_sums(&m.g, m.x, m.dy, stats, m.gamma, all, rows, &err), 0, "%s", err.text);
	cr_assert_eq(golden_norm_combine(&m.g, rows, all, totals, &err), 0, "%s", err.text);
	cr_assert_eq(golden_norm_gradient(&m.g, m.x, m.dy, stats, m.gamma, totals, all, m.result, &err), 0, "%s", err.text);
	nest_expect(&m.device, OUT, m.result, 2 * count, "dx");

	check_parameters(&m, stats);
	device_close(&m.device);
	free(m.x);
	free(m.dy);
	free(m.gamma);
	free(m.beta);
	free(m.result);
	free(rows);
	free(totals);
	free(stats);
}

Test(simd_norm, every_size_of_group_has_the_golden_bits)
{
	uint64_t state = device_seed() + 600;

	for (int group = 1; group <= LANES; group++)
		check(3, 4, group, 33 / group + 1, group % 3 + 1, &state);
}

Test(simd_norm, groups_wider_than_a_block_have_the_golden_bits)
{
	uint64_t state = device_seed() + 601;

	check(4, 3, 32, 3, 2, &state);
	check(3, 3, 36, 2, 3, &state);
	check(2, 2, 64, 2, 1, &state);
	check(2, 2, 18, 4, 1, &state);
	check(2, 2, 17, 3, 1, &state);
}

Test(simd_norm, one_pixel_and_one_row)
{
	uint64_t state = device_seed() + 602;

	check(1, 1, 4, 5, 1, &state);
	check(1, 1, 1, 3, 1, &state);
	check(1, 9, 8, 4, 1, &state);
	check(9, 1, 8, 4, 5, &state);
}
