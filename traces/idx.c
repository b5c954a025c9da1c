// SPDX-License-Identifier: Apache-2.0
//
// Reading IDX through zlib, which passes plain files through as they are.
#include "traces/idx.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "traces/alloc.h"
#include "traces/file.h"

enum { IMAGE_DIMS = 3, LABEL_DIMS = 1, TYPE_UNSIGNED_BYTE = 0x08, READ_BYTES_MAX = 1 << 30 };

void idx_release(struct idx_data *data)
{
	wc_free(data->bytes);
	memset(data, 0, sizeof(*data));
}

// Read exactly `bytes`, or say which part of the file is missing.
static int read_exactly(gzFile file, const char *path, void *buffer, uint64_t bytes, const char *part, struct wc_error *err)
{
	uint64_t done = 0;

	while (done < bytes) {
		uint64_t left = bytes - done;
		int got = gzread(file, (uint8_t *)buffer + done, left > READ_BYTES_MAX ? READ_BYTES_MAX : (unsigned)left);
		int code;
		const char *text = gzerror(file, &code);

		if (code == Z_ERRNO)
			return wc_fail(err, WC_ERR_SYSTEM, "cannot read '%s': %s", path, strerror(errno));
		if (code == Z_MEM_ERROR)
			return wc_fail(err, WC_ERR_SYSTEM, "cannot read '%s': out of memory", path);
		if (got <= 0)
			return wc_fail(err, WC_ERR_INPUT, "'%s': IDX %s ends after %" PRIu64 " of %" PRIu64 " bytes%s%s", path, part, done,
				       bytes, code == Z_OK ? "" : ": ", code == Z_OK ? "" : text);
		done += (uint64_t)got;
	}
	return 0;
}

// After the last sample the file must end, and its compression must say so.
static int expect_end(gzFile file, const char *path, struct wc_error *err)
{
	unsigned char extra;
	int got = gzread(file, &extra, 1);
	int code;
	const char *text = gzerror(file, &code);

	if (got > 0)
		return wc_fail(err, WC_ERR_INPUT, "'%s': IDX data go on beyond the samples that its header counts", path);
	if (code != Z_OK)
		return wc_fail(err, WC_ERR_INPUT, "'%s': damaged at its end: %s", path, text);
	return 0;
}

static uint32_t big_endian(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static int read_file(gzFile file, const char *path, int dims, uint32_t limit, struct idx_data *data, struct wc_error *err)
{
	unsigned char header[4 + 4 * IMAGE_DIMS];
	uint64_t sample_bytes, bytes;
	int ret;

	ret = read_exactly(file, path, header, 4, "magic", err);
	if (ret)
		return ret;
	if (header[0] || header[1] || header[2] != TYPE_UNSIGNED_BYTE || header[3] != dims)
		return wc_fail(err, WC_ERR_INPUT, "'%s': IDX magic is %02x%02x%02x%02x, a file of %s has 000008%02x", path, header[0],
			       header[1], header[2], header[3], dims == IMAGE_DIMS ? "images" : "labels", dims);
	ret = read_exactly(file, path, header + 4, 4 * (uint64_t)dims, "header", err);
	if (ret)
		return ret;

	data->file_count = big_endian(header + 4);
	data->height = dims == IMAGE_DIMS ? big_endian(header + 8) : 1;
	data->width = dims == IMAGE_DIMS ? big_endian(header + 12) : 1;
	if (!data->file_count || !data->height || !data->width)
		return wc_fail(err, WC_ERR_INPUT, "'%s': empty IDX data: %" PRIu32 " samples of %" PRIu32 " x %" PRIu32, path,
			       data->file_count, data->height, data->width);
	if (data->height > IDX_SIDE_MAX || data->width > IDX_SIDE_MAX)
		return wc_fail(err, WC_ERR_INPUT, "'%s': images of %" PRIu32 " x %" PRIu32 ", the limit is %d a side", path,
			       data->height, data->width, IDX_SIDE_MAX);
	if (limit > data->file_count)
		return wc_fail(err, WC_ERR_INPUT, "'%s': holds %" PRIu32 " samples, %" PRIu32 " are asked for", path, data->file_count,
			       limit);
	data->count = limit ? limit : data->file_count;
	sample_bytes = (uint64_t)data->height * data->width;
	bytes = data->count * sample_bytes;
	if (bytes > IDX_BYTES_MAX)
		return wc_fail(err, WC_ERR_INPUT, "'%s': %" PRIu64 " bytes of IDX data, the limit is %" PRIu64, path, bytes,
			       IDX_BYTES_MAX);

	data->bytes = wc_alloc(bytes, 1);
	if (!data->bytes)
		return wc_fail(err, WC_ERR_SYSTEM, "'%s': out of memory for %" PRIu64 " bytes of IDX data", path, bytes);
	ret = read_exactly(file, path, data->bytes, bytes, "data", err);
	if (!ret && data->count == data->file_count)
		ret = expect_end(file, path, err);
	return ret;
}

static int read_path(const char *path, int dims, uint32_t limit, struct idx_data *data, struct wc_error *err)
{
	const char *why;
	gzFile file;
	int fd, ret;

	memset(data, 0, sizeof(*data));
	fd = wc_file_open(path, WC_FILE_REGULAR, &why);
	if (fd < 0)
		return wc_fail(err, WC_ERR_INPUT, "cannot open '%s': %s", path, why);
	file = gzdopen(fd, "rb");
	if (!file) {
		close(fd);
		return wc_fail(err, WC_ERR_SYSTEM, "cannot read '%s': out of memory", path);
	}
	ret = read_file(file, path, dims, limit, data, err);
	gzclose_r(file);
	if (ret)
		idx_release(data);
	return ret;
}

int idx_read_images(const char *path, uint32_t limit, struct idx_data *data, struct wc_error *err)
{
	return read_path(path, IMAGE_DIMS, limit, data, err);
}

int idx_read_labels(const char *path, uint32_t limit, struct idx_data *data, struct wc_error *err)
{
	return read_path(path, LABEL_DIMS, limit, data, err);
}
