// SPDX-License-Identifier: Apache-2.0
#include "driver/net/builtin.h"

static const struct net_builtin_text builtins[] = {
	{ "fashion-conv",
	  "name: fashion-conv\n"
	  "input: {height: 28, width: 28, channels: 1}\n"
	  "nodes:\n"
	  "  - {name: conv1, op: conv, channels: 6, kernel: 5, stride: 1, pad: 2}\n"
	  "  - {name: relu1, op: relu}\n"
	  "  - {name: conv2, op: conv, channels: 20, kernel: 3, stride: 2, pad: 1}\n"
	  "  - {name: relu2, op: relu}\n"
	  "  - {name: conv3, op: conv, channels: 12, kernel: 1}\n"
	  "  - {name: relu3, op: relu}\n"
	  "  - {name: conv4, op: conv, channels: 20, kernel: 3, stride: 1, pad: 1}\n"
	  "  - {name: relu4, op: relu}\n"
	  "  - {name: conv5, op: conv, channels: 18, kernel: 5, stride: 2, pad: 2}\n"
	  "  - {name: relu5, op: relu}\n"
	  "  - {name: conv6, op: conv, channels: 10, kernel: 3, stride: 1, pad: 1}\n" },
};

const struct net_builtin_text *net_builtin_at(size_t i)
{
	return i < sizeof(builtins) / sizeof(builtins[0]) ? &builtins[i] : NULL;
}
