// SPDX-License-Identifier: Apache-2.0
//
// Rule: the device's and the golden side's traces of a run agree event by event, the same seed gives the same bytes, and of a
// run with a fault they part at the faulty tile.
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rig.h"
#include "traces/wct_diff.h"
#include "traces/wct_reader.h"
#include "traces/wct_stat.h"

static const char net_yaml[] = "name: t\ninput: {height: 8, width: 8, channels: 5}\nnodes:\n"
			       "  - {name: c1, op: conv, channels: 9, kernel: 3, pad: 1}\n  - {name: r1, op: relu}\n"
			       "  - {name: c2, op: conv, channels: 6, kernel: 3, pad: 1, stride: 2}\n";

static void path_of(char *path, size_t size, const char *name)
{
	const char *build = getenv("WC_BUILD");

	snprintf(path, size, "%s/tests/host/%d-%s.wct", build ? build : "build", (int)getpid(), name);
}

static bool same_bytes(const char *a, const char *b)
{
	FILE *file_a = fopen(a, "rb"), *file_b = fopen(b, "rb");
	int byte_a, byte_b;

	cr_assert(file_a && file_b);
	do {
		byte_a = fgetc(file_a);
		byte_b = fgetc(file_b);
	} while (byte_a == byte_b && byte_a != EOF);
	fclose(file_a);
	fclose(file_b);
	return byte_a == byte_b;
}

Test(trace, device_and_golden_traces_agree_and_repeat)
{
	char device[256], golden[256], again[256];
	struct wct_diff_options options = {.timing = false};
	struct wct_diff_report report;
	struct wct_stat stat;
	struct rig rig;

	path_of(device, sizeof(device), "device");
	path_of(golden, sizeof(golden), "golden");
	path_of(again, sizeof(again), "again");
	rig_start(&rig, net_yaml, "2ps", 8, 4, 3, 16384, 16, 5);
	cr_assert(rig.planned);
	rig.options.trace = device;
	rig.options.golden_trace = golden;
	rig.options.trace_level = WCT_LEVEL_CYCLE;
	rig_expect_right(&rig, rig_run(&rig));
	cr_assert_eq(wct_diff(device, golden, &options, &report, &rig.err), 0, "%s", rig.err.text);
	cr_expect_eq(report.elements_compared, rig.result.counts.tile_elements);
	cr_expect_eq(report.compared[WCT_TILE], rig.result.counts.tiles);
	cr_expect_eq(report.compared[WCT_RESULT], rig.result.counts.vectors + rig.result.counts.loads + rig.result.counts.stores);
	cr_expect_gt(report.compared[WCT_WAVE_END], report.compared[WCT_TILE]);
	cr_assert_eq(wct_stat(device, &stat, &rig.err), 0, "%s", rig.err.text);
	cr_expect_eq(stat.kinds[WCT_COMMAND_END], rig.result.commands);
	rig.options.trace = again;
	rig.options.golden_trace = NULL;
	rig_expect_right(&rig, rig_run(&rig));
	cr_expect(same_bytes(device, again));
	rig_stop(&rig);
	remove(device);
	remove(golden);
	remove(again);
}

static void expect_ended(const char *path, const char *how)
{
	struct wct_reader *reader;
	struct wct_event event;
	struct wc_error err;
	bool found = false;

	cr_assert_eq(wct_reader_open(&reader, path, &err), 0, "%s", err.text);
	while (wct_reader_next(reader, &event, &err) == 1)
		found |= event.kind == WCT_HEADER && !strcmp(event.header.key, "ended") && !strcmp(event.header.value, how);
	wct_reader_free(reader);
	cr_expect(found, "%s does not say 'ended %s'", path, how);
}

