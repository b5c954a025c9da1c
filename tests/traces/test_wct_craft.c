// SPDX-License-Identifier: Apache-2.0
//
// Traces made to do harm: every CRC is right, the content is not.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "support.h"
#include "traces/wct_encode.h"
#include "traces/wct_layout.h"

TestSuite(wct_craft, .init = scratch_create, .fini = scratch_remove);

// A chunk that claims what `header` says and holds `raw`, packed; its sizes are filled in where they are 0. Returns its length.
static size_t make_chunk(uint8_t *bytes, size_t capacity, struct wct_chunk_header header, const uint8_t *raw, size_t raw_bytes)
{
	uLongf packed_bytes = capacity - WCT_CHUNK_HEADER_BYTES;

	cr_assert_eq(compress(bytes + WCT_CHUNK_HEADER_BYTES, &packed_bytes, raw, raw_bytes), Z_OK);
	header.raw_bytes = header.raw_bytes ? header.raw_bytes : (uint32_t)raw_bytes;
	header.packed_bytes = header.packed_bytes ? header.packed_bytes : (uint32_t)packed_bytes;
	header.payload_crc = wct_digest_bytes(0, bytes + WCT_CHUNK_HEADER_BYTES, packed_bytes);
	wct_pack_chunk_header(bytes, &header);
	return WCT_CHUNK_HEADER_BYTES + packed_bytes;
}

// A trace of one chunk that is complete but for what is wrong in the chunk. Gives the reader's verdict.
static int read_crafted(const struct wct_chunk_header *header, const uint8_t *raw, size_t raw_bytes, char *error)
{
	size_t capacity = 4096 + compressBound(raw_bytes), length = WCT_FILE_HEADER_BYTES, chunk_bytes;
	struct wct_chunk_header index = { .is_index = true, .number = 1, .events = 1, .kinds = header->kinds };
	uint8_t *bytes = calloc(1, capacity);
	char *text;
	int ret;

	wct_pack_file_header(bytes, WCT_LEVEL_CYCLE);
	chunk_bytes = make_chunk(bytes + length, capacity - length - 1024, *header, raw, raw_bytes);
	length += chunk_bytes;
	index.cycle_min = header->cycle_min;
	index.cycle_max = header->cycle_max;
	length += make_chunk(bytes + length, 1000, index, bytes + WCT_FILE_HEADER_BYTES, WCT_CHUNK_HEADER_BYTES);
	wct_pack_trailer(bytes + length, WCT_FILE_HEADER_BYTES + chunk_bytes, header->events);
	length += WCT_TRAILER_BYTES;
	file_write(scratch_path("crafted.wct"), bytes, length);
	free(bytes);
	ret = trace_read(scratch_path("crafted.wct"), &text, error);
	free(text);
	return ret;
}

// Header of a chunk of `events` events of `kind` without cycles.
static struct wct_chunk_header plain_header(enum wct_kind kind, uint32_t events)
{
	return (struct wct_chunk_header){ .events = events, .kinds = UINT32_C(1) << kind, .cycle_min = UINT64_MAX };
}

static const uint8_t counter_event[] = { WCT_COUNTER, 0, 0, 0, 1, 'c', 5 };

Test(wct_craft, the_crafted_file_is_otherwise_valid)
{
	struct wct_chunk_header header = plain_header(WCT_COUNTER, 1);
	char error[WC_ERROR_TEXT_BYTES];

	cr_assert_eq(read_crafted(&header, counter_event, sizeof(counter_event), error), 0, "%s", error);
}

#define EVENT(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })
#define VARINT_2_64 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02
#define VARINT_2_32 0x80, 0x80, 0x80, 0x80, 0x10
#define VARINT_2_33 0x80, 0x80, 0x80, 0x80, 0x20

