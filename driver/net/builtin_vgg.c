// SPDX-License-Identifier: Apache-2.0
//
// AlexNet with one tower (Krizhevsky, 2014, arXiv 1404.5997) and VGG-16, configuration D (Simonyan and Zisserman,
// 2014, arXiv 1409.1556). An average pool brings the last feature map to the size that the first fully connected
// layer was published for, where another image leaves another.
#include "driver/net/builtin.h"

static int classify(struct net_build *build, int at, int size)
{
	struct net_shape last;

	if (build->rc)
		return 0;
	net_build_prefix(build, "%s", "");
	last = build->net->nodes[at].out;
	if (last.height != size || last.width != size)
		at = net_build_adaptive(build, at, "adapt", size);
	at = net_build_fc_relu(build, at, "fc6", 4096);
	at = net_build_fc_relu(build, at, "fc7", 4096);
	at = net_build_fc(build, at, "fc8", 1000);
	return net_build_plain(build, at, "loss", NET_LOSS);
}

void net_make_alexnet(struct net_build *build, int variant)
{
	int at = net_build_conv_relu(build, 0, "conv1", 64, net_square(11, 4, 2));

	(void)variant;
	at = net_build_pool(build, at, "pool1", NET_MAX_POOL, net_square(3, 2, 0));
	at = net_build_conv_relu(build, at, "conv2", 192, net_same(5, 5));
	at = net_build_pool(build, at, "pool2", NET_MAX_POOL, net_square(3, 2, 0));
	at = net_build_conv_relu(build, at, "conv3", 384, net_same(3, 3));
	at = net_build_conv_relu(build, at, "conv4", 256, net_same(3, 3));
	at = net_build_conv_relu(build, at, "conv5", 256, net_same(3, 3));
	at = net_build_pool(build, at, "pool5", NET_MAX_POOL, net_square(3, 2, 0));
	classify(build, at, 6);
}

void net_make_vgg16(struct net_build *build, int variant)
{
	static const struct {
		int convs, channels;
	} blocks[] = { { 2, 64 }, { 2, 128 }, { 3, 256 }, { 3, 512 }, { 3, 512 } };
	int at = 0;

	(void)variant;
	for (int block = 0; block < 5; block++) {
		net_build_prefix(build, "conv%d_", block + 1);
		for (int i = 0; i < blocks[block].convs; i++) {
			const char name[] = { (char)('1' + i), 0 };

			at = net_build_conv_relu(build, at, name, blocks[block].channels, net_same(3, 3));
		}
		net_build_prefix(build, "pool%d", block + 1);
		at = net_build_pool(build, at, "", NET_MAX_POOL, net_square(2, 2, 0));
	}
	classify(build, at, 7);
}
