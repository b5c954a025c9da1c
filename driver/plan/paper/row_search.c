// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/row_search.h"

#include <stdlib.h>
#include <string.h>

#include "driver/plan/build.h"
#include "driver/plan/operands.h"
#include "driver/plan/paper/occupancy.h"

int row_search_init(struct row_search *search, struct paper_planner *paper, enum sched_tiling tiling)
{
	const size_t nodes = (size_t)paper->graph.net->node_count;

	*search = (struct row_search){ .paper = paper, .tiling = tiling, .scratch = *paper->schedule };
	search->scratch.groups = NULL;
	search->scratch.group_count = 0;
	search->room = (int64_t)paper->schedule->buffer_bytes - paper->schedule->reserve_bytes;
	search->reads = calloc(nodes, sizeof(*search->reads));
	search->sums = calloc(nodes, sizeof(*search->sums));
	return search->reads && search->sums ? 0 : wc_fail(paper->err, WC_ERR_SYSTEM, "out of memory");
}

void row_search_release(struct row_search *search)
{
	free(search->reads);
	free(search->sums);
}

static int build(struct row_search *search, const struct row_segment *segment, enum sched_phase phase, int strips, bool hold, bool probe,
		 struct sched_group *group)
{
	const struct row_build build = {
		.graph = &search->paper->graph,
		.first = segment->first,
		.last = segment->last,
		.phase = phase,
		.tiling = search->tiling,
		.strips = strips,
		.hold = hold,
		.training = search->paper->options->phases == PLAN_ALL,
		.next_norm = segment->next_norm,
		.probe = probe,
	};
	const bool covers_norm = phase == SCHED_FORWARD ? segment->next_norm : row_applies(&build);
	int rc;

	// A group covers whatever its statements run.
	if (build_group_init(group, phase, segment->first, covers_norm ? segment->next_norm : segment->last, build.graph->net->node_count))
		return wc_fail(search->paper->err, WC_ERR_SYSTEM, "out of memory");
	rc = row_build(&build, group, search->paper->err);
	if (rc)
		sched_group_release(group);
	return rc;
}

static void count_statement(struct row_search *search, enum sched_phase phase, const struct sched_statement *statement)
{
	const struct net *net = search->paper->graph.net;
	int remade[SCHED_LIST_MAX];
	const int count = operand_remade(net, statement, remade, SCHED_LIST_MAX);

	for (int i = 0; i < count; i++)
		search->reads[remade[i]]++;
	if (statement->op == SCHED_COMPUTE)
		search->reads[statement->tensor == SCHED_ACT ? statement->node : operand_chain(net, statement, 0)]++;
	else if (statement->op == SCHED_ACCUMULATE || (statement->op == SCHED_STATISTICS && phase == SCHED_BACKWARD))
		search->sums[statement->node]++;
}

// Statements of one iteration that read a node's parameters, or write the sums of their gradients.
static void count_parameters(struct row_search *search, const struct sched_group *group)
{
	for (int i = group->first; i <= group->last; i++)
		search->reads[i] = search->sums[i] = 0;
	for (int i = 0; i < group->strip_count; i++)
		for (int k = 0; k < group->strips[i].statement_count; k++)
			count_statement(search, group->phase, &group->strips[i].statements[k]);
	for (int i = group->first; i <= group->last; i++)
		if (!net_parameters(&search->paper->graph.net->nodes[i]))
			search->reads[i] = search->sums[i] = 0;
}

// Bytes that a node's weights, or sums, move beyond those of resident ones, for each byte of room that they would take.
static int64_t gain(const struct row_search *search, int node, bool sums, int iterations)
{
	if (sums)
		return search->sums[node] ? 2 * ((int64_t)iterations * search->sums[node] - 1) : 0;
	return search->reads[node] ? (int64_t)iterations * search->reads[node] - 1 : 0;
}

static struct sched_policy *policy_of(struct sched_group *group, int node, bool sums)
{
	return &(sums ? group->wgrad : group->weight)[node];
}

