// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/hybrid/options.h"

#include <stdlib.h>
#include <string.h>

enum { CONVOLUTION_STEPS = 8 }; // sets of convolutions tried per module, at most

static int add_option(struct hybrid_options *options, const struct hybrid_search *search, struct hybrid_template template)
{
	struct hybrid_option *list = reallocarray(options->list, (size_t)options->count + 1, sizeof(*list));

	if (!list || template.failed) {
		hybrid_template_release(&template);
		options->list = list ? list : options->list;
		return wc_fail(search->planner->err, WC_ERR_SYSTEM, "out of memory");
	}
	options->list = list;
	list[options->count].template = template;
	// Counted before it is filled, so that release finds it.
	if (hybrid_curve_init(&list[options->count++].curve, &template))
		return wc_fail(search->planner->err, WC_ERR_SYSTEM, "out of memory");
	return 0;
}

// A value that may be made again, and what a byte of it costs.
struct candidate {
	int value;
	double macs_per_byte;
};

static int by_cost(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	if (left->macs_per_byte != right->macs_per_byte)
		return left->macs_per_byte < right->macs_per_byte ? -1 : 1;
	return left->value - right->value;
}

static bool is_output(const struct hybrid_search *search, int module, int value)
{
	const struct paper_graph *graph = search->view->graph;
	const struct paper_list *outputs = &graph->pieces[paper_module_last(graph, module)];

	for (int i = 0; i < outputs->count; i++)
		if (search->view->nodes[outputs->items[i]].value == value)
			return true;
	return false;
}

// Values inside the module that backward needs: pools, or convolutions.
static int candidates(const struct hybrid_search *search, int module, bool convolutions, struct candidate *list)
{
	const struct net *net = search->view->graph->net;
	int count = 0;

	for (int node = net->modules[module].first; node <= paper_module_last(search->view->graph, module); node++) {
		const int value = search->view->nodes[node].made;
		const enum net_op op = net->nodes[node].op;

		if (value < 0 || !search->view->nodes[value].kept || is_output(search, module, value))
			continue;
		if (convolutions ? op == NET_CONV : op == NET_AVG_POOL)
			list[count++] = (struct candidate){ value, (double)net_macs(&net->nodes[node]) / (double)paper_bytes(search->view->graph, value) };
	}
	qsort(list, (size_t)count, sizeof(*list), by_cost);
	return count;
}

static int add_backward(struct hybrid_options *options, const struct hybrid_search *search, int module, struct hybrid_edges edges, const bool *again)
{
	const size_t nodes = (size_t)search->view->graph->net->node_count;
	bool *copy = malloc(nodes);
	struct hybrid_template template;

	if (!copy)
		return wc_fail(search->planner->err, WC_ERR_SYSTEM, "out of memory");
	memcpy(copy, again, nodes);
	hybrid_backward(&template, search->view, module, edges, copy);
	return add_option(options, search, template);
}

static int add_convolutions(struct hybrid_options *options, const struct hybrid_search *search, int module, struct hybrid_edges edges, bool *again,
			    struct candidate *list)
{
	const int count = candidates(search, module, true, list), stride = (count + CONVOLUTION_STEPS - 1) / CONVOLUTION_STEPS;
	int rc = 0;

	for (int i = 0; !rc && i < count; i++) {
		const bool last = i + 1 == count;

		again[list[i].value] = true;
		// Equals go together.
		if (!last && (list[i + 1].macs_per_byte == list[i].macs_per_byte || (i + 1) % stride))
			continue;
		rc = add_backward(options, search, module, edges, again);
	}
	return rc;
}

int hybrid_options_backward(struct hybrid_options *options, const struct hybrid_search *search, int module, struct hybrid_edges edges)
{
	const size_t nodes = (size_t)search->view->graph->net->node_count;
	bool *again = calloc(nodes, sizeof(*again));
	struct candidate *list = calloc(nodes, sizeof(*list));
	int rc = 0, pools;

	*options = (struct hybrid_options){ .count = 0 };
	if (!again || !list)
		rc = wc_fail(search->planner->err, WC_ERR_SYSTEM, "out of memory");
	if (!rc)
		rc = add_backward(options, search, module, edges, again);
	if (!rc) {
		pools = candidates(search, module, false, list);
		for (int i = 0; i < pools; i++)
			again[list[i].value] = true;
		if (pools)
			rc = add_backward(options, search, module, edges, again);
	}
	if (!rc && search->recompute)
		rc = add_convolutions(options, search, module, edges, again, list);
	free(again);
	free(list);
	return rc;
}

int hybrid_options_forward(struct hybrid_options *options, const struct hybrid_search *search, int module, struct hybrid_edges edges, const bool *stored)
{
	struct hybrid_template template;

	*options = (struct hybrid_options){ .count = 0 };
	hybrid_forward(&template, search->view, module, edges, stored);
	return add_option(options, search, template);
}

void hybrid_options_release(struct hybrid_options *options)
{
	for (int i = 0; i < options->count; i++) {
		hybrid_template_release(&options->list[i].template);
		hybrid_curve_release(&options->list[i].curve);
	}
	free(options->list);
	*options = (struct hybrid_options){ .count = 0 };
}
