// SPDX-License-Identifier: Apache-2.0
//
// Finding, reading and unpacking chunks. Sizes are bounded and compared with the file's before memory is asked for.
#include "traces/wct_file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "traces/alloc.h"
#include "traces/file.h"
#include "traces/wct_layout.h"

// Read `count` bytes at `offset`, which the file's size says are there.
static int read_at(const struct wct_file *file, void *buffer, size_t count, uint64_t offset, struct wc_error *err)
{
	size_t done = 0;

	while (done < count) {
		ssize_t got = pread(file->fd, (uint8_t *)buffer + done, count - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return wc_fail(err, WC_ERR_SYSTEM, "cannot read trace '%s': %s", file->path, strerror(errno));
		if (!got)
			return wc_fail(err, WC_ERR_INPUT, "trace '%s': became shorter while it was read, at offset %" PRIu64, file->path,
				       offset + done);
		done += (size_t)got;
	}
	return 0;
}

static int out_of_memory(const struct wct_file *file, struct wc_error *err)
{
	return wc_fail(err, WC_ERR_SYSTEM, "cannot read trace '%s': out of memory", file->path);
}

static uint64_t events_in(const struct wct_file *file)
{
	const struct wct_chunk *last = file->chunk_count ? &file->chunks[file->chunk_count - 1] : NULL;

	return last ? last->first_event + last->events : 0;
}

static int reserve_chunk(struct wct_file *file)
{
	size_t capacity = file->chunk_capacity ? 2 * file->chunk_capacity : 64;
	struct wct_chunk *chunks;
	uint32_t *crcs;

	if (file->chunk_count < file->chunk_capacity)
		return 0;
	chunks = wc_realloc(file->chunks, capacity, sizeof(*chunks));
	if (!chunks)
		return -1;
	file->chunks = chunks;
	crcs = wc_realloc(file->payload_crcs, capacity, sizeof(*crcs));
	if (!crcs)
		return -1;
	file->payload_crcs = crcs;
	file->chunk_capacity = capacity;
	return 0;
}

static int append_chunk(struct wct_file *file, const struct wct_chunk_header *header, struct wc_error *err)
{
	if (reserve_chunk(file))
		return out_of_memory(file, err);
	file->chunks[file->chunk_count] = (struct wct_chunk){
		.offset = file->end_offset,
		.first_event = events_in(file),
		.packed_bytes = header->packed_bytes,
		.raw_bytes = header->raw_bytes,
		.events = header->events,
		.kinds = header->kinds,
		.cycle_min = header->cycle_min,
		.cycle_max = header->cycle_max,
	};
	file->payload_crcs[file->chunk_count] = header->payload_crc;
	file->end_offset += WCT_CHUNK_HEADER_BYTES + header->packed_bytes;
	file->chunk_count++;
	return 0;
}

static void forget_chunks(struct wct_file *file)
{
	file->chunk_count = 0;
	file->end_offset = WCT_FILE_HEADER_BYTES;
}

// Unpack a zlib stream of exactly raw_bytes. NULL and *code 0, or what is wrong and the code for it.
static const char *unpack(uint8_t *raw, size_t raw_bytes, const uint8_t *packed, size_t packed_bytes, uint32_t crc, int *code)
{
	uLongf raw_got = (uLongf)raw_bytes;
	uLong packed_got = (uLong)packed_bytes;
	int ret;

	*code = WC_ERR_INPUT;
	if (wct_digest_bytes(0, packed, packed_bytes) != crc)
		return "damaged payload: the CRC differs";
	ret = uncompress2(raw, &raw_got, packed, &packed_got);
	if (ret == Z_MEM_ERROR) {
		*code = WC_ERR_SYSTEM;
		return "out of memory";
	}
	if (ret != Z_OK && ret != Z_BUF_ERROR)
		return "malformed payload: not a zlib stream";
	if (ret == Z_BUF_ERROR || raw_got != raw_bytes || packed_got != packed_bytes)
		return "malformed payload: it unpacks to another size than its header says";
	*code = 0;
	return NULL;
}

// Whether the index's header sums up its chunks, which fill the file up to it.
static bool index_matches(const struct wct_file *file, const struct wct_chunk_header *index, uint64_t index_offset, uint64_t events)
{
	uint64_t cycle_min = UINT64_MAX, cycle_max = 0;
	uint32_t kinds = 0;

	for (size_t i = 0; i < file->chunk_count; i++) {
		const struct wct_chunk *chunk = &file->chunks[i];

		kinds |= chunk->kinds;
		cycle_min = chunk->cycle_min < cycle_min ? chunk->cycle_min : cycle_min;
		cycle_max = chunk->cycle_max > cycle_max ? chunk->cycle_max : cycle_max;
	}
	return file->end_offset == index_offset && events_in(file) == events && index->kinds == kinds && index->cycle_min == cycle_min &&
	       index->cycle_max == cycle_max;
}

// List the chunks of the unpacked index. *found: they are all well-formed.
static int take_index(struct wct_file *file, const uint8_t *headers, uint32_t count, bool *found, struct wc_error *err)
{
	for (uint32_t i = 0; i < count; i++) {
		struct wct_chunk_header header;
		int ret;

		if (wct_unpack_chunk_header(headers + (size_t)i * WCT_CHUNK_HEADER_BYTES, &header) || header.is_index || header.number != i)
			return 0;
		ret = append_chunk(file, &header, err);
		if (ret)
			return ret;
	}
	*found = true;
	return 0;
}

// Read the trailer and the index's header. Whether both are there and fit each other and the file's size.
static int read_index_header(const struct wct_file *file, struct wct_chunk_header *index, uint64_t *index_offset, uint64_t *events,
			     bool *found, struct wc_error *err)
{
	uint8_t trailer[WCT_TRAILER_BYTES], header[WCT_CHUNK_HEADER_BYTES];
	uint64_t trailer_offset = file->file_bytes - WCT_TRAILER_BYTES;
	int ret;

	*found = false;
	if (file->file_bytes < WCT_FILE_HEADER_BYTES + WCT_CHUNK_HEADER_BYTES + WCT_TRAILER_BYTES)
		return 0;
	ret = read_at(file, trailer, sizeof(trailer), trailer_offset, err);
	if (ret)
		return ret;
	if (!wct_unpack_trailer(trailer, index_offset, events) || *index_offset < WCT_FILE_HEADER_BYTES ||
	    *index_offset > trailer_offset - WCT_CHUNK_HEADER_BYTES)
		return 0;
	ret = read_at(file, header, sizeof(header), *index_offset, err);
	if (ret)
		return ret;
	*found = !wct_unpack_chunk_header(header, index) && index->is_index && index->number == index->events &&
		 index->packed_bytes == trailer_offset - *index_offset - WCT_CHUNK_HEADER_BYTES &&
		 index->raw_bytes == (uint64_t)index->events * WCT_CHUNK_HEADER_BYTES && index->raw_bytes < file->file_bytes;
	return 0;
}

static int find_by_index(struct wct_file *file, bool *found, struct wc_error *err)
{
	uint64_t index_offset, events;
	struct wct_chunk_header index;
	uint8_t *packed, *raw;
	int ret, code;

	ret = read_index_header(file, &index, &index_offset, &events, found, err);
	if (ret || !*found)
		return ret;
	*found = false;
	packed = wc_alloc(index.packed_bytes, 1);
	raw = wc_alloc(index.raw_bytes, 1);
	if (!packed || !raw)
		ret = out_of_memory(file, err);
	else
		ret = read_at(file, packed, index.packed_bytes, index_offset + WCT_CHUNK_HEADER_BYTES, err);
	if (!ret && !unpack(raw, index.raw_bytes, packed, index.packed_bytes, index.payload_crc, &code))
		ret = take_index(file, raw, index.events, found, err);
	*found = *found && index_matches(file, &index, index_offset, events);
	wc_free(raw);
	wc_free(packed);
	return ret;
}

static int set_end(struct wct_file *file, bool is_cut, const char *fault)
{
	file->is_cut = is_cut;
	file->end_fault = fault;
	return 0;
}

// What follows the last chunk is an index, but the file's end did not lead to it.
static int judge_index(struct wct_file *file, const struct wct_chunk_header *index)
{
	uint64_t end = file->end_offset + WCT_CHUNK_HEADER_BYTES + index->packed_bytes + WCT_TRAILER_BYTES;

	if (file->file_bytes < end)
		return set_end(file, true, "cut off inside the index: the run that wrote it was killed at its end");
	return set_end(file, false, file->file_bytes > end ? "malformed: bytes behind the trailer" : "damaged index or trailer");
}

static int find_by_walk(struct wct_file *file, struct wc_error *err)
{
	for (;;) {
		uint64_t left = file->file_bytes - file->end_offset;
		uint8_t bytes[WCT_CHUNK_HEADER_BYTES];
		struct wct_chunk_header header;
		const char *fault;
		int ret;

		if (left < WCT_CHUNK_HEADER_BYTES)
			return set_end(file, true, "cut off: the run that wrote it was killed or is still writing");
		ret = read_at(file, bytes, sizeof(bytes), file->end_offset, err);
		if (ret)
			return ret;
		fault = wct_unpack_chunk_header(bytes, &header);
		if (fault)
			return set_end(file, false, fault);
		if (header.number != file->chunk_count)
			return set_end(file, false, "malformed chunk header: not the next number");
		if (header.is_index)
			return judge_index(file, &header);
		if (left - WCT_CHUNK_HEADER_BYTES < header.packed_bytes)
			return set_end(file, true, "cut off inside the chunk: the run that wrote it was killed or is still writing");
		ret = append_chunk(file, &header, err);
		if (ret)
			return ret;
	}
}

static int read_file_header(struct wct_file *file, struct wc_error *err)
{
	uint8_t bytes[WCT_FILE_HEADER_BYTES], level;
	struct stat status;
	const char *fault;
	int ret;

	if (fstat(file->fd, &status))
		return wc_fail(err, WC_ERR_SYSTEM, "cannot read trace '%s': %s", file->path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return wc_fail(err, WC_ERR_INPUT, "trace '%s' is not a regular file", file->path);
	file->file_bytes = (uint64_t)status.st_size;
	if (file->file_bytes < sizeof(bytes))
		return wc_fail(err, WC_ERR_INPUT, "trace '%s': has %" PRIu64 " bytes, a trace has at least %zu", file->path,
			       file->file_bytes, sizeof(bytes));
	ret = read_at(file, bytes, sizeof(bytes), 0, err);
	if (ret)
		return ret;
	fault = wct_unpack_file_header(bytes, &level);
	if (fault)
		return wc_fail(err, WC_ERR_INPUT, "trace '%s', file header at offset 0: %s", file->path, fault);
	file->level = (enum wct_level)level;
	return 0;
}

int wct_file_open(struct wct_file *file, const char *path, struct wc_error *err)
{
	const char *why;
	bool found;
	int ret;

	memset(file, 0, sizeof(*file));
	file->fd = wc_file_open(path, WC_FILE_REGULAR, &why);
	if (file->fd < 0)
		return wc_fail(err, WC_ERR_INPUT, "cannot open trace '%s': %s", path, why);
	file->path = wc_alloc(strlen(path) + 1, 1);
	if (!file->path)
		return wc_fail(err, WC_ERR_SYSTEM, "cannot read trace '%s': out of memory", path);
	memcpy(file->path, path, strlen(path));
	ret = read_file_header(file, err);
	if (ret)
		return ret;
	forget_chunks(file);
	ret = find_by_index(file, &found, err);
	if (ret || found)
		return ret;
	forget_chunks(file);
	return find_by_walk(file, err);
}

void wct_file_close(struct wct_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	wc_free(file->path);
	wc_free(file->chunks);
	wc_free(file->payload_crcs);
	memset(file, 0, sizeof(*file));
	file->fd = -1;
}

int wct_file_fail(const struct wct_file *file, size_t number, int code, const char *prefix, const char *fault, struct wc_error *err)
{
	uint64_t offset = number < file->chunk_count ? file->chunks[number].offset : file->end_offset;

	return wc_fail(err, code, "trace '%s', chunk %zu at offset %" PRIu64 ": %s%s", file->path, number, offset, prefix, fault);
}

int wct_file_load(struct wct_file *file, size_t number, uint8_t *packed, uint8_t *raw, struct wc_error *err)
{
	const struct wct_chunk *chunk = &file->chunks[number];
	uint8_t bytes[WCT_CHUNK_HEADER_BYTES];
	struct wct_chunk_header header;
	const char *fault;
	int ret;

	ret = read_at(file, bytes, sizeof(bytes), chunk->offset, err);
	if (ret)
		return ret;
	fault = wct_unpack_chunk_header(bytes, &header);
	if (fault)
		return wct_file_fail(file, number, WC_ERR_INPUT, "", fault, err);
	if (header.is_index || header.number != number || header.packed_bytes != chunk->packed_bytes || header.raw_bytes != chunk->raw_bytes ||
	    header.events != chunk->events || header.kinds != chunk->kinds || header.cycle_min != chunk->cycle_min ||
	    header.cycle_max != chunk->cycle_max || header.payload_crc != file->payload_crcs[number])
		return wct_file_fail(file, number, WC_ERR_INPUT, "", "malformed: the index has another header for it", err);
	ret = read_at(file, packed, chunk->packed_bytes, chunk->offset + WCT_CHUNK_HEADER_BYTES, err);
	if (ret)
		return ret;
	fault = unpack(raw, chunk->raw_bytes, packed, chunk->packed_bytes, header.payload_crc, &ret);
	return fault ? wct_file_fail(file, number, ret, "", fault, err) : 0;
}