// Keep in `room` bytes what gains most for its bytes, the last of it in part, and say how many bytes the rest moves beyond the
// resident minimum.
static uint64_t keep_resident(const struct row_search *search, struct sched_group *group, int iterations, int64_t room)
{
	const struct net *net = search->paper->graph.net;
	uint64_t bytes = 0;

	for (int i = group->first; i <= group->last; i++)
		group->weight[i] = group->wgrad[i] = (struct sched_policy){ .resident = false };
	for (;;) {
		int64_t best = 0, need;
		int node = 0, channels;
		bool sums = false;

		for (int i = group->first; i <= group->last; i++)
			for (int side = 0; side < 2; side++)
				if (!policy_of(group, i, side)->resident && gain(search, i, side, iterations) > best) {
					best = gain(search, i, side, iterations);
					node = i;
					sums = side;
				}
		if (!best)
			break;
		need = 2 * net_parameters(&net->nodes[node]);
		channels = need > room ? (int)(room * net->nodes[node].out.channels / need) : 0;
		if (need > room && !channels)
			break;
		*policy_of(group, node, sums) = (struct sched_policy){ .resident = true, .slice = channels };
		room -= (int64_t)operand_resident_bytes(&net->nodes[node], *policy_of(group, node, sums), 2);
	}
	for (int i = group->first; i <= group->last; i++)
		for (int side = 0; side < 2; side++) {
			const uint64_t kept = operand_resident_bytes(&net->nodes[i], *policy_of(group, i, side), 2);

			bytes += (2 * (uint64_t)net_parameters(&net->nodes[i]) - kept) * (uint64_t)gain(search, i, side, iterations);
		}
	return bytes;
}

// Bytes with the parameters moved once. The sums of a normalization whose gradient is applied are made in another group.
static int least_bytes(struct row_search *search, struct sched_group *group, const struct row_segment *segment, uint64_t *bytes)
{
	struct sched_statement sums = { .op = SCHED_STATISTICS, .node = segment->next_norm, .hi = 1 };
	struct sched_strip strip = { .statements = &sums, .statement_count = 1 };
	struct sched_group groups[2] = { { .phase = SCHED_BACKWARD, .strips = &strip, .strip_count = segment->next_norm ? 1 : 0 } };
	struct account_paper account;
	int rc;

	for (int i = group->first; i <= group->last; i++) {
		group->weight[i] = (struct sched_policy){ .resident = search->reads[i] };
		group->wgrad[i] = (struct sched_policy){ .resident = search->sums[i] };
	}
	group->sub_batch = search->paper->options->batch;
	groups[1] = *group;
	search->scratch.groups = groups;
	search->scratch.group_count = 2;
	rc = account_paper_groups(&search->scratch, 1, 1, search->paper->graph.net, &account, search->paper->err);
	*bytes = rc ? 0 : account_paper_bytes(&account);
	return rc;
}

// Sub-batch and resident parameters of least bytes for a group's strips.
static int settle(struct row_search *search, struct sched_group *group, const struct row_segment *segment, struct row_phase *phase)
{
	const int batch = search->paper->options->batch;
	struct paper_occupancy occupancy;
	uint64_t least = 0, most = UINT64_MAX;
	int rc, fits, iterations = 0;

	for (int i = group->first; i <= group->last; i++)
		group->weight[i] = group->wgrad[i] = (struct sched_policy){ .resident = false };
	rc = paper_occupancy(&search->paper->graph, group, &occupancy, search->paper->err);
	if (rc)
		return rc;
	if (occupancy.sample_bytes > search->room)
		return ROW_NO_FIT;
	fits = occupancy.sample_bytes && search->room / occupancy.sample_bytes < batch ? (int)(search->room / occupancy.sample_bytes) : batch;
	count_parameters(search, group);
	rc = least_bytes(search, group, segment, &least);
	if (rc)
		return rc;
	for (int sub_batch = fits; sub_batch > 0; sub_batch--) {
		uint64_t more;

		if (paper_iterations(search->paper, sub_batch) == iterations)
			continue;
		iterations = paper_iterations(search->paper, sub_batch);
		more = keep_resident(search, group, iterations, search->room - sub_batch * occupancy.sample_bytes);
		if (more < most) {
			most = more;
			phase->sub_batch = sub_batch;
		}
		if (!more)
			break;
	}
	group->sub_batch = phase->sub_batch;
	keep_resident(search, group, paper_iterations(search->paper, phase->sub_batch), search->room - phase->sub_batch * occupancy.sample_bytes);
	phase->bytes = least + most;
	phase->sample_bytes = occupancy.sample_bytes;
	phase->node = occupancy.node;
	return 0;
}

