// SPDX-License-Identifier: Apache-2.0
//
// Row-centric planners (LR-CNN). The plain forms cut the first run that can be cut into rows, from its beginning as far as that saves most; the
// -H forms cut every run into the segments that together move fewest bytes. The rest goes layer by layer, as the baseline does.
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/build.h"
#include "driver/plan/paper/row_choose.h"

static const struct net_node *node_of(const struct row_choice *choice, int node)
{
	return &choice->paper->graph.net->nodes[node];
}

static int append(struct row_choice *choice, struct sched_group *group, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Move a group into the schedule with its reason; NULL: the last one there.
static int append(struct row_choice *choice, struct sched_group *group, const char *format, ...)
{
	struct schedule *schedule = choice->paper->schedule;
	char text[400];
	va_list args;

	if (group && build_append(schedule, group))
		return wc_fail(choice->paper->err, WC_ERR_SYSTEM, "out of memory");
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	schedule->groups[schedule->group_count - 1].reason = strdup(text);
	return schedule->groups[schedule->group_count - 1].reason ? 0 : wc_fail(choice->paper->err, WC_ERR_SYSTEM, "out of memory");
}

// What is about a node that it is not cut into rows.
static void say_barrier(const struct row_choice *choice, int node, char *text, size_t size)
{
	const struct net_node *of = node_of(choice, node);

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

static void say_end(const struct row_choice *choice, const struct row_segment *segment, enum sched_phase phase, char *text, size_t size)
{
	const struct net_node *last = node_of(choice, segment->last);
	const int next = segment->last + 1;
	size_t used;

	if (segment->last == choice->paper->graph.output) {
		snprintf(text, size, "the network's output");
	} else if (last->consumer_count > 1) {
		snprintf(text, size, "'%s' has %d readers", last->name, last->consumer_count);
	} else if (choice->run[segment->first] == segment->last && last->consumers[0] == next && row_tileable(node_of(choice, next))) {
		snprintf(text, size, "'%s' begins another run", node_of(choice, next)->name);
	} else if (choice->run[segment->first] == segment->last) {
		say_barrier(choice, last->consumers[0], text, size);
		used = strlen(text);
		if (segment->next_norm)
			snprintf(text + used, size - used, phase == SCHED_FORWARD ? ", its statistics are made on the way" : ", its gradient is taken on from its sums");
	} else if (choice->joined[segment->first]) {
		snprintf(text, size, "with %s it would move %" PRIu64 " bytes more", node_of(choice, next)->name, choice->joined[segment->first]);
	} else {
		snprintf(text, size, "with %s it does not fit", node_of(choice, next)->name);
	}
}

static int append_segment(struct row_choice *choice, const struct row_segment *segment, enum sched_phase which)
{
	const struct row_phase *phase = &segment->phases[which];
	struct sched_group group;
	char end[300];
	int rc;

	if (!phase->strips)
		return 0;
	rc = row_make_group(&choice->search, segment, which, &group);
	if (rc)
		return rc;
	say_end(choice, segment, which, end, sizeof(end));
	if (!phase->sample_bytes)
		return append(choice, &group, "everything streams in %d strip%s; ends at %s: %s", phase->strips, phase->strips > 1 ? "s" : "",
			      node_of(choice, segment->last)->name, end);
	return append(choice, &group, "%s needs most, %" PRId64 " bytes a sample in %d strip%s: %d of %d fit; ends at %s: %s",
		      node_of(choice, phase->node)->name, phase->sample_bytes, phase->strips, phase->strips > 1 ? "s" : "", phase->sub_batch,
		      choice->paper->options->batch, node_of(choice, segment->last)->name, end);
}

static int append_layer(struct row_choice *choice, enum sched_phase phase, int node)
{
	struct paper_planner *paper = choice->paper;
	const int before = paper->schedule->group_count;
	char text[240];
	int rc = paper_emit_layer(paper->schedule, &paper->graph, phase, node, paper->err);

	if (rc || paper->schedule->group_count == before)
		return rc;
	if (!row_tileable(node_of(choice, node)))
		say_barrier(choice, node, text, sizeof(text));
	else if (choice->hybrid)
		snprintf(text, sizeof(text), "layer by layer: no strips with it move fewer bytes");
	else
		snprintf(text, sizeof(text), "layer by layer: behind the first segment");
	return append(choice, NULL, "%s", text);
}

// A normalization's pass over whole samples, which no segment makes on its way.
static int append_statistics(struct row_choice *choice, enum sched_phase phase, int norm)
{
	struct paper_planner *paper = choice->paper;
	int rc = paper_emit_statistics(paper->schedule, &paper->graph, phase, norm, paper->err);

	return rc ? rc : append(choice, NULL, "gn '%s' needs the %s of whole samples before strips can take it on", node_of(choice, norm)->name,
				phase == SCHED_FORWARD ? "statistics" : "sums");
}

// A step of the plan: a segment, or a layer by itself.
struct step {
	int node;
	const struct row_segment *segment; // NULL: a layer
	enum row_reach reach;
};

static int append_forward(struct row_choice *choice, const struct step *step)
{
	int rc = 0;

	if (!step->segment)
		return append_layer(choice, SCHED_FORWARD, step->node);
	if (step->reach == ROW_PLAIN && node_of(choice, step->node)->op == NET_GN)
		rc = append_statistics(choice, SCHED_FORWARD, step->node);
	return rc ? rc : append_segment(choice, step->segment, SCHED_FORWARD);
}

static int append_backward(struct row_choice *choice, const struct step *step)
{
	const bool norm = node_of(choice, step->node)->op == NET_GN;
	int rc;

	if (!step->segment)
		return norm && step->reach == ROW_LED ? append_statistics(choice, SCHED_BACKWARD, step->node) : append_layer(choice, SCHED_BACKWARD, step->node);
	rc = append_segment(choice, step->segment, SCHED_BACKWARD);
	if (!rc && norm && step->reach == ROW_PLAIN && node_of(choice, node_of(choice, step->node)->inputs[0])->has_gradient)
		rc = append_layer(choice, SCHED_BACKWARD, step->node);
	return rc;
}

static int emit(struct row_choice *choice)
{
	const int count = choice->paper->graph.net->node_count;
	struct step *steps = calloc((size_t)count, sizeof(*steps));
	enum row_reach reach = ROW_PLAIN;
	int rc = steps ? 0 : wc_fail(choice->paper->err, WC_ERR_SYSTEM, "out of memory"), step_count = 0;

	for (int node = 1; !rc && node < count;) {
		const struct row_segment *segment = choice->begins[reach][node] ? &choice->segments[node] : NULL;

		if (segment || choice->paper->graph.order[node] >= 0)
			steps[step_count++] = (struct step){ node, segment, reach };
		node = segment ? segment->last + 1 : node + 1;
		reach = segment && segment->next_norm ? ROW_LED : ROW_PLAIN;
	}
	for (int i = 0; !rc && i < step_count; i++)
		rc = append_forward(choice, &steps[i]);
	for (int i = step_count - 1; !rc && choice->paper->options->phases == PLAN_ALL && i >= 0; i--)
		rc = append_backward(choice, &steps[i]);
	free(steps);
	return rc;
}

static int plan(struct paper_planner *paper, enum sched_tiling tiling, bool hybrid)
{
	struct row_choice choice;
	int rc;

	paper->schedule->reserve_bytes = paper_reserve_bytes(paper->options->buffer_bytes);
	rc = row_choose(&choice, paper, tiling, hybrid);
	if (!rc)
		rc = emit(&choice);
	row_choice_release(&choice);
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
