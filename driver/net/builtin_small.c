// SPDX-License-Identifier: Apache-2.0
//
// Plain networks for images of 28x28 and 32x32: fashion-conv, a chain of convolutions of many shapes; LeNet-5
// (LeCun et al., 1998) with ReLUs and max pools; and a small VGG.
#include <stdio.h>

#include "driver/net/builtin.h"

void net_make_fashion_conv(struct net_build *build, int variant)
{
	static const struct {
		int channels, kernel, stride;
	} convs[] = { { 6, 5, 1 }, { 20, 3, 2 }, { 12, 1, 1 }, { 20, 3, 1 }, { 18, 5, 2 }, { 10, 3, 1 } };
	int at = 0;

	(void)variant;
	for (int i = 0; i < 6; i++) {
		char name[16];

		if (i > 0) {
			snprintf(name, sizeof(name), "relu%d", i);
			at = net_build_plain(build, at, name, NET_RELU);
		}
		snprintf(name, sizeof(name), "conv%d", i + 1);
		at = net_build_conv(build, at, name, convs[i].channels, net_square(convs[i].kernel, convs[i].stride, convs[i].kernel / 2), false);
	}
}

void net_make_lenet(struct net_build *build, int variant)
{
	int at = net_build_conv_relu(build, 0, "conv1", 6, net_same(5, 5));

	(void)variant;
	at = net_build_pool(build, at, "pool1", NET_MAX_POOL, net_square(2, 2, 0));
	at = net_build_conv_relu(build, at, "conv2", 16, net_square(5, 1, 0));
	at = net_build_pool(build, at, "pool2", NET_MAX_POOL, net_square(2, 2, 0));
	at = net_build_fc_relu(build, at, "fc3", 120);
	at = net_build_fc_relu(build, at, "fc4", 84);
	at = net_build_fc(build, at, "fc5", 10);
	net_build_plain(build, at, "loss", NET_LOSS);
}

void net_make_vgg_small(struct net_build *build, int variant)
{
	int at = 0;

	(void)variant;
	for (int block = 1; block <= 3; block++) {
		net_build_prefix(build, "conv%d_", block);
		for (int i = 1; i <= 2; i++) {
			const char name[] = { (char)('0' + i), 0 };

			at = net_build_conv_relu(build, at, name, 16 << block, net_same(3, 3));
		}
		net_build_prefix(build, "pool%d", block);
		at = net_build_pool(build, at, "", NET_MAX_POOL, net_square(2, 2, 0));
	}
	net_build_prefix(build, "%s", "");
	at = net_build_fc_relu(build, at, "fc4", 128);
	at = net_build_fc(build, at, "fc5", 10);
	net_build_plain(build, at, "loss", NET_LOSS);
}
