// SPDX-License-Identifier: Apache-2.0
//
// Rule: whatever the shapes and the schedule, every tile, vector, load and store of a run is bit-equal to the golden model, and
// the memory moves exactly the predicted bytes. Commands execute in a random order that their waits allow, so that a missing wait shows.
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver/host/random.h"
#include "find.h"
#include "tests/seed.h"

static const char *const planners[] = {"baseline", "mbs", "overl", "2ps"};

static const struct {
	const char *label, *yaml;
} corners[] = {
	{"1x1 image", "name: t\ninput: {height: 1, width: 1, channels: 3}\nnodes:\n"
		      "  - {name: c1, op: conv, channels: 5, kernel: 1}\n  - {name: r1, op: relu}\n  - {name: c2, op: conv, channels: 4, kernel: 1}\n"},
	{"1x1 image under a padded 3x3 kernel", "name: t\ninput: {height: 1, width: 1, channels: 3}\nnodes:\n"
						"  - {name: c1, op: conv, channels: 5, kernel: 3, pad: 1}\n  - {name: r1, op: relu}\n"
						"  - {name: c2, op: conv, channels: 4, kernel: 3, pad: 1}\n"},
	{"single channels", "name: t\ninput: {height: 9, width: 7, channels: 1}\nnodes:\n"
			    "  - {name: c1, op: conv, channels: 1, kernel: 3, pad: 1}\n  - {name: r1, op: relu}\n  - {name: c2, op: conv, channels: 1, kernel: 3}\n"},
	{"kernel as large as the image", "name: t\ninput: {height: 5, width: 6, channels: 3}\nnodes:\n"
					 "  - {name: c1, op: conv, channels: 7, kernel: [5, 6]}\n  - {name: r1, op: relu}\n"
					 "  - {name: c2, op: conv, channels: 3, kernel: 1}\n"},
	{"kernel as large as an inner image", "name: t\ninput: {height: 7, width: 7, channels: 2}\nnodes:\n"
					      "  - {name: c1, op: conv, channels: 6, kernel: 3}\n  - {name: r1, op: relu}\n"
					      "  - {name: c2, op: conv, channels: 9, kernel: 5}\n  - {name: r2, op: relu}\n"},
	{"stride larger than the kernel", "name: t\ninput: {height: 11, width: 10, channels: 4}\nnodes:\n"
					  "  - {name: c0, op: conv, channels: 4, kernel: 1}\n"
					  "  - {name: c1, op: conv, channels: 6, kernel: 1, stride: 3}\n  - {name: r1, op: relu}\n"
					  "  - {name: c2, op: conv, channels: 5, kernel: [1, 2], stride: [4, 3]}\n"},
	{"tails in every dimension", "name: t\ninput: {height: 13, width: 9, channels: 17}\nnodes:\n"
				     "  - {name: c1, op: conv, channels: 33, kernel: 3, pad: 1}\n  - {name: r1, op: relu}\n"
				     "  - {name: c2, op: conv, channels: 19, kernel: [2, 3], stride: 2, pad: 1}\n"},
	{"multiples in every dimension", "name: t\ninput: {height: 16, width: 16, channels: 16}\nnodes:\n"
					 "  - {name: c1, op: conv, channels: 32, kernel: 3, pad: 1}\n  - {name: r1, op: relu}\n"
					 "  - {name: c2, op: conv, channels: 16, kernel: 3, pad: 1}\n"},
	{"dilation", "name: t\ninput: {height: 12, width: 12, channels: 5}\nnodes:\n"
		     "  - {name: c1, op: conv, channels: 9, kernel: 3, pad: 2, dilation: 2}\n  - {name: r1, op: relu}\n"
		     "  - {name: c2, op: conv, channels: 6, kernel: [3, 2], stride: [2, 1], pad: [3, 1], dilation: [3, 2]}\n"},
	{"stride and dilation with a common divisor", "name: t\ninput: {height: 15, width: 14, channels: 3}\nnodes:\n"
						      "  - {name: c1, op: conv, channels: 4, kernel: 1}\n"
						      "  - {name: c2, op: conv, channels: 8, kernel: 3, stride: 4, pad: 3, dilation: 2}\n"
						      "  - {name: c3, op: conv, channels: 3, kernel: 2, stride: 2, dilation: 2, pad: 1}\n"},
	{"kernels of one row, of one column", "name: t\ninput: {height: 10, width: 11, channels: 4}\nnodes:\n"
					      "  - {name: c1, op: conv, channels: 6, kernel: [1, 5], pad: [0, 2]}\n  - {name: r1, op: relu}\n"
					      "  - {name: c2, op: conv, channels: 6, kernel: [5, 1], stride: [2, 3], pad: [2, 0]}\n"},
	{"relu behind relu, conv behind conv, relu at the end", "name: t\ninput: {height: 8, width: 8, channels: 2}\nnodes:\n"
								"  - {name: c1, op: conv, channels: 4, kernel: 3, pad: 1}\n"
								"  - {name: c2, op: conv, channels: 4, kernel: 3, pad: 1}\n  - {name: r1, op: relu}\n"
								"  - {name: r2, op: relu}\n  - {name: c3, op: conv, channels: 5, kernel: 3}\n"
								"  - {name: r3, op: relu}\n"},
	{"rows longer than the accumulator", "name: t\ninput: {height: 4, width: 300, channels: 2}\nnodes:\n"
					     "  - {name: c1, op: conv, channels: 3, kernel: 3, pad: 1}\n  - {name: r1, op: relu}\n"
					     "  - {name: c2, op: conv, channels: 2, kernel: 3, pad: 1}\n"},
	{"more channels than the accumulator has rows", "name: t\ninput: {height: 3, width: 3, channels: 2}\nnodes:\n"
							"  - {name: c1, op: conv, channels: 270, kernel: 1}\n  - {name: r1, op: relu}\n"
							"  - {name: c2, op: conv, channels: 2, kernel: 1}\n"},
	{"largest kernel", "name: t\ninput: {height: 12, width: 13, channels: 2}\nnodes:\n"
			   "  - {name: c1, op: conv, channels: 3, kernel: 11, pad: 5}\n  - {name: c2, op: conv, channels: 3, kernel: 11, pad: 5}\n"},
	{"convolution alone", "name: t\ninput: {height: 6, width: 6, channels: 3}\nnodes:\n  - {name: c1, op: conv, channels: 4, kernel: 3}\n"},
};

