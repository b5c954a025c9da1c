// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/row_choose.h"

#include <stdlib.h>

#include "driver/plan/build.h"

static const struct net_node *node_of(const struct row_choice *choice, int node)
{
	return &choice->paper->graph.net->nodes[node];
}

static int node_count(const struct row_choice *choice)
{
	return choice->paper->graph.net->node_count;
}

static bool trains(const struct row_choice *choice)
{
	return choice->paper->options->phases == PLAN_ALL;
}

// Whether `node` reads the node before it and nothing else does.
static bool follows(const struct row_choice *choice, int node)
{
	return node_of(choice, node)->inputs[0] == node - 1 && node_of(choice, node - 1)->consumer_count == 1;
}

static void find_runs(struct row_choice *choice)
{
	const int count = node_count(choice);

	for (int node = count - 1, last = 0; node > 0; node--) {
		if (!row_tileable(node_of(choice, node)))
			continue;
		if (node + 1 == count || !row_tileable(node_of(choice, node + 1)) || !follows(choice, node + 1))
			last = node;
		choice->run[node] = last;
	}
	for (int node = 1; node < count; node++) {
		int last = node;

		if (!choice->run[node] || (node_of(choice, node)->op == NET_RELU && choice->run[node - 1] == choice->run[node]))
			continue;
		while (last < choice->run[node] && node_of(choice, last + 1)->op == NET_RELU)
			last++;
		choice->unit[node] = last;
	}
}

// A normalization begins a run that reads it alone. Its input is read row by row, so it must be one tensor.
static void find_norms(struct row_choice *choice)
{
	const struct paper_list *pieces = choice->paper->graph.pieces;

	for (int node = 1; node + 1 < node_count(choice); node++) {
		if (node_of(choice, node)->op != NET_GN || !choice->run[node + 1] || !follows(choice, node + 1) ||
		    node_of(choice, node_of(choice, node)->inputs[0])->op == NET_CONCAT || pieces[node_of(choice, node)->inputs[0]].count != 1)
			continue;
		choice->run[node] = choice->run[node + 1];
		choice->unit[node] = choice->unit[node + 1];
	}
}

// The normalization that alone reads a segment's output, right behind it.
static int norm_behind(const struct row_choice *choice, int last)
{
	return last + 1 < node_count(choice) && node_of(choice, last + 1)->op == NET_GN && follows(choice, last + 1) ? last + 1 : 0;
}

// Groups of a schedule of their own, to count their bytes.
struct layer_groups {
	struct row_choice *choice;
	struct schedule scratch;
	int rc;
};

static void add_layer(struct layer_groups *groups, enum sched_phase phase, int node)
{
	if (!groups->rc && (phase == SCHED_FORWARD || trains(groups->choice)))
		groups->rc = paper_emit_layer(&groups->scratch, &groups->choice->paper->graph, phase, node, groups->choice->paper->err);
}

static void add_statistics(struct layer_groups *groups, enum sched_phase phase, int norm)
{
	if (!groups->rc && (phase == SCHED_FORWARD || trains(groups->choice)))
		groups->rc = paper_emit_statistics(&groups->scratch, &groups->choice->paper->graph, phase, norm, groups->choice->paper->err);
}

// Bytes of the groups from `first` on, in the presence of those before.
static uint64_t count_groups(struct layer_groups *groups, int first)
{
	const struct paper_planner *paper = groups->choice->paper;
	struct account_paper account;

	if (!groups->rc)
		groups->rc = account_paper_groups(&groups->scratch, first, groups->scratch.group_count - first, paper->graph.net, &account, paper->err);
	return groups->rc ? 0 : account_paper_bytes(&account);
}

static void count_norm(struct layer_groups *groups, int node)
{
	struct row_layer *layer = &groups->choice->layers[node];
	const bool hands_on = node_of(groups->choice, node_of(groups->choice, node)->inputs[0])->has_gradient;

	add_statistics(groups, SCHED_FORWARD, node);
	layer->unled = count_groups(groups, 0);
	add_layer(groups, SCHED_FORWARD, node);
	layer->led = count_groups(groups, 1);
	build_drop_groups(&groups->scratch);
	add_statistics(groups, SCHED_BACKWARD, node);
	layer->led += count_groups(groups, 0);
	if (hands_on)
		add_layer(groups, SCHED_BACKWARD, node);
	layer->unled += count_groups(groups, groups->scratch.group_count ? 1 : 0);
	build_drop_groups(&groups->scratch);
}

static int count_layers(struct row_choice *choice)
{
	struct layer_groups groups = { .choice = choice, .scratch = *choice->paper->schedule };

	groups.scratch.groups = NULL;
	groups.scratch.group_count = 0;
	for (int node = 1; !groups.rc && node < node_count(choice); node++) {
		if (choice->paper->graph.order[node] < 0)
			continue;
		add_layer(&groups, SCHED_FORWARD, node);
		add_layer(&groups, SCHED_BACKWARD, node);
		choice->layers[node].alone = count_groups(&groups, 0);
		build_drop_groups(&groups.scratch);
		if (node_of(choice, node)->op == NET_GN)
			count_norm(&groups, node);
	}
	build_drop_groups(&groups.scratch);
	return groups.rc;
}

