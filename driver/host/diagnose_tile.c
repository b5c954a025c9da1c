// SPDX-License-Identifier: Apache-2.0
//
// A wrong element of a GEMM tile, followed wave by wave and PE by PE; see diagnose.h.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "csim/golden/element.h"
#include "csim/golden/half.h"
#include "driver/host/diagnose_internal.h"
#include "driver/host/lower_conv.h"
#include "driver/host/replay.h"

// Where a GEMM's operand lies.
struct operand {
	enum slab_kind kind;
	int node;
	const struct slab *slab; // NULL: none, every value is padding
};

struct search {
	const struct diagnose_context *context;
	const struct mismatch *mismatch;
	struct diagnosis *diagnosis;
	struct operand a, b;
	struct golden_element golden;
	struct replay replay;
	uint32_t replay_preload; // what lies at the preload's address
};

static void set_operands(struct search *search)
{
	const struct program *program = search->context->program;
	const struct op *op = &search->mismatch->op;
	const struct step *step = &program->steps[op->step];
	const struct slab *source = step->source < 0 ? NULL : &program->slabs[step->source], *operand = &program->slabs[step->operand];
	const int input = program->net->nodes[op->node].inputs[0];

	search->a = (struct operand){SLAB_GRAD, op->node, source};
	search->b = (struct operand){SLAB_WEIGHT, op->node, operand};
	if (op->kind == OP_FORWARD)
		search->a = (struct operand){SLAB_ACT, input, source};
	if (op->kind == OP_WEIGHT_GRADIENT)
		search->b = (struct operand){SLAB_ACT, input, operand};
	if (op->kind == OP_BIAS_GRADIENT)
		search->b = (struct operand){SLAB_ONES, op->node, operand};
}

static int forward_account(struct search *search, struct wc_error *err)
{
	struct expect *expect = search->context->expect;
	const int node = search->mismatch->op.node;
	const struct mismatch_element *at = &search->mismatch->element;
	const struct golden_conv conv = expect_conv(expect, node);
	const uint16_t *x = expect_act(expect, expect->net->nodes[node].inputs[0], err);

	return x ? golden_element_grouped_forward(&search->golden, &conv, expect->net->nodes[node].conv.groups, expect->rows, x, expect->data->weights[node],
						  expect->data->bias[node], at->sample, at->y, at->x, at->c, err)
		 : WC_ERR_SYSTEM;
}

// The sum over the channels before, if the tile goes on from one.
static int sums_before(struct search *search, uint32_t *bits, struct wc_error *err)
{
	const struct op *op = &search->mismatch->op;
	const struct mismatch_element *at = &search->mismatch->element;
	struct value before = op->value;
	const uint8_t *values;

	*bits = 0;
	if (!(op->command.gemm.flags & GEMM_PRELOAD))
		return 0;
	before.stage = search->context->program->steps[op->step].channel_lo;
	values = expect_values(search->context->expect, &before, at->sample, at->y, 0, err);
	if (!values)
		return WC_ERR_SYSTEM;
	*bits = value_bits(values, 32, at->at);
	return 0;
}

static int data_gradient_account(struct search *search, struct wc_error *err)
{
	struct expect *expect = search->context->expect;
	const struct op *op = &search->mismatch->op;
	const struct step *step = &search->context->program->steps[op->step];
	const struct mismatch_element *at = &search->mismatch->element;
	const struct golden_conv conv = expect_gradient_conv(expect, op->node);
	const struct net_node *of = &expect->net->nodes[op->node];
	// A fully connected layer's is that of one pixel with all elements as its channels.
	const bool fc = of->op == NET_FC;
	const int element = fc ? (at->y * of->in.width + at->x) * of->in.channels + at->c : at->c;
	uint32_t preload;
	const uint16_t *dy = expect_grad(expect, op->node, err);

	if (!dy || sums_before(search, &preload, err))
		return WC_ERR_SYSTEM;
	if (of->conv.groups > 1)
		return golden_element_grouped_data_gradient(&search->golden, &conv, of->conv.groups, expect->rows, dy, expect->data->weights[op->node],
							    at->sample, at->y, at->x, at->c, err);
	return golden_element_data_gradient_add(&search->golden, &conv, expect->rows, dy, expect->data->weights[op->node], step->channel_lo, step->channel_hi,
						preload, at->sample, fc ? 0 : at->y, fc ? 0 : at->x, element, err);
}

