// SPDX-License-Identifier: Apache-2.0
//
// Rule: a whole training step of any network runs under any planner: every value on the way has the golden model's bits, and every class of
// DRAM traffic its predicted bytes, read and written apart. Activations, gradients and losses do not depend on the schedule.
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>

#include "find.h"
#include "rig.h"
#include "whole_net.h"

static uint32_t digest_of(const struct run_result *result, enum collect_kind kind, int node)
{
	for (int i = 0; i < result->digest_count; i++)
		if (result->digests[i].kind == kind && result->digests[i].node == node)
			return result->digests[i].crc;
	return 0;
}

// All that both runs made whole.
static int same_tensors(const struct rig *rig, const struct run_result *first)
{
	int same = 0;

	for (int i = 0; i < rig->result.digest_count; i++) {
		const struct run_digest *digest = &rig->result.digests[i];
		const uint32_t other = digest_of(first, digest->kind, digest->node);

		cr_expect(!other || other == digest->crc, "%s of %s", digest->kind == COLLECT_ACT ? "act" : "grad", rig->net.nodes[digest->node].name);
		same += other != 0;
	}
	return same;
}

Test(whole, a_step_has_the_golden_bits_and_the_predicted_bytes)
{
	static const struct {
		int rows, cols, batch;
		uint32_t buffer, bus;
	} sizes[] = {{8, 4, 3, 16384, 16}, {16, 16, 2, 32768, 32}, {4, 8, 5, 65536, 16}};

	for (size_t size = 0; size < sizeof(sizes) / sizeof(*sizes); size++) {
		struct run_result first;

		for (int i = 0; i < RIG_PLANNERS; i++) {
			struct rig rig;

			rig_start(&rig, whole_net, rig_planners[i], sizes[size].rows, sizes[size].cols, sizes[size].batch, sizes[size].buffer, sizes[size].bus, 7);
			cr_assert(rig.planned, "%s: %s", rig_planners[i], rig.err.text);
			rig_train(&rig);
			rig_expect_right(&rig, rig_run(&rig));
			cr_expect(rig.result.loss > 0 && rig.result.loss < 10, "%g", rig.result.loss);
			if (i == 0) {
				first = rig.result;
				rig.result = (struct run_result){0};
			} else {
				cr_expect_eq(rig.result.loss, first.loss, "%s", rig_planners[i]);
				// All that ends a group is whole under both: of the network's 20 tensors and their gradients many.
				cr_expect_gt(same_tensors(&rig, &first), 10, "%s", rig_planners[i]);
			}
			rig_stop(&rig);
		}
		run_result_release(&first);
	}
}

// Eight lanes: groups of one channel, two, and eleven, which are cut into parts of one.
Test(whole, groups_of_any_width_have_the_golden_bits)
{
	static const char net[] = "name: groups\ninput: {height: 6, width: 5, channels: 3}\nnodes:\n"
				  "  - {name: c1, op: conv, channels: 22, kernel: 3, pad: 1}\n  - {name: n1, op: gn, group_channels: 1}\n"
				  "  - {name: c2, op: conv, channels: 22, kernel: 1}\n  - {name: n2, op: gn, group_channels: 11}\n"
				  "  - {name: c3, op: conv, channels: 10, kernel: 3}\n  - {name: n3, op: gn, group_channels: 2}\n"
				  "  - {name: f1, op: fc, units: 5}\n  - {name: loss, op: loss}\n";

	for (int i = 0; i < 2; i++) {
		struct rig rig;

		rig_start(&rig, net, i ? "2ps" : "baseline", 8, 4, 3, 32768, 16, 11);
		cr_assert(rig.planned, "%s", rig.err.text);
		rig_train(&rig);
		cr_assert_eq(wc_device_lanes(&rig.device.params), 8);
		rig_expect_right(&rig, rig_run(&rig));
		rig_stop(&rig);
	}
}

struct batches {
	struct rig *rig;
	int asked, done;
	double losses[4];
};

// The same images in another order, so that each step differs.
static int next_batch(void *context, int step, struct wc_error *err)
{
	struct batches *batches = context;
	struct data *data = &batches->rig->data;
	const int last = data->batch - 1;
	const int32_t label = data->labels[0];

	(void)err;
	cr_expect_eq(step, ++batches->asked);
	data->labels[0] = data->labels[last];
	data->labels[last] = label;
	return 0;
}

