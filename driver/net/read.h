// SPDX-License-Identifier: Apache-2.0
//
// The YAML reader behind net_read(): driver/net/README.md is the format. libyaml parses the text; read_fields.c takes
// values out of the document, read_node.c makes one node of its mapping, and read.c joins the nodes to a graph.
#ifndef WC_NET_READ_H
#define WC_NET_READ_H

#include <stddef.h>

#include <yaml.h>

#include "driver/net/net.h"

// Read the one network in `bytes` of YAML text; `file` is its name in messages. The image is `image` pixels high and
// wide, 0: as the text says. On error the network is empty.
int net_parse(struct net *net, const char *file, const char *text, size_t bytes, int image, struct wc_error *err);

enum { READ_NAME_CHARS = 64 };

struct reader {
	const char *file;
	yaml_document_t *document;
	struct net *net;
	int image;
	struct wc_error *err;
	char subject[READ_NAME_CHARS + 16]; // "node 'conv1': ", for messages
	// What node i's mapping says of itself, [nodes + 1]; nothing for the image.
	struct read_place {
		size_t line;
		yaml_node_t *name;
		yaml_node_t *inputs; // a name, a list of names, or NULL for the node before
	} *places;
};

#define read_fail(reader, node, format, ...) \
	wc_fail((reader)->err, WC_ERR_INPUT, "%s:%zu: %s" format, (reader)->file, (node)->start_mark.line + 1, \
		(reader)->subject __VA_OPT__(, ) __VA_ARGS__)

// A key and where its value goes: NULL until seen.
struct field {
	const char *key;
	bool required;
	yaml_node_t *value;
};

// The text of a scalar; NULL if it is none or has a NUL byte inside.
const char *read_text(const yaml_node_t *node);
// Sort a mapping's pairs into fields; unknown, repeated and missing keys are errors.
int read_fields(struct reader *reader, yaml_node_t *node, const char *what, struct field *fields, size_t count);
// Values: 0 and the value, or WC_ERR_INPUT with a message that names the key and the limits.
int read_int(struct reader *reader, yaml_node_t *node, const char *key, int min, int max, int *value);
// One number for both, or [height, width].
int read_pair(struct reader *reader, yaml_node_t *node, const char *key, int min, int max, int *height, int *width);
int read_bool(struct reader *reader, yaml_node_t *node, const char *key, bool *value);
int read_name(struct reader *reader, yaml_node_t *node, const char *what, char **name);

// Append one entry of `nodes` to the network, which has room for it, and fill its place. Inputs and shapes come later.
int read_node(struct reader *reader, yaml_node_t *at);

#endif