static int parameter_account(struct search *search, struct wc_error *err)
{
	struct expect *expect = search->context->expect;
	const struct op *op = &search->mismatch->op;
	const struct mismatch_element *at = &search->mismatch->element;
	const struct golden_conv conv = expect_conv(expect, op->node);
	const struct net_conv *of = &expect->net->nodes[op->node].conv;
	const struct golden_range cut = expect_sums_of(expect, op->core, op->node)->range;
	// Of the filter of output channel k.
	const int channels = conv.in_c / of->groups, tap = (int)(at->at / (uint64_t)channels), c = (int)(at->at % (uint64_t)channels);
	struct value before = op->value;
	uint32_t preload = 0;
	const uint16_t *x = expect_act(expect, expect->net->nodes[op->node].inputs[0], err), *dy = x ? expect_grad(expect, op->node, err) : NULL;

	if (!dy)
		return WC_ERR_SYSTEM;
	if (before.stage-- > 0) {
		const uint8_t *values = expect_values(expect, &before, 0, at->k, 0, err);

		if (!values)
			return WC_ERR_SYSTEM;
		preload = value_bits(values, 32, at->at);
	}
	if (op->kind == OP_BIAS_GRADIENT)
		return golden_element_bias_gradient(&search->golden, &conv, expect->rows, dy, cut, preload, at->k, err);
	return golden_element_grouped_weight_gradient(&search->golden, &conv, of->groups, expect->rows, x, dy, cut, preload, at->k, tap / of->kernel_w,
						      tap % of->kernel_w, c, err);
}

// The golden account of the element.
static int golden_account(struct search *search, struct wc_error *err)
{
	switch (search->mismatch->op.kind) {
	case OP_FORWARD:
		return forward_account(search, err);
	case OP_DATA_GRADIENT:
		return data_gradient_account(search, err);
	default:
		return parameter_account(search, err);
	}
}

// The element at dense index `at` of an operand's whole tensor.
static struct mismatch_element element_at(const struct search *search, const struct operand *operand, int64_t at)
{
	const struct net *net = search->context->program->net;
	const struct value value = {.kind = operand->kind, .node = operand->node};
	const struct value_shape shape = value_shape_of(net, 1, &value);
	const uint64_t row = (uint64_t)at / shape.count;

	return mismatch_element_at(net, &value, shape.samples ? (int)(row / (uint64_t)shape.rows) : 0, (int)(row % (uint64_t)shape.rows), 0,
				   (uint64_t)at % shape.count);
}

// "0x3c00 (act:relu1 sample 0 y 1 x 2 channel 3)", or that it is padding or the tail of K.
static void name_operand(const struct search *search, const struct operand *operand, int64_t at, uint16_t bits, char *text, size_t size)
{
	char name[256];

	if (at == GOLDEN_PADDING)
		snprintf(name, sizeof(name), "padding");
	else if (at == GOLDEN_TAIL)
		snprintf(name, sizeof(name), "beyond the end of K");
	else if (at == GOLDEN_ONE)
		snprintf(name, sizeof(name), "the constant 1");
	else {
		const struct mismatch_element element = element_at(search, operand, at);

		mismatch_element_name(search->context->program->net, &element, name, sizeof(name));
	}
	snprintf(text, size, "0x%04x (%g, %s)", bits, (double)golden_half_to_float(bits), name);
}

