// SPDX-License-Identifier: Apache-2.0
//
// .npy against bytes made by hand and by NumPy's rules, and every way such a file can be wrong.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "traces/alloc.h"
#include "traces/npy.h"

TestSuite(npy, .init = scratch_create, .fini = scratch_remove);

// numpy.save(f, numpy.array([[1, 2, 3], [4, 5, -6]], numpy.float16)), byte by byte.
static const uint8_t golden_f16[] =
	"\x93NUMPY\x01\x00\x76\x00"
	"{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }"
	"                                                          \n"
	"\x00\x3c\x00\x40\x00\x42\x00\x44\x00\x45\x00\xc6";

static const uint16_t golden_values[6] = { 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0xc600 };

static uint64_t count_of(const struct npy_array *array)
{
	uint64_t count = 1;

	for (int i = 0; i < array->dims; i++)
		count *= array->shape[i];
	return count;
}

Test(npy, writes_the_bytes_numpy_writes)
{
	uint16_t values[6];
	struct npy_array array = { .type = NPY_FLOAT16, .dims = 2, .shape = { 2, 3 }, .data = values };
	struct wc_error err;
	size_t count;
	uint8_t *bytes;

	memcpy(values, golden_values, sizeof(values));
	cr_assert_eq(npy_write(scratch_path("a.npy"), &array, &err), 0, "%s", err.text);
	bytes = file_read(scratch_path("a.npy"), &count);
	cr_assert_eq(count, sizeof(golden_f16) - 1);
	cr_assert_eq(memcmp(bytes, golden_f16, count), 0);
	free(bytes);
}

Test(npy, reads_the_bytes_numpy_writes)
{
	struct npy_array array;
	struct wc_error err;

	file_write(scratch_path("a.npy"), golden_f16, sizeof(golden_f16) - 1);
	cr_assert_eq(npy_read(scratch_path("a.npy"), &array, &err), 0, "%s", err.text);
	cr_assert_eq(array.type, NPY_FLOAT16);
	cr_assert_str_eq(npy_type_name(array.type), "float16");
	cr_assert_eq(array.dims, 2);
	cr_assert_eq(array.shape[0], 2);
	cr_assert_eq(array.shape[1], 3);
	cr_assert_eq(count_of(&array), 6);
	cr_assert_eq(memcmp(array.data, golden_values, sizeof(golden_values)), 0);
	npy_release(&array);
	cr_assert_null(array.data);
}

Test(npy, round_trips_every_type_and_number_of_dimensions)
{
	static const uint64_t shape[NPY_DIMS_MAX] = { 2, 1, 3, 5, 4 };
	uint64_t state = test_seed();

	for (int type = 0; type < NPY_TYPE_COUNT; type++) {
		for (int dims = 0; dims <= NPY_DIMS_MAX; dims++) {
			struct npy_array array = { .type = (enum npy_type)type, .dims = dims }, back;
			uint8_t data[120 * 8];
			struct wc_error err;
			size_t bytes;

			memcpy(array.shape, shape, sizeof(shape));
			for (size_t i = 0; i < sizeof(data); i++)
				data[i] = (uint8_t)random_next(&state);
			array.data = data;
			bytes = count_of(&array) * npy_element_bytes(array.type);
			cr_assert_eq(npy_write(scratch_path("a.npy"), &array, &err), 0, "%s", err.text);
			cr_assert_eq(npy_read(scratch_path("a.npy"), &back, &err), 0, "%s", err.text);
			cr_assert_eq(back.type, array.type);
			cr_assert_eq(back.dims, dims);
			cr_assert_eq(memcmp(back.shape, shape, (size_t)dims * sizeof(*shape)), 0);
			cr_assert_eq(memcmp(back.data, data, bytes), 0);
			npy_release(&back);
		}
	}
}

Test(npy, an_empty_dimension_has_no_data)
{
	struct npy_array array = { .type = NPY_FLOAT32, .dims = 2, .shape = { 4, 0 } }, back;
	struct wc_error err;

	cr_assert_eq(npy_write(scratch_path("a.npy"), &array, &err), 0, "%s", err.text);
	cr_assert_eq(npy_read(scratch_path("a.npy"), &back, &err), 0, "%s", err.text);
	cr_assert_eq(count_of(&back), 0);
	npy_release(&back);
}

