// SPDX-License-Identifier: Apache-2.0
//
// Graphs from files: every op's shape and counts, the order of execution, consumers, modules, and that every graph
// that is none is refused at its node.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

static void expect_shape(const struct net *net, const char *name, int height, int width, int channels)
{
	const int node = net_find(net, name);

	cr_assert_geq(node, 0, "no node '%s'", name);
	cr_expect(net->nodes[node].out.height == height && net->nodes[node].out.width == width && net->nodes[node].out.channels == channels,
		  "'%s' is %dx%dx%d", name, net->nodes[node].out.height, net->nodes[node].out.width, net->nodes[node].out.channels);
}

static const struct net_node *node_of(const struct net *net, const char *name)
{
	cr_assert_geq(net_find(net, name), 0, "no node '%s'", name);
	return &net->nodes[net_find(net, name)];
}

// One of every op.
static const char every_op[] =
	"name: all\ninput: {height: 12, width: 16, channels: 4}\nnodes:\n"
	"  - {name: c1, op: conv, channels: 6, kernel: 3, pad: 1, groups: 2, bias: true}\n"
	"  - {name: g1, op: gn, group_channels: 3}\n"
	"  - {name: r1, op: relu}\n"
	"  - {name: m1, op: max_pool, kernel: 2}\n"
	"  - {name: a1, op: avg_pool, kernel: [3, 1], stride: 1, pad: [1, 0]}\n"
	"  - {name: d1, op: conv, channels: 6, kernel: 3, pad: 2, dilation: 2, groups: 6, input: m1}\n"
	"  - {name: s1, op: add, inputs: [a1, d1, m1]}\n"
	"  - {name: k1, op: concat, inputs: [s1, m1]}\n"
	"  - {name: p1, op: adaptive_pool, size: 3}\n"
	"  - {name: f1, op: fc, units: 5, bias: true}\n"
	"  - {name: x1, op: conv, channels: 5, kernel: 1, input: p1}\n"
	"  - {name: p2, op: global_pool}\n"
	"  - {name: s2, op: add, inputs: [f1, p2]}\n"
	"  - {name: l1, op: loss}\n";

Test(graph, shapes_and_counts_of_every_op)
{
	struct net net;

	text_read(&net, every_op);
	expect_shape(&net, "input", 12, 16, 4);
	expect_shape(&net, "c1", 12, 16, 6);
	expect_shape(&net, "g1", 12, 16, 6);
	expect_shape(&net, "m1", 6, 8, 6);
	expect_shape(&net, "a1", 6, 8, 6);
	expect_shape(&net, "d1", 6, 8, 6);
	expect_shape(&net, "s1", 6, 8, 6);
	expect_shape(&net, "k1", 6, 8, 12);
	expect_shape(&net, "p1", 3, 3, 12);
	expect_shape(&net, "f1", 1, 1, 5);
	expect_shape(&net, "p2", 1, 1, 5);
	expect_shape(&net, "l1", 1, 1, 1);
	cr_expect_eq(node_of(&net, "m1")->conv.stride_h, 2, "a pool steps by its kernel");
	cr_expect_eq(net_parameters(node_of(&net, "c1")), 6 * 2 * 9 + 6);
	cr_expect_eq(net_macs(node_of(&net, "c1")), 6 * 2 * 9 * 12 * 16);
	cr_expect_eq(net_parameters(node_of(&net, "g1")), 12);
	cr_expect_eq(net_parameters(node_of(&net, "d1")), 6 * 9);
	cr_expect_eq(net_macs(node_of(&net, "d1")), 6 * 9 * 6 * 8);
	cr_expect_eq(net_parameters(node_of(&net, "f1")), 5 * 3 * 3 * 12 + 5);
	cr_expect_eq(net_macs(node_of(&net, "f1")), 5 * 3 * 3 * 12);
	cr_expect_eq(net_parameters(node_of(&net, "s1")), 0);
	cr_expect_eq(net_data_gradient_macs(&net, net_find(&net, "c1")), 0);
	cr_expect_eq(net_data_gradient_macs(&net, net_find(&net, "d1")), 6 * 9 * 6 * 8);
	cr_expect_eq(net_forward_macs(&net), 6 * 2 * 9 * 12 * 16 + 6 * 9 * 6 * 8 + 5 * 3 * 3 * 12 + 5 * 12 * 9);
	cr_expect_eq(net_training_macs(&net), 3 * net_forward_macs(&net) - 6 * 2 * 9 * 12 * 16);
	net_release(&net);
}

