// SPDX-License-Identifier: Apache-2.0
#include "driver/net/builtin.h"

#include <string.h>

static const struct net_builtin builtins[] = {
	{ "alexnet", { 224, 224, 3 }, net_make_alexnet, 0 },
	{ "fashion-conv", { 28, 28, 1 }, net_make_fashion_conv, 0 },
	{ "inception-small", { 28, 28, 1 }, net_make_inception_small, 0 },
	{ "inception-v3", { 299, 299, 3 }, net_make_inception_v3, 0 },
	{ "inception-v4", { 299, 299, 3 }, net_make_inception_v4, 0 },
	{ "lenet", { 28, 28, 1 }, net_make_lenet, 0 },
	{ "mobilenet-v1", { 224, 224, 3 }, net_make_mobilenet_v1, 0 },
	{ "resnet101", { 224, 224, 3 }, net_make_resnet, 101 },
	{ "resnet152", { 224, 224, 3 }, net_make_resnet, 152 },
	{ "resnet18", { 224, 224, 3 }, net_make_resnet, 18 },
	{ "resnet34", { 224, 224, 3 }, net_make_resnet, 34 },
	{ "resnet50", { 224, 224, 3 }, net_make_resnet, 50 },
	{ "resnet8", { 28, 28, 1 }, net_make_resnet, 8 },
	{ "vgg-small", { 32, 32, 3 }, net_make_vgg_small, 0 },
	{ "vgg16", { 224, 224, 3 }, net_make_vgg16, 0 },
};

const struct net_builtin *net_builtin_at(size_t i)
{
	return i < sizeof(builtins) / sizeof(builtins[0]) ? &builtins[i] : NULL;
}

const struct net_builtin *net_builtin_find(const char *name)
{
	for (size_t i = 0; net_builtin_at(i); i++)
		if (!strcmp(net_builtin_at(i)->name, name))
			return net_builtin_at(i);
	return NULL;
}

int net_builtin_make(struct net *net, const struct net_builtin *builtin, int image, struct wc_error *err)
{
	struct net_shape shape = builtin->image;
	struct net_build build;

	if (image)
		shape.height = shape.width = image;
	net_build_begin(&build, net, builtin->name, shape, err);
	builtin->make(&build, builtin->variant);
	return net_build_end(&build);
}
