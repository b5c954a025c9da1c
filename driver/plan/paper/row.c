// SPDX-License-Identifier: Apache-2.0
//
// Row-centric planners (LR-CNN). What rows can be cut from are runs of convolutions, ReLUs and pools; a normalization needs the
// statistics of whole samples, and a fully connected layer, a join or a branch ends a run too. The plain forms cut the
// first run, from its beginning as far as that saves most; the -H forms cut every run into the segments that together move
// fewest bytes. The rest goes layer by layer, as the baseline does.
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/build.h"
#include "driver/plan/paper/row_search.h"


struct row {
	struct paper_planner *paper;
	struct row_search search;
	bool hybrid;
	uint64_t *alone;              // [node]: bytes of the layer by itself, forward and backward
	int *run;                     // [node]: the last node of the run that it belongs to; 0: none
	int *unit;                    // [node]: the last node of the unit that begins here: a convolution with its ReLUs, or a pool; 0: none begins
	struct row_segment *segments; // [node]: the segment that begins here; first 0: none
	uint64_t *joined;             // [node]: bytes that the segment with the next unit would move more; 0: does not fit
};

static const struct net_node *node_of(const struct row *row, int node)
{
	return &row->paper->graph.net->nodes[node];
}

// Bytes of a few groups in a schedule of their own.
static int layer_bytes(struct row *row, int node, uint64_t *bytes)
{
	struct paper_planner *paper = row->paper;
	struct schedule scratch = *paper->schedule;
	struct account_paper account;
	int rc;

	scratch.groups = NULL;
	scratch.group_count = 0;
	rc = paper_emit_layer(&scratch, &paper->graph, SCHED_FORWARD, node, paper->err);
	if (!rc && paper->options->phases == PLAN_ALL)
		rc = paper_emit_layer(&scratch, &paper->graph, SCHED_BACKWARD, node, paper->err);
	if (!rc)
		rc = account_paper_groups(&scratch, 0, scratch.group_count, paper->graph.net, &account, paper->err);
	*bytes = rc ? 0 : account_paper_bytes(&account);
	for (int i = 0; i < scratch.group_count; i++)
		sched_group_release(&scratch.groups[i]);
	free(scratch.groups);
	return rc;
}

// Whether `node` reads the node before it and nothing else does.
static bool continues(const struct row *row, int node)
{
	return row_tileable(node_of(row, node)) && node_of(row, node)->inputs[0] == node - 1 && node_of(row, node - 1)->consumer_count == 1;
}

static void find_runs(struct row *row)
{
	const int count = row->paper->graph.net->node_count;

	for (int node = count - 1, last = 0; node > 0; node--) {
		if (!row_tileable(node_of(row, node)))
			continue;
		if (node + 1 == count || !row->run[node + 1] || !continues(row, node + 1))
			last = node;
		row->run[node] = last;
	}
	for (int node = 1; node < count; node++) {
		int last = node;

		if (!row->run[node] || (node_of(row, node)->op == NET_RELU && row->run[node - 1] == row->run[node]))
			continue;
		while (last < row->run[node] && node_of(row, last + 1)->op == NET_RELU)
			last++;
		row->unit[node] = last;
	}
}

// A normalization that alone reads the segment's output, right behind it: its statistics are made on the way.
static int statistics_of(const struct row *row, int last)
{
	const struct net_node *node = node_of(row, last);
	const int reader = node->consumer_count == 1 ? node->consumers[0] : 0;

	return reader == last + 1 && node_of(row, reader)->op == NET_GN ? reader : 0;
}

// Bytes that the normalization by itself then saves: it passes over its input once.
static uint64_t statistics_bytes(const struct row *row, const struct row_segment *segment)
{
	return segment->statistics ? (uint64_t)paper_bytes(&row->paper->graph, segment->last) * (uint64_t)row->paper->options->batch : 0;
}

