// SPDX-License-Identifier: Apache-2.0
//
// Rule: what holds on the C model holds on the RTL: exact results and predicted bytes under every planner, with a random memory too,
// the same cycles for the same seed, and planted faults located by a replay on a second instance.
#include <criterion/criterion.h>
#include <string.h>

#include "rig.h"
#include "whole_net.h"

static const char net_yaml[] = "name: t\ninput: {height: 10, width: 9, channels: 5}\nnodes:\n"
			       "  - {name: c1, op: conv, channels: 18, kernel: 3, pad: 1}\n  - {name: r1, op: relu}\n"
			       "  - {name: c2, op: conv, channels: 20, kernel: [3, 2], pad: [1, 0], stride: 2}\n  - {name: r2, op: relu}\n"
			       "  - {name: c3, op: conv, channels: 7, kernel: 3, pad: 2, dilation: 2}\n";

static void start_net(struct rig *rig, const char *yaml, const char *planner)
{
	rig_start(rig, yaml, planner, 16, 16, 3, 65536, 16, 11);
	cr_assert(rig->planned);
	rig->options.device.kind = DEVICE_RTL;
	rig->options.device.rtl = (struct wc_rtl_options){
		.library = "build/rtl/r16c16-b65536-w16-m1-rtl/wc_rtl.so",
		.latency_cycles = 100,
	};
}

static void start(struct rig *rig, const char *planner)
{
	start_net(rig, net_yaml, planner);
}

// Forward, loss, backward and update of a network with every operator.
Test(rtl, whole_steps_are_exact)
{
	static const char *const planners[] = {"mbs2", "2ps", "hybrid"};
	double loss = 0;

	for (size_t i = 0; i < sizeof(planners) / sizeof(*planners); i++) {
		struct rig rig;

		start_net(&rig, whole_net, planners[i]);
		rig_train(&rig);
		rig.options.device.rtl.random_memory = i == 2;
		rig_expect_right(&rig, rig_run(&rig));
		const uint64_t update_cycles = profile_sum(&rig.result.profile, PROFILE_UPDATE).cycles;

		cr_expect(i == 0 || rig.result.loss == loss);
		cr_expect(update_cycles > 0 && update_cycles < rig.result.cycles);
		loss = rig.result.loss;
		rig_stop(&rig);
	}
}

Test(rtl, every_planner_is_exact_and_repeats_its_cycles)
{
	static const char *const planners[] = {"baseline", "mbs", "overl", "2ps"};

	for (size_t i = 0; i < 4; i++)
		for (int random = 0; random < 2; random++) {
			uint64_t cycles;
			struct rig rig;

			start(&rig, planners[i]);
			rig.options.device.rtl.random_memory = random;
			rig_expect_right(&rig, rig_run(&rig));
			cycles = rig.result.cycles;
			cr_expect_gt(cycles, 0);
			cr_expect_eq(rig.result.counters[WC_COUNTER_BUBBLES], 0);
			rig_expect_right(&rig, rig_run(&rig));
			cr_expect_eq(rig.result.cycles, cycles, "%s", planners[i]);
			rig_stop(&rig);
		}
}

Test(rtl, faults_are_located)
{
	static const struct {
		enum wc_fault_kind kind;
		int wave, row, column, bit;
		enum diagnosis_stage stage;
	} faults[] = {
		{WC_FAULT_WEIGHT, 1, 6, 3, 13, STAGE_PE},
		{WC_FAULT_ACCUMULATOR, 0, 9, 2, 28, STAGE_ACCUMULATOR},
	};

	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		struct rig rig;
		uint32_t command = 0;

		start(&rig, "mbs");
		// The first command that the fault can strike.
		do {
			cr_assert_lt(command, 40);
			rig.options.fault.device = (struct wc_fault){
				.kind = faults[i].kind,
				.command = command++,
				.wave = faults[i].wave,
				.row = faults[i].row,
				.column = faults[i].column,
				.bit = faults[i].bit,
			};
		} while (rig_run(&rig) == 0);
		cr_expect_eq(rig.result.mismatch.command, command - 1);
		cr_expect_eq(rig.result.diagnosis.stage, faults[i].stage, "%s", rig.result.diagnosis.text[0]);
		cr_expect_eq(rig.result.diagnosis.wave, faults[i].wave);
		cr_expect_eq(rig.result.diagnosis.column, faults[i].column);
		if (faults[i].stage == STAGE_PE)
			cr_expect_eq(rig.result.diagnosis.pe_row, faults[i].row);
		cr_expect_gt(rig.result.mismatch.cycle, 0);
		rig_stop(&rig);
	}
}
