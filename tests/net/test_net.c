// SPDX-License-Identifier: Apache-2.0
//
// Network files: what a good one means, and that every bad one is refused with file, line and node.
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/net/net.h"

// Read a text as if it were a file. The file's name is in `path` (64 bytes).
static int read_bytes(struct net *net, const char *text, size_t bytes, char *path, struct wc_error *err)
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

static void must_fail(const char *text, const char *line, const char *words)
{
	struct wc_error err;
	struct net net;
	char path[64], place[128];

	cr_assert_eq(read_bytes(&net, text, strlen(text), path, &err), WC_ERR_INPUT, "accepted:\n%s", text);
	snprintf(place, sizeof(place), "%s%s", path, line);
	cr_assert(strstr(err.text, place), "'%s' does not name '%s' for:\n%s", err.text, place, text);
	cr_assert(strstr(err.text, words), "'%s' lacks '%s' for:\n%s", err.text, words, text);
	cr_assert_null(net.nodes);
	cr_assert_eq(net.node_count, 0);
}

#define HEAD "name: n\ninput: {height: 8, width: 8, channels: 2}\nnodes:\n"
#define CONV "  - {name: c1, op: conv, channels: 3, kernel: 3}\n"

Test(net, builtin_has_the_documented_shapes)
{
	static const struct { const char *name; int height, width, channels; } expected[] = {
		{ "input", 28, 28, 1 }, { "conv1", 28, 28, 6 }, { "relu1", 28, 28, 6 }, { "conv2", 14, 14, 20 }, { "relu2", 14, 14, 20 },
		{ "conv3", 14, 14, 12 }, { "relu3", 14, 14, 12 }, { "conv4", 14, 14, 20 }, { "relu4", 14, 14, 20 }, { "conv5", 7, 7, 18 },
		{ "relu5", 7, 7, 18 }, { "conv6", 7, 7, 10 },
	};
	struct wc_error err;
	struct net net;

	cr_assert_eq(net_open(&net, "fashion-conv", 0, &err), 0, "%s", err.text);
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

Test(net, training_macs_leave_out_the_image_gradient)
{
	struct wc_error err;
	struct net net;
	char path[64];
	const char *text = HEAD CONV "  - {name: c2, op: conv, channels: 4, kernel: 1}\n";

	cr_assert_eq(read_bytes(&net, text, strlen(text), path, &err), 0, "%s", err.text);
	cr_assert_eq(net_training_macs(&net), 2 * (3 * 2 * 9 * 36) + 3 * (4 * 3 * 36));
	net_release(&net);
}

Test(net, pairs_and_defaults)
{
	struct wc_error err;
	struct net net;
	char path[64];
	const char *text = HEAD "  - name: c1\n    op: conv\n    input: input\n    channels: 3\n    kernel: [3, 5]\n    stride: [2, 1]\n"
				"    pad: [1, 2]\n    dilation: [2, 1]\n  - {name: c2, op: conv, channels: 1, kernel: 2}\n  - {name: r, op: relu}\n";

	cr_assert_eq(read_bytes(&net, text, strlen(text), path, &err), 0, "%s", err.text);
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

Test(net, bad_files_are_refused_with_place_and_cause)
{
	must_fail("", "", "no network in it");
	must_fail("- a\n", ":1:", "must be a mapping");
	must_fail("just words\n", ":1:", "must be a mapping");
	must_fail("name: [\n", ":", "not YAML");
	must_fail("name: n\n\tinput: 1\n", ":2:", "not YAML");
	must_fail("name: \"\\xff\n", ":", "not YAML");
	must_fail("\xff\xff\xff", "", "not a YAML text");
	must_fail("name: n\ninput: {height: 8, width: 8, channels: 2}\n", ":1:", "lacks the key 'nodes'");
	must_fail(HEAD CONV "extra: 1\n", ":5:", "unknown key 'extra'");
	must_fail("name: n\nname: m\n", ":2:", "key 'name' given twice");
	must_fail("name: n m\ninput: 1\nnodes: 1\n", ":1:", "must be 1 to 64 letters");
	must_fail("name: [n]\ninput: 1\nnodes: 1\n", ":1:", "must be a word");
	must_fail("name: n\ninput: 3\nnodes: [1]\n", ":2:", "input must be a mapping");
	must_fail("name: n\ninput: {height: 8, width: 8}\nnodes: [1]\n", ":2:", "lacks the key 'channels'");
	must_fail("name: n\ninput: {height: 0, width: 8, channels: 1}\nnodes: [1]\n", ":2:", "height is 0, must be from 1 to 16384");
	must_fail("name: n\ninput: {height: 16385, width: 8, channels: 1}\nnodes: [1]\n", ":2:", "16385");
	must_fail("name: n\ninput: {height: 16384, width: 16384, channels: 32768}\nnodes: [1]\n", ":2:", "limit 1073741824");
	must_fail("name: n\ninput: {height: 99999999999999999999, width: 8, channels: 1}\nnodes: [1]\n", ":2:", "must be from");
	must_fail("name: n\ninput: {height: 8x, width: 8, channels: 1}\nnodes: [1]\n", ":2:", "'8x' must be a number");
	must_fail("name: n\ninput: {height: \" 8\", width: 8, channels: 1}\nnodes: [1]\n", ":2:", "must be a number");
	must_fail("name: n\ninput: {height: [8], width: 8, channels: 1}\nnodes: [1]\n", ":2:", "must be a number");
	must_fail("name: n\ninput: {height: 8, width: 8, channels: 1}\nnodes: []\n", ":3:", "has 0 nodes");
	must_fail("name: n\ninput: {height: 8, width: 8, channels: 1}\nnodes: {}\n", ":3:", "must be a list");
	must_fail(HEAD "  - 7\n", ":4:", "a node must be a mapping");
	must_fail(HEAD "  - {op: conv}\n", ":4:", "lacks the key 'name'");
	must_fail(HEAD "  - {name: a, op: pool}\n", ":4:", "node 'a': op 'pool' must be conv or relu");
	must_fail(HEAD "  - {name: a, op: [conv]}\n", ":4:", "op must be conv or relu");
	must_fail(HEAD "  - {name: a, op: relu}\n", ":4:", "node 'a': the first node must be a conv");
	must_fail(HEAD CONV CONV, ":5:", "node 'c1': the name is taken");
	must_fail(HEAD "  - {name: input, op: conv, channels: 1, kernel: 1}\n", ":4:", "it stands for the image");
	must_fail(HEAD CONV "  - {name: r, op: relu, kernel: 3}\n", ":5:", "a relu has no 'kernel'");
	must_fail(HEAD "  - {name: a, op: conv, kernel: 3}\n", ":4:", "needs the key 'channels'");
	must_fail(HEAD "  - {name: a, op: conv, channels: 3}\n", ":4:", "needs the key 'kernel'");
	must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: 3, kernel: 3}\n", ":4:", "given twice");
	must_fail(HEAD "  - {name: a, op: conv, channels: 0, kernel: 3}\n", ":4:", "channels is 0");
	must_fail(HEAD "  - {name: a, op: conv, channels: 40000, kernel: 3}\n", ":4:", "channels is 40000, must be from 1 to 32768");
	must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: 12}\n", ":4:", "kernel is 12, must be from 1 to 11");
	must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: [3]}\n", ":4:", "one number or [height, width]");
	must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: [3, {}]}\n", ":4:", "kernel must be a number");
	must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: 3, stride: 5}\n", ":4:", "stride is 5, must be from 1 to 4");
	must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: 3, pad: 3}\n", ":4:", "pad is 3x3, must not be above");
	must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: 3, pad: -1}\n", ":4:", "pad is -1");
	must_fail(HEAD "  - {name: a, op: conv, channels: 3, kernel: 9}\n", ":4:", "node 'a': output is 0x0");
	must_fail(HEAD CONV "  - {name: d, op: conv, input: nowhere, channels: 1, kernel: 1}\n", ":5:", "input 'nowhere' is no earlier node");
	must_fail(HEAD CONV "  - {name: d, op: conv, input: d, channels: 1, kernel: 1}\n", ":5:", "input 'd' is no earlier node");
	must_fail(HEAD CONV "  - {name: d, op: conv, input: input, channels: 1, kernel: 1}\n", ":5:", "only chains");
	must_fail("name: n\ninput: {height: 8, width: 8, channels: 32768}\nnodes:\n  - {name: a, op: conv, channels: 32768, kernel: 8}\n", ":4:",
		  "weight gradients take 274877906944 bytes");
	must_fail(HEAD CONV "---\nname: second\n", ":6:", "a second document");
	must_fail(HEAD CONV "---\n[\n", ":", "not YAML");
}

