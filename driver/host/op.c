// SPDX-License-Identifier: Apache-2.0
//
// The queue of lowered commands; see op.h.
#include "driver/host/op.h"

#include <assert.h>
#include <stddef.h>

#include "traces/alloc.h"
#include "wc_programs.h"

enum { CAPACITY_MIN = 4096 };

int op_queue_init(struct op_queue *queue, struct wc_error *err)
{
	*queue = (struct op_queue){.capacity = CAPACITY_MIN};
	queue->ops = wc_alloc(queue->capacity, sizeof(*queue->ops));
	return queue->ops ? 0 : wc_fail(err, WC_ERR_SYSTEM, "out of memory for %d commands", CAPACITY_MIN);
}

void op_queue_release(struct op_queue *queue)
{
	wc_free(queue->ops);
	*queue = (struct op_queue){0};
}

void op_queue_restart(struct op_queue *queue)
{
	assert(queue->first == queue->end);
	queue->first = queue->end = 0;
}

// Twice the room; indices move to their new places.
static int grow(struct op_queue *queue, struct wc_error *err)
{
	const uint32_t capacity = queue->capacity * 2;
	struct op *ops = capacity ? wc_alloc(capacity, sizeof(*ops)) : NULL;

	if (!ops)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for more than %u commands", (unsigned)queue->capacity);
	for (uint32_t i = queue->first; i != queue->end; i++)
		ops[i % capacity] = queue->ops[i % queue->capacity];
	wc_free(queue->ops);
	queue->ops = ops;
	queue->capacity = capacity;
	return 0;
}

struct op *op_queue_push(struct op_queue *queue, struct wc_error *err)
{
	struct op *op;

	if (queue->end - queue->first == queue->capacity && grow(queue, err))
		return NULL;
	op = &queue->ops[queue->end++ % queue->capacity];
	*op = (struct op){0};
	return op;
}

struct op *op_queue_at(const struct op_queue *queue, uint32_t index)
{
	return index - queue->first < queue->end - queue->first ? &queue->ops[index % queue->capacity] : NULL;
}

void op_queue_drop_done(struct op_queue *queue)
{
	while (queue->first != queue->end && queue->ops[queue->first % queue->capacity].done)
		queue->first++;
}

struct op_pixel op_pixel(const struct op *op, int m)
{
	const int pixel = op->m_first + m;
	const int row = pixel / op->x_count;

	return (struct op_pixel){
		.sample = op->sample_first + row / op->y_count,
		.y = op->y_first + row % op->y_count * op->y_step,
		.x = op->x_first + pixel % op->x_count * op->x_step,
	};
}

// Of channels `first` on, in tiles of `size` that begin anew with each group.
static int tile_of(int first, int channels, int groups, int size)
{
	const int per_group = groups > 1 ? channels / groups : channels, tiles = (per_group + size - 1) / size;

	return groups > 1 ? first / per_group * tiles + first % per_group / size : first / size;
}

int op_tile_m(const struct op *op, const struct net_node *node, int acc_rows)
{
	return tile_of(op->m_first, node->out.channels, op->kind == OP_WEIGHT_GRADIENT ? node->conv.groups : 1, acc_rows);
}

int op_tile_n(const struct op *op, const struct net_node *node, int cols)
{
	return tile_of(op->n_first, op->kind == OP_FORWARD ? node->out.channels : node->in.channels, op_is_map_tile(op) ? node->conv.groups : 1, cols);
}

const char *op_name(const struct op *op)
{
	static const char *const names[] = {
		[OP_LOAD] = "load",
		[OP_STORE] = "store",
		[OP_RELU] = "relu",
		[OP_RELU_GRADIENT] = "relu_gradient",
		[OP_FORWARD] = "forward",
		[OP_DATA_GRADIENT] = "data_gradient",
		[OP_WEIGHT_GRADIENT] = "weight_gradient",
		[OP_BIAS_GRADIENT] = "bias_gradient",
	};

	return op->kind == OP_SIMD ? wc_simd_texts[op->command.simd.program].name : names[op->kind];
}
