// SPDX-License-Identifier: Apache-2.0
//
// The reader: one chunk in memory, decoded event by event.
#include "traces/wct_reader.h"

#include <assert.h>

#include "traces/alloc.h"
#include "traces/wct_decode.h"
#include "traces/wct_file.h"

struct wct_reader {
	struct wct_file file;
	size_t next_chunk;       // the chunk to load next; next_chunk - 1 is being read
	struct wct_decoder decoder;
	uint8_t *packed, *raw;   // owned: as large as the largest chunk
	int failed;              // sticky until a seek, and its text
	struct wc_error failure;
};

static int make_buffers(struct wct_reader *reader)
{
	size_t packed_bytes = 0, raw_bytes = 0;

	for (size_t i = 0; i < reader->file.chunk_count; i++) {
		const struct wct_chunk *chunk = &reader->file.chunks[i];

		packed_bytes = chunk->packed_bytes > packed_bytes ? chunk->packed_bytes : packed_bytes;
		raw_bytes = chunk->raw_bytes > raw_bytes ? chunk->raw_bytes : raw_bytes;
	}
	reader->packed = wc_alloc(packed_bytes, 1);
	reader->raw = wc_alloc(raw_bytes, 1);
	return reader->packed && reader->raw ? 0 : -1;
}

int wct_reader_open(struct wct_reader **reader_out, const char *path, struct wc_error *err)
{
	struct wct_reader *reader = wc_alloc(1, sizeof(*reader));
	int ret;

	*reader_out = NULL;
	if (!reader)
		return wc_fail(err, WC_ERR_SYSTEM, "cannot read trace '%s': out of memory", path);
	ret = wct_file_open(&reader->file, path, err);
	if (ret)
		goto free_reader;
	if (make_buffers(reader)) {
		ret = wc_fail(err, WC_ERR_SYSTEM, "cannot read trace '%s': out of memory", path);
		goto free_reader;
	}
	wct_decoder_start(&reader->decoder, reader->raw, 0, reader->file.level);
	*reader_out = reader;
	return 0;

free_reader:
	wct_reader_free(reader);
	return ret;
}

void wct_reader_free(struct wct_reader *reader)
{
	if (!reader)
		return;
	wct_file_close(&reader->file);
	wct_decoder_release(&reader->decoder);
	wc_free(reader->packed);
	wc_free(reader->raw);
	wc_free(reader);
}

static int load_next_chunk(struct wct_reader *reader)
{
	const struct wct_file *file = &reader->file;
	int ret = wct_file_load(&reader->file, reader->next_chunk, reader->packed, reader->raw, &reader->failure);

	if (ret)
		return ret;
	wct_decoder_start(&reader->decoder, reader->raw, file->chunks[reader->next_chunk].raw_bytes, file->level);
	reader->next_chunk++;
	return 0;
}

// The decoded events must add up to the chunk's header.
static bool sums_match(const struct wct_decoder *decoder, const struct wct_chunk *chunk)
{
	return decoder->events == chunk->events && decoder->kinds == chunk->kinds && decoder->cycle_min == chunk->cycle_min &&
	       decoder->cycle_max == chunk->cycle_max;
}

static int next_event(struct wct_reader *reader, struct wct_event *event)
{
	const struct wct_file *file = &reader->file;
	const char *fault;
	int ret;

	if (wct_decoder_at_end(&reader->decoder)) {
		if (reader->next_chunk == file->chunk_count)
			return file->end_fault ? wct_file_fail(file, file->chunk_count, WC_ERR_INPUT, "", file->end_fault, &reader->failure) :
						 0;
		ret = load_next_chunk(reader);
		if (ret)
			return ret;
	}
	ret = wct_decode(&reader->decoder, event, &fault);
	if (ret)
		return wct_file_fail(file, reader->next_chunk - 1, ret, ret == WC_ERR_INPUT ? "malformed: " : "", fault, &reader->failure);
	if (wct_decoder_at_end(&reader->decoder) && !sums_match(&reader->decoder, &file->chunks[reader->next_chunk - 1]))
		return wct_file_fail(file, reader->next_chunk - 1, WC_ERR_INPUT, "malformed: ", "its events do not add up to its header",
				     &reader->failure);
	return 1;
}

int wct_reader_next(struct wct_reader *reader, struct wct_event *event, struct wc_error *err)
{
	int ret = reader->failed ? reader->failed : next_event(reader, event);

	if (ret < 0) {
		reader->failed = ret;
		wc_fail(err, ret, "%s", reader->failure.text);
	}
	return ret;
}

int wct_reader_seek(struct wct_reader *reader, size_t chunk, struct wc_error *err)
{
	if (chunk > reader->file.chunk_count)
		return wc_fail(err, WC_ERR_INPUT, "trace '%s': no chunk %zu, it has %zu", reader->file.path, chunk,
			       reader->file.chunk_count);
	reader->failed = 0;
	reader->next_chunk = chunk;
	wct_decoder_start(&reader->decoder, reader->raw, 0, reader->file.level);
	return 0;
}

bool wct_reader_is_cut(const struct wct_reader *reader)
{
	return reader->file.is_cut;
}

enum wct_level wct_reader_level(const struct wct_reader *reader)
{
	return reader->file.level;
}

uint64_t wct_reader_file_bytes(const struct wct_reader *reader)
{
	return reader->file.file_bytes;
}

size_t wct_reader_chunks(const struct wct_reader *reader)
{
	return reader->file.chunk_count;
}

void wct_reader_chunk(const struct wct_reader *reader, size_t chunk, struct wct_chunk *info)
{
	assert(chunk < reader->file.chunk_count);
	*info = reader->file.chunks[chunk];
}

uint32_t wct_reader_kinds(const struct wct_reader *reader)
{
	uint32_t kinds = 0;

	for (size_t i = 0; i < reader->file.chunk_count; i++)
		kinds |= reader->file.chunks[i].kinds;
	return kinds;
}
