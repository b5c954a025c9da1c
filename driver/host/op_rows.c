// SPDX-License-Identifier: Apache-2.0
//
// Elements of rows of values; see op.h.
#include "driver/host/op.h"

static bool in_run(const struct op_rows *rows, uint64_t element)
{
	const uint64_t at = element - rows->first;

	if (element < rows->first)
		return false;
	if (op_rows_runs(rows) == 1)
		return at < rows->count;
	return at / rows->run_step < op_rows_runs(rows) && at % rows->run_step < rows->run;
}

bool op_rows_hold(const struct op_rows *rows, int sample, int row, int vector, uint64_t element)
{
	return sample >= rows->sample_first && sample < rows->sample_first + rows->sample_count && row >= rows->lo && row < rows->hi &&
	       (row - rows->lo) % rows->row_step == 0 && vector >= rows->vector_first && vector < rows->vector_first + rows->vector_count &&
	       in_run(rows, element);
}

uint64_t op_rows_address(const struct op_rows *rows, int sample, int row, int vector, uint64_t element)
{
	const bool one = op_rows_runs(rows) == 1;
	const uint64_t at = element - rows->first, run = one ? 0 : at / rows->run_step, rest = one ? at : at % rows->run_step;

	return rows->base + (uint64_t)(sample - rows->sample_first) * rows->sample_stride +
	       (uint64_t)((row - rows->lo) / rows->row_step) * rows->row_stride + (uint64_t)(vector - rows->vector_first) * rows->vector_stride +
	       run * rows->run_stride + rest * (uint64_t)rows->bits / 8;
}
