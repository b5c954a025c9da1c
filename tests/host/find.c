// SPDX-License-Identifier: Apache-2.0
#include "find.h"

#include <criterion/criterion.h>

void find_all(struct found *found, struct rig *rig)
{
	const struct program_whole whole = {
		.loss = rig->net.nodes[rig->net.node_count - 1].op == NET_LOSS, .update = rig->expect.optimizer != NULL,
	};

	*found = (struct found){.index = UINT32_MAX};
	cr_assert_eq(program_expand_whole(&found->program, &rig->schedule, &rig->net, whole, &rig->err), 0, "%s", rig->err.text);
	cr_assert_eq(layout_init(&found->layout, &rig->schedule, &rig->net, whole, RUN_RING_ENTRIES, &rig->err), 0);
	cr_assert_eq(wc_memory_init(&found->memory, rig->device.params.bus_bytes, found->layout.region_bytes, &rig->err), 0);
	layout_bind(&found->layout, &found->memory);
	cr_assert_eq(op_queue_init(&found->queue, &rig->err), 0);
	cr_assert_eq(lower_init(&found->lower, &found->program, &found->layout, &rig->device.params, &found->queue, &rig->err), 0);
	for (int step = 0; step < found->program.step_count; step++)
		cr_assert_eq(lower_step(&found->lower, step, &rig->err), 0, "%s", rig->err.text);
}

void find_command(struct found *found, struct rig *rig, enum op_kind kind, int n)
{
	find_all(found, rig);
	for (uint32_t i = 0; i < found->queue.end; i++) {
		const struct op *op = op_queue_at(&found->queue, i);

		if (op->kind == kind && n-- == 0) {
			found->index = i;
			found->op = *op;
		}
	}
	cr_assert_neq(found->index, UINT32_MAX, "no such command");
}

void find_release(struct found *found)
{
	lower_release(&found->lower);
	op_queue_release(&found->queue);
	wc_memory_release(&found->memory);
	layout_release(&found->layout);
	program_release(&found->program);
}

bool find_seen_before(const struct found *found, uint32_t index)
{
	const struct op *op = op_queue_at(&found->queue, index);
	const struct step *step = &found->program.steps[op->step];

	for (uint32_t i = 0; i < index; i++) {
		const struct op *other = op_queue_at(&found->queue, i);
		const struct step *others = &found->program.steps[other->step];

		if (other->kind == op->kind && (op->kind != OP_SIMD || other->command.simd.program == op->command.simd.program) &&
		    other->value.kind == op->value.kind && others->op == step->op && others->phase == step->phase)
			return true;
	}
	return false;
}
