// SPDX-License-Identifier: Apache-2.0
//
// Planted faults show where they were planted, once, and nowhere else; probes tell which PE, operand or accumulator it was.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/device/gemm.h"

enum { ROWS = 40, COLS = 4, CHANNELS = 40 };

// A tile of five waves (three on the 16-row array): 40 pixels, 40 channels, 4 columns.
static const struct conv_tile tile = { .batch = 1, .height = 4, .width = 10, .channels = CHANNELS, .kernel = 1, .stride = 1, .n_cols = COLS,
				       .m_rows = ROWS, .w = 4096, .out = 8192, .fp32 = true };

// What one run drained and what its probes saw.
struct seen {
	uint32_t drained[2][ROWS][COLS];               // per command
	uint32_t sums[2][8][ROWS][16];                 // probed column: command, wave, vector, PE row
	uint32_t accumulated[2][8][ROWS][16];
	uint32_t a[2][8][ROWS][16], b[2][8][16][16];
	int rows, columns, operands_a, operands_b, accumulators; // how many of each
};

static int see_row(void *context, const struct wc_tile_row *row)
{
	struct seen *s = context;

	memcpy(s->drained[row->command_index][row->row], row->bits, sizeof *row->bits * (size_t)row->count);
	s->rows++;
	return 0;
}

static int see_probe(void *context, const struct wc_probe *p)
{
	struct seen *s = context;
	uint32_t (*to)[16] = NULL;

	switch (p->kind) {
	case WC_PROBE_COLUMN:
		to = &s->sums[p->command_index][p->wave][p->index];
		s->columns++;
		break;
	case WC_PROBE_ACCUMULATOR:
		to = &s->accumulated[p->command_index][p->wave][p->index];
		s->accumulators++;
		break;
	case WC_PROBE_OPERAND_A:
		to = &s->a[p->command_index][p->wave][p->index];
		s->operands_a++;
		break;
	case WC_PROBE_OPERAND_B:
		to = &s->b[p->command_index][p->wave][p->index];
		s->operands_b++;
		break;
	}
	memcpy(*to, p->bits, sizeof *p->bits * (size_t)p->count);
	return 0;
}

// The tile twice, with the fault and the column probed.
static struct seen *run(const char *config, const struct wc_fault *fault, int column)
{
	struct seen *s = calloc(1, sizeof *s);
	struct bench b;
	union command c;
	uint64_t rng = 51;

	bench_open(&b, config, NULL, 1);
	buffer_fill_halves(&b, &rng, 0, b.params.buffer_bytes);
	b.backend->ops->set_observer(b.backend, &(struct wc_observer){ .context = s, .tile_row = see_row, .probe = see_probe, .probe_column = column });
	b.backend->ops->set_fault(b.backend, fault);
	c = command_conv(&tile, b.params.rows);
	bench_issue(&b, &c);
	bench_issue(&b, &c);
	bench_finish(&b);
	bench_close(&b);
	return s;
}

static void check_counts(const struct seen *s, int rows)
{
	int waves = 2 * ((CHANNELS + rows - 1) / rows);

	cr_assert(s->rows == 2 * ROWS);
	cr_assert(s->columns == waves * ROWS && s->accumulators == waves * ROWS && s->operands_a == waves * ROWS);
	cr_assert(s->operands_b == waves * rows);
}

static float value(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof f);
	return f;
}

static float half_value(uint32_t bits)
{
	_Float16 h;
	uint16_t low = (uint16_t)bits;

	memcpy(&h, &low, sizeof h);
	return h;
}

// The probes of a right run obey the equation, PE by PE and wave by wave.
static void probes_agree(const char *config, int rows, int column)
{
	struct seen *s = run(config, NULL, column);

	check_counts(s, rows);
	for (int m = 0; m < ROWS; m++) {
		float sum = 0;

		for (int w = 0; w * rows < CHANNELS; w++) {
			float psum = 0;

			for (int r = 0; r < rows; r++) {
				psum += half_value(s->a[1][w][m][r]) * half_value(s->b[1][w][r][column]);
				cr_assert(psum == value(s->sums[1][w][m][r]), "wave %d vector %d PE row %d", w, m, r);
			}
			sum += psum;
			cr_assert(sum == value(s->accumulated[1][w][m][column]), "wave %d vector %d", w, m);
		}
		cr_assert(sum == value(s->drained[1][m][column]));
	}
	free(s);
}

Test(faults, probes_show_the_equation_at_every_pe)
{
	probes_agree(CONFIG_QUICK, 16, 2);
	probes_agree(CONFIG_SMALL, 8, 3);
	probes_agree(CONFIG_SMALL, 8, 0);
}

// Elements that differ between two runs.
static int differences(const struct seen *a, const struct seen *b, int command, int *column)
{
	int count = 0;

	for (int m = 0; m < ROWS; m++)
		for (int n = 0; n < COLS; n++)
			if (a->drained[command][m][n] != b->drained[command][m][n]) {
				count++;
				*column = n;
			}
	return count;
}

