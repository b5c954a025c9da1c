// SPDX-License-Identifier: Apache-2.0
//
// The bits of pooling and its gradients. Feature maps are dense NHWC of fp16 bits; all arrays belong to the caller.
//
// Window (oy, ox) covers pixels (oy stride_h - pad_h + r, ox stride_w - pad_w + s), r < kernel_h, s < kernel_w; its tap number is
// r kernel_w + s. Sums are binary32 from +0, each addition rounded, and rounded to fp16 once at the end. NaNs are canonical.
//
//   max                the first of the largest in (y, x) order wins (-0 and +0 are equal), the first NaN before all. Padding takes no part
//   its gradient       gathered: dx = sum over the windows whose index names the pixel, oy then ox ascending, of dy; +0 where none does
//   average            (sum over the taps inside the image, r then s ascending) * q, q = 1 / (kernel_h kernel_w) rounded to binary32: padding
//                      counts as +0
//   its gradient       (sum over the windows that cover the pixel, oy then ox ascending, of dy) * q
//   global average     the average with the whole image as its kernel
//   adaptive average   output (oy, ox) of out_h x out_w covers rows [floor(oy H / out_h), ceil((oy + 1) H / out_h)), columns likewise, and is
//                      (sum, y then x ascending) * q, q = 1 / (the window's area) rounded to binary32
//   its gradient       sum over the windows that cover the pixel, oy then ox ascending, of dy * q, each product rounded
//
// All return 0, or WC_ERR_INPUT (shape or range) with nothing written. `range` is of the result: rows of y, or of dx in the
// gradients; the rest is left alone. Results must not overlap the operands.
#ifndef WC_GOLDEN_POOL_H
#define WC_GOLDEN_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csim/golden/range.h"
#include "traces/error.h"

enum { GOLDEN_POOL_AREA_MAX = 1 << 24 }; // taps of a window: up to here their number is a binary32 value

// Max and average.
struct golden_pool {
	int batch;
	int in_h, in_w, channels;
	int out_h, out_w;   // as golden_conv_output() gives them without dilation
	int kernel_h, kernel_w;
	int stride_h, stride_w;
	int pad_h, pad_w;   // the same on both sides, less than the kernel, so that every window sees the image
};

struct golden_adaptive_pool {
	int batch;
	int in_h, in_w, channels;
	int out_h, out_w;   // any, also larger than the image
};

// Index rows: ceil(log2(kernel_h kernel_w)) bits per output element, its window's tap number; elements in (w, c) order, least
// significant bit first, each (n, y) row from a byte on and its last byte filled with 0. A 1x1 kernel has none.
int golden_pool_index_bits(const struct golden_pool *pool);
size_t golden_pool_index_row_bytes(const struct golden_pool *pool);
static inline size_t golden_pool_index_bytes(const struct golden_pool *pool)
{
	return (size_t)pool->batch * pool->out_h * golden_pool_index_row_bytes(pool);
}

bool golden_pool_valid(const struct golden_pool *pool);
bool golden_adaptive_pool_valid(const struct golden_adaptive_pool *pool);
// The global average's shape.
struct golden_pool golden_pool_global(int batch, int height, int width, int channels);

// `index` has the rows of y, golden_pool_index_bytes() of them in all; NULL: none is written.
int golden_max_pool(const struct golden_pool *pool, const uint16_t *x, struct golden_range range, uint16_t *y, uint8_t *index,
		    struct wc_error *err);
// An index that names a tap in the padding or none at all adds to no pixel; golden_max_pool() makes no such one.
int golden_max_pool_gradient(const struct golden_pool *pool, const uint16_t *dy, const uint8_t *index, struct golden_range range,
			     uint16_t *dx, struct wc_error *err);

int golden_average_pool(const struct golden_pool *pool, const uint16_t *x, struct golden_range range, uint16_t *y,
			struct wc_error *err);
int golden_average_pool_gradient(const struct golden_pool *pool, const uint16_t *dy, struct golden_range range, uint16_t *dx,
				 struct wc_error *err);

int golden_adaptive_pool(const struct golden_adaptive_pool *pool, const uint16_t *x, struct golden_range range, uint16_t *y,
			 struct wc_error *err);
int golden_adaptive_pool_gradient(const struct golden_adaptive_pool *pool, const uint16_t *dy, struct golden_range range,
				  uint16_t *dx, struct wc_error *err);

#endif
