// SPDX-License-Identifier: Apache-2.0
//
// For each phase, modules are cut into groups by dynamic programming. A group has a number of iterations, which fixes its
// sub-batch, and room set aside for weights and sums that stay over the group; each of its modules takes the way to work that moves
// least in the room that is left. What backward reads decides what forward writes, so backward comes first.
#include "driver/plan/paper/hybrid/search.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/paper/hybrid/options.h"
#include "driver/plan/paper/hybrid/tiles.h"

enum { EDGES = 4, PIN_LEVELS = 10, KNOWN_MAX = 1 << 21 };

int hybrid_search_init(struct hybrid_search *search, struct paper_planner *planner, const struct hybrid_view *view, bool recompute)
{
	const int modules = view->graph->module_count;
	int rc = 0;

	*search = (struct hybrid_search){ .planner = planner, .view = view, .recompute = recompute };
	search->backward = calloc((size_t)modules * EDGES, sizeof(*search->backward));
	search->forward = calloc((size_t)modules * EDGES, sizeof(*search->forward));
	if (!search->backward || !search->forward)
		return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
	for (int i = 0; !rc && i < modules * EDGES; i++) {
		const struct hybrid_edges edges = { i % EDGES / 2, i % 2 };

		rc = hybrid_options_backward(&search->backward[i], search, i / EDGES, edges);
	}
	return rc;
}

void hybrid_search_release(struct hybrid_search *search)
{
	for (int i = 0; i < search->view->graph->module_count * EDGES; i++) {
		if (search->backward)
			hybrid_options_release(&search->backward[i]);
		if (search->forward)
			hybrid_options_release(&search->forward[i]);
	}
	free(search->backward);
	free(search->forward);
}

void hybrid_plan_release(struct hybrid_plan *plan)
{
	for (int phase = 0; phase < 2; phase++) {
		for (int i = 0; i < plan->counts[phase]; i++)
			free(plan->groups[phase][i].picks);
		free(plan->groups[phase]);
	}
	free(plan->stored);
	*plan = (struct hybrid_plan){ .macs = 0 };
}

// A sub-batch, the smallest that needs this many iterations.
struct level {
	int sub_batch, iterations;
};

static int find_levels(int batch, struct level *levels)
{
	int count = 0;

	for (int n = 1; n <= batch; n++) {
		const int sub_batch = (batch + n - 1) / n;

		if ((batch + sub_batch - 1) / sub_batch == n)
			levels[count++] = (struct level){ sub_batch, n };
	}
	return count;
}

// What the batch moves through one module, and what each iteration reads more for what is made again.
struct module_cost {
	double bytes;
	int64_t again;
	struct hybrid_pick pick;
};

// One that has been found, or found to be impossible.
struct known_cost {
	enum { COST_UNKNOWN, COST_FOUND, COST_NONE } state;
	double bytes;
	int64_t again;
};

// One phase's dynamic programming.
struct pass {
	struct hybrid_search *search;
	enum sched_phase phase;
	struct hybrid_options *options; // [module * EDGES + edges]
	double price;                   // bytes of a MAC
	int64_t room;                   // of the buffer, reserve apart
	int64_t *weights, *read;        // [module]: parameter bytes; those of them that backward reads
	struct level *levels;
	int level_count;
	struct choice *best;            // [module_count + 1]: groups that end before that module
	struct known_cost *known;       // [((level * PIN_LEVELS + pin) * modules + module) * EDGES + edges]; NULL: too many
};

// How a group that ends before a module is made.
struct choice {
	double cost;
	int first;
	struct level level;
	int64_t pins;
	bool streamed;
	int strips; // 0: not tiled
};

static bool cheapest(const struct pass *pass, int module, struct hybrid_edges edges, struct level level, int64_t pins, struct module_cost *cost)
{
	const struct hybrid_options *options = &pass->options[module * EDGES + hybrid_edges_index(edges)];
	const int batch = pass->search->planner->options->batch;
	double least = DBL_MAX;

	for (int i = 0; i < options->count; i++) {
		const struct hybrid_option *option = &options->list[i];
		const struct hybrid_template *template = &option->template;
		const int state = hybrid_curve_query(&option->curve, level.sub_batch, pass->room - pins);
		double bytes, judged;

		if (state < 0)
			continue;
		bytes = (double)batch * ((double)option->curve.states[state].moves + (double)template->stored_bytes + (double)template->mask_bits / 4 +
					 pass->price * (double)template->macs);
		// With room for pins they are pinned first; the group's sum decides.
		judged = bytes + (double)template->again_bytes * (pins ? 1 : level.iterations);
		if (judged >= least)
			continue;
		least = judged;
		*cost = (struct module_cost){ bytes, template->again_bytes, { option, state } };
	}
	return least < DBL_MAX;
}

