// SPDX-License-Identifier: Apache-2.0
//
// The observer's probe: see probes.h.
#include "csim/rtl/shim/probes.h"

#include <string.h>

// 16-bit lanes to one word each.
static void widen(const uint32_t *words, int count, uint32_t *lanes)
{
	for (int i = 0; i < count; i++)
		lanes[i] = words[i / 2] >> 16 * (i % 2) & 0xffff;
}

static int report_operands(const struct probes *probes, const struct wc_observer *observer, uint64_t cycle)
{
	const struct taps *t = probes->taps;
	uint32_t lanes[PROBE_LANES];
	int ret = 0;

	if (*t->events & TAP_FEED_B) {
		widen(t->feed_b_bits, probes->state->cols, lanes);
		ret = observer->probe(observer->context, &(struct wc_probe){
			.kind = WC_PROBE_OPERAND_B,
			.core = probes->taps->core,
			.cycle = cycle,
			.command_index = *t->feed_b_cmd,
			.wave = (int)*t->feed_b_wave,
			.index = (int)*t->feed_b_k,
			.count = probes->state->cols,
			.bits = lanes,
		});
	}
	if (!ret && (*t->events & TAP_FEED_A)) {
		widen(t->feed_a_bits, probes->state->rows, lanes);
		ret = observer->probe(observer->context, &(struct wc_probe){
			.kind = WC_PROBE_OPERAND_A,
			.core = probes->taps->core,
			.cycle = cycle,
			.command_index = *t->wave_cmd,
			.wave = (int)*t->wave_index,
			.index = (int)*t->feed_a_row,
			.count = probes->state->rows,
			.bits = lanes,
		});
	}
	return ret;
}

static int report_accumulator(const struct probes *probes, const struct wc_observer *observer, uint64_t cycle)
{
	const struct taps *t = probes->taps;
	const struct faults *f = probes->faults;
	uint32_t lanes[PROBE_LANES];

	memcpy(lanes, t->acc_bits, sizeof *lanes * (size_t)probes->state->cols);
	if (f->fault.kind == WC_FAULT_ACCUMULATOR && f->due)
		lanes[f->fault.column] ^= 1u << f->fault.bit % 32;
	return observer->probe(observer->context, &(struct wc_probe){
		.kind = WC_PROBE_ACCUMULATOR,
		.core = probes->taps->core,
		.cycle = cycle,
		.command_index = *t->acc_cmd,
		.wave = (int)*t->acc_wave,
		.index = (int)*t->acc_row,
		.count = probes->state->cols,
		.bits = lanes,
	});
}

// Give every vector on its way the sum that it has at this moment; report the oldest if it is through.
static int report_column(struct probes *probes, const struct wc_observer *observer, uint64_t cycle)
{
	int rows = probes->state->rows, stages = probes->mac_stages;
	uint32_t column[PROBE_LANES];
	struct probe_vector *oldest;

	if (probes->head == probes->tail)
		return 0;
	state_column(probes->state, observer->probe_column, column);
	for (uint32_t i = probes->head; i != probes->tail; i++) {
		struct probe_vector *v = &probes->vectors[i % PROBE_VECTORS];
		int age = (int)(cycle - v->entered) - observer->probe_column;

		if (age >= stages && age % stages == 0 && age / stages <= rows)
			v->sums[age / stages - 1] = column[age / stages - 1];
	}
	oldest = &probes->vectors[probes->head % PROBE_VECTORS];
	if ((int)(cycle - oldest->entered) < rows * stages + observer->probe_column)
		return 0;
	probes->head++;
	return observer->probe(observer->context, &(struct wc_probe){
		.kind = WC_PROBE_COLUMN,
		.core = probes->taps->core,
		.cycle = cycle,
		.command_index = oldest->command_index,
		.wave = oldest->wave,
		.index = oldest->row,
		.count = rows,
		.bits = oldest->sums,
	});
}

int probes_report(struct probes *probes, const struct wc_observer *observer, uint64_t cycle)
{
	const struct taps *t = probes->taps;
	int ret = report_operands(probes, observer, cycle);

	if (*t->events & TAP_FEED_A) {
		struct probe_vector *v = &probes->vectors[probes->tail++ % PROBE_VECTORS];

		v->entered = cycle;
		v->command_index = *t->wave_cmd;
		v->wave = (int)*t->wave_index;
		v->row = (int)*t->feed_a_row;
	}
	if (!ret)
		ret = report_column(probes, observer, cycle);
	if (!ret && (*t->events & TAP_ACCUMULATE))
		ret = report_accumulator(probes, observer, cycle);
	return ret;
}
