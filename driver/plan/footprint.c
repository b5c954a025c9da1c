// SPDX-License-Identifier: Apache-2.0
//
// Bytes in DRAM over a training step, from a schedule's statements.
#include <stdlib.h>

#include "driver/plan/account_paper.h"
#include "driver/plan/operands.h"

enum { TENSORS = SCHED_MASK + 1 };

// When a tensor is first stored, and last stored or read; groups, -1: never.
struct life {
	int stored, last;
};

struct lives {
	const struct schedule *schedule;
	const struct net *net;
	struct life *lives; // [node * TENSORS + tensor]
	int *view;          // [node]: the add whose gradient grad:NODE is a view of; 0: none
	int group;
};

static void touch(struct lives *lives, bool write, enum sched_tensor tensor, int node)
{
	const struct net_node *of = &lives->net->nodes[node];
	struct life *life = &lives->lives[node * TENSORS + (int)tensor];

	// A concatenation is its pieces.
	for (int i = 0; of->op == NET_CONCAT && i < of->input_count; i++)
		touch(lives, write, tensor, of->inputs[i]);
	if (of->op == NET_CONCAT)
		return;
	if (write) {
		life->stored = life->stored < 0 ? lives->group : life->stored;
		life->last = lives->group;
		if (tensor == SCHED_GRAD)
			lives->view[node] = 0;
		return;
	}
	life->last = lives->group;
	if (tensor == SCHED_GRAD && lives->view[node])
		touch(lives, false, SCHED_GRAD, lives->view[node]);
}

static void follow(struct lives *lives, const struct sched_statement *statement)
{
	const struct net_node *node = &lives->net->nodes[statement->node];

	if (statement->op == SCHED_LOAD || statement->op == SCHED_STORE)
		touch(lives, statement->op == SCHED_STORE, statement->tensor, statement->node);
	for (int i = 0; i < statement->from_count; i++)
		touch(lives, false, statement->from[i].tensor, statement->from[i].node);
	for (int i = 0; statement->view && i < node->input_count; i++)
		lives->view[node->inputs[i]] = statement->node;
	for (int i = 0; i < statement->to_count; i++)
		touch(lives, true, statement->to[i].tensor, statement->to[i].node);
}

static uint64_t tensor_bytes(const struct lives *lives, int node, enum sched_tensor tensor)
{
	const struct net_shape *shape = &lives->net->nodes[node].out;
	const uint64_t elements = (uint64_t)shape->height * (uint64_t)shape->width * (uint64_t)shape->channels * (uint64_t)lives->schedule->batch;

	return tensor == SCHED_MASK ? (elements * (uint64_t)operand_mask_bits(&lives->net->nodes[node]) + 7) / 8 : 2 * elements;
}

static uint64_t live_bytes(const struct lives *lives, int group)
{
	uint64_t bytes = 0;

	for (int node = 0; node < lives->net->node_count; node++)
		for (enum sched_tensor tensor = SCHED_ACT; tensor <= SCHED_MASK; tensor++) {
			const struct life *life = &lives->lives[node * TENSORS + (int)tensor];

			if (life->stored >= 0 && life->stored <= group && group <= life->last)
				bytes += tensor_bytes(lives, node, tensor);
		}
	return bytes;
}

int account_footprint(const struct schedule *schedule, const struct net *net, uint64_t *bytes, struct wc_error *err)
{
	const int last = net->node_count - 1, output = net->nodes[last].op == NET_LOSS ? net->nodes[last].inputs[0] : last;
	struct lives lives = { .schedule = schedule, .net = net };

	*bytes = 0;
	lives.lives = calloc((size_t)net->node_count * TENSORS, sizeof(*lives.lives));
	lives.view = calloc((size_t)net->node_count, sizeof(*lives.view));
	if (!lives.lives || !lives.view) {
		free(lives.lives);
		free(lives.view);
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	}
	for (int i = 0; i < net->node_count * TENSORS; i++)
		lives.lives[i] = (struct life){ -1, -1 };
	touch(&lives, true, SCHED_ACT, 0);
	for (lives.group = 0; lives.group < schedule->group_count; lives.group++) {
		const struct sched_group *group = &schedule->groups[lives.group];

		// The caller reads the output behind forward and leaves its gradient.
		if (group->phase == SCHED_BACKWARD && (!lives.group || group[-1].phase == SCHED_FORWARD))
			touch(&lives, true, SCHED_GRAD, output);
		for (int i = 0; i < group->strip_count; i++)
			for (int k = 0; k < group->strips[i].statement_count; k++)
				follow(&lives, &group->strips[i].statements[k]);
		if (group->phase == SCHED_FORWARD && (lives.group + 1 == schedule->group_count || group[1].phase == SCHED_BACKWARD))
			touch(&lives, false, SCHED_ACT, output);
	}
	for (int g = 0; g < schedule->group_count; g++) {
		const uint64_t live = live_bytes(&lives, g);

		*bytes = live > *bytes ? live : *bytes;
	}
	*bytes += 6 * (uint64_t)net_total_parameters(net);
	free(lives.lives);
	free(lives.view);
	return 0;
}
