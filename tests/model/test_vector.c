// SPDX-License-Identifier: Apache-2.0
//
// VECTOR operations against the golden ReLU: every value, tails, masks, planes, in place, ranges.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "csim/golden/relu.h"
#include "tests/model/device.h"
#include "tests/reference.h"

enum { RELU, GRAD_MASK, GRAD_OUT };

// All 65,536 values in pieces that fit.
Test(vector, every_value_passes_as_the_golden_relu_says)
{
	enum { COUNT = 1024 };
	struct device device;
	uint16_t x[COUNT], dy[COUNT], expected[COUNT], got[COUNT];
	uint8_t mask[COUNT / 8], got_mask[COUNT / 8];

	device_open(&device, &device_small, 1);
	for (int first = 0; first < 65536; first += COUNT) {
		struct wc_vector_command relu = device_vector(RELU, COUNT, 0, 4096, 8192);
		struct wc_vector_command by_mask = device_vector(GRAD_MASK, COUNT, 2048, 4096, 8192), by_out = device_vector(GRAD_OUT, COUNT, 2048, 0, 8192);

		relu.flags = 1;
		for (int i = 0; i < COUNT; i++) {
			x[i] = (uint16_t)(first + i);
			dy[i] = (uint16_t)(x[i] * 40503u + 7);
		}
		device.backend->ops->buffer_write(device.backend, 0, x, sizeof(x));
		device.backend->ops->buffer_write(device.backend, 2048, dy, sizeof(dy));
		cr_assert_eq(device_execute(&device, &relu), WC_STATUS_OK);
		device.backend->ops->buffer_read(device.backend, 8192, got, sizeof(got));
		device.backend->ops->buffer_read(device.backend, 4096, got_mask, sizeof(got_mask));
		golden_relu(x, COUNT, expected, mask);
		cr_assert_arr_eq(got, expected, sizeof(got));
		cr_assert_arr_eq(got_mask, mask, sizeof(mask));

		reference_relu_gradient_mask(mask, dy, COUNT, expected);
		cr_assert_eq(device_execute(&device, &by_mask), WC_STATUS_OK);
		device.backend->ops->buffer_read(device.backend, 8192, got, sizeof(got));
		cr_assert_arr_eq(got, expected, sizeof(got));
		cr_assert_eq(device_execute(&device, &by_out), WC_STATUS_OK);
		device.backend->ops->buffer_read(device.backend, 8192, got, sizeof(got));
		cr_assert_arr_eq(got, expected, sizeof(got));
	}
	device_close(&device);
}

// Two planes of three rows with a tail, in place or not: rows anywhere, nothing else touched.
static void check_rows(struct device *device, int op, uint32_t elements, bool in_place, uint64_t *state)
{
	struct wc_vector_command command = device_vector(op, elements, 0, 4096, in_place ? 0 : 8192);
	uint32_t row = (2 * elements + 15) / 16 * 16, aux_row = op == GRAD_OUT ? row : ((elements + 7) / 8 + 15) / 16 * 16;
	uint8_t *buffer = malloc(device_small.buffer_bytes), *got = malloc(device_small.buffer_bytes);

	command.flags = op == RELU;
	command.count1 = 3;
	command.count2 = 2;
	command.src_stride1 = row + 16;
	command.src_stride2 = 3 * (row + 16) + 32;
	command.aux_stride1 = aux_row;
	command.aux_stride2 = 3 * aux_row + 16;
	command.dst_stride1 = in_place ? command.src_stride1 : row;
	command.dst_stride2 = in_place ? command.src_stride2 : 3 * row;
	for (uint32_t i = 0; i < device_small.buffer_bytes; i++)
		buffer[i] = (uint8_t)device_random(state);
	device->backend->ops->buffer_write(device->backend, 0, buffer, device_small.buffer_bytes);
	cr_assert_eq(device_execute(device, &command), WC_STATUS_OK);
	for (uint32_t i2 = 0; i2 < 2; i2++)
		for (uint32_t i1 = 0; i1 < 3; i1++) {
			uint16_t *src = malloc(elements * 2), *aux = malloc(elements * 2), *dst = malloc(elements * 2);
			uint8_t *at = buffer + 4096 + i1 * command.aux_stride1 + i2 * command.aux_stride2;

			memcpy(src, buffer + i1 * command.src_stride1 + i2 * command.src_stride2, elements * 2);
			memcpy(aux, at, op == GRAD_OUT ? elements * 2 : (elements + 7) / 8);
			if (op == RELU)
				golden_relu(src, elements, dst, at);
			else if (op == GRAD_MASK)
				reference_relu_gradient_mask((uint8_t *)aux, src, elements, dst);
			else
				golden_relu_gradient_out(aux, src, elements, dst);
			memcpy(buffer + command.dst_base + i1 * command.dst_stride1 + i2 * command.dst_stride2, dst, elements * 2);
			free(src);
			free(aux);
			free(dst);
		}
	device->backend->ops->buffer_read(device->backend, 0, got, device_small.buffer_bytes);
	cr_assert_arr_eq(got, buffer, device_small.buffer_bytes);
	free(buffer);
	free(got);
}

Test(vector, rows_planes_and_tails)
{
	static const uint32_t sizes[] = {1, 7, 8, 9, 15, 64, 129};
	uint64_t state = device_seed() + 300;
	struct device device;

	device_open(&device, &device_small, 1);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int op = RELU; op <= GRAD_OUT; op++)
			for (int in_place = 0; in_place < 2; in_place++)
				check_rows(&device, op, sizes[i], in_place, &state);
	device_close(&device);
}

Test(vector, rows_outside_the_buffer_are_refused)
{
	// Whose row reaches one element beyond the buffer: source, result, fp16 aux, mask; and a mask that is not used.
	static const struct {
		int op, flags;
		uint32_t elements, src, aux, dst;
		enum wc_status status;
	} cases[] = {
		{RELU, 0, 64, 16384 - 128, 0, 0, WC_STATUS_OK},
		{RELU, 0, 65, 16384 - 128, 0, 0, WC_STATUS_BUFFER_RANGE},
		{RELU, 0, 65, 0, 0, 16384 - 128, WC_STATUS_BUFFER_RANGE},
		{GRAD_OUT, 0, 65, 0, 16384 - 128, 0, WC_STATUS_BUFFER_RANGE},
		{GRAD_MASK, 0, 128, 0, 16384 - 16, 4096, WC_STATUS_OK},
		{GRAD_MASK, 0, 129, 0, 16384 - 16, 4096, WC_STATUS_BUFFER_RANGE},
		{RELU, 1, 129, 0, 16384 - 16, 4096, WC_STATUS_BUFFER_RANGE},
		{RELU, 0, 129, 0, 16384 - 16, 4096, WC_STATUS_OK},
		{RELU, 0, 16384, 0, 0, 0, WC_STATUS_BUFFER_RANGE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct device device;
		struct wc_vector_command command = device_vector(cases[i].op, cases[i].elements, cases[i].src, cases[i].aux, cases[i].dst);

		device_open(&device, &device_small, 1);
		command.flags = (uint16_t)cases[i].flags;
		cr_assert_eq(device_execute(&device, &command), cases[i].status, "case %zu", i);
		device_close(&device);
	}
}