// The same, without the pick, of the `level`-th number of iterations and the `pin`-th room: groups of any length ask for the same few.
static bool cheapest_known(const struct pass *pass, int module, struct hybrid_edges edges, int level, int pin, struct module_cost *cost)
{
	const size_t modules = (size_t)pass->search->view->graph->module_count;
	const int64_t pins = pass->room / PIN_LEVELS * pin;
	struct known_cost *known;

	if (!pass->known)
		return cheapest(pass, module, edges, pass->levels[level], pins, cost);
	known = &pass->known[((size_t)(level * PIN_LEVELS + pin) * modules + (size_t)module) * EDGES + (size_t)hybrid_edges_index(edges)];
	if (known->state == COST_UNKNOWN) {
		known->state = cheapest(pass, module, edges, pass->levels[level], pins, cost) ? COST_FOUND : COST_NONE;
		known->bytes = cost->bytes;
		known->again = cost->again;
	}
	cost->bytes = known->bytes;
	cost->again = known->again;
	return known->state == COST_FOUND;
}

static int64_t min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

// Weights and sums of a group with `pins` bytes that stay: first what is read twice an iteration, then sums, then weights.
static double weight_bytes(const struct pass *pass, int iterations, int64_t pins, int64_t again, int64_t weights, int64_t read)
{
	const double n = iterations;
	double bytes;
	int64_t pinned;

	if (pass->phase == SCHED_FORWARD)
		return n * (double)weights - (n - 1) * (double)min(pins, weights);
	bytes = n * (double)(read + again) + (2 * n - 1) * (double)weights;
	pinned = min(pins, again);
	bytes -= (2 * n - 1) * (double)pinned;
	pins -= pinned;
	pinned = min(pins, weights);
	bytes -= 2 * (n - 1) * (double)pinned;
	pins -= pinned;
	return bytes - (n - 1) * (double)min(pins, read > again ? read - again : 0);
}

// The edges of a module in a group: forward, data comes from the module before; backward from the one behind.
static struct hybrid_edges edges_of(const struct pass *pass, int module, int first, int last)
{
	const int end = pass->search->view->graph->module_count - 1;

	if (pass->phase == SCHED_FORWARD)
		return (struct hybrid_edges){ module == first, module == last || module == end };
	return (struct hybrid_edges){ module == last || module == end, module == first };
}

static void consider(struct pass *pass, int end, struct choice choice)
{
	if (choice.cost < pass->best[end].cost)
		pass->best[end] = choice;
}

// All groups that begin at a module, with one number of iterations and room for pins.
static void try_groups(struct pass *pass, int first, int level, int pin)
{
	const int64_t pins = pass->room / PIN_LEVELS * pin;
	const int modules = pass->search->view->graph->module_count;
	double inner = 0; // of the modules that do not end the group
	int64_t again = 0, weights = 0, read = 0;

	for (int last = first; last < modules; last++) {
		struct module_cost cost = { .bytes = 0 };

		weights += pass->weights[last];
		read += pass->read[last];
		if (cheapest_known(pass, last, edges_of(pass, last, first, last), level, pin, &cost))
			consider(pass, last + 1, (struct choice){ .cost = pass->best[first].cost + inner + cost.bytes +
									  weight_bytes(pass, pass->levels[level].iterations, pins, again + cost.again,
										       weights, read),
								  .first = first, .level = pass->levels[level], .pins = pins });
		if (!cheapest_known(pass, last, edges_of(pass, last, first, last + 1), level, pin, &cost))
			return;
		inner += cost.bytes;
		again += cost.again;
	}
}

