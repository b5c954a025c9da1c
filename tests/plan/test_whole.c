// SPDX-License-Identifier: Apache-2.0
//
// The loss and the update in the program: what they move and when, whatever the groups beside them.
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "driver/plan/device/program.h"
#include "driver/plan/paper/paper.h"
#include "tests/net_text.h"
#include "tests/plan/common.h"
#include "tests/plan/sound.h"

static const struct program_whole both = { .loss = true, .update = true };

static bool stores(const struct program *program, int index, enum slab_kind kind, int node)
{
	const struct step *step = &program->steps[index];

	return step->op == STEP_STORE && program->slabs[step->source].kind == kind && program->slabs[step->source].node == node;
}

static bool loads(const struct program *program, int index, enum slab_kind kind, int node)
{
	const struct step *step = &program->steps[index];

	return step->op == STEP_LOAD && program->slabs[step->source].kind == kind && program->slabs[step->source].node == node;
}


static int last_store(const struct program *program, enum slab_kind kind, int node)
{
	for (int i = program->step_count - 1; i >= 0; i--)
		if (stores(program, i, kind, node))
			return i;
	return -1;
}

static int find(const struct program *program, enum step_op op)
{
	for (int i = 0; i < program->step_count; i++)
		if (program->steps[i].op == op)
			return i;
	return -1;
}

static void check_frame(const char *what, const struct program *program, const struct step *step, enum sched_phase phase)
{
	cr_assert_eq(step->phase, phase, "%s", what);
	cr_assert(step->group == program->schedule->group_count && step->iteration == -1 && step->strip == -1, "%s", what);
	cr_assert(step->sample_first == 0 && step->sample_count == program->schedule->batch, "%s", what);
}

static void check_slab(const char *what, const struct program *program, int slab, enum slab_kind kind, int lo, int hi)
{
	cr_assert_geq(slab, 0, "%s", what);
	cr_assert_eq(program->slabs[slab].kind, kind, "%s", what);
	cr_assert(program->slabs[slab].lo == lo && program->slabs[slab].hi == hi, "%s: %d:%d of kind %d", what, program->slabs[slab].lo,
		  program->slabs[slab].hi, kind);
}

// Behind all stores of the logits, and before whatever reads their gradient.
static void check_loss(const char *what, const struct program *program)
{
	const int loss = program->net->node_count - 1, output = program->net->nodes[loss].inputs[0], at = find(program, STEP_LOSS);
	const int batch = program->schedule->batch;
	const struct step *step = &program->steps[at];

	cr_assert_geq(at, 0, "%s", what);
	cr_assert(step->node == loss && step->lo == 0 && step->hi == batch, "%s", what);
	check_frame(what, program, step, SCHED_FORWARD);
	check_slab(what, program, step->source, SLAB_ACT, 0, 1);
	check_slab(what, program, step->operand, SLAB_LABELS, 0, batch);
	check_slab(what, program, step->result, SLAB_GRAD, 0, 1);
	check_slab(what, program, step->vectors, SLAB_SOFTMAX, 0, batch);
	check_slab(what, program, step->sums, SLAB_LOSSES, 0, batch);
	cr_assert_eq(program->slabs[step->source].node, output);
	cr_assert_eq(program->slabs[step->result].sample_count, batch);
	// Its own load is the last one of the logits in forward.
	for (int i = 0; i < program->step_count; i++) {
		if (program->steps[i].op == STEP_LOAD && program->steps[i].source == step->source)
			cr_assert_gt(i, last_store(program, SLAB_ACT, output), "%s: the logits are loaded before they are stored", what);
		if (loads(program, i, SLAB_GRAD, output))
			cr_assert_gt(i, last_store(program, SLAB_GRAD, output), "%s: the logits' gradient is loaded before it is stored", what);
	}
	cr_assert_gt(last_store(program, SLAB_GRAD, output), at, "%s", what);
	cr_assert_gt(last_store(program, SLAB_LOSSES, loss), at, "%s", what);
}

static enum slab_kind sums_of(enum parameter_array array)
{
	return array == ARRAY_FILTERS ? SLAB_WGRAD : array == ARRAY_BIAS ? SLAB_BIAS_WGRAD : SLAB_PARAMETERS_WGRAD;
}