static const struct {
	const uint8_t *raw;
	size_t raw_bytes;
	const char *says;
} wrong_events[] = {
	{ EVENT(0, 0, 0), "unknown kind" },
	{ EVENT(WCT_KIND_END, 0, 0), "unknown kind" },
	{ EVENT(WCT_COUNTER, 64, 0, 0, 1, 'c', 5), "unknown flags" },
	{ EVENT(WCT_COUNTER, WCT_FLAG_DATA, 0, 0, 1, 'c', 5), "unknown flags" },
	{ EVENT(WCT_COUNTER, 0, WCT_LEVEL_COUNT, 0, 1, 'c', 5), "above the level" },
	{ EVENT(WCT_COUNTER, 0, WCT_PHASE_COUNT << 4, 0, 1, 'c', 5), "unknown phase" },
	{ EVENT(WCT_COUNTER, 0), "beyond its chunk" },
	{ EVENT(WCT_COUNTER, 0, 0, 0, 2, 'c'), "beyond its chunk" },
	{ EVENT(WCT_COUNTER, 0, 0, 0, 1, 'c', 0x80), "beyond its chunk" },
	{ EVENT(WCT_COUNTER, 0, 0, 0, 1, 'c', VARINT_2_64), "beyond 64 bits" },
	{ EVENT(WCT_COUNTER, 0, 0, 1, 1, 'c', 5), "not introduced" },
	{ EVENT(WCT_COUNTER, 0, 0, VARINT_2_32, 1, 'c', 5), "not introduced" },
	{ EVENT(WCT_COUNTER, 0, 0, 0, 0x81, 0x20, 'c', 5), "string beyond its limit" },
	{ EVENT(WCT_COUNTER, 0, 0, 0, 1, '\n', 5), "control character" },
	{ EVENT(WCT_HEADER, 0, 0, 0, 1, 'c', 1, 1, 'c'), "introduced twice" },
	{ EVENT(WCT_COUNTER, WCT_FLAG_COMMAND, 0, 1, 0, 1, 'c', 5), "command index" },
	{ EVENT(WCT_COUNTER, WCT_FLAG_COMMAND, 0, VARINT_2_33, 0, 1, 'c', 5), "command index" },
	{ EVENT(WCT_COUNTER, WCT_FLAG_LAYER, 0, VARINT_2_32, 0, 1, 'c', 5), "layer index" },
	{ EVENT(WCT_COUNTER, WCT_FLAG_COORDS, 0, 0, 0, 1, 'c', 5), "unknown coordinate" },
	{ EVENT(WCT_COUNTER, WCT_FLAG_COORDS, 0, 0x80, 0x80, 0x01, 0, 1, 'c', 5), "unknown coordinate" },
	{ EVENT(WCT_WAVE_BEGIN, 0, 0, VARINT_2_32, 1), "beyond 32 bits" },
	{ EVENT(WCT_TILE, 0, 0, 0, 1, 1, 0, 0, 0, 0), "outside its limits" },
	{ EVENT(WCT_TILE, 0, 0, 1, 0, 1, 0, 0, 0, 0), "outside its limits" },
	{ EVENT(WCT_TILE, 0, 0, 0x81, 0x20, 1, 1, 0, 0, 0, 0), "outside its limits" },
	{ EVENT(WCT_TILE, WCT_FLAG_DATA | WCT_FLAG_FP32, 0, 0x80, 0x20, 0x80, 0x08, 1, 0, 0, 0, 0, 0), "outside its limits" },
	{ EVENT(WCT_TILE, WCT_FLAG_DATA, 0, 0x80, 0x08, 0x80, 0x02, 1, 0, 0, 0, 0, 0), "beyond its chunk" },
	{ EVENT(WCT_TILE, WCT_FLAG_DATA, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 2), "digest" },
	{ EVENT(WCT_TILE, WCT_FLAG_DATA, 0, 1, 1, 1, 0, 0, 0, 0, 1, 0, 1, 2), "itself none" },
	{ EVENT(WCT_TILE, WCT_FLAG_DATA, 0, 1, 1, 1, 0, 0, 0, 0, 2, 1, 2), "unknown form" },
};

Test(wct_craft, every_malformed_event_is_refused_with_the_reason)
{
	for (size_t i = 0; i < sizeof(wrong_events) / sizeof(*wrong_events); i++) {
		struct wct_chunk_header header = plain_header(WCT_COUNTER, 1);
		char error[WC_ERROR_TEXT_BYTES];

		cr_assert_eq(read_crafted(&header, wrong_events[i].raw, wrong_events[i].raw_bytes, error), WC_ERR_INPUT, "case %zu", i);
		cr_assert(strstr(error, wrong_events[i].says), "case %zu: '%s' does not say '%s'", i, error, wrong_events[i].says);
		cr_assert(strstr(error, "chunk 0 at offset 16"), "%s", error);
	}
}

static void check_header_refused(struct wct_chunk_header header, const char *says)
{
	char error[WC_ERROR_TEXT_BYTES];

	cr_assert_eq(read_crafted(&header, counter_event, sizeof(counter_event), error), WC_ERR_INPUT, "%s", says);
	cr_assert(strstr(error, says), "'%s' does not say '%s'", error, says);
}

Test(wct_craft, a_chunk_header_that_lies_is_refused)
{
	struct wct_chunk_header header = plain_header(WCT_COUNTER, 1);

	header.events = 2;
	check_header_refused(header, "do not add up");
	header.events = 0;
	check_header_refused(header, "without events");
	header = plain_header(WCT_TILE, 1);
	check_header_refused(header, "do not add up");
	header = plain_header(WCT_COUNTER, 1);
	header.cycle_max = 1;
	check_header_refused(header, "do not add up");
	header = plain_header(WCT_COUNTER, 1);
	header.raw_bytes = sizeof(counter_event) + 1;
	check_header_refused(header, "another size");
	header.raw_bytes = sizeof(counter_event) - 1;
	check_header_refused(header, "another size");
	header.raw_bytes = WCT_CHUNK_RAW_MAX + 1;
	check_header_refused(header, "larger than any chunk");
	header = plain_header(WCT_COUNTER, 1);
	header.packed_bytes = WCT_CHUNK_PACKED_MAX + 1;
	check_header_refused(header, "larger than any chunk");
	header.packed_bytes = 1000;
	check_header_refused(header, "cut off inside the chunk");
}

