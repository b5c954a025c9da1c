// SPDX-License-Identifier: Apache-2.0
//
// Network files: what a good one means, and that every bad one is refused with file, line and node.
#include <criterion/criterion.h>
#include <stdlib.h>

#include <stdio.h>
#include <string.h>

#include "text.h"

Test(read, training_macs_leave_out_the_image_gradient)
{
	struct wc_error err;
	struct net net;
	char path[64];
	const char *text = HEAD CONV "  - {name: c2, op: conv, channels: 4, kernel: 1}\n";

	cr_assert_eq(text_read_bytes(&net, text, strlen(text), path, &err), 0, "%s", err.text);
	cr_assert_eq(net_training_macs(&net), 2 * (3 * 2 * 9 * 36) + 3 * (4 * 3 * 36));
	net_release(&net);
}

Test(read, pairs_and_defaults)
{
	struct wc_error err;
	struct net net;
	char path[64];
	const char *text = HEAD "  - name: c1\n    op: conv\n    input: input\n    channels: 3\n    kernel: [3, 5]\n    stride: [2, 1]\n"
				"    pad: [1, 2]\n    dilation: [2, 1]\n  - {name: c2, op: conv, channels: 1, kernel: 2}\n  - {name: r, op: relu}\n";

	cr_assert_eq(text_read_bytes(&net, text, strlen(text), path, &err), 0, "%s", err.text);
	cr_assert_eq(net.nodes[1].conv.kernel_h, 3);
	cr_assert_eq(net.nodes[1].conv.kernel_w, 5);
	cr_assert_eq(net.nodes[1].conv.stride_h, 2);
	cr_assert_eq(net.nodes[1].conv.stride_w, 1);
	cr_assert_eq(net.nodes[1].conv.pad_h, 1);
	cr_assert_eq(net.nodes[1].conv.pad_w, 2);
	cr_assert_eq(net.nodes[1].conv.dilation_h, 2);
	cr_assert_eq(net.nodes[1].out.height, (8 + 2 - 4 - 1) / 2 + 1);
	cr_assert_eq(net.nodes[1].out.width, 8);
	cr_assert_eq(net.nodes[2].conv.stride_h, 1);
	cr_assert_eq(net.nodes[2].conv.pad_w, 0);
	cr_assert_eq(net.nodes[3].op, NET_RELU);
	net_release(&net);
}

