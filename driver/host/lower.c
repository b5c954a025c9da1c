// SPDX-License-Identifier: Apache-2.0
//
// The frame of the lowering.
#include "driver/host/lower.h"

#include <assert.h>
#include <inttypes.h>

#include "driver/host/lower_internal.h"
#include "traces/alloc.h"

// Cuts of each output channel, or of a normalization's parameters as a whole.
static int cut_count(const struct net_node *node)
{
	return node->op == NET_CONV || node->op == NET_FC ? node->out.channels : node->op == NET_GN;
}

static int init_cuts(struct lower *lower, int node, struct wc_error *err)
{
	const struct net_node *of = &lower->program->net->nodes[node];
	const int channels = cut_count(of);

	if (!channels)
		return 0;
	lower->cuts[node] = wc_alloc((size_t)channels, sizeof(**lower->cuts));
	return lower->cuts[node] ? 0 : wc_fail(err, WC_ERR_SYSTEM, "out of memory for %d channels", channels);
}

// With one reader a gradient is complete when it is made.
static int init_readers(struct lower *lower, int node, struct wc_error *err)
{
	const struct net_node *of = &lower->program->net->nodes[node];

	if (of->consumer_count < 2)
		return 0;
	lower->readers[node] = wc_alloc((size_t)lower->layout->batch * (size_t)of->out.height, sizeof(**lower->readers));
	return lower->readers[node] ? 0 : wc_fail(err, WC_ERR_SYSTEM, "out of memory for the rows of '%s'", of->name);
}

int lower_init(struct lower *lower, const struct program *program, const struct layout *layout,
	       const struct wc_device_params *params, struct op_queue *queue, struct wc_error *err)
{
	const struct net *net = program->net;
	int result = 0;

	*lower = (struct lower){.program = program, .layout = layout, .params = *params, .queue = queue};
	depend_init(&lower->depend);
	lower->cuts = wc_alloc((size_t)net->node_count, sizeof(*lower->cuts));
	lower->readers = wc_alloc((size_t)net->node_count, sizeof(*lower->readers));
	if (!lower->cuts || !lower->readers)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for %d nodes", net->node_count);
	for (int node = 0; !result && node < net->node_count; node++) {
		result = init_cuts(lower, node, err);
		if (!result)
			result = init_readers(lower, node, err);
	}
	if (!result)
		lower_restart(lower);
	return result;
}

void lower_restart(struct lower *lower)
{
	const struct net *net = lower->program->net;

	for (int node = 0; node < net->node_count; node++)
		for (int channel = 0; channel < cut_count(&net->nodes[node]); channel++)
			lower->cuts[node][channel] = -1;
}

void lower_new_device(struct lower *lower)
{
	depend_release(&lower->depend);
	depend_init(&lower->depend);
	op_queue_restart(lower->queue);
}

void lower_release(struct lower *lower)
{
	depend_release(&lower->depend);
	for (int node = 0; lower->cuts && lower->readers && node < lower->program->net->node_count; node++) {
		wc_free(lower->cuts[node]);
		wc_free(lower->readers[node]);
	}
	wc_free(lower->cuts);
	wc_free(lower->readers);
	*lower = (struct lower){0};
}

int64_t slab_row(const struct slab *slab, int sample, int row)
{
	const int64_t rows = slab->hi - slab->lo;

	return slab->offset + ((sample - slab->sample_first) * rows + (row - slab->lo)) * (int64_t)slab->pitch_bytes;
}

int64_t slab_channel(const struct slab *slab, int k, int64_t filter_elements, int element_bytes)
{
	return slab->offset + (k - slab->lo) * filter_elements * element_bytes;
}

struct op *lower_push(struct lower *lower, int step, enum op_kind kind, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	struct op *op = op_queue_push(lower->queue, err);

	if (op) {
		op->kind = kind;
		op->step = step;
		op->core = lower->program->core;
		op->node = from->node;
		op->sample_first = from->sample_first;
		op->sample_count = from->sample_count;
		op->lo = from->lo;
		op->hi = from->hi;
	}
	return op;
}