Test(graph, consumers_ascend_with_one_entry_per_use)
{
	struct net net;
	const struct net_node *node;

	text_read(&net, HEAD CONV "  - {name: s, op: add, inputs: [c1, c1]}\n  - {name: k, op: concat, inputs: [s, c1, s]}\n");
	node = node_of(&net, "c1");
	cr_assert_eq(node->consumer_count, 3);
	cr_expect(node->consumers[0] == 2 && node->consumers[1] == 2 && node->consumers[2] == 3);
	node = node_of(&net, "s");
	cr_assert_eq(node->consumer_count, 2);
	cr_expect(node->consumers[0] == 3 && node->consumers[1] == 3);
	cr_expect_eq(node_of(&net, "k")->consumer_count, 0);
	cr_expect_eq(net_consumer(&net, net_find(&net, "k")), -1);
	cr_expect_eq(net_consumer(&net, 0), 1);
	expect_shape(&net, "k", 6, 6, 9);
	net_release(&net);
}

// The image, and what is made of it without parameters, has no gradient.
Test(graph, gradients_begin_at_the_first_parameters)
{
	struct net net;

	text_read(&net, HEAD "  - {name: p, op: max_pool, kernel: 2}\n  - {name: a, op: conv, channels: 2, kernel: 1}\n"
			     "  - {name: b, op: conv, channels: 2, kernel: 1, input: p}\n  - {name: c, op: conv, channels: 2, kernel: 1}\n"
			     "  - {name: s, op: add, inputs: [a, c]}\n");
	cr_expect(!node_of(&net, "input")->has_gradient && !node_of(&net, "p")->has_gradient);
	cr_expect(node_of(&net, "a")->has_gradient && node_of(&net, "s")->has_gradient);
	cr_expect_eq(net_data_gradient_macs(&net, net_find(&net, "b")), 0);
	cr_expect_eq(net_data_gradient_macs(&net, net_find(&net, "c")), 4 * 16);
	cr_expect_eq(net_training_macs(&net), (2 + 2 + 3) * 4 * 16);
	net_release(&net);
}

static void expect_order(const char *nodes, const char *expected)
{
	char text[1024], order[256] = "";
	struct net net;

	snprintf(text, sizeof(text), "%s%s", HEAD, nodes);
	text_read(&net, text);
	for (int i = 1; i < net.node_count; i++)
		snprintf(order + strlen(order), sizeof(order) - strlen(order), "%s%s", i > 1 ? " " : "", net.nodes[i].name);
	cr_expect_str_eq(order, expected);
	net_release(&net);
}

Test(graph, order_is_the_files_where_it_can_be)
{
	// Branches stay where they are, whichever is longer.
	expect_order("  - {name: a, op: relu}\n  - {name: b, op: relu, input: input}\n  - {name: c, op: relu, input: a}\n"
		     "  - {name: d, op: add, inputs: [b, c]}\n", "a b c d");
	// Of two that are ready, the one that stands first.
	expect_order("  - {name: d, op: add, inputs: [b, c]}\n  - {name: c, op: relu, input: a}\n  - {name: b, op: relu, input: input}\n"
		     "  - {name: a, op: relu, input: input}\n", "b a c d");
	expect_order("  - {name: z, op: relu, input: y}\n  - {name: x, op: relu, input: input}\n  - {name: y, op: relu}\n", "x y z");
}

static void expect_modules(const struct net *net, const char *expected)
{
	char modules[1024] = "";

	for (int m = 0; m < net->module_count; m++)
		snprintf(modules + strlen(modules), sizeof(modules) - strlen(modules), "%s%s..%s", m ? " " : "", net->nodes[net->modules[m].first].name,
			 net->nodes[net->modules[m].last].name);
	cr_expect_str_eq(modules, expected);
	cr_expect_eq(net->nodes[0].module, -1);
	for (int m = 0; m < net->module_count; m++)
		for (int i = net->modules[m].first; i <= net->modules[m].last; i++)
			cr_expect_eq(net->nodes[i].module, m);
}