Test(read, bad_files_are_refused_with_place_and_cause)
{
	text_must_fail("", "", "no network in it");
	text_must_fail("- a\n", ":1:", "must be a mapping");
	text_must_fail("just words\n", ":1:", "must be a mapping");
	text_must_fail("name: [\n", ":", "not YAML");
	text_must_fail("name: n\n\tinput: 1\n", ":2:", "not YAML");
	text_must_fail("name: \"\\xff\n", ":", "not YAML");
	text_must_fail("\xff\xff\xff", "", "not a YAML text");
	text_must_fail("name: n\ninput: {height: 8, width: 8, channels: 2}\n", ":1:", "lacks the key 'nodes'");
	text_must_fail(HEAD CONV "extra: 1\n", ":5:", "unknown key 'extra'");
	text_must_fail("name: n\nname: m\n", ":2:", "key 'name' given twice");
	text_must_fail("name: n m\ninput: 1\nnodes: 1\n", ":1:", "must be 1 to 64 letters");
	text_must_fail("name: [n]\ninput: 1\nnodes: 1\n", ":1:", "must be a word");
	text_must_fail("name: n\ninput: 3\nnodes: [1]\n", ":2:", "input must be a mapping");
	text_must_fail("name: n\ninput: {height: 8, width: 8}\nnodes: [1]\n", ":2:", "lacks the key 'channels'");
	text_must_fail("name: n\ninput: {height: 0, width: 8, channels: 1}\nnodes: [1]\n", ":2:",
		       "height is 0, must be from 1 to 16384");
	text_must_fail("name: n\ninput: {height: 16385, width: 8, channels: 1}\nnodes: [1]\n", ":2:", "16385");
	text_must_fail("name: n\ninput: {height: 16384, width: 16384, channels: 32768}\nnodes: [1]\n", ":2:", "limit 2147483647");
	text_must_fail("name: n\ninput: {height: 99999999999999999999, width: 8, channels: 1}\nnodes: [1]\n", ":2:",
		       "must be from");
	text_must_fail("name: n\ninput: {height: 8x, width: 8, channels: 1}\nnodes: [1]\n", ":2:", "'8x' must be a number");
	text_must_fail("name: n\ninput: {height: \" 8\", width: 8, channels: 1}\nnodes: [1]\n", ":2:", "must be a number");
	text_must_fail("name: n\ninput: {height: [8], width: 8, channels: 1}\nnodes: [1]\n", ":2:", "must be a number");
	text_must_fail("name: n\ninput: {height: 8, width: 8, channels: 1}\nnodes: []\n", ":3:", "has 0 nodes");
	text_must_fail("name: n\ninput: {height: 8, width: 8, channels: 1}\nnodes: {}\n", ":3:", "must be a list");
	text_must_fail(HEAD "  - 7\n", ":4:", "a node must be a mapping");
	text_must_fail(HEAD "  - {op: conv}\n", ":4:", "lacks the key 'name'");
	text_must_fail(HEAD "  - {name: a, op: pool}\n", ":4:",
		       "node 'a': op 'pool' must be one of conv, fc, gn, relu, max_pool, avg_pool, global_pool, adaptive_pool, add, concat, loss");
	text_must_fail(HEAD "  - {name: a, op: [conv]}\n", ":4:", "op must be one of conv, fc");
	text_must_fail(HEAD CONV CONV, ":5:", "node 'c1': the name is taken");
	text_must_fail(HEAD "  - {name: input, op: conv, channels: 1, kernel: 1}\n", ":4:", "it stands for the image");
	text_must_fail(HEAD CONV "  - {name: r, op: relu, kernel: 3}\n", ":5:", "node 'r': op relu has no 'kernel'");
	text_must_fail(HEAD "  - {name: a, op: conv, kernel: 3}\n", ":4:", "op conv needs the key 'channels'");
	text_must_fail(HEAD "  - {name: a, op: conv, channels: 3}\n", ":4:", "op conv needs the key 'kernel'");
	text_must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: 3, kernel: 3}\n", ":4:", "given twice");
	text_must_fail(HEAD "  - {name: a, op: conv, channels: 0, kernel: 3}\n", ":4:", "channels is 0");
	text_must_fail(HEAD "  - {name: a, op: conv, channels: 40000, kernel: 3}\n", ":4:",
		       "channels is 40000, must be from 1 to 32768");
	text_must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: 12}\n", ":4:", "kernel is 12, must be from 1 to 11");
	text_must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: [3]}\n", ":4:", "one number or [height, width]");
	text_must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: [3, {}]}\n", ":4:", "kernel must be a number");
	text_must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: 3, stride: 5}\n", ":4:",
		       "stride is 5, must be from 1 to 4");
	text_must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: 3, pad: 3}\n", ":4:", "pad is 3x3, must not be above");
	text_must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: 3, pad: -1}\n", ":4:", "pad is -1");
	text_must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: 9}\n", ":4:",
		       "node 'a': output is 0x0: the kernel of 9x9, dilation 1x1, is larger than the padded input of 8x8 (input 8x8x2, pad 0x0)");
	text_must_fail(HEAD CONV "  - {name: d, op: conv, input: nowhere, channels: 1, kernel: 1}\n", ":5:",
		       "node 'd': input 'nowhere' is no node");
	text_must_fail("name: n\ninput: {height: 8, width: 8, channels: 32768}\nnodes:\n  - {name: a, op: conv, channels: 32768, kernel: 8}\n",
		       ":4:",
		  "node 'a': it has 68719476736 weights, limit 2147483647");
	text_must_fail(HEAD CONV "---\nname: second\n", ":6:", "a second document");
	text_must_fail(HEAD CONV "---\n[\n", ":", "not YAML");
}