static void check_block(const char *what, const struct program *program, int at)
{
	const struct step *step = &program->steps[at];

	check_frame(what, program, step, SCHED_BACKWARD);
	check_slab(what, program, step->source, SLAB_UPDATE_GRADIENT, step->lo, step->hi);
	check_slab(what, program, step->operand, SLAB_UPDATE_STATE, step->lo, step->hi);
	check_slab(what, program, step->result, SLAB_UPDATE_WEIGHT, step->lo, step->hi);
	cr_assert_eq((int)program->slabs[step->source].array, step->part);
	cr_assert_eq((int)program->slabs[step->operand].array, step->part);
	cr_assert_eq((int)program->slabs[step->result].array, step->part);
	cr_assert_gt(program->slabs[step->source].first_step, last_store(program, sums_of((enum parameter_array)step->part), step->node),
		     "%s: the gradient of '%s' is loaded before it is stored", what, program->net->nodes[step->node].name);
	cr_assert(stores(program, program->slabs[step->operand].last_step, SLAB_UPDATE_STATE, step->node), "%s", what);
	cr_assert(stores(program, program->slabs[step->result].last_step, SLAB_UPDATE_WEIGHT, step->node), "%s", what);
}

// Every parameter once, node by node, array by array, in blocks.
static void check_update(const char *what, const struct program *program, int block)
{
	int at = -1;

	for (int node = 0; node < program->net->node_count; node++)
		for (enum parameter_array array = ARRAY_FILTERS; array < ARRAY_COUNT; array++) {
			const int count = (int)program_array_count(&program->net->nodes[node], array);

			for (int lo = 0; lo < count; lo += block) {
				const struct step *step;

				for (at++; at < program->step_count && program->steps[at].op != STEP_UPDATE; at++)
					;
				cr_assert_lt(at, program->step_count, "%s: elements from %d of array %d of '%s'", what, lo, array,
					     program->net->nodes[node].name);
				step = &program->steps[at];
				cr_assert(step->node == node && step->part == (int)array && step->lo == lo && step->hi == (count - lo < block ? count : lo + block),
					  "%s: elements %d:%d of array %d of '%s'", what, step->lo, step->hi, step->part, program->net->nodes[step->node].name);
				check_block(what, program, at);
			}
		}
	for (at++; at < program->step_count; at++)
		cr_assert_neq(program->steps[at].op, STEP_UPDATE, "%s", what);
}

static int block_of(uint32_t buffer_bytes)
{
	int block = 4096;

	while ((uint32_t)block * 18 > buffer_bytes)
		block /= 2;
	return block;
}

static void prove(const char *what, const struct schedule *schedule, const struct net *net)
{
	const bool backward = schedule->groups[schedule->group_count - 1].phase == SCHED_BACKWARD;
	struct program program;
	struct wc_error err = { "" };

	cr_assert_eq(program_expand_whole(&program, schedule, net, both, &err), 0, "%s: %s", what, err.text);
	sound_program(what, &program);
	check_loss(what, &program);
	if (backward)
		check_update(what, &program, block_of(schedule->buffer_bytes));
	else
		cr_assert_eq(find(&program, STEP_UPDATE), -1, "%s", what);
	cr_assert_leq(program.peak_bytes, schedule->buffer_bytes);
	program_release(&program);
}

static void prove_planners(const char *name, const struct plan_options *options)
{
	struct wc_error err = { "" };
	struct net net;

	cr_assert_eq(net_open(&net, name, 0, &err), 0, "%s", err.text);
	for (int i = 0; paper_plan_name(i); i++) {
		struct schedule schedule;
		char what[100];

		snprintf(what, sizeof(what), "%s, %s, buffer %u", name, paper_plan_name(i), options->buffer_bytes);
		cr_assert_eq(plan_by_name(&schedule, paper_plan_name(i), &net, options, &err), 0, "%s: %s", what, err.text);
		prove(what, &schedule, &net);
		schedule_release(&schedule);
	}
	net_release(&net);
}

Test(whole, stands_behind_what_it_reads_and_before_what_reads_it)
{
	struct plan_options options = common_options(5, 64 << 10);

	options.accounting = SCHED_DEVICE;
	prove_planners("lenet", &options);
	options.buffer_bytes = 1 << 20;
	prove_planners("resnet8", &options);
	options.phases = PLAN_FORWARD;
	prove_planners("inception-small", &options);
}

