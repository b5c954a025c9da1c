// SPDX-License-Identifier: Apache-2.0
//
// Rule: the scripts that check something fail when there is nothing to check, or what they run fails.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"

TestSuite(scripts, .fini = command_clean);

// Status of a line of the shell in the scratch directory; what it prints is in `output`.
static int shell(const char *line, char *output, size_t size)
{
	char all[4096], root[1024];
	FILE *file;
	int status;

	cr_assert(getcwd(root, sizeof(root)));
	snprintf(all, sizeof(all), "(cd '%s' && root='%s' && %s) 2>&1", command_scratch(), root, line);
	fflush(NULL);
	file = popen(all, "r");
	cr_assert(file);
	output[fread(output, 1, size - 1, file)] = '\0';
	status = pclose(file);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Test(scripts, check_includes_fails_without_the_directories)
{
	static const char tree[] = "mkdir -p traces csim/golden driver/plan/check && touch driver/plan/account.c && ";
	char output[4096], line[1024];

	cr_expect_eq(shell("\"$root/scripts/check-includes\"", output, sizeof(output)), 2, "%s", output);
	cr_expect(strstr(output, "error: traces is not there"), "%s", output);
	snprintf(line, sizeof(line), "%s\"$root/scripts/check-includes\"", tree);
	cr_expect_eq(shell(line, output, sizeof(output)), 0, "%s", output);
	snprintf(line, sizeof(line), "%secho '#include \"driver/x.h\"' > traces/a.c; \"$root/scripts/check-includes\"", tree);
	cr_expect_eq(shell(line, output, sizeof(output)), 2, "%s", output);
	cr_expect(strstr(output, "traces must not depend on"), "%s", output);
}

Test(scripts, bench_fails_where_a_benchmark_does)
{
	char output[4096];

	cr_expect_eq(shell("mkdir -p build && printf '#!/bin/sh\\nexit 7\\n' > build/bench-array && chmod +x build/bench-array && \"$root/scripts/bench\"",
			   output, sizeof(output)), 7, "%s", output);
}

Test(scripts, plot_loss_draws_every_run_and_fails_without_steps)
{
	static const char *const curves = "printf '# a, b, batch 4: step, loss, images/s\\n1\\t2.5\\t10\\n2\\tnan\\t10\\n3\\t1.5\\t10\\n' > \"it's.tsv\" && cp it*.tsv c.tsv && ";
	char output[4096], line[1024];

	snprintf(line, sizeof(line), "%s\"$root/scripts/plot-loss\" out \"it's.tsv\" c.tsv && grep -q 'a, b, batch 4' out.svg && test -s out.png", curves);
	cr_expect_eq(shell(line, output, sizeof(output)), 0, "%s", output);
	cr_expect_str_eq(output, "out.svg out.png\n");
	cr_expect_eq(shell("echo '# nothing' > n.tsv && \"$root/scripts/plot-loss\" out n.tsv", output, sizeof(output)), 2, "%s", output);
	cr_expect(strstr(output, "error: 'n.tsv': no steps to draw"), "%s", output);
}