// Decide on all segments that begin at `first`; `best[node]` are the least bytes behind it. Keeps the best.
static int try_segments(struct row *row, int first, uint64_t *best)
{
	const int end = row->run[first];
	int least = 1;

	for (int at = first; at <= end; at = row->unit[at] + 1) {
		struct row_segment segment = { .first = first, .last = row->unit[at], .statistics = statistics_of(row, row->unit[at]) };
		uint64_t bytes, rest;
		int rc = row_decide(&row->search, &segment, least);

		if (rc < 0)
			return rc;
		// With statistics given away, bytes may be below what they save, but never below with the layer that saves them.
		rest = segment.last + 1 < row->paper->graph.net->node_count ? best[segment.last + 1] : 0;
		bytes = row_segment_bytes(&segment) + rest - statistics_bytes(row, &segment);
		if (row->segments[first].first && row->segments[first].last + 1 == at)
			row->joined[first] = rc || bytes <= best[first] ? 0 : bytes - best[first];
		if (!rc && bytes < best[first]) {
			best[first] = bytes;
			row->segments[first] = segment;
		}
		if (!rc)
			least = segment.phases[1].strips && segment.phases[1].strips < segment.phases[0].strips ? segment.phases[1].strips
														 : segment.phases[0].strips;
	}
	return 0;
}

// From the last node to the first: the least bytes from each on.
static int choose_segments(struct row *row)
{
	const int count = row->paper->graph.net->node_count;
	uint64_t *best = calloc((size_t)count + 1, sizeof(*best));
	int rc = best ? 0 : wc_fail(row->paper->err, WC_ERR_SYSTEM, "out of memory"), entry = 1;

	while (entry < count && !row->run[entry])
		entry++;
	for (int node = count - 1; !rc && node > 0; node--) {
		best[node] = best[node + 1] + row->alone[node];
		if (row->unit[node] && (row->hybrid || node == entry))
			rc = try_segments(row, node, best);
	}
	free(best);
	return rc;
}

