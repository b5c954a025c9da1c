// SPDX-License-Identifier: Apache-2.0
//
// YAML networks: driver/net/README.md is the format. libyaml parses the text; what is here turns
// the document into nodes and checks every value against its limits, naming file, line and node.
#include "driver/net/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

enum {
	NODES_MAX = 1000,
	CHANNELS_MAX = 32768,
	KERNEL_MAX = 11,
	STRIDE_MAX = 4,
	DILATION_MAX = 16,
	NAME_MAX_CHARS = 64,
	TENSOR_MAX_BYTES = 1 << 30,
	BUS_MAX_BYTES = 128,
};

struct reader {
	const char *file;
	yaml_document_t *document;
	struct net *net;
	int image; // pixels high and wide in place of what the text says; 0: none
	struct wc_error *err;
	char subject[NAME_MAX_CHARS + 16]; // "node 'conv1': ", for messages
};

#define fail_at(reader, node, format, ...) \
	wc_fail((reader)->err, WC_ERR_INPUT, "%s:%zu: %s" format, (reader)->file, (node)->start_mark.line + 1, \
		(reader)->subject __VA_OPT__(, ) __VA_ARGS__)

static const char *scalar(const yaml_node_t *node)
{
	return (const char *)node->data.scalar.value;
}

// A scalar without embedded NUL bytes, so that its text is its value.
static bool is_text(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE && strlen(scalar(node)) == node->data.scalar.length;
}

// A key and where its value goes: NULL until seen.
struct field {
	const char *key;
	bool required;
	yaml_node_t *value;
};

// Sort a mapping's pairs into fields; unknown, repeated and missing keys are errors.
static int read_fields(struct reader *reader, yaml_node_t *node, const char *what, struct field *fields, size_t count)
{
	if (node->type != YAML_MAPPING_NODE)
		return fail_at(reader, node, "%s must be a mapping of keys to values", what);
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
		yaml_node_t *key = yaml_document_get_node(reader->document, pair->key);
		struct field *field = fields, *end = fields + count;

		if (!is_text(key))
			return fail_at(reader, key, "a key of %s must be a plain word", what);
		while (field < end && strcmp(field->key, scalar(key)))
			field++;
		if (field == end)
			return fail_at(reader, key, "unknown key '%.64s' in %s", scalar(key), what);
		if (field->value)
			return fail_at(reader, key, "key '%s' given twice in %s", field->key, what);
		field->value = yaml_document_get_node(reader->document, pair->value);
	}
	for (size_t i = 0; i < count; i++)
		if (fields[i].required && !fields[i].value)
			return fail_at(reader, node, "%s lacks the key '%s'", what, fields[i].key);
	return 0;
}

static int read_int(struct reader *reader, yaml_node_t *node, const char *key, int min, int max, int *value)
{
	char *end;
	long number;

	if (!is_text(node) || !*scalar(node))
		return fail_at(reader, node, "%s must be a number from %d to %d", key, min, max);
	number = strtol(scalar(node), &end, 10);
	if (*end || strchr(" \t+", *scalar(node)))
		return fail_at(reader, node, "%s '%.64s' must be a number from %d to %d", key, scalar(node), min, max);
	if (number < min || number > max)
		return fail_at(reader, node, "%s is %.64s, must be from %d to %d", key, scalar(node), min, max);
	*value = (int)number;
	return 0;
}

// One number for both directions, or [height, width].
static int read_pair(struct reader *reader, yaml_node_t *node, const char *key, int min, int max, int *height, int *width)
{
	yaml_node_t *first, *second;

	if (node->type != YAML_SEQUENCE_NODE) {
		if (read_int(reader, node, key, min, max, height))
			return WC_ERR_INPUT;
		*width = *height;
		return 0;
	}
	if (node->data.sequence.items.top - node->data.sequence.items.start != 2)
		return fail_at(reader, node, "%s must be one number or [height, width]", key);
	first = yaml_document_get_node(reader->document, node->data.sequence.items.start[0]);
	second = yaml_document_get_node(reader->document, node->data.sequence.items.start[1]);
	if (read_int(reader, first, key, min, max, height) || read_int(reader, second, key, min, max, width))
		return WC_ERR_INPUT;
	return 0;
}

