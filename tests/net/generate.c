// SPDX-License-Identifier: Apache-2.0
#include "generate.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/splitmix.h"

struct random random_begin(const char *test, uint64_t seed)
{
	const char *given = getenv("WC_SEED");
	const struct random random = {given ? strtoull(given, NULL, 0) : seed};

	printf("%s: WC_SEED=%" PRIu64 "\n", test, random.state);
	return random;
}

int random_below(struct random *random, int limit)
{
	return (int)(splitmix_next(&random->state) % (uint64_t)limit);
}

static struct generated_node *add(struct generated *of, enum net_op op, int input)
{
	struct generated_node *node = &of->nodes[of->count++];

	*node = (struct generated_node){.op = op, .inputs = {input}, .input_count = 1, .out = of->nodes[input].out};
	return node;
}

// Outputs of a window counted one by one.
static int positions(int size, int kernel, int stride, int pad, int dilation)
{
	int count = 0;

	for (int at = -pad; at + dilation * (kernel - 1) < size + pad; at += stride)
		count++;
	return count;
}

static int divisor(struct random *random, int number)
{
	int d = 1 + random_below(random, number);

	while (number % d)
		d--;
	return d;
}

// Kernel and padding that the input has room for.
static void choose_window(struct generated_node *node, struct random *random, struct net_shape in)
{
	node->dilation = node->op == NET_CONV ? 1 + random_below(random, 2) : 1;
	node->stride = 1 + random_below(random, 2);
	do {
		node->kernel_h = 1 + random_below(random, 3);
		node->kernel_w = 1 + random_below(random, 3);
		node->pad_h = random_below(random, node->dilation * (node->kernel_h - 1) + 1);
		node->pad_w = random_below(random, node->dilation * (node->kernel_w - 1) + 1);
		node->out.height = positions(in.height, node->kernel_h, node->stride, node->pad_h, node->dilation);
		node->out.width = positions(in.width, node->kernel_w, node->stride, node->pad_w, node->dilation);
	} while (node->out.height < 1 || node->out.width < 1);
}

// Add or concat with other tensors of the same shape or size, as far as there are any.
static void choose_inputs(struct generated *of, struct random *random, struct generated_node *node)
{
	const struct net_shape shape = node->out;

	for (int tries = 0; tries < 30 && node->input_count < GENERATED_INPUTS_MAX; tries++) {
		const int other = random_below(random, of->count - 1);
		const struct net_shape out = of->nodes[other].out;

		if (out.height != shape.height || out.width != shape.width || (node->op == NET_ADD && out.channels != shape.channels))
			continue;
		if (node->op == NET_CONCAT && node->out.channels + out.channels > 40)
			continue;
		node->inputs[node->input_count++] = other;
		node->out.channels += node->op == NET_CONCAT ? out.channels : 0;
	}
	if (node->input_count == 1)
		node->op = NET_RELU;
}

static void add_random(struct generated *of, struct random *random, bool narrow)
{
	static const enum net_op ops[] = {NET_CONV, NET_CONV, NET_CONV, NET_GN, NET_RELU, NET_RELU, NET_MAX_POOL, NET_AVG_POOL, NET_ADD, NET_ADD,
					  NET_CONCAT};
	// Narrow graphs branch at joins alone, others at every third node.
	const int input = narrow || random_below(random, 3) ? of->count - 1 : random_below(random, of->count);
	struct generated_node *node = add(of, ops[random_below(random, (int)(sizeof(ops) / sizeof(*ops)))], input);
	const struct net_shape in = of->nodes[input].out;

	switch (node->op) {
	case NET_CONV:
		node->groups = random_below(random, 3) ? 1 : divisor(random, in.channels);
		node->out.channels = node->groups * (1 + random_below(random, 3));
		node->bias = random_below(random, 2);
		choose_window(node, random, in);
		for (int k = 0; k < node->out.channels; k++)
			node->parameters += (int64_t)(in.channels / node->groups) * node->kernel_h * node->kernel_w;
		node->macs = node->parameters * node->out.height * node->out.width;
		node->parameters += node->bias ? node->out.channels : 0;
		break;
	case NET_GN:
		node->group_channels = divisor(random, in.channels);
		node->parameters = 2 * in.channels;
		break;
	case NET_MAX_POOL:
	case NET_AVG_POOL:
		choose_window(node, random, in);
		break;
	case NET_ADD:
	case NET_CONCAT:
		if (narrow && random_below(random, 2))
			node->op = NET_RELU;
		else
			choose_inputs(of, random, node);
		break;
	default:
		break;
	}
}

