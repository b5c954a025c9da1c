// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/footprint_norm.h"

#include <stdlib.h>

#include "driver/plan/rows.h"
#include "traces/error.h"

static void touch(struct footprint_norms *norms, int node, enum footprint_vector vector, int group)
{
	struct footprint_span *span = &norms->spans[node][vector];

	if (span->first > span->last)
		span->first = group;
	span->last = group;
}

// A group has all of a normalization's rows or none: what it makes of some, it makes of all.
static void follow(struct footprint_norms *norms, const struct sched_statement *statement, enum sched_phase phase, int group)
{
	const bool gradient = statement->op == SCHED_COMPUTE && statement->tensor == SCHED_GRAD;
	const int node = gradient ? sched_gradient_reader(norms->net, statement) : statement->node;
	const struct net_node *of = &norms->net->nodes[node];
	const bool sums = gradient || (statement->op == SCHED_STATISTICS && phase == SCHED_BACKWARD);

	if (of->op != NET_GN || (statement->op != SCHED_COMPUTE && statement->op != SCHED_STATISTICS))
		return;
	touch(norms, node, FOOTPRINT_STATISTICS, group);
	if (sums)
		touch(norms, node, FOOTPRINT_SUMS, group);
	if (statement->op == SCHED_STATISTICS && statement->hi - statement->lo < of->out.height)
		touch(norms, node, sums ? FOOTPRINT_ROW_SUMS : FOOTPRINT_ROW_STATISTICS, group);
}

int footprint_norms_init(struct footprint_norms *norms, const struct schedule *schedule, const struct net *net)
{
	*norms = (struct footprint_norms){ .schedule = schedule, .net = net };
	norms->spans = calloc((size_t)net->node_count, sizeof(*norms->spans));
	if (!norms->spans)
		return WC_ERR_SYSTEM;
	for (int i = 0; i < net->node_count; i++)
		for (int vector = 0; vector < FOOTPRINT_VECTORS; vector++)
			norms->spans[i][vector] = (struct footprint_span){ 0, -1 };
	for (int g = 0; schedule->accounting == SCHED_DEVICE && g < schedule->group_count; g++)
		for (int i = 0; i < schedule->groups[g].strip_count; i++)
			for (int k = 0; k < schedule->groups[g].strips[i].statement_count; k++)
				follow(norms, &schedule->groups[g].strips[i].statements[k], schedule->groups[g].phase, g);
	return 0;
}

void footprint_norms_release(struct footprint_norms *norms)
{
	free(norms->spans);
	norms->spans = NULL;
}

// Vectors of a sample: mean and deviation, two sums; of each row two and, forward, what they are shifted by, or four.
static uint64_t vectors(const struct net_node *node, enum footprint_vector vector)
{
	const uint64_t height = (uint64_t)node->out.height;

	return vector == FOOTPRINT_ROW_STATISTICS ? 2 * height + 1 : vector == FOOTPRINT_ROW_SUMS ? 4 * height : 2;
}

uint64_t footprint_norms_bytes(const struct footprint_norms *norms, int group)
{
	uint64_t bytes = 0;

	for (int i = 0; i < norms->net->node_count; i++) {
		const struct net_node *node = &norms->net->nodes[i];

		for (int vector = 0; vector < FOOTPRINT_VECTORS; vector++)
			if (norms->spans[i][vector].first <= group && group <= norms->spans[i][vector].last)
				bytes += vectors(node, (enum footprint_vector)vector) * round_up(4 * (uint64_t)node->out.channels, norms->schedule->bus_bytes);
	}
	return (uint64_t)norms->schedule->batch * bytes;
}