Test(graph, modules_are_what_one_tensor_leaves)
{
	struct net net;

	text_read(&net, every_op);
	expect_modules(&net, "c1..r1 m1..m1 a1..k1 p1..p1 f1..l1");
	net_release(&net);
	// An add of a tensor to itself, and one of the image, join what is before them.
	text_read(&net, HEAD "  - {name: a, op: conv, channels: 2, kernel: 1}\n  - {name: b, op: add, inputs: [a, a]}\n"
			     "  - {name: c, op: conv, channels: 2, kernel: 1}\n  - {name: d, op: conv, channels: 2, kernel: 1}\n");
	expect_modules(&net, "a..b c..c d..d");
	net_release(&net);
	text_read(&net, HEAD "  - {name: a, op: conv, channels: 2, kernel: 1}\n  - {name: c, op: conv, channels: 2, kernel: 1}\n"
			     "  - {name: b, op: add, inputs: [c, input]}\n  - {name: d, op: conv, channels: 2, kernel: 1}\n");
	expect_modules(&net, "a..b d..d");
	net_release(&net);
	// A norm or a ReLU belongs to what makes its input, even at the beginning.
	text_read(&net, HEAD "  - {name: a, op: relu}\n  - {name: b, op: gn, group_channels: 2}\n  - {name: p, op: max_pool, kernel: 2}\n"
			     "  - {name: c, op: gn, group_channels: 1}\n  - {name: f, op: fc, units: 3}\n  - {name: r, op: relu}\n"
			     "  - {name: l, op: loss}\n");
	expect_modules(&net, "a..b p..c f..l");
	net_release(&net);
}

Test(graph, inputs_must_be_nodes)
{
	text_must_fail(HEAD CONV "  - {name: d, op: relu, input: nowhere}\n", ":5:", "node 'd': input 'nowhere' is no node");
	text_must_fail(HEAD CONV "  - {name: d, op: add, inputs: [c1, nowhere]}\n", ":5:", "node 'd': input 'nowhere' is no node");
	text_must_fail(HEAD CONV "  - name: d\n    op: add\n    inputs:\n      - c1\n      - c2\n", ":9:",
		       "node 'd': input 'c2' is no node");
	text_must_fail(HEAD CONV "  - {name: d, op: relu, input: {}}\n", ":5:", "node 'd': an input must be the name of a node");
	text_must_fail(HEAD CONV "  - {name: d, op: add, inputs: [c1, [c1]]}\n", ":5:", "an input must be the name of a node");
	text_must_fail(HEAD CONV "  - {name: d, op: relu, inputs: []}\n", ":5:", "node 'd': it has 0 inputs, must have 1 to 1024");
	text_must_fail(HEAD CONV "  - {name: d, op: relu, input: c1, inputs: [c1]}\n", ":5:",
		       "node 'd': 'input' and 'inputs' are one key");
	text_must_fail(HEAD CONV "  - {name: d, op: relu, inputs: [c1, input]}\n", ":5:", "node 'd': relu takes 1 input, has 2");
	text_must_fail(HEAD CONV "  - {name: d, op: add}\n", ":5:", "node 'd': add needs 2 inputs or more, has 1");
	text_must_fail(HEAD CONV "  - {name: d, op: concat, input: c1}\n", ":5:", "node 'd': concat needs 2 inputs or more, has 1");
	text_must_fail(HEAD CONV "  - {name: p, op: global_pool}\n  - {name: l, op: loss}\n  - {name: r, op: relu}\n", ":7:",
		       "node 'r': input 'l' is the loss");
}

Test(graph, cycles_name_their_nodes)
{
	text_must_fail(HEAD "  - {name: a, op: relu, input: a}\n", ":4:",
		       "node 'a': its output is needed to make its input, a cycle of 1 node: 'a' -> 'a'");
	text_must_fail(HEAD CONV "  - {name: d, op: conv, input: f, channels: 1, kernel: 1}\n  - {name: e, op: relu}\n  - {name: f, op: relu}\n",
		       ":5:",
		       "a cycle of 3 nodes: 'd' -> 'e' -> 'f' -> 'd'");
	// What only hangs on the cycle, before or behind, is not on it.
	text_must_fail(HEAD CONV "  - {name: t, op: relu, input: s}\n  - {name: s, op: add, inputs: [c1, r]}\n  - {name: r, op: relu, input: s}\n",
		       ":6:",
		       "node 's': its output is needed to make its input, a cycle of 2 nodes: 's' -> 'r' -> 's'");
}

Test(graph, long_cycles_are_shortened)
{
	char *text = malloc(64 * 4096), *at = text;

	at += sprintf(at, "%s  - {name: a-node-with-a-long-name-0, op: relu, input: a-node-with-a-long-name-999}\n", HEAD);
	for (int i = 1; i < 1000; i++)
		at += sprintf(at, "  - {name: a-node-with-a-long-name-%d, op: relu}\n", i);
	text_must_fail(text, ":4:", "a cycle of 1000 nodes: 'a-node-with-a-long-name-0' -> 'a-node-with-a-long-name-1' -> ");
	text_must_fail(text, ":4:", "... -> 'a-node-with-a-long-name-0'");
	free(text);
}

