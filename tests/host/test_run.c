// SPDX-License-Identifier: Apache-2.0
//
// Rule: a run says what it did: one that checked no tile fails, one that is stopped keeps what it has, bytes beyond the prediction show,
// and progress runs from 0 to 1.
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "find.h"

static const char net_yaml[] = "name: t\ninput: {height: 8, width: 8, channels: 4}\nnodes:\n"
			       "  - {name: c1, op: conv, channels: 8, kernel: 3, pad: 1}\n  - {name: r1, op: relu}\n"
			       "  - {name: c2, op: conv, channels: 4, kernel: 3, pad: 1}\n";

#define HEADER "schedule 1\nnet t\nbatch 2\ncores 1\narray 8x8\nbuffer 16384\nbus 16\naccounting device\n"

Test(run, that_checks_no_tile_fails)
{
	struct rig rig;

	// It moves rows, and they are right.
	rig_start_text(&rig, net_yaml, HEADER "group forward c1 c2\n  sub_batch 2\n  tiling none\n  strip 0\n    load act:input=0:8\n    store act:input=0:8\n", 1);
	cr_assert_eq(rig_run(&rig), WC_ERR_MISMATCH, "%s", rig.err.text);
	cr_expect_eq(rig.result.counts.tiles, 0);
	cr_expect_gt(rig.result.counts.loads, 0);
	cr_expect_eq(rig.result.mismatch.kind, MISMATCH_NONE);
	cr_expect(strstr(rig.err.text, "checked no tile"), "%s", rig.err.text);
	rig_stop(&rig);
}

struct watch {
	volatile sig_atomic_t stop;
	int calls, stop_at; // 0: never
	double last;
	bool backwards;
};

static void watch(void *context, double fraction)
{
	struct watch *watch = context;

	watch->backwards |= fraction < watch->last || fraction < 0 || fraction > 1;
	watch->last = fraction;
	if (++watch->calls == watch->stop_at)
		watch->stop = 1;
}

static void start(struct rig *rig, struct watch *at)
{
	rig_start(rig, net_yaml, "mbs", 8, 8, 4, 16384, 16, 3);
	cr_assert(rig->planned);
	rig->options.progress = watch;
	rig->options.progress_context = at;
	rig->options.stop = &at->stop;
}

Test(run, progress_goes_from_nothing_to_all)
{
	struct watch at = {0};
	struct rig rig;

	start(&rig, &at);
	rig_expect_right(&rig, rig_run(&rig));
	cr_expect_eq((uint64_t)at.calls, rig.result.commands);
	cr_expect_not(at.backwards);
	cr_expect_float_eq(at.last, 1, 1e-9);
	cr_expect_not(rig.result.stopped);
	rig_stop(&rig);
}

Test(run, that_is_stopped_keeps_what_it_has)
{
	struct watch at = {.stop_at = 20};
	struct rig rig;

	start(&rig, &at);
	cr_assert_eq(rig_run(&rig), WC_ERR_STOPPED, "%s", rig.err.text);
	cr_expect(rig.result.stopped);
	cr_expect_eq(at.calls, 20, "%d", at.calls);
	cr_expect_gt(rig.result.counts.tiles, 0);
	cr_expect_lt(rig.result.commands, rig.account.commands);
	cr_expect_eq(rig.result.mismatch.kind, MISMATCH_NONE);
	// The same problem from its start again.
	at = (struct watch){0};
	rig_expect_right(&rig, rig_run(&rig));
	rig_stop(&rig);
}

Test(run, bytes_beyond_the_prediction_are_measured)
{
	struct rig rig;

	start(&rig, &(struct watch){0});
	// The first load takes four beats more than it should; all values stay right.
	rig.options.fault.in_command = true;
	rig.options.fault.device = (struct wc_fault){.command = 0, .address = offsetof(struct wc_load_command, row_bytes), .bit = 6};
	cr_assert_eq(rig_run(&rig), 0, "%s", rig.err.text);
	for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++) {
		const int64_t more = (int64_t)rig.result.read_bytes[class] - (int64_t)rig.account.read_bytes[class];

		cr_expect(more == 0 || (class == WC_CLASS_IO && (more == 64 || more == -64)), "%s: %d", wc_class_name(class), (int)more);
		cr_expect(class != WC_CLASS_IO || more, "the change did not show");
		cr_expect_eq(rig.result.write_bytes[class], rig.account.write_bytes[class], "%s", wc_class_name(class));
	}
	rig_stop(&rig);
}

