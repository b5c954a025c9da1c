// SPDX-License-Identifier: Apache-2.0
//
// See machine.h.
#include "tests/plan/machine.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/rows.h"

enum { FEATURE_KINDS = SLAB_MASK + 1 };

struct machine {
	const struct program *program;
	const struct net *net;
	uint32_t bus;
	int acc_rows, index; // of the present step
	uint64_t *buffer;    // per granule: tag, 0 nothing
	uint8_t *dram[FEATURE_KINDS], *boundary[FEATURE_KINDS]; // per node, sample and row: whether it is there
	uint8_t *accumulated; // per node, sample and row
	int *summed, *stored; // per node and output channel: cuts in the buffer's sums, and in those in DRAM
	int *cuts;            // per node
	int rows_max, channels_max;
	struct machine_sums *sums;
};

// What row y of sample n of a tensor is, at its g-th granule.
static uint64_t row_tag(enum slab_kind kind, int node, int sample, int y, uint32_t granule)
{
	return 1 + ((((uint64_t)kind * 64 + (uint64_t)node) * 1024 + (uint64_t)sample) * 4096 + (uint64_t)y) * 4096 + granule;
}

// What the g-th granule of a convolution's weights is, or of its sums after `cut` cuts.
static uint64_t weight_tag(enum slab_kind kind, int node, uint64_t granule, int cut)
{
	return 1 + ((((uint64_t)kind * 64 + (uint64_t)node) << 40) + (granule << 16)) + (uint64_t)cut;
}

static size_t at(const struct machine *m, int node, int sample, int y)
{
	return ((size_t)node * (size_t)m->program->schedule->batch + (size_t)sample) * (size_t)m->rows_max + (size_t)y;
}

static const struct slab *slab_at(const struct machine *m, int slab)
{
	const struct slab *found;

	cr_assert(slab >= 0 && slab < m->program->slab_count, "step %d names slab %d", m->index, slab);
	found = &m->program->slabs[slab];
	cr_assert(found->first_step <= m->index && m->index <= found->last_step, "step %d uses slab %d, alive %d..%d", m->index, slab,
		  found->first_step, found->last_step);
	cr_assert(found->offset + found->bytes <= m->program->schedule->buffer_bytes);
	cr_assert_eq(found->offset % m->bus, 0);
	cr_assert_eq(found->bytes % m->bus, 0);
	return found;
}

// Write or check the tags of rows lo..hi in a slab.
static void rows_tags(struct machine *m, int index, enum slab_kind kind, int node, int lo, int hi, bool write)
{
	const struct slab *slab = slab_at(m, index);
	const struct step *step = &m->program->steps[m->index];

	cr_assert(slab->kind == kind && slab->node == node, "step %d: slab %d is of another tensor", m->index, index);
	cr_assert(slab->lo <= lo && hi <= slab->hi, "step %d: rows %d:%d outside slab %d:%d", m->index, lo, hi, slab->lo, slab->hi);
	cr_assert_eq(slab->sample_first, step->sample_first);
	cr_assert_eq(slab->sample_count, step->sample_count);
	for (int n = 0; n < step->sample_count; n++) {
		for (int y = lo; y < hi; y++) {
			uint32_t byte = slab->offset + (uint32_t)(n * (slab->hi - slab->lo) + y - slab->lo) * slab->pitch_bytes;

			for (uint32_t g = 0; g < slab->pitch_bytes / m->bus; g++) {
				uint64_t tag = row_tag(kind, node, step->sample_first + n, y, g);

				if (write)
					m->buffer[byte / m->bus + g] = tag;
				else
					cr_assert_eq(m->buffer[byte / m->bus + g], tag,
						     "step %d (op %d, node %d): sample %d row %d of kind %d node %d is not there", m->index,
						     step->op, step->node, step->sample_first + n, y, kind, node);
			}
		}
	}
}

