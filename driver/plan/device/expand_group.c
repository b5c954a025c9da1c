// SPDX-License-Identifier: Apache-2.0
//
// The frame of a group: what stays in the buffer over all its iterations.
#include "driver/plan/device/expand.h"

#include <string.h>

// A slab that stays over the group, or -1.
static int resident_slab(struct expansion *x, bool resident, enum slab_kind kind, int node, int *made)
{
	const bool vectors = kind == SLAB_PARAMETERS || kind == SLAB_PARAMETERS_WGRAD;
	int slab;

	*made = -1;
	if (!resident)
		return 0;
	slab = vectors ? expand_vector_slab(x, kind, node) : expand_weight_slab(x, kind, node, 0, x->net->nodes[node].out.channels);
	if (slab >= 0)
		*made = slab;
	return slab < 0 ? slab : 0;
}

static int make_residents(struct expansion *x, int node)
{
	const bool norm = x->net->nodes[node].op == NET_GN, bias = x->net->nodes[node].bias;
	const bool weight = x->group->weight[node].resident, sums = x->group->wgrad[node].resident;
	int rc = resident_slab(x, weight, norm ? SLAB_PARAMETERS : SLAB_WEIGHT, node, &x->resident_weight[node]);

	if (!rc)
		rc = resident_slab(x, sums, norm ? SLAB_PARAMETERS_WGRAD : SLAB_WGRAD, node, &x->resident_sums[node]);
	if (!rc)
		rc = resident_slab(x, weight && bias, SLAB_BIAS_WIDE, node, &x->resident_bias[node]);
	if (!rc)
		rc = resident_slab(x, sums && bias, SLAB_BIAS_WGRAD, node, &x->resident_bias_sums[node]);
	return rc;
}

int expand_begin_group(struct expansion *x, const struct sched_group *group, int group_index)
{
	int rc = 0;

	x->group = group;
	x->whole = NULL;
	x->group_index = group_index;
	x->iteration = x->strip = -1;
	x->sample_first = x->sample_count = 0;
	memset(x->has_statistics, 0, (size_t)x->net->node_count * sizeof(*x->has_statistics));
	use_mark_statistics(x->schedule, group, x->has_statistics);
	for (int i = 0; !rc && i < x->net->node_count; i++)
		rc = make_residents(x, i);
	for (int i = 0; !rc && i < x->net->node_count; i++) {
		if (x->resident_weight[i] >= 0)
			rc = expand_weight_transfer(x, STEP_LOAD, x->resident_weight[i]);
		if (!rc && x->resident_bias[i] >= 0)
			rc = expand_bias(x, x->resident_bias[i]);
	}
	return rc;
}

void expand_begin_whole(struct expansion *x, const struct sched_group *frame, const char *what)
{
	x->group = frame;
	x->whole = what;
	x->group_index = x->schedule->group_count;
	x->iteration = x->strip = -1;
	x->sample_first = x->core_first;
	x->sample_count = x->core_samples;
}

int expand_end_group(struct expansion *x)
{
	char where[200];

	x->iteration = x->strip = -1;
	x->sample_first = x->sample_count = 0;
	for (int i = 0; i < x->net->node_count; i++) {
		int rc;

		if (x->resident_sums[i] < 0)
			continue;
		if (!x->cuts[i])
			return wc_fail(x->err, WC_ERR_INPUT, "%s keeps the weight gradient of '%s' resident but accumulates none",
				       expand_group_text(x, where, sizeof(where)), x->net->nodes[i].name);
		rc = expand_weight_transfer(x, STEP_STORE, x->resident_sums[i]);
		if (!rc && x->resident_bias_sums[i] >= 0)
			rc = expand_weight_transfer(x, STEP_STORE, x->resident_bias_sums[i]);
		if (rc)
			return rc;
	}
	return 0;
}
