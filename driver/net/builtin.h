// SPDX-License-Identifier: Apache-2.0
//
// The built-in networks, as the YAML text that a file would hold.
#ifndef WC_NET_BUILTIN_H
#define WC_NET_BUILTIN_H

#include <stddef.h>

struct net_builtin_text {
	const char *name;
	const char *yaml;
};

// The i-th built-in network in alphabetical order; NULL past the last.
const struct net_builtin_text *net_builtin_at(size_t i);

#endif
