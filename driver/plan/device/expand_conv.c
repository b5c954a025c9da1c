// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and fully connected layers: weights and sums pass through the buffer slice by slice, unless they stay there.
#include "driver/plan/device/expand.h"

enum { ACCUMULATE_PIXELS_MAX = 16777215 }; // k_total of a GEMM command

static int slice_end(const struct net_node *conv, struct sched_policy policy, int lo)
{
	if (!policy.slice || policy.slice >= conv->out.channels - lo)
		return conv->out.channels;
	return lo + policy.slice;
}

static bool is_sliced(const struct net_node *conv, struct sched_policy policy)
{
	return policy.slice && policy.slice < conv->out.channels;
}

// A slice has whole groups of the convolution.
static int check_slice(struct expansion *x, int node, struct sched_policy policy)
{
	const struct net_node *conv = &x->net->nodes[node];
	const int channels = conv->out.channels / conv->conv.groups;
	char where[200];

	if (conv->conv.groups == 1 || !is_sliced(conv, policy) || policy.slice % channels == 0)
		return 0;
	return wc_fail(x->err, WC_ERR_INPUT, "%s: a slice of %d channels cuts a group of '%s', each of which has %d", expand_group_text(x, where, sizeof(where)),
		       policy.slice, conv->name, channels);
}

// A slice of weights with the bias as it comes and, while the slice is worked on, in fp32; of sums with the bias's gradient. -1: none.
struct slice {
	int filters, bias, wide;
};

static const struct slice no_slice = { -1, -1, -1 };

// Slices of one convolution's weights or sums on their way through two buffers.
struct stream {
	enum slab_kind kind;
	int node;
	bool load, bias;
	struct rows taps;       // of the kernel
	struct slice now, next; // filters -1 past the last slice
	struct slice before;    // the one before `now`; its place becomes that of the one behind `next`, if slices are loaded
};

static int widen(struct expansion *x, int bias, int wide)
{
	const struct slab *slab = &x->program->slabs[wide];
	struct step step = step_make(STEP_BIAS, slab->node, slab->lo, slab->hi);

	step.source = bias;
	step.result = wide;
	return expand_step(x, step);
}

int expand_bias(struct expansion *x, int wide)
{
	const struct slab slab = x->program->slabs[wide];
	const int bias = expand_weight_slab(x, SLAB_BIAS, slab.node, slab.lo, slab.hi);
	const int rc = bias < 0 ? bias : expand_weight_transfer(x, STEP_LOAD, bias);

	return rc ? rc : widen(x, bias, wide);
}

// The bias of a slice of weights, or the place of its gradient.
static int add_slice_bias(struct expansion *x, const struct stream *stream, struct slice *slice)
{
	const struct slab filters = x->program->slabs[slice->filters];

	slice->bias = expand_weight_slab(x, stream->kind == SLAB_WGRAD ? SLAB_BIAS_WGRAD : SLAB_BIAS, stream->node, filters.lo, filters.hi);
	if (slice->bias < 0)
		return slice->bias;
	if (stream->load && stream->before.bias >= 0)
		x->root[slice->bias] = x->root[stream->before.bias];
	return stream->load ? expand_weight_transfer(x, STEP_LOAD, slice->bias) : 0;
}

// The slice behind `next`, loaded if that is wanted, or none past the last channel.
static struct slice add_slice(struct expansion *x, struct stream *stream, int lo, int *rc)
{
	const struct net_node *conv = &x->net->nodes[stream->node];
	const struct sched_policy policy = stream->kind == SLAB_WEIGHT ? x->group->weight[stream->node] : x->group->wgrad[stream->node];
	struct slice slice = no_slice;

	if (*rc || lo >= conv->out.channels)
		return slice;
	slice.filters = expand_filter_slab(x, stream->kind, stream->node, (struct rows){ lo, slice_end(conv, policy, lo) }, stream->taps);
	if (slice.filters < 0)
		*rc = slice.filters;
	else if (stream->load && stream->before.filters >= 0)
		x->root[slice.filters] = x->root[stream->before.filters];
	if (!*rc && stream->load)
		*rc = expand_weight_transfer(x, STEP_LOAD, slice.filters);
	if (!*rc && stream->bias)
		*rc = add_slice_bias(x, stream, &slice);
	return slice;
}

