// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/hybrid/tiles.h"

#include <stdlib.h>

#include "driver/plan/account_paper.h"
#include "driver/plan/build.h"
#include "driver/plan/paper/hybrid/tile.h"
#include "driver/plan/paper/occupancy.h"

// Activations and gradients, and in backward masks in both directions.
static int count_moves(const struct hybrid_search *search, struct sched_group *group, int64_t *moves)
{
	struct schedule scratch = *search->planner->schedule;
	struct account_paper account;
	int rc;

	scratch.groups = group;
	scratch.group_count = 1;
	rc = account_paper_groups(&scratch, 0, 1, search->view->graph->net, &account, search->planner->err);
	*moves = (int64_t)(account.read_bytes[WC_CLASS_ACTIVATION] + account.write_bytes[WC_CLASS_ACTIVATION] + account.read_bytes[WC_CLASS_GRADIENT] +
			   account.write_bytes[WC_CLASS_GRADIENT] + account.mask_read_bits / 4);
	return rc;
}

// What forward writes for backward of these modules, or, forward, what it would write twice.
static int64_t stored_bytes(const struct hybrid_search *search, const struct hybrid_chain *chain, enum sched_phase phase)
{
	int64_t bytes = 0;

	for (int i = 1; i <= chain->count; i++)
		if (search->view->nodes[chain->values[i]].kept && (phase == SCHED_BACKWARD || i == chain->count))
			bytes += paper_bytes(search->view->graph, chain->values[i]);
	return bytes * search->planner->options->batch * (phase == SCHED_FORWARD ? -1 : 1);
}

static int try_strips(struct hybrid_tilings *tilings, const struct hybrid_search *search, const struct hybrid_chain *chain, const bool *nothing,
		      struct sched_group *group, int strips, int64_t room)
{
	struct hybrid_tiling tiling = { .strips = strips };
	struct paper_occupancy occupancy;
	int rc = hybrid_tile(group, chain, search->view, strips, nothing, search->planner->err);

	if (!rc)
		rc = paper_occupancy(search->view->graph, group, &occupancy, search->planner->err);
	if (rc || occupancy.sample_bytes > room)
		return rc;
	rc = count_moves(search, group, &tiling.moves);
	tiling.need = occupancy.sample_bytes;
	tiling.moves += stored_bytes(search, chain, group->phase);
	tilings->list[tilings->count++] = tiling;
	return rc;
}

static void drop_strips(struct sched_group *group)
{
	for (int i = 0; i < group->strip_count; i++)
		free(group->strips[i].statements);
	free(group->strips);
	group->strips = NULL;
	group->strip_count = 0;
}

int hybrid_tilings_find(struct hybrid_tilings *tilings, const struct hybrid_search *search, enum sched_phase phase, int first, int last, int64_t room)
{
	const struct net *net = search->view->graph->net;
	struct hybrid_chain chain;
	struct sched_group group;
	bool *nothing;
	int rc = 0;

	*tilings = (struct hybrid_tilings){ .count = 0 };
	if (!hybrid_chain_find(&chain, search->view, first, last))
		return 0;
	nothing = calloc((size_t)net->node_count, sizeof(*nothing));
	if (!nothing || build_group_init(&group, phase, net->modules[first].first, paper_module_last(search->view->graph, last), net->node_count)) {
		free(nothing);
		return wc_fail(search->planner->err, WC_ERR_SYSTEM, "out of memory");
	}
	group.sub_batch = search->planner->options->batch;
	for (int strips = 1; !rc && strips <= hybrid_chain_rows(&chain, search->view, phase) && tilings->count < HYBRID_TILINGS_MAX;) {
		rc = try_strips(tilings, search, &chain, nothing, &group, strips, room);
		drop_strips(&group);
		// More strips than leave room for everything else gain nothing.
		if (tilings->count && tilings->list[tilings->count - 1].need * 16 < room)
			break;
		strips += strips < 4 ? 1 : strips / 3;
	}
	sched_group_release(&group);
	free(nothing);
	return rc == HYBRID_UNFIT ? 0 : rc;
}
