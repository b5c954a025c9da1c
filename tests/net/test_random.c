// SPDX-License-Identifier: Apache-2.0
//
// Random graphs, in the order in which they were made and in any other: order, shapes, counts, consumers, gradients
// and modules are those of their definitions; with one fault planted they are refused at its node.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "text.h"

static int generated_index(const struct net *net, int node)
{
	return node ? atoi(net->nodes[node].name + 1) : 0;
}

// Again and again the first node of the file that is not done and whose inputs are.
static void check_order(const struct net *net, const struct generated *of)
{
	bool done[GENERATED_MAX] = {true};

	for (int i = 1; i < of->count; i++)
		for (int f = 0;; f++) {
			const struct generated_node *node = &of->nodes[of->file[f]];
			bool ready = !done[of->file[f]];

			for (int k = 0; k < node->input_count; k++)
				ready &= done[node->inputs[k]];
			if (!ready)
				continue;
			cr_assert_eq(generated_index(net, i), of->file[f], "%d is %s in\n%s", i, net->nodes[i].name, of->text);
			done[of->file[f]] = true;
			break;
		}
}

static void check_nodes(const struct net *net, const struct generated *of)
{
	int64_t macs = 0, parameters = 0;

	for (int i = 0; i < net->node_count; i++) {
		const struct net_node *node = &net->nodes[i];
		const struct generated_node *expected = &of->nodes[generated_index(net, i)];

		cr_assert_eq(node->op, expected->op);
		cr_assert(!memcmp(&node->out, &expected->out, sizeof(node->out)), "%s is %dx%dx%d in\n%s", node->name, node->out.height, node->out.width,
			  node->out.channels, of->text);
		cr_assert_eq(net_macs(node), expected->macs, "%s", node->name);
		cr_assert_eq(net_parameters(node), expected->parameters, "%s", node->name);
		cr_assert_eq(node->input_count, expected->input_count);
		for (int k = 0; k < node->input_count; k++)
			cr_assert_eq(generated_index(net, node->inputs[k]), expected->inputs[k]);
		if (i)
			cr_assert(!memcmp(&node->in, &net->nodes[node->inputs[0]].out, sizeof(node->in)));
		macs += expected->macs;
		parameters += expected->parameters;
	}
	cr_assert_eq(net_forward_macs(net), macs);
	cr_assert_eq(net_total_parameters(net), parameters);
}

static void check_consumers(const struct net *net)
{
	for (int i = 0; i < net->node_count; i++) {
		int use = 0;

		for (int reader = i + 1; reader < net->node_count; reader++)
			for (int k = 0; k < net->nodes[reader].input_count; k++)
				if (net->nodes[reader].inputs[k] == i) {
					cr_assert_lt(use, net->nodes[i].consumer_count);
					cr_assert_eq(net->nodes[i].consumers[use++], reader);
				}
		cr_assert_eq(use, net->nodes[i].consumer_count);
	}
}

// Some parameter lies on a path to the tensor.
static bool depends(const struct net *net, int node)
{
	bool found = net_parameters(&net->nodes[node]) > 0;

	for (int k = 0; !found && k < net->nodes[node].input_count; k++)
		found = depends(net, net->nodes[node].inputs[k]);
	return found;
}

static bool crosses(const struct net *net, int tensor, int boundary)
{
	for (int reader = boundary + 1; reader < net->node_count; reader++)
		for (int k = 0; k < net->nodes[reader].input_count; k++)
			if (net->nodes[reader].inputs[k] == tensor)
				return true;
	return false;
}

// A boundary behind node i is where its output alone goes on, and not into what belongs to the node or joins branches.
static void check_modules(const struct net *net, const char *text)
{
	int module = 0;

	cr_assert_eq(net->nodes[0].module, -1);
	for (int i = 1; i < net->node_count; i++) {
		const enum net_op op = net->nodes[i].op;
		bool boundary = i > 1;

		for (int tensor = 0; tensor < i - 1; tensor++)
			boundary &= !crosses(net, tensor, i - 1);
		if (op == NET_GN || op == NET_RELU || op == NET_LOSS || op == NET_ADD || op == NET_CONCAT)
			boundary = false;
		module += boundary;
		cr_assert_eq(net->nodes[i].module, module, "%s is in %d, not %d, of\n%s", net->nodes[i].name, net->nodes[i].module, module, text);
		cr_assert(net->modules[module].first <= i && i <= net->modules[module].last);
	}
	cr_assert_eq(net->module_count, module + 1);
	cr_assert_eq(net->modules[0].first, 1);
	for (int m = 1; m < net->module_count; m++)
		cr_assert_eq(net->modules[m].first, net->modules[m - 1].last + 1);
	cr_assert_eq(net->modules[module].last, net->node_count - 1);
}

static int rounds(void)
{
	return getenv("WC_LONG") ? 20000 : 1500;
}

