// SPDX-License-Identifier: Apache-2.0
//
// See fixture.h.
#include "tests/check/fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define HEADER "schedule 1\nnet hand\nbatch 3\ncores 1\narray 4x4\nbuffer 65536\nbus 16\naccounting device\n"

const char fixture_layerwise[] = HEADER
	"group forward conv1 conv1\nsub_batch 3\ntiling none\nweight conv1 resident\n"
	"strip 0\nload act:image=0:16\ncompute act:conv1=0:16\nstore act:conv1=0:16\n"
	"group forward relu1 relu1\nsub_batch 3\ntiling none\n"
	"strip 0\nload act:conv1=0:16\ncompute act:relu1=0:16\nstore act:relu1=0:16\n"
	"group forward conv2 conv2\nsub_batch 2\ntiling none\nweight conv2 streamed slice 2\n"
	"strip 0\nload act:relu1=0:16\ncompute act:conv2=0:16\nstore act:conv2=0:16\n"
	"group backward conv2 conv2\nsub_batch 3\ntiling none\nwgrad conv2 resident\n"
	"strip 0\nload grad:conv2=0:16\nload act:relu1=0:16\naccumulate conv2=0:16\ncompute grad:relu1=0:16\nstore grad:relu1=0:16\n"
	"group backward relu1 relu1\nsub_batch 3\ntiling none\n"
	"strip 0\nload grad:relu1=0:16\nload act:relu1=0:16\ncompute grad:conv1=0:16 act\nstore grad:conv1=0:16\n"
	"group backward conv1 conv1\nsub_batch 1\ntiling none\n"
	"strip 0\nload grad:conv1=0:16\nload act:image=0:16\naccumulate conv1=0:16\n";

const char fixture_serialized[] = HEADER
	"group forward conv1 conv2\nsub_batch 2\ntiling none\nweight conv1 resident\nweight conv2 resident\n"
	"strip 0\nload act:image=0:16\ncompute act:conv1=0:16\ncompute act:relu1=0:16 mask\nstore mask:relu1=0:16\n"
	"store act:relu1=0:16\ncompute act:conv2=0:16\nstore act:conv2=0:16\n"
	"group backward conv1 conv2\nsub_batch 2\ntiling none\nweight conv2 resident\nwgrad conv1 resident\nwgrad conv2 resident\n"
	"strip 0\nload grad:conv2=0:16\nload act:relu1=0:16\naccumulate conv2=0:16\ncompute grad:relu1=0:16\n"
	"load mask:relu1=0:16\ncompute grad:conv1=0:16 mask\nload act:image=0:16\naccumulate conv1=0:16\n";

const char fixture_overl[] = HEADER
	"group forward conv1 conv2\nsub_batch 1\ntiling overl\n"
	"strip 0\nload act:image=0:10\ncompute act:conv1=0:9\ncompute act:relu1=0:9\ncompute act:conv2=0:8\nstore act:conv2=0:8\n"
	"strip 1\nload act:image=6:16\ncompute act:conv1=7:16\ncompute act:relu1=7:16\ncompute act:conv2=8:16\nstore act:conv2=8:16\n"
	"group backward conv1 conv2\nsub_batch 1\ntiling overl\n"
	"strip 0\nload act:image=0:10\ncompute act:conv1=0:9\ncompute act:relu1=0:9 mask\nload grad:conv2=0:9\naccumulate conv2=0:8\n"
	"compute grad:relu1=0:8\ncompute grad:conv1=0:8 mask\naccumulate conv1=0:8\n"
	"strip 1\nload act:image=6:16\ncompute act:conv1=7:16\ncompute act:relu1=7:16 mask\nload grad:conv2=7:16\naccumulate conv2=8:16\n"
	"compute grad:relu1=8:16\ncompute grad:conv1=8:16 mask\naccumulate conv1=8:16\n";

const char fixture_2ps[] = HEADER
	"group forward conv1 conv2\nsub_batch 2\ntiling 2ps\nweight conv1 resident\n"
	"strip 0\nload act:image=0:9\ncompute act:conv1=0:8\ncompute act:relu1=0:8\ncompute act:conv2=0:7\n"
	"keep act:image=7:9\nkeep act:relu1=6:8\nstore act:conv2=0:7\n"
	"strip 1\ntake act:image=7:9\nload act:image=9:16\ncompute act:conv1=8:16\ntake act:relu1=6:8\ncompute act:relu1=8:16\n"
	"compute act:conv2=7:16\nstore act:conv2=7:16\n"
	"group backward conv1 conv2\nsub_batch 2\ntiling 2ps\nwgrad conv2 resident\n"
	"strip 0\nload grad:conv2=7:16\ntake act:image=7:9\nload act:image=9:16\ncompute act:conv1=8:16\ntake act:relu1=6:8\n"
	"compute act:relu1=8:16 mask\naccumulate conv2=7:16\ncompute grad:relu1=8:16\ncompute grad:conv1=8:16 mask\n"
	"accumulate conv1=8:16\nkeep grad:conv2=7:9\n"
	"strip 1\nload grad:conv2=0:7\ntake grad:conv2=7:9\nload act:image=0:9\ncompute act:conv1=0:8\ncompute act:relu1=0:8 mask\n"
	"accumulate conv2=0:7\ncompute grad:relu1=0:8\ncompute grad:conv1=0:8 mask\naccumulate conv1=0:8\n";

