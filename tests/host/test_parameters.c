// SPDX-License-Identifier: Apache-2.0
//
// Rule: what is saved is all of one training or, as far as that can be seen beforehand, nothing; nothing is left beside it; and what is incomplete
// is no place to go on from.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/host/parameters.h"
#include "tests/net_text.h"

static const char net_yaml[] = "name: t\ninput: {height: 3, width: 2, channels: 2}\nnodes:\n"
			       "  - {name: f, op: fc, units: 4, bias: true}\n  - {name: g, op: fc, units: 3, bias: true}\n  - {name: loss, op: loss}\n";

static char directory[256];
static struct net net;
static struct data data;
static struct optimizer optimizer;

static void set_up(void)
{
	const struct data_options options = {.seed = 3, .plain = true, .blank = true};
	const struct golden_sgd sgd = {.mu = 0.9f};
	const char *build = getenv("WC_BUILD");
	struct wc_error err;

	snprintf(directory, sizeof(directory), "%s/tests/host/scratch-%d", build ? build : "build", (int)getpid());
	tests_net(&net, net_yaml);
	cr_assert_eq(data_init(&data, &net, 2, &options, &err), 0, "%s", err.text);
	cr_assert_eq(optimizer_init(&optimizer, &data, &sgd, &err), 0, "%s", err.text);
	cr_assert_eq(parameters_prepare(directory, &err), 0, "%s", err.text);
}

static void shell(const char *line)
{
	char all[1024];

	snprintf(all, sizeof(all), "cd '%s' && %s", directory, line);
	cr_assert_eq(system(all), 0, "%s", line);
}

static void tear_down(void)
{
	char line[300];

	optimizer_release(&optimizer);
	data_release(&data);
	net_release(&net);
	snprintf(line, sizeof(line), "rm -rf '%s'", directory);
	cr_expect_eq(system(line), 0);
}

TestSuite(parameters, .init = set_up, .fini = tear_down);

static void save(uint64_t samples)
{
	struct wc_error err;

	cr_assert_eq(parameters_save(&optimizer, samples, directory, &err), 0, "%s", err.text);
}

Test(parameters, what_cannot_be_replaced_is_seen_beforehand)
{
	struct wc_error err;

	cr_expect_eq(parameters_check(&net, directory, &err), 0, "%s", err.text);
	save(2);
	// Of two arrays in each of two nodes, and the count of samples.
	shell("ls | wc -l | grep -qx 13");
	cr_expect_eq(parameters_check(&net, directory, &err), 0, "%s", err.text);
	// The link is replaced, not what it leads to; what is beside is written through one.
	shell("mv g.bias.npy elsewhere && ln -s elsewhere g.bias.npy");
	cr_expect_eq(parameters_check(&net, directory, &err), 0, "%s", err.text);
	shell("ln -s elsewhere g.weight.npy.new");
	cr_expect_eq(parameters_check(&net, directory, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "/g.weight.npy.new' is not a regular file; only a regular file can be replaced"), "%s", err.text);
	shell("rm samples.npy && mkdir samples.npy");
	cr_expect_eq(parameters_check(&net, directory, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "/samples.npy' is a directory"), "%s", err.text);
}

Test(parameters, a_write_that_fails_changes_nothing)
{
	struct wc_error err;

	save(2);
	shell("mkdir copy && cp *.npy copy && mkdir g.bias.npy.new");
	data.weights[1][0] ^= 1;
	cr_expect_neq(parameters_save(&optimizer, 4, directory, &err), 0);
	cr_expect(strstr(err.text, "g.bias.npy.new': Is a directory; what was in '") && strstr(err.text, "' before is still there"), "%s", err.text);
	shell("rmdir g.bias.npy.new && for f in copy/*; do cmp $f ${f#copy/} || exit 1; done && ! ls | grep -q new");
}

Test(parameters, a_replacement_that_fails_says_what_stands)
{
	struct wc_error err;

	save(2);
	shell("cp samples.npy before && rm g.weight.npy && mkdir g.weight.npy");
	cr_expect_eq(parameters_save(&optimizer, 4, directory, &err), WC_ERR_SYSTEM);
	// Those of the first node.
	cr_expect(strstr(err.text, "g.weight.npy': Is a directory; in '") &&
		  strstr(err.text, "' 6 of 13 files are new, the others, samples.npy among them, are not"), "%s", err.text);
	shell("cmp before samples.npy && ! ls | grep -q new");
}

// Take up what is in the directory.
static int load(struct wc_error *err)
{
	const struct data_options options = {.seed = 4, .plain = true, .blank = true, .weights = directory};
	const struct golden_sgd sgd = {.mu = 0.9f};
	struct optimizer again = {0};
	struct data from;
	uint64_t samples = 0;
	int result = data_init(&from, &net, 2, &options, err);

	if (result)
		return result;
	result = optimizer_init(&again, &from, &sgd, err);
	if (!result)
		result = parameters_load(&again, &samples, directory, err);
	optimizer_release(&again);
	data_release(&from);
	return result;
}

Test(parameters, what_is_incomplete_is_refused)
{
	struct wc_error err;

	save(2);
	cr_expect_eq(load(&err), 0, "%s", err.text);
	shell("mv g.bias.momentum.npy kept");
	cr_expect_eq(load(&err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "/g.bias.momentum.npy' is missing, but other masters or momenta are there"), "%s", err.text);
	shell("mv kept g.bias.momentum.npy && mv f.weight.master.npy kept");
	cr_expect_eq(load(&err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "/f.weight.master.npy' is missing"), "%s", err.text);
	shell("mv kept f.weight.master.npy && mv f.bias.npy kept");
	cr_expect_eq(load(&err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "/f.bias.npy' is missing, but its master, f.bias.master.npy, is there"), "%s", err.text);
	// Parameters alone will do.
	shell("mv kept f.bias.npy && rm *.master.npy *.momentum.npy");
	cr_expect_eq(load(&err), 0, "%s", err.text);
	shell("rm f.bias.npy");
	cr_expect_eq(load(&err), 0, "%s", err.text);
}