Test(random, graphs_are_what_their_text_says)
{
	static struct generated of;
	struct random random = random_begin("graphs", 20240611);
	int joins = 0, modules = 0;

	for (int round = 0; round < rounds(); round++) {
		struct net net;

		generate(&of, &random, round % 2);
		text_read(&net, of.text);
		cr_assert_eq(net.node_count, of.count);
		check_order(&net, &of);
		check_nodes(&net, &of);
		check_consumers(&net);
		check_modules(&net, of.text);
		for (int i = 0; i < net.node_count; i++) {
			cr_assert_eq(net.nodes[i].has_gradient, depends(&net, i), "%s of\n%s", net.nodes[i].name, of.text);
			joins += net.nodes[i].input_count > 1;
		}
		modules += net.module_count;
		net_release(&net);
	}
	cr_assert_gt(joins, rounds());
	cr_assert_gt(modules, 2 * rounds());
}

static void expect_fault(const struct generated *of, int node, const char *words)
{
	char line[16];

	snprintf(line, sizeof(line), ":%d:", of->nodes[node].line);
	text_must_fail(of->text, line, words);
}

static int some_node(const struct generated *of, struct random *random, bool (*fits)(const struct generated_node *))
{
	for (int tries = 0; tries < 40; tries++) {
		const int node = 1 + random_below(random, of->count - 1);

		if (fits(&of->nodes[node]))
			return node;
	}
	return -1;
}

static bool is_conv(const struct generated_node *node)
{
	return node->op == NET_CONV;
}

static bool is_gn(const struct generated_node *node)
{
	return node->op == NET_GN;
}

static bool is_add(const struct generated_node *node)
{
	return node->op == NET_ADD;
}

static bool is_any(const struct generated_node *node)
{
	return node->op != NET_LOSS;
}

// Plant one fault. False if the graph has no place for it.
static bool plant(struct generated *of, struct random *random, int kind)
{
	int node = -1;

	switch (kind) {
	case 0: // a cycle: a node reads one that reads it
		node = some_node(of, random, is_any);
		if (node < 0)
			return false;
		for (int reader = node + 1; reader < of->count - 1; reader++)
			if (of->nodes[reader].inputs[0] == node) {
				of->nodes[node].inputs[random_below(random, of->nodes[node].input_count)] = reader;
				generate_text(of);
				text_must_fail(of->text, ":", "its output is needed to make its input, a cycle of");
				return true;
			}
		return false;
	case 1: // a producer that is none
		node = 1 + random_below(random, of->count - 1);
		of->nodes[node].inputs[random_below(random, of->nodes[node].input_count)] = 1000;
		generate_text(of);
		expect_fault(of, node, "input 'n1000' is no node");
		return true;
	case 2: // groups that do not divide
		if ((node = some_node(of, random, is_conv)) < 0)
			return false;
		of->nodes[node].groups = 1 + of->nodes[of->nodes[node].inputs[0]].out.channels;
		generate_text(of);
		expect_fault(of, node, "channels are not divisible by");
		return true;
	case 3:
		if ((node = some_node(of, random, is_gn)) < 0)
			return false;
		of->nodes[node].group_channels = 1 + of->nodes[node].out.channels;
		generate_text(of);
		expect_fault(of, node, "channels of a group");
		return true;
	case 4: // a sum of unlike shapes
		if ((node = some_node(of, random, is_add)) < 0)
			return false;
		for (int other = 0; other < node; other++)
			if (memcmp(&of->nodes[other].out, &of->nodes[node].out, sizeof(of->nodes[node].out))) {
				of->nodes[node].inputs[1] = other;
				generate_text(of);
				expect_fault(of, node, "add needs inputs of one shape");
				return true;
			}
		return false;
	case 5: // a name that is taken
		node = of->file[1 + random_below(random, of->count - 2)];
		{
			char *at = strstr(of->text, "nodes:"), name[16], other[16];

			snprintf(name, sizeof(name), "name: n%d,", node);
			snprintf(other, sizeof(other), "name: n%d,", of->file[0]);
			at = strstr(at, name);
			cr_assert_not_null(at);
			if (strlen(name) != strlen(other))
				return false;
			memcpy(at, other, strlen(other));
		}
		expect_fault(of, node, "the name is taken by an earlier node");
		return true;
	default: // a kernel larger than the input
		if ((node = some_node(of, random, is_conv)) < 0 || of->nodes[of->nodes[node].inputs[0]].out.height > 10)
			return false;
		of->nodes[node].kernel_h = 11;
		of->nodes[node].dilation = 1;
		of->nodes[node].pad_h = of->nodes[node].pad_w = 0;
		if (of->nodes[of->nodes[node].inputs[0]].out.width < of->nodes[node].kernel_w)
			return false;
		generate_text(of);
		expect_fault(of, node, "the kernel of 11x");
		return true;
	}
}

Test(random, planted_faults_are_found_at_their_node)
{
	static struct generated of;
	struct random random = random_begin("faults", 20240612);
	int planted[7] = {0};

	for (int round = 0; round < rounds(); round++) {
		generate(&of, &random, random_below(&random, 2));
		planted[round % 7] += plant(&of, &random, round % 7);
	}
	for (int kind = 0; kind < 7; kind++)
		cr_expect_gt(planted[kind], rounds() / 70, "fault %d was planted %d times", kind, planted[kind]);
}