static int stream_begin(struct expansion *x, struct stream *stream, enum slab_kind kind, int node, bool load, bool bias)
{
	int rc = check_slice(x, node, kind == SLAB_WEIGHT ? x->group->weight[node] : x->group->wgrad[node]);

	if (rc)
		return rc;
	*stream = (struct stream){ .kind = kind, .node = node, .load = load, .bias = bias && x->net->nodes[node].bias, .taps = stream->taps, .before = no_slice };
	stream->now = add_slice(x, stream, 0, &rc);
	if (!rc)
		stream->next = add_slice(x, stream, x->program->slabs[stream->now.filters].hi, &rc);
	return rc;
}

// Go on to the next slice, and load the one behind it ahead of its use.
static int stream_advance(struct expansion *x, struct stream *stream)
{
	int rc = 0;

	stream->before = stream->now;
	stream->now = stream->next;
	if (stream->now.filters >= 0)
		stream->next = add_slice(x, stream, x->program->slabs[stream->now.filters].hi, &rc);
	return rc;
}

// The bias of the slice that is worked on next, in fp32.
static int widen_bias(struct expansion *x, struct stream *stream)
{
	const struct slab filters = x->program->slabs[stream->now.filters];

	if (stream->now.bias < 0)
		return 0;
	stream->now.wide = expand_weight_slab(x, SLAB_BIAS_WIDE, stream->node, filters.lo, filters.hi);
	if (stream->now.wide < 0)
		return stream->now.wide;
	if (stream->before.wide >= 0)
		x->root[stream->now.wide] = x->root[stream->before.wide];
	return widen(x, stream->now.bias, stream->now.wide);
}

// Of the slice that is worked on. Its bias stays as it came, too.
static void take_slice(struct expansion *x, const struct stream *stream, struct step *step)
{
	if (stream->now.wide >= 0)
		expand_touch(x, stream->now.bias, x->program->step_count);
	step->channel_lo = x->program->slabs[stream->now.filters].lo;
	step->channel_hi = x->program->slabs[stream->now.filters].hi;
}

int expand_conv_forward(struct expansion *x, struct step step)
{
	struct stream stream = { .taps = { 0, x->net->nodes[step.node].conv.kernel_h } };
	int rc;

	if (x->resident_weight[step.node] >= 0) {
		step.operand = x->resident_weight[step.node];
		step.parameters = x->resident_bias[step.node];
		step.channel_hi = x->net->nodes[step.node].out.channels;
		return expand_step(x, step);
	}
	rc = stream_begin(x, &stream, SLAB_WEIGHT, step.node, true, true);
	while (!rc && stream.now.filters >= 0) {
		rc = widen_bias(x, &stream);
		if (rc)
			return rc;
		step.operand = stream.now.filters;
		step.parameters = stream.now.wide;
		take_slice(x, &stream, &step);
		rc = expand_step(x, step);
		if (!rc)
			rc = stream_advance(x, &stream);
	}
	return rc;
}

// Sums over the slices so far are kept in fp32, and rounded once behind the last.
static int sliced_gradient(struct expansion *x, struct step step)
{
	const int tensor = x->net->nodes[step.node].inputs[0];
	struct step round = step_make(STEP_ROUND, tensor, step.lo, step.hi);
	struct stream stream = { .taps = use_kernel_rows(&x->net->nodes[step.node], (struct rows){ step.lo, step.hi }, x->schedule->bus_bytes) };
	int rc = 0;

	round.result = step.result;
	round.source = step.result = expand_map_slab(x, SLAB_WIDE, tensor, (struct rows){ step.lo, step.hi });
	if (step.result < 0)
		return step.result;
	rc = stream_begin(x, &stream, SLAB_WEIGHT, step.node, true, false);
	for (step.first_cut = true; !rc && stream.now.filters >= 0; step.first_cut = false) {
		step.operand = stream.now.filters;
		take_slice(x, &stream, &step);
		rc = expand_step(x, step);
		if (!rc)
			rc = stream_advance(x, &stream);
	}
	return rc ? rc : expand_step(x, round);
}