static void *allocate(size_t count, size_t bytes)
{
	void *memory = calloc(count, bytes);

	cr_assert_not_null(memory);
	return memory;
}

static char *copy_text(const char *text)
{
	return strcpy(allocate(strlen(text) + 1, 1), text);
}

static int dilation(const struct fixture_layer *layer)
{
	return layer->dilation > 0 ? layer->dilation : 1;
}

static int out_size(int size, const struct fixture_layer *layer)
{
	return (size + 2 * layer->pad - dilation(layer) * (layer->kernel - 1) - 1) / layer->stride + 1;
}

void fixture_net(struct net *net, struct net_shape image, const struct fixture_layer *layers, int count)
{
	*net = (struct net){.name = copy_text("hand"), .node_count = count + 1};
	net->nodes = allocate((size_t)count + 1, sizeof(*net->nodes));
	net->nodes[0] = (struct net_node){.name = copy_text("image"), .op = NET_INPUT, .in = image, .out = image};
	for (int i = 0; i < count; i++) {
		const struct fixture_layer *layer = &layers[i];
		struct net_node *node = &net->nodes[i + 1];

		node->name = copy_text(layer->name);
		node->op = layer->kernel > 0 ? NET_CONV : NET_RELU;
		node->inputs = allocate(1, sizeof(*node->inputs));
		node->inputs[0] = i;
		node->input_count = 1;
		node->in = node->out = net->nodes[i].out;
		if (layer->kernel == 0)
			continue;
		node->conv = (struct net_conv){layer->kernel, layer->kernel, layer->stride, layer->stride, layer->pad, layer->pad,
						dilation(layer), dilation(layer), 1};
		node->out = (struct net_shape){out_size(node->in.height, layer), out_size(node->in.width, layer), layer->channels};
		cr_assert(node->out.height > 0 && node->out.width > 0);
	}
	cr_assert_eq(net_link(net, NULL), 0);
}

void fixture_small_net(struct net *net)
{
	static const struct fixture_layer layers[] = {{"conv1", 3, 1, 1, 4, 1}, {"relu1", 0, 0, 0, 0, 0}, {"conv2", 3, 1, 1, 4, 1}};

	fixture_net(net, (struct net_shape){16, 16, 2}, layers, 3);
}

void fixture_tall_net(struct net *net)
{
	static const struct fixture_layer layers[] = {{"conv1", 3, 1, 1, 1, 1}, {"conv2", 3, 1, 1, 1, 1}};

	fixture_net(net, (struct net_shape){224, 8, 1}, layers, 2);
}

void fixture_schedule(struct schedule *schedule, const struct net *net, const char *text)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");
	struct wc_error err = {""};
	int rc;

	cr_assert_not_null(file);
	rc = schedule_read(schedule, net, file, "text", &err);
	fclose(file);
	cr_assert_eq(rc, 0, "%s", err.text);
}

char *fixture_replace(const char *text, const char *from, int nth, const char *to)
{
	const char *at = strstr(text, from);
	char *result;

	for (; at != NULL && nth > 0; nth--)
		at = strstr(at + 1, from);
	cr_assert_not_null(at, "no '%s' to replace", from);
	result = allocate(strlen(text) + strlen(to) + 1, 1);
	memcpy(result, text, (size_t)(at - text));
	strcat(result, to);
	strcat(result, at + strlen(from));
	return result;
}

// The violation's text, and its place as compilers say it.
static void expect_text(const struct schedule *schedule, const struct check_violation *violation, const char *text)
{
	struct wc_error expected = {""};

	if (violation->kind != CHECK_NONE && violation->place.line > 0)
		wc_fail(&expected, 0, "%s:%d: %s", schedule->file_name, violation->place.line, violation->text);
	else if (violation->kind != CHECK_NONE)
		wc_fail(&expected, 0, "%s: %s", schedule->file_name, violation->text);
	cr_assert_str_eq(text, expected.text);
}

int fixture_check(const char *text, const struct net *net, struct check_result *result)
{
	struct schedule schedule;
	struct wc_error err = {""};
	int rc;

	fixture_schedule(&schedule, net, text);
	rc = schedule_check(&schedule, net, result, &err);
	cr_assert_eq(rc == 0, result->ok);
	cr_assert_eq(rc == 0, result->violation.kind == CHECK_NONE);
	expect_text(&schedule, &result->violation, err.text);
	schedule_release(&schedule);
	return rc;
}

void fixture_expect_proven(const char *text, const struct net *net, struct check_result *result)
{
	fixture_check(text, net, result);
	cr_assert(result->ok, "%s", result->violation.text);
}
