// SPDX-License-Identifier: Apache-2.0
#include "driver/net/shape.h"

#include <stdio.h>

struct line_text {
	char text[24];
};

static struct line_text line_text(size_t line)
{
	struct line_text of = { "" };

	if (line)
		snprintf(of.text, sizeof(of.text), ":%zu", line);
	return of;
}

#define fail_at(err, place, node, format, ...) \
	wc_fail(err, WC_ERR_INPUT, "%s%s: node '%s': " format, (place).file, line_text((place).line).text, (node)->name \
		__VA_OPT__(, ) __VA_ARGS__)

static int64_t elements(struct net_shape shape)
{
	return (int64_t)shape.height * shape.width * shape.channels;
}

static int check_tensor(const struct net_node *node, struct net_place place, struct wc_error *err)
{
	if (node->out.height > NET_IMAGE_MAX || node->out.width > NET_IMAGE_MAX)
		return fail_at(err, place, node, "output is %dx%d, limit %d", node->out.height, node->out.width, NET_IMAGE_MAX);
	if (elements(node->out) > NET_ELEMENTS_MAX)
		return fail_at(err, place, node, "one sample of the output, %dx%dx%d, has %lld elements, limit %d", node->out.height, node->out.width,
			       node->out.channels, (long long)elements(node->out), NET_ELEMENTS_MAX);
	if (net_weights(node) > NET_ELEMENTS_MAX)
		return fail_at(err, place, node, "it has %lld weights, limit %d", (long long)net_weights(node), NET_ELEMENTS_MAX);
	return 0;
}

static int out_size(int in, int kernel, int stride, int pad, int dilation)
{
	const int span = in + 2 * pad - dilation * (kernel - 1) - 1;

	return span < 0 ? 0 : span / stride + 1;
}

// Height and width behind the windows of a conv or pool.
static int infer_window(struct net_node *node, struct net_place place, struct wc_error *err)
{
	const struct net_conv *conv = &node->conv;
	const int span_h = conv->dilation_h * (conv->kernel_h - 1), span_w = conv->dilation_w * (conv->kernel_w - 1);

	if (conv->pad_h > span_h || conv->pad_w > span_w)
		return fail_at(err, place, node, "pad is %dx%d, must not be above dilation (kernel - 1) = %dx%d", conv->pad_h, conv->pad_w, span_h,
			       span_w);
	node->out.height = out_size(node->in.height, conv->kernel_h, conv->stride_h, conv->pad_h, conv->dilation_h);
	node->out.width = out_size(node->in.width, conv->kernel_w, conv->stride_w, conv->pad_w, conv->dilation_w);
	if (node->out.height < 1 || node->out.width < 1)
		return fail_at(err, place, node,
			       "output is %dx%d: the kernel of %dx%d, dilation %dx%d, is larger than the padded input of %dx%d (input %dx%dx%d, "
			       "pad %dx%d)", node->out.height, node->out.width, conv->kernel_h, conv->kernel_w, conv->dilation_h, conv->dilation_w,
			       node->in.height + 2 * conv->pad_h, node->in.width + 2 * conv->pad_w, node->in.height, node->in.width,
			       node->in.channels, conv->pad_h, conv->pad_w);
	return 0;
}

static int infer_conv(struct net_node *node, struct net_place place, struct wc_error *err)
{
	const int groups = node->conv.groups;

	if (node->in.channels % groups)
		return fail_at(err, place, node, "the input's %d channels are not divisible by %d groups", node->in.channels, groups);
	if (node->out.channels % groups)
		return fail_at(err, place, node, "%d channels are not divisible by %d groups", node->out.channels, groups);
	return infer_window(node, place, err);
}

