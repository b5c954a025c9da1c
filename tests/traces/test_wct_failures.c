// SPDX-License-Identifier: Apache-2.0
//
// A system that fails: every allocation in turn, a disk that fills up at every length. The failure is reported, nothing leaks,
// and what is on disk can be read.
#include <criterion/criterion.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "support.h"
#include "traces/alloc.h"
#include "traces/wct_diff.h"
#include "traces/wct_dump.h"
#include "traces/wct_reader.h"
#include "traces/wct_stat.h"
#include "traces/wct_writer.h"

static void *json_alloc(size_t bytes)
{
	return wc_alloc(bytes, 1);
}

static void create(void)
{
	scratch_create();
	json_set_alloc_funcs(json_alloc, wc_free);
}

TestSuite(wct_failures, .init = create, .fini = scratch_remove);

// Run `action` with each of its allocations failing in turn, until it gets through. It returns a wc_result.
static void check_allocations(int (*action)(void *context, struct wc_error *err), void *context, int result, size_t at_least)
{
	size_t nth;

	for (nth = 1;; nth++) {
		struct wc_error err = { "" };
		int ret;

		wc_alloc_fail_nth(nth);
		ret = action(context, &err);
		if (wc_alloc_fail_pending()) {
			cr_assert_eq(ret, result, "%s", err.text);
			break;
		}
		cr_assert_eq(ret, WC_ERR_SYSTEM, "allocation %zu: %s", nth, err.text);
		cr_assert(strstr(err.text, "out of memory"), "allocation %zu: '%s'", nth, err.text);
	}
	wc_alloc_fail_nth(0);
	cr_assert_gt(nth, at_least);
}

static int write_trace(void *context, struct wc_error *err)
{
	const struct run *run = context;
	struct wct_writer *writer;
	int ret = wct_writer_open(&writer, scratch_path("out.wct"), WCT_LEVEL_CYCLE, err);

	for (size_t i = 0; i < run->count && !ret; i++) {
		ret = wct_writer_event(writer, &run->events[i], err);
		if (!ret && i % 16 == 15)
			ret = wct_writer_flush(writer, err);
	}
	if (!ret)
		ret = wct_writer_finish(writer, err);
	else if (writer)
		cr_assert_eq(wct_writer_finish(writer, err), ret, "a failure must stay");
	wct_writer_free(writer);
	return ret;
}

static int read_trace(void *context, struct wc_error *err)
{
	struct wct_reader *reader;
	struct wct_event event;
	int ret = wct_reader_open(&reader, context, err);

	if (!ret) {
		while ((ret = wct_reader_next(reader, &event, err)) > 0)
			;
	}
	wct_reader_free(reader);
	return ret;
}

Test(wct_failures, every_failed_allocation_of_the_writer_is_reported)
{
	struct run run;

	run_create(&run, test_seed(), true);
	check_allocations(write_trace, &run, 0, 10);
	run_free(&run);
}

Test(wct_failures, every_failed_allocation_of_the_reader_is_reported)
{
	char path[512];
	struct run run;

	run_create(&run, test_seed(), true);
	run_write(&run, run.count, scratch_path("a.wct"), WCT_LEVEL_CYCLE, 20, true);
	run_write(&run, run.count, scratch_path("cut.wct"), WCT_LEVEL_CYCLE, 20, false);
	snprintf(path, sizeof(path), "%s", scratch_path("a.wct"));
	check_allocations(read_trace, path, 0, 8);
	snprintf(path, sizeof(path), "%s", scratch_path("cut.wct"));
	check_allocations(read_trace, path, WC_ERR_INPUT, 6);
	run_free(&run);
}

static int dump_json(void *context, struct wc_error *err)
{
	struct wct_dump_options options;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	int ret;

	wct_dump_options_init(&options);
	options.json_lines = true;
	options.data = true;
	ret = wct_dump(context, &options, out, NULL, err);
	fclose(out);
	free(text);
	return ret;
}

static int stat_json(void *context, struct wc_error *err)
{
	struct wct_stat stat;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	int ret = wct_stat(context, &stat, err);

	if (!ret)
		ret = wct_stat_print_json(&stat, out, err);
	fclose(out);
	free(text);
	return ret;
}