// Decide on all segments that begin at `first`; `best[reach][node]` are the least bytes from a node on. Keeps the best, and says what it and the rest move.
static int try_segments(struct row_choice *choice, int first, uint64_t *const best[2], uint64_t *moves)
{
	const int end = choice->run[first];
	int least = 1;

	*moves = UINT64_MAX;
	for (int at = first; at <= end; at = choice->unit[at] + 1) {
		struct row_segment segment = { .first = first, .last = choice->unit[at], .next_norm = norm_behind(choice, choice->unit[at]) };
		int rc = row_decide(&choice->search, &segment, least);
		uint64_t bytes;

		if (rc < 0)
			return rc;
		bytes = row_segment_bytes(&segment) + best[segment.next_norm ? ROW_LED : ROW_PLAIN][segment.last + 1];
		if (choice->segments[first].first && choice->segments[first].last + 1 == at)
			choice->joined[first] = rc || bytes <= *moves ? 0 : bytes - *moves;
		if (!rc && bytes < *moves) {
			*moves = bytes;
			choice->segments[first] = segment;
		}
		if (!rc)
			least = segment.phases[1].strips && segment.phases[1].strips < segment.phases[0].strips ? segment.phases[1].strips
														 : segment.phases[0].strips;
	}
	return 0;
}

static int choose_at(struct row_choice *choice, int node, bool may_begin, uint64_t *const best[2])
{
	const struct row_layer *layer = &choice->layers[node];
	const bool norm = node_of(choice, node)->op == NET_GN;
	uint64_t moves = UINT64_MAX;
	int rc = may_begin ? try_segments(choice, node, best, &moves) : 0;

	best[ROW_PLAIN][node] = best[ROW_PLAIN][node + 1] + layer->alone;
	best[ROW_LED][node] = best[ROW_PLAIN][node + 1] + (norm ? layer->led : layer->alone);
	for (enum row_reach reach = ROW_PLAIN; moves < UINT64_MAX && reach <= ROW_LED; reach++) {
		const uint64_t all = moves + (norm && reach == ROW_PLAIN ? layer->unled : 0);

		choice->begins[reach][node] = all < best[reach][node];
		if (choice->begins[reach][node])
			best[reach][node] = all;
	}
	return rc;
}

// From the last node to the first: the least bytes from each on.
static int choose_segments(struct row_choice *choice)
{
	const int count = node_count(choice);
	uint64_t *bytes = calloc(2 * ((size_t)count + 1), sizeof(*bytes));
	uint64_t *const best[2] = { bytes, bytes + count + 1 };
	int rc = bytes ? 0 : wc_fail(choice->paper->err, WC_ERR_SYSTEM, "out of memory"), entry = 1;

	while (entry < count && !choice->run[entry])
		entry++;
	for (int node = count - 1; !rc && node > 0; node--)
		rc = choose_at(choice, node, choice->unit[node] && (choice->hybrid || node == entry), best);
	free(bytes);
	return rc;
}

int row_choose(struct row_choice *choice, struct paper_planner *paper, enum sched_tiling tiling, bool hybrid)
{
	const size_t nodes = (size_t)paper->graph.net->node_count;
	int rc;

	*choice = (struct row_choice){ .paper = paper, .hybrid = hybrid };
	rc = row_search_init(&choice->search, paper, tiling);
	choice->layers = calloc(nodes, sizeof(*choice->layers));
	choice->run = calloc(nodes, sizeof(*choice->run));
	choice->unit = calloc(nodes, sizeof(*choice->unit));
	choice->segments = calloc(nodes, sizeof(*choice->segments));
	choice->begins[ROW_PLAIN] = calloc(nodes, sizeof(bool));
	choice->begins[ROW_LED] = calloc(nodes, sizeof(bool));
	choice->joined = calloc(nodes, sizeof(*choice->joined));
	if (!choice->layers || !choice->run || !choice->unit || !choice->segments || !choice->begins[ROW_PLAIN] || !choice->begins[ROW_LED] || !choice->joined)
		rc = wc_fail(paper->err, WC_ERR_SYSTEM, "out of memory");
	if (!rc) {
		find_runs(choice);
		find_norms(choice);
		rc = count_layers(choice);
	}
	return rc ? rc : choose_segments(choice);
}

void row_choice_release(struct row_choice *choice)
{
	row_search_release(&choice->search);
	free(choice->layers);
	free(choice->run);
	free(choice->unit);
	free(choice->segments);
	free(choice->begins[ROW_PLAIN]);
	free(choice->begins[ROW_LED]);
	free(choice->joined);
}