static bool is_read(const struct generated *of, int node)
{
	for (int i = node + 1; i < of->count; i++)
		for (int k = 0; k < of->nodes[i].input_count; k++)
			if (of->nodes[i].inputs[k] == node)
				return true;
	return false;
}

// Bring what nobody reads together: pooled or flattened to 1x1 and added, then the loss.
static void gather(struct generated *of, struct random *random)
{
	int sum = -1;

	for (int i = 0, count = of->count; i < count; i++) {
		const struct net_shape in = of->nodes[i].out;
		struct generated_node *node;

		if (is_read(of, i))
			continue;
		node = add(of, NET_FC, i);
		node->out = (struct net_shape){1, 1, 5};
		node->bias = random_below(random, 2);
		node->macs = (int64_t)5 * in.height * in.width * in.channels;
		node->parameters = node->macs + (node->bias ? 5 : 0);
		if (sum >= 0) {
			node = add(of, NET_ADD, sum);
			node->inputs[node->input_count++] = of->count - 2;
		}
		sum = of->count - 1;
	}
	add(of, NET_LOSS, sum)->out = (struct net_shape){1, 1, 1};
}

void generate(struct generated *of, struct random *random, bool shuffled)
{
	const int count = 2 + random_below(random, 24);
	const bool narrow = random_below(random, 2);

	memset(of, 0, sizeof(*of));
	of->nodes[0].op = NET_INPUT;
	of->nodes[0].out = (struct net_shape){1 + random_below(random, 12), 1 + random_below(random, 12), 1 + random_below(random, 8)};
	of->count = 1;
	while (of->count < count)
		add_random(of, random, narrow);
	gather(of, random);
	for (int i = 0; i < of->count - 1; i++)
		of->file[i] = i + 1;
	for (int i = of->count - 2; shuffled && i > 0; i--) {
		const int other = random_below(random, i + 1), keep = of->file[i];

		of->file[i] = of->file[other];
		of->file[other] = keep;
	}
	generate_text(of);
}

static void say(struct generated *of, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct generated *of, const char *format, ...)
{
	const size_t used = strlen(of->text);
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(of->text + used, sizeof(of->text) - used, format, args);
	va_end(args);
	cr_assert(length >= 0 && (size_t)length < sizeof(of->text) - used);
}

static void say_name(struct generated *of, int node)
{
	if (node)
		say(of, "n%d", node);
	else
		say(of, "input");
}

static void say_node(struct generated *of, int index, bool first)
{
	const struct generated_node *node = &of->nodes[index];

	say(of, "  - {name: n%d, op: %s", index, net_op_name(node->op));
	// The first node of a file reads the image unless told otherwise.
	if (node->input_count > 1 || !first || node->inputs[0] != 0) {
		for (int k = 0; k < node->input_count; k++) {
			say(of, k ? ", " : ", inputs: [");
			say_name(of, node->inputs[k]);
		}
		say(of, "]");
	}
	if (node->op == NET_CONV)
		say(of, ", channels: %d, groups: %d, dilation: %d", node->out.channels, node->groups, node->dilation);
	if (node->kernel_h)
		say(of, ", kernel: [%d, %d], stride: %d, pad: [%d, %d]", node->kernel_h, node->kernel_w, node->stride, node->pad_h, node->pad_w);
	if (node->op == NET_FC)
		say(of, ", units: %d", node->out.channels);
	if (node->op == NET_GN)
		say(of, ", group_channels: %d", node->group_channels);
	if (node->op == NET_CONV || node->op == NET_FC)
		say(of, ", bias: %s", node->bias ? "true" : "false");
	say(of, "}\n");
}

void generate_text(struct generated *of)
{
	const struct net_shape image = of->nodes[0].out;

	of->text[0] = '\0';
	say(of, "name: random\ninput: {height: %d, width: %d, channels: %d}\nnodes:\n", image.height, image.width, image.channels);
	for (int i = 0; i < of->count - 1; i++) {
		of->nodes[of->file[i]].line = 4 + i;
		say_node(of, of->file[i], i == 0);
	}
}
