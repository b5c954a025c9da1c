// SPDX-License-Identifier: Apache-2.0
//
// A network from YAML text; a text that is refused ends the test.
#ifndef WC_TESTS_NET_TEXT_H
#define WC_TESTS_NET_TEXT_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/net/net.h"

static inline void tests_net(struct net *net, const char *yaml)
{
	struct wc_error err = {""};
	const int fd = memfd_create("net", 0);
	char path[64];

	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, yaml, strlen(yaml)), (ssize_t)strlen(yaml));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	cr_assert_eq(net_read(net, path, &err), 0, "%s\n%s", err.text, yaml);
	close(fd);
}

#endif