static int append(struct row *row, struct sched_group *group, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Move a group into the schedule with its reason; NULL: the last one there.
static int append(struct row *row, struct sched_group *group, const char *format, ...)
{
	struct schedule *schedule = row->paper->schedule;
	char text[400];
	va_list args;

	if (group && build_append(schedule, group))
		return wc_fail(row->paper->err, WC_ERR_SYSTEM, "out of memory");
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	schedule->groups[schedule->group_count - 1].reason = strdup(text);
	return schedule->groups[schedule->group_count - 1].reason ? 0 : wc_fail(row->paper->err, WC_ERR_SYSTEM, "out of memory");
}

// What is about a node that it is not cut into rows.
static void say_barrier(const struct row *row, int node, char *text, size_t size)
{
	const struct net_node *of = node_of(row, node);

	switch (of->op) {
	case NET_GN:
		snprintf(text, size, "gn '%s' needs the statistics of whole samples: not split", of->name);
		return;
	case NET_FC:
	case NET_GLOBAL_POOL:
	case NET_ADAPTIVE_POOL:
		snprintf(text, size, "%s '%s' reads whole samples: not split", net_op_name(of->op), of->name);
		return;
	default:
		snprintf(text, size, "%s '%s' joins branches: not split", net_op_name(of->op), of->name);
		return;
	}
}

static void say_end(const struct row *row, const struct row_segment *segment, char *text, size_t size)
{
	const struct net_node *last = node_of(row, segment->last);
	const int next = segment->last + 1;

	if (segment->last == row->paper->graph.output)
		snprintf(text, size, "the network's output");
	else if (last->consumer_count > 1)
		snprintf(text, size, "'%s' has %d readers", last->name, last->consumer_count);
	else if (row->run[segment->first] == segment->last && last->consumers[0] == next && row_tileable(node_of(row, next)))
		snprintf(text, size, "'%s' begins another run", node_of(row, next)->name);
	else if (row->run[segment->first] == segment->last)
		say_barrier(row, last->consumers[0], text, size);
	else if (row->joined[segment->first])
		snprintf(text, size, "with %s it would move %" PRIu64 " bytes more", node_of(row, next)->name, row->joined[segment->first]);
	else
		snprintf(text, size, "with %s it does not fit", node_of(row, next)->name);
}

static int append_segment(struct row *row, const struct row_segment *segment, enum sched_phase which)
{
	const struct row_phase *phase = &segment->phases[which];
	struct sched_group group;
	char end[240];
	int rc;

	if (!phase->strips)
		return 0;
	rc = row_make_group(&row->search, segment, which, &group);
	if (rc)
		return rc;
	say_end(row, segment, end, sizeof(end));
	return append(row, &group, "%s needs most, %" PRId64 " bytes a sample in %d strip%s: %d of %d fit; ends at %s: %s", node_of(row, phase->node)->name,
		      phase->sample_bytes, phase->strips, phase->strips > 1 ? "s" : "", phase->sub_batch, row->paper->options->batch,
		      node_of(row, segment->last)->name, end);
}

static int append_layer(struct row *row, enum sched_phase phase, int node)
{
	struct paper_planner *paper = row->paper;
	const int before = paper->schedule->group_count;
	char text[240];
	int rc = paper_emit_layer(paper->schedule, &paper->graph, phase, node, paper->err);

	if (rc || paper->schedule->group_count == before)
		return rc;
	if (!row_tileable(node_of(row, node)))
		say_barrier(row, node, text, sizeof(text));
	else if (row->hybrid)
		snprintf(text, sizeof(text), "layer by layer: no strips with it move fewer bytes");
	else
		snprintf(text, sizeof(text), "layer by layer: behind the first segment");
	return append(row, NULL, "%s", text);
}

static int emit(struct row *row, enum sched_phase phase)
{
	const int count = row->paper->graph.net->node_count;
	const struct row_segment **at = calloc((size_t)count, sizeof(const struct row_segment *));
	int rc = at ? 0 : wc_fail(row->paper->err, WC_ERR_SYSTEM, "out of memory");

	// Which segment a node belongs to.
	for (int node = 1; !rc && node < count; node++) {
		const struct row_segment *segment = &row->segments[node];

		if (!at[node] && segment->first)
			for (int i = node; i <= segment->last; i++)
				at[i] = segment;
	}
	for (int i = 1; !rc && i < count; i++) {
		const int node = phase == SCHED_FORWARD ? i : count - i;

		if (at[node] && node == (phase == SCHED_FORWARD ? at[node]->first : at[node]->last))
			rc = append_segment(row, at[node], phase);
		else if (!at[node] && row->paper->graph.order[node] >= 0)
			rc = append_layer(row, phase, node);
	}
	free(at);
	return rc;
}

static int find_layers(struct row *row)
{
	int rc = 0;

	for (int node = 1; !rc && node < row->paper->graph.net->node_count; node++)
		if (row->paper->graph.order[node] >= 0)
			rc = layer_bytes(row, node, &row->alone[node]);
	return rc;
}

static int plan(struct paper_planner *paper, enum sched_tiling tiling, bool hybrid)
{
	const size_t nodes = (size_t)paper->graph.net->node_count;
	struct row row = { .paper = paper, .hybrid = hybrid };
	int rc;

	paper->schedule->reserve_bytes = paper_reserve_bytes(paper->options->buffer_bytes);
	rc = row_search_init(&row.search, paper, tiling);
	row.alone = calloc(nodes, sizeof(*row.alone));
	row.run = calloc(nodes, sizeof(*row.run));
	row.unit = calloc(nodes, sizeof(*row.unit));
	row.segments = calloc(nodes, sizeof(*row.segments));
	row.joined = calloc(nodes, sizeof(*row.joined));
	if (!row.alone || !row.run || !row.unit || !row.segments || !row.joined)
		rc = wc_fail(paper->err, WC_ERR_SYSTEM, "out of memory");
	if (!rc) {
		find_runs(&row);
		rc = find_layers(&row);
	}
	if (!rc)
		rc = choose_segments(&row);
	if (!rc)
		rc = emit(&row, SCHED_FORWARD);
	if (!rc && paper->options->phases == PLAN_ALL)
		rc = emit(&row, SCHED_BACKWARD);
	row_search_release(&row.search);
	free(row.alone);
	free(row.run);
	free(row.unit);
	free(row.segments);
	free(row.joined);
	return rc;
}

int paper_overl(struct paper_planner *planner)
{
	return plan(planner, SCHED_TILING_OVERL, false);
}

int paper_2ps(struct paper_planner *planner)
{
	return plan(planner, SCHED_TILING_2PS, false);
}

int paper_overl_h(struct paper_planner *planner)
{
	return plan(planner, SCHED_TILING_OVERL, true);
}

int paper_2ps_h(struct paper_planner *planner)
{
	return plan(planner, SCHED_TILING_2PS, true);
}
