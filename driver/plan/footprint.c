// SPDX-License-Identifier: Apache-2.0
//
// Bytes in DRAM over a training step, from a schedule's statements.
#include <stdlib.h>

#include "driver/plan/account.h"
#include "driver/plan/device/program.h"
#include "driver/plan/footprint_norm.h"
#include "driver/plan/operands.h"

enum { TENSORS = SCHED_MASK + 1 };

// When a tensor is first stored, and last stored or read; groups, -1: never.
struct life {
	int stored, last;
};

struct lives {
	const struct schedule *schedule;
	const struct net *net;
	bool update;
	struct life *lives; // [node * TENSORS + tensor]
	struct life *kept;  // likewise, of its rows in boundary storage; `device`
	bool **kept_rows;   // [node * TENSORS + tensor]: which these are; NULL: none
	int *view;          // [node]: the add whose gradient grad:NODE is a view of; 0: none
	int group;
};

// Under `device` a concatenation is a tensor of its own.
static bool is_view(const struct lives *lives, int node)
{
	return lives->net->nodes[node].op == NET_CONCAT && lives->schedule->accounting == SCHED_PAPER;
}

static void touch(struct lives *lives, bool write, enum sched_tensor tensor, int node)
{
	const struct net_node *of = &lives->net->nodes[node];
	struct life *life = &lives->lives[node * TENSORS + (int)tensor];

	// A concatenation is its pieces.
	for (int i = 0; is_view(lives, node) && i < of->input_count; i++)
		touch(lives, write, tensor, of->inputs[i]);
	if (is_view(lives, node) || (tensor == SCHED_GRAD && lives->schedule->accounting == SCHED_PAPER && !of->has_gradient))
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

// Of a concatenation the pieces that the operator reads or makes.
static void stream(struct lives *lives, const struct sched_statement *statement, bool write, enum sched_tensor tensor, int node)
{
	const struct net_node *of = &lives->net->nodes[node];

	for (int i = 0; of->op == NET_CONCAT && i < of->input_count; i++)
		stream(lives, statement, write, tensor, of->inputs[i]);
	if (of->op != NET_CONCAT && tensor != SCHED_MASK &&
	    (write ? operand_makes(lives->net, statement, tensor, node) : operand_reads(lives->net, statement, tensor, node)))
		touch(lives, write, tensor, node);
}

// Boundary storage has one place for each row of a tensor, whichever strip keeps it. False without memory.
static bool touch_kept(struct lives *lives, const struct sched_statement *statement)
{
	const int index = statement->node * TENSORS + (int)statement->tensor;
	struct life *life = &lives->kept[index];

	life->last = lives->group;
	if (statement->op == SCHED_TAKE)
		return true;
	life->stored = life->stored < 0 ? lives->group : life->stored;
	if (!lives->kept_rows[index])
		lives->kept_rows[index] = calloc((size_t)lives->net->nodes[statement->node].out.height, sizeof(bool));
	for (int y = statement->lo; lives->kept_rows[index] && y < statement->hi; y++)
		lives->kept_rows[index][y] = true;
	return lives->kept_rows[index] != NULL;
}

// False without memory.
static bool follow(struct lives *lives, const struct sched_statement *statement)
{
	const struct net_node *node = &lives->net->nodes[statement->node];
	struct sched_operand mask;

	if (statement->op == SCHED_LOAD || statement->op == SCHED_STORE)
		touch(lives, statement->op == SCHED_STORE, statement->tensor, statement->node);
	if (lives->schedule->accounting == SCHED_DEVICE && (statement->op == SCHED_KEEP || statement->op == SCHED_TAKE))
		return touch_kept(lives, statement);
	for (int i = 0; i < statement->from_count; i++)
		stream(lives, statement, false, statement->from[i].tensor, statement->from[i].node);
	for (int i = 0; statement->view && i < node->input_count; i++)
		lives->view[node->inputs[i]] = statement->node;
	for (int i = 0; i < statement->to_count; i++)
		stream(lives, statement, true, statement->to[i].tensor, statement->to[i].node);
	if (lives->schedule->accounting == SCHED_PAPER && operand_mask(lives->net, statement, &mask))
		touch(lives, statement->tensor == SCHED_ACT, SCHED_MASK, mask.node);
	return true;
}

// The whole batch: its rows on bus boundaries under `device`.
static uint64_t rows_bytes(const struct lives *lives, int node, enum sched_tensor tensor, int rows)
{
	return (uint64_t)lives->schedule->batch * (uint64_t)rows * rows_pitch_bytes(lives->net, tensor, node, lives->schedule->bus_bytes);
}

static uint64_t kept_bytes(const struct lives *lives, int node, enum sched_tensor tensor)
{
	const bool *kept = lives->kept_rows[node * TENSORS + (int)tensor];
	int rows = 0;

	for (int y = 0; kept && y < lives->net->nodes[node].out.height; y++)
		rows += kept[y];
	return rows_bytes(lives, node, tensor, rows);
}

static uint64_t tensor_bytes(const struct lives *lives, int node, enum sched_tensor tensor)
{
	const struct net_shape *shape = &lives->net->nodes[node].out;
	const uint64_t elements = (uint64_t)shape->height * (uint64_t)shape->width * (uint64_t)shape->channels * (uint64_t)lives->schedule->batch;

	if (lives->schedule->accounting == SCHED_DEVICE)
		return rows_bytes(lives, node, tensor, shape->height);
	return tensor == SCHED_MASK ? (elements * (uint64_t)operand_mask_bits(&lives->net->nodes[node]) + 7) / 8 : 2 * elements;
}

static bool is_live(const struct life *life, int group)
{
	return life->stored >= 0 && life->stored <= group && group <= life->last;
}

static uint64_t live_bytes(const struct lives *lives, int group)
{
	uint64_t bytes = 0;

	for (int node = 0; node < lives->net->node_count; node++)
		for (enum sched_tensor tensor = SCHED_ACT; tensor <= SCHED_MASK; tensor++) {
			const int index = node * TENSORS + (int)tensor;

			if (is_live(&lives->lives[index], group))
				bytes += tensor_bytes(lives, node, tensor);
			if (is_live(&lives->kept[index], group))
				bytes += kept_bytes(lives, node, tensor);
		}
	return bytes;
}

// An array of parameters, its gradient on each core, and its masters and momenta if there is an update; under `device` each begins on a beat.
static uint64_t array_bytes(const struct lives *lives, uint64_t count)
{
	const uint64_t floats = (uint64_t)lives->schedule->cores + (lives->update ? 2 : 0);

	return round_up(2 * count, lives->schedule->bus_bytes) + floats * round_up(4 * count, lives->schedule->bus_bytes);
}

static uint64_t parameter_bytes(const struct lives *lives)
{
	uint64_t bytes = 0;

	if (lives->schedule->accounting == SCHED_PAPER)
		return (2 + 4 * (uint64_t)lives->schedule->cores) * (uint64_t)net_total_parameters(lives->net);
	for (int i = 0; i < lives->net->node_count; i++) {
		const struct net_node *node = &lives->net->nodes[i];
		const uint64_t channels = array_bytes(lives, (uint64_t)node->out.channels);

		bytes += array_bytes(lives, (uint64_t)net_weights(node));
		bytes += node->op == NET_GN ? 2 * channels : node->bias ? channels : 0;
	}
	return bytes;
}

static bool allocate(struct lives *lives)
{
	const size_t count = (size_t)lives->net->node_count * TENSORS;

	lives->lives = calloc(2 * count, sizeof(*lives->lives));
	lives->kept_rows = calloc(count, sizeof(*lives->kept_rows));
	lives->view = calloc((size_t)lives->net->node_count, sizeof(*lives->view));
	if (!lives->lives || !lives->kept_rows || !lives->view)
		return false;
	lives->kept = lives->lives + count;
	for (size_t i = 0; i < 2 * count; i++)
		lives->lives[i] = (struct life){ -1, -1 };
	return true;
}

static void release(struct lives *lives)
{
	for (int i = 0; lives->kept_rows && i < lives->net->node_count * TENSORS; i++)
		free(lives->kept_rows[i]);
	free(lives->kept_rows);
	free(lives->lives);
	free(lives->view);
}

// When what is there; false without memory.
static bool follow_groups(struct lives *lives)
{
	const struct schedule *schedule = lives->schedule;
	const int last = lives->net->node_count - 1, output = lives->net->nodes[last].op == NET_LOSS ? lives->net->nodes[last].inputs[0] : last;

	touch(lives, true, SCHED_ACT, 0);
	for (lives->group = 0; lives->group < schedule->group_count; lives->group++) {
		const struct sched_group *group = &schedule->groups[lives->group];

		// The caller reads the output behind forward and leaves its gradient.
		if (group->phase == SCHED_BACKWARD && (!lives->group || group[-1].phase == SCHED_FORWARD))
			touch(lives, true, SCHED_GRAD, output);
		for (int i = 0; i < group->strip_count; i++)
			for (int k = 0; k < group->strips[i].statement_count; k++)
				if (!follow(lives, &group->strips[i].statements[k]))
					return false;
		if (group->phase == SCHED_FORWARD && (lives->group + 1 == schedule->group_count || group[1].phase == SCHED_BACKWARD))
			touch(lives, false, SCHED_ACT, output);
	}
	return true;
}

int account_footprint(const struct schedule *schedule, const struct net *net, uint64_t *bytes, struct wc_error *err)
{
	return account_footprint_whole(schedule, net, (struct program_whole){ .loss = false, .update = false }, bytes, err);
}

int account_footprint_whole(const struct schedule *schedule, const struct net *net, struct program_whole whole, uint64_t *bytes, struct wc_error *err)
{
	struct lives lives = { .schedule = schedule, .net = net, .update = whole.update };
	struct footprint_norms norms;

	*bytes = 0;
	if (footprint_norms_init(&norms, schedule, net) || !allocate(&lives) || !follow_groups(&lives)) {
		footprint_norms_release(&norms);
		release(&lives);
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	}
	for (int g = 0; g < schedule->group_count; g++) {
		const uint64_t live = live_bytes(&lives, g) + footprint_norms_bytes(&norms, g);

		*bytes = live > *bytes ? live : *bytes;
	}
	*bytes += parameter_bytes(&lives);
	footprint_norms_release(&norms);
	release(&lives);
	return 0;
}
