// SPDX-License-Identifier: Apache-2.0
//
// IDX against generated files, compressed and plain, and every way they can be wrong.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "support.h"
#include "traces/alloc.h"
#include "traces/idx.h"

TestSuite(idx, .init = scratch_create, .fini = scratch_remove);

enum { COUNT = 5, HEIGHT = 28, WIDTH = 28, HEADER = 16, IMAGE = HEIGHT * WIDTH };

static void write_gz(const char *path, const void *bytes, unsigned count)
{
	gzFile file = gzopen(path, "wb");

	cr_assert(file);
	cr_assert_eq(gzwrite(file, bytes, count), (int)count);
	cr_assert_eq(gzclose(file), Z_OK);
}

static uint8_t images[HEADER + COUNT * IMAGE];

static void make_images(void)
{
	static const uint8_t header[HEADER] = { 0, 0, 8, 3, 0, 0, 0, COUNT, 0, 0, 0, HEIGHT, 0, 0, 0, WIDTH };
	uint64_t state = test_seed();

	memcpy(images, header, HEADER);
	for (size_t i = HEADER; i < sizeof(images); i++)
		images[i] = (uint8_t)random_next(&state);
}

Test(idx, reads_images_and_labels_compressed_and_plain)
{
	static const uint8_t labels[] = { 0, 0, 8, 1, 0, 0, 0, 3, 9, 0, 255 };
	struct idx_data data;
	struct wc_error err;

	make_images();
	write_gz(scratch_path("images.gz"), images, sizeof(images));
	file_write(scratch_path("images"), images, sizeof(images));
	for (int plain = 0; plain < 2; plain++) {
		cr_assert_eq(idx_read_images(scratch_path(plain ? "images" : "images.gz"), 0, &data, &err), 0, "%s", err.text);
		cr_assert_eq(data.count, COUNT);
		cr_assert_eq(data.file_count, COUNT);
		cr_assert_eq(data.height, HEIGHT);
		cr_assert_eq(data.width, WIDTH);
		cr_assert_eq(memcmp(data.bytes, images + HEADER, COUNT * IMAGE), 0);
		idx_release(&data);
	}
	write_gz(scratch_path("labels.gz"), labels, sizeof(labels));
	cr_assert_eq(idx_read_labels(scratch_path("labels.gz"), 0, &data, &err), 0, "%s", err.text);
	cr_assert_eq(data.count, 3);
	cr_assert_eq(memcmp(data.bytes, "\x09\x00\xff", 3), 0);
	idx_release(&data);
}

Test(idx, a_limit_reads_the_first_samples_and_no_more_than_there_are)
{
	struct idx_data data;
	struct wc_error err;

	make_images();
	write_gz(scratch_path("images.gz"), images, sizeof(images));
	cr_assert_eq(idx_read_images(scratch_path("images.gz"), 2, &data, &err), 0, "%s", err.text);
	cr_assert_eq(data.count, 2);
	cr_assert_eq(data.file_count, COUNT);
	cr_assert_eq(memcmp(data.bytes, images + HEADER, 2 * IMAGE), 0);
	idx_release(&data);
	cr_assert_eq(idx_read_images(scratch_path("images.gz"), COUNT + 1, &data, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "holds 5 samples, 6 are asked for"), "%s", err.text);
	cr_assert_null(data.bytes);
}