Test(graph, joins_need_matching_shapes)
{
	text_must_fail(HEAD CONV "  - {name: s, op: add, inputs: [c1, input]}\n", ":5:",
		       "node 's': add needs inputs of one shape: 'c1' is 6x6x3, 'input' is 8x8x2");
	text_must_fail(HEAD "  - {name: c, op: conv, channels: 3, kernel: 1}\n  - {name: s, op: add, inputs: [input, c]}\n", ":5:",
		       "'input' is 8x8x2, 'c' is 8x8x3");
	text_must_fail(HEAD CONV "  - {name: s, op: concat, inputs: [c1, c1, input]}\n", ":5:",
		       "node 's': concat needs inputs of one height and width: 'c1' is 6x6x3, 'input' is 8x8x2");
}

Test(graph, values_must_be_within_their_limits)
{
	text_must_fail(HEAD "  - {name: a, op: fc}\n", ":4:", "op fc needs the key 'units'");
	text_must_fail(HEAD "  - {name: a, op: fc, units: 0}\n", ":4:", "node 'a': units is 0, must be from 1 to 32768");
	text_must_fail(HEAD "  - {name: a, op: fc, units: -3}\n", ":4:", "units is -3");
	text_must_fail(HEAD "  - {name: a, op: fc, units: 3, bias: 1}\n", ":4:", "bias must be true or false");
	text_must_fail(HEAD "  - {name: a, op: fc, units: 3, kernel: 1}\n", ":4:", "op fc has no 'kernel'");
	text_must_fail(HEAD "  - {name: a, op: gn}\n", ":4:", "op gn needs the key 'group_channels'");
	text_must_fail(HEAD "  - {name: a, op: gn, group_channels: 0}\n", ":4:", "group_channels is 0");
	text_must_fail(HEAD CONV "  - {name: a, op: gn, group_channels: 2}\n", ":5:",
		       "node 'a': 3 channels are not divisible by 2 channels of a group");
	text_must_fail(HEAD "  - {name: a, op: conv, channels: 4, kernel: 1, groups: 0}\n", ":4:", "groups is 0");
	text_must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: 1, groups: 3}\n", ":4:",
		       "node 'a': the input's 2 channels are not divisible by 3 groups");
	text_must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: 1, groups: 2}\n", ":4:",
		       "node 'a': 3 channels are not divisible by 2 groups");
	text_must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: 1, stride: 0}\n", ":4:", "stride is 0");
	text_must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: 1, dilation: 0}\n", ":4:", "dilation is 0");
	text_must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: 5, dilation: 2}\n", ":4:",
		       "node 'a': output is 0x0: the kernel of 5x5, dilation 2x2, is larger than the padded input of 8x8");
	text_must_fail(HEAD "  - {name: a, op: max_pool}\n", ":4:", "op max_pool needs the key 'kernel'");
	text_must_fail(HEAD "  - {name: a, op: max_pool, kernel: 0}\n", ":4:", "kernel is 0, must be from 1 to 64");
	text_must_fail(HEAD "  - {name: a, op: max_pool, kernel: 2, channels: 2}\n", ":4:", "op max_pool has no 'channels'");
	text_must_fail(HEAD "  - {name: a, op: max_pool, kernel: 2, dilation: 2}\n", ":4:", "op max_pool has no 'dilation'");
	text_must_fail(HEAD "  - {name: a, op: max_pool, kernel: 2, pad: 2}\n", ":4:", "pad is 2x2, must not be above");
	text_must_fail(HEAD "  - {name: a, op: avg_pool, kernel: [1, 9]}\n", ":4:", "node 'a': output is 8x0: the kernel of 1x9");
	text_must_fail(HEAD "  - {name: a, op: adaptive_pool}\n", ":4:", "op adaptive_pool needs the key 'size'");
	text_must_fail(HEAD "  - {name: a, op: adaptive_pool, size: 0}\n", ":4:", "size is 0");
	text_must_fail(HEAD "  - {name: a, op: global_pool, size: 1}\n", ":4:", "op global_pool has no 'size'");
	text_must_fail(HEAD "  - {name: l, op: loss}\n", ":4:", "node 'l': loss needs an input of 1x1xclasses, 'input' is 8x8x2");
	text_must_fail(HEAD "  - {name: a, op: input}\n", ":4:", "op 'input' must be one of conv");
}

