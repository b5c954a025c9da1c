// SPDX-License-Identifier: Apache-2.0
//
// What the device's schedules, lowering and golden run can take today.
#include <stdio.h>

#include "driver/net/net.h"

enum { DEVICE_BYTES_MAX = 1 << 30, BUS_BYTES_MAX = 128 };
// Of the fields of a command: rows or columns of a kernel, taps that an index of 8 bits tells apart, terms of a sum, parts of a group.
enum { KERNEL_SIDE_MAX = 255, INDEX_TAPS_MAX = 256, SUM_MAX = 16777215, GROUP_PARTS_MAX = 255 };

// Bytes of one sample with every row rounded up to the widest bus.
static int64_t sample_bytes(struct net_shape shape)
{
	const int64_t row_bytes = (int64_t)shape.width * shape.channels * 2;

	return (row_bytes + BUS_BYTES_MAX - 1) / BUS_BYTES_MAX * BUS_BYTES_MAX * shape.height;
}

static int check_bytes(const struct net_node *node, const char *who, struct wc_error *err)
{
	if (sample_bytes(node->out) > DEVICE_BYTES_MAX)
		return wc_fail(err, WC_ERR_INPUT, "%s: node '%s': one sample of the output takes %lld bytes, limit %d", who, node->name,
			       (long long)sample_bytes(node->out), DEVICE_BYTES_MAX);
	if (net_weights(node) * 4 > DEVICE_BYTES_MAX)
		return wc_fail(err, WC_ERR_INPUT, "%s: node '%s': weight gradients take %lld bytes, limit %d", who, node->name,
			       (long long)net_weights(node) * 4, DEVICE_BYTES_MAX);
	return 0;
}

static int check_node(const struct net *net, int index, const char *who, struct wc_error *err)
{
	static const char needed[] = "only chains of convolutions (groups 1, no bias) and ReLUs can be run";
	const struct net_node *node = &net->nodes[index];
	char what[64];

	if (node->op != NET_CONV && node->op != NET_RELU)
		return wc_fail(err, WC_ERR_INPUT, "%s: node '%s' is of op %s: %s", who, node->name, net_op_name(node->op), needed);
	if (node->input_count != 1 || node->inputs[0] != index - 1)
		return wc_fail(err, WC_ERR_INPUT, "%s: node '%s' reads '%s', not the node before, '%s': %s", who, node->name,
			       net->nodes[node->inputs[0]].name, net->nodes[index - 1].name, needed);
	if (index == 1 && node->op != NET_CONV)
		return wc_fail(err, WC_ERR_INPUT, "%s: node '%s' is of op %s, the first node must be a conv", who, node->name,
			       net_op_name(node->op));
	if (node->op == NET_RELU || (node->conv.groups == 1 && !node->bias))
		return 0;
	snprintf(what, sizeof(what), node->bias ? "a bias" : "%d groups", node->conv.groups);
	return wc_fail(err, WC_ERR_INPUT, "%s: node '%s' has %s: %s", who, node->name, what, needed);
}

bool net_is_chain(const struct net *net)
{
	for (int i = 1; i < net->node_count; i++)
		if (check_node(net, i, "", NULL))
			return false;
	return true;
}

int net_require_chain(const struct net *net, const char *who, struct wc_error *err)
{
	for (int i = 0; i < net->node_count; i++) {
		int rc = check_bytes(&net->nodes[i], who, err);

		if (!rc && i > 0)
			rc = check_node(net, i, who, err);
		if (rc)
			return rc;
	}
	return 0;
}

// The kernel of an fc or a global pool is its whole input.
static int check_whole_input(const struct net_node *node, const char *who, struct wc_error *err)
{
	if (node->in.height <= KERNEL_SIDE_MAX && node->in.width <= KERNEL_SIDE_MAX)
		return 0;
	return wc_fail(err, WC_ERR_INPUT, "%s: node '%s' is of op %s and reads an input of %dx%d, the device's limit is %d rows and %d columns", who,
		       node->name, net_op_name(node->op), node->in.height, node->in.width, KERNEL_SIDE_MAX, KERNEL_SIDE_MAX);
}

static int check_sum(const struct net_node *node, const char *who, struct wc_error *err)
{
	const int64_t terms = (int64_t)node->in.height * node->in.width * node->in.channels;

	if (terms <= SUM_MAX)
		return 0;
	return wc_fail(err, WC_ERR_INPUT, "%s: node '%s' is of op fc and sums over %lld inputs, the device's limit is %d", who, node->name,
		       (long long)terms, SUM_MAX);
}

static int check_taps(const struct net_node *node, const char *who, struct wc_error *err)
{
	const int taps = node->conv.kernel_h * node->conv.kernel_w;

	if (taps <= INDEX_TAPS_MAX)
		return 0;
	return wc_fail(err, WC_ERR_INPUT, "%s: node '%s' is of op max_pool with a kernel of %dx%d, %d taps, the device's limit is %d taps", who,
		       node->name, node->conv.kernel_h, node->conv.kernel_w, taps, INDEX_TAPS_MAX);
}

static int check_operator(const struct net_node *node, const char *who, struct wc_error *err)
{
	int rc;

	switch (node->op) {
	case NET_ADAPTIVE_POOL:
		return wc_fail(err, WC_ERR_INPUT, "%s: node '%s' is an adaptive pool, which the device has not", who, node->name);
	case NET_FC:
		rc = check_whole_input(node, who, err);
		return rc ? rc : check_sum(node, who, err);
	case NET_GLOBAL_POOL:
		return check_whole_input(node, who, err);
	case NET_MAX_POOL:
		return check_taps(node, who, err);
	default:
		return 0;
	}
}

int net_require_device(const struct net *net, const char *who, struct wc_error *err)
{
	for (int i = 0; i < net->node_count; i++) {
		int rc = check_bytes(&net->nodes[i], who, err);

		if (!rc)
			rc = check_operator(&net->nodes[i], who, err);
		if (rc)
			return rc;
	}
	return 0;
}

// As many equal parts as a group needs for each to fit the lanes.
static int group_parts(int group, int lanes)
{
	int parts = 1;

	while (group % parts || group / parts > lanes)
		parts++;
	return parts;
}

int net_require_lanes(const struct net *net, int lanes, const char *who, struct wc_error *err)
{
	for (int i = 0; i < net->node_count; i++) {
		const struct net_node *node = &net->nodes[i];
		const int parts = node->op == NET_GN ? group_parts(node->group_channels, lanes) : 1;

		if (parts > GROUP_PARTS_MAX)
			return wc_fail(err, WC_ERR_INPUT, "%s: node '%s' has groups of %d channels, which are %d equal parts for the vector unit's %d lanes, "
				       "the device's limit is %d", who, node->name, node->group_channels, parts, lanes, GROUP_PARTS_MAX);
	}
	return 0;
}
