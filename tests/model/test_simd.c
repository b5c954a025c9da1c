// SPDX-License-Identifier: Apache-2.0
//
// SIMD: every program on random shapes leaves what plain loops leave, and nothing else; a program with any one operation changed does not.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/model/device.h"
#include "tests/model/simd_expect.h"
#include "traces/splitmix.h"

_Static_assert(WC_SIMD_PROGRAMS == 23, "the limit of field `program` in commands.def follows the programs");

static const struct wc_device_params params_of_lanes[] = {
	{.rows = 8, .cols = 4, .acc_rows = 16, .mac_stages = 1, .buffer_bytes = 16384, .bus_bytes = 16, .cores = 1},  // 8 lanes
	{.rows = 8, .cols = 4, .acc_rows = 16, .mac_stages = 1, .buffer_bytes = 32768, .bus_bytes = 32, .cores = 1},  // 16
	{.rows = 16, .cols = 16, .acc_rows = 16, .mac_stages = 1, .buffer_bytes = 65536, .bus_bytes = 16, .cores = 1}, // 32
	{.rows = 128, .cols = 128, .acc_rows = 16, .mac_stages = 1, .buffer_bytes = 1048576, .bus_bytes = 128, .cores = 1}, // 256
};

// Sums of a group stand in its first lane; the others hold what the lanes had.
static bool is_meaningless(const struct simd_case *c, uint32_t byte)
{
	bool backward = simd_case_sums_backward(c);

	if (!backward && !simd_case_sums_forward(c))
		return false;
	for (int i = backward ? 5 : 3; i < (backward ? 7 : 5); i++) {
		const struct simd_tensor *t = &c->tensors[i];

		for (int n = 0; n < c->n; n++)
			for (int y = 0; y < t->h; y++) {
				uint32_t row = (uint32_t)(simd_tensor_at(t, n, y, 0, 0) / 8);

				if (byte >= row && byte < row + 4 * (uint32_t)t->c && (byte - row) / 4 % (uint32_t)c->cpg != 0)
					return true;
			}
	}
	return false;
}

// Run the case and find the first byte that is not as expected; buffer_bytes: there is none. *status: how the command ended.
static uint32_t first_difference(struct device *device, const struct simd_case *c, uint64_t *state, enum wc_status *status)
{
	uint32_t bytes = device->backend->params.buffer_bytes, at = 0;
	uint8_t *image = malloc(bytes), *got = malloc(bytes);

	for (uint32_t i = 0; i < bytes; i += 8) {
		uint64_t random = splitmix_next(state);

		memcpy(image + i, &random, 8);
	}
	simd_case_fill(c, image, state);
	device->backend->ops->buffer_write(device->backend, 0, image, bytes);
	*status = device_execute(device, &c->command);
	simd_expect(c, image);
	device->backend->ops->buffer_read(device->backend, 0, got, bytes);
	while (at < bytes && (got[at] == image[at] || is_meaningless(c, at)))
		at++;
	free(image);
	free(got);
	return at;
}

static void check(struct device *device, enum wc_simd_program program, uint64_t *state)
{
	uint64_t start = *state;
	struct simd_case c;
	enum wc_status status;
	uint32_t at;

	simd_case_draw(&c, program, &device->backend->params, state);
	at = first_difference(device, &c, state, &status);
	cr_assert_eq(status, WC_STATUS_OK, "%s: status %d (state %llu)", wc_simd_texts[program].name, (int)status, (unsigned long long)start);
	cr_assert_eq(at, device->backend->params.buffer_bytes,
		     "%s: byte %u differs: n %d h %d w %d c %d, o %dx%d k %dx%d s %dx%d p %dx%d class %d %d, cpg %d, block %u, wild %d (state %llu)",
		     wc_simd_texts[program].name, at, c.n, c.h, c.w, c.c, c.oh, c.ow, c.kh, c.kw, c.sh, c.sw, c.ph, c.pw, c.class_y, c.class_x, c.cpg,
		     c.command.block, c.wild, (unsigned long long)start);
}

