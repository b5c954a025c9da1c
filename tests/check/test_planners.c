// SPDX-License-Identifier: Apache-2.0
//
// Every planner's schedules are proven, deliver the right rows by brute force, and cost what the accounting
// says, class by class. Mutated, they are caught or harmless.
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/plan.h"
#include "tests/check/compare.h"
#include "tests/check/fixture.h"
#include "tests/check/mutate.h"
#include "tests/plan_own.h"

// Plan; false if the planner says that the network does not fit. Any other refusal fails the test.
static bool plan(struct schedule *schedule, const char *planner, const struct net *net, const struct plan_options *options, uint64_t seed)
{
	struct wc_error err = {""};

	if (plan_own(schedule, planner, net, options, &err) == 0)
		return true;
	cr_assert(strstr(err.text, "cannot fit") != NULL, "seed %" PRIu64 ", %s: %s", seed, planner, err.text);
	return false;
}

static void prove(const struct schedule *schedule, const char *planner, const struct net *net, uint64_t seed, struct verdicts *verdicts)
{
	struct check_result result;
	struct wc_error err = {""};
	char what[96];

	snprintf(what, sizeof(what), "seed %" PRIu64 ", %s, batch %d, buffer %u", seed, planner, schedule->batch, schedule->buffer_bytes);
	schedule_check(schedule, net, &result, &err);
	cr_assert(result.ok, "%s: %s", what, err.text);
	compare_account(schedule, net, &result, what);
	judge_schedule(schedule, net, seed, verdicts);
}

// All planners on one network; returns how many schedules were proven.
static int prove_all(const struct net *net, const struct plan_options *options, uint64_t seed)
{
	struct verdicts verdicts = {0};

	for (int i = 0; plan_name(i) != NULL; i++) {
		struct schedule schedule;

		if (!plan(&schedule, plan_name(i), net, options, seed))
			continue;
		prove(&schedule, plan_name(i), net, seed, &verdicts);
		schedule_release(&schedule);
	}
	return verdicts.proven;
}

static const struct fixture_layer vgg_like[] = {
	{"conv1_1", 3, 1, 1, 8, 1}, {"relu1_1", 0, 0, 0, 0, 0}, {"conv1_2", 3, 1, 1, 8, 1},  {"relu1_2", 0, 0, 0, 0, 0},
	{"conv2_1", 3, 2, 1, 12, 1}, {"relu2_1", 0, 0, 0, 0, 0}, {"conv2_2", 3, 1, 1, 12, 1}, {"relu2_2", 0, 0, 0, 0, 0},
};

Test(planners, fashion_conv_in_many_buffers)
{
	static const uint32_t buffers[] = {16384, 24576, 32768, 65536, 131072, 1048576};
	struct net net;
	struct wc_error err = {""};
	int proven = 0;

	cr_assert_eq(net_builtin(&net, "fashion-conv", &err), 0, "%s", err.text);
	for (int i = 0; i < 6; i++) {
		for (int batch = 1; batch <= 7; batch += 3) {
			struct plan_options options = {.batch = batch, .cores = 1, .rows = 16, .cols = 16, .acc_rows = CHECK_ACC_ROWS,
						       .buffer_bytes = buffers[i], .bus_bytes = 16, .strips = batch == 4 ? 3 : 0};

			proven += prove_all(&net, &options, 0);
		}
	}
	net_release(&net);
	cr_assert_geq(proven, 4 * 3 * 3, "only %d schedules were planned", proven);
}

Test(planners, a_vgg_like_chain_with_forced_strips)
{
	struct net net;
	int proven = 0;

	fixture_net(&net, (struct net_shape){40, 24, 3}, vgg_like, 8);
	for (int strips = 0; strips <= 5; strips++) {
		for (uint32_t buffer = 16384; buffer <= 262144; buffer *= 4) {
			struct plan_options options = {.batch = 3, .cores = 1, .rows = 8, .cols = 4, .acc_rows = CHECK_ACC_ROWS, .buffer_bytes = buffer,
						       .bus_bytes = 64, .strips = strips};

			proven += prove_all(&net, &options, (uint64_t)strips);
		}
	}
	net_release(&net);
	cr_assert_geq(proven, 4 * 6 * 2, "only %d schedules were planned", proven);
}

