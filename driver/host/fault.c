// SPDX-License-Identifier: Apache-2.0
//
// The text form of a planted fault; see fault.h.
#include "driver/host/fault.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wc_commands.h"

static int set(struct fault *fault, const char *key, size_t length, uint64_t value, struct wc_error *err)
{
	struct wc_fault *device = &fault->device;
	const struct {
		const char *key;
		uint64_t max;
	} keys[] = {{"command", UINT32_MAX - 1}, {"wave", 1 << 24}, {"row", 4095}, {"column", 127}, {"bit", 31}, {"address", UINT64_MAX}};
	size_t i = 0;

	while (i < sizeof(keys) / sizeof(*keys) && (strlen(keys[i].key) != length || strncmp(keys[i].key, key, length)))
		i++;
	if (i == sizeof(keys) / sizeof(*keys))
		return wc_fail(err, WC_ERR_INPUT, "--fault: unknown key '%.*s'; known: command, wave, row, column, bit, address", (int)length, key);
	if (value > keys[i].max)
		return wc_fail(err, WC_ERR_INPUT, "--fault: %s=%llu, the limit is %llu", keys[i].key, (unsigned long long)value,
			       (unsigned long long)keys[i].max);
	switch (i) {
	case 0:
		device->command = (uint32_t)value;
		break;
	case 1:
		device->wave = (int)value;
		break;
	case 2:
		device->row = (int)value;
		break;
	case 3:
		device->column = (int)value;
		break;
	case 4:
		device->bit = (int)value;
		break;
	default:
		device->address = value;
		break;
	}
	return 0;
}

static int parse_pairs(struct fault *fault, const char *text, struct wc_error *err)
{
	const char *at = text;

	while (*at) {
		const size_t length = strcspn(at, "=");
		char *end;
		int result;

		if (at[length] != '=' || !isdigit((unsigned char)at[length + 1]))
			return wc_fail(err, WC_ERR_INPUT, "--fault: '%s' is not KEY=NUMBER", at);
		errno = 0;
		const uint64_t value = strtoull(at + length + 1, &end, 0);
		if (errno || (*end && *end != ','))
			return wc_fail(err, WC_ERR_INPUT, "--fault: '%s' is not a number", at + length + 1);
		result = set(fault, at, length, value, err);
		if (result)
			return result;
		at = *end ? end + 1 : end;
	}
	return 0;
}

int fault_parse(struct fault *fault, const char *text, struct wc_error *err)
{
	static const struct {
		const char *name;
		enum wc_fault_kind kind;
		int bit_max;
	} kinds[] = {
		{"buffer", WC_FAULT_BUFFER, 7}, {"weight", WC_FAULT_WEIGHT, 15}, {"accumulator", WC_FAULT_ACCUMULATOR, 31},
		{"memory", WC_FAULT_MEMORY, 7}, {"command", WC_FAULT_NONE, 7},
	};
	const size_t length = strcspn(text, ":");
	size_t i = 0;
	int result;

	*fault = (struct fault){0};
	while (i < sizeof(kinds) / sizeof(*kinds) && (strlen(kinds[i].name) != length || strncmp(kinds[i].name, text, length)))
		i++;
	if (i == sizeof(kinds) / sizeof(*kinds))
		return wc_fail(err, WC_ERR_INPUT, "--fault: unknown kind '%.*s'; known: buffer, weight, accumulator, memory, command", (int)length, text);
	if (text[length] != ':')
		return wc_fail(err, WC_ERR_INPUT, "--fault: '%s' says not where; expected %s:command=N,...", text, kinds[i].name);
	result = parse_pairs(fault, text + length + 1, err);
	if (result)
		return result;
	fault->device.kind = kinds[i].kind;
	fault->in_command = kinds[i].kind == WC_FAULT_NONE;
	if (fault->device.bit > kinds[i].bit_max)
		return wc_fail(err, WC_ERR_INPUT, "--fault: bit=%d, the limit of '%s' is %d", fault->device.bit, kinds[i].name, kinds[i].bit_max);
	if (fault->in_command && fault->device.address >= WC_COMMAND_BYTES)
		return wc_fail(err, WC_ERR_INPUT, "--fault: address=%llu, a command has %d bytes", (unsigned long long)fault->device.address,
			       WC_COMMAND_BYTES);
	return 0;
}
