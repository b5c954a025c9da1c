// SPDX-License-Identifier: Apache-2.0
//
// Values by name; see value.h.
#include <stdio.h>

#include "driver/host/value.h"

static const char *const arrays[ARRAY_COUNT] = {"filters", "bias", "gamma", "beta"};

static const char *const forms[SLAB_KIND_COUNT] = {
	[SLAB_ACT] = "act:",
	[SLAB_GRAD] = "grad:",
	[SLAB_MASK] = "mask:",
	[SLAB_PART] = "part of grad:",
	[SLAB_WIDE] = "fp32 sums of grad:",
	[SLAB_WEIGHT] = "weights of ",
	[SLAB_WGRAD] = "weight gradient of ",
	[SLAB_BIAS] = "bias of ",
	[SLAB_BIAS_WIDE] = "fp32 bias of ",
	[SLAB_BIAS_WGRAD] = "bias gradient of ",
	[SLAB_ONES] = "ones of ",
	[SLAB_PARAMETERS] = "gamma and beta of ",
	[SLAB_GAMMA] = "gamma of ",
	[SLAB_PARAMETERS_WGRAD] = "gamma and beta gradients of ",
	[SLAB_STATISTICS] = "mean and reciprocal deviation of ",
	[SLAB_SHIFT] = "shift of ",
	[SLAB_SUMS] = "sums of ",
	[SLAB_ROW_STATISTICS] = "row statistics of ",
	[SLAB_ROW_SUMS] = "row sums of ",
	[SLAB_LABELS] = "labels of ",
	[SLAB_LOSSES] = "losses of ",
	[SLAB_SOFTMAX] = "softmax of ",
	[SLAB_CORE_GRADIENT] = "gradient",
	[SLAB_UPDATE_GRADIENT] = "gradient",
	[SLAB_UPDATE_STATE] = "masters and momenta",
	[SLAB_UPDATE_WEIGHT] = "updated weights",
};

void value_name(const struct net *net, const struct value *value, char *text, size_t size)
{
	const struct net_node *node = &net->nodes[value->node];

	switch (value->kind) {
	case SLAB_CORE_GRADIENT:
		snprintf(text, size, "core %d's gradient of %s's %s", value->core, node->name, arrays[value->array]);
		break;
	case SLAB_UPDATE_GRADIENT:
		snprintf(text, size, "%sgradient of %s's %s", value->stage ? "core 0's " : "", node->name, arrays[value->array]);
		break;
	case SLAB_UPDATE_STATE:
	case SLAB_UPDATE_WEIGHT:
		snprintf(text, size, "%s of %s's %s", forms[value->kind], node->name, arrays[value->array]);
		break;
	case SLAB_GRAD:
		if (value->reader > 0) {
			snprintf(text, size, "grad:%s, with the parts from %s on", node->name, net->nodes[node->consumers[value->reader]].name);
			break;
		}
		snprintf(text, size, "grad:%s", node->name);
		break;
	case SLAB_PART:
	case SLAB_WIDE:
		snprintf(text, size, "%s%s by %s", forms[value->kind], node->name, net->nodes[node->consumers[value->reader]].name);
		break;
	default:
		snprintf(text, size, "%s%s", forms[value->kind], node->name);
		break;
	}
}

bool value_is_filters(enum slab_kind kind)
{
	return kind == SLAB_WEIGHT || kind == SLAB_WGRAD;
}

bool value_is_map(enum slab_kind kind)
{
	return kind == SLAB_ACT || kind == SLAB_GRAD || kind == SLAB_MASK || kind == SLAB_PART || kind == SLAB_WIDE;
}

bool value_is_parameters(enum slab_kind kind)
{
	return value_is_filters(kind) || (kind >= SLAB_BIAS && kind <= SLAB_PARAMETERS_WGRAD) || kind >= SLAB_LABELS;
}
