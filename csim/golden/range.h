// SPDX-License-Identifier: Apache-2.0
//
// A strip of a feature map: what the operators that work on rows are asked for.
#ifndef WC_GOLDEN_RANGE_H
#define WC_GOLDEN_RANGE_H

#include "traces/error.h"

// Rows [row_lo, row_hi) of samples [sample_lo, sample_hi) of a feature map. As a cut of a weight gradient: the output
// pixels that it sums over.
struct golden_range {
	int sample_lo, sample_hi;
	int row_lo, row_hi;
};

// 0 if the range lies inside `batch` samples of `height` rows (it may be empty), else WC_ERR_INPUT.
int golden_range_check(struct golden_range range, int batch, int height, struct wc_error *err);

#endif
