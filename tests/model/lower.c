// SPDX-License-Identifier: Apache-2.0
#include "tests/model/lower.h"

// A walk over pixels of a feature map: bytes from step to step, and from each last position to the next first one.
struct pixels {
	int count0, count1, count2;
	int step0, step1, step2; // bytes between neighbours along each index
};

static int delta1(const struct pixels *pixels)
{
	return pixels->step1 - (pixels->count0 - 1) * pixels->step0;
}

static int delta2(const struct pixels *pixels)
{
	return pixels->step2 - (pixels->count1 - 1) * pixels->step1 - (pixels->count0 - 1) * pixels->step0;
}

static int minimum(int a, int b)
{
	return a < b ? a : b;
}

// Index `flat` of the walk as its three indices, and its byte offset from index (0, 0, 0).
static int locate(const struct pixels *pixels, int flat, int index[3])
{
	index[0] = flat % pixels->count0;
	index[1] = flat / pixels->count0 % pixels->count1;
	index[2] = flat / pixels->count0 / pixels->count1;
	return index[0] * pixels->step0 + index[1] * pixels->step1 + index[2] * pixels->step2;
}

#define SET_VECTORS(command, p, pixels, index)                                                                                       \
	((command)->p##count0 = (uint16_t)(pixels)->count0, (command)->p##count1 = (uint16_t)(pixels)->count1,                       \
	 (command)->p##count2 = (uint16_t)(pixels)->count2, (command)->p##start0 = (uint16_t)(index)[0],                             \
	 (command)->p##start1 = (uint16_t)(index)[1], (command)->p##start2 = (uint16_t)(index)[2],                                   \
	 (command)->p##delta0 = (pixels)->step0, (command)->p##delta1 = delta1(pixels), (command)->p##delta2 = delta2(pixels))

static struct wc_gemm_command gemm(int m, int n, int k)
{
	return (struct wc_gemm_command){.opcode = WC_OP_GEMM, .version = WC_COMMAND_VERSION, .m_rows = (uint16_t)m, .n_cols = (uint16_t)n, .k_total = (uint32_t)k};
}

static void set_out(struct wc_gemm_command *command, const struct pixels *pixels, int first, uint32_t base)
{
	int index[3];

	command->out_base = base + (uint32_t)locate(pixels, first, index);
	SET_VECTORS(command, out_, pixels, index);
}

// Operand A: im2col whose tap (0, 0) of pixel (0, 0, 0) lies at `base` and at image position (y, x).
static void set_image(const struct lowering *lowering, struct wc_gemm_command *command, const struct pixels *pixels, int first, int base, int y, int x,
                      int y_step, int x_step, int height, int width, int channels, int taps_y, int taps_x, int tap_y, int tap_x, int pitch)
{
	int index[3];
	int row_back = (taps_x - 1) * tap_x * 2 * channels;

	command->a_base = base + locate(pixels, first, index);
	SET_VECTORS(command, a_, pixels, index);
	command->a_taps_y = (uint8_t)taps_y;
	command->a_taps_x = (uint8_t)taps_x;
	command->a_y_first = (int16_t)y;
	command->a_x_first = (int16_t)x;
	command->a_y_start = (int16_t)(y + index[1] * y_step);
	command->a_x_start = (int16_t)(x + index[0] * x_step);
	command->a_y_step = (int16_t)y_step;
	command->a_x_step = (int16_t)x_step;
	command->a_y_size = (uint16_t)height;
	command->a_x_size = (uint16_t)width;
	command->a_tap_y_step = (int16_t)tap_y;
	command->a_tap_x_step = (int16_t)tap_x;
	command->a_tap_x_delta = tap_x * 2 * channels;
	command->a_tap_y_delta = tap_y * pitch - row_back;
	command->a_block_delta = 2 * lowering->rows - (taps_y - 1) * tap_y * pitch - row_back;
	command->a_chan_total = (uint16_t)channels;
	command->a_chan_block = (uint16_t)lowering->rows;
	if (lowering->merge && tap_x == 1 && channels <= lowering->rows) {
		command->a_merge = 1;
		command->a_run_length = (uint16_t)(taps_x * channels);
	}
}

void lower_forward(const struct lowering *lowering, lowered_fn *emit, void *context)
{
	const struct golden_conv *conv = &lowering->conv;
	int in_pitch = (int)lowering->in_pitch, out_pitch = (int)lowering->out_pitch, c = conv->in_c, k = conv->out_c;
	int taps = conv->kernel_h * conv->kernel_w, filter = taps * c * 2;
	struct pixels in = {conv->out_w, conv->out_h, conv->batch, conv->stride_w * 2 * c, conv->stride_h * in_pitch, conv->in_h * in_pitch};
	struct pixels out = {conv->out_w, conv->out_h, conv->batch, 2 * k, out_pitch, conv->out_h * out_pitch};
	int total = conv->out_w * conv->out_h * conv->batch;

	for (int column = 0; column < k; column += lowering->cols)
		for (int first = 0; first < total; first += lowering->acc_rows) {
			struct wc_gemm_command command = gemm(minimum(lowering->acc_rows, total - first), minimum(lowering->cols, k - column), taps * c);

			set_image(lowering, &command, &in, first, (int)lowering->x - conv->pad_h * in_pitch - conv->pad_w * 2 * c, -conv->pad_h, -conv->pad_w,
			          conv->stride_h, conv->stride_w, conv->in_h, conv->in_w, c, conv->kernel_h, conv->kernel_w, conv->dilation_h, conv->dilation_w, in_pitch);
			command.b_base = (int)lowering->w + column * filter;
			command.b_taps_y = (uint8_t)conv->kernel_h;
			command.b_taps_x = (uint8_t)conv->kernel_w;
			command.b_count0 = command.n_cols;
			command.b_count1 = command.b_count2 = 1;
			command.b_delta0 = filter;
			command.b_y_size = command.b_x_size = 1;
			command.b_tap_x_delta = command.b_tap_y_delta = 2 * c;
			command.b_block_delta = 2 * lowering->rows - (taps - 1) * 2 * c;
			command.b_chan_total = (uint16_t)c;
			command.b_chan_block = (uint16_t)lowering->rows;
			set_out(&command, &out, first, lowering->y + (uint32_t)column * 2);
			emit(context, &command);
		}
}

// Taps first, first + step, ... (count of them) along one axis reach a residue class.
struct class_taps {
	int first, step, count;
};

static struct class_taps class_taps(int class, int kernel, int stride, int pad, int dilation)
{
	struct class_taps taps = {0, 1, 0};

	for (int r = 0; r < kernel; r++) {
		if ((class + pad - r * dilation) % stride != 0)
			continue;
		if (taps.count == 0)
			taps.first = r;
		if (taps.count == 1)
			taps.step = r - taps.first;
		taps.count++;
	}
	return taps;
}

static void lower_class(const struct lowering *lowering, int class_y, int class_x, lowered_fn *emit, void *context)
{
	const struct golden_conv *conv = &lowering->conv;
	struct class_taps r = class_taps(class_y, conv->kernel_h, conv->stride_h, conv->pad_h, conv->dilation_h);
	struct class_taps s = class_taps(class_x, conv->kernel_w, conv->stride_w, conv->pad_w, conv->dilation_w);
	int in_pitch = (int)lowering->in_pitch, out_pitch = (int)lowering->out_pitch, c = conv->in_c, k = conv->out_c;
	int filter = conv->kernel_h * conv->kernel_w * c * 2, row = conv->kernel_w * c * 2;
	int height = (conv->in_h - class_y + conv->stride_h - 1) / conv->stride_h, width = (conv->in_w - class_x + conv->stride_w - 1) / conv->stride_w;
	struct pixels from = {width, height, conv->batch, 2 * k, out_pitch, conv->out_h * out_pitch};
	struct pixels to = {width, height, conv->batch, conv->stride_w * 2 * c, conv->stride_h * in_pitch, conv->in_h * in_pitch};
	int y = (class_y + conv->pad_h - r.first * conv->dilation_h) / conv->stride_h, x = (class_x + conv->pad_w - s.first * conv->dilation_w) / conv->stride_w;
	int total = width * height * conv->batch;

	for (int column = 0; column < c; column += lowering->cols)
		for (int first = 0; first < total; first += lowering->acc_rows) {
			struct wc_gemm_command command = gemm(minimum(lowering->acc_rows, total - first), minimum(lowering->cols, c - column), r.count * s.count * k);
			int taps_y = r.count ? r.count : 1, taps_x = s.count ? s.count : 1;

			set_image(lowering, &command, &from, first, (int)lowering->y + y * out_pitch + x * 2 * k, y, x, 1, 1, conv->out_h, conv->out_w, k, taps_y, taps_x,
			          -(r.step * conv->dilation_h / conv->stride_h), -(s.step * conv->dilation_w / conv->stride_w), out_pitch);
			command.b_base = (int)lowering->w + r.first * row + s.first * c * 2 + column * 2;
			command.b_mode = 2;
			command.b_taps_y = (uint8_t)taps_y;
			command.b_taps_x = (uint8_t)taps_x;
			command.b_count0 = command.b_count1 = command.b_count2 = 1;
			command.b_y_size = command.b_x_size = 1;
			command.b_tap_x_delta = s.step * c * 2;
			command.b_tap_y_delta = r.step * row - (taps_x - 1) * s.step * c * 2;
			command.b_block_delta = lowering->rows * filter - (taps_y - 1) * r.step * row - (taps_x - 1) * s.step * c * 2;
			command.b_chan_delta = filter;
			command.b_chan_total = (uint16_t)k;
			command.b_chan_block = (uint16_t)lowering->rows;
			set_out(&command, &to, first, lowering->x + (uint32_t)(class_y * in_pitch + class_x * 2 * c + column * 2));
			emit(context, &command);
		}
}

void lower_data_gradient(const struct lowering *lowering, lowered_fn *emit, void *context)
{
	for (int class_y = 0; class_y < minimum(lowering->conv.stride_h, lowering->conv.in_h); class_y++)
		for (int class_x = 0; class_x < minimum(lowering->conv.stride_w, lowering->conv.in_w); class_x++)
			lower_class(lowering, class_y, class_x, emit, context);
}

// Operand A: output channels [channel, ...) of dy's pixels.
static void set_gradient(const struct lowering *lowering, struct wc_gemm_command *command, struct golden_range cut, int channel)
{
	const struct golden_conv *conv = &lowering->conv;
	int pitch = (int)lowering->out_pitch;
	struct pixels pixels = {conv->out_w, cut.row_hi - cut.row_lo, cut.sample_hi - cut.sample_lo, 2 * conv->out_c, pitch, conv->out_h * pitch};
	int index[3] = {0, 0, 0};

	command->a_base = (int)lowering->y + (cut.sample_lo * conv->out_h + cut.row_lo) * pitch;
	command->a_mode = 1;
	SET_VECTORS(command, a_, &pixels, index);
	command->a_taps_y = command->a_taps_x = 1;
	command->a_y_size = (uint16_t)pixels.count1;
	command->a_x_size = (uint16_t)pixels.count0;
	command->a_y_step = command->a_x_step = 1;
	command->a_chan_total = command->a_chan_block = (uint16_t)conv->out_c;
	command->a_chan_start = (uint16_t)channel;
}

// Operand B: x through the taps, from flat column (r, s, c) on.
static void set_unfolded(const struct lowering *lowering, struct wc_gemm_command *command, struct golden_range cut, int column)
{
	const struct golden_conv *conv = &lowering->conv;
	int pitch = (int)lowering->in_pitch, c = conv->in_c;
	int s = column / c % conv->kernel_w, r = column / c / conv->kernel_w;
	int y = cut.row_lo * conv->stride_h - conv->pad_h, x = -conv->pad_w;
	struct pixels pixels = {conv->out_w, cut.row_hi - cut.row_lo, cut.sample_hi - cut.sample_lo, conv->stride_w * 2 * c, conv->stride_h * pitch, conv->in_h * pitch};
	int index[3] = {0, 0, 0};

	command->b_base = (int)lowering->x + (cut.sample_lo * conv->in_h + y + r * conv->dilation_h) * pitch + (x + s * conv->dilation_w) * 2 * c;
	command->b_mode = 1;
	SET_VECTORS(command, b_, &pixels, index);
	command->b_taps_y = (uint8_t)conv->kernel_h;
	command->b_taps_x = (uint8_t)conv->kernel_w;
	command->b_y_first = command->b_y_start = (int16_t)y;
	command->b_x_first = command->b_x_start = (int16_t)x;
	command->b_y_step = (int16_t)conv->stride_h;
	command->b_x_step = (int16_t)conv->stride_w;
	command->b_y_size = (uint16_t)conv->in_h;
	command->b_x_size = (uint16_t)conv->in_w;
	command->b_tap_y_step = (int16_t)conv->dilation_h;
	command->b_tap_x_step = (int16_t)conv->dilation_w;
	command->b_tap_x_delta = conv->dilation_w * 2 * c;
	command->b_tap_y_delta = conv->dilation_h * pitch - (conv->kernel_w - 1) * conv->dilation_w * 2 * c;
	command->b_chan_total = command->b_chan_block = (uint16_t)c;
	command->b_tap_y_start = (uint8_t)r;
	command->b_tap_x_start = (uint8_t)s;
	command->b_chan_start = (uint16_t)(column % c);
	command->b_tap_y_pos = (int16_t)(r * conv->dilation_h);
	command->b_tap_x_pos = (int16_t)(s * conv->dilation_w);
	if (lowering->merge && conv->dilation_w == 1) {
		command->b_merge = 1;
		command->b_run_length = (uint16_t)(conv->kernel_w * c);
		command->b_run_start = (uint16_t)(s * c + column % c);
	}
}

void lower_weight_gradient(const struct lowering *lowering, struct golden_range cut, bool preload, lowered_fn *emit, void *context)
{
	const struct golden_conv *conv = &lowering->conv;
	int columns = conv->kernel_h * conv->kernel_w * conv->in_c;
	int pixels = (cut.sample_hi - cut.sample_lo) * (cut.row_hi - cut.row_lo) * conv->out_w;

	for (int channel = 0; channel < conv->out_c; channel += lowering->acc_rows)
		for (int column = 0; column < columns; column += lowering->cols) {
			struct wc_gemm_command command = gemm(minimum(lowering->acc_rows, conv->out_c - channel), minimum(lowering->cols, columns - column), pixels);
			struct pixels out = {command.m_rows, 1, 1, columns * 4, 0, 0};

			command.flags = preload ? 3 : 2;
			set_gradient(lowering, &command, cut, channel);
			set_unfolded(lowering, &command, cut, column);
			set_out(&command, &out, 0, lowering->dw + (uint32_t)(channel * columns + column) * 4);
			command.pre_base = command.out_base;
			emit(context, &command);
		}
}
