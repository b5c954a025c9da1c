// SPDX-License-Identifier: Apache-2.0
//
// The bytes of `.wct` headers (README.md, "The .wct format"), for writer and reader alone.
#ifndef WC_WCT_LAYOUT_H
#define WC_WCT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WCT_VERSION = 1,
	WCT_FILE_HEADER_BYTES = 16,
	WCT_CHUNK_HEADER_BYTES = 48,
	WCT_TRAILER_BYTES = 24,

	WCT_CHUNK_TARGET_BYTES = 256 << 10, // a writer closes a chunk that has reached this
	WCT_CHUNK_RAW_MAX = 1 << 20,        // ... so the largest tile still fits below this
	WCT_CHUNK_PACKED_MAX = 2 << 20,
	WCT_INDEX_RAW_MAX = 96 << 20,       // two million chunks
	WCT_INDEX_PACKED_MAX = 128 << 20,
};

// Flags of an event.
enum {
	WCT_FLAG_CYCLE = 1,
	WCT_FLAG_COMMAND = 2,
	WCT_FLAG_LAYER = 4,
	WCT_FLAG_COORDS = 8,
	WCT_FLAG_DATA = 16,  // tile: the data follow
	WCT_FLAG_WRITE = 16, // burst
	WCT_FLAG_FP32 = 32,  // tile
};

struct wct_chunk_header {
	bool is_index;
	uint32_t number, packed_bytes, raw_bytes, events, kinds;
	uint64_t cycle_min, cycle_max;
	uint32_t payload_crc;
};

void wct_put_u32(uint8_t *bytes, uint32_t value);
uint32_t wct_get_u32(const uint8_t *bytes);

void wct_pack_file_header(uint8_t bytes[WCT_FILE_HEADER_BYTES], uint8_t level);
// NULL, or what is wrong.
const char *wct_unpack_file_header(const uint8_t bytes[WCT_FILE_HEADER_BYTES], uint8_t *level);

void wct_pack_chunk_header(uint8_t bytes[WCT_CHUNK_HEADER_BYTES], const struct wct_chunk_header *header);
// NULL, or what is wrong. Checks CRC, magic and the limits of the sizes.
const char *wct_unpack_chunk_header(const uint8_t bytes[WCT_CHUNK_HEADER_BYTES], struct wct_chunk_header *header);

void wct_pack_trailer(uint8_t bytes[WCT_TRAILER_BYTES], uint64_t index_offset, uint64_t events);
// Whether the bytes are a trailer.
bool wct_unpack_trailer(const uint8_t bytes[WCT_TRAILER_BYTES], uint64_t *index_offset, uint64_t *events);

#endif