Test(net, unknown_names_list_what_there_is)
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

Test(net, release_of_nothing)
{
	struct net net = { .name = NULL };

	net_release(&net);
	cr_assert_null(net.nodes);
}

// Every single-byte change of a file is either refused with a message or read into a network within the limits.
Test(net, changed_bytes_never_crash)
{
	static const char replacements[] = { 0, '\n', ' ', ':', '-', '{', ']', '&', '*', '!', '9', 'x', '\xff' };
	const char *text = HEAD CONV "  - {name: r, op: relu}\n  - {name: c2, op: conv, channels: 4, kernel: [1, 3], pad: [0, 1]}\n";
	size_t length = strlen(text);
	char changed[512], path[64];
	int accepted = 0, refused = 0;

	for (size_t i = 0; i < length; i++) {
		for (size_t j = 0; j < sizeof(replacements); j++) {
			struct wc_error err;
			struct net net;
			int rc;

			memcpy(changed, text, length);
			changed[i] = replacements[j];
			rc = read_bytes(&net, changed, length, path, &err);
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
Test(net, truncated_files_never_crash)
{
	const char *text = HEAD CONV "  - {name: r, op: relu}\n";

	for (size_t length = 0; length < strlen(text); length++) {
		struct wc_error err;
		struct net net;
		char path[64];

		if (read_bytes(&net, text, length, path, &err))
			cr_assert(err.text[0]);
		else
			net_release(&net);
	}
}