Test(wct_craft, a_payload_that_is_no_zlib_stream_is_refused)
{
	uint8_t bytes[WCT_FILE_HEADER_BYTES + WCT_CHUNK_HEADER_BYTES + 9] = { 0 };
	struct wct_chunk_header header = plain_header(WCT_COUNTER, 1);
	char *text, error[WC_ERROR_TEXT_BYTES];

	wct_pack_file_header(bytes, WCT_LEVEL_CYCLE);
	memcpy(bytes + sizeof(bytes) - 9, "plain text", 9);
	header.raw_bytes = sizeof(counter_event);
	header.packed_bytes = 9;
	header.payload_crc = wct_digest_bytes(0, "plain text", 9);
	wct_pack_chunk_header(bytes + WCT_FILE_HEADER_BYTES, &header);
	file_write(scratch_path("crafted.wct"), bytes, sizeof(bytes));
	cr_assert_eq(trace_read(scratch_path("crafted.wct"), &text, error), WC_ERR_INPUT);
	cr_assert(strstr(error, "chunk 0 at offset 16: malformed payload: not a zlib stream"), "%s", error);
	free(text);
}

Test(wct_craft, a_decompression_bomb_is_refused)
{
	size_t bomb_bytes = 256 << 20;
	uint8_t *bomb = calloc(1, bomb_bytes);
	struct wct_chunk_header header = plain_header(WCT_COUNTER, 1);
	char error[WC_ERROR_TEXT_BYTES];

	header.raw_bytes = 1000;
	cr_assert_eq(read_crafted(&header, bomb, bomb_bytes, error), WC_ERR_INPUT);
	cr_assert(strstr(error, "another size"), "%s", error);
	header.raw_bytes = (uint32_t)bomb_bytes;
	cr_assert_eq(read_crafted(&header, bomb, bomb_bytes, error), WC_ERR_INPUT);
	cr_assert(strstr(error, "larger than any chunk"), "%s", error);
	free(bomb);
}

Test(wct_craft, an_index_that_lies_about_the_chunks_is_not_followed)
{
	uint8_t bytes[4096] = { 0 };
	size_t length = WCT_FILE_HEADER_BYTES, chunk_bytes;
	struct wct_chunk_header header = plain_header(WCT_COUNTER, 1);
	struct wct_chunk_header index = { .is_index = true, .number = UINT32_C(1) << 20, .events = UINT32_C(1) << 20 };
	char *text, error[WC_ERROR_TEXT_BYTES];

	wct_pack_file_header(bytes, WCT_LEVEL_CYCLE);
	chunk_bytes = make_chunk(bytes + length, 1000, header, counter_event, sizeof(counter_event));
	length += chunk_bytes;
	index.raw_bytes = index.events * WCT_CHUNK_HEADER_BYTES;
	length += make_chunk(bytes + length, 1000, index, bytes + WCT_FILE_HEADER_BYTES, WCT_CHUNK_HEADER_BYTES);
	wct_pack_trailer(bytes + length, WCT_FILE_HEADER_BYTES + chunk_bytes, 1);
	length += WCT_TRAILER_BYTES;
	file_write(scratch_path("crafted.wct"), bytes, length);
	cr_assert_eq(trace_read(scratch_path("crafted.wct"), &text, error), WC_ERR_INPUT);
	cr_assert_str_eq(text, "counter name=c value=5\n");
	free(text);
}

Test(wct_craft, mutated_events_never_crash_the_reader)
{
	enum { ROUNDS = 4000 };
	struct wct_encoder encoder = { 0 };
	uint64_t state = test_seed();
	size_t refused = 0;
	struct run run;
	uint8_t *raw;

	run_create(&run, 1, true);
	wct_encoder_clear(&encoder);
	for (size_t i = 0; i < 40; i++)
		cr_assert_eq(wct_encode(&encoder, &run.events[i], true, NULL), 0);
	raw = malloc(encoder.length);
	for (int round = 0; round < ROUNDS; round++) {
		struct wct_chunk_header header = { .events = encoder.events, .kinds = encoder.kinds, .cycle_min = encoder.cycle_min,
						   .cycle_max = encoder.cycle_max };
		size_t length = encoder.length;
		char error[WC_ERROR_TEXT_BYTES];
		int ret;

		memcpy(raw, encoder.bytes, length);
		for (uint64_t changes = 1 + random_next(&state) % 4; changes; changes--)
			raw[random_next(&state) % length] = (uint8_t)(random_next(&state) & 1 ? random_next(&state) : random_next(&state) % 8);
		if (random_next(&state) % 8 == 0)
			length = 1 + random_next(&state) % length;
		ret = read_crafted(&header, raw, length, error);
		cr_assert(ret == 0 || ret == WC_ERR_INPUT, "round %d: %s", round, error);
		if (ret)
			cr_assert(strstr(error, "chunk 0 at offset 16"), "%s", error);
		refused += ret != 0;
	}
	cr_assert_gt(refused, ROUNDS / 4);
	free(raw);
	wct_encoder_release(&encoder);
	run_free(&run);
}
