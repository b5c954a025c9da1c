// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/account_internal.h"

#include <string.h>

void account_add(struct count *count, bool write, enum wc_class class, uint64_t bytes, uint64_t payload_bytes)
{
	uint64_t *total = write ? count->account->write_bytes : count->account->read_bytes;

	total[class] += count->times * bytes;
	count->account->payload_bytes[class] += count->times * payload_bytes;
	count->account->commands += count->times;
}

void account_vectors(struct count *count, bool write, enum wc_class class, const struct net_node *node, int element_bytes, uint64_t vectors)
{
	const uint64_t bytes = (uint64_t)node->out.channels * (uint64_t)element_bytes;

	if (vectors)
		account_add(count, write, class, vectors * round_up(bytes, count->schedule->bus_bytes), vectors * bytes);
}

bool account_is_first_cut(const struct count *count, int node)
{
	for (int i = 0; i <= count->strip; i++) {
		const struct sched_strip *strip = &count->group->strips[i];
		const int end = i < count->strip ? strip->statement_count : count->statement;

		for (int j = 0; j < end; j++)
			if (strip->statements[j].op == SCHED_ACCUMULATE && strip->statements[j].node == node)
				return false;
	}
	return count->first_iteration;
}

static enum wc_class tensor_class(enum sched_tensor tensor, int node)
{
	if (tensor == SCHED_GRAD)
		return WC_CLASS_GRADIENT;
	if (tensor == SCHED_MASK)
		return WC_CLASS_MASK;
	return node ? WC_CLASS_ACTIVATION : WC_CLASS_IO;
}

static void count_transfer(struct count *count, const struct sched_statement *statement)
{
	uint64_t rows = (uint64_t)count->samples * (uint64_t)(statement->hi - statement->lo);
	bool write = statement->op == SCHED_STORE || statement->op == SCHED_KEEP;
	bool boundary = statement->op == SCHED_TAKE || statement->op == SCHED_KEEP;

	account_add(count, write, boundary ? WC_CLASS_BOUNDARY : tensor_class(statement->tensor, statement->node),
		    rows * rows_pitch_bytes(count->net, statement->tensor, statement->node, count->schedule->bus_bytes),
		    rows * rows_payload_bytes(count->net, statement->tensor, statement->node));
}

static void count_forward(struct count *count, const struct sched_statement *statement)
{
	const struct net_node *node = &count->net->nodes[statement->node];

	switch (node->op) {
	case NET_CONV:
	case NET_FC:
		account_conv(count, statement);
		return;
	case NET_GN:
		account_norm(count, statement->node, (struct rows){ statement->lo, statement->hi }, false);
		return;
	case NET_ADD:
		account_commands(count, node->input_count - 1);
		return;
	case NET_CONCAT:
		account_commands(count, node->input_count);
		return;
	default:
		account_commands(count, 1);
	}
}

static void count_gradient(struct count *count, const struct sched_statement *statement)
{
	const int reader = sched_gradient_reader(count->net, statement);
	const struct net_node *node = &count->net->nodes[reader];
	const struct rows rows = { statement->lo, statement->hi };

	if (node->op == NET_CONV || node->op == NET_FC)
		account_conv_gradient(count, reader, rows);
	else if (node->op == NET_GN)
		account_norm(count, reader, rows, true);
	else if (node->op == NET_MAX_POOL || node->op == NET_AVG_POOL)
		account_pool_gradient(count, reader, rows);
	else
		account_commands(count, 1);
	account_commands(count, use_continues(count->net, statement->node, reader));
}

static void count_split(struct count *count, int index)
{
	const struct net_node *node = &count->net->nodes[index];

	for (int i = 0; i < node->input_count; i++)
		account_commands(count, count->net->nodes[node->inputs[i]].has_gradient);
}

static void count_statement(struct count *count, const struct sched_statement *statement)
{
	switch (statement->op) {
	case SCHED_COMPUTE:
		if (statement->tensor == SCHED_ACT)
			count_forward(count, statement);
		else
			count_gradient(count, statement);
		return;
	case SCHED_ACCUMULATE:
		account_accumulate(count, statement);
		return;
	case SCHED_STATISTICS:
		account_statistics(count, statement);
		return;
	case SCHED_SPLIT:
		count_split(count, statement->node);
		return;
	case SCHED_FREE:
		return;
	default:
		count_transfer(count, statement);
	}
}

static void count_residents(struct count *count)
{
	for (int i = count->group->first; i <= count->group->last; i++) {
		if (count->group->weight[i].resident)
			account_resident(count, false, i);
		if (count->group->wgrad[i].resident)
			account_resident(count, true, i);
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

				if (statement->op == SCHED_COMPUTE && statement->tensor == SCHED_GRAD && sched_gradient_reader(count->net, statement) == i)
					rows += (uint64_t)(statement->hi - statement->lo);
			}
		}
		if (rows)
			count->account->macs += (uint64_t)((unsigned __int128)count->schedule->batch * (uint64_t)net_macs(node) * rows /
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

static void count_command_bytes(struct account *account)
{
	account->read_bytes[WC_CLASS_COMMAND] = account->payload_bytes[WC_CLASS_COMMAND] = account->commands * ACCOUNT_COMMAND_BYTES;
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
	count_command_bytes(account);
}

static void add(struct account *account, const struct account *part, uint64_t times)
{
	for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++) {
		account->read_bytes[class] += times * part->read_bytes[class];
		account->write_bytes[class] += times * part->write_bytes[class];
		account->payload_bytes[class] += times * part->payload_bytes[class];
	}
	account->commands += times * part->commands;
	account->macs += times * part->macs;
}

void account_schedule(const struct schedule *schedule, const struct net *net, int acc_rows, struct account *account)
{
	account_schedule_whole(schedule, net, acc_rows, (struct program_whole){ .loss = false, .update = false }, account);
}

void account_schedule_whole(const struct schedule *schedule, const struct net *net, int acc_rows, struct program_whole whole, struct account *account)
{
	const struct schedule core = schedule_of_core(schedule);
	const uint64_t cores = (uint64_t)schedule->cores;
	struct account part;
	struct count beside = { .schedule = &core, .net = net, .acc_rows = acc_rows, .times = 1, .account = &part };
	uint64_t once;
	bool backward = false;

	memset(account, 0, sizeof(*account));
	for (int i = 0; i < core.group_count; i++) {
		account_group(&core, &core.groups[i], net, acc_rows, &part);
		add(account, &part, cores);
		backward |= core.groups[i].phase == SCHED_BACKWARD;
	}
	memset(&part, 0, sizeof(part));
	if (whole.loss)
		account_loss(&beside);
	count_command_bytes(&part);
	add(account, &part, cores);
	memset(&part, 0, sizeof(part));
	if (backward)
		account_parameters(&beside, schedule->cores, whole.update);
	count_command_bytes(&part);
	add(account, &part, 1);
	once = (uint64_t)(backward ? net_training_macs(net) : net_forward_macs(net));
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
