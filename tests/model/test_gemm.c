// SPDX-License-Identifier: Apache-2.0
//
// The three GEMMs of training as commands against the golden operators, tile by tile, and their probes against the trace of an element.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "csim/golden/element.h"
#include "csim/golden/half.h"
#include "csim/golden/ordered.h"
#include "tests/model/device.h"
#include "tests/model/lower.h"
#include "tests/reference.h"

// One layer in the buffer, and its tensors outside.
struct layer {
	struct device device;
	struct lowering lowering;
	uint16_t *x, *w, *y;
	uint64_t tiles, rows; // commands executed, rows drained
	uint64_t state;
};

static uint32_t round_up(uint32_t bytes)
{
	return (bytes + 15) / 16 * 16;
}

static uint16_t *random_halves(size_t count, uint64_t *state)
{
	uint16_t *halves = malloc(count * sizeof(*halves));

	for (size_t i = 0; i < count; i++)
		halves[i] = golden_half_from_float((float)(int32_t)device_random(state) * 0x1p-31f);
	return halves;
}

// Copy between a dense tensor and rows of `pitch` bytes in the buffer.
static void put_rows(struct layer *layer, uint32_t base, uint32_t pitch, const uint16_t *tensor, int rows, int row_elements)
{
	for (int i = 0; i < rows; i++)
		layer->device.backend->ops->buffer_write(layer->device.backend, base + (uint32_t)i * pitch, tensor + (size_t)i * row_elements, (uint32_t)row_elements * 2);
}

static uint16_t *get_rows(struct layer *layer, uint32_t base, uint32_t pitch, int rows, int row_elements)
{
	uint16_t *tensor = malloc((size_t)rows * row_elements * sizeof(*tensor));

	for (int i = 0; i < rows; i++)
		layer->device.backend->ops->buffer_read(layer->device.backend, base + (uint32_t)i * pitch, tensor + (size_t)i * row_elements, (uint32_t)row_elements * 2);
	return tensor;
}

static int count_row(void *context, const struct wc_tile_row *row)
{
	struct layer *layer = context;

	cr_assert_gt(row->count, 0);
	layer->rows++;
	return 0;
}

static void layer_open(struct layer *layer, struct golden_conv conv, int rows, int cols, int acc_rows, bool merge, uint64_t state)
{
	struct wc_device_params params = {.rows = rows, .cols = cols, .acc_rows = acc_rows, .mac_stages = 1, .buffer_bytes = 1 << 20, .bus_bytes = 16, .cores = 1};
	struct wc_observer observer = {.context = layer, .tile_row = count_row};
	struct lowering *lowering = &layer->lowering;

	memset(layer, 0, sizeof(*layer));
	layer->state = state;
	conv.out_h = golden_conv_output(conv.in_h, conv.kernel_h, conv.stride_h, conv.pad_h, conv.dilation_h);
	conv.out_w = golden_conv_output(conv.in_w, conv.kernel_w, conv.stride_w, conv.pad_w, conv.dilation_w);
	device_open(&layer->device, &params, state);
	layer->device.backend->ops->set_observer(layer->device.backend, &observer);
	lowering->conv = conv;
	lowering->rows = rows;
	lowering->cols = cols;
	lowering->acc_rows = acc_rows;
	lowering->merge = merge;
	lowering->in_pitch = round_up((uint32_t)(conv.in_w * conv.in_c * 2));
	lowering->out_pitch = round_up((uint32_t)(conv.out_w * conv.out_c * 2));
	lowering->x = 64;
	lowering->y = lowering->x + (uint32_t)(conv.batch * conv.in_h) * lowering->in_pitch;
	lowering->w = lowering->y + (uint32_t)(conv.batch * conv.out_h) * lowering->out_pitch;
	lowering->dw = round_up(lowering->w + (uint32_t)golden_conv_weight_count(&conv) * 2);
	cr_assert_leq(lowering->dw + golden_conv_weight_count(&conv) * 4, params.buffer_bytes);
	layer->x = random_halves(golden_conv_in_count(&conv), &layer->state);
	layer->w = random_halves(golden_conv_weight_count(&conv), &layer->state);
	layer->y = random_halves(golden_conv_out_count(&conv), &layer->state);
	layer->device.backend->ops->buffer_write(layer->device.backend, lowering->w, layer->w, (uint32_t)golden_conv_weight_count(&conv) * 2);
}

static void layer_close(struct layer *layer)
{
	device_close(&layer->device);
	free(layer->x);
	free(layer->w);
	free(layer->y);
}

static void execute(void *context, const struct wc_gemm_command *command)
{
	struct layer *layer = context;
	enum wc_status status = device_execute(&layer->device, command);

	cr_assert_eq(status, WC_STATUS_OK, "status %d", status);
	layer->tiles++;
}