static int infer_join(const struct net *net, struct net_node *node, struct net_place place, struct wc_error *err)
{
	const bool add = node->op == NET_ADD;
	const struct net_node *first = &net->nodes[node->inputs[0]];

	for (int k = 1; k < node->input_count; k++) {
		const struct net_node *other = &net->nodes[node->inputs[k]];
		const struct net_shape a = node->in, b = other->out;

		if (a.height != b.height || a.width != b.width || (add && a.channels != b.channels))
			return fail_at(err, place, node, "%s needs inputs of one %s: '%s' is %dx%dx%d, '%s' is %dx%dx%d", net_op_name(node->op),
				       add ? "shape" : "height and width", first->name, a.height, a.width, a.channels, other->name, b.height, b.width,
				       b.channels);
		if (add)
			continue;
		node->out.channels += b.channels;
		if (node->out.channels > NET_CHANNELS_MAX)
			return fail_at(err, place, node, "%d and more channels, limit %d", node->out.channels, NET_CHANNELS_MAX);
	}
	return 0;
}

static int check_inputs(const struct net *net, const struct net_node *node, struct net_place place, struct wc_error *err)
{
	const bool joins = node->op == NET_ADD || node->op == NET_CONCAT;

	if (joins && node->input_count < 2)
		return fail_at(err, place, node, "%s needs 2 inputs or more, has %d", net_op_name(node->op), node->input_count);
	if (!joins && node->input_count != 1)
		return fail_at(err, place, node, "%s takes 1 input, has %d", net_op_name(node->op), node->input_count);
	for (int k = 0; k < node->input_count; k++)
		if (net->nodes[node->inputs[k]].op == NET_LOSS)
			return fail_at(err, place, node, "input '%s' is the loss, which nothing can read", net->nodes[node->inputs[k]].name);
	return 0;
}

// What reads the whole image at once slides over it in one place.
static struct net_conv window_of_image(const struct net_node *node)
{
	return (struct net_conv){ .kernel_h = node->in.height, .kernel_w = node->in.width, .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .groups = 1 };
}

int net_infer(struct net *net, int index, struct net_place place, struct wc_error *err)
{
	struct net_node *node = &net->nodes[index];
	const int channels = node->out.channels;
	int rc = check_inputs(net, node, place, err);

	if (rc)
		return rc;
	node->in = node->out = net->nodes[node->inputs[0]].out;
	switch (node->op) {
	case NET_CONV:
		node->out.channels = channels;
		rc = infer_conv(node, place, err);
		break;
	case NET_MAX_POOL:
	case NET_AVG_POOL:
		rc = infer_window(node, place, err);
		break;
	case NET_FC:
		node->out = (struct net_shape){ 1, 1, node->units };
		node->conv = window_of_image(node);
		break;
	case NET_GN:
		if (node->in.channels % node->group_channels)
			rc = fail_at(err, place, node, "%d channels are not divisible by %d channels of a group", node->in.channels,
				     node->group_channels);
		break;
	case NET_GLOBAL_POOL:
		node->out.height = node->out.width = 1;
		node->conv = window_of_image(node);
		break;
	case NET_ADAPTIVE_POOL:
		node->out.height = node->out.width = node->pool_size;
		break;
	case NET_ADD:
	case NET_CONCAT:
		rc = infer_join(net, node, place, err);
		break;
	case NET_LOSS:
		if (node->in.height != 1 || node->in.width != 1)
			rc = fail_at(err, place, node, "loss needs an input of 1x1xclasses, '%s' is %dx%dx%d", net->nodes[node->inputs[0]].name,
				     node->in.height, node->in.width, node->in.channels);
		node->out = (struct net_shape){ 1, 1, 1 };
		break;
	case NET_INPUT:
	case NET_RELU:
	case NET_OP_COUNT:
		break;
	}
	return rc ? rc : check_tensor(node, place, err);
}

int net_check_input(const struct net *net, struct net_place place, struct wc_error *err)
{
	return check_tensor(&net->nodes[0], place, err);
}

int net_check_whole(const struct net *net, const char *file, const size_t *lines, struct wc_error *err)
{
	int64_t macs = 0;

	for (int i = 0; i < net->node_count; i++) {
		const struct net_node *node = &net->nodes[i];
		const struct net_place place = { file, lines ? lines[i] : 0 };

		if (i < net->node_count - 1 && !node->consumer_count)
			return fail_at(err, place, node, "nothing reads it, and it is not the last node, '%s'", net->nodes[net->node_count - 1].name);
		if (__builtin_add_overflow(macs, 3 * net_macs(node), &macs))
			return fail_at(err, place, node, "the network's MACs up to here do not fit in 64 bits");
	}
	return 0;
}
