// SPDX-License-Identifier: Apache-2.0
//
// The comparison: read both traces in turn, pair their events, keep the first divergence, count everything.
#include "traces/wct_diff.h"

#include <inttypes.h>
#include <string.h>

#include "traces/wct_align.h"
#include "traces/wct_compare.h"
#include "traces/wct_reader.h"

enum { GOT, EXPECTED, SIDES, OPCODES = 16, CORES = 8 };

// What must agree for two traces to be of the same run. Backend, arithmetic and the like may differ.
static const char *const identity_keys[] = { "net", "batch", "schedule", "array", "buffer", "bus", "seed", "cores" };

// In which order events of one command explain each other.
static const uint8_t kind_order[WCT_KIND_END] = {
	[WCT_COMMAND_BEGIN] = 0, [WCT_BURST] = 1, [WCT_WAVE_BEGIN] = 2,	[WCT_WAVE_END] = 3,  [WCT_TILE] = 4,
	[WCT_RESULT] = 5,	 [WCT_COMMAND_END] = 6, [WCT_HIGH_WATER] = 7, [WCT_COUNTER] = 8, [WCT_HEADER] = 9,
};

// A divergence's place in the order; the smallest is the first.
struct rank {
	bool is_beyond_end; // one trace stops before it
	uint32_t command;
	uint8_t kind;
	int32_t layer;
	uint64_t sequence;
};

struct side {
	const char *path;
	struct wct_reader *reader;
	bool is_done;
	uint32_t kinds;
	// How far the trace goes: 1 + the highest command by kind, engine and core, as each engine works in order.
	uint64_t span[WCT_KIND_END][OPCODES][CORES];
};

struct diff {
	struct side sides[SIDES];
	struct wct_align align;
	const struct wct_diff_options *options;
	struct wct_diff_report *report;
	struct rank first_rank; // of report->first
	struct wc_error *err;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static bool rank_before(const struct rank *a, const struct rank *b)
{
	int order = compare_numbers(a->is_beyond_end, b->is_beyond_end);