// A text of one opening over and over; loading it would take minutes.
static void fill(char *text, size_t bytes, const char *word)
{
	for (size_t i = 0; i + 1 < bytes; i++)
		text[i] = word[i % strlen(word)];
	text[bytes - 1] = '\0';
}

Test(read, deep_nesting_is_refused_at_once, .timeout = 20)
{
	static const char *const words[] = {"[", "{", "[\n", "- ", "? ", "[{a: "};
	enum { BYTES = 100000 };
	char *text = malloc(BYTES);

	cr_assert(text);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		fill(text, BYTES, words[i]);
		text_must_fail(text, ":", "more than 16 deep");
	}
	free(text);
	text_must_fail("name: [[[[[[[[[[[[[[[n]]]]]]]]]]]]]]]\ninput: 1\nnodes: 1\n", ":1:", "must be a word");
	text_must_fail("name: [[[[[[[[[[[[[[[[n]]]]]]]]]]]]]]]]\ninput: 1\nnodes: 1\n", ":1:", "more than 16 deep");
}

Test(read, unknown_names_list_what_there_is)
{
	struct wc_error err;
	struct net net;

	cr_assert_eq(net_builtin(&net, "resnet", &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "'resnet'") && strstr(err.text, "fashion-conv"), "%s", err.text);
	cr_assert_eq(net_open(&net, "does/not/exist", 0, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "does/not/exist") && strstr(err.text, "No such file"), "%s", err.text);
	cr_assert_eq(net_read(&net, "/", &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "directory"), "%s", err.text);
}

Test(read, release_of_nothing)
{
	struct net net = { .name = NULL };

	net_release(&net);
	cr_assert_null(net.nodes);
}

// Every single-byte change of a file is either refused with a message or read into a network within the limits.
Test(read, changed_bytes_never_crash)
{
	static const char replacements[] = { 0, '\n', ' ', ':', '-', '{', ']', '&', '*', '!', '9', 'x', '\xff' };
	const char *text = HEAD CONV "  - {name: r, op: relu}\n  - {name: c2, op: conv, channels: 4, kernel: [1, 3], pad: [0, 1]}\n"
				"  - {name: s, op: add, inputs: [c2, d]}\n  - {name: f, op: fc, units: 2, bias: true}\n"
				"  - {name: d, op: conv, channels: 4, kernel: 1, input: c1}\n  - {name: l, op: loss, input: f}\n";
	size_t length = strlen(text);
	char changed[1024], path[64];
	int accepted = 0, refused = 0;

	for (size_t i = 0; i < length; i++) {
		for (size_t j = 0; j < sizeof(replacements); j++) {
			struct wc_error err;
			struct net net;
			int rc;

			memcpy(changed, text, length);
			changed[i] = replacements[j];
			rc = text_read_bytes(&net, changed, length, path, &err);
			if (rc) {
				cr_assert_eq(rc, WC_ERR_INPUT);
				cr_assert(err.text[0]);
				refused++;
				continue;
			}
			for (int n = 0; n < net.node_count; n++)
				cr_assert(net.nodes[n].out.height >= 1 && net.nodes[n].out.height <= 16384 && net.nodes[n].out.channels >= 1);
			net_release(&net);
			accepted++;
		}
	}
	cr_assert_gt(refused, 100);
	cr_assert_gt(accepted, 10);
}

// And so is every beginning of it.
Test(read, truncated_files_never_crash)
{
	const char *text = HEAD CONV "  - {name: r, op: relu}\n";

	for (size_t length = 0; length < strlen(text); length++) {
		struct wc_error err;
		struct net net;
		char path[64];

		if (text_read_bytes(&net, text, length, path, &err))
			cr_assert(err.text[0]);
		else
			net_release(&net);
	}
}
