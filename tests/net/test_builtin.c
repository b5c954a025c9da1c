// SPDX-License-Identifier: Apache-2.0
//
// The built-in networks against the publications: parameters, MACs, shapes, modules, and every image size.
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "driver/net/builtin.h"

static void open_net(struct net *net, const char *name, int image)
{
	struct wc_error err;

	cr_assert_eq(net_open(net, name, image, &err), 0, "%s", err.text);
}

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

Test(builtin, parameters_and_macs_are_the_published_ones)
{
	static const struct {
		const char *name;
		double mega_parameters, giga_macs; // 0: not published in this form
	} published[] = {
		{"alexnet", 61.10, 0.714}, {"vgg16", 138.36, 15.470}, {"resnet50", 25.56, 4.089}, {"resnet101", 44.55, 7.801},
		{"resnet152", 60.19, 11.514}, {"inception-v3", 23.83, 5.713}, {"inception-v4", 42.68, 12.254}, {"resnet18", 11.69, 1.814},
		{"resnet34", 21.80, 3.664}, {"mobilenet-v1", 4.23, 0.569},
	};

	for (size_t i = 0; i < sizeof(published) / sizeof(*published); i++) {
		struct net net;

		open_net(&net, published[i].name, 0);
		cr_expect_lt(fabs((double)net_total_parameters(&net) * 1e-6 - published[i].mega_parameters), 0.00501, "%s has %lld parameters",
			     published[i].name, (long long)net_total_parameters(&net));
		cr_expect_lt(fabs((double)net_forward_macs(&net) * 1e-9 - published[i].giga_macs), 0.000501, "%s takes %lld MACs", published[i].name,
			     (long long)net_forward_macs(&net));
		net_release(&net);
	}
}

Test(builtin, training_leaves_out_the_first_data_gradient)
{
	const struct net_builtin *builtin;

	for (size_t i = 0; (builtin = net_builtin_at(i)); i++) {
		struct net net;

		open_net(&net, builtin->name, 0);
		cr_expect_eq(net.nodes[1].op, NET_CONV);
		cr_expect_eq(net_training_macs(&net), 3 * net_forward_macs(&net) - net_macs(&net.nodes[1]), "%s", builtin->name);
		net_release(&net);
	}
}

Test(builtin, shapes_at_known_places)
{
	static const struct {
		const char *net, *node;
		int height, width, channels;
	} places[] = {
		{"alexnet", "conv1", 55, 55, 64}, {"alexnet", "pool5", 6, 6, 256}, {"vgg16", "conv3_3.relu", 56, 56, 256}, {"vgg16", "pool5", 7, 7, 512},
		{"resnet18", "conv5_2.relu", 7, 7, 512}, {"resnet34", "conv4_6.add", 14, 14, 256}, {"resnet50", "conv1", 112, 112, 64},
		{"resnet50", "pool1", 56, 56, 64}, {"resnet50", "conv3_1.1", 56, 56, 128}, {"resnet50", "conv3_1.2", 28, 28, 128},
		{"resnet50", "conv3_1.short", 28, 28, 512}, {"resnet50", "conv5_3.relu", 7, 7, 2048}, {"resnet101", "conv4_23.relu", 14, 14, 1024},
		{"resnet152", "conv4_36.relu", 14, 14, 1024}, {"inception-v3", "conv3", 147, 147, 64}, {"inception-v3", "mixed5b.concat", 35, 35, 256},
		{"inception-v3", "mixed6a.concat", 17, 17, 768}, {"inception-v3", "mixed7a.concat", 8, 8, 1280},
		{"inception-v3", "mixed7c.concat", 8, 8, 2048}, {"inception-v4", "mixed3a.concat", 73, 73, 160},
		{"inception-v4", "mixed4a.concat", 71, 71, 192}, {"inception-v4", "mixed5a.concat", 35, 35, 384},
		{"inception-v4", "reductionA.concat", 17, 17, 1024}, {"inception-v4", "reductionB.concat", 8, 8, 1536},
		{"inception-v4", "inceptionCc.concat", 8, 8, 1536}, {"mobilenet-v1", "conv14.pw", 7, 7, 1024}, {"lenet", "pool2", 5, 5, 16},
		{"resnet8", "conv4_1.relu", 7, 7, 64}, {"vgg-small", "pool3", 4, 4, 128}, {"inception-small", "mixed3.concat", 14, 14, 128},
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct net_shape shape;
		struct net net;
		int node;

		open_net(&net, places[i].net, 0);
		node = net_find(&net, places[i].node);
		cr_assert_geq(node, 0, "%s has no '%s'", places[i].net, places[i].node);
		shape = net.nodes[node].out;
		cr_expect(shape.height == places[i].height && shape.width == places[i].width && shape.channels == places[i].channels,
			  "%s: '%s' is %dx%dx%d", places[i].net, places[i].node, shape.height, shape.width, shape.channels);
		net_release(&net);
	}
}