static void check_forward(struct layer *layer)
{
	const struct golden_conv *conv = &layer->lowering.conv;
	size_t count = golden_conv_out_count(conv);
	uint16_t *expected = malloc(count * sizeof(*expected)), *got;

	put_rows(layer, layer->lowering.x, layer->lowering.in_pitch, layer->x, conv->batch * conv->in_h, conv->in_w * conv->in_c);
	lower_forward(&layer->lowering, execute, layer);
	got = get_rows(layer, layer->lowering.y, layer->lowering.out_pitch, conv->batch * conv->out_h, conv->out_w * conv->out_c);
	cr_assert_eq(golden_forward(conv, layer->lowering.rows, layer->x, layer->w, golden_range_out(conv), expected, &layer->device.err), 0);
	cr_assert_arr_eq(got, expected, count * sizeof(*got));
	free(got);
	free(expected);
}

static void check_data_gradient(struct layer *layer)
{
	const struct golden_conv *conv = &layer->lowering.conv;
	size_t count = golden_conv_in_count(conv);
	uint16_t *expected = malloc(count * sizeof(*expected)), *got;

	put_rows(layer, layer->lowering.y, layer->lowering.out_pitch, layer->y, conv->batch * conv->out_h, conv->out_w * conv->out_c);
	lower_data_gradient(&layer->lowering, execute, layer);
	got = get_rows(layer, layer->lowering.x, layer->lowering.in_pitch, conv->batch * conv->in_h, conv->in_w * conv->in_c);
	cr_assert_eq(golden_data_gradient(conv, layer->lowering.rows, layer->y, layer->w, golden_range_in(conv), expected, &layer->device.err), 0);
	cr_assert_arr_eq(got, expected, count * sizeof(*got));
	free(got);
	free(expected);
}

// Two cuts in the rows, the second preloaded with the first one's sums.
static void check_weight_gradient(struct layer *layer)
{
	const struct golden_conv *conv = &layer->lowering.conv;
	size_t count = golden_conv_weight_count(conv);
	float *expected = malloc(count * sizeof(*expected)), *got = malloc(count * sizeof(*got));
	struct golden_range cuts[2] = {golden_range_out(conv), golden_range_out(conv)};
	int cut_count = conv->out_h > 1 ? 2 : 1;

	if (cut_count == 2)
		cuts[0].row_hi = cuts[1].row_lo = (conv->out_h + 1) / 2;
	put_rows(layer, layer->lowering.x, layer->lowering.in_pitch, layer->x, conv->batch * conv->in_h, conv->in_w * conv->in_c);
	put_rows(layer, layer->lowering.y, layer->lowering.out_pitch, layer->y, conv->batch * conv->out_h, conv->out_w * conv->out_c);
	for (int i = 0; i < cut_count; i++)
		lower_weight_gradient(&layer->lowering, cuts[i], i > 0, execute, layer);
	layer->device.backend->ops->buffer_read(layer->device.backend, layer->lowering.dw, got, (uint32_t)(count * sizeof(*got)));
	cr_assert_eq(reference_weight_gradient(conv, layer->lowering.rows, layer->x, layer->y, cuts, cut_count, expected, &layer->device.err), 0);
	cr_assert_arr_eq(got, expected, count * sizeof(*got));
	free(got);
	free(expected);
}

static struct golden_conv random_conv(uint64_t *state)
{
	for (;;) {
		struct golden_conv conv = {
			.batch = device_between(state, 1, 3), .in_h = device_between(state, 1, 12), .in_w = device_between(state, 1, 12),
			.in_c = device_between(state, 1, 24), .out_c = device_between(state, 1, 24), .kernel_h = device_between(state, 1, 5),
			.kernel_w = device_between(state, 1, 5), .stride_h = device_between(state, 1, 4), .stride_w = device_between(state, 1, 4),
			.pad_h = device_between(state, 0, 3), .pad_w = device_between(state, 0, 3), .dilation_h = device_between(state, 1, 3),
			.dilation_w = device_between(state, 1, 2),
		};

		if (device_between(state, 0, 7) == 0)
			conv.kernel_h = conv.kernel_w = 11, conv.pad_h = conv.pad_w = 5, conv.in_c = 3, conv.dilation_h = conv.dilation_w = 1;
		if (golden_conv_output(conv.in_h, conv.kernel_h, conv.stride_h, conv.pad_h, conv.dilation_h) > 0 &&
		    golden_conv_output(conv.in_w, conv.kernel_w, conv.stride_w, conv.pad_w, conv.dilation_w) > 0)
			return conv;
	}
}

