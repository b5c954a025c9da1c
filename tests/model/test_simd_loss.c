// SPDX-License-Identifier: Apache-2.0
//
// Softmax cross-entropy as a host runs it, in three commands, SGD, and additions have the golden model's bits.
#include <criterion/criterion.h>
#include <string.h>

#include "csim/golden/add.h"
#include "csim/golden/half.h"
#include "csim/golden/loss.h"
#include "csim/golden/sgd.h"
#include "tests/model/simd_nest.h"

enum { BATCH = 4, CLASSES_MAX = 100, LANES = 8 };
// Places in the buffer.
enum { LOGITS = 0, GRADIENT = 2048, LABELS = 4096, GREATEST = 4352, INVERSE = 4608, LOGARITHM = 4864, LOSS = 5120 };

static void check_loss(struct device *device, int classes, int spread, uint64_t *state)
{
	const struct golden_loss g = {BATCH, classes, 1024.0f / BATCH};
	const int row = 2 * classes;
	uint16_t z[BATCH * CLASSES_MAX], dz[BATCH * CLASSES_MAX];
	int32_t labels[BATCH];
	float losses[BATCH];
	struct wc_simd_command c = nest(WC_SIMD_SOFTMAX_MAX, BATCH, 1, 1, classes, LANES);
	struct wc_error err = {0};

	for (int i = 0; i < BATCH * classes; i++)
		z[i] = device_between(state, 0, 99) ? golden_half_from_float((float)device_between(state, -spread, spread) / 64) : spread > 9000 ? 0xfc00 : 0x8000;
	for (int n = 0; n < BATCH; n++)
		labels[n] = device_between(state, 0, classes - 1);
	nest_write(device, LOGITS, z, (size_t)(BATCH * row));
	nest_write(device, LABELS, labels, sizeof(labels));
	nest_stream(&c, 0, NEST_HALF, LOGITS, row, 0, 0);
	nest_stream(&c, 1, NEST_ONE, GREATEST, 4, 0, 0);
	nest_run(device, &c);
	c.program = WC_SIMD_SOFTMAX_SUM;
	nest_stream(&c, 2, NEST_ONE, INVERSE, 4, 0, 0);
	nest_stream(&c, 3, NEST_ONE, LOGARITHM, 4, 0, 0);
	nest_run(device, &c);
	c.program = WC_SIMD_SOFTMAX_GRADIENT;
	nest_stream(&c, 4, NEST_ONE, LABELS, 4, 0, 0);
	nest_stream(&c, 5, NEST_HALF, GRADIENT, row, 0, 0);
	nest_stream(&c, 6, NEST_ONE, LOSS, 4, 0, 0);
	c.constant0 = nest_pattern(g.scale);
	nest_run(device, &c);
	cr_assert_eq(golden_softmax_loss(&g, z, labels, losses, dz, &err), 0, "%s", err.text);
	nest_expect(device, LOSS, losses, sizeof(losses), "loss");
	nest_expect(device, GRADIENT, dz, (size_t)(BATCH * row), "gradient");
}

Test(simd_loss, softmax_cross_entropy_has_the_golden_bits)
{
	static const int classes[] = {1, 2, 7, 8, 9, 10, 16, 63, 100};
	uint64_t state = device_seed() + 700;
	struct device device;

	device_open(&device, &device_small, 1);
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		for (int spread = 1; spread < 10000; spread *= 10)
			check_loss(&device, classes[i], spread * 3, &state);
	device_close(&device);
}

Test(simd_loss, sgd_has_the_golden_bits)
{
	enum { COUNT = 203, W = 1024, V = 2048, W16 = 3072 };
	const struct golden_sgd g = {1.0f / 1024, 1e-4f, 0.9f, 0.1f};
	uint64_t state = device_seed() + 701;
	float gradient[COUNT], w[COUNT], v[COUNT];
	uint16_t w16[COUNT];
	struct wc_simd_command c = nest(WC_SIMD_SGD, 1, 1, 1, COUNT, LANES);
	struct device device;

	device_open(&device, &device_small, 1);
	for (int i = 0; i < COUNT; i++) {
		gradient[i] = (float)device_between(&state, -1000000, 1000000) / 777;
		w[i] = (float)device_between(&state, -1000000, 1000000) / 999999;
		v[i] = (float)device_between(&state, -1000000, 1000000) / 9999;
	}
	nest_write(&device, 0, gradient, sizeof(gradient));
	nest_write(&device, W, w, sizeof(w));
	nest_write(&device, V, v, sizeof(v));
	nest_stream(&c, 0, NEST_FLOAT, 0, 0, 0, 0);
	nest_stream(&c, 1, NEST_FLOAT, W, 0, 0, 0);
	nest_stream(&c, 2, NEST_FLOAT, V, 0, 0, 0);
	nest_stream(&c, 3, NEST_HALF, W16, 0, 0, 0);
	memcpy(&c.constant0, &g, sizeof(g));
	nest_run(&device, &c);
	golden_sgd(&g, gradient, COUNT, w, v, w16);
	nest_expect(&device, W, w, sizeof(w), "w");
	nest_expect(&device, V, v, sizeof(v), "v");
	nest_expect(&device, W16, w16, sizeof(w16), "w16");
	device_close(&device);
}

// Every fp16 pattern once on either side; three inputs in two commands, in place.
Test(simd_loss, additions_have_the_golden_bits)
{
	enum { COUNT = 1024, SECOND = 2048, THIRD = 4096 };
	static uint16_t a[COUNT], b[COUNT], sum[COUNT];
	struct wc_simd_command c = nest(WC_SIMD_ADD, 1, 1, 1, COUNT, LANES);
	struct wc_error err = {0};
	struct device device;

	device_open(&device, &device_small, 1);
	for (uint32_t first = 0; first < 65536; first += COUNT) {
		for (uint32_t i = 0; i < COUNT; i++) {
			a[i] = (uint16_t)(first + i);
			b[i] = (uint16_t)(a[i] * 40503u + 7);
		}
		nest_write(&device, 0, a, sizeof(a));
		nest_write(&device, SECOND, b, sizeof(b));
		for (int i = 0; i < 2; i++) {
			nest_stream(&c, 0, NEST_HALF, i ? THIRD : 0, 0, 0, 0);
			nest_stream(&c, 1, NEST_HALF, SECOND, 0, 0, 0);
			nest_stream(&c, 2, NEST_HALF, THIRD, 0, 0, 0);
			nest_run(&device, &c);
		}
		cr_assert_eq(golden_add((const uint16_t *const[]){a, b, b}, 3, COUNT, sum, &err), 0, "%s", err.text);
		nest_expect(&device, THIRD, sum, sizeof(sum), "sum");
	}
	device_close(&device);
}
