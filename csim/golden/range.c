// SPDX-License-Identifier: Apache-2.0
#include "csim/golden/range.h"

int golden_range_check(struct golden_range range, int batch, int height, struct wc_error *err)
{
	if (range.sample_lo < 0 || range.sample_lo > range.sample_hi || range.sample_hi > batch || range.row_lo < 0 ||
	    range.row_lo > range.row_hi || range.row_hi > height)
		return wc_fail(err, WC_ERR_INPUT, "samples %d:%d, rows %d:%d: outside %d samples of %d rows", range.sample_lo,
			       range.sample_hi, range.row_lo, range.row_hi, batch, height);
	return 0;
}