Test(gemm, tiles_agree_with_the_golden_operators)
{
	static const struct {
		int rows, cols, acc_rows;
	} arrays[] = {{4, 4, 16}, {8, 4, 256}, {4, 16, 64}, {16, 16, 256}, {32, 8, 30}, {128, 128, 256}};
	uint64_t state = device_seed() + 1;
	int shapes = getenv("WC_LONG") ? 600 : 60;

	for (int i = 0; i < shapes; i++) {
		struct golden_conv conv = random_conv(&state);
		struct layer layer;
		int array = i % (int)(sizeof(arrays) / sizeof(arrays[0]));

		layer_open(&layer, conv, arrays[array].rows, arrays[array].cols, arrays[array].acc_rows, i % 2, state);
		check_forward(&layer);
		check_data_gradient(&layer);
		check_weight_gradient(&layer);
		cr_assert_gt(layer.tiles, 2);
		cr_assert_geq(layer.rows, layer.tiles);
		cr_assert_eq(device_csr(&layer.device, WC_CSR_DONE), layer.tiles);
		layer_close(&layer);
	}
}

// Probes of one tile, compared with the element's trace as they come.
struct watch {
	const struct golden_element *element; // of row 5, column 2
	int operands_a, operands_b, columns, accumulators, waves;
};

enum { WATCHED_ROW = 5, WATCHED_COLUMN = 2 };

static int watch_probe(void *context, const struct wc_probe *probe)
{
	struct watch *watch = context;
	const struct golden_pe *pes = watch->element->pes + (size_t)probe->wave * watch->element->rows;

	switch (probe->kind) {
	case WC_PROBE_OPERAND_A:
		watch->operands_a++;
		for (int k = 0; probe->index == WATCHED_ROW && k < probe->count; k++)
			cr_assert_eq(probe->bits[k], pes[k].a, "wave %d, lane %d", probe->wave, k);
		break;
	case WC_PROBE_OPERAND_B:
		watch->operands_b++;
		cr_assert_eq(probe->bits[WATCHED_COLUMN], pes[probe->index].b, "wave %d, lane %d", probe->wave, probe->index);
		break;
	case WC_PROBE_COLUMN:
		watch->columns++;
		for (int k = 0; probe->index == WATCHED_ROW && k < probe->count; k++)
			cr_assert_eq(probe->bits[k], pes[k].psum, "wave %d, PE row %d", probe->wave, k);
		break;
	case WC_PROBE_ACCUMULATOR:
		watch->accumulators++;
		if (probe->index == WATCHED_ROW)
			cr_assert_eq(probe->bits[WATCHED_COLUMN], watch->element->accumulators[probe->wave], "wave %d", probe->wave);
		break;
	}
	return 0;
}

static int watch_event(void *context, const struct wc_event *event)
{
	struct watch *watch = context;

	if (event->kind == WC_EVENT_WAVE_BEGIN)
		cr_assert_eq(event->a, (uint64_t)watch->waves);
	if (event->kind == WC_EVENT_WAVE_END)
		cr_assert_eq(event->a, (uint64_t)watch->waves++);
	return 0;
}

Test(gemm, probes_show_what_the_trace_of_an_element_says)
{
	struct golden_conv conv = {1, 4, 4, 3, 0, 0, 4, 3, 3, 1, 1, 1, 1, 1, 1};
	struct layer layer;
	struct golden_element element;
	struct watch watch = {.element = &element};
	struct wc_observer observer = {.context = &watch, .probe = watch_probe, .event = watch_event, .probe_column = WATCHED_COLUMN, .waves = true};

	layer_open(&layer, conv, 8, 4, 16, true, device_seed() + 2);
	layer.device.backend->ops->set_observer(layer.device.backend, &observer);
	cr_assert_eq(golden_element_forward(&element, &layer.lowering.conv, 8, layer.x, layer.w, 0, WATCHED_ROW / 4, WATCHED_ROW % 4, WATCHED_COLUMN, &layer.device.err), 0);
	check_forward(&layer);
	cr_assert_eq(watch.waves, 4); // 27 lanes in chunks of 8
	cr_assert_eq(watch.operands_a, 4 * 16);
	cr_assert_eq(watch.operands_b, 4 * 8);
	cr_assert_eq(watch.columns, 4 * 16);
	cr_assert_eq(watch.accumulators, 4 * 16);
	cr_assert_eq(device_counter(&layer.device, WC_COUNTER_WAVES), 4);
	golden_element_release(&element);
	layer_close(&layer);
}

