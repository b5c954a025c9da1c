// SPDX-License-Identifier: Apache-2.0
//
// Names of elements; see mismatch.h.
#include "driver/host/mismatch.h"

#include <stdio.h>

struct mismatch_element mismatch_element_at(const struct net *net, enum layout_store store, int node, uint64_t index)
{
	const struct net_node *of = &net->nodes[node];
	struct mismatch_element element = {.store = store, .node = node};

	if (store == LAYOUT_WEIGHT || store == LAYOUT_WGRAD) {
		const uint64_t channels = (uint64_t)of->in.channels;
		const uint64_t kernel_h = (uint64_t)of->conv.kernel_h, kernel_w = (uint64_t)of->conv.kernel_w;

		element.c = (int)(index % channels);
		element.s = (int)(index / channels % kernel_w);
		element.r = (int)(index / channels / kernel_w % kernel_h);
		element.k = (int)(index / channels / kernel_w / kernel_h);
		return element;
	}
	const uint64_t channels = (uint64_t)of->out.channels, width = (uint64_t)of->out.width, height = (uint64_t)of->out.height;

	element.c = (int)(index % channels);
	element.x = (int)(index / channels % width);
	element.y = (int)(index / channels / width % height);
	element.sample = (int)(index / channels / width / height);
	return element;
}

void mismatch_element_name(const struct net *net, const struct mismatch_element *element, char *text, size_t size)
{
	char name[128];

	layout_tensor_name(net, element->store, element->node, name, sizeof(name));
	if (element->store == LAYOUT_WEIGHT || element->store == LAYOUT_WGRAD)
		snprintf(text, size, "%s k %d r %d s %d c %d", name, element->k, element->r, element->s, element->c);
	else
		snprintf(text, size, "%s sample %d y %d x %d channel %d", name, element->sample, element->y, element->x, element->c);
}
