// SPDX-License-Identifier: Apache-2.0
//
// The text form of a planted fault; see fault.h.
#include "driver/host/fault.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wc_commands.h"

enum key { COMMAND, WAVE, ROW, COLUMN, BIT, ADDRESS, CORE, KEYS };

static const struct {
	const char *name;
	uint64_t max;
} keys[KEYS] = {
	[COMMAND] = {"command", UINT32_MAX - 1}, [WAVE] = {"wave", 1 << 24}, [ROW] = {"row", 1 << 24}, [COLUMN] = {"column", 255}, [BIT] = {"bit", 31},
	[ADDRESS] = {"address", UINT64_MAX}, [CORE] = {"core", WC_CORES_MAX - 1},
};

enum {
	OPTIONAL = 1 << CORE,
	IN_BYTES = 1 << COMMAND | 1 << ADDRESS | 1 << BIT,
	IN_ARRAY = 1 << COMMAND | 1 << WAVE | 1 << ROW | 1 << COLUMN | 1 << BIT,
	IN_LANES = 1 << COMMAND | 1 << ROW | 1 << COLUMN | 1 << BIT,
};

static const struct kind {
	const char *name;
	enum wc_fault_kind kind;
	int bit_max;
	unsigned keys;
} kinds[] = {
	{"buffer", WC_FAULT_BUFFER, 7, IN_BYTES}, {"weight", WC_FAULT_WEIGHT, 15, IN_ARRAY}, {"accumulator", WC_FAULT_ACCUMULATOR, 31, IN_ARRAY},
	{"lane", WC_FAULT_LANE, 31, IN_LANES}, {"memory", WC_FAULT_MEMORY, 7, IN_BYTES}, {"command", WC_FAULT_NONE, 7, IN_BYTES},
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

// "weight:command=N,wave=N,..." without the keys that are not in the set.
static const char *print_keys(const struct kind *kind, unsigned set, const char *suffix, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (enum key key = COMMAND; key < KEYS; key++)
		if (kind->keys & set & 1u << key)
			used += (size_t)snprintf(text + used, size - used, "%s%s%s", used ? "," : "", keys[key].name, suffix);
	return text;
}

static int wrong_keys(const struct kind *kind, const char *what, const char *which, struct wc_error *err)
{
	char all[80];

	return wc_fail(err, WC_ERR_INPUT, "--fault: %s %s; expected %s:%s, and core=N if it is not core 0's", what, which, kind->name,
		       print_keys(kind, ~0u, "=N", all, sizeof(all)));
}

static int parse_pair(const struct kind *kind, const char *at, const char **rest, uint64_t values[KEYS], unsigned *seen, struct wc_error *err)
{
	const size_t length = strcspn(at, "=");
	enum key key = COMMAND;
	char *end, name[16];

	if (at[length] != '=' || !isdigit((unsigned char)at[length + 1]))
		return wc_fail(err, WC_ERR_INPUT, "--fault: '%s' is not KEY=NUMBER", at);
	snprintf(name, sizeof(name), "%.*s", (int)length, at);
	while (key < KEYS && strcmp(keys[key].name, name))
		key++;
	if (key == KEYS || !((kind->keys | OPTIONAL) & 1u << key))
		return wrong_keys(kind, "unknown key", name, err);
	if (*seen & 1u << key)
		return wrong_keys(kind, "given twice:", name, err);
	*seen |= 1u << key;
	errno = 0;
	values[key] = strtoull(at + length + 1, &end, 0);
	if (*end && *end != ',')
		return wc_fail(err, WC_ERR_INPUT, "--fault: '%s' is not a number", at + length + 1);
	if (errno || values[key] > keys[key].max)
		return wc_fail(err, WC_ERR_INPUT, "--fault: %.*s is out of range, the limit is %" PRIu64, (int)(end - at), at, keys[key].max);
	*rest = end;
	return 0;
}

int fault_parse(struct fault *fault, const char *text, struct wc_error *err)
{
	const size_t length = strcspn(text, ":");
	const struct kind *kind = kinds;
	uint64_t values[KEYS] = {0};
	unsigned seen = 0;
	const char *at;
	char missing[80];

	*fault = (struct fault){0};
	while (kind < kinds + KINDS && (strlen(kind->name) != length || strncmp(kind->name, text, length)))
		kind++;
	if (kind == kinds + KINDS)
		return wc_fail(err, WC_ERR_INPUT, "--fault: unknown kind '%.*s'; known: buffer, weight, accumulator, lane, memory, command", (int)length, text);
	if (text[length] != ':')
		return wrong_keys(kind, "it says not where:", text, err);
	for (at = text + length; *at; ) {
		const int result = parse_pair(kind, at + 1, &at, values, &seen, err);

		if (result)
			return result;
	}
	if ((seen & ~OPTIONAL) != kind->keys)
		return wrong_keys(kind, "missing", print_keys(kind, ~seen, "", missing, sizeof(missing)), err);
	if (values[BIT] > (uint64_t)kind->bit_max)
		return wc_fail(err, WC_ERR_INPUT, "--fault: bit=%" PRIu64 ", the limit of '%s' is %d", values[BIT], kind->name, kind->bit_max);
	fault->device = (struct wc_fault){
		.kind = kind->kind,
		.core = (int)values[CORE],
		.command = (uint32_t)values[COMMAND],
		.wave = (int)values[WAVE],
		.row = (int)values[ROW],
		.column = (int)values[COLUMN],
		.bit = (int)values[BIT],
		.address = values[ADDRESS],
	};
	fault->in_command = kind->kind == WC_FAULT_NONE;
	if (fault->in_command && fault->device.address >= WC_COMMAND_BYTES)
		return wc_fail(err, WC_ERR_INPUT, "--fault: address=%" PRIu64 ", a command has %d bytes", fault->device.address, WC_COMMAND_BYTES);
	return 0;
}

int fault_check(const struct fault *fault, const struct wc_device_params *params, struct wc_error *err)
{
	const struct wc_fault *device = &fault->device;
	const bool weight = device->kind == WC_FAULT_WEIGHT, in_array = weight || device->kind == WC_FAULT_ACCUMULATOR;
	const int rows = weight ? params->rows : params->acc_rows;

	if (device->core >= params->cores)
		return wc_fail(err, WC_ERR_INPUT, "--fault: core=%d, the device has cores 0 to %d", device->core, params->cores - 1);
	if (in_array && device->row >= rows)
		return wc_fail(err, WC_ERR_INPUT, "--fault: row=%d, the %s of the device has rows 0 to %d", device->row, weight ? "array" : "accumulator", rows - 1);
	if (in_array && device->column >= params->cols)
		return wc_fail(err, WC_ERR_INPUT, "--fault: column=%d, the array of the device has columns 0 to %d", device->column, params->cols - 1);
	if (device->kind == WC_FAULT_LANE && device->column >= (int)wc_device_lanes(params))
		return wc_fail(err, WC_ERR_INPUT, "--fault: column=%d, the vector unit of the device has lanes 0 to %" PRIu32, device->column,
			       wc_device_lanes(params) - 1);
	if (device->kind == WC_FAULT_BUFFER && device->address >= params->buffer_bytes)
		return wc_fail(err, WC_ERR_INPUT, "--fault: address=%" PRIu64 ", the buffer of the device has %" PRIu32 " bytes", device->address,
			       params->buffer_bytes);
	return 0;
}

int fault_check_memory(const struct fault *fault, const struct wc_memory *memory, struct wc_error *err)
{
	if (fault->device.kind != WC_FAULT_MEMORY || wc_memory_contains(memory, fault->device.address, 1))
		return 0;
	return wc_fail(err, WC_ERR_INPUT, "--fault: address=%" PRIu64 " (0x%" PRIx64 "), the memory of this run has addresses 0x%" PRIx64 " to 0x%" PRIx64,
		       fault->device.address, fault->device.address, memory->base, memory->base + memory->bytes - 1);
}
