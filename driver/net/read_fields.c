// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "driver/net/read.h"

const char *read_text(const yaml_node_t *node)
{
	const char *text;

	if (node->type != YAML_SCALAR_NODE)
		return NULL;
	text = (const char *)node->data.scalar.value;
	return strlen(text) == node->data.scalar.length ? text : NULL;
}

int read_fields(struct reader *reader, yaml_node_t *node, const char *what, struct field *fields, size_t count)
{
	if (node->type != YAML_MAPPING_NODE)
		return read_fail(reader, node, "%s must be a mapping of keys to values", what);
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
		yaml_node_t *key = yaml_document_get_node(reader->document, pair->key);
		struct field *field = fields, *end = fields + count;

		if (!read_text(key))
			return read_fail(reader, key, "a key of %s must be a plain word", what);
		while (field < end && strcmp(field->key, read_text(key)))
			field++;
		if (field == end)
			return read_fail(reader, key, "unknown key '%.64s' in %s", read_text(key), what);
		if (field->value)
			return read_fail(reader, key, "key '%s' given twice in %s", field->key, what);
		field->value = yaml_document_get_node(reader->document, pair->value);
	}
	for (size_t i = 0; i < count; i++)
		if (fields[i].required && !fields[i].value)
			return read_fail(reader, node, "%s lacks the key '%s'", what, fields[i].key);
	return 0;
}

int read_int(struct reader *reader, yaml_node_t *node, const char *key, int min, int max, int *value)
{
	const char *text = read_text(node);
	char *end;
	long number;

	if (!text || !*text)
		return read_fail(reader, node, "%s must be a number from %d to %d", key, min, max);
	number = strtol(text, &end, 10);
	if (*end || strchr(" \t+", *text))
		return read_fail(reader, node, "%s '%.64s' must be a number from %d to %d", key, text, min, max);
	if (number < min || number > max)
		return read_fail(reader, node, "%s is %.64s, must be from %d to %d", key, text, min, max);
	*value = (int)number;
	return 0;
}

int read_pair(struct reader *reader, yaml_node_t *node, const char *key, int min, int max, int *height, int *width)
{
	yaml_node_t *first, *second;

	if (node->type != YAML_SEQUENCE_NODE) {
		if (read_int(reader, node, key, min, max, height))
			return WC_ERR_INPUT;
		*width = *height;
		return 0;
	}
	if (node->data.sequence.items.top - node->data.sequence.items.start != 2)
		return read_fail(reader, node, "%s must be one number or [height, width]", key);
	first = yaml_document_get_node(reader->document, node->data.sequence.items.start[0]);
	second = yaml_document_get_node(reader->document, node->data.sequence.items.start[1]);
	if (read_int(reader, first, key, min, max, height) || read_int(reader, second, key, min, max, width))
		return WC_ERR_INPUT;
	return 0;
}

int read_bool(struct reader *reader, yaml_node_t *node, const char *key, bool *value)
{
	const char *text = read_text(node);

	if (!text || (strcmp(text, "true") && strcmp(text, "false")))
		return read_fail(reader, node, "%s must be true or false", key);
	*value = !strcmp(text, "true");
	return 0;
}

int read_name(struct reader *reader, yaml_node_t *node, const char *what, char **name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
	const char *text = read_text(node);

	if (!text)
		return read_fail(reader, node, "the name of %s must be a word", what);
	if (!*text || strlen(text) > READ_NAME_CHARS || text[strspn(text, letters)])
		return read_fail(reader, node, "the name of %s, '%.80s', must be 1 to %d letters, digits, '_', '-' or '.'", what, text,
				 READ_NAME_CHARS);
	*name = strdup(text);
	return *name ? 0 : wc_fail(reader->err, WC_ERR_SYSTEM, "out of memory");
}
