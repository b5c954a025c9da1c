// SPDX-License-Identifier: Apache-2.0
//
// One statement on the rows of the sample that stands for all: is what it reads there, is what it writes new.
#include "driver/plan/check/internal.h"

static void clear_flags(struct check_state *state, unsigned flags)
{
	for (int tensor = SCHED_ACT; tensor <= SCHED_MASK; tensor++) {
		for (int node = 0; node < state->net->node_count; node++) {
			uint16_t *rows = check_flags(state, (enum sched_tensor)tensor, node);

			for (int y = 0; y < state->net->nodes[node].out.height; y++)
				rows[y] &= (uint16_t)~flags;
		}
	}
}

void check_begin_group(struct check_state *state)
{
	clear_flags(state, ROW_KEPT_BEFORE);
}

void check_begin_strip(struct check_state *state)
{
	clear_flags(state, ROW_FILLED | ROW_FETCHED | ROW_READ | ROW_KEPT);
}

// The first run of rows in `rows` that have one of `flags` (wanted) or none of them (!wanted); empty if there is none.
static struct row_range find_rows(const uint16_t *flags, struct row_range rows, unsigned any, bool wanted)
{
	struct row_range found = {rows.lo, rows.lo};

	while (found.lo < rows.hi && ((flags[found.lo] & any) != 0) != wanted)
		found.lo++;
	found.hi = found.lo;
	while (found.hi < rows.hi && ((flags[found.hi] & any) != 0) == wanted)
		found.hi++;
	return found;
}

static void set_flags(uint16_t *flags, struct row_range rows, unsigned set)
{
	for (int y = rows.lo; y < rows.hi; y++)
		flags[y] |= (uint16_t)set;
}

static const char *layer_name(const struct check_state *state, const struct row_use *use)
{
	return state->net->nodes[use->node].name;
}

// Every row of `use` must have one of `flags`.
static int require(struct check_state *state, enum check_kind kind, const struct row_use *use, unsigned flags, const char *holder)
{
	struct row_range missing = find_rows(check_flags(state, use->tensor, use->node), use->rows, flags, false);
	struct check_rows_fault fault = {use->tensor, use->node, use->rows, missing, flags, holder};

	if (missing.lo >= missing.hi)
		return 0;
	return check_fail_rows(state, kind, &fault, "needs %s:%s rows %d:%d, rows %d:%d are missing", check_tensor_name(use->tensor),
			       layer_name(state, use), use->rows.lo, use->rows.hi, missing.lo, missing.hi);
}

// No row of `use` may have `flag`; then all get it.
static int mark_once(struct check_state *state, const struct row_use *use, unsigned flag, const char *done, const char *holder)
{
	uint16_t *flags = check_flags(state, use->tensor, use->node);
	struct row_range again = find_rows(flags, use->rows, flag, true);
	struct check_rows_fault fault = {use->tensor, use->node, use->rows, again, flag, holder};

	if (again.lo < again.hi)
		return check_fail_rows(state, CHECK_TWICE, &fault, "%s:%s rows %d:%d are %s a second time", check_tensor_name(use->tensor),
				       layer_name(state, use), again.lo, again.hi, done);
	set_flags(flags, use->rows, flag);
	return 0;
}

static int read_slabs(struct check_state *state, const struct sched_statement *statement)
{
	struct row_use uses[CHECK_USES_MAX];
	int count = check_reads(state->net, statement, uses);

	for (int i = 0; i < count; i++) {
		if (require(state, CHECK_ABSENT, &uses[i], ROW_FILLED, "the slab has") != 0)
			return WC_ERR_INPUT;
		set_flags(check_flags(state, uses[i].tensor, uses[i].node), uses[i].rows, ROW_READ);
	}
	return 0;
}

static int fill_slabs(struct check_state *state, const struct sched_statement *statement)
{
	struct row_use uses[CHECK_USES_MAX];
	int count = check_fills(state->net, statement, uses);

	for (int i = 0; i < count; i++) {
		if (mark_once(state, &uses[i], ROW_FILLED, "filled", "the slab has") != 0)
			return WC_ERR_INPUT;
		if (statement->op != SCHED_COMPUTE)
			set_flags(check_flags(state, uses[i].tensor, uses[i].node), uses[i].rows, ROW_FETCHED);
	}
	return 0;
}

static int fetch(struct check_state *state, const struct sched_statement *statement, const struct row_use *use)
{
	const struct sched_group *group = check_group(state);
	unsigned kept = 0;

	if (statement->op == SCHED_LOAD)
		return require(state, CHECK_NOT_STORED, use, ROW_STORED, "DRAM has");
	if (group->tiling != SCHED_TILING_OVERL)
		kept |= ROW_KEPT_BEFORE;
	if (group->phase == SCHED_BACKWARD)
		kept |= ROW_KEPT_FORWARD;
	return require(state, CHECK_NOT_KEPT, use, kept, "the boundary has");
}