// An operand entered the array wrong: was it wrong in the global buffer already?
static void wrong_operand(struct search *search, const struct operand *operand, bool is_a, int wave, int pe_row, int64_t at, uint16_t got, uint16_t expected)
{
	struct diagnosis *diagnosis = search->diagnosis;
	const struct diagnose_context *context = search->context;
	const char *side = is_a ? "activation" : "weight";
	char name[320];

	diagnosis->wave = wave;
	diagnosis->pe_row = pe_row;
	diagnosis->column = search->mismatch->n;
	name_operand(search, operand, at, expected, name, sizeof(name));
	if (at >= 0 && operand->slab) {
		const struct mismatch_element element = element_at(search, operand, at);
		const uint64_t address = diagnose_buffer_address(context->program, operand->slab, &element);
		uint16_t held;

		memcpy(&held, context->buffer + address, 2);
		diagnosis->address = address;
		diagnosis->has_address = true;
		if (held != expected) {
			const struct layout_place *place = layout_place(context->layout, layout_store_of(operand->kind, false), operand->node);

			diagnosis->stage = STAGE_BUFFER;
			diagnosis_say(diagnosis, "operand in the global buffer: address 0x%" PRIx64 " holds 0x%04x, expected %s", address, held, name);
			if (place->bytes) {
				const uint64_t memory_at = diagnose_memory_address(context, &element);
				char where[WHERE_BYTES];
				uint16_t in_memory;

				memcpy(&in_memory, wc_memory_at((struct wc_memory *)context->memory, memory_at, 2), 2);
				layout_describe(context->layout, memory_at, where, sizeof(where));
				diagnosis_say(diagnosis, "DRAM address 0x%" PRIx64 " (%s) holds 0x%04x: %s", memory_at, where, in_memory,
					      in_memory == expected ? "right, so the buffer changed after it was filled" : "wrong as well, or not yet stored");
			}
			return;
		}
	}
	diagnosis->stage = is_a ? STAGE_FEED_A : STAGE_FEED_B;
	diagnosis_say(diagnosis, "feed of operand %c: %s of PE row %d in wave %d entered the array as 0x%04x, expected %s", is_a ? 'A' : 'B', side, pe_row,
		      wave, got, name);
	diagnosis_say(diagnosis, at >= 0 ? "the global buffer holds the right value: look at the fetcher's walk and the operand buffer"
					 : "nothing is to be read from the global buffer for it: look at the fetcher's padding and tail");
}

static void wrong_pe(struct search *search, int wave, int row)
{
	const struct golden_pe *golden = &search->golden.pes[(size_t)wave * (size_t)search->golden.rows + (size_t)row];
	const struct replay_wave *seen = &search->replay.waves[wave];
	struct diagnosis *diagnosis = search->diagnosis;
	char a[320], b[320];

	diagnosis->stage = STAGE_PE;
	diagnosis->wave = wave;
	diagnosis->pe_row = row;
	diagnosis->column = search->mismatch->n;
	name_operand(search, &search->a, golden->a_at, golden->a, a, sizeof(a));
	name_operand(search, &search->b, golden->b_at, golden->b, b, sizeof(b));
	diagnosis_say(diagnosis, "PE (row %d, column %d), wave %d: partial sum 0x%08" PRIx32 " (%g), expected 0x%08" PRIx32 " (%g)", row, search->mismatch->n,
		      wave, seen->psum[row], (double)golden_float_of(seen->psum[row]), golden->psum, (double)golden_float_of(golden->psum));
	diagnosis_say(diagnosis, "its activation is %s", a);
	diagnosis_say(diagnosis, "its weight is %s; both entered the array right", b);
}

