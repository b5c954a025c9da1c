// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/account.h"

#include <string.h>

#include "driver/plan/rows.h"

// The group being counted.
struct count {
	const struct schedule *schedule;
	const struct sched_group *group;
	const struct net *net;
	int acc_rows;
	int samples;  // of the present iteration
	bool first_iteration;
	uint64_t times; // iterations like this one; each is counted once and multiplied
	int strip, statement;
	struct account *account;
};

static enum wc_class tensor_class(enum sched_tensor tensor, int node)
{
	if (tensor == SCHED_GRAD)
		return WC_CLASS_GRADIENT;
	if (tensor == SCHED_MASK)
		return WC_CLASS_MASK;
	return node ? WC_CLASS_ACTIVATION : WC_CLASS_IO;
}

static void add(struct count *count, bool write, enum wc_class class, uint64_t bytes, uint64_t payload_bytes)
{
	uint64_t *total = write ? count->account->write_bytes : count->account->read_bytes;

	total[class] += count->times * bytes;
	count->account->payload_bytes[class] += count->times * payload_bytes;
	count->account->commands += count->times;
}

static void count_transfer(struct count *count, const struct sched_statement *statement)
{
	uint64_t rows = (uint64_t)count->samples * (uint64_t)(statement->hi - statement->lo);
	bool write = statement->op == SCHED_STORE || statement->op == SCHED_KEEP;
	bool boundary = statement->op == SCHED_TAKE || statement->op == SCHED_KEEP;

	add(count, write, boundary ? WC_CLASS_BOUNDARY : tensor_class(statement->tensor, statement->node),
	    rows * rows_pitch_bytes(count->net, statement->tensor, statement->node, count->schedule->bus_bytes),
	    rows * rows_payload_bytes(count->net, statement->tensor, statement->node));
}

static int slice_channels(const struct net_node *node, struct sched_policy policy)
{
	return policy.resident || !policy.slice ? node->out.channels : policy.slice;
}

// One pass over a convolution's weights (2 bytes an element) or weight gradients (4).
static void count_weights(struct count *count, bool write, const struct net_node *node, int slice, int element_bytes)
{
	uint64_t filter = (uint64_t)(net_conv_weights(node) / node->out.channels) * (uint64_t)element_bytes;

	for (int lo = 0; lo < node->out.channels; lo += slice) {
		int channels = lo + slice < node->out.channels ? slice : node->out.channels - lo;

		add(count, write, element_bytes == 2 ? WC_CLASS_WEIGHT : WC_CLASS_WEIGHT_GRADIENT,
		    round_up(filter * (uint64_t)channels, count->schedule->bus_bytes), filter * (uint64_t)channels);
	}
}

// GEMM commands of m x n results.
static void count_tiles(struct count *count, int64_t m, int64_t n)
{
	count->account->commands += count->times * (uint64_t)div_up(m, count->acc_rows) * (uint64_t)div_up(n, count->schedule->cols);
}

static void count_forward(struct count *count, const struct sched_statement *statement)
{
	const struct net_node *node = &count->net->nodes[statement->node];
	struct sched_policy policy = count->group->weight[statement->node];
	int slice = slice_channels(node, policy);
	int64_t pixels = (int64_t)count->samples * (statement->hi - statement->lo) * node->out.width;

	if (node->op == NET_RELU) {
		count->account->commands += count->times;
		return;
	}
	if (!policy.resident)
		count_weights(count, false, node, slice, 2);
	for (int lo = 0; lo < node->out.channels; lo += slice)
		count_tiles(count, pixels, lo + slice < node->out.channels ? slice : node->out.channels - lo);
	count->account->macs += count->times * (uint64_t)(pixels * net_conv_weights(node));
}

// How many of the integers in [lo, hi) leave the remainder `residue`.
static int residues(int lo, int hi, int residue, int modulus)
{
	int first = lo + ((residue - lo) % modulus + modulus) % modulus;

	return first < hi ? (hi - 1 - first) / modulus + 1 : 0;
}

// The data gradient of convolution `node`, rows lo..hi of its input.
static void count_data_gradient(struct count *count, int index, int lo, int hi)
{
	const struct net_node *node = &count->net->nodes[index];

	if (!count->group->weight[index].resident)
		count_weights(count, false, node, node->out.channels, 2);
	for (int y = 0; y < node->conv.stride_h; y++) {
		for (int x = 0; x < node->conv.stride_w; x++) {
			int64_t pixels = (int64_t)count->samples * residues(lo, hi, y, node->conv.stride_h) *
					 residues(0, node->in.width, x, node->conv.stride_w);

			count_tiles(count, pixels, node->in.channels);
		}
	}
}