void lower_access(struct op *op, enum depend_space space, bool write, int64_t lo, int64_t hi)
{
	assert(op->access_count < DEPEND_ACCESS_MAX && lo >= 0 && lo < hi);
	op->accesses[op->access_count++] =
		(struct depend_access){.space = space, .write = write, .lo = (uint64_t)lo, .hi = (uint64_t)hi};
}

int lower_finish(struct lower *lower, struct op *op, enum wc_opcode opcode, struct wc_error *err)
{
	static const enum depend_engine engines[] = {
		[WC_OP_LOAD] = DEPEND_LOAD,
		[WC_OP_STORE] = DEPEND_STORE,
		[WC_OP_GEMM] = DEPEND_GEMM,
		[WC_OP_VECTOR] = DEPEND_VECTOR,
		[WC_OP_SIMD] = DEPEND_VECTOR,
	};
	struct wc_load_command *header = &op->command.load; // every command begins alike
	uint32_t wait[DEPEND_ENGINE_COUNT];
	int result = depend_add(&lower->depend, engines[opcode], op->accesses, op->access_count, wait, err);

	if (result)
		return result;
	header->opcode = (uint8_t)opcode;
	header->version = WC_COMMAND_VERSION;
	header->tag = lower->queue->end - 1;
	header->wait_load = wait[DEPEND_LOAD];
	header->wait_gemm = wait[DEPEND_GEMM];
	header->wait_vector = wait[DEPEND_VECTOR];
	header->wait_store = wait[DEPEND_STORE];
	return 0;
}

int lower_check(const struct lower *lower, int node, const char *field, int64_t value, int64_t min, int64_t max,
		struct wc_error *err)
{
	if (value >= min && value <= max)
		return 0;
	return wc_fail(err, WC_ERR_INPUT,
		       "cannot lower '%s': %s would be %" PRId64 ", the command's field holds %" PRId64 " to %" PRId64,
		       lower->program->net->nodes[node].name, field, value, min, max);
}

static int lower_operator(struct lower *lower, int step, enum net_op op, struct wc_error *err)
{
	switch (op) {
	case NET_CONV:
	case NET_FC:
		return lower_forward(lower, step, err);
	case NET_GN:
		return lower_norm(lower, step, err);
	case NET_RELU:
		return lower_relu(lower, step, err);
	case NET_ADD:
		return lower_add(lower, step, err);
	case NET_CONCAT:
		return lower_concat(lower, step, err);
	default:
		return lower_pool(lower, step, err);
	}
}

static int lower_gradient(struct lower *lower, int step, enum net_op op, struct wc_error *err)
{
	switch (op) {
	case NET_CONV:
		return lower_data_gradient(lower, step, err);
	case NET_FC:
		return lower_fc_gradient(lower, step, err);
	case NET_GN:
		return lower_norm_gradient(lower, step, err);
	case NET_RELU:
		return lower_relu_gradient(lower, step, err);
	default:
		return lower_pool_gradient(lower, step, err);
	}
}

int lower_step(struct lower *lower, int step, struct wc_error *err)
{
	typedef int lowering(struct lower *lower, int step, struct wc_error *err);
	static lowering *const lowerings[STEP_OP_COUNT] = {
		[STEP_LOAD] = lower_transfer,
		[STEP_STORE] = lower_transfer,
		[STEP_TAKE] = lower_transfer,
		[STEP_KEEP] = lower_transfer,
		[STEP_WEIGHT_GRADIENT] = lower_weight_gradient,
		[STEP_SUM] = lower_sum,
		[STEP_ROUND] = lower_round,
		[STEP_SPLIT] = lower_split,
		[STEP_BIAS] = lower_bias,
		[STEP_ONES] = lower_ones,
		[STEP_BIAS_GRADIENT] = lower_bias_gradient,
		[STEP_ROW_SUMS] = lower_row_sums,
		[STEP_COMBINE] = lower_combine,
		[STEP_LOSS] = lower_loss,
		[STEP_REDUCE] = lower_reduce,
		[STEP_UPDATE] = lower_update,
	};
	const struct step *from = &lower->program->steps[step];
	const enum net_op op = lower->program->net->nodes[from->node].op;

	if (from->op == STEP_FORWARD)
		return lower_operator(lower, step, op, err);
	if (from->op == STEP_DATA_GRADIENT)
		return lower_gradient(lower, step, op, err);
	return lowerings[from->op](lower, step, err);
}