Test(simd, programs_equal_plain_loops)
{
	uint64_t state = device_seed() + 400;
	int rounds = getenv("WC_LONG") ? 2000 : 60;

	for (size_t p = 0; p < sizeof(params_of_lanes) / sizeof(params_of_lanes[0]); p++) {
		struct device device;

		device_open(&device, &params_of_lanes[p], 1);
		for (int program = 0; program < WC_SIMD_PROGRAMS; program++)
			for (int i = 0; i < (p == 3 ? rounds / 6 : rounds); i++)
				check(&device, (enum wc_simd_program)program, &state);
		device_close(&device);
	}
}

// Cases of one program until one differs. False: none does.
static bool some_case_differs(struct device *device, enum wc_simd_program program, uint64_t *state)
{
	for (int i = 0; i < 200; i++) {
		struct simd_case c;
		enum wc_status status;

		simd_case_draw(&c, program, &device->backend->params, state);
		if (first_difference(device, &c, state, &status) < device->backend->params.buffer_bytes || status != WC_STATUS_OK)
			return true;
	}
	return false;
}

// Sums become differences, products sums, selections and comparisons exchange their sources, loops go round once, moves take a literal.
static struct wc_simd_code changed(struct wc_simd_code code)
{
	uint8_t a = code.a;

	switch (code.op) {
	case WC_SIMD_OP_ADD:
		code.op = WC_SIMD_OP_SUB;
		break;
	case WC_SIMD_OP_SUB:
		code.op = WC_SIMD_OP_ADD;
		break;
	case WC_SIMD_OP_MUL:
		code.op = WC_SIMD_OP_ADD;
		break;
	case WC_SIMD_OP_SEL:
	case WC_SIMD_OP_GT:
		code.a = code.b;
		code.b = a;
		break;
	case WC_SIMD_OP_EQ:
	case WC_SIMD_OP_ACTIVE:
		code.op = WC_SIMD_OP_GT;
		break;
	case WC_SIMD_OP_ACC:
	case WC_SIMD_OP_ACC2:
		code.op = WC_SIMD_OP_ADD;
		break;
	case WC_SIMD_OP_SLL23:
		code.op = WC_SIMD_OP_SRL1;
		break;
	case WC_SIMD_OP_MOV:
		code.a = WC_SIMD_LITERAL + 2;
		break;
	case WC_SIMD_OP_LOOP:
		code = (struct wc_simd_code){.op = WC_SIMD_OP_MOV};
		break;
	default:
		code.op = WC_SIMD_OP_SLL23;
		break;
	}
	return code;
}

// What no valid data reach: an index where no tap is inside the image; the roots and logarithms of negative sums of exponentials.
static bool is_unreachable(int program, int part, int operation)
{
	return (program == WC_SIMD_MAX_POOL && part == WC_SIMD_PART_PIXEL && operation == 1) ||
	       (program == WC_SIMD_SOFTMAX_SUM && part == WC_SIMD_PART_EPILOGUE && (operation == 15 || operation == 55));
}

Test(simd, every_changed_operation_is_noticed)
{
	struct wc_simd_code *code = malloc(sizeof(wc_simd_code));
	uint64_t state = device_seed() + 500;
	struct device device;

	device_open(&device, &device_small, 1);
	((struct wc_model *)device.backend)->simd_code = code;
	for (int program = 0; program < WC_SIMD_PROGRAMS; program++)
		for (int part = 0; part < WC_SIMD_PARTS; part++) {
			const struct wc_simd_text *text = &wc_simd_texts[program];

			for (int i = text->first[part]; i < text->first[part] + text->count[part]; i++) {
				if (is_unreachable(program, part, i - text->first[part]))
					continue;
				memcpy(code, wc_simd_code, sizeof(wc_simd_code));
				code[i] = changed(code[i]);
				cr_expect(some_case_differs(&device, (enum wc_simd_program)program, &state), "%s: operation %d (%d) of part %d", text->name,
					  i - text->first[part], wc_simd_code[i].op, part);
			}
		}
	device_close(&device);
	free(code);
}

Test(simd, programs_have_names)
{
	cr_assert_str_eq(wc_simd_program_name(WC_SIMD_FILL), "fill");
	cr_assert_str_eq(wc_simd_program_name(WC_SIMD_MAX_POOL_GRADIENT), "max_pool_gradient");
	cr_assert_str_eq(wc_simd_program_name(WC_SIMD_PROGRAMS - 1), wc_simd_texts[WC_SIMD_PROGRAMS - 1].name);
	cr_assert_null(wc_simd_program_name(WC_SIMD_PROGRAMS));
}