Test(trace, of_a_faulty_run_parts_at_the_fault)
{
	char device[256], golden[256];
	struct wct_diff_options options = {.timing = false};
	struct wct_diff_report report;
	struct wct_stat stat;
	struct rig rig;

	path_of(device, sizeof(device), "faulty");
	path_of(golden, sizeof(golden), "faulty-golden");
	rig_start(&rig, net_yaml, "mbs", 8, 4, 3, 65536, 16, 5);
	cr_assert(rig.planned);
	rig.options.device.overlap = false;
	rig.options.trace = device;
	rig.options.golden_trace = golden;
	rig.options.trace_level = WCT_LEVEL_WAVE;
	// The accumulator is hit in whichever GEMM comes first at or behind command 10.
	for (uint32_t command = 10; rig_run(&rig) != WC_ERR_MISMATCH; command++) {
		cr_assert_lt(command, 60, "no GEMM was hit");
		rig.options.fault.device = (struct wc_fault){.kind = WC_FAULT_ACCUMULATOR, .command = command, .row = 3, .column = 0, .bit = 29};
	}
	cr_assert_eq(wct_diff(device, golden, &options, &report, &rig.err), WC_ERR_MISMATCH);
	cr_expect_eq(report.first.kind, WCT_TILE);
	cr_expect_eq(report.first.command, rig.result.mismatch.command);
	cr_expect_eq(report.first.m, (uint32_t)rig.result.mismatch.m);
	cr_expect_eq(report.first.n, (uint32_t)rig.result.mismatch.n);
	cr_expect_eq(report.first.got, rig.result.mismatch.got);
	cr_expect_eq(report.first.expected, rig.result.mismatch.expected);
	cr_expect_eq(report.first.elements_differing, rig.result.mismatch.different);
	// Both are whole as far as the run went, and the device's says how that ended.
	cr_expect(!report.got_is_cut && !report.expected_is_cut);
	cr_expect_eq(wct_stat(device, &stat, &rig.err), 0, "%s", rig.err.text);
	cr_expect_eq(wct_stat(golden, &stat, &rig.err), 0, "%s", rig.err.text);
	expect_ended(device, "mismatch");
	rig_stop(&rig);
	remove(device);
	remove(golden);
}

// The opcode of a command by its begin in the trace; 0: it is not there.
static uint32_t opcode_of(const char *path, uint32_t command)
{
	struct wct_reader *reader;
	struct wct_event event;
	struct wc_error err;
	uint32_t opcode = 0;

	cr_assert_eq(wct_reader_open(&reader, path, &err), 0, "%s", err.text);
	while (!opcode && wct_reader_next(reader, &event, &err) == 1)
		if (event.kind == WCT_COMMAND_BEGIN && event.command == command)
			opcode = event.command_info.opcode;
	wct_reader_free(reader);
	return opcode;
}

Test(trace, a_result_has_the_opcode_of_its_command)
{
	char paths[2][256];
	struct rig rig;

	path_of(paths[0], sizeof(paths[0]), "opcode");
	path_of(paths[1], sizeof(paths[1]), "opcode-golden");
	rig_start(&rig, net_yaml, "mbs", 8, 4, 1, 65536, 16, 5);
	cr_assert(rig.planned);
	rig.options.trace = paths[0];
	rig.options.golden_trace = paths[1];
	rig.options.trace_level = WCT_LEVEL_TILE;
	rig_expect_right(&rig, rig_run(&rig));
	for (int i = 0; i < 2; i++) {
		uint64_t seen[256] = {0};
		struct wct_reader *reader;
		struct wct_event event;

		cr_assert_eq(wct_reader_open(&reader, paths[i], &rig.err), 0, "%s", rig.err.text);
		while (wct_reader_next(reader, &event, &rig.err) == 1) {
			if (event.kind != WCT_RESULT)
				continue;
			cr_assert_eq(event.result.opcode, opcode_of(paths[i], event.command), "%s, command %u", paths[i], (unsigned)event.command);
			seen[event.result.opcode & 255]++;
		}
		wct_reader_free(reader);
		cr_expect_eq(seen[WC_OP_LOAD], rig.result.counts.loads);
		cr_expect_eq(seen[WC_OP_STORE], rig.result.counts.stores);
		cr_expect_eq(seen[WC_OP_VECTOR], rig.result.counts.vectors);
		remove(paths[i]);
	}
	rig_stop(&rig);
}

Test(trace, that_cannot_be_written_is_told_by_its_name)
{
	const struct rlimit limit = {64, RLIM_INFINITY};
	char path[256], says[300];
	struct rig rig;

	path_of(path, sizeof(path), "long");
	// More than a chunk, so that it is written while the device runs, and the device only knows that it was stopped.
	rig_start(&rig, net_yaml, "mbs", 8, 4, 300, 65536, 16, 5);
	cr_assert(rig.planned);
	rig.options.trace = path;
	rig.options.trace_level = WCT_LEVEL_CYCLE;
	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_expect_eq(rig_run(&rig), WC_ERR_SYSTEM, "%s", rig.err.text);
	cr_expect_gt(rig.result.commands, 0, "the device never ran");
	cr_expect_lt(rig.result.commands, rig.account.commands, "it was only seen at the end");
	snprintf(says, sizeof(says), "cannot write trace '%s'", path);
	cr_expect(strstr(rig.err.text, says), "%s", rig.err.text);
	remove(path);
	// There is no room for its first bytes.
	rig.options.trace = "/dev/full";
	cr_expect_eq(rig_run(&rig), WC_ERR_SYSTEM);
	cr_expect(strstr(rig.err.text, "cannot write trace '/dev/full'"), "%s", rig.err.text);
	rig_stop(&rig);
}
