// SPDX-License-Identifier: Apache-2.0
//
// One strip of a schedule for one iteration's samples, as steps on slabs.
#include "driver/plan/device/expand.h"

enum { ACCUMULATE_PIXELS_MAX = 16777215 }; // k_total of a GEMM command

static struct expand_tensor *tensor_at(struct expansion *x, enum sched_tensor tensor, int node)
{
	return &x->tensors[(int)tensor * x->net->node_count + node];
}

static void use(struct expansion *x, enum sched_tensor tensor, int node, int statement)
{
	struct expand_tensor *used = tensor_at(x, tensor, node);

	if (used->first < 0)
		used->first = statement;
	used->last = statement;
}

static void name(struct expansion *x, enum sched_tensor tensor, int node, struct rows rows, int statement)
{
	struct expand_tensor *named = tensor_at(x, tensor, node);

	named->hull = rows_hull(named->hull, rows);
	use(x, tensor, node, statement);
}

// Hulls and lives of the strip's tensors: what each statement names, fills and reads.
static void survey(struct expansion *x, const struct sched_strip *strip)
{
	for (int i = 0; i < EXPAND_TENSOR_KINDS * x->net->node_count; i++)
		x->tensors[i] = (struct expand_tensor){ .first = -1, .slab = -1 };
	for (int i = 0; i < strip->statement_count; i++) {
		const struct sched_statement *statement = &strip->statements[i];
		int node = statement->node, consumer = net_consumer(x->net, node);
		struct rows rows = { statement->lo, statement->hi };

		name(x, statement->tensor, node, rows, i);
		if (statement->op == SCHED_ACCUMULATE) {
			use(x, SCHED_ACT, x->net->nodes[node].inputs[0], i);
		} else if (statement->op == SCHED_COMPUTE && statement->tensor == SCHED_ACT) {
			use(x, SCHED_ACT, x->net->nodes[node].inputs[0], i);
			if (statement->with == SCHED_WITH_MASK)
				name(x, SCHED_MASK, node, rows, i);
		} else if (statement->op == SCHED_COMPUTE) {
			use(x, SCHED_GRAD, consumer, i);
			if (statement->with != SCHED_WITH_NONE)
				use(x, statement->with == SCHED_WITH_MASK ? SCHED_MASK : SCHED_ACT, consumer, i);
		}
	}
}

// The slab of a named tensor, made on its first use; a negative error.
static int slab_of(struct expansion *x, enum sched_tensor tensor, int node)
{
	static const enum slab_kind kinds[] = { [SCHED_ACT] = SLAB_ACT, [SCHED_GRAD] = SLAB_GRAD, [SCHED_MASK] = SLAB_MASK };
	struct expand_tensor *named = tensor_at(x, tensor, node);

	if (named->slab < 0) {
		struct slab slab = {
			.kind = kinds[tensor], .node = node, .lo = named->hull.lo, .hi = named->hull.hi,
			.sample_first = x->sample_first, .sample_count = x->sample_count,
			.pitch_bytes = rows_pitch_bytes(x->net, tensor, node, x->schedule->bus_bytes),
		};

		named->slab = expand_slab(x, &slab, (uint64_t)x->sample_count * (uint64_t)rows_count(named->hull) * slab.pitch_bytes);
	}
	return named->slab;
}

// The slab from which `rows` are read, -1 if rows are empty. *rc is an error if the slab does not hold them.
static int read_slab(struct expansion *x, enum sched_tensor tensor, int node, struct rows rows, int *rc)
{
	const struct expand_tensor *held = tensor_at(x, tensor, node);
	char where[200];

	if (*rc || rows_empty(rows))
		return -1;
	if (held->slab < 0 || !rows_contain(held->hull, rows)) {
		*rc = wc_fail(x->err, WC_ERR_INPUT, "%s, strip %d: rows %d:%d of %s:%s are read but not in the buffer",
			      expand_group_text(x, where, sizeof(where)), x->strip, rows.lo, rows.hi, sched_tensor_name(tensor),
			      x->net->nodes[node].name);
		return -1;
	}
	return held->slab;
}

// A ReLU, forward or backward, may write over its input: last use of the one, first of the other, same rows.
static void share_in_place(struct expansion *x, enum sched_tensor tensor, int input, int result, int statement)
{
	const struct expand_tensor *from = tensor_at(x, tensor, input), *to = tensor_at(x, tensor, result);

	if (from->last == statement && to->first == statement && from->hull.lo == to->hull.lo && from->hull.hi == to->hull.hi)
		x->root[to->slab] = x->root[from->slab];
}