// Every planner in the smallest of some buffers that it fits; what fits nowhere fails.
static void run_all(const char *label, const char *yaml, int rows, int cols, int batch, uint32_t bus_bytes, uint64_t seed)
{
	static const uint32_t buffers[] = {8192, 16384, 32768, 65536, 131072, 262144};

	for (size_t p = 0; p < sizeof(planners) / sizeof(*planners); p++) {
		bool ran = false;

		for (size_t b = 0; !ran && b < sizeof(buffers) / sizeof(*buffers); b++) {
			struct rig rig;

			rig_start(&rig, yaml, planners[p], rows, cols, batch, buffers[b], bus_bytes, seed);
			ran = rig.planned;
			if (ran)
				rig_expect_right(&rig, rig_run(&rig));
			rig_stop(&rig);
		}
		cr_assert(ran, "%s: %s fits no buffer", label, planners[p]);
	}
}

Test(lower, corner_shapes_are_exact_under_every_planner)
{
	static const struct {
		int rows, cols, batch;
		uint32_t bus_bytes;
	} devices[] = {{4, 4, 1, 16}, {8, 4, 3, 32}, {4, 16, 2, 16}, {16, 16, 5, 64}, {16, 8, 2, 128}};
	const uint64_t seed = tests_seed("tests/host/test_lower", 1);

	for (size_t i = 0; i < sizeof(corners) / sizeof(*corners); i++)
		for (size_t d = 0; d < sizeof(devices) / sizeof(*devices); d++)
			run_all(corners[i].label, corners[i].yaml, devices[d].rows, devices[d].cols, devices[d].batch, devices[d].bus_bytes, seed + d);
}

static int pick(uint64_t seed, uint64_t *position, int lo, int hi)
{
	return lo + (int)(random_bits(seed, 99, (*position)++) % (uint64_t)(hi - lo + 1));
}