static int read_name(struct reader *reader, yaml_node_t *node, const char *what, char **name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
	const char *text;

	if (!is_text(node))
		return fail_at(reader, node, "the name of %s must be a word", what);
	text = scalar(node);
	if (!*text || strlen(text) > NAME_MAX_CHARS || text[strspn(text, letters)])
		return fail_at(reader, node, "the name of %s, '%.80s', must be 1 to %d letters, digits, '_', '-' or '.'", what, text,
			       NAME_MAX_CHARS);
	*name = strdup(text);
	return *name ? 0 : wc_fail(reader->err, WC_ERR_SYSTEM, "out of memory");
}

static int out_size(int in, int kernel, int stride, int pad, int dilation)
{
	int span = in + 2 * pad - dilation * (kernel - 1) - 1;

	return span < 0 ? 0 : span / stride + 1;
}

// Bytes of one sample with every row rounded up to the widest bus.
static int64_t sample_bytes(struct net_shape shape)
{
	int64_t row_bytes = (int64_t)shape.width * shape.channels * 2;

	return (row_bytes + BUS_MAX_BYTES - 1) / BUS_MAX_BYTES * BUS_MAX_BYTES * shape.height;
}

static int check_conv(struct reader *reader, yaml_node_t *at, struct net_node *node)
{
	const struct net_conv *conv = &node->conv;

	if (conv->pad_h > conv->dilation_h * (conv->kernel_h - 1) || conv->pad_w > conv->dilation_w * (conv->kernel_w - 1))
		return fail_at(reader, at, "pad is %dx%d, must not be above dilation (kernel - 1) = %dx%d", conv->pad_h, conv->pad_w,
			       conv->dilation_h * (conv->kernel_h - 1), conv->dilation_w * (conv->kernel_w - 1));
	node->out.height = out_size(node->in.height, conv->kernel_h, conv->stride_h, conv->pad_h, conv->dilation_h);
	node->out.width = out_size(node->in.width, conv->kernel_w, conv->stride_w, conv->pad_w, conv->dilation_w);
	if (node->out.height < 1 || node->out.width < 1)
		return fail_at(reader, at, "output is %dx%d: the kernel of %dx%d, dilation %dx%d, is larger than the padded input of %dx%d",
			       node->out.height, node->out.width, conv->kernel_h, conv->kernel_w, conv->dilation_h, conv->dilation_w,
			       node->in.height + 2 * conv->pad_h, node->in.width + 2 * conv->pad_w);
	if (node->out.height > NET_IMAGE_MAX || node->out.width > NET_IMAGE_MAX)
		return fail_at(reader, at, "output is %dx%d, limit %d", node->out.height, node->out.width, NET_IMAGE_MAX);
	if (net_conv_weights(node) * 4 > TENSOR_MAX_BYTES)
		return fail_at(reader, at, "weight gradients take %lld bytes, limit %d", (long long)net_conv_weights(node) * 4,
			       TENSOR_MAX_BYTES);
	return 0;
}

static int read_conv(struct reader *reader, yaml_node_t *at, const struct field *fields, struct net_node *node)
{
	struct net_conv *conv = &node->conv;
	yaml_node_t *channels = fields[3].value, *kernel = fields[4].value, *stride = fields[5].value;
	yaml_node_t *pad = fields[6].value, *dilation = fields[7].value;

	if (!channels || !kernel)
		return fail_at(reader, at, "a conv needs the key '%s'", channels ? "kernel" : "channels");
	*conv = (struct net_conv){ .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .groups = 1 };
	if (read_int(reader, channels, "channels", 1, CHANNELS_MAX, &node->out.channels) ||
	    read_pair(reader, kernel, "kernel", 1, KERNEL_MAX, &conv->kernel_h, &conv->kernel_w) ||
	    (stride && read_pair(reader, stride, "stride", 1, STRIDE_MAX, &conv->stride_h, &conv->stride_w)) ||
	    (pad && read_pair(reader, pad, "pad", 0, DILATION_MAX * (KERNEL_MAX - 1), &conv->pad_h, &conv->pad_w)) ||
	    (dilation && read_pair(reader, dilation, "dilation", 1, DILATION_MAX, &conv->dilation_h, &conv->dilation_w)))
		return WC_ERR_INPUT;
	return check_conv(reader, at, node);
}

