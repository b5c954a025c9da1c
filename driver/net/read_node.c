// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "driver/net/read.h"
#include "driver/net/shape.h"

enum {
	KERNEL_MAX = 11,
	STRIDE_MAX = 4,
	DILATION_MAX = 16,
	POOL_KERNEL_MAX = 64,
};

enum key { NAME, OP, INPUT, INPUTS, CHANNELS, UNITS, KERNEL, STRIDE, PAD, DILATION, GROUPS, BIAS, GROUP_CHANNELS, SIZE, KEYS };

#define BIT(key) (1u << (key))

// Keys of an op beside name, op and inputs.
struct op_keys {
	unsigned required, optional;
};

static const struct op_keys op_keys[NET_OP_COUNT] = {
	[NET_CONV] = { BIT(CHANNELS) | BIT(KERNEL), BIT(STRIDE) | BIT(PAD) | BIT(DILATION) | BIT(GROUPS) | BIT(BIAS) },
	[NET_FC] = { BIT(UNITS), BIT(BIAS) },
	[NET_GN] = { BIT(GROUP_CHANNELS), 0 },
	[NET_MAX_POOL] = { BIT(KERNEL), BIT(STRIDE) | BIT(PAD) },
	[NET_AVG_POOL] = { BIT(KERNEL), BIT(STRIDE) | BIT(PAD) },
	[NET_ADAPTIVE_POOL] = { BIT(SIZE), 0 },
};

static int read_op(struct reader *reader, yaml_node_t *at, enum net_op *op)
{
	const char *text = read_text(at);
	char known[128] = "";

	for (*op = NET_CONV; *op < NET_OP_COUNT; (*op)++) {
		if (text && !strcmp(text, net_op_name(*op)))
			return 0;
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s", *op == NET_CONV ? "" : ", ", net_op_name(*op));
	}
	if (!text)
		return read_fail(reader, at, "op must be one of %s", known);
	return read_fail(reader, at, "op '%.64s' must be one of %s", text, known);
}

static int check_keys(struct reader *reader, yaml_node_t *at, enum net_op op, const struct field *fields)
{
	for (enum key key = CHANNELS; key < KEYS; key++) {
		const bool required = op_keys[op].required & BIT(key), optional = op_keys[op].optional & BIT(key);

		if (fields[key].value && !required && !optional)
			return read_fail(reader, fields[key].value, "op %s has no '%s'", net_op_name(op), fields[key].key);
		if (!fields[key].value && required)
			return read_fail(reader, at, "op %s needs the key '%s'", net_op_name(op), fields[key].key);
	}
	return 0;
}

static int read_window(struct reader *reader, const struct field *fields, struct net_node *node)
{
	const bool pool = node->op != NET_CONV;
	const int kernel_max = pool ? POOL_KERNEL_MAX : KERNEL_MAX, stride_max = pool ? POOL_KERNEL_MAX : STRIDE_MAX;
	const int pad_max = pool ? POOL_KERNEL_MAX - 1 : DILATION_MAX * (KERNEL_MAX - 1);
	yaml_node_t *stride = fields[STRIDE].value, *pad = fields[PAD].value, *dilation = fields[DILATION].value;
	struct net_conv *conv = &node->conv;

	*conv = (struct net_conv){ .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .groups = 1 };
	if (read_pair(reader, fields[KERNEL].value, "kernel", 1, kernel_max, &conv->kernel_h, &conv->kernel_w))
		return WC_ERR_INPUT;
	if (pool) {
		conv->stride_h = conv->kernel_h;
		conv->stride_w = conv->kernel_w;
	}
	if ((stride && read_pair(reader, stride, "stride", 1, stride_max, &conv->stride_h, &conv->stride_w)) ||
	    (pad && read_pair(reader, pad, "pad", 0, pad_max, &conv->pad_h, &conv->pad_w)) ||
	    (dilation && read_pair(reader, dilation, "dilation", 1, DILATION_MAX, &conv->dilation_h, &conv->dilation_w)))
		return WC_ERR_INPUT;
	return 0;
}

static int read_values(struct reader *reader, const struct field *fields, struct net_node *node)
{
	const struct {
		enum key key;
		int max, *value;
	} numbers[] = {
		{ CHANNELS, NET_CHANNELS_MAX, &node->out.channels },
		{ UNITS, NET_CHANNELS_MAX, &node->units },
		{ GROUPS, NET_CHANNELS_MAX, &node->conv.groups },
		{ GROUP_CHANNELS, NET_CHANNELS_MAX, &node->group_channels },
		{ SIZE, NET_IMAGE_MAX, &node->pool_size },
	};

	if (fields[KERNEL].value && read_window(reader, fields, node))
		return WC_ERR_INPUT;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const struct field *field = &fields[numbers[i].key];

		if (field->value && read_int(reader, field->value, field->key, 1, numbers[i].max, numbers[i].value))
			return WC_ERR_INPUT;
	}
	return fields[BIAS].value ? read_bool(reader, fields[BIAS].value, "bias", &node->bias) : 0;
}

int read_node(struct reader *reader, yaml_node_t *at)
{
	struct field fields[KEYS] = {
		[NAME] = { .key = "name", .required = true }, [OP] = { .key = "op", .required = true },
		[INPUT] = { .key = "input" }, [INPUTS] = { .key = "inputs" }, [CHANNELS] = { .key = "channels" }, [UNITS] = { .key = "units" },
		[KERNEL] = { .key = "kernel" }, [STRIDE] = { .key = "stride" }, [PAD] = { .key = "pad" }, [DILATION] = { .key = "dilation" },
		[GROUPS] = { .key = "groups" }, [BIAS] = { .key = "bias" }, [GROUP_CHANNELS] = { .key = "group_channels" },
		[SIZE] = { .key = "size" },
	};
	struct read_place *place = &reader->places[reader->net->node_count];
	struct net_node *node = &reader->net->nodes[reader->net->node_count];
	int rc = read_fields(reader, at, "a node", fields, KEYS);

	if (!rc)
		rc = read_name(reader, fields[NAME].value, "a node", &node->name);
	if (rc)
		return rc;
	// From here on the network owns the name.
	reader->net->node_count++;
	snprintf(reader->subject, sizeof(reader->subject), "node '%s': ", node->name);
	*place = (struct read_place){ at->start_mark.line + 1, fields[NAME].value, fields[INPUT].value };
	if (fields[INPUTS].value) {
		if (fields[INPUT].value)
			return read_fail(reader, fields[INPUTS].value, "'input' and 'inputs' are one key, given twice");
		place->inputs = fields[INPUTS].value;
	}
	rc = read_op(reader, fields[OP].value, &node->op);
	if (!rc)
		rc = check_keys(reader, at, node->op, fields);
	if (!rc)
		rc = read_values(reader, fields, node);
	if (!rc)
		reader->subject[0] = 0;
	return rc;
}
