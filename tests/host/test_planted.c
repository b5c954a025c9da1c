// SPDX-License-Identifier: Apache-2.0
//
// Rule: a fault in the hardware of any operator, in any phase, stops the run at the first command that it touches: a lane's result in the
// vector unit for all of its programs, an accumulator for the array's tiles. On the C model and on the RTL.
#include <criterion/criterion.h>
#include <string.h>

#include "find.h"
#include "whole_net.h"

static void start(struct rig *rig, enum device_kind kind)
{
	rig_start(rig, whole_net, "2ps", 16, 16, 2, 65536, 16, 5);
	cr_assert(rig->planned, "%s", rig->err.text);
	rig_train(rig);
	rig->options.device.overlap = false;
	rig->options.device.kind = kind;
	if (kind == DEVICE_RTL)
		rig->options.device.rtl = (struct wc_rtl_options){.library = "build/rtl/r16c16-b65536-w16-m1-rtl/wc_rtl.so", .latency_cycles = 20};
}

// Bits from the top of the mantissa on: of a result of which none of them matters (+0 where all is zero, an index), a lower one is tried.
static const int bits[] = {14, 22, 30, 3, 0};

// Whether the run ends at the command.
static bool strike(struct rig *rig, uint32_t index, const struct op *op)
{
	for (size_t i = 0; i < sizeof(bits) / sizeof(*bits); i++)
		for (int column = 0; column < 2; column++) {
			struct wc_fault *fault = &rig->options.fault.device;
			int status;

			*fault = (struct wc_fault){.kind = op_is_tile(op) ? WC_FAULT_ACCUMULATOR : WC_FAULT_LANE, .command = index, .column = column, .bit = bits[i]};
			run_result_release(&rig->result);
			status = rig_run(rig);
			if (status == WC_ERR_MISMATCH) {
				cr_expect_eq(rig->result.mismatch.command, index, "%s of %s: found in command %u, planted in %u", op_name(op),
					     rig->net.nodes[op->node].name, rig->result.mismatch.command, index);
				return true;
			}
			cr_assert_eq(status, 0, "%s", rig->err.text);
		}
	return false;
}

static void strike_all(enum device_kind kind)
{
	struct found found;
	struct rig rig;
	int kinds = 0;

	start(&rig, kind);
	find_all(&found, &rig);
	for (uint32_t i = 0; i < found.queue.end; i++) {
		const struct op *op = op_queue_at(&found.queue, i);

		if (op->kind == OP_LOAD || op->kind == OP_STORE || find_seen_before(&found, i))
			continue;
		kinds++;
		cr_expect(strike(&rig, i, op), "%s of %s, command %u: no fault is seen", op_name(op), rig.net.nodes[op->node].name, i);
	}
	// ReLU and its gradient, the programs of the vector unit, some in both phases; forward, data, weight and bias gradients.
	cr_expect_geq(kinds, 24, "%d", kinds);
	find_release(&found);
	rig_stop(&rig);
}

Test(planted, in_every_operator_of_the_model)
{
	strike_all(DEVICE_MODEL);
}

Test(planted, in_every_operator_of_the_rtl)
{
	strike_all(DEVICE_RTL);
}