// Count a computation's work, and refuse rows that its group may not compute again.
static int compute(struct check_state *state, const struct row_use *use)
{
	const struct sched_group *group = check_group(state);
	uint16_t *flags = check_flags(state, use->tensor, use->node);
	uint64_t row_macs = (uint64_t)state->schedule->batch * check_row_macs(&state->net->nodes[use->node]);
	bool recompute = use->tensor == SCHED_ACT && group->phase == SCHED_BACKWARD;
	uint64_t rows = (uint64_t)(use->rows.hi - use->rows.lo), again = 0;

	for (int y = use->rows.lo; y < use->rows.hi; y++) {
		if (recompute || (flags[y] & ROW_COMPUTED) != 0)
			again++;
	}
	if (use->tensor == SCHED_ACT) {
		state->result->macs += rows * row_macs;
		state->result->extra_macs += again * row_macs;
	} else {
		state->gradients[use->node].rows += rows;
		state->gradients[use->node].again += again;
	}
	if (recompute)
		return 0;
	if (group->tiling != SCHED_TILING_OVERL)
		return mark_once(state, use, ROW_COMPUTED, "computed", "computed are");
	set_flags(flags, use->rows, ROW_COMPUTED);
	return 0;
}

static int accumulate(struct check_state *state, const struct row_use *use)
{
	int *accumulated_in = &state->accumulated_in[use->node];
	const struct net_node *node = &state->net->nodes[use->node];

	if (check_group(state)->wgrad[use->node].resident && *accumulated_in >= 0 && *accumulated_in != state->place.group)
		return check_fail(state, CHECK_ORDER, use->node, "resident sums start from zero, but group %d has accumulated into '%s'",
				  *accumulated_in, node->name);
	*accumulated_in = state->place.group;
	state->result->macs += (uint64_t)state->schedule->batch * check_row_macs(node) * (uint64_t)(use->rows.hi - use->rows.lo);
	return mark_once(state, use, ROW_ACCUMULATED, "accumulated", "accumulated are");
}

int check_execute_statement(struct check_state *state)
{
	const struct sched_statement *statement = check_statement(state);
	struct row_use use = {statement->tensor, statement->node, {statement->lo, statement->hi}};
	int rc = read_slabs(state, statement);

	if (rc != 0)
		return rc;
	switch (statement->op) {
	case SCHED_LOAD:
	case SCHED_TAKE:
		rc = fetch(state, statement, &use);
		break;
	case SCHED_COMPUTE:
		rc = compute(state, &use);
		break;
	case SCHED_ACCUMULATE:
		rc = accumulate(state, &use);
		break;
	case SCHED_KEEP:
		rc = mark_once(state, &use, ROW_KEPT, "kept", "the boundary has");
		break;
	case SCHED_STORE:
		rc = mark_once(state, &use, ROW_STORED, "stored", "DRAM has");
		break;
	default: // form has refused what belongs to `paper` accounting
		break;
	}
	return rc != 0 ? rc : fill_slabs(state, statement);
}

// In a tiled forward strip, a row fetched but not read, though the layer above reads it somewhere, belongs to another strip.
static int find_unused(struct check_state *state)
{
	const struct sched_statement *statement = check_statement(state);
	struct row_use use = {statement->tensor, statement->node, {statement->lo, statement->hi}};
	uint16_t *flags = check_flags(state, use.tensor, use.node);
	int consumer = net_consumer(state->net, use.node);
	struct row_range unused = use.rows;

	if (use.tensor != SCHED_ACT || consumer < 0)
		return 0;
	while (unused.lo < unused.hi && ((flags[unused.lo] & ROW_READ) != 0 || !check_row_touched(&state->net->nodes[consumer], unused.lo)))
		unused.lo++;
	if (unused.lo == unused.hi)
		return 0;
	for (unused.hi = unused.lo; unused.hi < use.rows.hi && (flags[unused.hi] & ROW_READ) == 0;)
		unused.hi++;
	return check_fail_rows(state, CHECK_UNUSED, &(struct check_rows_fault){use.tensor, use.node, use.rows, unused, ROW_READ, "read are"},
			       "the slab overlaps another strip's: nothing in the strip reads %s:%s rows %d:%d", check_tensor_name(use.tensor),
			       layer_name(state, &use), unused.lo, unused.hi);
}

int check_end_strip(struct check_state *state)
{
	const struct sched_group *group = check_group(state);
	const struct sched_strip *strip = &group->strips[state->place.strip];
	unsigned kept = ROW_KEPT_BEFORE | (group->phase == SCHED_FORWARD ? ROW_KEPT_FORWARD : 0u);

	for (int i = 0; i < strip->statement_count; i++) {
		const struct sched_statement *statement = &strip->statements[i];

		if (group->phase != SCHED_FORWARD || group->tiling == SCHED_TILING_NONE ||
		    (statement->op != SCHED_LOAD && statement->op != SCHED_TAKE))
			continue;
		state->place.statement = i;
		state->place.line = statement->line;
		if (find_unused(state) != 0)
			return WC_ERR_INPUT;
	}
	clear_flags(state, ROW_KEPT_BEFORE);
	for (int i = 0; i < strip->statement_count; i++) {
		const struct sched_statement *statement = &strip->statements[i];

		if (statement->op == SCHED_KEEP)
			set_flags(check_flags(state, statement->tensor, statement->node), (struct row_range){statement->lo, statement->hi}, kept);
	}
	return 0;
}
