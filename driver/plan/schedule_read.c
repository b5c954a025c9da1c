// SPDX-License-Identifier: Apache-2.0
//
// Reading schedules: the grammar of driver/README.md, line by line. What is wrong in form is found
// here, with file and line; what is wrong in meaning is the checker's business.
#include "driver/plan/schedule_parser.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/build.h"

enum {
	BATCH_MAX = 65535,
	CORES_MAX = 64,
	BUFFER_MIN_BYTES = 4096,
	BUFFER_MAX_BYTES = 1 << 30,
};

static const char *const header_names[HEADER_COUNT] = {
	"schedule", "net", "image", "batch", "cores", "array", "buffer", "bus", "accounting", "reserve", "planner",
};

static bool power_of_two(long value)
{
	return !(value & (value - 1));
}

static int read_array(struct parser *parser)
{
	struct schedule *schedule = parser->schedule;
	const char *end;
	long rows, cols;

	if (parser_number(parser, "array rows", parser->words[1], 4, 128, &end, &rows))
		return WC_ERR_INPUT;
	if (*end != 'x')
		return parser_fail(parser, "array '%.64s' must be ROWSxCOLS", parser->words[1]);
	if (parser_number(parser, "array columns", end + 1, 4, 128, NULL, &cols))
		return WC_ERR_INPUT;
	if (!power_of_two(rows) || !power_of_two(cols))
		return parser_fail(parser, "array is %.64s, sides must be 4, 8, 16, 32, 64 or 128", parser->words[1]);
	schedule->rows = (int)rows;
	schedule->cols = (int)cols;
	return 0;
}

// Bytes with an optional KiB, MiB or GiB behind.
static int read_bytes(struct parser *parser, const char *what, long min, uint32_t *bytes_out)
{
	static const struct { const char *suffix; int shift; } units[] = { { "", 0 }, { "KiB", 10 }, { "MiB", 20 }, { "GiB", 30 } };
	const char *end;
	long bytes;

	if (parser_number(parser, what, parser->words[1], 0, BUFFER_MAX_BYTES, &end, &bytes))
		return WC_ERR_INPUT;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].suffix))
			continue;
		bytes <<= units[i].shift;
		if (bytes < min || bytes > BUFFER_MAX_BYTES || bytes % 4096)
			return parser_fail(parser, "%s is %.64s, must be a multiple of 4096 bytes up to 1GiB", what, parser->words[1]);
		*bytes_out = (uint32_t)bytes;
		return 0;
	}
	return parser_fail(parser, "%s '%.64s' must be bytes, or a number of KiB, MiB or GiB", what, parser->words[1]);
}

static int read_bus(struct parser *parser)
{
	int bytes;

	if (parser_int(parser, "bus", parser->words[1], 16, 128, &bytes))
		return WC_ERR_INPUT;
	if (!power_of_two(bytes))
		return parser_fail(parser, "bus is %d bytes, must be 16, 32, 64 or 128", bytes);
	parser->schedule->bus_bytes = (uint32_t)bytes;
	return 0;
}

static int read_header(struct parser *parser, enum header header)
{
	struct schedule *schedule = parser->schedule;
	const char *word = parser->words[1];
	int version;

	if (parser_expect_words(parser, 2, 2))
		return WC_ERR_INPUT;
	if (parser->group)
		return parser_fail(parser, "'%s' must stand before the first group", parser->words[0]);
	if (parser->header_seen[header])
		return parser_fail(parser, "'%s' given twice", parser->words[0]);
	if (header != HEADER_VERSION && !parser->header_seen[HEADER_VERSION])
		return parser_fail(parser, "a schedule begins with 'schedule 1', not '%.64s'", parser->words[0]);
	parser->header_seen[header] = true;
	switch (header) {
	case HEADER_VERSION:
		return parser_int(parser, "the version of the schedule format", word, 1, 1, &version);
	case HEADER_NET:
		if (strcmp(word, parser->net->name))
			return parser_fail(parser, "the schedule is for network '%.64s', not for '%s'", word, parser->net->name);
		schedule->net_name = strdup(word);
		return schedule->net_name ? 0 : parser_no_memory(parser);
	case HEADER_IMAGE:
		if (parser_int(parser, "image", word, 1, NET_IMAGE_MAX, &schedule->image))
			return WC_ERR_INPUT;
		if (schedule->image != parser->net->nodes[0].out.height || schedule->image != parser->net->nodes[0].out.width)
			return parser_fail(parser, "the schedule is for an image of %d, the network has %dx%d", schedule->image,
					   parser->net->nodes[0].out.height, parser->net->nodes[0].out.width);
		return 0;
	case HEADER_RESERVE:
		if (parser_expect_paper(parser, "reserve"))
			return WC_ERR_INPUT;
		return read_bytes(parser, "reserve", 0, &schedule->reserve_bytes);
	case HEADER_BATCH:
		return parser_int(parser, "batch", word, 1, BATCH_MAX, &schedule->batch);
	case HEADER_CORES:
		return parser_int(parser, "cores", word, 1, CORES_MAX, &schedule->cores);
	case HEADER_ARRAY:
		return read_array(parser);
	case HEADER_BUFFER:
		return read_bytes(parser, "buffer", BUFFER_MIN_BYTES, &schedule->buffer_bytes);
	case HEADER_BUS:
		return read_bus(parser);
	case HEADER_ACCOUNTING:
		if (strcmp(word, "device") && strcmp(word, "paper"))
			return parser_fail(parser, "accounting '%.64s' must be device or paper", word);
		schedule->accounting = *word == 'd' ? SCHED_DEVICE : SCHED_PAPER;
		return 0;
	default:
		schedule->planner = strdup(word);
		return schedule->planner ? 0 : parser_no_memory(parser);
	}
}