static void flip_weight(const char *config, int rows, const struct wc_fault *fault)
{
	struct seen *right = run(config, NULL, fault->column), *wrong = run(config, fault, fault->column);
	int column = -1;

	check_counts(wrong, rows);
	cr_assert(differences(right, wrong, 1 - (int)fault->command, &column) == 0, "the other tile differs");
	cr_assert(differences(right, wrong, (int)fault->command, &column) > ROWS / 2 && column == fault->column);
	// Partial sums above the PE are right, from the PE on they are wrong, in this wave and in no other.
	for (int w = 0; w * rows < CHANNELS; w++)
		for (int r = 0; r < rows; r++) {
			int bad = 0;

			for (int m = 0; m < ROWS; m++)
				bad += right->sums[fault->command][w][m][r] != wrong->sums[fault->command][w][m][r];
			if (w != fault->wave || r < fault->row)
				cr_assert(bad == 0, "wave %d, PE row %d: %d sums differ", w, r, bad);
			else if (r == fault->row)
				cr_assert(bad > ROWS / 2, "PE row %d: only %d sums differ", r, bad);
		}
	free(right);
	free(wrong);
}

Test(faults, a_flipped_weight_shows_from_its_pe_down_in_its_wave)
{
	flip_weight(CONFIG_QUICK, 16, &(struct wc_fault){ .kind = WC_FAULT_WEIGHT, .command = 1, .wave = 1, .row = 5, .column = 2, .bit = 10 });
	flip_weight(CONFIG_QUICK, 16, &(struct wc_fault){ .kind = WC_FAULT_WEIGHT, .command = 0, .wave = 0, .row = 0, .column = 0, .bit = 10 });
	flip_weight(CONFIG_SMALL, 8, &(struct wc_fault){ .kind = WC_FAULT_WEIGHT, .command = 0, .wave = 3, .row = 7, .column = 3, .bit = 10 });
	flip_weight(CONFIG_SMALL, 8, &(struct wc_fault){ .kind = WC_FAULT_WEIGHT, .command = 1, .wave = 0, .row = 2, .column = 1, .bit = 10 });
}

static void flip_accumulator(const char *config, const struct wc_fault *fault)
{
	struct seen *right = run(config, NULL, fault->column), *wrong = run(config, fault, fault->column);
	int column = -1;

	cr_assert(differences(right, wrong, 1 - (int)fault->command, &column) == 0);
	cr_assert(differences(right, wrong, (int)fault->command, &column) == 1 && column == fault->column);
	cr_assert(right->drained[fault->command][fault->row][column] != wrong->drained[fault->command][fault->row][column]);
	cr_assert((right->accumulated[fault->command][fault->wave][fault->row][column] ^ wrong->accumulated[fault->command][fault->wave][fault->row][column]) ==
		  1u << fault->bit);
	cr_assert(memcmp(right->sums, wrong->sums, sizeof right->sums) == 0, "the array is right");
	free(right);
	free(wrong);
}

Test(faults, a_flipped_accumulator_bit_shows_in_one_element)
{
	flip_accumulator(CONFIG_QUICK, &(struct wc_fault){ .kind = WC_FAULT_ACCUMULATOR, .command = 0, .wave = 2, .row = 39, .column = 1, .bit = 28 });
	flip_accumulator(CONFIG_QUICK, &(struct wc_fault){ .kind = WC_FAULT_ACCUMULATOR, .command = 1, .wave = 0, .row = 7, .column = 3, .bit = 28 });
	flip_accumulator(CONFIG_SMALL, &(struct wc_fault){ .kind = WC_FAULT_ACCUMULATOR, .command = 1, .wave = 4, .row = 0, .column = 0, .bit = 28 });
}

Test(faults, a_flipped_buffer_bit_strikes_when_its_command_begins_and_stays)
{
	// Bit 10 of channel 3 of pixel 11 and so an operand of one row of the output.
	struct wc_fault fault = { .kind = WC_FAULT_BUFFER, .command = 1, .address = 2 * (11 * CHANNELS + 3) + 1, .bit = 2 };
	struct seen *right = run(CONFIG_QUICK, NULL, 0), *wrong = run(CONFIG_QUICK, &fault, 0);
	int column;

	cr_assert(differences(right, wrong, 0, &column) == 0);
	cr_assert(differences(right, wrong, 1, &column) == COLS);
	cr_assert(memcmp(right->drained[1][11], wrong->drained[1][11], sizeof right->drained[1][11]) != 0);
	cr_assert((right->a[1][0][11][3] ^ wrong->a[1][0][11][3]) == 1u << 10, "the operand is wrong as it enters");
	free(right);
	free(wrong);
}

Test(faults, a_flipped_memory_bit_strikes_when_its_command_has_ended)
{
	struct bench b;
	union command c;

	bench_open(&b, CONFIG_QUICK, NULL, 1);
	memset(bench_at(&b, b.data), 0x33, 64);
	b.backend->ops->set_fault(b.backend, &(struct wc_fault){ .kind = WC_FAULT_MEMORY, .command = 1, .address = b.data + 4096 + 17, .bit = 6 });
	c = command_load(b.data, 0, 64);
	bench_issue(&b, &c);
	c = command_store(b.data + 4096, 0, 64);
	c.store.wait_load = 1;
	bench_issue(&b, &c);
	bench_finish(&b);
	for (int i = 0; i < 64; i++)
		cr_assert(bench_at(&b, b.data + 4096)[i] == (i == 17 ? 0x73 : 0x33), "byte %d", i);
	bench_close(&b);
}
