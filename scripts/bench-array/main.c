// SPDX-License-Identifier: Apache-2.0
//
// How fast the array forms simulate by themselves: back-to-back waves of 256 rows, every PE busy in every cycle, the next wave's
// weights loading underneath. One line per form and size:
//
//     FORM ROWSxCOLS CYCLES cycles CYCLES_PER_S cycles/s MACS_PER_S MAC/s MACS_PER_CPU_S MAC/cpu-s
//
// Forms of one size must produce the same sums; exit status 1 says that they did not.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "scripts/bench-array/bench.h"

enum { WAVE_ROWS = 256, PERIOD = 2 * WAVE_ROWS };

static const struct bench_model *const models[] = {
	&bench_array_16, &bench_fast_16, &bench_dpi_16, &bench_fast_32, &bench_dpi_32, &bench_fast_128, &bench_dpi_128,
};

static uint32_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 32);
}

static void set_bit(uint32_t *words, int i, int bit)
{
	words[i / 32] = (words[i / 32] & ~(1u << i % 32)) | (uint32_t)bit << i % 32;
}

// Two waves, one per weight register. Row 0 of a wave starts in cycle 0 of its half; the other register's weights load meanwhile.
static void fill(struct bench_cycle program[PERIOD], int size)
{
	uint64_t state = 1;

	for (int t = 0; t < PERIOD; t++) {
		struct bench_cycle *in = &program[t];
		int phase = t % WAVE_ROWS;

		*in = (struct bench_cycle){0};
		for (int i = 0; i < size / 2; i++) {
			// Magnitudes 0.5 to 2 and either sign: sums stay normal numbers.
			in->a[i] = (next(&state) & 0x87ff87ff) + 0x38003800;
			in->w[i] = (next(&state) & 0x87ff87ff) + 0x38003800;
		}
		for (int r = 0; r < size; r++) {
			set_bit(in->a_valid, r, 1);
			set_bit(in->a_sel, r, (t - r + PERIOD) % PERIOD / WAVE_ROWS);
			set_bit(in->w_en, r, phase == r);
			set_bit(in->w_sel, r, t / WAVE_ROWS == 0);
		}
	}
}

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// Run for about a second and print the line.
static void measure(const struct bench_model *m, const struct bench_cycle *program)
{
	long cycles = 4 * PERIOD;
	double wall, cpu, macs;

	for (;;) {
		wall = seconds(CLOCK_MONOTONIC);
		cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
		m->run(program, PERIOD, cycles);
		wall = seconds(CLOCK_MONOTONIC) - wall;
		cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
		if (cpu > 0.5)
			break;
		cycles *= 2;
	}
	macs = (double)cycles * m->rows * m->cols;
	printf("%-10s %3dx%-3d %9ld cycles %9.0f cycles/s %11.4g MAC/s %11.4g MAC/cpu-s\n", m->form, m->rows, m->cols, cycles,
	       (double)cycles / wall, macs / wall, macs / cpu);
	fflush(stdout);
}

int main(void)
{
	static struct bench_cycle program[PERIOD];
	uint64_t want = 0;
	int size = 0, status = EXIT_SUCCESS;

	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		uint64_t hash;

		fill(program, models[i]->rows);
		hash = models[i]->run(program, PERIOD, 3 * PERIOD);
		if (models[i]->rows != size)
			want = hash;
		size = models[i]->rows;
		if (hash != want) {
			fprintf(stderr, "error: %s %dx%d: sums differ from the form above\n", models[i]->form, size, size);
			status = EXIT_FAILURE;
		}
		measure(models[i], program);
	}
	return status;
}