// What must have been said before groups can be understood, and what a finished group must have.
static int close_group(struct parser *parser)
{
	if (!parser->group)
		return 0;
	if (!parser->has_sub_batch)
		return parser_fail(parser, "the group of line %d has no 'sub_batch'", parser->group->line);
	if (!parser->group->strip_count)
		return parser_fail(parser, "the group of line %d has no strip", parser->group->line);
	return 0;
}

// A schedule that is to run names nothing that the device has not.
static int check_network(struct parser *parser)
{
	struct wc_error err = {""};
	const int rc = net_require_device(parser->net, "device schedules", &err);

	return rc ? parser_fail(parser, "%s: write 'accounting paper'", err.text) : 0;
}

static int read_group(struct parser *parser)
{
	enum sched_phase phase;
	int first, last, rc;

	if (!parser->group && parser->schedule->accounting == SCHED_DEVICE && check_network(parser))
		return WC_ERR_INPUT;
	for (enum header header = 0; header < HEADER_COUNT; header++) {
		bool paper = parser->schedule->accounting == SCHED_PAPER;
		bool optional = header == HEADER_IMAGE || header == HEADER_CORES || header == HEADER_ACCOUNTING || header == HEADER_RESERVE ||
				header == HEADER_PLANNER || (paper && (header == HEADER_ARRAY || header == HEADER_BUS));

		if (!optional && !parser->header_seen[header])
			return parser_fail(parser, "'%s' must be given before the first group", header_names[header]);
	}
	if (parser->schedule->batch % parser->schedule->cores)
		return parser_fail(parser, "the batch of %d is not a multiple of the %d cores that it is split among", parser->schedule->batch,
				   parser->schedule->cores);
	rc = close_group(parser);
	if (rc)
		return rc;
	if (parser_expect_words(parser, 4, 4))
		return WC_ERR_INPUT;
	if (strcmp(parser->words[1], "forward") && strcmp(parser->words[1], "backward"))
		return parser_fail(parser, "phase '%.64s' must be forward or backward", parser->words[1]);
	phase = *parser->words[1] == 'f' ? SCHED_FORWARD : SCHED_BACKWARD;
	if (parser_node(parser, parser->words[2], &first) || parser_node(parser, parser->words[3], &last))
		return WC_ERR_INPUT;
	if (first < 1)
		return parser_fail(parser, "a group cannot begin with '%s': the image is not computed", parser->words[2]);
	if (last < first)
		return parser_fail(parser, "the group ends with '%s', which stands before '%s' in the network", parser->words[3], parser->words[2]);
	if (phase == SCHED_FORWARD && parser->group && parser->group->phase == SCHED_BACKWARD)
		return parser_fail(parser, "a forward group behind a backward one");
	parser->group = build_group(parser->schedule, phase, first, last, parser->net->node_count);
	if (!parser->group)
		return parser_no_memory(parser);
	parser->group->line = parser->line;
	parser->strip = NULL;
	parser->has_sub_batch = parser->has_tiling = false;
	return 0;
}

static int read_tiling(struct parser *parser)
{
	for (enum sched_tiling tiling = SCHED_TILING_NONE; tiling <= SCHED_TILING_2PS; tiling++) {
		if (!strcmp(parser->words[1], sched_tiling_name(tiling))) {
			parser->group->tiling = tiling;
			return 0;
		}
	}
	return parser_fail(parser, "tiling '%.64s' must be none, overl or 2ps", parser->words[1]);
}