static int slice_end(const struct net_node *conv, struct sched_policy policy, int lo)
{
	if (!policy.slice || policy.slice >= conv->out.channels - lo)
		return conv->out.channels;
	return lo + policy.slice;
}

// Slices of one convolution's weights or sums on their way through two buffers.
struct stream {
	enum slab_kind kind;
	int node;
	bool load;
	int now, next; // slabs, -1 past the last slice
	int before;    // the slab before `now`; its place becomes that of the one behind `next`
};

// The slab behind `next`, loaded if that is wanted, or -1 past the last channel.
static int add_slice(struct expansion *x, struct stream *stream, int lo, int *rc)
{
	const struct net_node *conv = &x->net->nodes[stream->node];
	struct sched_policy policy = stream->kind == SLAB_WEIGHT ? x->group->weight[stream->node] : x->group->wgrad[stream->node];
	int slab;

	if (*rc || lo >= conv->out.channels)
		return -1;
	slab = expand_weight_slab(x, stream->kind, stream->node, lo, slice_end(conv, policy, lo));
	if (slab < 0)
		*rc = slab;
	else if (stream->before >= 0)
		x->root[slab] = x->root[stream->before];
	if (!*rc && stream->load)
		*rc = expand_weight_transfer(x, STEP_LOAD, slab);
	return slab;
}

static int stream_begin(struct expansion *x, struct stream *stream, enum slab_kind kind, int node, bool load)
{
	int rc = 0;

	*stream = (struct stream){ .kind = kind, .node = node, .load = load, .before = -1 };
	stream->now = add_slice(x, stream, 0, &rc);
	stream->next = rc ? -1 : add_slice(x, stream, x->program->slabs[stream->now].hi, &rc);
	return rc;
}

// Go on to the next slice, and load the one behind it ahead of its use.
static int stream_advance(struct expansion *x, struct stream *stream)
{
	int rc = 0;

	stream->before = stream->now;
	stream->now = stream->next;
	if (stream->now >= 0)
		stream->next = add_slice(x, stream, x->program->slabs[stream->now].hi, &rc);
	return rc;
}

static int expand_conv_forward(struct expansion *x, struct step step)
{
	struct stream stream;
	int rc;

	if (x->resident_weight[step.node] >= 0) {
		step.operand = x->resident_weight[step.node];
		step.channel_hi = x->net->nodes[step.node].out.channels;
		return expand_step(x, step);
	}
	rc = stream_begin(x, &stream, SLAB_WEIGHT, step.node, true);
	while (!rc && stream.now >= 0) {
		step.operand = stream.now;
		step.channel_lo = x->program->slabs[stream.now].lo;
		step.channel_hi = x->program->slabs[stream.now].hi;
		rc = expand_step(x, step);
		if (!rc)
			rc = stream_advance(x, &stream);
	}
	return rc;
}

static int expand_forward(struct expansion *x, const struct sched_statement *statement, int index)
{
	const struct net_node *node = &x->net->nodes[statement->node];
	struct rows rows = { statement->lo, statement->hi };
	struct step step = { .op = STEP_FORWARD, .node = statement->node, .lo = rows.lo, .hi = rows.hi, .with = statement->with,
			     .operand = -1, .mask = -1 };
	int rc = 0;

	step.source = read_slab(x, SCHED_ACT, node->inputs[0], rows_of_input(node, rows), &rc);
	if (rc)
		return rc;
	step.result = slab_of(x, SCHED_ACT, statement->node);
	if (step.result < 0)
		return step.result;
	if (node->op == NET_CONV)
		return expand_conv_forward(x, step);
	step.channel_hi = node->out.channels;
	if (statement->with == SCHED_WITH_MASK) {
		step.mask = slab_of(x, SCHED_MASK, statement->node);
		if (step.mask < 0)
			return step.mask;
	}
	share_in_place(x, SCHED_ACT, node->inputs[0], statement->node, index);
	return expand_step(x, step);
}