// Follow one wave; true when something in it is wrong.
static bool search_wave(struct search *search, int wave)
{
	const struct golden_pe *golden = &search->golden.pes[(size_t)wave * (size_t)search->golden.rows];
	const struct replay_wave *seen = &search->replay.waves[wave];
	struct diagnosis *diagnosis = search->diagnosis;
	const int rows = search->golden.rows;

	for (int row = 0; row < rows; row++) {
		if (seen->seen_a && golden[row].a_at != GOLDEN_TAIL && seen->a[row] != golden[row].a) {
			wrong_operand(search, &search->a, true, wave, row, golden[row].a_at, seen->a[row], golden[row].a);
			return true;
		}
		if (seen->seen_b == rows && golden[row].b_at != GOLDEN_TAIL && seen->b[row] != golden[row].b) {
			wrong_operand(search, &search->b, false, wave, row, golden[row].b_at, seen->b[row], golden[row].b);
			return true;
		}
	}
	for (int row = 0; seen->seen_psum == rows && row < rows; row++)
		if (seen->psum[row] != golden[row].psum) {
			wrong_pe(search, wave, row);
			return true;
		}
	if (!seen->seen_accumulator || seen->accumulator == search->golden.accumulators[wave])
		return false;
	diagnosis->wave = wave;
	diagnosis->column = search->mismatch->n;
	if (wave == 0 && search->replay_preload != search->golden.preload) {
		diagnosis_at(diagnosis, STAGE_PRELOAD, diagnosis->address);
		diagnosis_say(diagnosis, "preloaded sum in the global buffer: address 0x%" PRIx64 " holds 0x%08" PRIx32 ", expected 0x%08" PRIx32,
			      diagnosis->address, search->replay_preload, search->golden.preload);
		return true;
	}
	diagnosis->stage = STAGE_ACCUMULATOR;
	diagnosis_say(diagnosis, "accumulator: after wave %d row %d column %d is 0x%08" PRIx32 ", expected 0x%08" PRIx32, wave, search->mismatch->m,
		      search->mismatch->n, seen->accumulator, search->golden.accumulators[wave]);
	diagnosis_say(diagnosis, "all %d PEs of the column are right in this wave, and so are the waves before it", rows);
	return true;
}

// The sums in the buffer that the tile starts from. Rows before the one at fault are drained already; they were right.
static void set_preload(struct search *search)
{
	const struct op *op = &search->mismatch->op;
	const struct program *program = search->context->program;

	if (!(op->command.gemm.flags & GEMM_PRELOAD))
		return;
	if (op->command.gemm.flags & GEMM_ONE_ROW)
		search->diagnosis->address = op->command.gemm.pre_base + 4 * (uint64_t)search->mismatch->n;
	else
		search->diagnosis->address =
			diagnose_buffer_address(program, &program->slabs[program->steps[op->step].result], &search->mismatch->element);
	memcpy(&search->replay_preload, search->context->buffer + search->diagnosis->address, 4);
}

void diagnose_tile(const struct diagnose_context *context, const struct mismatch *mismatch, struct diagnosis *diagnosis)
{
	struct search search = {.context = context, .mismatch = mismatch, .diagnosis = diagnosis};
	const struct wc_fault *planted = &context->fault->device;
	const bool here = (planted->kind == WC_FAULT_WEIGHT || planted->kind == WC_FAULT_ACCUMULATOR) && planted->core == mismatch->core &&
			  planted->command == mismatch->command;
	struct wc_error err;

	set_operands(&search);
	set_preload(&search);
	if (replay_run(&search.replay, context->device, context->seed, mismatch->core, context->buffer, &mismatch->op.command, mismatch->m, mismatch->n,
		       here ? planted : NULL, &err)) {
		diagnosis_say(diagnosis, "no replay: %s", err.text);
		return;
	}
	if (golden_account(&search, &err)) {
		diagnosis_say(diagnosis, "no golden account of the element: %s", err.text);
		replay_release(&search.replay);
		return;
	}
	bool found = false;

	for (int wave = 0; !found && wave < search.golden.wave_count && wave < search.replay.wave_count; wave++)
		found = search_wave(&search, wave);
	if (!found && search.replay.seen_drained && search.replay.drained != mismatch->expected) {
		found = true;
		diagnosis->stage = STAGE_DRAIN;
		diagnosis->column = mismatch->n;
		diagnosis_say(diagnosis, "drain: all waves are right, the drained value is 0x%" PRIx32 ", expected 0x%" PRIx32, search.replay.drained,
			      mismatch->expected);
	}
	if (!found) {
		diagnosis->stage = STAGE_NOT_REPRODUCED;
		diagnosis_say(diagnosis, "not reproduced: the tile computed again from the same global buffer is right");
		diagnosis_say(diagnosis, "the fault depends on what ran before or beside it: record the window around the cycle in the first run");
	}
	golden_element_release(&search.golden);
	replay_release(&search.replay);
}