// Elements of a command's result.
static uint64_t elements_of(const struct net *net, const struct op *op)
{
	const struct net_node *of = &net->nodes[op->value.node];
	const uint64_t rows = (uint64_t)(op->hi - op->lo);

	if (op_is_tile(op))
		return (uint64_t)op->m_count * (uint64_t)op->n_count;
	if (value_is_filters(op->value.kind))
		return rows * (uint64_t)(net_conv_weights(of) / of->out.channels);
	return rows * (uint64_t)op->sample_count * (uint64_t)of->out.width * (uint64_t)of->out.channels;
}

Test(run, every_element_of_every_result_is_compared)
{
	static const char *const planners[] = {"baseline", "mbs", "overl", "2ps"};

	for (size_t i = 0; i < 4; i++) {
		uint64_t tiles = 0, vectors = 0, loads = 0, stores = 0;
		struct found found;
		struct rig rig;

		rig_start(&rig, net_yaml, planners[i], 8, 8, 3, 16384, 16, 3);
		cr_assert(rig.planned);
		find_all(&found, &rig);
		for (uint32_t k = 0; k < found.queue.end; k++) {
			const struct op *op = op_queue_at(&found.queue, k);
			const uint64_t elements = elements_of(&rig.net, op);

			tiles += op_is_tile(op) ? elements : 0;
			loads += op->kind == OP_LOAD ? elements : 0;
			stores += op->kind == OP_STORE ? elements : 0;
			vectors += op->kind == OP_RELU_GRADIENT ? elements : 0;
			vectors += op->kind == OP_RELU ? elements * (op->command.vector.flags ? 2 : 1) : 0;
		}
		rig_expect_right(&rig, rig_run(&rig));
		cr_expect_eq(rig.result.counts.tile_elements, tiles, "%s", planners[i]);
		cr_expect_eq(rig.result.counts.vector_elements, vectors, "%s", planners[i]);
		cr_expect_eq(rig.result.counts.load_elements, loads, "%s", planners[i]);
		cr_expect_eq(rig.result.counts.store_elements, stores, "%s", planners[i]);
		cr_expect_gt(rig.result.counts.elements, tiles + vectors + loads + stores, "%s: DRAM is compared in the end", planners[i]);
		find_release(&found);
		rig_stop(&rig);
	}
}

Test(run, what_it_stored_is_compared_once_more_in_the_end)
{
	static const struct {
		enum layout_store store;
		int node, sample, row;
	} places[] = {{LAYOUT_ACT, 3, 2, 5}, {LAYOUT_WGRAD, 1, 0, 3}, {LAYOUT_WGRAD, 3, 0, 1}, {LAYOUT_WEIGHT, 3, 0, 2}, {LAYOUT_GRAD, 3, 1, 7}};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct found found;
		struct rig rig;

		rig_start(&rig, net_yaml, "mbs", 8, 8, 3, 65536, 16, 3);
		cr_assert(rig.planned);
		rig.options.device.overlap = false;
		find_all(&found, &rig);
		rig.options.fault.device = (struct wc_fault){
			.kind = WC_FAULT_MEMORY,
			.command = found.queue.end - 1,
			.address = layout_address(&found.layout, places[i].store, places[i].node, places[i].sample, places[i].row),
			.bit = 5,
		};
		cr_assert_eq(rig_run(&rig), WC_ERR_MISMATCH, "%zu: %s", i, rig.err.text);
		// The last command's own store is looked at as its result.
		cr_expect(rig.result.mismatch.kind == MISMATCH_FINAL || rig.result.mismatch.command == found.queue.end - 1, "%zu", i);
		cr_expect_eq(rig.result.mismatch.element.value.kind, layout_kind_of(places[i].store));
		cr_expect_eq(rig.result.mismatch.element.value.node, places[i].node);
		cr_expect_eq(places[i].store == LAYOUT_WEIGHT || places[i].store == LAYOUT_WGRAD ? rig.result.mismatch.element.k : rig.result.mismatch.element.y,
			     places[i].row);
		cr_expect_eq(rig.result.diagnosis.stage, rig.result.mismatch.kind == MISMATCH_FINAL ? STAGE_MEMORY : STAGE_STORE);
		find_release(&found);
		rig_stop(&rig);
	}
}