static void weight_tags(struct machine *m, int index, enum slab_kind kind, int node, int lo, int hi, int cut, bool write)
{
	const struct slab *slab = slab_at(m, index);
	const struct net_node *conv = &m->net->nodes[node];
	uint64_t filter = (uint64_t)(net_conv_weights(conv) / conv->out.channels) * (kind == SLAB_WGRAD ? 4 : 2);

	cr_assert(slab->kind == kind && slab->node == node && slab->lo == lo && slab->hi == hi, "step %d: slab %d holds other channels",
		  m->index, index);
	for (uint32_t g = 0; g < slab->bytes / m->bus; g++) {
		uint64_t *granule = &m->buffer[slab->offset / m->bus + g];
		uint64_t tag = weight_tag(kind, node, (uint64_t)lo * filter / m->bus + g, cut);

		if (write)
			*granule = tag;
		else
			cr_assert_eq(*granule, tag, "step %d: kind %d of node %d is not there after %d cuts", m->index, kind, node, cut);
	}
}

static void move(struct machine *m, bool write, enum wc_class class, uint64_t bytes, uint64_t payload)
{
	(write ? m->sums->write_bytes : m->sums->read_bytes)[class] += bytes;
	m->sums->payload_bytes[class] += payload;
	m->sums->commands++;
}

static void run_weight_transfer(struct machine *m, const struct step *step, const struct slab *slab)
{
	const struct net_node *conv = &m->net->nodes[step->node];
	bool write = step->op == STEP_STORE, sums = slab->kind == SLAB_WGRAD;
	uint64_t filter = (uint64_t)(net_conv_weights(conv) / conv->out.channels) * (sums ? 4 : 2);
	int *summed = &m->summed[step->node * m->channels_max], *stored = &m->stored[step->node * m->channels_max];
	int version = sums ? (write ? summed : stored)[step->lo] : 0;

	cr_assert(sums || !write);
	cr_assert(!sums || version > 0, "step %d moves sums that do not exist", m->index);
	for (int k = step->lo; sums && write && k < step->hi; k++)
		stored[k] = version;
	weight_tags(m, step->source, slab->kind, step->node, step->lo, step->hi, version, !write);
	move(m, write, sums ? WC_CLASS_WEIGHT_GRADIENT : WC_CLASS_WEIGHT, round_up(filter * (uint64_t)(step->hi - step->lo), m->bus),
	     filter * (uint64_t)(step->hi - step->lo));
}

static void run_transfer(struct machine *m, const struct step *step)
{
	const struct slab *slab = slab_at(m, step->source);
	bool write = step->op == STEP_STORE || step->op == STEP_KEEP, boundary = step->op == STEP_TAKE || step->op == STEP_KEEP;
	uint8_t **memory = boundary ? m->boundary : m->dram;
	uint64_t rows = (uint64_t)step->sample_count * (uint64_t)(step->hi - step->lo);
	static const enum wc_class classes[] = { [SLAB_ACT] = WC_CLASS_ACTIVATION, [SLAB_GRAD] = WC_CLASS_GRADIENT, [SLAB_MASK] = WC_CLASS_MASK };
	enum sched_tensor tensor;

	if (slab->kind == SLAB_WEIGHT || slab->kind == SLAB_WGRAD) {
		run_weight_transfer(m, step, slab);
		return;
	}
	tensor = slab->kind == SLAB_ACT ? SCHED_ACT : slab->kind == SLAB_GRAD ? SCHED_GRAD : SCHED_MASK;
	for (int n = step->sample_first; n < step->sample_first + step->sample_count; n++) {
		for (int y = step->lo; y < step->hi; y++) {
			uint8_t *there = &memory[slab->kind][at(m, step->node, n, y)];

			if (write)
				*there = 1;
			else
				cr_assert_eq(*there, 1, "step %d: sample %d row %d of node %d is not in memory", m->index, n, y, step->node);
		}
	}
	rows_tags(m, step->source, slab->kind, step->node, step->lo, step->hi, !write);
	move(m, write, boundary ? WC_CLASS_BOUNDARY : slab->kind == SLAB_ACT && step->node == 0 ? WC_CLASS_IO : classes[slab->kind],
	     rows * slab->pitch_bytes, rows * rows_payload_bytes(m->net, tensor, step->node));
}

static void tiles(struct machine *m, int64_t rows, int64_t columns)
{
	for (int64_t i = 0; i < rows; i += m->acc_rows)
		for (int64_t j = 0; j < columns; j += m->program->schedule->cols)
			m->sums->commands++;
}

