// SPDX-License-Identifier: Apache-2.0
//
// GEMM commands of a convolution's three passes, for the tests of the engine. Tensors are NHWC with rows on 16-byte boundaries,
// weights dense KRSC.
#ifndef WC_TESTS_GEMM_CONV_H
#define WC_TESTS_GEMM_CONV_H

#include <stdbool.h>
#include <stdint.h>

#include "wc_commands.h"

struct conv {
	int batch, in_h, in_w, in_c, out_h, out_w, out_c;
	int kernel_h, kernel_w, stride, pad, dilation;
	uint32_t x, w, y;            // addresses: input (or its gradient), weights (or their fp32 gradient), output (or its gradient)
	uint32_t x_pitch, y_pitch;   // bytes of a row of one sample
};

struct array_shape {
	int rows, cols, acc_rows;
};

// Each writes the tiles of one pass to `commands` and returns their number, or -1 when there are more than `limit`.

// y = conv(x, w)
int conv_forward(const struct conv *conv, const struct array_shape *array, bool merge, struct wc_gemm_command *commands, int limit);

// dx = gradient of x from dy (at y): a set of tiles per residue class of the stride
int conv_data_gradient(const struct conv *conv, const struct array_shape *array, struct wc_gemm_command *commands, int limit);

// dw (at `dw`) = gradient of w over samples [first, last), on top of what is there unless `zero`
int conv_weight_gradient(const struct conv *conv, const struct array_shape *array, uint32_t dw, int first, int last, bool zero, bool merge,
			 struct wc_gemm_command *commands, int limit);

#endif
