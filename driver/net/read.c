// SPDX-License-Identifier: Apache-2.0
//
// From a YAML document to a network: all nodes, then their inputs by name, the order of execution, shapes, links.
#include "driver/net/read.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/net/order.h"
#include "driver/net/shape.h"

enum { DEPTH_MAX = 16 };

static int no_memory(struct reader *reader)
{
	return wc_fail(reader->err, WC_ERR_SYSTEM, "out of memory");
}

static int read_input(struct reader *reader, yaml_node_t *at)
{
	struct field fields[] = {
		{ .key = "height", .required = true }, { .key = "width", .required = true }, { .key = "channels", .required = true },
	};
	struct net_node *node = &reader->net->nodes[0];

	node->name = strdup("input");
	if (!node->name)
		return no_memory(reader);
	node->op = NET_INPUT;
	reader->net->node_count = 1;
	reader->places[0].line = at->start_mark.line + 1;
	if (read_fields(reader, at, "input", fields, 3) ||
	    read_int(reader, fields[0].value, "input height", 1, NET_IMAGE_MAX, &node->out.height) ||
	    read_int(reader, fields[1].value, "input width", 1, NET_IMAGE_MAX, &node->out.width) ||
	    read_int(reader, fields[2].value, "input channels", 1, NET_CHANNELS_MAX, &node->out.channels))
		return WC_ERR_INPUT;
	if (reader->image)
		node->out.height = node->out.width = reader->image;
	node->in = node->out;
	return net_check_input(reader->net, (struct net_place){ reader->file, reader->places[0].line }, reader->err);
}

// ---- inputs by name -----------------------------------------------------------------------------------------------

struct name {
	const char *name;
	int node;
};

static int by_name(const void *a, const void *b)
{
	const struct name *x = a, *y = b;
	const int order = strcmp(x->name, y->name);

	return order ? order : x->node - y->node;
}

static int by_name_alone(const void *key, const void *entry)
{
	return strcmp(key, ((const struct name *)entry)->name);
}

// Names in alphabetical order; of a name taken twice, the second place is told.
static int sort_names(struct reader *reader, struct name *names)
{
	const struct net *net = reader->net;
	int taken = 0;

	for (int i = 0; i < net->node_count; i++)
		names[i] = (struct name){ net->nodes[i].name, i };
	qsort(names, (size_t)net->node_count, sizeof(*names), by_name);
	for (int i = 1; i < net->node_count; i++)
		if (!strcmp(names[i].name, names[i - 1].name) && (!taken || names[i].node < taken))
			taken = names[i].node;
	if (!taken)
		return 0;
	snprintf(reader->subject, sizeof(reader->subject), "node '%s': ", net->nodes[taken].name);
	return read_fail(reader, reader->places[taken].name, "the name is taken%s",
			 strcmp(net->nodes[taken].name, "input") ? " by an earlier node" : ": it stands for the image");
}

static int find_input(struct reader *reader, yaml_node_t *at, const struct name *names, int *input)
{
	const char *text = read_text(at);
	const struct name *found;

	if (!text)
		return read_fail(reader, at, "an input must be the name of a node");
	found = bsearch(text, names, (size_t)reader->net->node_count, sizeof(*names), by_name_alone);
	if (!found)
		return read_fail(reader, at, "input '%.64s' is no node; an input is the name of a node, or 'input' for the image", text);
	*input = found->node;
	return 0;
}

static int find_inputs(struct reader *reader, int index, const struct name *names)
{
	yaml_node_t *list = reader->places[index].inputs;
	struct net_node *node = &reader->net->nodes[index];
	long count = 1;
	int rc = 0;

	snprintf(reader->subject, sizeof(reader->subject), "node '%s': ", node->name);
	if (list && list->type == YAML_SEQUENCE_NODE)
		count = list->data.sequence.items.top - list->data.sequence.items.start;
	if (count < 1 || count > NET_INPUTS_MAX)
		return read_fail(reader, list, "it has %ld inputs, must have 1 to %d", count, NET_INPUTS_MAX);
	node->inputs = malloc((size_t)count * sizeof(*node->inputs));
	if (!node->inputs)
		return no_memory(reader);
	node->input_count = (int)count;
	node->inputs[0] = index - 1;
	if (list && list->type != YAML_SEQUENCE_NODE)
		return find_input(reader, list, names, &node->inputs[0]);
	for (long k = 0; list && !rc && k < count; k++)
		rc = find_input(reader, yaml_document_get_node(reader->document, list->data.sequence.items.start[k]), names, &node->inputs[k]);
	return rc;
}

static int join_nodes(struct reader *reader)
{
	struct name *names = malloc((size_t)reader->net->node_count * sizeof(*names));
	int rc;

	if (!names)
		return no_memory(reader);
	rc = sort_names(reader, names);
	for (int i = 1; !rc && i < reader->net->node_count; i++)
		rc = find_inputs(reader, i, names);
	free(names);
	return rc;
}

// ---- order, shapes, links -----------------------------------------------------------------------------------------

