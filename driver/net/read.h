// SPDX-License-Identifier: Apache-2.0
//
// The YAML reader behind net_read() and net_builtin().
#ifndef WC_NET_READ_H
#define WC_NET_READ_H

#include <stddef.h>

#include "driver/net/net.h"

// Read the one network in `bytes` of YAML text; `file` is its name in messages. The image is `image` pixels high and wide,
// 0: as the text says. On error the network is empty.
int net_parse(struct net *net, const char *file, const char *text, size_t bytes, int image, struct wc_error *err);

#endif