// A random chain of two to five layers in which every output sees the image.
static void random_net(char *yaml, size_t size, uint64_t seed)
{
	uint64_t at = 0;
	int height = pick(seed, &at, 1, 14), width = pick(seed, &at, 1, 14);
	const int layers = pick(seed, &at, 2, 5);
	size_t used = (size_t)snprintf(yaml, size, "name: t\ninput: {height: %d, width: %d, channels: %d}\nnodes:\n", height, width, pick(seed, &at, 1, 20));

	for (int i = 0; i < layers; i++) {
		int kernel[2], stride[2], pad[2], dilation[2];
		int *const sizes[2] = {&height, &width};

		if (i && pick(seed, &at, 0, 2) == 0) {
			used += (size_t)snprintf(yaml + used, size - used, "  - {name: n%d, op: relu}\n", i);
			continue;
		}
		for (int axis = 0; axis < 2; axis++) {
			int span;

			do {
				kernel[axis] = pick(seed, &at, 1, 5);
				dilation[axis] = pick(seed, &at, 1, 3);
				span = dilation[axis] * (kernel[axis] - 1);
				pad[axis] = pick(seed, &at, 0, span < 4 ? span : 4);
			} while (*sizes[axis] + 2 * pad[axis] <= span);
			stride[axis] = pick(seed, &at, 1, 4);
			*sizes[axis] = (*sizes[axis] + 2 * pad[axis] - span - 1) / stride[axis] + 1;
		}
		used += (size_t)snprintf(yaml + used, size - used,
					 "  - {name: n%d, op: conv, channels: %d, kernel: [%d, %d], stride: [%d, %d], pad: [%d, %d], dilation: [%d, %d]}\n", i,
					 pick(seed, &at, 1, 40), kernel[0], kernel[1], stride[0], stride[1], pad[0], pad[1], dilation[0], dilation[1]);
	}
}

Test(lower, random_networks_are_exact_under_every_planner)
{
	static const int sides[] = {4, 8, 16, 32};
	const uint64_t seed = tests_seed("tests/host/test_lower", 1000);
	const uint64_t nets = getenv("WC_LONG") ? 2000 : 120;

	for (uint64_t i = 0; i < nets; i++) {
		char yaml[2048];
		uint64_t at = 0;
		const int rows = sides[pick(seed + i, &at, 0, 3)], cols = sides[pick(seed + i, &at, 0, 3)];

		random_net(yaml, sizeof(yaml), seed + i);
		run_all(yaml, yaml, rows, cols, 1 + (int)(i % 6), 16u << i % 3, seed + i);
	}
}

Test(lower, bits_do_not_depend_on_the_schedule)
{
	struct run_digest first[32];
	int count = 0;

	for (size_t p = 0; p < sizeof(planners) / sizeof(*planners); p++) {
		struct rig rig;

		rig_start(&rig, corners[6].yaml, planners[p], 8, 8, 4, 65536, 16, 7);
		cr_assert(rig.planned);
		rig_expect_right(&rig, rig_run(&rig));
		cr_assert_gt(rig.result.digest_count, 3);
		if (p == 0) {
			count = rig.result.digest_count;
			for (int i = 0; i < count; i++)
				first[i] = rig.result.digests[i];
		}
		for (int i = 0; i < rig.result.digest_count; i++)
			for (int k = 0; k < count; k++)
				if (first[k].kind == rig.result.digests[i].kind && first[k].node == rig.result.digests[i].node)
					cr_expect_eq(first[k].crc, rig.result.digests[i].crc);
		rig_stop(&rig);
	}
}

#define HEADER(name, batch) "schedule 1\nnet " name "\nbatch " batch "\ncores 1\narray 16x16\nbuffer 65536\nbus 16\naccounting device\n"

