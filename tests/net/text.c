// SPDX-License-Identifier: Apache-2.0
#include "text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int text_read_bytes(struct net *net, const char *text, size_t bytes, char *path, struct wc_error *err)
{
	int fd = memfd_create("net", 0), rc;

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, bytes), (ssize_t)bytes);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	err->text[0] = 0;
	rc = net_read(net, path, err);
	close(fd);
	return rc;
}

void text_read(struct net *net, const char *text)
{
	struct wc_error err;
	char path[64];

	cr_assert_eq(text_read_bytes(net, text, strlen(text), path, &err), 0, "%s for:\n%s", err.text, text);
}

void text_must_fail(const char *text, const char *line, const char *words)
{
	struct wc_error err;
	struct net net;
	char path[64], place[128];

	cr_assert_eq(text_read_bytes(&net, text, strlen(text), path, &err), WC_ERR_INPUT, "accepted:\n%.2000s", text);
	snprintf(place, sizeof(place), "%s%s", path, line);
	cr_assert(strstr(err.text, place), "'%s' does not name '%s' for:\n%.2000s", err.text, place, text);
	cr_assert(strstr(err.text, words), "'%s' lacks '%s' for:\n%.2000s", err.text, words, text);
	cr_assert_null(net.nodes);
	cr_assert_eq(net.node_count, 0);
}