static int fail_cycle(struct reader *reader, const int cycle[], int count)
{
	const struct net *net = reader->net;
	char text[300] = "";
	int shown = 0;

	for (; shown < count && strlen(text) + READ_NAME_CHARS + 8 < sizeof(text); shown++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "'%s' -> ", net->nodes[cycle[shown]].name);
	return wc_fail(reader->err, WC_ERR_INPUT, "%s:%zu: node '%s': its output is needed to make its input, a cycle of %d node%s: %s%s'%s'",
		       reader->file, reader->places[cycle[0]].line, net->nodes[cycle[0]].name, count, count == 1 ? "" : "s", text,
		       shown < count ? "... -> " : "", net->nodes[cycle[0]].name);
}

// Put the nodes in execution order, and lines with them.
static int permute(struct reader *reader, const int order[], size_t lines[])
{
	struct net *net = reader->net;
	const size_t count = (size_t)net->node_count;
	struct net_node *nodes = calloc(count, sizeof(*nodes));
	int *place_of = malloc(count * sizeof(*place_of));

	if (!nodes || !place_of) {
		free(nodes);
		free(place_of);
		return no_memory(reader);
	}
	for (int i = 0; i < net->node_count; i++) {
		nodes[i] = net->nodes[order[i]];
		lines[i] = reader->places[order[i]].line;
		place_of[order[i]] = i;
	}
	for (int i = 0; i < net->node_count; i++)
		for (int k = 0; k < nodes[i].input_count; k++)
			nodes[i].inputs[k] = place_of[nodes[i].inputs[k]];
	free(place_of);
	free(net->nodes);
	net->nodes = nodes;
	return 0;
}

static int finish(struct reader *reader)
{
	struct net *net = reader->net;
	const size_t count = (size_t)net->node_count;
	int *order = malloc(count * sizeof(*order)), cycle = 0, rc;
	size_t *lines = malloc(count * sizeof(*lines));

	rc = order && lines ? net_order(net, order, &cycle, reader->err) : no_memory(reader);
	if (!rc)
		rc = cycle ? fail_cycle(reader, order, cycle) : permute(reader, order, lines);
	for (int i = 1; !rc && i < net->node_count; i++)
		rc = net_infer(net, i, (struct net_place){ reader->file, lines[i] }, reader->err);
	if (!rc)
		rc = net_link(net, reader->err);
	if (!rc)
		rc = net_check_whole(net, reader->file, lines, reader->err);
	free(order);
	free(lines);
	return rc;
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
	if (!rc)
		rc = read_name(reader, fields[0].value, "the network", &reader->net->name);
	if (rc)
		return rc;
	list = fields[2].value;
	if (list->type != YAML_SEQUENCE_NODE)
		return read_fail(reader, list, "nodes must be a list");
	count = list->data.sequence.items.top - list->data.sequence.items.start;
	if (count < 1 || count > NET_NODES_MAX)
		return read_fail(reader, list, "the network has %ld nodes, must have 1 to %d", count, NET_NODES_MAX);
	reader->net->nodes = calloc((size_t)count + 1, sizeof(*reader->net->nodes));
	reader->places = calloc((size_t)count + 1, sizeof(*reader->places));
	rc = reader->net->nodes && reader->places ? read_input(reader, fields[1].value) : no_memory(reader);
	for (long i = 0; !rc && i < count; i++)
		rc = read_node(reader, yaml_document_get_node(reader->document, list->data.sequence.items.start[i]));
	if (!rc)
		rc = join_nodes(reader);
	if (!rc)
		rc = finish(reader);
	free(reader->places);
	return rc;
}

// ---- the text -----------------------------------------------------------------------------------------------------

static int parse_error(const yaml_parser_t *parser, const char *file, struct wc_error *err)
{
	if (parser->error == YAML_MEMORY_ERROR)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	if (parser->error == YAML_READER_ERROR)
		return wc_fail(err, WC_ERR_INPUT, "%s: not a YAML text: %s at byte %zu", file, parser->problem, parser->problem_offset);
	return wc_fail(err, WC_ERR_INPUT, "%s:%zu: not YAML: %s", file, parser->problem_mark.line + 1,
		       parser->problem ? parser->problem : "syntax error");
}

// Lists and mappings within each other, ahead of loading: libyaml's time grows with the square of the depth, and a network needs 4. What is
// no YAML ends the walk; loading says why.
static int check_depth(const char *file, const char *text, size_t bytes, struct wc_error *err)
{
	yaml_parser_t parser;
	yaml_event_t event;
	bool more = true;
	int depth = 0, rc = 0;

	if (!yaml_parser_initialize(&parser))
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
	while (!rc && more && yaml_parser_parse(&parser, &event)) {
		depth += event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT;
		depth -= event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
		if (depth > DEPTH_MAX)
			rc = wc_fail(err, WC_ERR_INPUT, "%s:%zu: lists and mappings lie more than %d deep in each other", file, event.start_mark.line + 1,
				     DEPTH_MAX);
		more = event.type != YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return rc;
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
	rc = check_depth(file, text, bytes, err);
	if (rc)
		return rc;
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
