// SPDX-License-Identifier: Apache-2.0
//
// Rule: what a command's field cannot count is refused with layer, value and limit, and never becomes another number; what it just can count runs.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "find.h"

// Forward, backward and update under `planner` on 16 x 16, which has 32 lanes, with the golden model's bits.
static void expect_right(const char *yaml, const char *planner, int batch, uint32_t buffer_bytes)
{
	struct rig rig;

	rig_start(&rig, yaml, planner, 16, 16, batch, buffer_bytes, 16, 1);
	cr_assert(rig.planned, "%s: %s\n%s", planner, rig.err.text, yaml);
	rig_train(&rig);
	rig_expect_right(&rig, rig_run(&rig));
	rig_stop(&rig);
}

Test(fields, the_largest_kernels_of_an_fc_run)
{
	expect_right("name: t\ninput: {height: 255, width: 255, channels: 1}\nnodes:\n  - {name: f, op: fc, units: 3}\n  - {name: l, op: loss}\n", "mbs2", 2,
		     1 << 21);
	expect_right("name: t\ninput: {height: 2, width: 255, channels: 40}\nnodes:\n  - {name: f, op: fc, units: 3}\n  - {name: l, op: loss}\n", "mbs2", 2,
		     1 << 21);
}

// 80000 weights a filter are more than one field counts.
Test(fields, an_fc_whose_filters_are_longer_than_a_field_runs)
{
	static const char yaml[] = "name: t\ninput: {height: 200, width: 200, channels: 1}\nnodes:\n  - {name: c, op: conv, channels: 2, kernel: 1}\n"
				   "  - {name: f, op: fc, units: 3, bias: true}\n  - {name: l, op: loss}\n";

	expect_right(yaml, "baseline", 2, 1 << 22);
	expect_right(yaml, "mbs2", 2, 1 << 22);
}

Test(fields, the_largest_global_pool_and_index_run)
{
	expect_right("name: t\ninput: {height: 255, width: 255, channels: 1}\nnodes:\n  - {name: c, op: conv, channels: 2, kernel: 1, stride: 1}\n"
		     "  - {name: g, op: global_pool}\n  - {name: l, op: loss}\n", "mbs2", 1, 1 << 21);
	expect_right("name: t\ninput: {height: 33, width: 33, channels: 2}\nnodes:\n  - {name: c, op: conv, channels: 2, kernel: 1}\n"
		     "  - {name: p, op: max_pool, kernel: 16, stride: 5}\n  - {name: g, op: global_pool}\n  - {name: l, op: loss}\n", "mbs2", 1, 1 << 18);
}

static void norm_net(char *yaml, size_t bytes, int channels)
{
	snprintf(yaml, bytes, "name: t\ninput: {height: 2, width: 2, channels: 2}\nnodes:\n  - {name: c, op: conv, channels: %d, kernel: 1}\n"
		 "  - {name: n, op: gn, group_channels: %d}\n  - {name: g, op: global_pool}\n  - {name: l, op: loss}\n", channels, channels);
}

Test(fields, a_group_of_255_parts_runs)
{
	char yaml[512];

	norm_net(yaml, sizeof(yaml), 8160);
	expect_right(yaml, "baseline", 1, 1 << 21);
}

// The planner lets none of these through; so the node is changed behind it, between planning and lowering.
static void expect_refused(const char *name, int kernel_h, int kernel_w, enum step_op op, const char *words)
{
	static const char yaml[] = "name: t\ninput: {height: 12, width: 12, channels: 2}\nnodes:\n  - {name: c, op: conv, channels: 4, kernel: 3}\n"
				   "  - {name: p, op: max_pool, kernel: 2}\n  - {name: f, op: fc, units: 3}\n  - {name: l, op: loss}\n";
	struct found found;
	struct rig rig;
	struct net_conv *conv;
	int node, step = 0;

	rig_start(&rig, yaml, "mbs2", 16, 16, 1, 1 << 18, 16, 1);
	cr_assert(rig.planned);
	find_all(&found, &rig);
	node = net_find(&rig.net, name);
	while (found.program.steps[step].node != node || found.program.steps[step].op != op) {
		step++;
		cr_assert_lt(step, found.program.step_count);
	}
	conv = &rig.net.nodes[node].conv;
	conv->kernel_h = kernel_h;
	conv->kernel_w = kernel_w;
	cr_expect_eq(lower_step(&found.lower, step, &rig.err), WC_ERR_INPUT);
	cr_expect_str_eq(rig.err.text, words);
	find_release(&found);
	rig_stop(&rig);
}

Test(fields, lowering_refuses_groups_of_more_than_255_parts)
{
	struct found found;
	struct rig rig;
	char yaml[512];
	int step = 0;

	norm_net(yaml, sizeof(yaml), 32);
	rig_start(&rig, yaml, "baseline", 16, 16, 1, 1 << 18, 16, 1);
	cr_assert(rig.planned);
	find_all(&found, &rig);
	rig.net.nodes[net_find(&rig.net, "n")].group_channels = 8192;
	for (; step < found.program.step_count; step++) {
		const enum step_op op = found.program.steps[step].op;

		if (op != STEP_ROW_SUMS && op != STEP_COMBINE)
			continue;
		cr_expect_eq(lower_step(&found.lower, step, &rig.err), WC_ERR_INPUT);
		cr_expect_str_eq(rig.err.text, "cannot lower 'n': parts of a group on the vector unit would be 256, the command's field holds 1 to 255");
	}
	find_release(&found);
	rig_stop(&rig);
}

Test(fields, lowering_refuses_kernels_that_a_field_cannot_count)
{
	expect_refused("f", 256, 5, STEP_FORWARD, "cannot lower 'f': rows of the kernel would be 256, the command's field holds 1 to 255");
	expect_refused("f", 5, 257, STEP_FORWARD, "cannot lower 'f': columns of the kernel would be 257, the command's field holds 1 to 255");
	expect_refused("f", 5, 257, STEP_WEIGHT_GRADIENT, "cannot lower 'f': columns of the kernel would be 257, the command's field holds 1 to 255");
	expect_refused("p", 17, 17, STEP_FORWARD, "cannot lower 'p': bits of an index would be 9, the command's field holds 0 to 8");
	expect_refused("p", 17, 17, STEP_DATA_GRADIENT, "cannot lower 'p': bits of an index would be 9, the command's field holds 0 to 8");
}