// Groups in row strips that begin at a module; what a strip leaves of the buffer takes weights and sums.
static int try_tiles(struct pass *pass, int first)
{
	const int modules = pass->search->view->graph->module_count;
	int64_t weights = 0, read = 0;

	for (int last = first; last < modules; last++) {
		struct hybrid_tilings tilings;
		int rc = hybrid_tilings_find(&tilings, pass->search, pass->phase, first, last, pass->room);

		if (rc)
			return rc;
		weights += pass->weights[last];
		read += pass->read[last];
		if (!tilings.count && last > first)
			return 0;
		for (int i = 0; i < tilings.count; i++)
			for (int k = 0; k < pass->level_count; k++) {
				const struct hybrid_tiling *tiling = &tilings.list[i];
				const int64_t left = pass->room - pass->levels[k].sub_batch * tiling->need;

				if (left < 0)
					continue;
				consider(pass, last + 1, (struct choice){ .cost = pass->best[first].cost + (double)tiling->moves +
										  weight_bytes(pass, pass->levels[k].iterations * tiling->strips, left, 0, weights, read),
									  .first = first, .level = pass->levels[k], .strips = tiling->strips });
			}
	}
	return 0;
}

// Nothing stays: what may not stream is read twice.
static double streamed_bytes(const struct hybrid_option *option)
{
	const struct hybrid_template *template = &option->template;
	bool *none = calloc((size_t)hybrid_gap(template, template->slab_count) + 1, sizeof(*none));
	double bytes = (double)template->stored_bytes + (double)template->mask_bits / 4;

	if (!none)
		return DBL_MAX;
	for (int i = 0; i < template->slab_count; i++) {
		const struct hybrid_slab *slab = &template->slabs[i];

		bytes += (double)hybrid_slab_moves(slab, none);
		for (int k = 0; k < slab->event_count; k++)
			bytes += slab->events[k].whole ? 2 * (double)slab->bytes : 0;
	}
	free(none);
	return bytes;
}

static void try_streamed(struct pass *pass, int module)
{
	const struct hybrid_edges edges = { true, true };
	const struct hybrid_options *options = &pass->options[module * EDGES + hybrid_edges_index(edges)];
	const int batch = pass->search->planner->options->batch;

	consider(pass, module + 1, (struct choice){ .cost = pass->best[module].cost + batch * streamed_bytes(&options->list[0]) +
							    weight_bytes(pass, 1, 0, 0, pass->weights[module], pass->read[module]),
						    .first = module, .level = { batch, 1 }, .streamed = true });
}

static int add_group(struct pass *pass, struct hybrid_plan *plan, int first, int last, const struct choice *choice)
{
	const int count = plan->counts[pass->phase];
	struct hybrid_group *groups = reallocarray(plan->groups[pass->phase], (size_t)count + 1, sizeof(*groups));
	struct hybrid_group group = { .phase = pass->phase, .first = first, .last = last, .sub_batch = choice->level.sub_batch, .streamed = choice->streamed,
				      .strips = choice->strips };

	if (!groups)
		return WC_ERR_SYSTEM;
	plan->groups[pass->phase] = groups;
	group.picks = calloc((size_t)(last - first) + 1, sizeof(*group.picks));
	if (!group.picks)
		return WC_ERR_SYSTEM;
	groups[plan->counts[pass->phase]++] = group;
	for (int module = first; module <= last; module++) {
		struct module_cost cost = { .bytes = 0 };

		if (choice->strips)
			continue;
		if (choice->streamed)
			cost.pick.option = &pass->options[module * EDGES + EDGES - 1].list[0];
		else
			cheapest(pass, module, edges_of(pass, module, first, last), choice->level, choice->pins, &cost);
		group.picks[module - first] = cost.pick;
		if (pass->phase == SCHED_BACKWARD)
			plan->macs += cost.pick.option->template.macs;
	}
	return 0;
}

// The groups of the best way, in order.
static int collect(struct pass *pass, struct hybrid_plan *plan)
{
	const int modules = pass->search->view->graph->module_count;
	int *ends = calloc((size_t)modules + 1, sizeof(*ends)), count = 0, rc = ends ? 0 : WC_ERR_SYSTEM;

	for (int end = modules; ends && end > 0; end = pass->best[end].first)
		ends[count++] = end;
	while (!rc && count-- > 0)
		rc = add_group(pass, plan, pass->best[ends[count]].first, ends[count] - 1, &pass->best[ends[count]]);
	free(ends);
	return rc;
}