static void step_done(void *context, int step, double loss)
{
	struct batches *batches = context;

	cr_expect_eq(step, batches->done);
	batches->losses[batches->done++] = loss;
}

Test(whole, steps_go_on_from_the_parameters_of_the_last)
{
	double losses[4] = {0};

	for (int i = 0; i < 2; i++) {
		struct rig rig;
		struct batches batches = {.rig = &rig};
		const struct run_training training = {4, next_batch, step_done, &batches};

		rig_start(&rig, whole_net, i ? "hybrid" : "baseline", 8, 8, 3, 32768, 16, 9);
		cr_assert(rig.planned);
		rig_train(&rig);
		rig.options.training = &training;
		cr_assert_eq(rig_run(&rig), 0, "%s; %s", rig.err.text, rig.result.diagnosis.text[0]);
		cr_expect_eq(batches.asked, 3);
		cr_expect_eq(batches.done, 4);
		cr_expect_eq(rig.result.steps, 4);
		for (int step = 0; step < 4; step++)
			cr_expect(step == 0 || batches.losses[step] != batches.losses[step - 1], "step %d changed nothing", step);
		for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++) {
			cr_expect_eq(rig.result.read_bytes[class], 4 * rig.account.read_bytes[class], "%s", wc_class_name(class));
			cr_expect_eq(rig.result.write_bytes[class], 4 * rig.account.write_bytes[class], "%s", wc_class_name(class));
		}
		// The first step's forward pass does not depend on the schedule; the sums of later ones do.
		if (i)
			cr_expect_eq(batches.losses[0], losses[0]);
		losses[0] = batches.losses[0];
		rig_stop(&rig);
	}
}

// A bit of the exponent of element `n` of an operand that is a number.
static bool operand(const struct op *op, int n, uint64_t *address)
{
	for (int i = 0; i < op->operand_count; i++)
		if (op->operands[i].bits >= 16) {
			*address = op->operands[i].base + (uint64_t)(n + 1) * (uint64_t)op->operands[i].bits / 8 - 1;
			return (uint64_t)n < op->operands[i].run;
		}
	return false;
}

// The first element of an operand in which a fault shows: a ReLU, or the largest of several, may come out right all the same.
static bool strike(struct rig *rig, uint32_t index, const struct op *op)
{
	uint64_t address;

	for (int n = 0; operand(op, n, &address); n++) {
		rig->options.fault.device = (struct wc_fault){.kind = WC_FAULT_BUFFER, .command = index, .address = address, .bit = 5};
		if (!rig_run(rig))
			continue;
		cr_expect_geq(rig->result.mismatch.command, index, "%s: before the fault", op_name(op));
		if (rig->result.mismatch.command == index)
			return true;
	}
	return false;
}

Test(whole, a_wrong_operand_of_every_operator_is_found_and_named)
{
	struct found found;
	struct rig rig;
	int kinds = 0;

	rig_start(&rig, whole_net, "2ps", 8, 4, 2, 24576, 16, 5);
	cr_assert(rig.planned);
	rig_train(&rig);
	rig.options.device.overlap = false;
	find_all(&found, &rig);
	for (uint32_t i = 0; i < found.queue.end; i++) {
		const struct op *op = op_queue_at(&found.queue, i);
		const struct diagnosis *diagnosis = &rig.result.diagnosis;

		if (op_is_tile(op) || op->kind == OP_LOAD || op->kind == OP_STORE || !op->operand_count || find_seen_before(&found, i))
			continue;
		kinds++;
		cr_assert(strike(&rig, i, op), "%s of %s", op_name(op), rig.net.nodes[op->node].name);
		cr_expect(diagnosis->stage == STAGE_BUFFER || diagnosis->stage == STAGE_NOT_REPRODUCED, "%s of %s: stage %s: %s", op_name(op),
			  rig.net.nodes[op->node].name, diagnosis_stage_name(diagnosis->stage), diagnosis->text[0]);
	}
	// ReLU and its gradient, 17 programs, some in both phases or of several kinds of values.
	cr_expect_geq(kinds, 20, "%d", kinds);
	find_release(&found);
	rig_stop(&rig);
}