	if (!order)
		order = compare_numbers(a->command, b->command);
	if (!order)
		order = compare_numbers(a->kind, b->kind);
	if (!order)
		order = compare_numbers((uint32_t)a->layer, (uint32_t)b->layer);
	if (!order)
		order = compare_numbers(a->sequence, b->sequence);
	return order < 0;
}

static void note(struct diff *diff, const struct wct_divergence *divergence, uint64_t sequence, bool is_beyond_end)
{
	struct rank rank = {
		.is_beyond_end = is_beyond_end,
		.command = divergence->command,
		.kind = kind_order[divergence->kind],
		.layer = divergence->layer,
		.sequence = sequence,
	};

	if (diff->report->first.difference != WCT_SAME && !rank_before(&rank, &diff->first_rank))
		return;
	diff->report->first = *divergence;
	diff->first_rank = rank;
}

static uint32_t engine_of(const struct wct_event *event)
{
	uint32_t opcode = 0;

	if (event->kind == WCT_COMMAND_BEGIN || event->kind == WCT_COMMAND_END)
		opcode = event->command_info.opcode;
	else if (event->kind == WCT_RESULT)
		opcode = event->result.opcode;
	return opcode % OPCODES;
}

static uint64_t *span_of(struct side *side, const struct wct_event *event)
{
	const uint64_t core = wct_event_has_coord(event, WCT_CORE) ? (uint64_t)event->coord[WCT_CORE] : 0;

	return &side->span[event->kind][engine_of(event)][core % CORES];
}

static bool is_comparable(const struct diff *diff, int side, const struct wct_event *event)
{
	const struct side *other = &diff->sides[!side];

	if (!(other->kinds >> event->kind & 1) || event->level > wct_reader_level(other->reader))
		return false;
	if (diff->options->timing)
		return true;
	return event->kind != WCT_COUNTER && (event->kind != WCT_BURST || event->command != WCT_NO_COMMAND);
}

static int compare_headers(struct diff *diff, const struct wct_event *got, const struct wct_event *expected)
{
	for (size_t i = 0; i < sizeof(identity_keys) / sizeof(*identity_keys); i++) {
		if (!strcmp(got->header.key, identity_keys[i]) && strcmp(got->header.value, expected->header.value))
			return wc_fail(diff->err, WC_ERR_INPUT, "traces of different runs: %s is '%.80s' in '%.120s' and '%.80s' in '%.120s'",
				       got->header.key, got->header.value, diff->sides[GOT].path, expected->header.value,
				       diff->sides[EXPECTED].path);
	}
	return 0;
}

static int compare_pair(struct diff *diff, struct wct_queue *queue, const struct wct_event *got, const struct wct_event *expected)
{
	struct wct_divergence divergence;
	uint64_t elements, sequence = queue->matched++;

	if (got->kind == WCT_HEADER)
		return compare_headers(diff, got, expected);
	diff->report->compared[got->kind]++;
	if (!wct_compare(got, expected, diff->options->timing, &divergence, &elements)) {
		diff->report->differing[got->kind]++;
		note(diff, &divergence, sequence, false);
	}
	diff->report->elements_compared += elements;
	return 0;
}

static int out_of_memory(struct diff *diff)
{
	return wc_fail(diff->err, WC_ERR_SYSTEM, "cannot compare traces: out of memory");
}

static int take_event(struct diff *diff, int side, const struct wct_event *event)
{
	struct wct_pending *pending;
	struct wct_queue *queue;
	int ret;

	if (!is_comparable(diff, side, event)) {
		(side == GOT ? diff->report->not_compared_got : diff->report->not_compared_expected)[event->kind]++;
		return 0;
	}
	if (event->command != WCT_NO_COMMAND) {
		uint64_t *span = span_of(&diff->sides[side], event);

		if (*span <= event->command)
			*span = (uint64_t)event->command + 1;
	}
	queue = wct_align_queue(&diff->align, event);
	if (!queue)
		return out_of_memory(diff);
	if (!queue->head || queue->side == side)
		return wct_align_push(&diff->align, queue, side, event) ? out_of_memory(diff) : 0;
	pending = wct_align_pop(queue);
	ret = compare_pair(diff, queue, side == GOT ? event : &pending->event, side == GOT ? &pending->event : event);
	wct_pending_free(pending);
	return ret;
}

static int read_sides(struct diff *diff)
{
	int side = GOT;

	while (!diff->sides[GOT].is_done || !diff->sides[EXPECTED].is_done) {
		struct wct_event event;
		int ret = 0;

		if (!diff->sides[side].is_done) {
			ret = wct_reader_next(diff->sides[side].reader, &event, diff->err);
			if (ret > 0)
				ret = take_event(diff, side, &event);
			else if (!ret || (ret == WC_ERR_INPUT && wct_reader_is_cut(diff->sides[side].reader)))
				diff->sides[side].is_done = true;
			if (ret && !diff->sides[side].is_done)
				return ret;
		}
		side = !side;
	}
	return 0;
}

// Events that found no partner.
static void note_one_sided(struct diff *diff)
{
	for (size_t i = 0; i < diff->align.queue_count; i++) {
		const struct wct_queue *queue = &diff->align.queues[i];
		struct side *other = &diff->sides[!queue->side];
		uint64_t sequence = queue->matched;

		if (queue->kind == WCT_HEADER)
			continue;
		for (const struct wct_pending *pending = queue->head; pending; pending = pending->next) {
			const struct wct_event *event = &pending->event;
			bool is_beyond_end = event->command == WCT_NO_COMMAND || event->command >= *span_of(other, event);
			struct wct_divergence divergence;

			if (is_beyond_end && wct_reader_is_cut(other->reader)) {
				(queue->side == GOT ? diff->report->not_compared_got : diff->report->not_compared_expected)[event->kind]++;
				continue;
			}
			(queue->side == GOT ? diff->report->only_got : diff->report->only_expected)[event->kind]++;
			wct_describe_one_sided(event, queue->side == GOT ? WCT_ONLY_IN_GOT : WCT_ONLY_IN_EXPECTED, &divergence);
			note(diff, &divergence, sequence++, is_beyond_end);
		}
	}
}

static int conclude(const struct diff *diff)
{
	const struct wct_diff_report *report = diff->report;
	const struct wct_divergence *first = &report->first;

	if (first->difference != WCT_SAME && first->command != WCT_NO_COMMAND)
		return wc_fail(diff->err, WC_ERR_MISMATCH, "traces differ from command %" PRIu32 " on: %s", first->command, first->text);
	if (first->difference != WCT_SAME)
		return wc_fail(diff->err, WC_ERR_MISMATCH, "traces differ: %s", first->text);
	if (!report->compared[WCT_TILE] && !report->compared[WCT_RESULT])
		return wc_fail(diff->err, WC_ERR_INPUT, "no result compared: '%.200s' and '%.200s' have no tile or result in common",
			       diff->sides[GOT].path, diff->sides[EXPECTED].path);
	if (report->got_is_cut || report->expected_is_cut)
		return wc_fail(diff->err, WC_ERR_INPUT, "trace '%.300s' is cut off; the traces agree up to there",
			       diff->sides[report->got_is_cut ? GOT : EXPECTED].path);
	return 0;
}

int wct_diff(const char *got_path, const char *expected_path, const struct wct_diff_options *options, struct wct_diff_report *report,
	     struct wc_error *err)
{
	struct diff diff = {
		.sides = { [GOT].path = got_path, [EXPECTED].path = expected_path },
		.options = options,
		.report = report,
		.err = err,
	};
	int ret = 0;

	memset(report, 0, sizeof(*report));
	for (int i = 0; i < SIDES && !ret; i++) {
		ret = wct_reader_open(&diff.sides[i].reader, diff.sides[i].path, err);
		if (!ret)
			diff.sides[i].kinds = wct_reader_kinds(diff.sides[i].reader);
	}
	if (!ret) {
		report->got_is_cut = wct_reader_is_cut(diff.sides[GOT].reader);
		report->expected_is_cut = wct_reader_is_cut(diff.sides[EXPECTED].reader);
		ret = read_sides(&diff);
	}
	if (!ret) {
		note_one_sided(&diff);
		ret = conclude(&diff);
	}
	wct_align_release(&diff.align);
	for (int i = 0; i < SIDES; i++)
		wct_reader_free(diff.sides[i].reader);
	return ret;
}
