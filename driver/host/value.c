// SPDX-License-Identifier: Apache-2.0
//
// Shapes of values; see value.h.
#include "driver/host/value.h"

#include <string.h>

#include "driver/host/optimizer.h"
#include "driver/plan/operands.h"

struct value_shape value_shape_of(const struct net *net, int batch, const struct value *value)
{
	const struct net_node *of = &net->nodes[value->node];
	const uint64_t channels = (uint64_t)of->out.channels, row = (uint64_t)of->out.width * channels;
	const int height = of->out.height, outputs = of->out.channels;

	switch (value->kind) {
	case SLAB_ACT:
	case SLAB_GRAD:
	case SLAB_PART:
		return (struct value_shape){true, height, 1, row, 16};
	case SLAB_MASK:
		return (struct value_shape){true, height, 1, row, operand_mask_bits(of)};
	case SLAB_WIDE:
		return (struct value_shape){true, height, 1, row, 32};
	case SLAB_WEIGHT:
		return (struct value_shape){false, outputs, 1, (uint64_t)net_weights(of) / channels, 16};
	case SLAB_WGRAD:
		return (struct value_shape){false, outputs, 1, (uint64_t)net_weights(of) / channels, 32};
	case SLAB_BIAS:
		return (struct value_shape){false, outputs, 1, 1, 16};
	case SLAB_BIAS_WIDE:
	case SLAB_BIAS_WGRAD:
		return (struct value_shape){false, outputs, 1, 1, 32};
	case SLAB_ONES:
		return (struct value_shape){false, 1, 1, VALUE_ONES, 16};
	case SLAB_PARAMETERS:
		return (struct value_shape){false, 1, 2, channels, 16};
	case SLAB_GAMMA:
		return (struct value_shape){false, 1, 1, channels, 16};
	case SLAB_PARAMETERS_WGRAD:
		return (struct value_shape){false, 1, 2, channels, 32};
	case SLAB_STATISTICS:
	case SLAB_SUMS:
		return (struct value_shape){true, 1, 2, channels, 32};
	case SLAB_SHIFT:
		return (struct value_shape){true, 1, 1, channels, 32};
	case SLAB_ROW_STATISTICS:
		return (struct value_shape){true, height, 2, channels, 32};
	case SLAB_ROW_SUMS:
		return (struct value_shape){true, height, 4, channels, 32};
	case SLAB_LABELS:
	case SLAB_LOSSES:
		return (struct value_shape){false, batch, 1, 1, 32};
	case SLAB_SOFTMAX:
		return (struct value_shape){false, 1, 3, (uint64_t)batch, 32};
	case SLAB_CORE_GRADIENT:
	case SLAB_UPDATE_GRADIENT:
		return (struct value_shape){false, 1, 1, program_array_count(of, value->array), 32};
	case SLAB_UPDATE_STATE:
		return (struct value_shape){false, 1, 2, program_array_count(of, value->array), 32};
	case SLAB_UPDATE_WEIGHT:
		return (struct value_shape){false, 1, 1, program_array_count(of, value->array), 16};
	default:
		return (struct value_shape){0};
	}
}

int value_step(const struct net *net, const struct value *value, int vector)
{
	const bool groups = value->kind == SLAB_ROW_STATISTICS || (value->kind == SLAB_ROW_SUMS && vector < 2);

	return groups ? net->nodes[value->node].group_channels : 1;
}

uint32_t value_bits(const uint8_t *bytes, int bits, uint64_t i)
{
	uint32_t value = 0;

	if (bits >= 16) {
		memcpy(&value, bytes + i * (uint64_t)bits / 8, (size_t)bits / 8);
		return value;
	}
	for (int b = 0; b < bits; b++) {
		const uint64_t at = i * (uint64_t)bits + (uint64_t)b;

		value |= (uint32_t)(bytes[at / 8] >> at % 8 & 1) << b;
	}
	return value;
}
