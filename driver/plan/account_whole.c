// SPDX-License-Identifier: Apache-2.0
//
// What runs beside the groups: the loss over a core's batch, the reduction and the update over all parameters.
#include "driver/plan/account_internal.h"

// Numbers of so many bytes, rounded up once, moved by one command.
static void count_numbers(struct count *count, bool write, enum wc_class class, uint64_t numbers, int bytes)
{
	const uint64_t payload = numbers * (uint64_t)bytes;

	account_add(count, write, class, round_up(payload, count->schedule->bus_bytes), payload);
}

void account_loss(struct count *count)
{
	const struct net_node *loss = &count->net->nodes[count->net->node_count - 1];
	const uint64_t samples = (uint64_t)count->schedule->batch;
	uint64_t bytes, payload;

	if (loss->op != NET_LOSS)
		return;
	bytes = samples * rows_pitch_bytes(count->net, SCHED_ACT, loss->inputs[0], count->schedule->bus_bytes);
	payload = samples * rows_payload_bytes(count->net, SCHED_ACT, loss->inputs[0]);
	account_add(count, false, WC_CLASS_ACTIVATION, bytes, payload);
	account_add(count, true, WC_CLASS_GRADIENT, bytes, payload);
	count_numbers(count, false, WC_CLASS_IO, samples, 4);
	count_numbers(count, true, WC_CLASS_IO, samples, 4);
	account_commands(count, 3);
}

// Masters and momenta are moved together, but begin on a beat each.
static void count_state(struct count *count, bool write, uint64_t parameters)
{
	account_add(count, write, WC_CLASS_OPTIMIZER, 2 * round_up(4 * parameters, count->schedule->bus_bytes), 8 * parameters);
}

// All cores' gradients are added up in the buffer, where the update finds the sum.
static void count_block(struct count *count, uint64_t parameters, int cores, bool update)
{
	for (int core = 0; core < cores; core++)
		count_numbers(count, false, WC_CLASS_WEIGHT_GRADIENT, parameters, 4);
	account_commands(count, cores - 1);
	if (!update) {
		count_numbers(count, true, WC_CLASS_WEIGHT_GRADIENT, parameters, 4);
		return;
	}
	count_state(count, false, parameters);
	count_state(count, true, parameters);
	count_numbers(count, true, WC_CLASS_WEIGHT, parameters, 2);
	account_commands(count, 1);
}

// The largest power of two, 4096 at most, of which the buffer holds the cores' gradients, master, momentum and weight of each.
static uint64_t block_parameters(uint32_t buffer_bytes, int cores)
{
	const uint64_t bytes = 14 + 4 * (uint64_t)cores;
	uint64_t block = 1;

	while (block < 4096 && 2 * block * bytes <= buffer_bytes)
		block *= 2;
	return block;
}

void account_parameters(struct count *count, int cores, bool update)
{
	const uint64_t block = block_parameters(count->schedule->buffer_bytes, cores);

	if (cores == 1 && !update)
		return;
	for (int i = 0; i < count->net->node_count; i++)
		for (enum parameter_array array = ARRAY_FILTERS; array < ARRAY_COUNT; array++) {
			const uint64_t parameters = program_array_count(&count->net->nodes[i], array);

			for (uint64_t lo = 0; lo < parameters; lo += block)
				count_block(count, parameters - lo < block ? parameters - lo : block, cores, update);
		}
}