static void run_forward(struct machine *m, const struct step *step)
{
	const struct net_node *node = &m->net->nodes[step->node];
	struct rows read = rows_of_input(node, (struct rows){ step->lo, step->hi });
	bool last_slice = step->channel_hi == node->out.channels;

	// Channel slices of one row make the row together: only the last one's row counts as written.
	rows_tags(m, step->source, SLAB_ACT, node->inputs[0], read.lo, read.hi, false);
	if (node->op == NET_CONV) {
		weight_tags(m, step->operand, SLAB_WEIGHT, step->node, step->channel_lo, step->channel_hi, 0, false);
		tiles(m, (int64_t)step->sample_count * (step->hi - step->lo) * node->out.width, step->channel_hi - step->channel_lo);
	} else {
		m->sums->commands++;
	}
	if (step->mask >= 0)
		rows_tags(m, step->mask, SLAB_MASK, step->node, step->lo, step->hi, true);
	if (last_slice)
		rows_tags(m, step->result, SLAB_ACT, step->node, step->lo, step->hi, true);
}

static void run_data_gradient(struct machine *m, const struct step *step)
{
	const struct net_node *node = &m->net->nodes[step->node];
	struct rows read = rows_of_gradient(node, (struct rows){ step->lo, step->hi });

	cr_assert_eq(step->source < 0, rows_empty(read));
	if (step->source >= 0)
		rows_tags(m, step->source, SLAB_GRAD, step->node, read.lo, read.hi, false);
	if (node->op == NET_RELU) {
		rows_tags(m, step->operand, step->with == SCHED_WITH_MASK ? SLAB_MASK : SLAB_ACT, step->node, step->lo, step->hi, false);
		m->sums->commands++;
	} else {
		weight_tags(m, step->operand, SLAB_WEIGHT, step->node, 0, node->out.channels, 0, false);
		for (int ry = 0; ry < node->conv.stride_h; ry++) {
			for (int rx = 0; rx < node->conv.stride_w; rx++) {
				int64_t pixels = 0;

				for (int y = step->lo; y < step->hi; y++)
					for (int x = 0; x < node->in.width; x++)
						pixels += y % node->conv.stride_h == ry && x % node->conv.stride_w == rx;
				tiles(m, pixels * step->sample_count, node->in.channels);
			}
		}
	}
	rows_tags(m, step->result, SLAB_GRAD, node->inputs[0], step->lo, step->hi, true);
}

static void run_weight_gradient(struct machine *m, const struct step *step)
{
	const struct net_node *node = &m->net->nodes[step->node];
	struct rows read = rows_of_input(node, (struct rows){ step->lo, step->hi });

	int *summed = &m->summed[step->node * m->channels_max];

	cr_assert_eq(step->cut, m->cuts[step->node]);
	cr_assert_eq(step->first_cut, step->cut == 0);
	rows_tags(m, step->source, SLAB_GRAD, step->node, step->lo, step->hi, false);
	rows_tags(m, step->operand, SLAB_ACT, node->inputs[0], read.lo, read.hi, false);
	if (!step->first_cut)
		weight_tags(m, step->result, SLAB_WGRAD, step->node, step->channel_lo, step->channel_hi, step->cut, false);
	weight_tags(m, step->result, SLAB_WGRAD, step->node, step->channel_lo, step->channel_hi, step->cut + 1, true);
	tiles(m, step->channel_hi - step->channel_lo, (int64_t)node->in.channels * node->conv.kernel_h * node->conv.kernel_w);
	for (int k = step->channel_lo; k < step->channel_hi; k++)
		cr_assert_eq(++summed[k], step->cut + 1, "step %d: channel %d in cut %d", m->index, k, step->cut);
	if (step->channel_hi < node->out.channels)
		return;
	m->cuts[step->node]++;
	for (int n = step->sample_first; n < step->sample_first + step->sample_count; n++) {
		for (int y = step->lo; y < step->hi; y++) {
			cr_assert_eq(m->accumulated[at(m, step->node, n, y)]++, 0, "step %d: sample %d row %d again", m->index, n, y);
			m->sums->weight_gradient_rows++;
		}
	}
}