// Rows of a gradient that no row of the output reaches, computed by themselves. Padding too is multiplied by the weights: one that is
// not finite gives a NaN, whichever rows are computed together.
Test(lower, rows_that_depend_on_nothing_are_exact_by_themselves)
{
	static const struct {
		const char *net, *schedule;
	} cases[] = {
		// A stride that leaves rows behind the last window, a kernel that does not reach them.
		{"name: s\ninput: {height: 9, width: 8, channels: 4}\nnodes:\n  - {name: c1, op: conv, channels: 8, kernel: 3, pad: 1}\n"
		 "  - {name: c2, op: conv, channels: 8, kernel: 3, stride: 4}\n",
		 HEADER("s", "2") "group forward c1 c2\n  sub_batch 2\n  tiling none\n  strip 0\n    load act:input=0:9\n    compute act:c1=0:9\n"
		 "    store act:c1=0:9\n    compute act:c2=0:2\n    store act:c2=0:2\n"
		 "group backward c1 c2\n  sub_batch 2\n  tiling none\n  strip 0\n    load act:c1=0:7\n    load grad:c2=0:2\n    accumulate c2=0:2\n"
		 "    compute grad:c1=0:8\n    compute grad:c1=8:9\n    load act:input=0:9\n    accumulate c1=0:9\n"},
		// A stride above the kernel: rows between the windows.
		{"name: s\ninput: {height: 8, width: 8, channels: 4}\nnodes:\n  - {name: c1, op: conv, channels: 8, kernel: 3, pad: 1}\n"
		 "  - {name: c2, op: conv, channels: 8, kernel: 1, stride: 2}\n",
		 HEADER("s", "2") "group forward c1 c2\n  sub_batch 2\n  tiling none\n  strip 0\n    load act:input=0:8\n    compute act:c1=0:8\n"
		 "    store act:c1=0:8\n    compute act:c2=0:4\n    store act:c2=0:4\n"
		 "group backward c1 c2\n  sub_batch 2\n  tiling none\n  strip 0\n    load act:c1=0:7\n    load grad:c2=0:4\n    accumulate c2=0:4\n"
		 "    compute grad:c1=0:1\n    compute grad:c1=1:2\n    compute grad:c1=2:8\n    load act:input=0:8\n    accumulate c1=0:8\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (int infinite = 0; infinite < 2; infinite++)
			for (int rtl = 0; rtl < 2; rtl++) {
				struct rig rig;

				rig_start_text(&rig, cases[i].net, cases[i].schedule, 5);
				if (infinite)
					rig.data.weights[2][0] = 0x7c00;
				if (rtl) {
					rig.options.device.kind = DEVICE_RTL;
					rig.options.device.rtl = (struct wc_rtl_options){.library = "build/rtl/r16c16-b65536-w16-m1-rtl/wc_rtl.so"};
				}
				rig_expect_right(&rig, rig_run(&rig));
				rig_stop(&rig);
			}
}

// A wrong value in such rows is explained without an operand in the buffer.
Test(lower, a_fault_in_rows_that_depend_on_nothing_is_located)
{
	static const char net[] = "name: s\ninput: {height: 9, width: 8, channels: 4}\nnodes:\n  - {name: c1, op: conv, channels: 8, kernel: 1}\n"
				  "  - {name: c2, op: conv, channels: 8, kernel: 3, stride: 4}\n";
	static const char schedule[] = HEADER("s", "1")
		"group forward c1 c2\n  sub_batch 1\n  tiling none\n  strip 0\n    load act:input=0:9\n    compute act:c1=0:9\n"
		"    store act:c1=0:9\n    compute act:c2=0:2\n    store act:c2=0:2\n"
		"group backward c1 c2\n  sub_batch 1\n  tiling none\n  strip 0\n    load act:c1=0:9\n    load grad:c2=0:2\n    accumulate c2=0:2\n"
		"    compute grad:c1=8:9\n    compute grad:c1=0:8\n    load act:input=0:9\n    accumulate c1=0:9\n";
	struct found found;
	struct rig rig;

	rig_start_text(&rig, net, schedule, 5);
	rig.options.device.overlap = false;
	find_command(&found, &rig, OP_DATA_GRADIENT, 0);
	cr_assert_lt(found.program.steps[found.op.step].source, 0);
	rig.options.fault.device = (struct wc_fault){.kind = WC_FAULT_ACCUMULATOR, .command = found.index, .row = 1, .column = 2, .bit = 30};
	cr_assert_eq(rig_run(&rig), WC_ERR_MISMATCH, "%s", rig.err.text);
	cr_expect_eq(rig.result.mismatch.command, found.index);
	cr_expect_eq(rig.result.diagnosis.stage, STAGE_ACCUMULATOR, "%s", rig.result.diagnosis.text[0]);
	find_release(&found);
	rig_stop(&rig);
}