Test(builtin, modules_are_layers_and_blocks)
{
	static const struct {
		const char *name;
		int modules;
	} expected[] = {
		{"fashion-conv", 6}, {"lenet", 7}, {"alexnet", 5 + 3 + 3}, {"vgg16", 13 + 5 + 3}, {"vgg-small", 6 + 3 + 2}, {"resnet8", 1 + 3 + 2},
		{"resnet18", 2 + 8 + 2}, {"resnet34", 2 + 16 + 2}, {"resnet50", 2 + 16 + 2}, {"resnet101", 2 + 33 + 2}, {"resnet152", 2 + 50 + 2},
		{"inception-v3", 7 + 11 + 2}, {"inception-v4", 3 + 3 + 4 + 1 + 7 + 1 + 3 + 2}, {"inception-small", 1 + 3 + 2},
		{"mobilenet-v1", 1 + 26 + 2},
	};
	struct net net;

	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		open_net(&net, expected[i].name, 0);
		cr_expect_eq(net.module_count, expected[i].modules, "%s has %d", expected[i].name, net.module_count);
		net_release(&net);
	}
	cr_expect_null(net_builtin_at(sizeof(expected) / sizeof(*expected)), "a network is not in the table above");

	open_net(&net, "resnet50", 0);
	cr_expect_str_eq(net.nodes[net.modules[0].last].name, "conv1.relu");
	cr_expect_str_eq(net.nodes[net.modules[2].first].name, "conv2_1.1");
	cr_expect_str_eq(net.nodes[net.modules[2].last].name, "conv2_1.relu");
	cr_expect_str_eq(net.nodes[net.modules[18].first].name, "pool");
	cr_expect_str_eq(net.nodes[net.modules[19].first].name, "fc");
	cr_expect_str_eq(net.nodes[net.modules[19].last].name, "loss");
	// The main branch runs before the shortcut.
	cr_expect_gt(net_find(&net, "conv2_1.short"), net_find(&net, "conv2_1.3.gn"));
	cr_expect_eq(net_find(&net, "conv2_1.add"), net_find(&net, "conv2_1.short.gn") + 1);
	net_release(&net);
}

// The norms stand in for batch normalization: behind every convolution, which then has no bias.
Test(builtin, norms_follow_every_convolution)
{
	static const struct {
		const char *name;
		int group_channels;
	} cases[] = {{"resnet8", 1}, {"resnet18", 16}, {"resnet152", 16}, {"inception-small", 16}, {"inception-v3", 16}, {"inception-v4", 16}, {"mobilenet-v1", 16}};

	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct net net;

		open_net(&net, cases[k].name, 0);
		for (int i = 0; i < net.node_count; i++) {
			const struct net_node *node = &net.nodes[i], *next = &net.nodes[i + 1];

			if (node->op != NET_CONV)
				continue;
			cr_expect(!node->bias && next->op == NET_GN && next->inputs[0] == i && next->group_channels == cases[k].group_channels, "%s: %s", cases[k].name, node->name);
		}
		net_release(&net);
	}
}

// Pieces of a concatenation run in its order, the last one directly before it.
Test(builtin, branches_run_in_the_order_of_their_concatenation)
{
	static const char *const names[] = {"inception-small", "inception-v3", "inception-v4"};
	int concats = 0;

	for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
		struct net net;

		open_net(&net, names[k], 0);
		for (int i = 0; i < net.node_count; i++) {
			const struct net_node *node = &net.nodes[i];

			if (node->op != NET_CONCAT)
				continue;
			concats++;
			for (int p = 1; p < node->input_count; p++)
				cr_expect_gt(node->inputs[p], node->inputs[p - 1], "%s: %s", names[k], node->name);
			cr_expect_eq(node->inputs[node->input_count - 1], i - 1, "%s: %s", names[k], node->name);
		}
		net_release(&net);
	}
	cr_expect_eq(concats, 2 + 11 + 19);
}