static void run_step(struct machine *m, const struct step *step)
{
	switch (step->op) {
	case STEP_FORWARD:
		run_forward(m, step);
		break;
	case STEP_DATA_GRADIENT:
		run_data_gradient(m, step);
		break;
	case STEP_WEIGHT_GRADIENT:
		run_weight_gradient(m, step);
		break;
	default:
		run_transfer(m, step);
	}
}

// The output is whole; every sum that exists is in DRAM with all its cuts.
static void check_end(const struct machine *m)
{
	const struct schedule *schedule = m->program->schedule;
	int last = m->net->node_count - 1;
	bool backward = schedule->groups[schedule->group_count - 1].phase == SCHED_BACKWARD;

	for (int n = 0; n < schedule->batch; n++)
		for (int y = 0; y < m->net->nodes[last].out.height; y++)
			cr_assert_eq(m->dram[SLAB_ACT][at(m, last, n, y)], 1, "output sample %d row %d is not stored", n, y);
	for (int i = 0; i <= last && backward; i++) {
		const struct net_node *node = &m->net->nodes[i];

		for (int k = 0; node->op == NET_CONV && k < node->out.channels; k++)
			cr_assert(m->cuts[i] > 0 && m->stored[i * m->channels_max + k] == m->cuts[i], "node %d channel %d: %d of %d cuts stored",
				  i, k, m->stored[i * m->channels_max + k], m->cuts[i]);
		for (int n = 0; node->op == NET_CONV && n < schedule->batch; n++)
			for (int y = 0; y < node->out.height; y++)
				cr_assert_eq(m->accumulated[at(m, i, n, y)], 1, "node %d sample %d row %d not accumulated", i, n, y);
	}
}

void machine_run(const struct program *program, int acc_rows, struct machine_sums *sums)
{
	const struct schedule *schedule = program->schedule;
	const struct net *net = program->net;
	struct machine m = { .program = program, .net = net, .bus = schedule->bus_bytes, .acc_rows = acc_rows, .sums = sums };
	size_t rows;

	memset(sums, 0, sizeof(*sums));
	for (int i = 0; i < net->node_count; i++) {
		m.rows_max = net->nodes[i].out.height > m.rows_max ? net->nodes[i].out.height : m.rows_max;
		m.channels_max = net->nodes[i].out.channels > m.channels_max ? net->nodes[i].out.channels : m.channels_max;
	}
	rows = (size_t)net->node_count * (size_t)schedule->batch * (size_t)m.rows_max;
	m.buffer = calloc(schedule->buffer_bytes / m.bus, sizeof(*m.buffer));
	for (int kind = 0; kind < FEATURE_KINDS; kind++) {
		m.dram[kind] = calloc(rows, 1);
		m.boundary[kind] = calloc(rows, 1);
	}
	m.accumulated = calloc(rows, 1);
	m.summed = calloc((size_t)net->node_count * (size_t)m.channels_max, sizeof(*m.summed));
	m.stored = calloc((size_t)net->node_count * (size_t)m.channels_max, sizeof(*m.stored));
	m.cuts = calloc((size_t)net->node_count, sizeof(*m.cuts));
	// The host provides the images and the gradient of the output.
	for (int n = 0; n < schedule->batch; n++) {
		memset(&m.dram[SLAB_ACT][at(&m, 0, n, 0)], 1, (size_t)m.rows_max);
		memset(&m.dram[SLAB_GRAD][at(&m, net->node_count - 1, n, 0)], 1, (size_t)m.rows_max);
	}
	for (m.index = 0; m.index < program->step_count; m.index++)
		run_step(&m, &program->steps[m.index]);
	check_end(&m);
	sums->read_bytes[WC_CLASS_COMMAND] = sums->payload_bytes[WC_CLASS_COMMAND] = sums->commands * ACCOUNT_COMMAND_BYTES;
	for (int kind = 0; kind < FEATURE_KINDS; kind++) {
		free(m.dram[kind]);
		free(m.boundary[kind]);
	}
	free(m.buffer);
	free(m.accumulated);
	free(m.summed);
	free(m.stored);
	free(m.cuts);
}
