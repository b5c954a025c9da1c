// SPDX-License-Identifier: Apache-2.0
//
// The built-in network.
#include <criterion/criterion.h>

#include "driver/net/net.h"

Test(builtin, fashion_conv_has_the_documented_shapes)
{
	static const struct { const char *name; int height, width, channels; } expected[] = {
		{ "input", 28, 28, 1 }, { "conv1", 28, 28, 6 }, { "relu1", 28, 28, 6 }, { "conv2", 14, 14, 20 }, { "relu2", 14, 14, 20 },
		{ "conv3", 14, 14, 12 }, { "relu3", 14, 14, 12 }, { "conv4", 14, 14, 20 }, { "relu4", 14, 14, 20 }, { "conv5", 7, 7, 18 },
		{ "relu5", 7, 7, 18 }, { "conv6", 7, 7, 10 },
	};
	struct wc_error err;
	struct net net;

	cr_assert_eq(net_builtin(&net, "fashion-conv", &err), 0, "%s", err.text);
	cr_assert_eq(net.node_count, (int)(sizeof(expected) / sizeof(expected[0])));
	for (int i = 0; i < net.node_count; i++) {
		cr_assert_str_eq(net.nodes[i].name, expected[i].name);
		cr_assert_eq(net.nodes[i].out.height, expected[i].height);
		cr_assert_eq(net.nodes[i].out.width, expected[i].width);
		cr_assert_eq(net.nodes[i].out.channels, expected[i].channels);
		cr_assert_eq(net.nodes[i].input_count, i > 0);
		if (i > 0)
			cr_assert_eq(net.nodes[i].inputs[0], i - 1);
		cr_assert_eq(net_find(&net, expected[i].name), i);
		cr_assert_eq(net_consumer(&net, i), i + 1 < net.node_count ? i + 1 : -1);
	}
	cr_assert_eq(net_conv_weights(&net.nodes[9]), 18 * 20 * 5 * 5);
	cr_assert_eq(net_conv_macs(&net.nodes[9]), 18 * 20 * 5 * 5 * 7 * 7);
	net_release(&net);
}
