// SPDX-License-Identifier: Apache-2.0
//
// What the device's schedules cannot take is refused by its first node, and so where they are planned and read.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "driver/plan/plan.h"
#include "text.h"

static void refused(const char *nodes, const char *words)
{
	struct wc_error err = {""};
	struct net net;
	char text[1024];

	snprintf(text, sizeof(text), "%s%s", HEAD, nodes);
	text_read(&net, text);
	cr_assert_eq(net_require_chain(&net, "some device", &err), WC_ERR_INPUT, "accepted:\n%s", text);
	cr_expect(strstr(err.text, "some device: node '") == err.text, "%s", err.text);
	cr_expect(!net_is_chain(&net), "a chain:\n%s", text);
	cr_expect(strstr(err.text, words), "'%s' lacks '%s'", err.text, words);
	net_release(&net);
}

Test(chain, other_graphs_are_refused_at_their_first_node)
{
	refused(CONV "  - {name: p, op: max_pool, kernel: 2}\n  - {name: g, op: gn, group_channels: 1}\n",
		"node 'p' is of op max_pool");
	refused(CONV "  - {name: f, op: fc, units: 2}\n", "node 'f' is of op fc");
	refused("  - {name: r, op: relu}\n", "node 'r' is of op relu, the first node must be a conv");
	refused(CONV "  - {name: r, op: relu}\n  - {name: q, op: add, inputs: [c1, r]}\n", "node 'q' is of op add");
	refused("  - {name: a, op: conv, channels: 2, kernel: 1}\n  - {name: b, op: conv, channels: 2, kernel: 1, input: input}\n"
		"  - {name: s, op: add, inputs: [a, b]}\n", "node 'b' reads 'input', not the node before, 'a'");
	refused("  - {name: a, op: conv, channels: 2, kernel: 1, groups: 2}\n", "node 'a' has 2 groups");
	refused("  - {name: a, op: conv, channels: 2, kernel: 1, bias: true}\n", "node 'a' has a bias");
}

static void too_large(const char *shape, const char *node, const char *words)
{
	struct wc_error err = {""};
	struct net net;
	char text[512];

	snprintf(text, sizeof(text), "name: n\ninput: {%s}\nnodes:\n  - %s\n", shape, node);
	text_read(&net, text);
	cr_assert_eq(net_require_chain(&net, "device", &err), WC_ERR_INPUT, "accepted:\n%s", text);
	cr_expect(net_is_chain(&net), "no chain:\n%s", text);
	cr_expect(strstr(err.text, words), "'%s' lacks '%s'", err.text, words);
	net_release(&net);
}

Test(chain, tensors_must_be_within_the_devices_reach)
{
	too_large("height: 16384, width: 16384, channels: 4", "{name: a, op: conv, channels: 1, kernel: 1}",
		  "node 'input': one sample of the output takes 2147483648 bytes, limit 1073741824");
	too_large("height: 16384, width: 16384, channels: 1", "{name: a, op: conv, channels: 4, kernel: 1}",
		  "node 'a': one sample of the output takes");
	too_large("height: 4, width: 4, channels: 16384", "{name: a, op: conv, channels: 32768, kernel: 1}",
		  "node 'a': weight gradients take 2147483648 bytes, limit 1073741824");
}

static int require_device(const char *shape, const char *nodes, struct wc_error *err)
{
	struct net net;
	char text[512];
	int rc;

	snprintf(text, sizeof(text), "name: n\ninput: {%s}\nnodes:\n%s", shape, nodes);
	text_read(&net, text);
	rc = net_require_device(&net, "device", err);
	net_release(&net);
	return rc;
}

static void fits(const char *shape, const char *nodes)
{
	struct wc_error err = {""};

	cr_expect_eq(require_device(shape, nodes, &err), 0, "%s", err.text);
}

static void exceeds(const char *shape, const char *nodes, const char *words)
{
	struct wc_error err = {""};

	cr_assert_eq(require_device(shape, nodes, &err), WC_ERR_INPUT, "accepted: %s\n%s", shape, nodes);
	cr_expect_str_eq(err.text, words);
}

Test(chain, an_fc_on_the_device_has_at_most_255_rows_and_columns)
{
	static const char fc[] = "  - {name: f, op: fc, units: 2}\n";

	fits("height: 255, width: 255, channels: 1", fc);
	exceeds("height: 256, width: 8, channels: 1", fc,
		"device: node 'f' is of op fc and reads an input of 256x8, the device's limit is 255 rows and 255 columns");
	exceeds("height: 8, width: 257, channels: 1", fc,
		"device: node 'f' is of op fc and reads an input of 8x257, the device's limit is 255 rows and 255 columns");
}

Test(chain, an_fc_on_the_device_sums_over_what_a_command_counts)
{
	static const char fc[] = "  - {name: f, op: fc, units: 1}\n";

	fits("height: 255, width: 255, channels: 258", fc);
	exceeds("height: 255, width: 255, channels: 259", fc,
		"device: node 'f' is of op fc and sums over 16841475 inputs, the device's limit is 16777215");
}

