// SPDX-License-Identifier: Apache-2.0
//
// The writer: encodes into one chunk, compresses and writes it, and remembers the chunk's header for the index.
#include "traces/wct_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "traces/alloc.h"
#include "traces/wct_encode.h"
#include "traces/wct_layout.h"

struct wct_writer {
	int fd;
	enum wct_level level;
	char *path;            // for messages
	struct wct_encoder encoder;
	uint8_t *headers;      // of all chunks written: the index
	uint32_t chunks, chunk_capacity;
	uint32_t kinds;
	uint64_t cycle_min, cycle_max, events;
	uint64_t offset;       // where the next chunk goes
	int failed;            // sticky result, and its text
	struct wc_error failure;
};

static int fail(struct wct_writer *writer, int code, struct wc_error *err)
{
	writer->failed = code;
	return wc_fail(err, code, "%s", writer->failure.text);
}

static int write_all(struct wct_writer *writer, const uint8_t *bytes, size_t count)
{
	while (count) {
		ssize_t written = write(writer->fd, bytes, count);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return wc_fail(&writer->failure, WC_ERR_SYSTEM, "cannot write trace '%s': %s", writer->path,
				       written ? strerror(errno) : "no space");
		bytes += written;
		count -= (size_t)written;
		writer->offset += (uint64_t)written;
	}
	return 0;
}

// Compress `raw`, complete the header with the sizes and the CRC, leave it in `packed_header`, and write both.
static int write_chunk(struct wct_writer *writer, struct wct_chunk_header *header, const uint8_t *raw, size_t raw_bytes,
		       uint8_t packed_header[WCT_CHUNK_HEADER_BYTES])
{
	uLongf packed_bytes = compressBound((uLong)raw_bytes);
	uint8_t *buffer = wc_alloc(WCT_CHUNK_HEADER_BYTES + packed_bytes, 1);
	int ret;

	if (!buffer || compress2(buffer + WCT_CHUNK_HEADER_BYTES, &packed_bytes, raw, (uLong)raw_bytes, Z_BEST_SPEED) != Z_OK) {
		wc_free(buffer);
		return wc_fail(&writer->failure, WC_ERR_SYSTEM, "trace '%s': out of memory for a chunk of %zu bytes", writer->path,
			       raw_bytes);
	}
	header->raw_bytes = (uint32_t)raw_bytes;
	header->packed_bytes = (uint32_t)packed_bytes;
	header->payload_crc = wct_digest_bytes(0, buffer + WCT_CHUNK_HEADER_BYTES, packed_bytes);
	wct_pack_chunk_header(buffer, header);
	memcpy(packed_header, buffer, WCT_CHUNK_HEADER_BYTES);
	ret = write_all(writer, buffer, WCT_CHUNK_HEADER_BYTES + packed_bytes);
	wc_free(buffer);
	return ret;
}

// Room for one more chunk in the index.
static int reserve_header(struct wct_writer *writer)
{
	uint32_t capacity = writer->chunk_capacity ? 2 * writer->chunk_capacity : 64;
	uint8_t *headers;

	if (writer->chunks < writer->chunk_capacity)
		return 0;
	if (writer->chunks >= WCT_INDEX_RAW_MAX / WCT_CHUNK_HEADER_BYTES)
		return wc_fail(&writer->failure, WC_ERR_SYSTEM, "trace '%s': more than %d chunks; choose a lower level", writer->path,
			       WCT_INDEX_RAW_MAX / WCT_CHUNK_HEADER_BYTES);
	if (capacity > WCT_INDEX_RAW_MAX / WCT_CHUNK_HEADER_BYTES)
		capacity = WCT_INDEX_RAW_MAX / WCT_CHUNK_HEADER_BYTES;
	headers = wc_realloc(writer->headers, capacity, WCT_CHUNK_HEADER_BYTES);
	if (!headers)
		return wc_fail(&writer->failure, WC_ERR_SYSTEM, "trace '%s': out of memory for the index", writer->path);
	writer->headers = headers;
	writer->chunk_capacity = capacity;
	return 0;
}

