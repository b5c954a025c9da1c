// SPDX-License-Identifier: Apache-2.0
//
// Names for addresses, so that a report speaks of tensors and not of bytes.
#include <inttypes.h>
#include <stdio.h>

#include "driver/host/layout.h"
#include "wc_commands.h"

void layout_store_name(const struct net *net, enum layout_store store, int node, char *text, size_t size)
{
	static const char *const forms[] = {
		[LAYOUT_ACT] = "act:",
		[LAYOUT_GRAD] = "grad:",
		[LAYOUT_MASK] = "mask:",
		[LAYOUT_WEIGHT] = "weights of ",
		[LAYOUT_WGRAD] = "weight gradient of ",
		[LAYOUT_KEPT_ACT] = "kept act:",
		[LAYOUT_KEPT_GRAD] = "kept grad:",
		[LAYOUT_KEPT_MASK] = "kept mask:",
		[LAYOUT_BIAS] = "bias of ",
		[LAYOUT_BIAS_WGRAD] = "bias gradient of ",
		[LAYOUT_PARAMETERS] = "gamma and beta of ",
		[LAYOUT_PARAMETERS_WGRAD] = "gamma and beta gradients of ",
		[LAYOUT_STATISTICS] = "statistics of ",
		[LAYOUT_SHIFT] = "shift of ",
		[LAYOUT_SUMS] = "sums of ",
		[LAYOUT_ROW_STATISTICS] = "row statistics of ",
		[LAYOUT_ROW_SUMS] = "row sums of ",
		[LAYOUT_LABELS] = "labels of ",
		[LAYOUT_LOSSES] = "losses of ",
		[LAYOUT_OPTIMIZER] = "masters and momenta of ",
	};

	snprintf(text, size, "%s%s", forms[store], net->nodes[node].name);
}

// Append the position of byte `offset` in a row of a feature map.
static void describe_column(const struct net *net, bool mask, int node, uint32_t offset, char *text, size_t size)
{
	const struct net_shape *shape = &net->nodes[node].out;
	const uint32_t elements = (uint32_t)shape->width * (uint32_t)shape->channels;
	const uint32_t element = mask ? offset * 8 : offset / 2;

	if (element >= elements)
		snprintf(text, size, "padding");
	else
		snprintf(text, size, "x %" PRIu32 ", channel %" PRIu32, element / (uint32_t)shape->channels,
			 element % (uint32_t)shape->channels);
}

// Append the position of element `element` of KRSC weights.
static void describe_weight(const struct net *net, int node, uint64_t element, char *text, size_t size)
{
	const struct net_node *conv = &net->nodes[node];
	const uint64_t channels = (uint64_t)(conv->in.channels / conv->conv.groups);
	const uint64_t kernel_w = (uint64_t)conv->conv.kernel_w;
	const uint64_t kernel_h = (uint64_t)conv->conv.kernel_h;

	snprintf(text, size, "k %" PRIu64 ", r %" PRIu64 ", s %" PRIu64 ", c %" PRIu64,
		 element / channels / kernel_w / kernel_h, element / channels / kernel_w % kernel_h,
		 element / channels % kernel_w, element % channels);
}

// " of core 1"; nothing where there is one core.
static void whose(const struct layout *layout, int core, char *text, size_t size)
{
	if (layout->cores > 1)
		snprintf(text, size, " of core %d", core);
	else
		text[0] = '\0';
}

void layout_describe(const struct layout *layout, uint64_t address, char *text, size_t size)
{
	char name[128], where[96], core[24] = "";

	if (address >= layout->ring_base && address < layout_ring(layout, layout->cores)) {
		const uint64_t entry = (address - layout->ring_base) / WC_COMMAND_BYTES;

		whose(layout, (int)(entry / layout->ring_entries), core, sizeof(core));
		snprintf(text, size, "entry %" PRIu64 " of the command ring%s", entry % layout->ring_entries, core);
		return;
	}
	for (int store = 0; store < LAYOUT_STORE_COUNT; store++)
		for (int node = 0; node < layout->net->node_count; node++) {
			const struct layout_place *place = layout_place(layout, (enum layout_store)store, node);

			if (address < place->base || address >= place->base + place->bytes)
				continue;
			const bool sums = layout_is_sums((enum layout_store)store);
			const uint64_t in_place = address - place->base, offset = sums ? in_place % place->sample_bytes : in_place;

			layout_store_name(layout->net, (enum layout_store)store, node, name, sizeof(name));
			if (sums)
				whose(layout, (int)(in_place / place->sample_bytes), core, sizeof(core));
			if (store == LAYOUT_WEIGHT || store == LAYOUT_WGRAD) {
				describe_weight(layout->net, node, offset / (store == LAYOUT_WGRAD ? 4 : 2), where, sizeof(where));
				snprintf(text, size, "%s%s, %s", name, core, where);
				return;
			}
			if (store >= LAYOUT_BIAS) {
				snprintf(text, size, "%s%s, byte %" PRIu64, name, core, offset);
				return;
			}
			describe_column(layout->net, store == LAYOUT_MASK || store == LAYOUT_KEPT_MASK, node,
					(uint32_t)(offset % place->row_bytes), where, sizeof(where));
			snprintf(text, size, "%s, sample %" PRIu64 ", y %" PRIu64 ", %s", name, offset / place->sample_bytes,
				 offset % place->sample_bytes / place->row_bytes, where);
			return;
		}
	snprintf(text, size, "no tensor");
}
