// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing .npy. The header is a Python dictionary literal; only the form that NumPy itself writes,
// with any order of keys and spacing, is understood, and everything else is refused with a message.
#include "traces/npy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/alloc.h"
#include "traces/file.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are copied as they lie in memory");

enum { PREFIX_BYTES = 10, HEADER_BYTES_MAX = 65535, ALIGN_BYTES = 64 };

static const char npy_magic[8] = { '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0 };

static const struct {
	const char *descr;
	const char *name;
	size_t bytes;
} types[NPY_TYPE_COUNT] = {
	[NPY_FLOAT16] = { "<f2", "float16", 2 },
	[NPY_FLOAT32] = { "<f4", "float32", 4 },
	[NPY_UINT8] = { "|u1", "uint8", 1 },
	[NPY_UINT16] = { "<u2", "uint16", 2 },
	[NPY_INT32] = { "<i4", "int32", 4 },
	[NPY_INT64] = { "<i8", "int64", 8 },
};

size_t npy_element_bytes(enum npy_type type)
{
	return types[type].bytes;
}

const char *npy_type_name(enum npy_type type)
{
	return types[type].name;
}

void npy_release(struct npy_array *array)
{
	wc_free(array->data);
	memset(array, 0, sizeof(*array));
}

// The header's text while it is parsed; `at` points to a terminated string.
struct header {
	const char *path;
	const char *at;
	unsigned wanted; // bit t: enum npy_type t
	struct wc_error *err;
};

static void skip_spaces(struct header *header)
{
	header->at += strspn(header->at, " \t\n");
}

static bool accept(struct header *header, char c)
{
	skip_spaces(header);
	if (*header->at != c)
		return false;
	header->at++;
	return true;
}

static int malformed(const struct header *header, const char *expected)
{
	return wc_fail(header->err, WC_ERR_INPUT, "'%s': malformed .npy header: expected %s at '%.20s'", header->path,
		       expected, header->at);
}

// A quoted string without escapes, copied to `text`.
static int parse_string(struct header *header, char *text, size_t text_bytes)
{
	const char *end;
	size_t length;
	char quote;

	skip_spaces(header);
	quote = *header->at;
	if (quote != '\'' && quote != '"')
		return malformed(header, "a quoted string");
	end = strchr(header->at + 1, quote);
	length = end ? (size_t)(end - header->at - 1) : 0;
	if (!end || length >= text_bytes)
		return malformed(header, "a short string");
	memcpy(text, header->at + 1, length);
	text[length] = '\0';
	header->at = end + 1;
	return 0;
}

static int fail_type(const struct header *header, const char *what)
{
	char text[128] = "";
	size_t used = 0;

	for (int i = 0; i < NPY_TYPE_COUNT; i++)
		if (header->wanted & 1u << i)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s '%s'", used ? ", " : "", types[i].name, types[i].descr);
	return wc_fail(header->err, WC_ERR_INPUT, "'%s': elements %s; must be one of: %s", header->path, what, text);
}

static int parse_descr(struct header *header, struct npy_array *array)
{
	char descr[16], what[32];
	int ret;

	skip_spaces(header);
	if (*header->at == '[')
		return fail_type(header, "are structured");
	ret = parse_string(header, descr, sizeof(descr));
	if (ret)
		return ret;
	for (int i = 0; i < NPY_TYPE_COUNT; i++) {
		if (!strcmp(descr, types[i].descr) && header->wanted & 1u << i) {
			array->type = (enum npy_type)i;
			return 0;
		}
	}
	snprintf(what, sizeof(what), "of type '%s'", descr);
	return fail_type(header, what);
}

static int parse_order(struct header *header)
{
	skip_spaces(header);
	if (!strncmp(header->at, "True", 4))
		return wc_fail(header->err, WC_ERR_INPUT,
			       "'%s': Fortran order; save it in C order (numpy.ascontiguousarray)", header->path);
	if (strncmp(header->at, "False", 5))
		return malformed(header, "True or False");
	header->at += 5;
	return 0;
}

static int parse_shape(struct header *header, struct npy_array *array)
{
	if (!accept(header, '('))
		return malformed(header, "a shape in parentheses");
	while (!accept(header, ')')) {
		uint64_t size = 0;

		if (*header->at < '0' || *header->at > '9')
			return malformed(header, "a dimension");
		if (array->dims == NPY_DIMS_MAX)
			return wc_fail(header->err, WC_ERR_INPUT, "'%s': more than %d dimensions", header->path, NPY_DIMS_MAX);
		while (*header->at >= '0' && *header->at <= '9') {
			if (size > (uint64_t)INT64_MAX / 10 - 1)
				return malformed(header, "a dimension below 2^63");
			size = size * 10 + (uint64_t)(*header->at++ - '0');
		}
		array->shape[array->dims++] = size;
		if (!accept(header, ',') && *header->at != ')')
			return malformed(header, "',' or ')'");
	}
	return 0;
}

static int parse_header(struct header *header, struct npy_array *array)
{
	unsigned seen = 0;
	int ret = 0;

	if (!accept(header, '{'))
		return malformed(header, "'{'");
	while (!accept(header, '}')) {
		unsigned key_bit;
		char key[16];

		ret = parse_string(header, key, sizeof(key));
		if (ret)
			return ret;
		key_bit = !strcmp(key, "descr") ? 1 : !strcmp(key, "fortran_order") ? 2 : !strcmp(key, "shape") ? 4 : 0;
		if (!key_bit || (seen & key_bit))
			return wc_fail(header->err, WC_ERR_INPUT, "'%s': malformed .npy header: key '%s' is %s", header->path, key,
				       key_bit ? "given twice" : "unknown");
		seen |= key_bit;
		if (!accept(header, ':'))
			return malformed(header, "':'");
		ret = key_bit == 1 ? parse_descr(header, array) : key_bit == 2 ? parse_order(header) : parse_shape(header, array);
		if (ret)
			return ret;
		if (!accept(header, ',') && *header->at != '}')
			return malformed(header, "',' or '}'");
	}
	skip_spaces(header);
	if (*header->at)
		return malformed(header, "the end");
	if (seen != 7)
		return wc_fail(header->err, WC_ERR_INPUT, "'%s': malformed .npy header: '%s' is missing", header->path,
			       !(seen & 1) ? "descr" : !(seen & 2) ? "fortran_order" : "shape");
	return 0;
}

// Bytes of the array's data, or UINT64_MAX when they do not fit 63 bits.
static uint64_t data_bytes(const struct npy_array *array)
{
	uint64_t bytes = types[array->type].bytes;

	for (int i = 0; i < array->dims; i++) {
		if (!array->shape[i])
			return 0;
	}
	for (int i = 0; i < array->dims; i++) {
		if (bytes > (uint64_t)INT64_MAX / array->shape[i])
			return UINT64_MAX;
		bytes *= array->shape[i];
	}
	return bytes;
}

static int short_read(FILE *file, const char *path, const char *part, struct wc_error *err)
{
	if (ferror(file))
		return wc_fail(err, WC_ERR_SYSTEM, "cannot read '%s': %s", path, strerror(errno));
	return wc_fail(err, WC_ERR_INPUT, "'%s': ends inside its .npy %s", path, part);
}

static int read_file(FILE *file, const char *path, unsigned wanted, struct npy_array *array, struct wc_error *err)
{
	struct header header = { .path = path, .wanted = wanted, .err = err };
	uint64_t want_bytes, have_bytes;
	unsigned char prefix[PREFIX_BYTES];
	size_t header_bytes;
	struct stat status;
	char *text;
	int ret;

	if (fstat(fileno(file), &status))
		return wc_fail(err, WC_ERR_SYSTEM, "cannot read '%s': %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return wc_fail(err, WC_ERR_INPUT, "'%s' is not a regular file", path);
	if (fread(prefix, 1, sizeof(prefix), file) != sizeof(prefix))
		return short_read(file, path, "prefix of 10 bytes", err);
	if (memcmp(prefix, npy_magic, 6))
		return wc_fail(err, WC_ERR_INPUT, "'%s' is not a .npy file: it begins with other bytes than \\x93NUMPY", path);
	if (memcmp(prefix, npy_magic, 8))
		return wc_fail(err, WC_ERR_INPUT, "'%s': .npy version %d.%d; version 1.0 is read", path, prefix[6], prefix[7]);
	header_bytes = prefix[8] | (size_t)prefix[9] << 8;

	text = wc_alloc(header_bytes + 1, 1);
	if (!text)
		return wc_fail(err, WC_ERR_SYSTEM, "'%s': out of memory for %zu bytes of header", path, header_bytes);
	header.at = text;
	if (fread(text, 1, header_bytes, file) != header_bytes)
		ret = short_read(file, path, "header", err);
	else if (memchr(text, '\0', header_bytes))
		ret = wc_fail(err, WC_ERR_INPUT, "'%s': malformed .npy header: it holds a zero byte", path);
	else
		ret = parse_header(&header, array);
	wc_free(text);
	if (ret)
		return ret;

	want_bytes = data_bytes(array);
	have_bytes = (uint64_t)status.st_size - PREFIX_BYTES - header_bytes;
	if (want_bytes != have_bytes)
		return wc_fail(err, WC_ERR_INPUT, "'%s': holds %" PRIu64 " bytes of data, its shape needs %s%" PRIu64, path,
			       have_bytes, want_bytes == UINT64_MAX ? "over " : "", want_bytes == UINT64_MAX ? (uint64_t)INT64_MAX : want_bytes);
	array->data = wc_alloc(want_bytes, 1);
	if (!array->data)
		return wc_fail(err, WC_ERR_SYSTEM, "'%s': out of memory for %" PRIu64 " bytes of data", path, want_bytes);
	if (fread(array->data, 1, want_bytes, file) != want_bytes)
		return short_read(file, path, "data", err);
	return 0;
}

int npy_read_types(const char *path, unsigned wanted, struct npy_array *array, struct wc_error *err)
{
	const char *why;
	FILE *file;
	int fd, ret;

	memset(array, 0, sizeof(*array));
	fd = wc_file_open(path, WC_FILE_REGULAR, &why);
	if (fd < 0)
		return wc_fail(err, WC_ERR_INPUT, "cannot open '%s': %s", path, why);
	file = fdopen(fd, "rb");
	if (!file) {
		close(fd);
		return wc_fail(err, WC_ERR_SYSTEM, "cannot read '%s': %s", path, strerror(errno));
	}
	ret = read_file(file, path, wanted, array, err);
	fclose(file);
	if (ret)
		npy_release(array);
	return ret;
}

int npy_read(const char *path, struct npy_array *array, struct wc_error *err)
{
	return npy_read_types(path, ~0u, array, err);
}

// Fill `header` with the prefix and the padded dictionary; returns its length, a multiple of ALIGN_BYTES.
static size_t format_header(const struct npy_array *array, char header[4 * ALIGN_BYTES])
{
	size_t length, total, capacity = 4 * ALIGN_BYTES;
	char *text = header + PREFIX_BYTES;
	size_t room = capacity - PREFIX_BYTES;

	length = (size_t)snprintf(text, room, "{'descr': '%s', 'fortran_order': False, 'shape': (", types[array->type].descr);
	for (int i = 0; i < array->dims; i++)
		length += (size_t)snprintf(text + length, room - length, "%" PRIu64 "%s", array->shape[i],
					   array->dims == 1 ? "," : i + 1 < array->dims ? ", " : "");
	length += (size_t)snprintf(text + length, room - length, "), }");
	total = (PREFIX_BYTES + length + 1 + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
	memset(text + length, ' ', total - PREFIX_BYTES - length);
	header[total - 1] = '\n';
	memcpy(header, npy_magic, sizeof(npy_magic));
	header[8] = (char)((total - PREFIX_BYTES) & 0xff);
	header[9] = (char)((total - PREFIX_BYTES) >> 8);
	return total;
}

int npy_write(const char *path, const struct npy_array *array, struct wc_error *err)
{
	uint64_t bytes = data_bytes(array);
	char header[4 * ALIGN_BYTES];
	size_t header_bytes = format_header(array, header);
	const char *refused = wc_file_refused(path);
	bool written;
	FILE *file;

	if (refused)
		return wc_fail(err, WC_ERR_INPUT, "cannot create '%s': %s", path, refused);
	file = fopen(path, "wb");
	if (!file)
		return wc_fail(err, WC_ERR_INPUT, "cannot create '%s': %s", path, strerror(errno));
	written = fwrite(header, 1, header_bytes, file) == header_bytes &&
		  (!bytes || fwrite(array->data, 1, bytes, file) == bytes) && !fflush(file);
	if (!written) {
		int saved = errno;

		fclose(file);
		return wc_fail(err, WC_ERR_SYSTEM, "cannot write '%s': %s", path, strerror(saved));
	}
	if (fclose(file))
		return wc_fail(err, WC_ERR_SYSTEM, "cannot write '%s': %s", path, strerror(errno));
	return 0;
}
