// SPDX-License-Identifier: Apache-2.0
#include "tests/model/simd_nest.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct wc_simd_command nest(enum wc_simd_program program, int n, int y, int x, int channels, int block)
{
	return (struct wc_simd_command){
		.opcode = WC_OP_SIMD, .version = WC_COMMAND_VERSION, .program = (uint8_t)program, .count_n = (uint16_t)n, .count_y = (uint16_t)y,
		.count_x = (uint16_t)x, .channels = (uint32_t)channels, .block = (uint16_t)block, .block_step = (uint32_t)block, .group = 1,
		.groups = (uint16_t)block, .taps_y = 1, .taps_x = 1, .y_size = 1, .x_size = 1,
	};
}

void nest_groups(struct wc_simd_command *c, int group, int groups, int step)
{
	c->group = (uint16_t)group;
	c->groups = (uint16_t)groups;
	c->block = (uint16_t)(group * groups);
	c->block_step = (uint32_t)step;
}

// Streams and taps are equal blocks, one behind the other.
void nest_stream(struct wc_simd_command *c, int stream, int type, uint32_t base, int stride_n, int stride_y, int stride_x)
{
	const uint32_t fields[] = {base, (uint32_t)stride_n, (uint32_t)stride_y, (uint32_t)stride_x};
	uint8_t *bytes = (uint8_t *)c;

	memcpy(bytes + offsetof(struct wc_simd_command, s0_base) + 16 * stream, fields, sizeof(fields));
	bytes[offsetof(struct wc_simd_command, type0) + stream] = (uint8_t)type;
}

void nest_taps(struct wc_simd_command *c, int stream, int tap_y, int tap_x)
{
	const int32_t fields[] = {tap_y, tap_x};

	memcpy((uint8_t *)c + offsetof(struct wc_simd_command, s0_tap_y) + 8 * stream, fields, sizeof(fields));
}

uint32_t nest_pattern(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

void nest_run(struct device *device, const struct wc_simd_command *c)
{
	enum wc_status status = device_execute(device, c);

	cr_assert_eq(status, WC_STATUS_OK, "%s: status %d", wc_simd_texts[c->program].name, (int)status);
}

void nest_write(struct device *device, uint32_t at, const void *bytes, size_t count)
{
	cr_assert_leq(at + count, device->backend->params.buffer_bytes);
	device->backend->ops->buffer_write(device->backend, at, bytes, (uint32_t)count);
}

void nest_expect(struct device *device, uint32_t at, const void *bytes, size_t count, const char *what)
{
	const uint8_t *expected = bytes;
	uint8_t *got = malloc(count);

	device->backend->ops->buffer_read(device->backend, at, got, (uint32_t)count);
	for (size_t i = 0; i < count; i++)
		cr_assert_eq(got[i], expected[i], "%s: byte %zu is %02x, expected %02x", what, i, got[i], expected[i]);
	free(got);
}