static const struct {
	uint8_t header[HEADER];
	const char *says;
} wrong_headers[] = {
	{ { 0, 0, 8, 1, 0, 0, 0, COUNT, 0, 0, 0, HEIGHT, 0, 0, 0, WIDTH }, "magic is 00000801" },
	{ { 0, 0, 9, 3, 0, 0, 0, COUNT, 0, 0, 0, HEIGHT, 0, 0, 0, WIDTH }, "magic is 00000903" },
	{ { 1, 0, 8, 3, 0, 0, 0, COUNT, 0, 0, 0, HEIGHT, 0, 0, 0, WIDTH }, "magic is 01000803" },
	{ { 0, 0, 8, 3, 0, 0, 0, 0, 0, 0, 0, HEIGHT, 0, 0, 0, WIDTH }, "empty" },
	{ { 0, 0, 8, 3, 0, 0, 0, COUNT, 0, 0, 0, 0, 0, 0, 0, WIDTH }, "empty" },
	{ { 0, 0, 8, 3, 0, 0, 0, COUNT, 0, 1, 0, 0, 0, 0, 0, WIDTH }, "65536 x 28, the limit is 4096" },
	{ { 0, 0, 8, 3, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, HEIGHT, 0, 0, 0, WIDTH }, "the limit is" },
	{ { 0, 0, 8, 3, 0, 0, 0, COUNT + 1, 0, 0, 0, HEIGHT, 0, 0, 0, WIDTH }, "data ends after" },
	{ { 0, 0, 8, 3, 0, 0, 0, COUNT - 1, 0, 0, 0, HEIGHT, 0, 0, 0, WIDTH }, "go on beyond" },
};

Test(idx, a_wrong_header_is_refused_with_the_reason)
{
	for (size_t i = 0; i < sizeof(wrong_headers) / sizeof(*wrong_headers); i++) {
		struct idx_data data;
		struct wc_error err = { "" };

		make_images();
		memcpy(images, wrong_headers[i].header, HEADER);
		write_gz(scratch_path("images.gz"), images, sizeof(images));
		cr_assert_eq(idx_read_images(scratch_path("images.gz"), 0, &data, &err), WC_ERR_INPUT, "case %zu", i);
		cr_assert(strstr(err.text, wrong_headers[i].says), "'%s' does not say '%s'", err.text, wrong_headers[i].says);
		cr_assert(strstr(err.text, "images.gz"));
		cr_assert_null(data.bytes);
	}
}

Test(idx, a_file_cut_at_any_length_or_flipped_anywhere_never_gives_other_data)
{
	static const uint8_t labels[] = { 0, 0, 8, 1, 0, 0, 0, 4, 9, 0, 255, 7 };
	struct idx_data data;
	struct wc_error err;
	uint8_t *bytes;
	size_t count, refused = 0;

	write_gz(scratch_path("labels.gz"), labels, sizeof(labels));
	bytes = file_read(scratch_path("labels.gz"), &count);
	for (size_t length = 0; length < count; length++) {
		file_write(scratch_path("labels.gz"), bytes, length);
		cr_assert_eq(idx_read_labels(scratch_path("labels.gz"), 0, &data, &err), WC_ERR_INPUT, "%zu of %zu bytes", length, count);
	}
	for (size_t bit = 0; bit < 8 * count; bit++) {
		int ret;

		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		file_write(scratch_path("labels.gz"), bytes, count);
		ret = idx_read_labels(scratch_path("labels.gz"), 0, &data, &err);
		cr_assert(ret == 0 || ret == WC_ERR_INPUT);
		refused += ret != 0;
		// gzip does not check its time stamp and padding, which change nothing.
		if (!ret)
			cr_assert(data.count == 4 && !memcmp(data.bytes, labels + 8, 4), "bit %zu", bit);
		idx_release(&data);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	free(bytes);
	cr_assert_gt(refused, 4 * count);
}

Test(idx, a_missing_file_and_a_directory_are_reported)
{
	struct idx_data data;
	struct wc_error err;

	cr_assert_eq(idx_read_images(scratch_path("none.gz"), 0, &data, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "none.gz"));
	cr_assert_neq(idx_read_images("/", 0, &data, &err), 0);
	cr_assert(strstr(err.text, "'/'"));
}

Test(idx, a_failed_allocation_is_reported)
{
	struct idx_data data;
	struct wc_error err;

	make_images();
	write_gz(scratch_path("images.gz"), images, sizeof(images));
	wc_alloc_fail_nth(1);
	cr_assert_eq(idx_read_images(scratch_path("images.gz"), 0, &data, &err), WC_ERR_SYSTEM);
	cr_assert_not(wc_alloc_fail_pending());
	cr_assert(strstr(err.text, "out of memory"));
	cr_assert_null(data.bytes);
}
