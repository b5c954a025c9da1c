// SPDX-License-Identifier: Apache-2.0
//
// The hybrid planner: how far it gets, that it is never worse than another planner within its budget, and that checker and accounting agree
// on every schedule to the byte.
#include <criterion/criterion.h>

#include <string.h>

#include "driver/net/builtin.h"
#include "driver/plan/account_paper.h"
#include "driver/plan/check/check.h"
#include "driver/plan/paper/paper.h"
#include "tests/plan/common.h"

enum { MIB = 1 << 20 };

static const char *const deep[] = { "resnet50", "resnet101", "resnet152", "inception-v3", "inception-v4" };

static struct plan_options options_for(uint32_t buffer_bytes, int percent)
{
	return (struct plan_options){ .batch = 32, .cores = 1, .buffer_bytes = buffer_bytes, .accounting = SCHED_PAPER, .max_extra_percent = percent };
}

// Plan, and count; if `proven`, the checker must agree.
static void count(struct account *account, const struct net *net, const char *planner, const struct plan_options *options, bool proven)
{
	struct schedule schedule;
	struct check_result check;
	struct wc_error err;

	cr_assert_eq(plan_by_name(&schedule, planner, net, options, &err), 0, "%s %s: %s", net->name, planner, err.text);
	cr_assert_eq(account_paper_schedule(&schedule, net, account, &err), 0, "%s", err.text);
	if (proven) {
		uint64_t footprint;

		cr_assert_eq(schedule_check(&schedule, net, &check, &err), 0, "%s %s %u: %s", net->name, planner, options->buffer_bytes, err.text);
		for (int class = 0; class < WC_CLASS_COUNT; class++) {
			cr_expect_eq(check.read_bytes[class], account->read_bytes[class], "%s %s class %d", net->name, planner, class);
			cr_expect_eq(check.write_bytes[class], account->write_bytes[class], "%s %s class %d", net->name, planner, class);
		}
		cr_expect_eq(check.macs, account->macs, "%s %s", net->name, planner);
		cr_assert_eq(account_footprint(&schedule, net, &footprint, &err), 0);
		cr_expect_eq(check.footprint_bytes, footprint, "%s %s", net->name, planner);
	}
	schedule_release(&schedule);
}

static double ratio(const char *name, int image, int percent)
{
	const struct plan_options options = options_for(10 * MIB, percent);
	struct account baseline, hybrid;
	struct wc_error err;
	struct net net;
	double extra;

	cr_assert_eq(net_open(&net, name, image, &err), 0);
	count(&baseline, &net, "baseline", &options, false);
	count(&hybrid, &net, "hybrid", &options, true);
	extra = 100.0 * (double)hybrid.extra_macs / ((double)net_training_macs(&net) * options.batch);
	cr_expect_leq(extra, percent, "%s", name);
	net_release(&net);
	return (double)account_total_bytes(&hybrid) / (double)account_total_bytes(&baseline);
}

Test(hybrid, without_more_macs)
{
	double sum = 0;

	for (size_t i = 0; i < 5; i++)
		sum += ratio(deep[i], 0, 0);
	cr_expect_leq(sum / 5, 0.19, "%f", sum / 5);
	cr_expect_leq(ratio("vgg16", 224, 0), 0.24);
	cr_expect_leq(ratio("vgg16", 448, 0), 0.19);
}

Test(hybrid, with_a_third_more_macs)
{
	double sum = 0;

	for (size_t i = 0; i < 5; i++)
		sum += ratio(deep[i], 0, 33);
	cr_expect_leq(sum / 5, 0.13, "%f", sum / 5);
}

static void never_worse(const char *name, int image, int mib, int percent)
{
	const struct plan_options options = options_for((uint32_t)mib * MIB, percent);
	struct account hybrid, other;
	struct wc_error err;
	struct net net;

	cr_assert_eq(net_open(&net, name, image, &err), 0, "%s", err.text);
	count(&hybrid, &net, "hybrid", &options, true);
	for (int i = 0; paper_plan_name(i); i++) {
		count(&other, &net, paper_plan_name(i), &options, false);
		if (other.extra_macs * 100 <= (uint64_t)net_training_macs(&net) * (uint64_t)options.batch * (uint64_t)percent)
			cr_expect_leq(account_total_bytes(&hybrid), account_total_bytes(&other), "%s %d, %d MiB, %s", name, image, mib, paper_plan_name(i));
	}
	net_release(&net);
}

// The smallest image that a network takes.
static int smallest(const char *name)
{
	struct wc_error err;
	struct net net;

	for (int image = 1;; image++)
		if (!net_open(&net, name, image, &err)) {
			net_release(&net);
			return image;
		}
}

Test(hybrid, never_worse_than_another_planner_within_the_budget)
{
	static const int buffers[] = { 1, 10, 3, 6, 20, 40 }; // MiB; the first two are the quick ones

	for (size_t i = 0; net_builtin_at(i); i++) {
		const char *name = net_builtin_at(i)->name;
		const int images[] = { smallest(name), 0, 1024 };

		for (int image = 0; image < rounds(2, 3); image++)
			for (int k = 0; k < rounds(2, 6); k++)
				never_worse(name, images[image], buffers[k], (k + image) % 2 ? 33 : 0);
	}
}

Test(hybrid, objectives)
{
	struct account traffic, time;
	struct wc_error err;
	struct net net;
	struct plan_options options = options_for(10 * MIB, 33);
	uint64_t footprints[2];

	cr_assert_eq(net_open(&net, "resnet50", 0, &err), 0);
	for (int i = 0; i < 2; i++) {
		struct schedule schedule;

		options.objective = i ? PLAN_FOOTPRINT : PLAN_TRAFFIC;
		cr_assert_eq(plan_by_name(&schedule, "hybrid", &net, &options, &err), 0);
		cr_assert_eq(account_footprint(&schedule, &net, &footprints[i], &err), 0);
		schedule_release(&schedule);
	}
	cr_expect_leq(footprints[1], footprints[0]);
	options.objective = PLAN_TRAFFIC;
	count(&traffic, &net, "hybrid", &options, false);
	options.objective = PLAN_TIME;
	count(&time, &net, "hybrid", &options, true);
	cr_expect_leq(account_total_bytes(&traffic), account_total_bytes(&time));
	cr_expect_leq(time.extra_macs, traffic.extra_macs);
	net_release(&net);
}

static void note(void *context, const char *what, int done, int count)
{
	char *list = context;

	cr_expect(done < count);
	cr_assert(strlen(list) + strlen(what) + 2 < 256);
	strcat(strcat(list, what), ";");
}

Test(hybrid, tells_what_it_tries)
{
	struct plan_options options = options_for(MIB, 0);
	struct schedule schedule;
	struct wc_error err;
	struct net net;
	char list[256] = "";

	options.trying = note;
	options.trying_context = list;
	cr_assert_eq(net_open(&net, "lenet", 0, &err), 0);
	cr_assert_eq(plan_by_name(&schedule, "hybrid", &net, &options, &err), 0, "%s", err.text);
	cr_expect_str_eq(list, "its own search;baseline;il;mbs-fs;mbs1;mbs2;overl;2ps;overl-h;2ps-h;");
	schedule_release(&schedule);
	net_release(&net);
}
