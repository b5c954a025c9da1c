// SPDX-License-Identifier: Apache-2.0
//
// Events of a run in both traces; see trace.h.
#include "driver/host/trace.h"

#include <stdio.h>

int host_trace_open(struct host_trace *trace, const struct wc_device_params *params, const char *device_path, const char *golden_path,
		    enum wct_level level, struct wc_error *err)
{
	int result = 0;

	*trace = (struct host_trace){.cores = params->cores, .rows = params->rows, .cols = params->cols, .acc_rows = params->acc_rows};
	if (device_path)
		result = wct_writer_open(&trace->device, device_path, level, err);
	if (!result && golden_path)
		result = wct_writer_open(&trace->golden, golden_path, level, err);
	return result;
}

void host_trace_program(struct host_trace *trace, const struct program *program)
{
	trace->programs[program->core] = program;
}

int host_trace_device_header(struct host_trace *trace, const char *key, const char *value, struct wc_error *err)
{
	return trace->device ? wct_writer_header(trace->device, key, value, err) : 0;
}

int host_trace_header(struct host_trace *trace, const char *key, const char *value, struct wc_error *err)
{
	int result = host_trace_device_header(trace, key, value, err);

	return !result && trace->golden ? wct_writer_header(trace->golden, key, value, err) : result;
}

static const struct step *step_of(const struct host_trace *trace, const struct op *op)
{
	return &trace->programs[op->core]->steps[op->step];
}

static enum wct_phase phase_of(const struct host_trace *trace, const struct op *op)
{
	const struct step *step = step_of(trace, op);

	switch (step->op) {
	case STEP_LOAD:
	case STEP_STORE:
	case STEP_TAKE:
	case STEP_KEEP:
		return WCT_PHASE_NONE;
	case STEP_WEIGHT_GRADIENT:
	case STEP_BIAS_GRADIENT:
	case STEP_ONES:
	case STEP_REDUCE:
	case STEP_UPDATE:
		return WCT_PHASE_WEIGHT_GRADIENT;
	default:
		return step->phase == SCHED_FORWARD ? WCT_PHASE_FORWARD : WCT_PHASE_DATA_GRADIENT;
	}
}

// An event of a core's command, with its place in the network.
static void start(const struct host_trace *trace, struct wct_event *event, enum wct_kind kind, int core, uint32_t command, const struct op *op,
		  uint64_t cycle, bool has_cycle)
{
	wct_event_init(event, kind);
	event->has_cycle = has_cycle;
	event->cycle = cycle;
	event->command = command;
	if (trace->cores > 1)
		wct_event_set_coord(event, WCT_CORE, core);
	if (!op)
		return;
	event->phase = phase_of(trace, op);
	event->layer = op->node;
	event->layer_name = trace->programs[core]->net->nodes[op->node].name;
	if (!value_is_parameters(op->value.kind)) {
		wct_event_set_coord(event, WCT_SAMPLE, op->sample_first);
		wct_event_set_coord(event, WCT_SAMPLES, op->sample_count);
		wct_event_set_coord(event, WCT_ROW, op->lo);
		wct_event_set_coord(event, WCT_ROWS, op->hi - op->lo);
	}
	wct_event_set_coord(event, WCT_STRIP, step_of(trace, op)->strip);
	if (op_is_tile(op)) {
		const struct net_node *node = &trace->programs[core]->net->nodes[op->node];

		wct_event_set_coord(event, WCT_TILE_M, op_tile_m(op, node, trace->acc_rows));
		wct_event_set_coord(event, WCT_TILE_N, op_tile_n(op, node, trace->cols));
		wct_event_set_coord(event, WCT_M_FIRST, op->m_first);
		wct_event_set_coord(event, WCT_N_FIRST, op->n_first);
	}
	if (op_is_map_tile(op))
		wct_event_set_coord(event, WCT_M_PER_SAMPLE, (int64_t)op->y_count * op->x_count);
	if (op_is_tile(op) && !op_is_map_tile(op))
		wct_event_set_coord(event, WCT_CUT, op->value.stage);
}

static void set_opcode(struct wct_event *event, uint8_t opcode)
{
	static const char *const names[] = {
		[WC_OP_LOAD] = "load",
		[WC_OP_STORE] = "store",
		[WC_OP_GEMM] = "gemm",
		[WC_OP_VECTOR] = "vector",
		[WC_OP_SIMD] = "simd",
	};

	event->command_info.opcode = opcode;
	event->command_info.name = names[opcode];
}

