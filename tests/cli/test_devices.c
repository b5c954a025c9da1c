// SPDX-License-Identifier: Apache-2.0
//
// Rule: RTL in both forms of the array and C model say the same of one run: bits, bytes, and the place of a fault.
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

TestSuite(devices, .fini = command_clean);

static const char *const devices[] = {"--backend model", "--backend rtl --arith rtl", "--backend rtl --arith dpi", "--backend rtl --arith dpi --random-memory",
					  "--backend rtl --arith dpi --ports 2", "--backend rtl --arith dpi --ports 2 --random-memory"};
enum { DEVICES = sizeof(devices) / sizeof(*devices) };

Test(devices, agree_on_bits_and_bytes)
{
	json_t *first = NULL;

	for (size_t i = 0; i < DEVICES; i++) {
		char arguments[512];
		struct command command;
		json_t *run;

		snprintf(arguments, sizeof(arguments), "run --batch 2 --schedule 2ps --json %s", devices[i]);
		command_run(&command, arguments);
		cr_assert_eq(command.status, 0, "%s: %s", devices[i], command.err);
		run = json_loads(command.out, 0, NULL);
		cr_assert(run);
		if (!first)
			first = json_incref(run);
		cr_expect(json_equal(json_object_get(run, "digests"), json_object_get(first, "digests")), "%s", devices[i]);
		cr_expect(json_equal(json_object_get(run, "read_by_class"), json_object_get(first, "read_by_class")), "%s", devices[i]);
		cr_expect(json_equal(json_object_get(run, "write_by_class"), json_object_get(first, "write_by_class")), "%s", devices[i]);
		cr_expect_eq(json_is_integer(json_object_get(run, "cycles")), i > 0, "%s", devices[i]);
		json_decref(run);
		command_release(&command);
	}
	json_decref(first);
}

Test(devices, locate_the_same_fault)
{
	for (size_t i = 0; i < DEVICES; i++) {
		char arguments[512];
		struct command command;

		// conv1's tiles come from command 8 on; each has two waves.
		snprintf(arguments, sizeof(arguments), "run --batch 2 --schedule mbs %s --fault weight:command=10,wave=0,row=3,column=5,bit=13", devices[i]);
		command_run(&command, arguments);
		cr_expect_eq(command.status, 1, "%s: %s", devices[i], command.err);
		cr_expect(strstr(command.err, "layer 'conv1' forward"), "%s: %s", devices[i], command.err);
		cr_expect(strstr(command.err, "PE (row 3, column 5), wave 0"), "%s: %s", devices[i], command.err);
		command_rerun(&command);
		cr_expect_eq(strstr(command.err, "--waves-window") != NULL, i > 0, "%s: %s", devices[i], command.err);
		command_release(&command);
	}
}
