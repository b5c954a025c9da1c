// SPDX-License-Identifier: Apache-2.0
//
// Masters and momenta; see optimizer.h.
#include "driver/host/optimizer.h"

#include <inttypes.h>

#include "csim/golden/half.h"
#include "traces/alloc.h"

uint16_t *optimizer_parameters(const struct data *data, int node, enum parameter_array array)
{
	uint16_t **const arrays[ARRAY_COUNT] = {data->weights, data->bias, data->gamma, data->beta};

	return arrays[array][node];
}

static int init_array(struct optimizer *optimizer, int node, enum parameter_array array, struct wc_error *err)
{
	struct optimizer_array *of = &optimizer->arrays[node][array];

	of->count = program_array_count(&optimizer->data->net->nodes[node], array);
	if (!of->count)
		return 0;
	of->master = wc_alloc(of->count, sizeof(*of->master));
	of->momentum = wc_alloc(of->count, sizeof(*of->momentum));
	if (!of->master || !of->momentum)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for the masters and momenta of '%s', %" PRIu64 " elements",
			       optimizer->data->net->nodes[node].name, of->count);
	golden_halves_to_floats(of->master, optimizer_parameters(optimizer->data, node, array), of->count);
	return 0;
}

int optimizer_init(struct optimizer *optimizer, struct data *data, const struct golden_sgd *sgd, struct wc_error *err)
{
	const int nodes = data->net->node_count;
	int result = 0;

	*optimizer = (struct optimizer){.sgd = *sgd, .data = data, .arrays = wc_alloc((size_t)nodes, sizeof(*optimizer->arrays))};
	optimizer->sgd.inv_scale = 1 / data->loss_scale;
	if (!optimizer->arrays)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for the parameters of %d nodes", nodes);
	for (int node = 0; !result && node < nodes; node++)
		for (enum parameter_array array = 0; !result && array < ARRAY_COUNT; array++)
			result = init_array(optimizer, node, array, err);
	if (result)
		optimizer_release(optimizer);
	return result;
}

void optimizer_release(struct optimizer *optimizer)
{
	for (int node = 0; optimizer->arrays && node < optimizer->data->net->node_count; node++)
		for (enum parameter_array array = 0; array < ARRAY_COUNT; array++) {
			wc_free(optimizer->arrays[node][array].master);
			wc_free(optimizer->arrays[node][array].momentum);
		}
	wc_free(optimizer->arrays);
	*optimizer = (struct optimizer){0};
}