static int expand_data_gradient(struct expansion *x, const struct sched_statement *statement, int index)
{
	int consumer = net_consumer(x->net, statement->node), rc = 0;
	const struct net_node *node = &x->net->nodes[consumer];
	struct rows rows = { statement->lo, statement->hi };
	struct step step = { .op = STEP_DATA_GRADIENT, .node = consumer, .lo = rows.lo, .hi = rows.hi, .with = statement->with,
			     .channel_hi = node->out.channels, .mask = -1 };

	step.source = read_slab(x, SCHED_GRAD, consumer, rows_of_gradient(node, rows), &rc);
	if (rc)
		return rc;
	step.result = slab_of(x, SCHED_GRAD, statement->node);
	if (step.result < 0)
		return step.result;
	if (node->op == NET_RELU) {
		step.operand = read_slab(x, statement->with == SCHED_WITH_MASK ? SCHED_MASK : SCHED_ACT, consumer, rows, &rc);
		share_in_place(x, SCHED_GRAD, consumer, statement->node, index);
		return rc ? rc : expand_step(x, step);
	}
	step.operand = x->resident_weight[consumer];
	if (step.operand < 0) {
		step.operand = expand_weight_slab(x, SLAB_WEIGHT, consumer, 0, node->out.channels);
		if (step.operand < 0)
			return step.operand;
		rc = expand_weight_transfer(x, STEP_LOAD, step.operand);
	}
	return rc ? rc : expand_step(x, step);
}

// Weight gradient: the sums pass through the buffer slice by slice, one loaded ahead, unless they stay there.
static int expand_accumulate(struct expansion *x, const struct sched_statement *statement)
{
	const struct net_node *node = &x->net->nodes[statement->node];
	struct rows rows = { statement->lo, statement->hi };
	struct step step = { .op = STEP_WEIGHT_GRADIENT, .node = statement->node, .lo = rows.lo, .hi = rows.hi,
			     .channel_hi = node->out.channels, .mask = -1 };
	struct stream stream;
	char where[200];
	int rc = 0;

	if (x->cuts[statement->node] && x->cuts_group[statement->node] != x->group_index)
		return wc_fail(x->err, WC_ERR_INPUT, "%s accumulates into '%s', but group %d has done so before",
			       expand_group_text(x, where, sizeof(where)), node->name, x->cuts_group[statement->node]);
	if ((int64_t)x->sample_count * rows_count(rows) * node->out.width > ACCUMULATE_PIXELS_MAX)
		return wc_fail(x->err, WC_ERR_INPUT, "%s accumulates more than %d pixels of '%s' in one cut",
			       expand_group_text(x, where, sizeof(where)), ACCUMULATE_PIXELS_MAX, node->name);
	x->cuts_group[statement->node] = x->group_index;
	step.cut = x->cuts[statement->node]++;
	step.first_cut = step.cut == 0;
	step.source = read_slab(x, SCHED_GRAD, statement->node, rows, &rc);
	step.operand = read_slab(x, SCHED_ACT, node->inputs[0], rows_of_input(node, rows), &rc);
	if (rc)
		return rc;
	step.result = x->resident_sums[statement->node];
	if (step.result >= 0)
		return expand_step(x, step);
	rc = stream_begin(x, &stream, SLAB_WGRAD, statement->node, !step.first_cut);
	while (!rc && stream.now >= 0) {
		step.result = stream.now;
		step.channel_lo = x->program->slabs[stream.now].lo;
		step.channel_hi = x->program->slabs[stream.now].hi;
		// Both buffers are held: the next slice is worked on while this one is stored.
		expand_touch(x, stream.next, x->program->step_count);
		rc = expand_step(x, step);
		if (!rc)
			rc = expand_weight_transfer(x, STEP_STORE, stream.now);
		if (!rc)
			rc = stream_advance(x, &stream);
	}
	return rc;
}

static int expand_transfer(struct expansion *x, const struct sched_statement *statement)
{
	static const enum step_op ops[] = {
		[SCHED_LOAD] = STEP_LOAD, [SCHED_STORE] = STEP_STORE, [SCHED_TAKE] = STEP_TAKE, [SCHED_KEEP] = STEP_KEEP,
	};
	int slab = slab_of(x, statement->tensor, statement->node);

	if (slab < 0)
		return slab;
	return expand_step(x, (struct step){ .op = ops[statement->op], .node = statement->node, .lo = statement->lo, .hi = statement->hi,
					  .source = slab, .operand = -1, .result = -1, .mask = -1 });
}

int expand_strip(struct expansion *x)
{
	const struct sched_strip *strip = &x->group->strips[x->strip];

	survey(x, strip);
	for (int i = 0; i < strip->statement_count; i++) {
		const struct sched_statement *statement = &strip->statements[i];
		int rc;

		if (statement->op == SCHED_ACCUMULATE)
			rc = expand_accumulate(x, statement);
		else if (statement->op != SCHED_COMPUTE)
			rc = expand_transfer(x, statement);
		else if (statement->tensor == SCHED_ACT)
			rc = expand_forward(x, statement, i);
		else
			rc = expand_data_gradient(x, statement, i);
		if (rc)
			return rc;
	}
	return 0;
}
