// SPDX-License-Identifier: Apache-2.0
//
// From the taps of one cycle to the observer's callbacks: see events.h.
#include "csim/rtl/shim/events.h"

#include "wc_commands.h"

static const uint8_t opcodes[TAP_ENGINES] = { WC_OP_LOAD, WC_OP_GEMM, WC_OP_VECTOR, WC_OP_STORE };

void events_set_observer(struct events *events, const struct wc_observer *observer)
{
	events->observer = *observer;
	events->mask = 0;
	if (observer->event)
		events->mask |= TAP_BEGIN | TAP_END;
	if (observer->event && observer->waves)
		events->mask |= TAP_WAVE_BEGIN | TAP_WAVE_END;
	if (observer->tile_row)
		events->mask |= TAP_DRAIN;
}

static int emit(const struct events *events, const struct wc_event *event)
{
	return events->observer.event(events->observer.context, event);
}

static int report_drain(const struct events *events, uint64_t cycle)
{
	const struct taps *t = events->taps;

	return events->observer.tile_row(events->observer.context, &(struct wc_tile_row){
		.cycle = cycle,
		.core = t->core,
		.command_index = *t->drain_cmd,
		.row = *t->drain_row,
		.count = *t->drain_cols,
		.is_fp32 = *t->drain_fp32,
		.bits = t->drain_bits,
	});
}

// Begin or end of commands: one bit per engine.
static int report_commands(const struct events *events, uint64_t cycle, enum wc_event_kind kind, uint32_t engines, const uint32_t *index)
{
	for (int e = 0; e < TAP_ENGINES; e++) {
		bool is_simd = e == TAP_VECTOR && (*events->taps->events & (kind == WC_EVENT_COMMAND_BEGIN ? TAP_BEGIN_SIMD : TAP_END_SIMD));
		int ret;

		if (!(engines >> e & 1))
			continue;
		ret = emit(events, &(struct wc_event){ .kind = kind, .core = events->taps->core, .cycle = cycle, .command_index = index[e],
							.a = is_simd ? WC_OP_SIMD : opcodes[e] });
		if (ret)
			return ret;
	}
	return 0;
}

static int report_wave(const struct events *events, uint64_t cycle, enum wc_event_kind kind)
{
	const struct taps *t = events->taps;

	return emit(events, &(struct wc_event){
		.kind = kind,
		.core = t->core,
		.cycle = cycle,
		.command_index = *t->wave_cmd,
		.a = *t->wave_index,
		.b = *t->wave_rows,
	});
}

int events_report(const struct events *events, uint64_t cycle)
{
	const struct taps *t = events->taps;
	uint32_t now = *t->events & events->mask;
	int ret = 0;

	// What a command produced comes before its end, and ends before what they allow to begin.
	if (now & TAP_DRAIN)
		ret = report_drain(events, cycle);
	if (!ret && (now & TAP_END))
		ret = report_commands(events, cycle, WC_EVENT_COMMAND_END, (now & TAP_END) >> 4, t->end_index);
	if (!ret && (now & TAP_BEGIN))
		ret = report_commands(events, cycle, WC_EVENT_COMMAND_BEGIN, now & TAP_BEGIN, t->begin_index);
	if (!ret && (now & TAP_WAVE_BEGIN))
		ret = report_wave(events, cycle, WC_EVENT_WAVE_BEGIN);
	if (!ret && (now & TAP_WAVE_END))
		ret = report_wave(events, cycle, WC_EVENT_WAVE_END);
	return ret;
}

int events_bursts(const struct events *events, const struct axi_accepted *accepted, int port, uint64_t cycle)
{
	const struct taps *t = events->taps;
	int ret = 0;

	if (accepted->read && axi_id_core(accepted->read_id) == t->core)
		ret = emit(events, &(struct wc_event){
			.kind = WC_EVENT_BURST,
			.core = t->core,
			.cycle = cycle,
			.command_index = axi_id_is_ring(accepted->read_id) ? UINT32_MAX : t->ar_index[port],
			.a = accepted->addr_read,
			.b = accepted->bytes_read,
		});
	if (!ret && accepted->write && axi_id_core(accepted->write_id) == t->core)
		ret = emit(events, &(struct wc_event){
			.kind = WC_EVENT_BURST,
			.core = t->core,
			.cycle = cycle,
			.command_index = t->aw_index[port],
			.write = true,
			.a = accepted->addr_write,
			.b = accepted->bytes_write,
		});
	return ret;
}
