// SPDX-License-Identifier: Apache-2.0
//
// Rules of rows: each finds the first run of rows that breaks it.
#include "driver/plan/check/internal.h"

struct row_range check_find_rows(const uint16_t *flags, struct row_range rows, unsigned any, bool wanted)
{
	struct row_range found = {rows.lo, rows.lo};

	while (found.lo < rows.hi && ((flags[found.lo] & any) != 0) != wanted)
		found.lo++;
	found.hi = found.lo;
	while (found.hi < rows.hi && ((flags[found.hi] & any) != 0) == wanted)
		found.hi++;
	return found;
}

void check_set_flags(uint16_t *flags, struct row_range rows, unsigned set)
{
	for (int y = rows.lo; y < rows.hi; y++)
		flags[y] |= (uint16_t)set;
}

void check_clear_flags(uint16_t *flags, struct row_range rows, unsigned clear)
{
	for (int y = rows.lo; y < rows.hi; y++)
		flags[y] &= (uint16_t)~clear;
}

int check_require(struct check_state *state, enum check_kind kind, const struct check_use *use, struct row_range rows, unsigned flags,
		  const char *holder)
{
	struct row_range missing = check_find_rows(check_flags(state, use->tensor, use->node), rows, flags, false);
	struct check_rows_fault fault = {use->tensor, use->node, use->rows, missing, flags, holder};

	if (row_range_empty(missing))
		return 0;
	return check_fail_rows(state, kind, &fault, "needs %s:%s rows %d:%d, rows %d:%d are missing", check_tensor_name(use->tensor),
			       state->net->nodes[use->node].name, use->rows.lo, use->rows.hi, missing.lo, missing.hi);
}

int check_mark_once(struct check_state *state, enum sched_tensor tensor, int node, struct row_range rows, unsigned flag, const char *done,
		    const char *holder)
{
	uint16_t *flags = check_flags(state, tensor, node);
	struct row_range again = check_find_rows(flags, rows, flag, true);
	struct check_rows_fault fault = {tensor, node, rows, again, flag, holder};

	if (!row_range_empty(again))
		return check_fail_rows(state, CHECK_TWICE, &fault, "%s:%s rows %d:%d are %s a second time", check_tensor_name(tensor),
				       state->net->nodes[node].name, again.lo, again.hi, done);
	check_set_flags(flags, rows, flag);
	return 0;
}

void check_slab_rows(const struct check_use *use, struct row_range rows[2])
{
	struct row_range whole = use->rows;

	if (use->passing || row_range_empty(use->stream)) {
		rows[0] = use->passing ? (struct row_range){whole.lo, whole.lo} : whole;
		rows[1] = (struct row_range){whole.hi, whole.hi};
		return;
	}
	rows[0] = (struct row_range){whole.lo, use->stream.lo < whole.hi ? use->stream.lo : whole.hi};
	rows[1] = (struct row_range){use->stream.hi > whole.lo ? use->stream.hi : whole.lo, whole.hi};
}
