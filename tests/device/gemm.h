// SPDX-License-Identifier: Apache-2.0
//
// GEMM commands for device tests: one tile of a forward convolution over data that lies in the global buffer.
#ifndef WC_TEST_DEVICE_GEMM_H
#define WC_TEST_DEVICE_GEMM_H

#include "tests/device/harness.h"

struct conv_tile {
	uint32_t x, w, out, pre;           // byte addresses in the global buffer
	int batch, height, width, channels; // input, NHWC dense
	int kernel, stride, pad;
	int n_cols;                        // output channels
	int first, m_rows;                 // output pixels [first, first + m_rows) of (n, y, x)
	bool preload, fp32;
};

int conv_out_height(const struct conv_tile *t);
int conv_out_width(const struct conv_tile *t);
// Rows of the output are dense: n_cols values of 2 or 4 bytes each.
union command command_conv(const struct conv_tile *t, int rows);
// A shape that fits the device: input from address 0, weights behind it, output behind them; at most acc_rows pixels.
struct conv_tile random_conv(uint64_t *rng, const struct wc_device_params *params);

// Random fp16 of moderate size, so that sums stay finite: `bytes` of them in the device's buffer at `address`.
void buffer_fill_halves(struct bench *b, uint64_t *rng, uint32_t address, uint32_t bytes);

#endif