// A version 1.0 file of one header and `data_bytes` zero bytes.
static void write_with_header(const char *header, size_t data_bytes)
{
	uint8_t bytes[1024] = "\x93NUMPY\x01";
	size_t length = strlen(header);

	bytes[8] = (uint8_t)length;
	bytes[9] = (uint8_t)(length >> 8);
	memcpy(bytes + 10, header, length);
	file_write(scratch_path("a.npy"), bytes, 10 + length + data_bytes);
}

Test(npy, other_spacing_quotes_and_order_of_keys_are_read)
{
	struct npy_array array;
	struct wc_error err;

	write_with_header("{\"shape\":(3,2,),'fortran_order' : False ,'descr':\"|u1\"}", 6);
	cr_assert_eq(npy_read(scratch_path("a.npy"), &array, &err), 0, "%s", err.text);
	cr_assert_eq(array.type, NPY_UINT8);
	cr_assert_eq(array.dims, 2);
	npy_release(&array);
}

static const struct {
	const char *header;
	size_t data_bytes;
	const char *says;
} wrong_headers[] = {
	{ "{'descr': '<f2', 'fortran_order': True, 'shape': (2,), }", 4, "Fortran order" },
	{ "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", 16, "'<f8'" },
	{ "{'descr': '>f2', 'fortran_order': False, 'shape': (2,), }", 4, "'>f2'" },
	{ "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", 4, "'|O'" },
	{ "{'descr': [('x', '<f2')], 'fortran_order': False, 'shape': (2,), }", 4, "structured" },
	{ "{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }", 3, "holds 3 bytes of data, its shape needs 4" },
	{ "{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }", 5, "holds 5 bytes of data, its shape needs 4" },
	{ "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1), }", 2, "more than 5 dimensions" },
	{ "{'descr': '<f2', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 2, "needs over" },
	{ "{'descr': '<f2', 'fortran_order': False, 'shape': (99999999999999999999,), }", 2, "below 2^63" },
	{ "{'descr': '<f2', 'fortran_order': False, 'shape': (-2,), }", 4, "a dimension at '-2" },
	{ "{'descr': '<f2', 'fortran_order': False, 'shape': (2 3), }", 12, "',' or ')'" },
	{ "{'descr': '<f2', 'fortran_order': False, 'shape': (2", 4, "',' or ')'" },
	{ "{'descr': '<f2', 'fortran_order': False, 'shape': 2, }", 4, "a shape" },
	{ "{'descr': '<f2', 'fortran_order': Maybe, 'shape': (2,), }", 4, "True or False" },
	{ "{'descr': '<f2', 'fortran_order': False, }", 4, "'shape' is missing" },
	{ "{'fortran_order': False, 'shape': (2,), }", 4, "'descr' is missing" },
	{ "{'descr': '<f2', 'descr': '<f2', 'fortran_order': False, 'shape': (2,), }", 4, "'descr' is given twice" },
	{ "{'descr': '<f2', 'colour': 'red', 'fortran_order': False, 'shape': (2,), }", 4, "'colour' is unknown" },
	{ "{'descr': '<f2', 'fortran_order': False, 'shape': (2,), } extra", 4, "the end" },
	{ "{'descr': <f2, 'fortran_order': False, 'shape': (2,), }", 4, "a quoted string" },
	{ "{'descr", 4, "a short string" },
	{ "{'descr' '<f2'}", 4, "':'" },
	{ "{'descr': '<f2' 'shape': (2,)}", 4, "',' or '}'" },
	{ "", 4, "'{'" },
};

Test(npy, types_without_a_use_are_neither_taken_nor_offered)
{
	struct npy_array array;
	struct wc_error err;

	write_with_header("{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }", 4);
	cr_expect_eq(npy_read_types(scratch_path("a.npy"), 1u << NPY_UINT8 | 1u << NPY_FLOAT32, &array, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "elements of type '<u2'; must be one of: float32 '<f4', uint8 '|u1'"), "%s", err.text);
	cr_expect_eq(npy_read_types(scratch_path("a.npy"), 1u << NPY_UINT16, &array, &err), 0, "%s", err.text);
	npy_release(&array);
}

Test(npy, a_wrong_header_is_refused_with_the_reason)
{
	for (size_t i = 0; i < sizeof(wrong_headers) / sizeof(*wrong_headers); i++) {
		struct npy_array array;
		struct wc_error err = { "" };

		write_with_header(wrong_headers[i].header, wrong_headers[i].data_bytes);
		cr_assert_eq(npy_read(scratch_path("a.npy"), &array, &err), WC_ERR_INPUT, "%s", wrong_headers[i].header);
		cr_assert(strstr(err.text, wrong_headers[i].says), "'%s' does not say '%s'", err.text, wrong_headers[i].says);
		cr_assert(strstr(err.text, "a.npy"), "'%s' does not name the file", err.text);
		cr_assert_null(array.data);
	}
}

Test(npy, a_file_cut_at_any_length_is_refused)
{
	for (size_t length = 0; length < sizeof(golden_f16) - 1; length++) {
		struct npy_array array;
		struct wc_error err;

		file_write(scratch_path("a.npy"), golden_f16, length);
		cr_assert_eq(npy_read(scratch_path("a.npy"), &array, &err), WC_ERR_INPUT, "%zu bytes", length);
	}
}

Test(npy, a_flipped_byte_never_crashes)
{
	size_t accepted = 0;

	for (size_t at = 0; at < sizeof(golden_f16) - 1; at++) {
		for (int bit = 0; bit < 8; bit++) {
			uint8_t bytes[sizeof(golden_f16) - 1];
			struct npy_array array;
			struct wc_error err;
			int ret;

			memcpy(bytes, golden_f16, sizeof(bytes));
			bytes[at] ^= (uint8_t)(1 << bit);
			file_write(scratch_path("a.npy"), bytes, sizeof(bytes));
			ret = npy_read(scratch_path("a.npy"), &array, &err);
			cr_assert(ret == 0 || ret == WC_ERR_INPUT);
			accepted += ret == 0;
			if (!ret)
				cr_assert_eq(count_of(&array) * npy_element_bytes(array.type), 12, "byte %zu", at);
			npy_release(&array);
		}
	}
	// The format has no checksum: each of the 96 flips in the data gives another valid file.
	cr_assert_geq(accepted, 96);
}

Test(npy, other_files_are_refused)
{
	struct npy_array array;
	struct wc_error err;

	cr_assert_eq(npy_read(scratch_path("none.npy"), &array, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "none.npy"));
	cr_assert_eq(npy_read("/", &array, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "not a regular file"));
	file_write(scratch_path("a.npy"), "PK\3\4 an npz archive", 20);
	cr_assert_eq(npy_read(scratch_path("a.npy"), &array, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "not a .npy file"));
	file_write(scratch_path("a.npy"), "\x93NUMPY\x02\x00\x00\x00\x00\x00", 12);
	cr_assert_eq(npy_read(scratch_path("a.npy"), &array, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "version 2.0"));
}

Test(npy, a_full_disk_is_reported)
{
	uint16_t value = 1;
	struct npy_array array = { .type = NPY_UINT16, .dims = 0, .data = &value };
	struct wc_error err;

	cr_assert_eq(npy_write("/dev/full", &array, &err), WC_ERR_SYSTEM);
	cr_assert(strstr(err.text, "/dev/full"));
	cr_assert_eq(npy_write(scratch_path("no/such/directory.npy"), &array, &err), WC_ERR_INPUT);
}

Test(npy, every_failed_allocation_is_reported)
{
	struct npy_array array;
	struct wc_error err;
	size_t nth;

	file_write(scratch_path("a.npy"), golden_f16, sizeof(golden_f16) - 1);
	for (nth = 1;; nth++) {
		int ret;

		wc_alloc_fail_nth(nth);
		ret = npy_read(scratch_path("a.npy"), &array, &err);
		if (wc_alloc_fail_pending()) {
			cr_assert_eq(ret, 0);
			npy_release(&array);
			break;
		}
		cr_assert_eq(ret, WC_ERR_SYSTEM);
		cr_assert(strstr(err.text, "out of memory"));
		cr_assert_null(array.data);
	}
	wc_alloc_fail_nth(0);
	cr_assert_gt(nth, 2);
}