int expand_conv_gradient(struct expansion *x, struct step step)
{
	const struct net_node *node = &x->net->nodes[step.node];
	const struct sched_policy policy = x->group->weight[step.node];
	char where[200];
	int rc = 0;

	step.operand = x->resident_weight[step.node];
	if (step.operand < 0 && is_sliced(node, policy) && node->conv.groups > 1)
		return wc_fail(x->err, WC_ERR_INPUT, "%s: a data gradient in slices of %d channels of '%s', which has %d groups",
			       expand_group_text(x, where, sizeof(where)), policy.slice, node->name, node->conv.groups);
	if (step.operand < 0 && is_sliced(node, policy))
		return sliced_gradient(x, step);
	if (step.operand < 0) {
		step.operand = expand_filter_slab(x, SLAB_WEIGHT, step.node, (struct rows){ 0, node->out.channels },
						  use_kernel_rows(node, (struct rows){ step.lo, step.hi }, x->schedule->bus_bytes));
		if (step.operand < 0)
			return step.operand;
		rc = expand_weight_transfer(x, STEP_LOAD, step.operand);
	}
	return rc ? rc : expand_step(x, step);
}

// The bias's gradient over the slice that `step` works on.
static int expand_bias_gradient(struct expansion *x, struct step step, int sums)
{
	struct step ones = step_make(STEP_ONES, step.node, 0, 1);
	int rc;

	if (sums < 0)
		return 0;
	ones.result = expand_vector_slab(x, SLAB_ONES, step.node);
	rc = ones.result < 0 ? ones.result : expand_step(x, ones);
	step.op = STEP_BIAS_GRADIENT;
	step.operand = ones.result;
	step.result = sums;
	return rc ? rc : expand_step(x, step);
}

static int sliced_sums(struct expansion *x, struct step step)
{
	struct stream stream = { .taps = { 0, x->net->nodes[step.node].conv.kernel_h } };
	int rc = stream_begin(x, &stream, SLAB_WGRAD, step.node, !step.first_cut, true);

	while (!rc && stream.now.filters >= 0) {
		step.result = stream.now.filters;
		take_slice(x, &stream, &step);
		rc = expand_step(x, step);
		if (!rc)
			rc = expand_bias_gradient(x, step, stream.now.bias);
		// Where earlier sums are read both buffers are held; where they are not, one is enough.
		if (stream.load) {
			expand_touch(x, stream.next.filters, x->program->step_count - 1);
			expand_touch(x, stream.next.bias, x->program->step_count - 1);
		}
		if (!rc)
			rc = expand_weight_transfer(x, STEP_STORE, stream.now.filters);
		if (!rc && stream.now.bias >= 0)
			rc = expand_weight_transfer(x, STEP_STORE, stream.now.bias);
		if (!rc)
			rc = stream_advance(x, &stream);
	}
	return rc;
}

int expand_accumulate(struct expansion *x, const struct sched_statement *statement)
{
	const struct net_node *node = &x->net->nodes[statement->node];
	const struct rows rows = { statement->lo, statement->hi };
	struct step step = step_make(STEP_WEIGHT_GRADIENT, statement->node, rows.lo, rows.hi);
	char where[200];
	int rc = expand_count_cut(x, statement->node, &step);

	if (rc)
		return rc;
	if ((int64_t)x->sample_count * rows_count(rows) * node->out.width > ACCUMULATE_PIXELS_MAX)
		return wc_fail(x->err, WC_ERR_INPUT, "%s accumulates more than %d pixels of '%s' in one cut",
			       expand_group_text(x, where, sizeof(where)), ACCUMULATE_PIXELS_MAX, node->name);
	step.channel_hi = node->out.channels;
	step.source = expand_read(x, SCHED_GRAD, statement->node, rows, &rc);
	step.operand = expand_read(x, SCHED_ACT, node->inputs[0], rows_of_input(node, rows), &rc);
	if (rc)
		return rc;
	step.result = x->resident_sums[statement->node];
	if (step.result < 0)
		return sliced_sums(x, step);
	rc = expand_step(x, step);
	return rc ? rc : expand_bias_gradient(x, step, x->resident_bias_sums[statement->node]);
}