static int flush_chunk(struct wct_writer *writer)
{
	const struct wct_encoder *encoder = &writer->encoder;
	struct wct_chunk_header header = {
		.number = writer->chunks,
		.events = encoder->events,
		.kinds = encoder->kinds,
		.cycle_min = encoder->cycle_min,
		.cycle_max = encoder->cycle_max,
	};
	int ret;

	if (!encoder->events)
		return 0;
	ret = reserve_header(writer);
	if (!ret)
		ret = write_chunk(writer, &header, encoder->bytes, encoder->length,
				  writer->headers + (size_t)writer->chunks * WCT_CHUNK_HEADER_BYTES);
	if (ret)
		return ret;
	writer->chunks++;
	writer->events += header.events;
	writer->kinds |= header.kinds;
	if (header.cycle_min < writer->cycle_min)
		writer->cycle_min = header.cycle_min;
	if (header.cycle_max > writer->cycle_max)
		writer->cycle_max = header.cycle_max;
	wct_encoder_clear(&writer->encoder);
	return 0;
}

int wct_writer_open(struct wct_writer **writer_out, const char *path, enum wct_level level, struct wc_error *err)
{
	struct wct_writer *writer = wc_alloc(1, sizeof(*writer));
	uint8_t header[WCT_FILE_HEADER_BYTES];
	int ret;

	*writer_out = NULL;
	if (!writer)
		return wc_fail(err, WC_ERR_SYSTEM, "cannot create trace '%s': out of memory", path);
	writer->fd = -1;
	writer->level = level;
	writer->cycle_min = UINT64_MAX;
	wct_encoder_clear(&writer->encoder);
	writer->path = wc_alloc(strlen(path) + 1, 1);
	if (!writer->path) {
		ret = wc_fail(err, WC_ERR_SYSTEM, "cannot create trace '%s': out of memory", path);
		goto free_writer;
	}
	memcpy(writer->path, path, strlen(path));
	writer->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (writer->fd < 0) {
		ret = wc_fail(err, WC_ERR_INPUT, "cannot create trace '%s': %s", path, strerror(errno));
		goto free_writer;
	}
	wct_pack_file_header(header, (uint8_t)level);
	ret = write_all(writer, header, sizeof(header));
	if (ret) {
		fail(writer, ret, err);
		goto free_writer;
	}
	*writer_out = writer;
	return 0;

free_writer:
	wct_writer_free(writer);
	return ret;
}

void wct_writer_free(struct wct_writer *writer)
{
	if (!writer)
		return;
	if (writer->fd >= 0)
		close(writer->fd);
	wct_encoder_release(&writer->encoder);
	wc_free(writer->headers);
	wc_free(writer->path);
	wc_free(writer);
}

enum wct_level wct_writer_level(const struct wct_writer *writer)
{
	return writer->level;
}

int wct_writer_event(struct wct_writer *writer, const struct wct_event *event, struct wc_error *err)
{
	int ret;

	if (writer->failed)
		return fail(writer, writer->failed, err);
	if (event->level > writer->level)
		return 0;
	ret = wct_encode(&writer->encoder, event, wct_level_has_data(writer->level), &writer->failure);
	if (ret == WC_ERR_INPUT)
		return wc_fail(err, ret, "%s", writer->failure.text);
	if (!ret && writer->encoder.length >= WCT_CHUNK_TARGET_BYTES)
		ret = flush_chunk(writer);
	return ret ? fail(writer, ret, err) : 0;
}

int wct_writer_header(struct wct_writer *writer, const char *key, const char *value, struct wc_error *err)
{
	struct wct_event event;

	wct_event_init(&event, WCT_HEADER);
	event.header.key = key;
	event.header.value = value;
	return wct_writer_event(writer, &event, err);
}

int wct_writer_flush(struct wct_writer *writer, struct wc_error *err)
{
	int ret = writer->failed ? writer->failed : flush_chunk(writer);

	return ret ? fail(writer, ret, err) : 0;
}

int wct_writer_finish(struct wct_writer *writer, struct wc_error *err)
{
	struct wct_chunk_header header = { .is_index = true };
	uint8_t packed_header[WCT_CHUNK_HEADER_BYTES], trailer[WCT_TRAILER_BYTES];
	uint64_t index_offset;
	int ret = wct_writer_flush(writer, err);

	if (ret)
		return ret;
	header.number = writer->chunks;
	header.events = writer->chunks;
	header.kinds = writer->kinds;
	header.cycle_min = writer->cycle_min;
	header.cycle_max = writer->cycle_max;
	index_offset = writer->offset;
	ret = write_chunk(writer, &header, writer->headers, (size_t)writer->chunks * WCT_CHUNK_HEADER_BYTES, packed_header);
	if (!ret) {
		wct_pack_trailer(trailer, index_offset, writer->events);
		ret = write_all(writer, trailer, sizeof(trailer));
	}
	return ret ? fail(writer, ret, err) : 0;
}
