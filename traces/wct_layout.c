// SPDX-License-Identifier: Apache-2.0
//
// Packing and unpacking the fixed-size headers.
#include "traces/wct_layout.h"

#include <string.h>
#include <zlib.h>

#include "traces/wct.h"

static const uint8_t file_magic[8] = { 0x89, 'W', 'C', 'T', '\r', '\n', 0x1a, '\n' };

#define MAGIC(c0, c1, c2, c3) ((uint32_t)(c0) | (uint32_t)(c1) << 8 | (uint32_t)(c2) << 16 | (uint32_t)(c3) << 24)
#define CHUNK_MAGIC MAGIC('W', 'C', 'T', 'C')
#define INDEX_MAGIC MAGIC('W', 'C', 'T', 'I')
#define TRAILER_MAGIC MAGIC('W', 'C', 'T', 'E')

void wct_put_u32(uint8_t *bytes, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
}

uint32_t wct_get_u32(const uint8_t *bytes)
{
	return MAGIC(bytes[0], bytes[1], bytes[2], bytes[3]);
}

static void put_u64(uint8_t *bytes, uint64_t value)
{
	wct_put_u32(bytes, (uint32_t)value);
	wct_put_u32(bytes + 4, (uint32_t)(value >> 32));
}

static uint64_t get_u64(const uint8_t *bytes)
{
	return wct_get_u32(bytes) | (uint64_t)wct_get_u32(bytes + 4) << 32;
}

static uint32_t crc_of(const uint8_t *bytes, size_t count)
{
	return wct_digest_bytes(0, bytes, count);
}

void wct_pack_file_header(uint8_t bytes[WCT_FILE_HEADER_BYTES], uint8_t level)
{
	memcpy(bytes, file_magic, sizeof(file_magic));
	bytes[8] = WCT_VERSION;
	bytes[9] = 0;
	bytes[10] = level;
	bytes[11] = 0;
	wct_put_u32(bytes + 12, crc_of(bytes, 12));
}

const char *wct_unpack_file_header(const uint8_t bytes[WCT_FILE_HEADER_BYTES], uint8_t *level)
{
	if (memcmp(bytes, file_magic, sizeof(file_magic)))
		return "not a trace: the magic is another";
	if (bytes[8] != WCT_VERSION || bytes[9])
		return "another version of the trace format than 1";
	if (wct_get_u32(bytes + 12) != crc_of(bytes, 12))
		return "damaged file header: the CRC differs";
	if (bytes[10] >= WCT_LEVEL_COUNT || bytes[11])
		return "malformed file header: unknown level";
	*level = bytes[10];
	return NULL;
}

void wct_pack_chunk_header(uint8_t bytes[WCT_CHUNK_HEADER_BYTES], const struct wct_chunk_header *header)
{
	wct_put_u32(bytes, header->is_index ? INDEX_MAGIC : CHUNK_MAGIC);
	wct_put_u32(bytes + 4, header->number);
	wct_put_u32(bytes + 8, header->packed_bytes);
	wct_put_u32(bytes + 12, header->raw_bytes);
	wct_put_u32(bytes + 16, header->events);
	wct_put_u32(bytes + 20, header->kinds);
	put_u64(bytes + 24, header->cycle_min);
	put_u64(bytes + 32, header->cycle_max);
	wct_put_u32(bytes + 40, header->payload_crc);
	wct_put_u32(bytes + 44, crc_of(bytes, 44));
}

const char *wct_unpack_chunk_header(const uint8_t bytes[WCT_CHUNK_HEADER_BYTES], struct wct_chunk_header *header)
{
	uint32_t magic = wct_get_u32(bytes);

	if (wct_get_u32(bytes + 44) != crc_of(bytes, 44))
		return "damaged chunk header: the CRC differs";
	if (magic != CHUNK_MAGIC && magic != INDEX_MAGIC)
		return "malformed chunk header: the magic is another";
	header->is_index = magic == INDEX_MAGIC;
	header->number = wct_get_u32(bytes + 4);
	header->packed_bytes = wct_get_u32(bytes + 8);
	header->raw_bytes = wct_get_u32(bytes + 12);
	header->events = wct_get_u32(bytes + 16);
	header->kinds = wct_get_u32(bytes + 20);
	header->cycle_min = get_u64(bytes + 24);
	header->cycle_max = get_u64(bytes + 32);
	header->payload_crc = wct_get_u32(bytes + 40);
	if (header->packed_bytes > (uint32_t)(header->is_index ? WCT_INDEX_PACKED_MAX : WCT_CHUNK_PACKED_MAX) ||
	    header->raw_bytes > (uint32_t)(header->is_index ? WCT_INDEX_RAW_MAX : WCT_CHUNK_RAW_MAX))
		return "malformed chunk header: larger than any chunk may be";
	if (!header->is_index && (!header->raw_bytes || !header->events))
		return "malformed chunk header: a chunk without events";
	return NULL;
}

void wct_pack_trailer(uint8_t bytes[WCT_TRAILER_BYTES], uint64_t index_offset, uint64_t events)
{
	put_u64(bytes, index_offset);
	put_u64(bytes + 8, events);
	wct_put_u32(bytes + 16, crc_of(bytes, 16));
	wct_put_u32(bytes + 20, TRAILER_MAGIC);
}

bool wct_unpack_trailer(const uint8_t bytes[WCT_TRAILER_BYTES], uint64_t *index_offset, uint64_t *events)
{
	if (wct_get_u32(bytes + 20) != TRAILER_MAGIC || wct_get_u32(bytes + 16) != crc_of(bytes, 16))
		return false;
	*index_offset = get_u64(bytes);
	*events = get_u64(bytes + 8);
	return true;
}
