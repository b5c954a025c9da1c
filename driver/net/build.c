// SPDX-License-Identifier: Apache-2.0
#include "driver/net/build.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/net/shape.h"

static int no_memory(struct net_build *build)
{
	if (!build->rc)
		build->rc = wc_fail(build->err, WC_ERR_SYSTEM, "out of memory");
	return 0;
}

void net_build_prefix(struct net_build *build, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(build->prefix, sizeof(build->prefix), format, args);
	va_end(args);
}

// Take over the node and a copy of its inputs.
static int append(struct net_build *build, const char *name, const struct net_node *values, const int inputs[], int count)
{
	struct net *net = build->net;
	const int index = net->node_count;
	struct net_node *node;

	if (build->rc)
		return 0;
	if (index == build->capacity) {
		const int capacity = index ? 2 * index : 64;
		struct net_node *nodes = realloc(net->nodes, (size_t)capacity * sizeof(*nodes));

		if (!nodes)
			return no_memory(build);
		net->nodes = nodes;
		build->capacity = capacity;
	}
	node = &net->nodes[index];
	*node = *values;
	node->inputs = count ? malloc((size_t)count * sizeof(*inputs)) : NULL;
	node->input_count = count;
	net->node_count++;
	if (asprintf(&node->name, "%s%s", build->prefix, name) < 0)
		node->name = NULL;
	if (!node->name || (count && !node->inputs))
		return no_memory(build);
	if (count) {
		memcpy(node->inputs, inputs, (size_t)count * sizeof(*inputs));
		build->rc = net_infer(net, index, (struct net_place){ build->file, 0 }, build->err);
	} else {
		build->rc = net_check_input(net, (struct net_place){ build->file, 0 }, build->err);
	}
	return build->rc ? 0 : index;
}

void net_build_begin(struct net_build *build, struct net *net, const char *name, struct net_shape image, struct wc_error *err)
{
	const struct net_node node = { .op = NET_INPUT, .in = image, .out = image };

	memset(net, 0, sizeof(*net));
	*build = (struct net_build){ .net = net, .err = err, .group_channels = NET_GROUP_CHANNELS };
	snprintf(build->file, sizeof(build->file), "%s, image %dx%d", name, image.height, image.width);
	net->name = strdup(name);
	if (!net->name)
		no_memory(build);
	append(build, "input", &node, NULL, 0);
}

int net_build_end(struct net_build *build)
{
	if (!build->rc)
		build->rc = net_link(build->net, build->err);
	if (!build->rc)
		build->rc = net_check_whole(build->net, build->file, NULL, build->err);
	if (build->rc)
		net_release(build->net);
	return build->rc;
}

struct net_conv net_square(int kernel, int stride, int pad)
{
	return (struct net_conv){ kernel, kernel, stride, stride, pad, pad, 1, 1, 1 };
}

struct net_conv net_same(int kernel_h, int kernel_w)
{
	return (struct net_conv){ kernel_h, kernel_w, 1, 1, kernel_h / 2, kernel_w / 2, 1, 1, 1 };
}

int net_build_conv(struct net_build *build, int from, const char *name, int channels, struct net_conv conv, bool bias)
{
	return append(build, name, &(struct net_node){ .op = NET_CONV, .conv = conv, .bias = bias, .out.channels = channels }, &from, 1);
}

int net_build_fc(struct net_build *build, int from, const char *name, int units)
{
	return append(build, name, &(struct net_node){ .op = NET_FC, .units = units, .bias = true }, &from, 1);
}

int net_build_gn(struct net_build *build, int from, const char *name)
{
	return append(build, name, &(struct net_node){ .op = NET_GN, .group_channels = build->group_channels }, &from, 1);
}

int net_build_pool(struct net_build *build, int from, const char *name, enum net_op op, struct net_conv window)
{
	return append(build, name, &(struct net_node){ .op = op, .conv = window }, &from, 1);
}

int net_build_adaptive(struct net_build *build, int from, const char *name, int size)
{
	return append(build, name, &(struct net_node){ .op = NET_ADAPTIVE_POOL, .pool_size = size }, &from, 1);
}

int net_build_join(struct net_build *build, const char *name, enum net_op op, const int inputs[], int count)
{
	return append(build, name, &(struct net_node){ .op = op }, inputs, count);
}

int net_build_plain(struct net_build *build, int from, const char *name, enum net_op op)
{
	return append(build, name, &(struct net_node){ .op = op }, &from, 1);
}

static int behind(struct net_build *build, int from, const char *name, enum net_op op)
{
	char full[64];

	snprintf(full, sizeof(full), "%s.%s", name, net_op_name(op));
	return op == NET_GN ? net_build_gn(build, from, full) : net_build_plain(build, from, full, op);
}

int net_build_conv_relu(struct net_build *build, int from, const char *name, int channels, struct net_conv conv)
{
	return behind(build, net_build_conv(build, from, name, channels, conv, true), name, NET_RELU);
}

int net_build_fc_relu(struct net_build *build, int from, const char *name, int units)
{
	return behind(build, net_build_fc(build, from, name, units), name, NET_RELU);
}

int net_build_conv_gn(struct net_build *build, int from, const char *name, int channels, struct net_conv conv)
{
	return behind(build, net_build_conv(build, from, name, channels, conv, false), name, NET_GN);
}

int net_build_conv_gn_relu(struct net_build *build, int from, const char *name, int channels, struct net_conv conv)
{
	return behind(build, net_build_conv_gn(build, from, name, channels, conv), name, NET_RELU);
}

void net_build_classifier(struct net_build *build, int from, int classes)
{
	int at;

	net_build_prefix(build, "%s", "");
	at = net_build_plain(build, from, "pool", NET_GLOBAL_POOL);
	at = net_build_fc(build, at, "fc", classes);
	net_build_plain(build, at, "loss", NET_LOSS);
}
