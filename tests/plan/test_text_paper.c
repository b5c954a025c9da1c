// SPDX-License-Identifier: Apache-2.0
//
// The text form of schedules for `paper` accounting: graphs, streams, several readers, normalizations.
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "driver/net/net.h"
#include "tests/plan/common.h"

// input - c1 - r1 -+- c2 -+- a - r2 - p (max pool) - g (gn) - fc - loss
//                  +------+
static void graph(struct net *net)
{
	static const struct {
		const char *name;
		enum net_op op;
		int inputs[2], input_count;
	} nodes[] = {
		{ "input", NET_INPUT, { 0 }, 0 },    { "c1", NET_CONV, { 0 }, 1 },     { "r1", NET_RELU, { 1 }, 1 }, { "c2", NET_CONV, { 2 }, 1 },
		{ "a", NET_ADD, { 3, 2 }, 2 },       { "r2", NET_RELU, { 4 }, 1 },     { "p", NET_MAX_POOL, { 5 }, 1 }, { "g", NET_GN, { 6 }, 1 },
		{ "fc", NET_FC, { 7 }, 1 },          { "loss", NET_LOSS, { 8 }, 1 },
	};
	const int count = sizeof(nodes) / sizeof(nodes[0]);
	struct wc_error err;

	*net = (struct net){ .name = strdup("g"), .nodes = calloc((size_t)count, sizeof(*net->nodes)), .node_count = count };
	for (int i = 0; i < count; i++) {
		struct net_node *node = &net->nodes[i];

		node->name = strdup(nodes[i].name);
		node->op = nodes[i].op;
		node->input_count = nodes[i].input_count;
		node->inputs = calloc(2, sizeof(int));
		memcpy(node->inputs, nodes[i].inputs, sizeof(nodes[i].inputs));
		node->out = (struct net_shape){ i < 6 ? 8 : i < 8 ? 4 : 1, i < 6 ? 8 : i < 8 ? 4 : 1, i == 9 ? 1 : 16 };
		node->in = i ? net->nodes[node->inputs[0]].out : node->out;
		node->conv = node->op == NET_MAX_POOL ? (struct net_conv){ 2, 2, 2, 2, 0, 0, 1, 1, 1 } : (struct net_conv){ 3, 3, 1, 1, 1, 1, 1, 1, 1 };
		node->group_channels = 16;
		node->units = 16;
	}
	cr_assert_eq(net_link(net, &err), 0);
}

#define HEAD "schedule 1\nnet g\nimage 8\nbatch 4\ncores 1\nbuffer 65536\naccounting paper\n"

static const char canonical[] =
	HEAD "reserve 4096\nplanner by-hand\n"
	"\ngroup forward c1 p\n  sub_batch 3\n  tiling none\n  weight c1 resident\n  weight c2 blocked\n"
	"  strip 0\n    compute act:c1=0:8 from act:input=0:8 to act:c1\n    load act:c1=0:8\n    compute act:r1=0:8 mask to mask:r1\n"
	"    compute act:c2=0:8\n    free act:c1\n    compute act:a=0:8\n    compute act:p=0:4 to act:p,mask:p\n    statistics g=0:4\n"
	"\ngroup backward c1 fc\n  sub_batch 4\n  tiling none\n  weight g resident\n  wgrad g resident\n"
	"  strip 0\n    accumulate fc=0:1 using act:p from grad:fc,act:p=0:4\n    compute grad:a=0:8 through r2,p from act:a\n"
	"    split a=0:8 view\n    split a=0:8 from grad:a to grad:c2,grad:r1\n    compute grad:r1=0:8 by c2 from grad:r1\n"
	"    compute grad:c1=0:8 using act:c1\n";

Test(text_paper, canonical_text_round_trips)
{
	const struct sched_statement *statements;
	struct schedule schedule;
	struct wc_error err;
	struct net net;
	char *text;

	graph(&net);
	cr_assert_eq(common_read(&schedule, &net, canonical, strlen(canonical), &err), 0, "%s", err.text);
	cr_assert_eq(schedule.image, 8);
	cr_assert_eq(schedule.reserve_bytes, 4096);
	cr_assert_eq(schedule.rows, 0);
	cr_assert(schedule.groups[0].weight[3].blocked);
	statements = schedule.groups[1].strips[0].statements;
	cr_assert(statements[0].saved_count == 1 && statements[0].saved[0].node == 6);
	cr_assert_eq(statements[0].from_count, 2);
	cr_assert_eq(statements[0].from[1].hi, 4);
	cr_assert_eq(statements[1].through_count, 2);
	cr_assert(statements[2].view);
	cr_assert_eq(statements[3].to_count, 2);
	cr_assert_eq(statements[4].by, 3);
	text = common_write(&schedule, &net);
	cr_assert_str_eq(text, canonical);
	free(text);
	schedule_release(&schedule);
	net_release(&net);
}

static const struct {
	const char *statement;
	const char *words;
} faults[] = {
	{ "compute grad:r1=0:8 mask", "2 nodes read 'r1': 'by' must say" },
	{ "compute grad:r1=0:8 by a", "made by: split a" },
	{ "compute grad:fc=0:1", "the network's output, 'fc', is not computed" },
	{ "load act:loss=0:1", "the loss, 'loss', is not scheduled" },
	{ "load mask:c1=0:1", "neither a relu nor a max_pool" },
	{ "compute act:c1=0:8 by c2", "'by' belongs to gradients" },
	{ "compute act:c1=0:8 from", "nothing stands behind 'from'" },
	{ "compute act:c1=0:8 from ,", "takes a list of tensors" },
	{ "compute act:c1=0:8 from act:input from act:c1", "'from' given twice" },
	{ "compute act:c1=0:8 to act:c1=0:8", "must be a tensor without rows" },
	{ "compute act:c1=0:8 to act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1,act:c1", "at most 32 tensors" },
	{ "compute grad:c1=0:8 by input", "the image reads nothing" },
	{ "compute grad:c1=0:8 through r1,,c2,r1,r1,r1,r1,r1", "at most 6 nodes" },
	{ "compute act:c1=0:8 view", "'view' belongs to split" },
	{ "accumulate c1=0:8 mask", "belong to compute" },
	{ "statistics c1=0:8", "no gn" },
	{ "split c1=0:8", "no add" },
	{ "free act:c1=0:8", "a tensor without rows" },
	{ "accumulate g=0:4", "no convolution or fc" },
};

Test(text_paper, faults_of_form_are_refused)
{
	struct net net;

	graph(&net);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct schedule schedule;
		struct wc_error err;
		char text[512];

		snprintf(text, sizeof(text), HEAD "group backward c1 fc\nsub_batch 1\nstrip 0\n%s\n", faults[i].statement);
		cr_assert_eq(common_read(&schedule, &net, text, strlen(text), &err), WC_ERR_INPUT, "accepted: %s", faults[i].statement);
		cr_assert(strstr(err.text, faults[i].words), "'%s' lacks '%s'", err.text, faults[i].words);
		cr_assert_eq(strncmp(err.text, "s.txt:11: ", 10), 0, "%s", err.text);
		schedule_release(&schedule);
	}
	net_release(&net);
}