// One entry of `nodes`. net->nodes has room for it; node_count grows as soon as it owns a name.
static int read_node(struct reader *reader, yaml_node_t *at)
{
	struct field fields[] = {
		{ .key = "name", .required = true }, { .key = "op", .required = true },
		{ .key = "input" }, { .key = "channels" }, { .key = "kernel" },
		{ .key = "stride" }, { .key = "pad" }, { .key = "dilation" },
	};
	struct net *net = reader->net;
	struct net_node *node = &net->nodes[net->node_count];
	int previous = net->node_count - 1, rc;

	rc = read_fields(reader, at, "a node", fields, sizeof(fields) / sizeof(fields[0]));
	if (rc)
		return rc;
	rc = read_name(reader, fields[0].value, "a node", &node->name);
	if (rc)
		return rc;
	rc = net_find(net, node->name);
	net->node_count++;
	snprintf(reader->subject, sizeof(reader->subject), "node '%s': ", node->name);
	if (rc >= 0)
		return fail_at(reader, fields[0].value, "the name is taken%s", rc ? " by an earlier node" : ": it stands for the image");
	node->inputs = malloc(sizeof(*node->inputs));
	if (!node->inputs)
		return wc_fail(reader->err, WC_ERR_SYSTEM, "out of memory");
	node->inputs[0] = previous;
	node->input_count = 1;
	node->in = node->out = net->nodes[previous].out;
	if (fields[2].value) {
		int producer = is_text(fields[2].value) ? net_find(net, scalar(fields[2].value)) : -1;

		if (producer < 0 || producer == net->node_count - 1)
			return fail_at(reader, fields[2].value, "input '%.64s' is no earlier node",
				       is_text(fields[2].value) ? scalar(fields[2].value) : "");
		if (producer != previous)
			return fail_at(reader, fields[2].value, "input '%s' is not the node before, '%s': only chains can be run",
				       net->nodes[producer].name, net->nodes[previous].name);
	}
	if (!is_text(fields[1].value))
		return fail_at(reader, fields[1].value, "op must be conv or relu");
	if (!strcmp(scalar(fields[1].value), "conv")) {
		node->op = NET_CONV;
		if (read_conv(reader, at, fields, node))
			return WC_ERR_INPUT;
	} else if (!strcmp(scalar(fields[1].value), "relu")) {
		node->op = NET_RELU;
		for (int i = 3; i < 8; i++)
			if (fields[i].value)
				return fail_at(reader, fields[i].value, "a relu has no '%s'", fields[i].key);
	} else {
		return fail_at(reader, fields[1].value, "op '%.64s' must be conv or relu", scalar(fields[1].value));
	}
	if (previous == 0 && node->op != NET_CONV)
		return fail_at(reader, at, "the first node must be a conv");
	if (sample_bytes(node->out) > TENSOR_MAX_BYTES)
		return fail_at(reader, at, "one sample of the output takes %lld bytes, limit %d", (long long)sample_bytes(node->out),
			       TENSOR_MAX_BYTES);
	reader->subject[0] = 0;
	return 0;
}