static const char odd_net[] = "name: n\ninput: {height: 6, width: 6, channels: 3}\nnodes:\n"
			      "  - {name: c, op: conv, channels: 37, kernel: 3, pad: 1, bias: true}\n  - {name: g, op: gn, group_channels: 37}\n"
			      "  - {name: p, op: global_pool}\n  - {name: f, op: fc, units: 11}\n  - {name: l, op: loss}\n";

// Whatever fits into the buffer by the rule of blocks, 18 bytes a parameter, is placed, also where arrays end in beats half used.
Test(whole, what_the_buffer_holds_is_placed)
{
	struct wc_error err = { "" };
	struct net net;

	tests_net(&net, odd_net);
	for (uint32_t bus = 16; bus <= 128; bus *= 2)
		for (uint32_t buffer_bytes = 16384; buffer_bytes <= 163840; buffer_bytes += 4096) {
			struct plan_options options = common_options(3, buffer_bytes);
			struct schedule schedule;
			char what[64];

			options.bus_bytes = bus;
			options.accounting = SCHED_DEVICE;
			snprintf(what, sizeof(what), "bus %u, buffer %u", bus, buffer_bytes);
			if (plan_by_name(&schedule, "baseline", &net, &options, &err)) {
				cr_assert(strstr(err.text, "cannot fit"), "%s: %s", what, err.text);
				continue;
			}
			prove(what, &schedule, &net);
			schedule_release(&schedule);
		}
	net_release(&net);
}

Test(whole, a_batch_whose_logits_do_not_fit_is_refused)
{
	static const char text[] = "schedule 1\nnet n\nbatch 100\narray 16x16\nbuffer 4096\nbus 16\ngroup forward p l\nsub_batch 1\nstrip 0\n"
				   "load act:input=0:1\ncompute act:p=0:1\nstore act:p=0:1\n";
	struct wc_error err = { "" };
	struct schedule schedule;
	struct program program;
	struct net net;

	tests_net(&net, "name: n\ninput: {height: 1, width: 1, channels: 8}\nnodes:\n  - {name: p, op: global_pool}\n  - {name: l, op: loss}\n");
	cr_assert_eq(common_read(&schedule, &net, text, strlen(text), &err), 0, "%s", err.text);
	cr_assert_eq(program_expand(&program, &schedule, &net, &err), 0, "%s", err.text);
	cr_assert_eq(find(&program, STEP_LOSS), -1);
	program_release(&program);
	cr_assert_eq(program_expand_whole(&program, &schedule, &net, both, &err), WC_ERR_INPUT);
	cr_assert_str_eq(err.text, "cannot fit layer 'l' in the loss of the batch: needs 5200 bytes, buffer has 4096");
	schedule_release(&schedule);
	net_release(&net);
}

// With room for two blocks, each one's loads are listed before the update of the one before.
Test(whole, blocks_are_loaded_ahead_where_there_is_room)
{
	static const struct { uint32_t buffer_bytes; int ahead; } cases[] = { { 147456, 2 * 8 }, { 65536, 2 * 17 } };
	struct wc_error err = { "" };
	struct net net;

	// 64 x 64 x 9 filters.
	tests_net(&net, "name: n\ninput: {height: 2, width: 2, channels: 64}\nnodes:\n  - {name: c, op: conv, channels: 64, kernel: 3, pad: 1}\n"
			"  - {name: p, op: global_pool}\n  - {name: l, op: loss}\n");
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct plan_options options = common_options(1, cases[k].buffer_bytes);
		struct schedule schedule;
		struct program program;
		int ahead = 0, update = -1;

		options.accounting = SCHED_DEVICE;
		common_plan(&schedule, "baseline", &net, &options);
		cr_assert_eq(program_expand_whole(&program, &schedule, &net, both, &err), 0, "%s", err.text);
		for (int i = 0; i < program.step_count; i++) {
			const struct step *step = &program.steps[i];

			if (step->op != STEP_UPDATE)
				continue;
			ahead += update >= 0 && program.slabs[step->source].first_step < update;
			ahead += update >= 0 && program.slabs[step->operand].first_step < update;
			update = i;
		}
		cr_expect_eq(ahead, cases[k].ahead, "buffer %u: %d", cases[k].buffer_bytes, ahead);
		program_release(&program);
		schedule_release(&schedule);
	}
	net_release(&net);
}
