// SPDX-License-Identifier: Apache-2.0
//
// Rule: commands join by pipes; a trace or tensor that is cut or damaged anywhere, and a schedule that is wrong in any way, ends
// in a message that names it; bytes other than the predicted ones fail a run.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

TestSuite(damage, .fini = command_clean);

#define SMALL "run --net data/small.yaml --backend model --array 8x8 --batch 2 --buffer 16KiB --schedule data/small.schedule "
// The command again, from the scratch directory.
#define AGAIN "../../../wavecore "

static char *scratch_file(const char *name, size_t *size)
{
	char path[512];
	char *bytes = malloc(1 << 20);
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", command_scratch(), name);
	file = fopen(path, "rb");
	cr_assert(file && bytes, "%s", path);
	*size = fread(bytes, 1, 1 << 20, file);
	cr_assert(*size > 0 && *size < 1 << 20);
	fclose(file);
	return bytes;
}

static void expect_status(const char *arguments, int status, const char *message)
{
	struct command command;

	command_run(&command, arguments);
	cr_expect_eq(command.status, status, "wavecore %s: status %d\n%s", arguments, command.status, command.err);
	cr_expect(strstr(command.err, message) || strstr(command.out, message), "wavecore %s: no '%s'\n%s%s", arguments, message, command.out, command.err);
	command_release(&command);
}

Test(damage, plan_pipes_into_check)
{
	expect_status("plan fashion-conv --schedule mbs --batch 4 | " AGAIN "check -", 0, "proven");
	expect_status("plan fashion-conv --schedule 2ps --batch 4 | sed '0,/ load /{/ load /d}' | " AGAIN "check -", 1, "rows");
}

Test(damage, wrong_schedules_name_layer_and_rows)
{
	static const struct {
		const char *edit;
		int status;
		const char *message;
	} cases[] = {
		{"s/compute act:c2=0:4/compute act:c2=0:5/", 2, ":20: the row behind the last is 5"},
		{"/store act:r1/d", 1, "needs act:r1 rows 0:8"},
		{"/load mask/d", 1, "needs mask:r1 rows 0:8"},
		{"s/buffer 16384/buffer 4096/", 1, "it has 4096"},
		{"s/compute act:c1=0:8/compute act:c1=0:7/", 1, "act:c1"},
		{"/accumulate c1/d", 1, "c1"},
		{"s/sub_batch 2/sub_batch x/", 2, "'x'"},
		{"s/act:r1=0:8/act:r9=0:8/", 2, "r9"},
	};
	char line[1024];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(line, sizeof(line), "sed '%s' tests/cli/data/small.schedule > %s/edited.schedule", cases[i].edit, command_scratch());
		cr_assert_eq(system(line), 0);
		expect_status("check --net data/small.yaml edited.schedule", cases[i].status, cases[i].message);
	}
}

Test(damage, wrong_schedules_on_graphs_name_layer_and_rows)
{
	static const struct {
		const char *edit;
		int status;
		const char *message;
	} cases[] = {
		{"/^split/d", 1, "needs grad:g1 rows 0:8"},
		{"s/act:g0=0:8/act:g0=0:7/", 1, "the statistics of 'g0' need rows 0:8 all at once"},
		{"s/^compute grad:r0=0:8 by c1/compute grad:r0=0:8 by a/", 2, "split a"},
		{"s/^compute grad:r0=0:8 by c1/compute grad:r0=0:7 by c1/", 1, "grad:r0 rows 0:8 with the parts of 2 readers, rows 7:8 have 1"},
		{"/^accumulate fc/d", 1, "grad:fc rows 0:1 are never accumulated"},
		{"s/^buffer 8192/buffer 4096/", 1, "it has 4096"},
	};
	char line[1024];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(line, sizeof(line), "sed '%s' tests/cli/data/block.schedule > %s/edited.schedule", cases[i].edit, command_scratch());
		cr_assert_eq(system(line), 0);
		expect_status("check --net data/block.yaml edited.schedule", cases[i].status, cases[i].message);
	}
}

Test(damage, a_trace_cut_anywhere_is_told)
{
	size_t size;
	char *bytes;

	expect_status(SMALL "--trace t.wct --golden-trace g.wct --trace-level wave", 0, "equal");
	bytes = scratch_file("t.wct", &size);
	for (size_t cut = 0; cut < size; cut += cut < 24 ? 6 : size / 7) {
		command_write("cut.wct", bytes, cut);
		expect_status("trace stat cut.wct", 2, "cut.wct");
		expect_status("trace dump cut.wct", 2, "cut.wct");
		expect_status("diff cut.wct g.wct", 2, "cut.wct");
	}
	// One bit in the compressed events.
	bytes[size / 2] ^= 4;
	command_write("bit.wct", bytes, size);
	expect_status("trace dump bit.wct", 2, "bit.wct");
	expect_status("diff g.wct bit.wct", 2, "bit.wct");
	free(bytes);
}

Test(damage, diff_names_tile_and_element)
{
	expect_status(SMALL "--trace t.wct --golden-trace g.wct --trace-level wave --fault weight:command=4,wave=1,row=2,column=3,bit=13", 1,
		      "PE (row 2, column 3), wave 1");
	expect_status("diff t.wct g.wct", 1, "tile");
	expect_status("diff t.wct g.wct", 1, "command 4");
	expect_status("diff t.wct g.wct", 1, "'c1'");
	expect_status("diff --json t.wct g.wct", 1, "\"c1\"");
}

// A version 1 .npy file: header and `count` zero bytes.
static void write_npy(const char *dictionary, size_t count)
{
	unsigned char bytes[128 + 4096] = "\x93NUMPY\x01";

	cr_assert_leq(count, 4096);
	bytes[8] = 118;
	memset(bytes + 10, ' ', 117);
	memcpy(bytes + 10, dictionary, strlen(dictionary));
	bytes[127] = '\n';
	command_write("x.npy", bytes, 128 + count);
}

Test(damage, tensors_that_are_not_what_is_needed)
{
	static const struct {
		const char *dictionary;
		size_t count;
	} cases[] = {
		{"{'descr': '<f2', 'fortran_order': False, 'shape': (2, 8, 8, 4), }", 1000}, // cut off
		{"{'descr': '<f2', 'fortran_order': True, 'shape': (2, 8, 8, 4), }", 1024},
		{"{'descr': '<f2', 'fortran_order': False, 'shape': (2, 4, 8, 8), }", 1024},
		{"{'descr': '<c8', 'fortran_order': False, 'shape': (2, 8, 8, 4), }", 4096},
		{"{'descr': '<f2', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 1024},
		{"{'descr': '<f2', 'fortran_order': False, 'shape': (2, 8", 1024},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		write_npy(cases[i].dictionary, cases[i].count);
		command_expect_error(SMALL "--input x.npy", 2, "x.npy");
	}
	// What these differ from.
	write_npy("{'descr': '<f2', 'fortran_order': False, 'shape': (2, 8, 8, 4), }", 1024);
	expect_status(SMALL "--input x.npy", 0, "equal");
}

Test(damage, bytes_beyond_the_prediction_fail_the_run)
{
	// row_bytes of the first load, 64 more: every value is right, the byte count is not.
	expect_status(SMALL "--fault command:command=0,address=36,bit=6", 1, "DRAM bytes of class 'io' read: the memory moved 2112, predicted were 2048");
}