static void count_accumulate(struct count *count, const struct sched_statement *statement)
{
	const struct net_node *node = &count->net->nodes[statement->node];
	struct sched_policy policy = count->group->wgrad[statement->node];
	int slice = slice_channels(node, policy);
	int64_t vectors = node->in.channels * node->conv.kernel_h * node->conv.kernel_w;
	bool first = count->first_iteration;

	for (int i = 0; first && i <= count->strip; i++) {
		const struct sched_strip *strip = &count->group->strips[i];
		int end = i < count->strip ? strip->statement_count : count->statement;

		for (int j = 0; j < end; j++)
			if (strip->statements[j].op == SCHED_ACCUMULATE && strip->statements[j].node == statement->node)
				first = false;
	}
	if (!policy.resident && !first)
		count_weights(count, false, node, slice, 4);
	if (!policy.resident)
		count_weights(count, true, node, slice, 4);
	for (int lo = 0; lo < node->out.channels; lo += slice)
		count_tiles(count, lo + slice < node->out.channels ? slice : node->out.channels - lo, vectors);
	count->account->macs += count->times * (uint64_t)count->samples * (uint64_t)(statement->hi - statement->lo) *
				(uint64_t)node->out.width * (uint64_t)net_conv_weights(node);
}

static void count_statement(struct count *count, const struct sched_statement *statement)
{
	int consumer;

	switch (statement->op) {
	case SCHED_COMPUTE:
		if (statement->tensor == SCHED_ACT) {
			count_forward(count, statement);
			return;
		}
		consumer = net_consumer(count->net, statement->node);
		if (count->net->nodes[consumer].op == NET_CONV)
			count_data_gradient(count, consumer, statement->lo, statement->hi);
		else
			count->account->commands += count->times;
		return;
	case SCHED_ACCUMULATE:
		count_accumulate(count, statement);
		return;
	default:
		count_transfer(count, statement);
	}
}

static void count_residents(struct count *count)
{
	for (int i = count->group->first; i <= count->group->last; i++) {
		const struct net_node *node = &count->net->nodes[i];

		if (count->group->weight[i].resident)
			count_weights(count, false, node, node->out.channels, 2);
		if (count->group->wgrad[i].resident)
			count_weights(count, true, node, node->out.channels, 4);
	}
}

// Data gradients' MACs: a whole tensor's rows are worth a forward pass. Summed per node, so that strips
// that cover the rows exactly come to exactly that.
static void count_gradient_macs(struct count *count)
{
	for (int i = count->group->first; i <= count->group->last; i++) {
		const struct net_node *node = &count->net->nodes[i];
		uint64_t rows = 0;

		for (int j = 0; j < count->group->strip_count; j++) {
			const struct sched_strip *strip = &count->group->strips[j];

			for (int k = 0; k < strip->statement_count; k++) {
				const struct sched_statement *statement = &strip->statements[k];

				if (statement->op == SCHED_COMPUTE && statement->tensor == SCHED_GRAD && statement->node == node->inputs[0])
					rows += (uint64_t)(statement->hi - statement->lo);
			}
		}
		if (node->op == NET_CONV)
			count->account->macs += (uint64_t)((unsigned __int128)count->schedule->batch * (uint64_t)net_conv_macs(node) * rows /
							   (uint64_t)node->in.height);
	}
}

static void count_iterations(struct count *count, int samples, bool first, int times)
{
	count->samples = samples;
	count->first_iteration = first;
	count->times = (uint64_t)times;
	for (count->strip = 0; times && count->strip < count->group->strip_count; count->strip++) {
		const struct sched_strip *strip = &count->group->strips[count->strip];

		for (count->statement = 0; count->statement < strip->statement_count; count->statement++)
			count_statement(count, &strip->statements[count->statement]);
	}
}

void account_group(const struct schedule *schedule, const struct sched_group *group, const struct net *net, int acc_rows,
		   struct account *account)
{
	struct count count = {
		.schedule = schedule, .group = group, .net = net, .acc_rows = acc_rows, .times = 1, .account = account,
	};
	int full = schedule->batch / group->sub_batch, rest = schedule->batch % group->sub_batch;

	memset(account, 0, sizeof(*account));
	count_residents(&count);
	count_iterations(&count, group->sub_batch, true, full > 0);
	count_iterations(&count, group->sub_batch, false, full > 1 ? full - 1 : 0);
	count_iterations(&count, rest, full == 0, rest > 0);
	count_gradient_macs(&count);
	account->read_bytes[WC_CLASS_COMMAND] = account->payload_bytes[WC_CLASS_COMMAND] = account->commands * ACCOUNT_COMMAND_BYTES;
}

void account_schedule(const struct schedule *schedule, const struct net *net, int acc_rows, struct account *account)
{
	uint64_t once = 0;
	bool backward = false;

	memset(account, 0, sizeof(*account));
	for (int i = 0; i < schedule->group_count; i++) {
		struct account group;

		account_group(schedule, &schedule->groups[i], net, acc_rows, &group);
		for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++) {
			account->read_bytes[class] += group.read_bytes[class];
			account->write_bytes[class] += group.write_bytes[class];
			account->payload_bytes[class] += group.payload_bytes[class];
		}
		account->commands += group.commands;
		account->macs += group.macs;
		backward |= schedule->groups[i].phase == SCHED_BACKWARD;
	}
	for (int i = 0; i < net->node_count; i++)
		if (net->nodes[i].op == NET_CONV)
			once += (uint64_t)net_conv_macs(&net->nodes[i]);
	if (backward)
		once = (uint64_t)net_training_macs(net);
	once *= (uint64_t)schedule->batch;
	account->extra_macs = account->macs > once ? account->macs - once : 0;
}

uint64_t account_total_bytes(const struct account *account)
{
	uint64_t bytes = 0;

	for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++)
		bytes += account->read_bytes[class] + account->write_bytes[class];
	return bytes;
}
