// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/hybrid/template_internal.h"

#include <stdlib.h>
#include <string.h>

// Room for one more element; capacities are the powers of two.
static void *grow(struct hybrid_template *template, void *array, int count, size_t bytes)
{
	void *larger;

	if (count & (count - 1))
		return array;
	larger = reallocarray(array, count ? (size_t)count * 2 : 1, bytes);
	if (!larger)
		template->failed = true;
	return larger;
}

int template_step(struct hybrid_template *template, enum hybrid_step_kind kind, int node)
{
	struct hybrid_step *steps = grow(template, template->steps, template->step_count, sizeof(*steps));

	if (!steps)
		return 0;
	template->steps = steps;
	steps[template->step_count] = (struct hybrid_step){ kind, node };
	return template->step_count++;
}

int template_slab(struct hybrid_template *template, const struct hybrid_view *view, enum sched_tensor tensor, int node)
{
	struct hybrid_slab *slabs;

	for (int i = 0; i < template->slab_count; i++)
		if (template->slabs[i].tensor == tensor && template->slabs[i].node == node)
			return i;
	slabs = grow(template, template->slabs, template->slab_count, sizeof(*slabs));
	if (!slabs)
		return -1;
	template->slabs = slabs;
	slabs[template->slab_count] = (struct hybrid_slab){ .tensor = tensor, .node = node, .turns = HYBRID_NEVER_TURNS, .bytes = paper_bytes(view->graph, node) };
	return template->slab_count++;
}

struct hybrid_event *template_event(struct hybrid_template *template, int slab, int step, bool makes)
{
	static struct hybrid_event none;
	struct hybrid_slab *of;
	struct hybrid_event *events;

	if (slab < 0)
		return &none;
	of = &template->slabs[slab];
	if (of->event_count && of->events[of->event_count - 1].step == step) {
		of->events[of->event_count - 1].makes |= makes;
		return &of->events[of->event_count - 1];
	}
	events = grow(template, of->events, of->event_count, sizeof(*events));
	if (!events)
		return &none;
	of->events = events;
	events[of->event_count] = (struct hybrid_event){ .step = step, .makes = makes };
	return &events[of->event_count++];
}

void template_operand(struct hybrid_template *template, int slab, int step, bool weights)
{
	template_event(template, slab, step, false)->whole |= weights;
}

void template_pair(struct hybrid_template *template, int step, int in, int out)
{
	struct hybrid_pair *pairs = grow(template, template->pairs, template->pair_count, sizeof(*pairs));

	if (!pairs)
		return;
	template->pairs = pairs;
	pairs[template->pair_count++] = (struct hybrid_pair){ step, in, out };
}

void hybrid_template_release(struct hybrid_template *template)
{
	for (int i = 0; i < template->slab_count; i++)
		free(template->slabs[i].events);
	free(template->slabs);
	free(template->steps);
	free(template->pairs);
	free(template->again);
	*template = (struct hybrid_template){ .failed = false };
}

int64_t hybrid_slab_moves(const struct hybrid_slab *slab, const bool *bridged)
{
	int64_t bytes = slab->loads ? slab->bytes : 0;
	bool copied = slab->copied;

	for (int i = 0; i < slab->event_count; i++) {
		if (slab->events[i].makes)
			copied = slab->stored;
		if (i + 1 == slab->event_count || bridged[i])
			continue;
		bytes += copied ? slab->bytes : 2 * slab->bytes;
		copied = true;
	}
	return bytes + (slab->leaves && !copied ? slab->bytes : 0);
}

// Tensors that a module takes from the one before it.
const struct paper_list *template_inputs(const struct hybrid_view *view, int module)
{
	const struct net *net = view->graph->net;

	return &view->graph->pieces[net->nodes[net->modules[module].first].inputs[0]];
}

const struct paper_list *template_outputs(const struct hybrid_view *view, int module)
{
	return &view->graph->pieces[paper_module_last(view->graph, module)];
}

static int entry_slab(struct hybrid_template *template, const struct hybrid_view *view, int leaf, const bool *stored, bool border)
{
	const int value = view->nodes[leaf].value;
	const int index = template_slab(template, view, SCHED_ACT, value);

	if (index < 0)
		return index;
	template->slabs[index].loads = border || value == 0;
	template->slabs[index].copied = border || value == 0 || stored[value];
	template->slabs[index].stored = template->slabs[index].copied;
	return index;
}

void hybrid_forward(struct hybrid_template *template, const struct hybrid_view *view, int module, struct hybrid_edges edges, const bool *stored)
{
	const struct paper_graph *graph = view->graph;
	const struct net *net = graph->net;
	const struct paper_list *inputs = template_inputs(view, module), *outputs = template_outputs(view, module);
	int entry, end;

	*template = (struct hybrid_template){ .failed = false };
	entry = template_step(template, HYBRID_ENTRY, -1);
	for (int i = 0; i < inputs->count; i++) {
		const int slab = entry_slab(template, view, inputs->items[i], stored, edges.in_border);

		if (slab >= 0 && !template->slabs[slab].loads)
			template_event(template, slab, entry, false);
	}
	for (int node = net->modules[module].first; node <= paper_module_last(graph, module); node++) {
		int step, out;

		if (view->nodes[node].made < 0)
			continue;
		step = template_step(template, HYBRID_FORWARD, node);
		out = template_slab(template, view, SCHED_ACT, view->nodes[node].made);
		for (int i = 0; i < net->nodes[node].input_count; i++) {
			const struct paper_list *pieces = &graph->pieces[net->nodes[node].inputs[i]];

			for (int k = 0; k < pieces->count; k++) {
				const int slab = template_slab(template, view, SCHED_ACT, view->nodes[pieces->items[k]].value);

				template_operand(template, slab, step, net_macs(&net->nodes[node]) > 0);
				if (net->nodes[node].op == NET_ADD)
					template_pair(template, step, slab, out);
			}
		}
		// What a ReLU works on in place is in the buffer for that.
		template_event(template, out, step, true)->whole = view->nodes[view->nodes[node].made].plain != view->nodes[node].made;
		if (out >= 0)
			template->slabs[out].stored = stored[view->nodes[node].made];
	}
	end = template_step(template, HYBRID_EXIT, -1);
	for (int i = 0; i < outputs->count; i++) {
		const int slab = template_slab(template, view, SCHED_ACT, view->nodes[outputs->items[i]].value);

		if (slab < 0)
			return;
		template->slabs[slab].leaves = edges.out_border && !template->slabs[slab].stored;
		template->slabs[slab].stays = !edges.out_border;
		if (!edges.out_border)
			template_event(template, slab, end, false);
	}
}