Test(builtin, depthwise_convolutions_have_one_channel_a_group)
{
	struct net net;
	const struct net_node *node;

	open_net(&net, "mobilenet-v1", 0);
	node = &net.nodes[net_find(&net, "conv3.dw")];
	cr_expect_eq(node->conv.groups, 64);
	cr_expect_eq(net_weights(node), 64 * 9);
	cr_expect_eq(net_macs(node), 64 * 9 * 56 * 56);
	net_release(&net);
}

Test(builtin, an_adaptive_pool_stands_where_the_first_fc_needs_it)
{
	struct net net;

	open_net(&net, "vgg16", 0);
	cr_expect_eq(net_find(&net, "adapt"), -1);
	net_release(&net);
	for (int image = 448; image >= 32; image -= 416) {
		int node;

		open_net(&net, "vgg16", image);
		node = net_find(&net, "adapt");
		cr_assert_gt(node, 0);
		cr_expect_eq(net.nodes[node].op, NET_ADAPTIVE_POOL);
		cr_expect_eq(net.nodes[node].out.height, 7);
		cr_expect_eq(net.modules[net.nodes[node].module].first, node);
		cr_expect_eq(net.modules[net.nodes[node].module].last, node);
		cr_expect_eq(net.module_count, 22);
		cr_expect_eq(net_total_parameters(&net), 138357544);
		net_release(&net);
	}
	open_net(&net, "alexnet", 256);
	cr_expect_eq(net.nodes[net_find(&net, "adapt")].in.height, 7);
	cr_expect_eq(net.nodes[net_find(&net, "adapt")].out.height, 6);
	cr_expect_eq(net_total_parameters(&net), 61100840);
	net_release(&net);
}

// From the smallest image on, every size is taken, and costs no less than the one before; below, the node is named.
Test(builtin, every_image_size_up_to_1024)
{
	static const struct {
		const char *name;
		int smallest;
	} expected[] = {
		{"alexnet", 63}, {"fashion-conv", 1}, {"inception-small", 2}, {"inception-v3", 75}, {"inception-v4", 75}, {"lenet", 12},
		{"mobilenet-v1", 1}, {"resnet101", 1}, {"resnet152", 1}, {"resnet18", 1}, {"resnet34", 1}, {"resnet50", 1}, {"resnet8", 1},
		{"vgg-small", 8}, {"vgg16", 32},
	};

	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		int64_t macs = 0, parameters = 0;

		cr_assert_str_eq(net_builtin_at(i)->name, expected[i].name);
		for (int image = 1; image <= 1024; image++) {
			struct wc_error err = {""};
			struct net net;
			const int rc = net_open(&net, expected[i].name, image, &err);

			if (image < expected[i].smallest) {
				cr_assert_eq(rc, WC_ERR_INPUT, "%s at %d", expected[i].name, image);
				cr_assert(strstr(err.text, "node '") && strstr(err.text, "is larger than the padded input of"), "%s", err.text);
				continue;
			}
			cr_assert_eq(rc, 0, "%s at %d: %s", expected[i].name, image, err.text);
			cr_assert_eq(net.nodes[0].out.height, image);
			cr_assert_eq(net.nodes[0].out.width, image);
			cr_assert_geq(net_forward_macs(&net), macs, "%s at %d", expected[i].name, image);
			cr_assert_geq(net_total_parameters(&net), parameters, "%s at %d", expected[i].name, image);
			macs = net_forward_macs(&net);
			parameters = net_total_parameters(&net);
			net_release(&net);
		}
	}
}

Test(builtin, images_too_large_to_count_are_refused)
{
	struct wc_error err;
	struct net net;

	cr_assert_eq(net_open(&net, "vgg16", 16384, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "vgg16, image 16384x16384: node 'conv1_1': one sample of the output, 16384x16384x64"), "%s", err.text);
	cr_expect_null(net.nodes);
	cr_assert_eq(net_open(&net, "vgg16", 16385, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "image is 16385, must be from 1 to 16384"), "%s", err.text);
}
