// SPDX-License-Identifier: Apache-2.0
//
// Rule: a report of footprints has one number for each form and number of strips, and refuses what it has no use for.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

TestSuite(report, .fini = command_clean);

Test(report, footprints_as_a_table)
{
	command_expect_output("report footprint --net lenet --image 28 --batch 64 --strips 3 --dram 1MiB", "report-footprint.txt");
}

Test(report, footprints_as_columns_for_every_strip)
{
	struct command command;
	unsigned long long numbers[8];
	int lines = 0;

	command_run(&command, "report footprint --net vgg16 --image 448 --batch 64 --columns");
	cr_assert_eq(command.status, 0, "%s", command.err);
	for (char *line = strtok(command.out, "\n"); line; line = strtok(NULL, "\n")) {
		if (*line == '#')
			continue;
		cr_assert_eq(sscanf(line, "%llu %llu %llu %llu %llu %llu %llu %llu", &numbers[0], &numbers[1], &numbers[2], &numbers[3], &numbers[4],
				    &numbers[5], &numbers[6], &numbers[7]), 8, "%s", line);
		cr_assert_eq(numbers[0], (unsigned long long)(2 + lines++));
	}
	cr_assert_eq(lines, 15);
	// OverL-H in 16 strips: about a quarter of column-wise.
	cr_assert_lt(numbers[6] * 100, numbers[1] * 28);
	command_release(&command);
}

// What a core has for itself: weights read and gradients written, and room for the gradients.
Test(report, two_cores_have_weights_and_gradients_of_their_own)
{
	// Half the batch moves as much of parameters.
	json_t *half = command_results("report traffic --net lenet --schedule mbs2 --batch 16 --json", "");
	json_t *both = command_results("report traffic --net lenet --schedule mbs2 --batch 32 --cores 2 --json", "");
	json_t *one = command_results("report footprint --net lenet --image 28 --batch 32 --strips 2 --json", "");
	json_t *two = command_results("report footprint --net lenet --image 28 --batch 32 --strips 2 --cores 2 --json", "");
	struct command command;

	cr_expect_eq(command_integer(json_array_get(both, 0), "cores"), 2);
	cr_expect_eq(command_integer(json_array_get(both, 0), "dram_bytes"), 2 * command_integer(json_array_get(half, 0), "dram_bytes"));
	cr_expect_eq(command_integer(json_array_get(two, 0), "cores"), 2);
	cr_expect_eq(command_integer(json_array_get(two, 0), "footprint_bytes"), command_integer(json_array_get(one, 0), "footprint_bytes") + 4 * 61706);
	json_decref(half);
	json_decref(both);
	json_decref(one);
	json_decref(two);
	command_run(&command, "report footprint --net lenet --image 28 --batch 32 --strips 2 --cores 2");
	cr_expect(strstr(command.out, "lenet, image 28, batch 32 on 2 cores: "), "%s", command.out);
	command_release(&command);
}

Test(report, what_a_report_has_no_use_for_is_refused)
{
	command_expect_error("report footprint --schedule overl", 2, "report footprint takes no --schedule");
	command_expect_error("report footprint --buffer 1MiB", 2, "takes no --schedule, --buffer");
	command_expect_error("report traffic --strips 3", 2, "report traffic takes no --strips or --dram");
	command_expect_error("report footprint --strips 1", 2, "limits are 2 to 1024");
	command_expect_error("report footprint --dram 1", 2, "limits are");
	command_expect_error("report footprint --net nosuch", 2, "no built-in network 'nosuch'");
	// Before anything is printed: command_expect_error() wants no output.
	command_expect_error("report traffic --net lenet,", 2, "a list of names has an empty or overlong name at ''");
	command_expect_error("report traffic --net lenet,nosuch --schedule baseline", 2, "no built-in network 'nosuch'");
	command_expect_error("report traffic --net lenet --schedule baseline,nosuch", 2, "no planner 'nosuch' for paper accounting");
	command_expect_error("report sweep --net lenet --schedule baseline,", 2, "empty or overlong name");
	command_expect_error("report footprint --net lenet, --image 28", 2, "empty or overlong name");
	command_expect_error("report footprints", 2, "no report 'footprints'");
}