Test(gemm, a_tile_without_k_is_zero_or_its_preload)
{
	struct device device;
	struct wc_gemm_command command = device_matmul(8, 3, 2, 0, 0, 0, 512);
	uint32_t preload[6] = {0x3f800000, 0x80000000, 0xff800001, 0x7f800000, 1, 0xc0490fdb};
	uint32_t expected[6] = {0x3f800000, 0, 0x7fc00000, 0x7f800000, 1, 0xc0490fdb}; // -0 + 0 is +0; NaN is canonical
	uint32_t got[6];

	command.a_chan_total = command.b_chan_total = 1;
	device_open(&device, &device_small, 1);
	cr_assert_eq(device_execute(&device, &command), WC_STATUS_OK);
	device.backend->ops->buffer_read(device.backend, 512, got, 12);
	cr_assert(got[0] == 0 && got[1] == 0 && got[2] == 0);
	cr_assert_eq(device_counter(&device, WC_COUNTER_WAVES), 1);

	device.backend->ops->buffer_write(device.backend, 1024, preload, sizeof(preload));
	command.flags = 3;
	command.pre_base = 1024;
	command.out_delta0 = 8;
	cr_assert_eq(device_execute(&device, &command), WC_STATUS_OK);
	device.backend->ops->buffer_read(device.backend, 512, got, sizeof(got));
	cr_assert_arr_eq(got, expected, sizeof(expected));

	// One row for all: a bias.
	command.flags = 7;
	cr_assert_eq(device_execute(&device, &command), WC_STATUS_OK);
	device.backend->ops->buffer_read(device.backend, 512, got, sizeof(got));
	for (int i = 0; i < 6; i++)
		cr_assert_eq(got[i], expected[i % 2]);
	command.flags = 4; // of no preload
	cr_assert_eq(device_execute(&device, &command), WC_STATUS_BAD_FIELD);
	device_close(&device);
}

// Sums leave as fp32 exactly, or rounded to fp16 once.
Test(gemm, flags_choose_between_fp32_and_fp16)
{
	struct device device;
	struct wc_gemm_command command = device_matmul(8, 1, 1, 2, 0, 64, 128);
	uint16_t a[2] = {0x6400, 0x0001}, b[2] = {0x3c00, 0x7800}; // 1024 x 1 + 2^-24 x 2^15
	uint32_t sum = 0;

	device_open(&device, &device_small, 1);
	device.backend->ops->buffer_write(device.backend, 0, a, sizeof(a));
	device.backend->ops->buffer_write(device.backend, 64, b, sizeof(b));
	cr_assert_eq(device_execute(&device, &command), WC_STATUS_OK);
	device.backend->ops->buffer_read(device.backend, 128, &sum, 2);
	cr_assert_eq(sum, 0x6400);
	command.flags = 2;
	cr_assert_eq(device_execute(&device, &command), WC_STATUS_OK);
	device.backend->ops->buffer_read(device.backend, 128, &sum, 4);
	cr_assert_eq(sum, golden_bits_of(1024.0f + 0x1p-9f));
	device_close(&device);
}

// What one command reports, in order.
struct report {
	char kinds[32]; // B, E: command; b, e: wave; r: row
	int count, rows;
	uint32_t bits[4][3];
};

static int report_event(void *context, const struct wc_event *event)
{
	struct report *report = context;

	report->kinds[report->count++] = "BEbe"[event->kind];
	cr_assert_eq(event->command_index, 0);
	if (event->kind == WC_EVENT_COMMAND_BEGIN || event->kind == WC_EVENT_COMMAND_END)
		cr_assert_eq(event->a, WC_OP_GEMM);
	else
		cr_assert_eq(event->b, 4);
	return 0;
}

static int report_row(void *context, const struct wc_tile_row *row)
{
	struct report *report = context;

	report->kinds[report->count++] = 'r';
	cr_assert_eq(row->command_index, 0);
	cr_assert_eq(row->row, report->rows);
	cr_assert_eq(row->count, 3);
	cr_assert_not(row->is_fp32);
	memcpy(report->bits[report->rows++], row->bits, sizeof(report->bits[0]));
	return 0;
}

Test(gemm, waves_and_drained_rows_are_reported_in_order)
{
	struct device device;
	struct report report = {.count = 0};
	struct wc_observer observer = {.context = &report, .event = report_event, .tile_row = report_row, .waves = true};
	struct wc_gemm_command command = device_matmul(8, 4, 3, 12, 0, 1024, 2048);
	uint64_t state = device_seed() + 3;
	uint16_t *operands = random_halves(48, &state), got[4][3];

	device_open(&device, &device_small, 1);
	device.backend->ops->set_observer(device.backend, &observer);
	device.backend->ops->buffer_write(device.backend, 0, operands, 96);
	device.backend->ops->buffer_write(device.backend, 1024, operands, 72);
	cr_assert_eq(device_execute(&device, &command), WC_STATUS_OK);
	cr_assert_str_eq(report.kinds, "BbeberrrrE");
	device.backend->ops->buffer_read(device.backend, 2048, got, sizeof(got));
	for (int m = 0; m < 4; m++)
		for (int n = 0; n < 3; n++)
			cr_assert_eq(report.bits[m][n], got[m][n], "row %d, column %d", m, n);
	cr_assert_neq(got[0][0], got[1][1]);
	free(operands);
	device_close(&device);
}
