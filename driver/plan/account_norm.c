// SPDX-License-Identifier: Apache-2.0
//
// Normalizations: partial sums of rows, statistics, sums for the gradient, gamma and beta.
#include "driver/plan/account_internal.h"

static void count_parameters(struct count *count, int index, uint64_t vectors)
{
	if (!count->group->weight[index].resident)
		account_vectors(count, false, WC_CLASS_WEIGHT, &count->net->nodes[index], 2, vectors);
}

// The gradients of gamma and beta, once in an iteration, when the sums of all rows are there.
static void count_parameter_gradients(struct count *count, int index, bool first)
{
	if (count->group->wgrad[index].resident)
		return;
	if (!first)
		account_vectors(count, false, WC_CLASS_WEIGHT_GRADIENT, &count->net->nodes[index], 4, 2);
	account_vectors(count, true, WC_CLASS_WEIGHT_GRADIENT, &count->net->nodes[index], 4, 2);
}

// Rows of a normalization's sums that the group has made before the present statement in the iteration.
static int rows_before(const struct count *count, int node)
{
	int rows = 0;

	for (int i = 0; i <= count->strip; i++) {
		const struct sched_strip *strip = &count->group->strips[i];
		const int end = i < count->strip ? strip->statement_count : count->statement;

		for (int j = 0; j < end; j++)
			if (strip->statements[j].op == SCHED_STATISTICS && strip->statements[j].node == node)
				rows += strip->statements[j].hi - strip->statements[j].lo;
	}
	return rows;
}

// The vector unit makes one number of a group's, in the group's first channel, and spreads it over as many channels as it has lanes. A group that is
// wider takes a pass of its own for it.
static bool is_wide(const struct count *count, const struct net_node *node)
{
	const int rows = count->schedule->rows, columns = 2 * count->schedule->cols, bus = (int)count->schedule->bus_bytes / 2;
	const int lanes = rows > columns ? rows : columns;

	return node->group_channels > (lanes > bus ? lanes : bus);
}

static void count_statistics(struct count *count, int index, struct rows rows, int before)
{
	const struct net_node *node = &count->net->nodes[index];
	const bool forward = count->group->phase == SCHED_FORWARD;
	const int height = node->out.height, partial = forward ? 2 : 4;
	const bool last = before + rows_count(rows) == height, all = rows_count(rows) == height;
	const uint64_t samples = (uint64_t)count->samples;

	if (!forward) {
		account_vectors(count, false, WC_CLASS_STATISTICS, node, 4, 2 * samples);
		count_parameters(count, index, 1);
	} else if (!all) {
		account_vectors(count, rows.lo == 0, WC_CLASS_STATISTICS, node, 4, samples);
	}
	// Of rows: the sums, and backward those of gamma and beta; once all are there: the result, and backward gamma and beta. A shift that the
	// sums of other rows need is set apart.
	account_commands(count, forward ? 1 + last + (!last && rows.lo == 0) : 2 + 3 * last);
	account_commands(count, last && is_wide(count, node));
	if (!last) {
		account_vectors(count, true, WC_CLASS_STATISTICS, node, 4, samples * (uint64_t)(partial * rows_count(rows)));
		return;
	}
	account_vectors(count, false, WC_CLASS_STATISTICS, node, 4, samples * (uint64_t)(partial * rows.lo));
	account_vectors(count, false, WC_CLASS_STATISTICS, node, 4, samples * (uint64_t)(partial * (height - rows.hi)));
	if (!forward)
		count_parameter_gradients(count, index, count->first_iteration);
	account_vectors(count, true, WC_CLASS_STATISTICS, node, 4, 2 * samples);
}

// What a normalization, forward or backward, needs beside its operands; without `statistics` in the group's phase it makes the sums itself.
void account_norm(struct count *count, int index, struct rows rows, bool gradient)
{
	const bool makes = gradient || count->group->phase == SCHED_FORWARD;
	const uint64_t samples = (uint64_t)count->samples;

	if (makes && !use_has_statistics(count->schedule, count->group, index))
		count_statistics(count, index, rows, 0);
	for (int i = 0; i <= gradient; i++)
		account_vectors(count, false, WC_CLASS_STATISTICS, &count->net->nodes[index], 4, 2 * samples);
	// Gamma and beta are moved by one command.
	count_parameters(count, index, gradient ? 1 : 2);
	account_commands(count, 1);
}

void account_statistics(struct count *count, const struct sched_statement *statement)
{
	count_statistics(count, statement->node, (struct rows){ statement->lo, statement->hi }, rows_before(count, statement->node));
}