Test(chain, a_max_pool_on_the_device_has_as_many_taps_as_an_index_tells_apart)
{
	fits("height: 64, width: 64, channels: 1", "  - {name: p, op: max_pool, kernel: 16}\n");
	fits("height: 64, width: 64, channels: 1", "  - {name: p, op: max_pool, kernel: [4, 64]}\n");
	fits("height: 64, width: 64, channels: 1", "  - {name: p, op: avg_pool, kernel: 64}\n");
	exceeds("height: 64, width: 64, channels: 1", "  - {name: p, op: max_pool, kernel: 17}\n",
		"device: node 'p' is of op max_pool with a kernel of 17x17, 289 taps, the device's limit is 256 taps");
	exceeds("height: 64, width: 64, channels: 1", "  - {name: p, op: max_pool, kernel: [5, 64]}\n",
		"device: node 'p' is of op max_pool with a kernel of 5x64, 320 taps, the device's limit is 256 taps");
}

Test(chain, a_global_pool_on_the_device_has_at_most_255_rows_and_columns)
{
	static const char pool[] = "  - {name: g, op: global_pool}\n";

	fits("height: 255, width: 255, channels: 1", pool);
	exceeds("height: 256, width: 1, channels: 1", pool,
		"device: node 'g' is of op global_pool and reads an input of 256x1, the device's limit is 255 rows and 255 columns");
	exceeds("height: 1, width: 300, channels: 1", pool,
		"device: node 'g' is of op global_pool and reads an input of 1x300, the device's limit is 255 rows and 255 columns");
}

Test(chain, a_group_on_the_device_is_at_most_255_parts_for_its_lanes)
{
	static const struct {
		int channels, lanes, parts;
	} cases[] = {{8160, 32, 0}, {8192, 32, 256}, {8192, 33, 256}, {8192, 64, 0}, {251, 8, 0}, {257, 256, 257}, {257, 257, 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wc_error err = {""};
		struct net net;
		char text[256], words[256];

		snprintf(text, sizeof(text), "%s  - {name: c, op: conv, channels: %d, kernel: 1}\n  - {name: g, op: gn, group_channels: %d}\n", HEAD,
			 cases[i].channels, cases[i].channels);
		text_read(&net, text);
		cr_expect_eq(net_require_lanes(&net, cases[i].lanes, "device", &err), cases[i].parts ? WC_ERR_INPUT : 0, "%s", text);
		snprintf(words, sizeof(words), "device: node 'g' has groups of %d channels, which are %d equal parts for the vector unit's %d lanes, the "
			 "device's limit is 255", cases[i].channels, cases[i].parts, cases[i].lanes);
		cr_expect_str_eq(err.text, cases[i].parts ? words : "");
		net_release(&net);
	}
}

Test(chain, chains_pass)
{
	struct wc_error err;
	struct net net;

	cr_assert_eq(net_builtin(&net, "fashion-conv", &err), 0, "%s", err.text);
	cr_expect_eq(net_require_chain(&net, "device", &err), 0, "%s", err.text);
	net_release(&net);
}

// Planners take whatever the device has.
Test(chain, planners_of_schedules_ask)
{
	const struct plan_options options = {.batch = 2, .cores = 1, .rows = 16, .cols = 16, .acc_rows = 256, .buffer_bytes = 131072, .bus_bytes = 16};
	struct schedule schedule;
	struct wc_error err;
	struct net net;

	text_read(&net, HEAD CONV "  - {name: p, op: adaptive_pool, size: 1}\n");
	for (int i = 0; plan_name(i); i++) {
		cr_assert_eq(plan_by_name(&schedule, plan_name(i), &net, &options, &err), WC_ERR_INPUT, "%s", plan_name(i));
		cr_expect(strstr(err.text, "node 'p' is an adaptive pool, which the device has not"), "%s: %s", plan_name(i), err.text);
	}
	net_release(&net);
	text_read(&net, "name: n\ninput: {height: 300, width: 300, channels: 1}\nnodes:\n  - {name: f, op: fc, units: 10}\n  - {name: l, op: loss}\n");
	for (int i = 0; plan_name(i); i++) {
		cr_assert_eq(plan_by_name(&schedule, plan_name(i), &net, &options, &err), WC_ERR_INPUT, "%s", plan_name(i));
		cr_expect(strstr(err.text, "node 'f' is of op fc and reads an input of 300x300"), "%s: %s", plan_name(i), err.text);
	}
	net_release(&net);
	text_read(&net, HEAD "  - {name: a, op: conv, channels: 4, kernel: 1, groups: 2}\n");
	cr_assert_eq(plan_by_name(&schedule, "mbs2", &net, &options, &err), 0, "%s", err.text);
	schedule_release(&schedule);
	net_release(&net);
	cr_assert_eq(net_builtin(&net, "resnet8", &err), 0, "%s", err.text);
	cr_assert_eq(plan_by_name(&schedule, "mbs2", &net, &options, &err), 0, "%s", err.text);
	schedule_release(&schedule);
	net_release(&net);
}