// Whether some strips, which stand for all, fit with one sample.
static int probe(struct row_search *search, const struct row_segment *segment, enum sched_phase phase, int strips, bool hold)
{
	struct paper_occupancy occupancy;
	struct sched_group group;
	int rc = build(search, segment, phase, strips, hold, true, &group);

	if (rc)
		return rc;
	rc = paper_occupancy(&search->paper->graph, &group, &occupancy, search->paper->err);
	sched_group_release(&group);
	return rc ? rc : occupancy.sample_bytes > search->room ? ROW_NO_FIT : 0;
}

static int try_hold(struct row_search *search, const struct row_segment *segment, enum sched_phase which, int strips, bool hold, struct row_phase *phase)
{
	struct sched_group group;
	int rc = probe(search, segment, which, strips, hold);

	if (!rc)
		rc = build(search, segment, which, strips, hold, false, &group);
	if (rc)
		return rc;
	*phase = (struct row_phase){ .strips = strips, .hold = hold };
	rc = settle(search, &group, segment, phase);
	if (!rc && !group.strips[0].statement_count)
		*phase = (struct row_phase){ .strips = 0 };
	sched_group_release(&group);
	return rc;
}

// One number of strips in one phase. Backward, what is needed twice is held or streams twice.
static int try_phase(struct row_search *search, const struct row_segment *segment, enum sched_phase which, int strips, struct row_phase *phase)
{
	struct row_phase streams;
	int rc = try_hold(search, segment, which, strips, true, phase), other;

	if (rc < 0 || which == SCHED_FORWARD)
		return rc;
	other = try_hold(search, segment, which, strips, false, &streams);
	if (!other && (rc || streams.bytes < phase->bytes))
		*phase = streams;
	return other < 0 ? other : rc && other ? rc : 0;
}

// The best number of strips for the phases from..to together; more stop being tried when they have become dearer twice in a row.
static int best_strips(struct row_search *search, struct row_segment *segment, enum sched_phase from, enum sched_phase to, int least)
{
	const int rows = search->paper->graph.net->nodes[segment->last].out.height, asked = search->paper->options->strips;
	const int most = asked && asked < rows ? asked : rows;
	uint64_t best = UINT64_MAX;
	int dearer = 0;

	for (int strips = asked || least > most ? most : least; strips <= most && dearer < 2; strips += 1 + strips / 8) {
		struct row_phase phases[2] = { { .bytes = 0 } };
		int rc = 0;

		for (enum sched_phase phase = from; !rc && phase <= to; phase++)
			rc = try_phase(search, segment, phase, strips, &phases[phase]);
		if (rc < 0)
			return rc;
		if (rc)
			continue;
		if (phases[0].bytes + phases[1].bytes >= best) {
			dearer++;
			continue;
		}
		best = phases[0].bytes + phases[1].bytes;
		dearer = 0;
		for (enum sched_phase phase = from; phase <= to; phase++)
			segment->phases[phase] = phases[phase];
	}
	return best == UINT64_MAX ? ROW_NO_FIT : 0;
}

int row_decide(struct row_search *search, struct row_segment *segment, int least)
{
	const bool training = search->paper->options->phases == PLAN_ALL;
	int rc;

	memset(segment->phases, 0, sizeof(segment->phases));
	// With 2PS, the lines that forward stores are those of its strips.
	if (search->tiling == SCHED_TILING_2PS && training)
		return best_strips(search, segment, SCHED_FORWARD, SCHED_BACKWARD, least);
	rc = best_strips(search, segment, SCHED_FORWARD, SCHED_FORWARD, least);
	if (!rc && training)
		rc = best_strips(search, segment, SCHED_BACKWARD, SCHED_BACKWARD, least);
	return rc;
}

int row_make_group(struct row_search *search, const struct row_segment *segment, enum sched_phase phase, struct sched_group *group)
{
	struct row_phase again = segment->phases[phase];
	int rc = build(search, segment, phase, again.strips, again.hold, false, group);

	if (rc)
		return rc;
	rc = settle(search, group, segment, &again);
	if (rc)
		sched_group_release(group);
	return rc;
}
