// SPDX-License-Identifier: Apache-2.0
//
// Networks from texts, and what a refusal must say.
#ifndef WC_TESTS_NET_TEXT_H
#define WC_TESTS_NET_TEXT_H

#include <stddef.h>

#include "driver/net/net.h"

// Read a text as if it were a file. The file's name is in `path` (64 bytes). Refused or not, what net_read() returned.
int text_read_bytes(struct net *net, const char *text, size_t bytes, char *path, struct wc_error *err);
// A text that must be a network.
void text_read(struct net *net, const char *text);
// A text that must be refused, its file name followed by `line` (":4:", or "" for none), with `words` in the message.
void text_must_fail(const char *text, const char *line, const char *words);

#define HEAD "name: n\ninput: {height: 8, width: 8, channels: 2}\nnodes:\n"
#define CONV "  - {name: c1, op: conv, channels: 3, kernel: 3}\n"

#endif