static void add_weights(struct pass *pass)
{
	const struct net *net = pass->search->view->graph->net;

	for (int module = 0; module < pass->search->view->graph->module_count; module++)
		for (int i = net->modules[module].first; i <= paper_module_last(pass->search->view->graph, module); i++) {
			const bool has_gradient = net->nodes[net->nodes[i].inputs[0]].has_gradient;

			pass->weights[module] += 2 * net_parameters(&net->nodes[i]);
			pass->read[module] += has_gradient ? 2 * net_parameters(&net->nodes[i]) : 0;
		}
}

static int run_pass(struct pass *pass, struct hybrid_plan *plan)
{
	const int modules = pass->search->view->graph->module_count, batch = pass->search->planner->options->batch;
	size_t costs;
	int rc = 0;

	pass->weights = calloc((size_t)modules * 2, sizeof(*pass->weights));
	pass->levels = calloc((size_t)batch, sizeof(*pass->levels));
	pass->best = calloc((size_t)modules + 1, sizeof(*pass->best));
	if (!pass->weights || !pass->levels || !pass->best) {
		rc = WC_ERR_SYSTEM;
	} else {
		pass->read = pass->weights + modules;
		add_weights(pass);
		pass->level_count = find_levels(batch, pass->levels);
		costs = (size_t)modules * EDGES * (size_t)pass->level_count * PIN_LEVELS;
		pass->known = costs <= KNOWN_MAX ? calloc(costs, sizeof(*pass->known)) : NULL; // without memory, too
		for (int i = 1; i <= modules; i++)
			pass->best[i].cost = DBL_MAX;
		for (int first = 0; first < modules; first++) {
			for (int level = 0; level < pass->level_count; level++)
				for (int pin = 0; pin < PIN_LEVELS; pin++)
					try_groups(pass, first, level, pin);
			try_streamed(pass, first);
			if (!rc)
				rc = try_tiles(pass, first);
		}
		if (!rc)
			rc = collect(pass, plan);
	}
	free(pass->weights);
	free(pass->levels);
	free(pass->best);
	free(pass->known);
	return rc ? wc_fail(pass->search->planner->err, rc, "out of memory") : 0;
}

static int find_stored(const struct hybrid_search *search, struct hybrid_plan *plan)
{
	const int nodes = search->view->graph->net->node_count;

	plan->stored = calloc((size_t)nodes, sizeof(*plan->stored));
	if (!plan->stored)
		return wc_fail(search->planner->err, WC_ERR_SYSTEM, "out of memory");
	for (int i = 0; i < nodes; i++)
		plan->stored[i] = search->view->nodes[i].value == i && search->view->nodes[i].kept;
	for (int g = 0; g < plan->counts[SCHED_BACKWARD]; g++) {
		const struct hybrid_group *group = &plan->groups[SCHED_BACKWARD][g];

		for (int m = 0; !group->strips && m <= group->last - group->first; m++)
			for (int i = 0; i < nodes; i++)
				plan->stored[i] &= !group->picks[m].option->template.again[i];
	}
	return 0;
}

static int prepare_forward(struct hybrid_search *search, const bool *stored)
{
	int rc = 0;

	for (int i = 0; !rc && i < search->view->graph->module_count * EDGES; i++) {
		const struct hybrid_edges edges = { i % EDGES / 2, i % 2 };

		hybrid_options_release(&search->forward[i]);
		rc = hybrid_options_forward(&search->forward[i], search, i / EDGES, edges, stored);
	}
	return rc;
}

int hybrid_search_plan(struct hybrid_search *search, double price, struct hybrid_plan *plan)
{
	struct pass pass = {
		.search = search, .phase = SCHED_BACKWARD, .options = search->backward, .price = price,
		.room = (int64_t)search->planner->options->buffer_bytes - paper_reserve_bytes(search->planner->options->buffer_bytes),
	};
	int rc;

	*plan = (struct hybrid_plan){ .macs = 0 };
	rc = run_pass(&pass, plan);
	if (!rc)
		rc = find_stored(search, plan);
	if (!rc)
		rc = prepare_forward(search, plan->stored);
	pass.phase = SCHED_FORWARD;
	pass.options = search->forward;
	if (!rc)
		rc = run_pass(&pass, plan);
	if (rc)
		hybrid_plan_release(plan);
	return rc;
}