int host_trace_event(struct host_trace *trace, const struct wc_event *event, const struct op *op, bool has_cycle, struct wc_error *err)
{
	struct wct_event out;
	enum wct_kind kind;

	if (!trace->device)
		return 0;
	switch (event->kind) {
	case WC_EVENT_COMMAND_BEGIN:
		kind = WCT_COMMAND_BEGIN;
		break;
	case WC_EVENT_COMMAND_END:
		kind = WCT_COMMAND_END;
		break;
	case WC_EVENT_WAVE_BEGIN:
		kind = WCT_WAVE_BEGIN;
		break;
	case WC_EVENT_WAVE_END:
		kind = WCT_WAVE_END;
		break;
	default:
		kind = WCT_BURST;
		break;
	}
	start(trace, &out, kind, event->core, event->command_index, op, event->cycle, has_cycle);
	if (kind == WCT_BURST) {
		out.burst.address = event->a;
		out.burst.bytes = event->b;
		out.burst.write = event->write;
	} else if (kind == WCT_WAVE_BEGIN || kind == WCT_WAVE_END) {
		out.wave.index = (uint32_t)event->a;
		out.wave.rows = (uint32_t)event->b;
	} else {
		set_opcode(&out, op->command.load.opcode);
	}
	return wct_writer_event(trace->device, &out, err);
}

// The golden side of a command: begin, waves.
static int golden_begin(struct host_trace *trace, uint32_t command, const struct op *op, struct wc_error *err)
{
	struct wct_event out;
	int result;

	start(trace, &out, WCT_COMMAND_BEGIN, op->core, command, op, 0, false);
	set_opcode(&out, op->command.load.opcode);
	result = wct_writer_event(trace->golden, &out, err);
	if (!op_is_tile(op) || wct_writer_level(trace->golden) < WCT_LEVEL_WAVE)
		return result;
	for (int64_t wave = 0; !result && wave < op_waves(op, trace->rows); wave++) {
		start(trace, &out, WCT_WAVE_BEGIN, op->core, command, op, 0, false);
		out.wave.index = (uint32_t)wave;
		out.wave.rows = (uint32_t)op->m_count;
		result = wct_writer_event(trace->golden, &out, err);
		if (result)
			break;
		start(trace, &out, WCT_WAVE_END, op->core, command, op, 0, false);
		out.wave.index = (uint32_t)wave;
		out.wave.rows = (uint32_t)op->m_count;
		result = wct_writer_event(trace->golden, &out, err);
	}
	return result;
}

static int write_result(struct host_trace *trace, bool golden, const struct compare *compare, uint32_t command, const struct op *op, uint64_t cycle,
			bool has_cycle, struct wc_error *err)
{
	const struct compare_tile *tile = &compare->tiles[op->core];
	struct wct_event out;
	char name[128];

	start(trace, &out, op_is_tile(op) ? WCT_TILE : WCT_RESULT, op->core, command, op, cycle, has_cycle && !golden);
	if (op_is_tile(op)) {
		out.tile.rows = (uint32_t)tile->rows;
		out.tile.cols = (uint32_t)op->n_count;
		out.tile.waves = (uint32_t)op_waves(op, trace->rows);
		out.tile.is_fp32 = op_is_fp32(op);
		out.tile.bits = golden ? tile->expected : tile->got;
		out.tile.row_cycles = golden || !has_cycle ? NULL : tile->cycles;
		if (!out.tile.rows)
			return 0;
	} else {
		value_name(compare->net, &op->value, name, sizeof(name));
		out.result.opcode = op->command.load.opcode;
		out.result.name = name;
		out.result.bytes = compare->digest_bytes;
		out.result.digest = golden ? compare->digest_expected : compare->digest_got;
	}
	return wct_writer_event(golden ? trace->golden : trace->device, &out, err);
}

int host_trace_result(struct host_trace *trace, const struct compare *compare, uint32_t command, const struct op *op, uint64_t cycle, bool has_cycle,
		      struct wc_error *err)
{
	int result = 0;

	if (trace->device)
		result = write_result(trace, false, compare, command, op, cycle, has_cycle, err);
	if (!result && trace->golden) {
		struct wct_event out;

		result = golden_begin(trace, command, op, err);
		if (!result)
			result = write_result(trace, true, compare, command, op, 0, false, err);
		start(trace, &out, WCT_COMMAND_END, op->core, command, op, 0, false);
		set_opcode(&out, op->command.load.opcode);
		if (!result)
			result = wct_writer_event(trace->golden, &out, err);
	}
	return result;
}

int host_trace_counter(struct host_trace *trace, const char *name, uint64_t value, struct wc_error *err)
{
	struct wct_event out;

	if (!trace->device)
		return 0;
	wct_event_init(&out, WCT_COUNTER);
	out.counter.name = name;
	out.counter.value = value;
	return wct_writer_event(trace->device, &out, err);
}

int host_trace_close(struct host_trace *trace, const char *ended, struct wc_error *err)
{
	struct wct_writer *writers[] = {trace->device, trace->golden};
	int result = ended ? host_trace_device_header(trace, "ended", ended, err) : 0;

	for (int i = 0; i < 2; i++) {
		if (writers[i] && !result)
			result = wct_writer_finish(writers[i], err);
		wct_writer_free(writers[i]);
	}
	trace->device = trace->golden = NULL;
	return result;
}