Test(graph, every_tensor_but_the_last_must_be_read)
{
	text_must_fail(HEAD CONV "  - {name: d, op: relu, input: input}\n", ":4:",
		       "node 'c1': nothing reads it, and it is not the last node, 'd'");
	text_must_fail(HEAD CONV "  - {name: d, op: relu}\n  - {name: e, op: relu, input: c1}\n  - {name: f, op: relu, input: c1}\n", ":5:",
		       "node 'd': nothing reads it");
}

Test(graph, names_are_taken_once)
{
	text_must_fail(HEAD CONV "  - {name: d, op: relu}\n" CONV "  - {name: d, op: relu}\n", ":6:",
		       "node 'c1': the name is taken by an earlier node");
}

static void overflow(const char *shape, const char *node, const char *words)
{
	char text[512];

	snprintf(text, sizeof(text), "name: n\ninput: {%s}\nnodes:\n  - %s\n", shape, node);
	text_must_fail(text, ":4:", words);
}

Test(graph, sizes_must_be_countable)
{
	char *text = malloc(1 << 20), *at = text;

	overflow("height: 16384, width: 16384, channels: 1", "{name: a, op: conv, channels: 8, kernel: 1}",
		 "node 'a': one sample of the output, 16384x16384x8, has 2147483648 elements, limit 2147483647");
	overflow("height: 256, width: 256, channels: 1", "{name: a, op: fc, units: 32768}",
		 "node 'a': it has 2147483648 weights, limit 2147483647");
	overflow("height: 16384, width: 2, channels: 1", "{name: a, op: conv, channels: 1, kernel: [2, 1], pad: [1, 0]}",
		 "node 'a': output is 16385x2, limit 16384");
	overflow("height: 2, width: 2, channels: 32768", "{name: a, op: concat, inputs: [input, input]}",
		 "node 'a': 65536 and more channels, limit 32768");

	// Each node is within its limits; 3000 of them are 10^19 MACs.
	at += sprintf(at, "name: n\ninput: {height: 724, width: 724, channels: 4096}\nnodes:\n");
	for (int i = 0; i < 3000; i++)
		at += sprintf(at, "  - {name: c%d, op: conv, channels: 4096, kernel: 11, pad: 5}\n", i);
	text_must_fail(text, ":", "MACs up to here do not fit in 64 bits");
	free(text);
}

Test(graph, at_most_4096_nodes)
{
	char *text = malloc(1 << 20), *at = text;
	struct net net;

	at += sprintf(at, "%s", HEAD);
	for (int i = 0; i < 4096; i++)
		at += sprintf(at, "  - {name: c%d, op: relu}\n", i);
	text_read(&net, text);
	cr_expect_eq(net.node_count, 4097);
	net_release(&net);
	sprintf(at, "  - {name: last, op: relu}\n");
	text_must_fail(text, ":4:", "the network has 4097 nodes, must have 1 to 4096");
	free(text);
}

// The image of a file's network can be replaced as that of a built-in one.
Test(graph, image_replaces_height_and_width)
{
	const char path[] = "scripts/nets/resnet50-conv3.yaml";
	struct wc_error err;
	struct net net;

	cr_assert_eq(net_open(&net, path, 5, &err), 0, "%s", err.text);
	expect_shape(&net, "conv3", 5, 5, 128);
	net_release(&net);
	cr_assert_eq(net_open(&net, path, -1, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "image is -1"), "%s", err.text);
	cr_assert_eq(net_open(&net, path, 16385, &err), WC_ERR_INPUT);
}

// The example of the reference is a network.
Test(graph, the_readme_holds_a_network)
{
	static char text[1 << 16];
	FILE *file = fopen("driver/net/README.md", "r");
	char *begin, *end;
	struct net net;

	cr_assert_not_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	begin = strstr(text, "```yaml\n");
	cr_assert_not_null(begin);
	begin += strlen("```yaml\n");
	end = strstr(begin, "```");
	cr_assert_not_null(end);
	*end = '\0';
	text_read(&net, begin);
	cr_expect_eq(net.nodes[net.node_count - 1].op, NET_LOSS);
	for (enum net_op op = NET_INPUT; op < NET_OP_COUNT; op++) {
		bool shown = op == NET_GLOBAL_POOL; // has no keys

		for (int i = 0; i < net.node_count; i++)
			shown |= net.nodes[i].op == op;
		cr_expect(shown, "no %s in the example", net_op_name(op));
	}
	net_release(&net);
}