static int read_property(struct parser *parser)
{
	const char *word = parser->words[0];
	bool *seen = NULL;

	if (!parser->group || parser->strip)
		return parser_fail(parser, "'%s' must stand between a group's first line and its strips", word);
	if (!strcmp(word, "weight"))
		return parser_policy(parser, parser->group->weight, 2);
	if (!strcmp(word, "wgrad"))
		return parser_policy(parser, parser->group->wgrad, 4);
	if (!strcmp(word, "reason")) {
		if (parser->group->reason)
			return parser_fail(parser, "'reason' given twice");
		parser->group->reason = strdup(parser->tail);
		return parser->group->reason ? 0 : parser_no_memory(parser);
	}
	if (parser_expect_words(parser, 2, 2))
		return WC_ERR_INPUT;
	seen = !strcmp(word, "tiling") ? &parser->has_tiling : &parser->has_sub_batch;
	if (*seen)
		return parser_fail(parser, "'%s' given twice", word);
	*seen = true;
	if (seen == &parser->has_tiling)
		return read_tiling(parser);
	return parser_int(parser, "sub_batch", parser->words[1], 1, schedule_of_core(parser->schedule).batch, &parser->group->sub_batch);
}

static int read_strip(struct parser *parser)
{
	int index;

	if (parser_expect_words(parser, 2, 2))
		return WC_ERR_INPUT;
	if (!parser->group)
		return parser_fail(parser, "a strip outside of any group");
	if (parser_int(parser, "the strip's number", parser->words[1], 0, INT_MAX, &index))
		return WC_ERR_INPUT;
	if (index != parser->group->strip_count)
		return parser_fail(parser, "strip %d where strip %d is next: strips are numbered in the order of their execution", index,
			    parser->group->strip_count);
	parser->strip = build_strip(parser->group);
	return parser->strip ? 0 : parser_no_memory(parser);
}

static int read_line(struct parser *parser)
{
	static const char *const properties[] = { "sub_batch", "tiling", "weight", "wgrad", "reason" };
	const char *word = parser->words[0];

	for (enum header header = 0; header < HEADER_COUNT; header++)
		if (!strcmp(word, header_names[header]))
			return read_header(parser, header);
	if (!strcmp(word, "group"))
		return read_group(parser);
	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++)
		if (!strcmp(word, properties[i]))
			return read_property(parser);
	if (!strcmp(word, "strip"))
		return read_strip(parser);
	for (enum sched_op op = SCHED_LOAD; op < SCHED_OP_COUNT; op++)
		if (!strcmp(word, sched_op_name(op)))
			return parser_statement(parser, op);
	return parser_fail(parser, "unknown word '%.64s'", word);
}

int schedule_read(struct schedule *schedule, const struct net *net, FILE *file, const char *file_name, struct wc_error *err)
{
	struct parser parser = { .schedule = schedule, .net = net, .err = err, .file_name = file_name };
	char *line = NULL, *tail = NULL;
	size_t capacity = 0;
	ssize_t length;
	int rc = 0;

	memset(schedule, 0, sizeof(*schedule));
	schedule->cores = 1;
	schedule->file_name = strdup(file_name);
	if (!schedule->file_name)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	while (!rc && (length = getline(&line, &capacity, file)) >= 0) {
		parser.line++;
		free(tail);
		tail = malloc((size_t)length + 1);
		if (!tail) {
			rc = parser_no_memory(&parser);
		} else if (memchr(line, 0, (size_t)length)) {
			rc = parser_fail(&parser, "a NUL byte in the text");
		} else {
			parser_split(&parser, line, tail, (size_t)length + 1);
			rc = parser.count ? read_line(&parser) : 0;
		}
	}
	if (!rc && ferror(file))
		rc = wc_fail(err, WC_ERR_SYSTEM, "cannot read '%s': %m", file_name);
	if (!rc && !parser.group)
		rc = parser_fail(&parser, "the schedule has no group");
	if (!rc)
		rc = close_group(&parser);
	free(tail);
	free(line);
	return rc;
}

int schedule_net_name(FILE *file, const char *file_name, char **name, int *image, struct wc_error *err)
{
	char *line = NULL, first[65], second[65];
	size_t capacity = 0;
	int rc = 0;

	*name = NULL;
	*image = 0;
	// Up to the first group.
	while (!rc && getline(&line, &capacity, file) >= 0) {
		int words;

		line[strcspn(line, "#")] = 0;
		words = sscanf(line, " %64s %64s", first, second);

		if (words >= 1 && !strcmp(first, "group"))
			break;
		if (words == 2 && !strcmp(first, "image"))
			*image = atoi(second) > 0 && atoi(second) <= NET_IMAGE_MAX ? atoi(second) : 0; // the parser complains
		if (words < 2 || strcmp(first, "net") || *name)
			continue;
		*name = strdup(second);
		if (!*name)
			rc = wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	}
	free(line);
	rewind(file);
	if (!rc && !*name)
		rc = wc_fail(err, WC_ERR_INPUT, "%s: not a schedule: it has no line 'net NAME' before its groups", file_name);
	return rc;
}
