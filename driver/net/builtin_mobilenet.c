// SPDX-License-Identifier: Apache-2.0
//
// MobileNet (Howard et al., 2017, arXiv 1704.04861), width 1: depthwise 3x3 and pointwise 1x1 convolutions.
#include "driver/net/builtin.h"

void net_make_mobilenet_v1(struct net_build *build, int variant)
{
	static const struct {
		int stride, channels; // of the depthwise and of the pointwise convolution
	} pairs[] = {
		{ 1, 64 }, { 2, 128 }, { 1, 128 }, { 2, 256 }, { 1, 256 }, { 2, 512 }, { 1, 512 }, { 1, 512 }, { 1, 512 }, { 1, 512 },
		{ 1, 512 }, { 2, 1024 }, { 1, 1024 },
	};
	int at = net_build_conv_gn_relu(build, 0, "conv1", 32, net_square(3, 2, 1)), channels = 32;

	(void)variant;
	for (int i = 0; i < (int)(sizeof(pairs) / sizeof(pairs[0])); i++) {
		struct net_conv depthwise = net_square(3, pairs[i].stride, 1);

		depthwise.groups = channels;
		net_build_prefix(build, "conv%d.", i + 2);
		at = net_build_conv_gn_relu(build, at, "dw", channels, depthwise);
		channels = pairs[i].channels;
		at = net_build_conv_gn_relu(build, at, "pw", channels, net_square(1, 1, 0));
	}
	net_build_classifier(build, at, 1000);
}