// A chain of 1 to 6 layers. `plain`: stride at most the kernel and no dilation, so that rows read are rows that matter.
static void random_net(struct net *net, struct random *random, bool plain)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
	struct net_shape image = {1 + random_below(random, 24), 1 + random_below(random, 12), 1 + random_below(random, 6)};
	struct fixture_layer layers[6];
	int count = 0, height = image.height, width = image.width, wanted = 1 + random_below(random, 6);

	for (int tries = 0; count < wanted && tries < 100; tries++) {
		struct fixture_layer layer = {names[count], 1 + random_below(random, 5), 1 + random_below(random, 4), random_below(random, 3),
					      1 + random_below(random, 9), 1 + random_below(random, 2)};
		int reach, out_height, out_width;

		if (plain) {
			layer.dilation = 1;
			layer.stride = layer.stride > layer.kernel ? layer.kernel : layer.stride;
		}
		if (count > 0 && layers[count - 1].kernel > 0 && random_below(random, 2) == 0)
			layer = (struct fixture_layer){names[count], 0, 0, 0, 0, 0};
		if (layer.kernel == 0) {
			layers[count++] = layer;
			continue;
		}
		reach = layer.dilation * (layer.kernel - 1) + 1;
		out_height = height + 2 * layer.pad - reach;
		out_width = width + 2 * layer.pad - reach;
		if (out_height < 0 || out_width < 0)
			continue;
		height = out_height / layer.stride + 1;
		width = out_width / layer.stride + 1;
		layers[count++] = layer;
	}
	if (count == 0)
		layers[count++] = (struct fixture_layer){"a", 1, 1, 0, 3, 1};
	fixture_net(net, image, layers, count);
}

static struct plan_options random_options(struct random *random)
{
	struct plan_options options = {.batch = 1 + random_below(random, 6), .cores = 1, .rows = 4 << random_below(random, 3),
				       .cols = 4 << random_below(random, 3), .acc_rows = CHECK_ACC_ROWS,
				       .buffer_bytes = 4096u << random_below(random, 6), .bus_bytes = 16u << random_below(random, 4)};

	options.strips = random_below(random, 5);
	options.phases = random_below(random, 5) == 0 ? PLAN_FORWARD : PLAN_ALL;
	return options;
}

Test(planners, random_chains)
{
	struct random random = random_begin("random chains", 31415);
	int rounds = getenv("WC_LONG") != NULL ? 2000 : 150, proven = 0;

	for (int i = 0; i < rounds; i++) {
		uint64_t seed = random.state;
		struct plan_options options;
		struct net net;

		random_net(&net, &random, false);
		options = random_options(&random);
		proven += prove_all(&net, &options, seed);
		net_release(&net);
	}
	cr_assert_gt(proven, 2 * rounds, "only %d schedules were planned", proven);
}

Test(planners, mutations_of_their_schedules_are_caught_or_harmless)
{
	struct random random = random_begin("planner mutations", 2718);
	struct verdicts verdicts = {0};
	int rounds = getenv("WC_LONG") != NULL ? 1000 : 60, mutated = 0;

	for (int i = 0; i < rounds; i++) {
		struct plan_options options;
		struct net net;

		random_net(&net, &random, true);
		options = random_options(&random);
		for (int j = 0; j < 40; j++) {
			uint64_t seed = random.state;
			struct schedule schedule;

			if (!plan(&schedule, plan_name(j % 4), &net, &options, seed))
				continue;
			for (int changes = 1 + random_below(&random, 2); changes > 0; changes--)
				mutate(&schedule, &net, &random);
			judge_schedule(&schedule, &net, seed, &verdicts);
			schedule_release(&schedule);
			mutated++;
		}
		net_release(&net);
	}
	cr_assert_gt(mutated, 20 * rounds);
	cr_assert_gt(verdicts.proven, mutated / 50);
	cr_assert_lt(verdicts.proven, mutated * 3 / 4);
}
