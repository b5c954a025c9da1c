// SPDX-License-Identifier: Apache-2.0
//
// One wave in blocks of rows and columns whose partial sums stay in registers. Each element keeps its own order of
// additions, whatever the block, so that blocks and vector width do not touch the bits.
#include "csim/golden/wave.h"

#define ROWS 4
#define LANES GOLDEN_WAVE_LANES

typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));

// One block of `rows` x (vectors * LANES) sums. Always inlined with constant `rows` and `vectors`.
static inline __attribute__((always_inline)) void block_add(float *acc, size_t acc_stride, const float *a, size_t a_stride, const float *b, size_t b_stride, int k,
                                                            const int rows, const int vectors)
{
	lanes sum[ROWS][2] = {0};

	for (int i = 0; i < k; i++)
		for (int v = 0; v < vectors; v++) {
			lanes weights = *(const lanes *)(b + i * b_stride + v * LANES);

			for (int r = 0; r < rows; r++)
				sum[r][v] += a[r * a_stride + i] * weights;
		}
	for (int r = 0; r < rows; r++)
		for (int v = 0; v < vectors; v++)
			*(lanes *)(acc + r * acc_stride + v * LANES) += sum[r][v];
}

void golden_wave_add(float *acc, size_t acc_stride, const float *a, size_t a_stride, const float *b, size_t b_stride, int m, int n, int k)
{
	int i, j;

	for (j = 0; j + 2 * LANES <= n; j += 2 * LANES) {
		for (i = 0; i + ROWS <= m; i += ROWS)
			block_add(acc + i * acc_stride + j, acc_stride, a + i * a_stride, a_stride, b + j, b_stride, k, ROWS, 2);
		for (; i < m; i++)
			block_add(acc + i * acc_stride + j, acc_stride, a + i * a_stride, a_stride, b + j, b_stride, k, 1, 2);
	}
	if (j < n) {
		for (i = 0; i + ROWS <= m; i += ROWS)
			block_add(acc + i * acc_stride + j, acc_stride, a + i * a_stride, a_stride, b + j, b_stride, k, ROWS, 1);
		for (; i < m; i++)
			block_add(acc + i * acc_stride + j, acc_stride, a + i * a_stride, a_stride, b + j, b_stride, k, 1, 1);
	}
}
