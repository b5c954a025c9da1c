// SPDX-License-Identifier: Apache-2.0
//
// Names of elements; see mismatch.h.
#include "driver/host/mismatch.h"

#include <inttypes.h>
#include <stdio.h>

struct mismatch_element mismatch_element_at(const struct net *net, const struct value *value, int sample, int row, int vector, uint64_t index)
{
	const struct net_node *of = &net->nodes[value->node];
	struct mismatch_element element = {.value = *value, .sample = sample, .y = row, .vector = vector, .at = index};

	if (value_is_filters(value->kind)) {
		const uint64_t channels = (uint64_t)(of->in.channels / of->conv.groups), kernel_w = (uint64_t)of->conv.kernel_w;

		element.c = (int)(index % channels);
		element.s = (int)(index / channels % kernel_w);
		element.r = (int)(index / channels / kernel_w);
		element.k = row;
	} else if (value_is_map(value->kind)) {
		element.c = (int)(index % (uint64_t)of->out.channels);
		element.x = (int)(index / (uint64_t)of->out.channels);
	} else {
		element.k = row;
	}
	return element;
}

const char *mismatch_command(const struct mismatch *mismatch, int cores, char *text, size_t size)
{
	const int used = snprintf(text, size, "command %" PRIu32, mismatch->command);

	if (cores > 1)
		snprintf(text + used, size - (size_t)used, " of core %d", mismatch->core);
	return text;
}

void mismatch_element_name(const struct net *net, const struct mismatch_element *element, char *text, size_t size)
{
	const struct value_shape shape = value_shape_of(net, 1, &element->value);
	char name[192], sample[32] = "", row[32] = "";

	value_name(net, &element->value, name, sizeof(name));
	if (value_is_filters(element->value.kind)) {
		snprintf(text, size, "%s k %d r %d s %d c %d", name, element->k, element->r, element->s, element->c);
		return;
	}
	if (value_is_map(element->value.kind)) {
		snprintf(text, size, "%s sample %d y %d x %d channel %d", name, element->sample, element->y, element->x, element->c);
		return;
	}
	if (shape.samples)
		snprintf(sample, sizeof(sample), " sample %d", element->sample);
	if (shape.rows > 1)
		snprintf(row, sizeof(row), " %s %d", shape.samples ? "y" : "channel", element->y);
	if (shape.vectors > 1)
		snprintf(text, size, "%s%s%s vector %d element %" PRIu64, name, sample, row, element->vector, element->at);
	else
		snprintf(text, size, "%s%s%s element %" PRIu64, name, sample, row, element->at);
}