static int read_input(struct reader *reader, yaml_node_t *at)
{
	struct field fields[] = {
		{ .key = "height", .required = true }, { .key = "width", .required = true }, { .key = "channels", .required = true },
	};
	struct net_node *node = &reader->net->nodes[0];

	node->name = strdup("input");
	if (!node->name)
		return wc_fail(reader->err, WC_ERR_SYSTEM, "out of memory");
	node->op = NET_INPUT;
	reader->net->node_count = 1;
	if (read_fields(reader, at, "input", fields, 3) ||
	    read_int(reader, fields[0].value, "input height", 1, NET_IMAGE_MAX, &node->out.height) ||
	    read_int(reader, fields[1].value, "input width", 1, NET_IMAGE_MAX, &node->out.width) ||
	    read_int(reader, fields[2].value, "input channels", 1, CHANNELS_MAX, &node->out.channels))
		return WC_ERR_INPUT;
	if (reader->image)
		node->out.height = node->out.width = reader->image;
	node->in = node->out;
	if (sample_bytes(node->out) > TENSOR_MAX_BYTES)
		return fail_at(reader, at, "one sample of the input takes %lld bytes, limit %d", (long long)sample_bytes(node->out),
			       TENSOR_MAX_BYTES);
	return 0;
}

static int read_root(struct reader *reader, yaml_node_t *root)
{
	struct field fields[] = {
		{ .key = "name", .required = true }, { .key = "input", .required = true }, { .key = "nodes", .required = true },
	};
	yaml_node_t *list;
	long count;
	int rc;

	rc = read_fields(reader, root, "a network", fields, 3);
	if (rc)
		return rc;
	rc = read_name(reader, fields[0].value, "the network", &reader->net->name);
	if (rc)
		return rc;
	list = fields[2].value;
	if (list->type != YAML_SEQUENCE_NODE)
		return fail_at(reader, list, "nodes must be a list");
	count = list->data.sequence.items.top - list->data.sequence.items.start;
	if (count < 1 || count > NODES_MAX)
		return fail_at(reader, list, "the network has %ld nodes, must have 1 to %d", count, NODES_MAX);
	reader->net->nodes = calloc((size_t)count + 1, sizeof(*reader->net->nodes));
	if (!reader->net->nodes)
		return wc_fail(reader->err, WC_ERR_SYSTEM, "out of memory");
	rc = read_input(reader, fields[1].value);
	for (long i = 0; !rc && i < count; i++)
		rc = read_node(reader, yaml_document_get_node(reader->document, list->data.sequence.items.start[i]));
	return rc ? rc : net_link(reader->net, reader->err);
}

static int parse_error(const yaml_parser_t *parser, const char *file, struct wc_error *err)
{
	if (parser->error == YAML_MEMORY_ERROR)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	if (parser->error == YAML_READER_ERROR)
		return wc_fail(err, WC_ERR_INPUT, "%s: not a YAML text: %s at byte %zu", file, parser->problem, parser->problem_offset);
	return wc_fail(err, WC_ERR_INPUT, "%s:%zu: not YAML: %s", file, parser->problem_mark.line + 1,
		       parser->problem ? parser->problem : "syntax error");
}

// Errors in a second document would pass unseen if only the first one were parsed.
int net_parse(struct net *net, const char *file, const char *text, size_t bytes, int image, struct wc_error *err)
{
	struct reader reader = { .file = file, .net = net, .image = image, .err = err };
	yaml_document_t document, rest;
	yaml_parser_t parser;
	yaml_node_t *root;
	int rc;

	memset(net, 0, sizeof(*net));
	if (!yaml_parser_initialize(&parser))
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
	if (!yaml_parser_load(&parser, &document)) {
		rc = parse_error(&parser, file, err);
		goto delete_parser;
	}
	root = yaml_document_get_root_node(&document);
	reader.document = &document;
	rc = root ? read_root(&reader, root) : wc_fail(err, WC_ERR_INPUT, "%s: no network in it", file);
	if (rc)
		goto delete_document;
	if (!yaml_parser_load(&parser, &rest)) {
		rc = parse_error(&parser, file, err);
		goto delete_document;
	}
	root = yaml_document_get_root_node(&rest);
	if (root)
		rc = wc_fail(err, WC_ERR_INPUT, "%s:%zu: a second document; a file holds one network", file, root->start_mark.line + 1);
	yaml_document_delete(&rest);
delete_document:
	yaml_document_delete(&document);
delete_parser:
	yaml_parser_delete(&parser);
	if (rc)
		net_release(net);
	return rc;
}
