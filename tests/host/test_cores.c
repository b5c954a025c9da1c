// SPDX-License-Identifier: Apache-2.0
//
// Rule: several cores split the mini-batch, and add up their gradients of parameters as core 0 + core 1. Outputs, losses and data gradients have the
// bits of one core's, every class of DRAM traffic its predicted bytes, and a fault is found in the core where it is.
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"
#include "rig.h"
#include "traces/npy.h"
#include "whole_net.h"

enum { CORES = 2, BATCH = 6 };

static void start(struct rig *rig, const char *planner, int cores)
{
	rig_start_cores(rig, whole_net, planner, cores, 8, 4, BATCH, 16384, 16, 7);
	cr_assert(rig->planned, "%s: %s", planner, rig->err.text);
}

// The tensors that both made whole have the same bits.
static void expect_same(const struct run_result *one, const struct run_result *several, const char *planner)
{
	int same = 0;

	for (int i = 0; i < one->digest_count; i++)
		for (int j = 0; j < several->digest_count; j++)
			if (one->digests[i].kind == several->digests[j].kind && one->digests[i].node == several->digests[j].node) {
				cr_expect_eq(one->digests[i].crc, several->digests[j].crc, "%s: node %d", planner, one->digests[i].node);
				same++;
			}
	cr_expect_gt(same, 10, "%s", planner);
}

Test(cores, have_the_bits_of_one_and_the_predicted_bytes)
{
	for (int i = 0; i < RIG_PLANNERS; i++) {
		struct rig one, several;

		start(&one, rig_planners[i], 1);
		start(&several, rig_planners[i], CORES);
		rig_train(&one);
		rig_train(&several);
		rig_expect_right(&one, rig_run(&one));
		rig_expect_right(&several, rig_run(&several));
		cr_expect_eq(one.result.loss, several.result.loss, "%s", rig_planners[i]);
		expect_same(&one.result, &several.result, rig_planners[i]);
		cr_expect_eq(several.result.counts.tiles % CORES, 0, "%s", rig_planners[i]);
		rig_stop(&one);
		rig_stop(&several);
	}
}

Test(cores, reduce_without_an_update)
{
	for (int i = 0; i < RIG_PLANNERS; i++) {
		struct rig rig;

		start(&rig, rig_planners[i], CORES);
		rig_expect_right(&rig, rig_run(&rig));
		rig_stop(&rig);
	}
}

static void read_floats(struct npy_array *array, const char *dir, const char *name)
{
	char path[256];
	struct wc_error err;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	cr_assert_eq(npy_read_types(path, 1u << NPY_FLOAT32, array, &err), 0, "%s", err.text);
}

// What a core's half of the batch gives alone, added in fp32, is what both dump together: baseline makes one cut of each half.
Test(cores, dump_the_sum_of_their_gradients)
{
	static const struct {
		const char *name;
		uint64_t count;
	} files[] = {{"c1.weight_gradient.krsc.npy", 12 * 27}, {"c1.bias_gradient.npy", 12}, {"n1.gamma_gradient.npy", 12}, {"n2.beta_gradient.npy", 12},
		     {"f2.weight_gradient.krsc.npy", 35}, {"f2.bias_gradient.npy", 5}};
	char dirs[3][32] = {"/tmp/wc-cores-XXXXXX", "/tmp/wc-cores-XXXXXX", "/tmp/wc-cores-XXXXXX"};
	struct rig whole, half;

	start(&whole, "baseline", CORES);
	cr_assert(mkdtemp(dirs[2]));
	whole.options.dump = dirs[2];
	rig_expect_right(&whole, rig_run(&whole));
	for (int core = 0; core < CORES; core++) {
		const size_t image = 2 * 13 * 11 * 3 * (BATCH / CORES);

		rig_start_cores(&half, whole_net, "baseline", 1, 8, 4, BATCH / CORES, 16384, 16, 7);
		cr_assert(half.planned);
		memcpy(half.data.images, (const uint8_t *)whole.data.images + (size_t)core * image, image);
		memcpy(half.data.labels, whole.data.labels + core * BATCH / CORES, BATCH / CORES * sizeof(*half.data.labels));
		// The loss is the mean over the batch.
		half.data.loss_scale = whole.data.loss_scale / CORES;
		cr_assert(mkdtemp(dirs[core]));
		half.options.dump = dirs[core];
		rig_expect_right(&half, rig_run(&half));
		rig_stop(&half);
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct npy_array arrays[3];

		for (int j = 0; j < 3; j++)
			read_floats(&arrays[j], dirs[j], files[i].name);
		const float *sum = arrays[0].data, *added = arrays[1].data, *both = arrays[2].data;

		for (uint64_t j = 0; j < files[i].count; j++)
			cr_assert_eq(sum[j] + added[j], both[j], "%s %" PRIu64, files[i].name, j);
		for (int j = 0; j < 3; j++)
			npy_release(&arrays[j]);
	}
	rig_stop(&whole);
	for (int i = 0; i < 3; i++) {
		char command[128];

		snprintf(command, sizeof(command), "rm -r %s", dirs[i]);
		cr_expect_eq(system(command), 0);
	}
}

