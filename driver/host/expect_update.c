// SPDX-License-Identifier: Apache-2.0
//
// Parameters behind the update, one array at a time: all of them at once would double the room that they need.
#include <inttypes.h>
#include <string.h>

#include "driver/host/clock.h"
#include "driver/host/expect_internal.h"
#include "traces/alloc.h"

void expect_forget_update(struct expect *expect)
{
	wc_free(expect->updated->state);
	wc_free(expect->updated->weights);
	*expect->updated = (struct expect_updated){.node = -1};
}

const struct expect_updated *expect_update(struct expect *expect, int node, enum parameter_array array, struct wc_error *err)
{
	const struct optimizer_array *of = &expect->optimizer->arrays[node][array];
	const float *gradient = expect_complete(expect, node, array, 0, err);
	struct expect_updated *updated = expect->updated;
	const double start_s = clock_cpu_s();

	if (!gradient)
		return NULL;
	if (updated->node == node && updated->array == array)
		return updated;
	expect_forget_update(expect);
	updated->state = wc_alloc(of->count, 2 * sizeof(*updated->state));
	updated->weights = wc_alloc(of->count, sizeof(*updated->weights));
	if (!updated->state || !updated->weights) {
		wc_fail(err, WC_ERR_SYSTEM, "out of memory for the update of '%s', %" PRIu64 " elements", expect->net->nodes[node].name, of->count);
		return NULL;
	}
	memcpy(updated->state, of->master, of->count * sizeof(*of->master));
	memcpy(updated->state + of->count, of->momentum, of->count * sizeof(*of->momentum));
	golden_sgd(&expect->optimizer->sgd, gradient, of->count, updated->state, updated->state + of->count, updated->weights);
	updated->node = node;
	updated->array = array;
	expect->cpu_s += clock_cpu_s() - start_s;
	return updated;
}
