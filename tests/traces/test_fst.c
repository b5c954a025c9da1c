// SPDX-License-Identifier: Apache-2.0
//
// Rule: a waveform that is cut off anywhere, or was not closed, is told with its name; a whole one passes.
#include <criterion/criterion.h>
#include <string.h>

#include "support.h"
#include "traces/fst.h"

TestSuite(fst, .init = scratch_create, .fini = scratch_remove);

static uint8_t file[1024];
static size_t used;

static void put_block(uint8_t type, uint64_t length)
{
	file[used] = type;
	for (int i = 0; i < 8; i++)
		file[used + 1 + (size_t)i] = (uint8_t)(length >> (56 - 8 * i));
	memset(file + used + 9, 0, length - 8);
	used += 1 + length;
}

// Header, two blocks with values, geometry, a blackout, hierarchy: as a run leaves them.
static void make(uint8_t hierarchy)
{
	used = 0;
	put_block(0, 329);
	file[65 + 7] = 2;
	put_block(8, 40);
	put_block(5, 8);
	put_block(3, 24);
	put_block(2, 10);
	put_block(hierarchy, 50);
}

static void expect_cut(size_t count, const char *what)
{
	const char *path = scratch_path("w.fst");
	struct wc_error err = {""};

	file_write(path, file, count);
	cr_expect_eq(fst_check_whole(path, &err), WC_ERR_SYSTEM, "%s, %zu bytes", what, count);
	cr_expect(strstr(err.text, path) && strstr(err.text, "cut off"), "%s: %s", what, err.text);
}

Test(fst, a_whole_one_passes)
{
	static const uint8_t hierarchies[] = {4, 6, 7};
	const char *path = scratch_path("w.fst");
	struct wc_error err;

	for (size_t i = 0; i < sizeof(hierarchies); i++) {
		make(hierarchies[i]);
		file_write(path, file, used);
		cr_expect_eq(fst_check_whole(path, &err), 0, "%s", err.text);
	}
}

Test(fst, cut_anywhere)
{
	make(6);
	for (size_t count = 0; count < used; count++)
		expect_cut(count, "prefix");
}

Test(fst, never_finished_or_overwritten)
{
	static const struct {
		const char *what;
		size_t offset;
		uint8_t value;
	} cases[] = {
		{"no header", 0, 1},
		{"a header of another length", 8, 0x40},
		{"more blocks of values announced", 65 + 7, 3},
		{"fewer blocks of values announced", 65 + 7, 1},
		{"a block being written", 330, 255},
		{"a block of no known type", 330, 99},
		{"a block of length 0", 330 + 8, 0},
		{"a block past the end", 330 + 1, 0x80},
		{"a second header", 330, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		make(6);
		file[cases[i].offset] = cases[i].value;
		expect_cut(used, cases[i].what);
	}
}

Test(fst, what_is_not_there_is_told)
{
	struct wc_error err;

	cr_expect_eq(fst_check_whole(scratch_path("none.fst"), &err), WC_ERR_SYSTEM);
	cr_expect(strstr(err.text, "none.fst"), "%s", err.text);
	cr_expect_eq(fst_check_whole("/", &err), WC_ERR_SYSTEM);
}