// A bit that one core's command reads wrong shows there, at that command.
Test(cores, a_fault_is_found_in_its_core)
{
	for (int core = 0; core < CORES; core++) {
		struct found found;
		struct rig rig;

		start(&rig, "mbs2", CORES);
		rig.options.device.overlap = false;
		find_command(&found, &rig, OP_FORWARD, 3);
		rig.options.fault.device = (struct wc_fault){.kind = WC_FAULT_ACCUMULATOR, .core = core, .command = found.index, .row = 1, .column = 2, .bit = 30};
		cr_assert_eq(rig_run(&rig), WC_ERR_MISMATCH, "%s", rig.err.text);
		cr_expect_eq(rig.result.mismatch.core, core);
		cr_expect_eq(rig.result.mismatch.command, found.index);
		cr_expect_eq(rig.result.mismatch.kind, MISMATCH_TILE);
		cr_expect_eq(rig.result.mismatch.element.sample / (BATCH / CORES), core);
		cr_expect_eq(rig.result.diagnosis.stage, STAGE_ACCUMULATOR, "%s", rig.result.diagnosis.text[0]);
		find_release(&found);
		rig_stop(&rig);
	}
}

// The bytes of core 1's gradients change behind its last store: the reduction's load brings them.
Test(cores, a_wrong_gradient_of_another_core_is_found_by_the_reduction)
{
	struct found found;
	struct rig rig;
	uint64_t address;
	char where[128];

	start(&rig, "baseline", CORES);
	find_command(&found, &rig, OP_FORWARD, 0);
	address = layout_address(&found.layout, LAYOUT_WGRAD, net_find(&rig.net, "f2"), 1, 3);
	layout_describe(&found.layout, address, where, sizeof(where));
	cr_expect_str_eq(where, "weight gradient of f2 of core 1, k 3, r 0, s 0, c 0");
	// Behind the last command of core 1 before the exchange; f2's gradient is the first that is stored.
	for (uint32_t i = 0; i < found.queue.end; i++)
		if (op_queue_at(&found.queue, i)->step < found.program.exchange)
			rig.options.fault.device = (struct wc_fault){.kind = WC_FAULT_MEMORY, .core = 1, .command = i, .address = address, .bit = 4};
	cr_assert_eq(rig_run(&rig), WC_ERR_MISMATCH, "%s", rig.err.text);
	cr_expect_eq(rig.result.mismatch.kind, MISMATCH_LOAD);
	cr_expect_eq(rig.result.mismatch.element.value.kind, SLAB_CORE_GRADIENT);
	cr_expect_eq(rig.result.mismatch.element.at, 3 * 7);
	cr_expect_eq(rig.result.diagnosis.stage, STAGE_MEMORY);
	find_release(&found);
	rig_stop(&rig);
}

static void use_rtl(struct rig *rig)
{
	rig->options.device.kind = DEVICE_RTL;
	rig->options.device.params.mac_stages = 2;
	rig->options.device.rtl = (struct wc_rtl_options){
		.library = "build/rtl/r8c4-b16384-w32-c2-m2-rtl-rand/wc_rtl.so", .latency_cycles = 40, .random_memory = true,
	};
}

// With random latency and back-pressure, so that the cores drift apart.
Test(cores, on_the_rtl)
{
	static const char *const some[] = {"baseline", "mbs2", "2ps", "hybrid"};

	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		struct rig model, rtl;

		rig_start_cores(&model, whole_net, some[i], CORES, 8, 4, BATCH, 16384, 32, 7);
		rig_start_cores(&rtl, whole_net, some[i], CORES, 8, 4, BATCH, 16384, 32, 7);
		cr_assert(model.planned && rtl.planned);
		rig_train(&model);
		rig_train(&rtl);
		use_rtl(&rtl);
		rig_expect_right(&model, rig_run(&model));
		rig_expect_right(&rtl, rig_run(&rtl));
		cr_expect_eq(model.result.loss, rtl.result.loss);
		expect_same(&model.result, &rtl.result, some[i]);

		const uint64_t both = rtl.result.counters[WC_COUNTER_CYCLES];

		// Each part takes as long as the slower core; the causes of a stall and the profile are of both cores.
		cr_expect(rtl.result.cycles < both && rtl.result.cycles >= both / CORES, "%" PRIu64 " of %" PRIu64, rtl.result.cycles, both);
		cr_expect_eq(rig_profile_cycles(&rtl.result.profile), both);
		rig_stop(&model);
		rig_stop(&rtl);
	}
}

// The other core's events of the same cycle do not cover it.
Test(cores, a_fault_is_found_whatever_the_other_core_does)
{
	enum { FAULTS = 60 };
	static const enum op_kind kinds[] = {OP_FORWARD, OP_DATA_GRADIENT, OP_WEIGHT_GRADIENT};

	for (int i = 0; i < FAULTS; i++) {
		struct found found;
		struct rig rig;

		// Another seed, other latencies.
		rig_start_cores(&rig, whole_net, i % 4 < 2 ? "baseline" : "mbs2", CORES, 8, 4, BATCH, 16384, 32, (uint64_t)i);
		cr_assert(rig.planned);
		find_command(&found, &rig, kinds[i % 3], i / 3);
		use_rtl(&rig);
		rig.options.fault.device =
			(struct wc_fault){.kind = WC_FAULT_ACCUMULATOR, .core = i % CORES, .command = found.index, .row = 0, .column = 0, .bit = 30};
		cr_assert_eq(rig_run(&rig), WC_ERR_MISMATCH, "core %d, command %" PRIu32 ": %s", i % CORES, found.index, rig.err.text);
		cr_expect_eq(rig.result.mismatch.core, i % CORES);
		cr_expect_eq(rig.result.mismatch.command, found.index);
		find_release(&found);
		rig_stop(&rig);
	}
}