struct pair {
	char got[512], expected[512];
};

static int diff_json(void *context, struct wc_error *err)
{
	const struct pair *pair = context;
	struct wct_diff_options options = { .timing = false };
	struct wct_diff_report report;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	int ret = wct_diff(pair->got, pair->expected, &options, &report, err);

	if (ret == WC_ERR_MISMATCH && wct_diff_print_json(&report, out, err))
		ret = WC_ERR_SYSTEM;
	fclose(out);
	free(text);
	return ret;
}

Test(wct_failures, every_failed_allocation_of_dump_stat_and_diff_is_reported)
{
	struct run run;
	struct pair pair;

	run_create(&run, test_seed(), true);
	run_write(&run, 30, scratch_path("a.wct"), WCT_LEVEL_CYCLE, 20, true);
	((uint32_t *)run.events[run_find(&run, WCT_TILE, 1, 0)].tile.bits)[5] ^= 1;
	run_interleave(&run, 1);
	run_write(&run, 30, scratch_path("b.wct"), WCT_LEVEL_CYCLE, 20, true);
	snprintf(pair.got, sizeof(pair.got), "%s", scratch_path("a.wct"));
	snprintf(pair.expected, sizeof(pair.expected), "%s", scratch_path("b.wct"));
	check_allocations(dump_json, pair.got, 0, 100);
	check_allocations(stat_json, pair.got, 0, 20);
	check_allocations(diff_json, &pair, WC_ERR_MISMATCH, 50);
	run_free(&run);
}

Test(wct_failures, a_disk_that_fills_up_at_any_length_is_reported_and_leaves_a_cut_trace)
{
	struct rlimit limit;
	struct run run;
	size_t count;

	run_create(&run, test_seed(), true);
	cr_assert_eq(write_trace(&run, NULL), 0);
	free(file_read(scratch_path("out.wct"), &count));
	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	for (size_t length = 0; length < count; length += 1 + length / 16) {
		struct wc_error err = { "" };
		char *text, error[WC_ERROR_TEXT_BYTES];
		int ret;

		limit.rlim_cur = length;
		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
		ret = write_trace(&run, &err);
		limit.rlim_cur = limit.rlim_max;
		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
		cr_assert_eq(ret, WC_ERR_SYSTEM, "%zu bytes", length);
		cr_assert(strstr(err.text, "out.wct"), "%s", err.text);
		cr_assert_eq(trace_read(scratch_path("out.wct"), &text, error), WC_ERR_INPUT);
		cr_assert(length < 16 || strstr(error, "cut off"), "%s", error);
		free(text);
	}
	run_free(&run);
}

Test(wct_failures, files_that_cannot_be_made_or_written_are_reported)
{
	struct wct_dump_options options;
	struct wct_writer *writer;
	struct wc_error err;
	struct wct_stat stat;
	struct run run;
	FILE *full = fopen("/dev/full", "w");

	cr_assert(full);
	cr_assert_eq(wct_writer_open(&writer, scratch_path("no/such/directory.wct"), WCT_LEVEL_RUN, &err), WC_ERR_INPUT);
	cr_assert_null(writer);
	cr_assert(strstr(err.text, "directory.wct"));
	cr_assert_eq(wct_writer_open(&writer, "/dev/full", WCT_LEVEL_RUN, &err), WC_ERR_SYSTEM);
	cr_assert(strstr(err.text, "/dev/full"));

	run_create(&run, test_seed(), true);
	run_write(&run, run.count, scratch_path("a.wct"), WCT_LEVEL_CYCLE, 20, true);
	wct_dump_options_init(&options);
	for (int json = 0; json < 2; json++) {
		options.json_lines = json;
		clearerr(full);
		cr_assert_eq(wct_dump(scratch_path("a.wct"), &options, full, NULL, &err), WC_ERR_SYSTEM);
		cr_assert(strstr(err.text, "cannot write"), "%s", err.text);
	}
	cr_assert_eq(wct_stat(scratch_path("a.wct"), &stat, &err), 0);
	cr_assert_eq(wct_stat_print(&stat, full, &err), WC_ERR_SYSTEM);
	fclose(full);
	run_free(&run);
}
