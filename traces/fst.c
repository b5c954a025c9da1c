// SPDX-License-Identifier: Apache-2.0
//
// A walk over the blocks of an FST file; see fst.h.
#include "traces/fst.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/file.h"

enum {
	HEADER = 0, VALUES = 1, BLACKOUT = 2, GEOMETRY = 3, HIERARCHY = 4, VALUES_ALIAS = 5, HIERARCHY_LZ4 = 6, HIERARCHY_LZ4_TWICE = 7,
	VALUES_ALIAS_2 = 8,
	HEAD_BYTES = 9,     // of every block: type and length
	LENGTH_BYTES_MIN = 8,
	HEADER_LENGTH_BYTES = 329,
	HEADER_COUNT_OFFSET = 65,
};

struct walk {
	const char *path;
	int fd;
	uint64_t file_bytes, offset;
	uint64_t values, values_announced; // blocks with values
	bool header, geometry, hierarchy;
	struct wc_error *err;
};

static int cut_off(const struct walk *walk, const char *what)
{
	return wc_fail(walk->err, WC_ERR_SYSTEM, "waveform '%s' is cut off: %s at offset %" PRIu64 " of %" PRIu64 "; is the disk full?", walk->path, what,
		       walk->offset, walk->file_bytes);
}

// The caller knows that the bytes are there.
static int read_at(const struct walk *walk, uint64_t offset, uint8_t *bytes, size_t count)
{
	ssize_t got;

	do
		got = pread(walk->fd, bytes, count, (off_t)offset);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return wc_fail(walk->err, WC_ERR_SYSTEM, "cannot read waveform '%s': %s", walk->path, strerror(errno));
	return (size_t)got == count ? 0 : cut_off(walk, "it became shorter");
}

static uint64_t big_endian(const uint8_t bytes[8])
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value = value << 8 | bytes[i];
	return value;
}

static int take_header(struct walk *walk, uint64_t length)
{
	uint8_t count[8];
	int result;

	if (walk->offset || length != HEADER_LENGTH_BYTES)
		return cut_off(walk, "no header where one must be");
	result = read_at(walk, HEADER_COUNT_OFFSET, count, sizeof(count));
	walk->header = true;
	walk->values_announced = big_endian(count);
	return result;
}

static int take_block(struct walk *walk)
{
	uint8_t head[HEAD_BYTES];
	uint64_t length;
	int result;

	if (walk->file_bytes - walk->offset < HEAD_BYTES)
		return cut_off(walk, "the file ends inside a block's head");
	result = read_at(walk, walk->offset, head, sizeof(head));
	if (result)
		return result;
	length = big_endian(head + 1);
	if (length < LENGTH_BYTES_MIN || length > walk->file_bytes - walk->offset - 1)
		return cut_off(walk, "a block has a length that cannot be");
	if (!walk->offset && head[0] != HEADER)
		return cut_off(walk, "no header");
	switch (head[0]) {
	case HEADER:
		result = take_header(walk, length);
		break;
	case VALUES:
	case VALUES_ALIAS:
	case VALUES_ALIAS_2:
		walk->values++;
		break;
	case GEOMETRY:
		walk->geometry = true;
		break;
	case HIERARCHY:
	case HIERARCHY_LZ4:
	case HIERARCHY_LZ4_TWICE:
		walk->hierarchy = true;
		break;
	case BLACKOUT:
		break;
	default:
		result = cut_off(walk, "a block was never finished");
		break;
	}
	walk->offset += 1 + length;
	return result;
}

static int walk_blocks(struct walk *walk)
{
	int result = 0;

	while (!result && walk->offset < walk->file_bytes)
		result = take_block(walk);
	if (result)
		return result;
	if (!walk->header)
		return cut_off(walk, "it is empty");
	if (!walk->geometry || !walk->hierarchy)
		return cut_off(walk, "the names of its signals are missing");
	if (walk->values != walk->values_announced)
		return cut_off(walk, "blocks with values are missing");
	return 0;
}

int fst_check_whole(const char *path, struct wc_error *err)
{
	const char *why;
	struct walk walk = {.path = path, .fd = wc_file_open(path, WC_FILE_REGULAR, &why), .err = err};
	struct stat status;
	int result;

	if (walk.fd < 0)
		return wc_fail(err, WC_ERR_SYSTEM, "cannot read waveform '%s': %s", path, why);
	if (fstat(walk.fd, &status))
		result = wc_fail(err, WC_ERR_SYSTEM, "cannot read waveform '%s': %s", path, strerror(errno));
	else {
		walk.file_bytes = (uint64_t)status.st_size;
		result = walk_blocks(&walk);
	}
	close(walk.fd);
	return result;
}
