// SPDX-License-Identifier: Apache-2.0
//
// Single rules of `device` schedules of graphs that the larger schedules do not tell apart.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/device_graphs.h"

static struct check_result proven(const struct graph_case *graph, const char *text)
{
	struct check_result result;

	device_check(graph, text, &result);
	cr_assert(result.ok, "%s: %s", graph->name, result.violation.text);
	return result;
}

static struct check_result proven_replaced(const struct graph_case *graph, const char *from, int nth, const char *to)
{
	char *text = fixture_replace(graph->text, from, nth, to);
	struct check_result result = proven(graph, text);

	free(text);
	return result;
}

// Rows of 128 bytes but for the image, 16, and gp, 32.
static const struct graph_case forked = {"fork",
	"name: fork\ninput: {height: 4, width: 4, channels: 2}\nnodes:\n  - {name: k, op: conv, channels: 16, kernel: 1}\n"
	"  - {name: j, op: conv, input: input, channels: 16, kernel: 1}\n  - {name: o, op: add, inputs: [k, j]}\n"
	"  - {name: gp, op: global_pool}\n  - {name: loss, op: loss}\n",
	"schedule 1\nnet fork\nbatch 2\narray 4x4\nbuffer 4096\nbus 16\ngroup forward k gp\nsub_batch 1\nstrip 0\nload act:input=0:4\n"
	"compute act:k=0:4\ncompute act:j=0:4\ncompute act:o=0:4\ncompute act:gp=0:1\nstore act:gp=0:1\n"
	"group backward k gp\nsub_batch 2\nstrip 0\nload grad:gp=0:1\ncompute grad:o=0:2\nsplit o=0:2\nload act:input=0:4\naccumulate k=0:2\n"
	"free grad:k\nfree grad:o\ncompute grad:o=2:4\nsplit o=2:4\naccumulate k=2:4\naccumulate j=0:4\n"};

// The part of j, the last input, has a slab of all rows: it cannot take the place of two rows of the gradient, and k's part must not.
Test(device_rules, a_split_is_in_place_for_the_last_first_part_alone)
{
	struct check_result result = proven(&forked, forked.text);

	cr_expect_eq(result.peak_bytes, 2 * (256 + 256 + 512 + 64), "%lu", result.peak_bytes);
	cr_expect_eq(result.peak.statement, 8);
	// With slabs that end with the block, j's does: k's and j's rows, the image, gp's gradient, sums.
	char *first = fixture_replace(forked.text, "accumulate k=0:2\nfree grad:k\n", 0, "accumulate k=0:2\naccumulate j=0:2\nfree grad:j\nfree grad:k\n");
	char *both = fixture_replace(first, "accumulate j=0:4\n", 0, "accumulate j=2:4\n");

	result = proven(&forked, both);
	cr_expect_eq(result.peak_bytes, 2 * (256 + 256 + 64 + 32) + 128, "%lu", result.peak_bytes);
	cr_expect_eq(result.peak.statement, 4);
	free(first);
	free(both);
}

// Only what depends on a parameter has a gradient, and only such inputs get a part of a split.
static const struct graph_case free_input = {"free input",
	"name: fi\ninput: {height: 2, width: 2, channels: 2}\nnodes:\n  - {name: k, op: conv, channels: 2, kernel: 1}\n"
	"  - {name: r, op: relu, input: input}\n  - {name: q, op: relu, input: input}\n  - {name: o, op: add, inputs: [r, k, q]}\n  - {name: gp, op: global_pool}\n  - {name: loss, op: loss}\n",
	"schedule 1\nnet fi\nbatch 1\narray 4x4\nbuffer 4096\nbus 16\ngroup forward k gp\nsub_batch 1\nstrip 0\nload act:input=0:2\n"
	"compute act:k=0:2\ncompute act:r=0:2\ncompute act:q=0:2\ncompute act:o=0:2\ncompute act:gp=0:1\nstore act:gp=0:1\n"
	"group backward k gp\nsub_batch 1\nstrip 0\nload grad:gp=0:1\ncompute grad:o=0:2\nsplit o=0:2\nload act:input=0:2\naccumulate k=0:2\n"};

Test(device_rules, what_has_no_parameters_has_no_part)
{
	struct check_result result = proven(&free_input, free_input.text);

	// Forward: input 1, k 2, r 1, q 1, an add of three 2, gp 2. Backward: 1 + 1, a part for k alone, 1 + 2. Loss, update.
	cr_expect_eq(result.commands, 9 + 1 + 1 + 1 + 1 + 2 + 7 + 5, "%lu", result.commands);
	cr_expect_eq(device_check_replaced(&free_input, "load act:input=0:2\naccumulate", 0, "load act:input=0:2\nstore grad:r=0:2\naccumulate", &result),
		     WC_ERR_INPUT);
	cr_expect_eq(result.violation.kind, CHECK_FORM, "%s", result.violation.text);
}

// A row of 16 x 4 elements: 32 bytes of indices, 8 (16) of a ReLU's mask. Strides of 2 and 3.
static const struct graph_case wide_pool = {"wide pool",
	"name: wp\ninput: {height: 6, width: 16, channels: 4}\nnodes:\n  - {name: c, op: conv, channels: 4, kernel: 1}\n  - {name: r, op: relu}\n"
	"  - {name: m, op: max_pool, kernel: [2, 3], stride: [2, 1], pad: [0, 1]}\n  - {name: v, op: avg_pool, kernel: 3, stride: 3}\n"
	"  - {name: gp, op: global_pool}\n  - {name: loss, op: loss}\n",
	"schedule 1\nnet wp\nbatch 1\narray 4x4\nbuffer 16384\nbus 16\ngroup forward c gp\nsub_batch 1\nstrip 0\nload act:input=0:6\n"
	"compute act:c=0:6\ncompute act:r=0:6 mask\nstore mask:r=0:6\ncompute act:m=0:3\nstore mask:m=0:3\ncompute act:v=0:1\ncompute act:gp=0:1\nstore act:gp=0:1\n"
	"group backward c gp\nsub_batch 1\nstrip 0\nload grad:gp=0:1\ncompute grad:v=0:1\ncompute grad:m=0:3\nload mask:m=0:3\n"
	"compute grad:r=0:1\ncompute grad:r=1:6\nload mask:r=0:6\ncompute grad:c=0:6 mask\nload act:input=0:6\naccumulate c=0:6\n"};

Test(device_rules, pools_have_indices_and_residue_classes)
{
	struct check_result result = proven(&wide_pool, wide_pool.text);

	// Indices of six taps take 3 bits: 24 bytes, padded to 32.
	cr_expect_eq(result.write_bytes[WC_CLASS_MASK], 3 * 32 + 6 * 16);
	cr_expect_eq(result.read_bytes[WC_CLASS_MASK], 3 * 32 + 6 * 16);
	// Forward: input 1, c 1 + 1 (96 pixels), r 2, m 2, v 1, gp 2. Backward: gp 1, v 1, nine classes of m, index 1, one class of r's first row and two of the
	// others, mask 1, c 1, input 1 and 1 + 1. Loss, update.
	cr_expect_eq(result.commands, 10 + 1 + 1 + 9 + 1 + 1 + 2 + 1 + 1 + 1 + 2 + 7 + 5, "%lu", result.commands);
}

// Resident parameters are read with all that belongs to them; a bias resident is there twice.
Test(device_rules, resident_parameters)
{
	const struct graph_case *graph = &device_cases[DEVICE_SLICES];
	struct check_result plain = proven(graph, graph->text), result;

	// In backward no bias is read, unless c1 is resident: 1728 + 24 (32) once in place of 1728 twice; two moves and a conversion in place of two slices
	// twice. Its part comes at once: 8 x 1 tiles in place of two slices, nothing becomes fp16.
	result = proven_replaced(graph, "group backward c0 p\nsub_batch 2\nweight c1 streamed slice 8\n", 0, "group backward c0 p\nsub_batch 2\nweight c1 resident\n");
	cr_expect_eq(result.read_bytes[WC_CLASS_WEIGHT], plain.read_bytes[WC_CLASS_WEIGHT] - 1728 + 32);
	cr_expect_eq(result.commands, plain.commands + 3 - 2 * (2 + 8 + 1));
	// Sums of c0 streamed: 2336 bytes written twice and read once, two moves each.
	result = proven_replaced(graph, "wgrad c0 resident\n", 0, "");
	cr_expect_eq(result.write_bytes[WC_CLASS_WEIGHT_GRADIENT], plain.write_bytes[WC_CLASS_WEIGHT_GRADIENT] + 2336);
	cr_expect_eq(result.read_bytes[WC_CLASS_WEIGHT_GRADIENT], plain.read_bytes[WC_CLASS_WEIGHT_GRADIENT] + 2336);
	cr_expect_eq(result.commands, plain.commands + 4);
	// Norms: g0 of the residual block, read once for two iterations; its sums written where they are made.
	graph = &device_cases[DEVICE_RESIDUAL];
	plain = proven(graph, graph->text);
	result = proven_replaced(graph, "weight c0 resident\n", 0, "weight c0 resident\nweight g0 resident\n");
	cr_expect_eq(result.read_bytes[WC_CLASS_WEIGHT], plain.read_bytes[WC_CLASS_WEIGHT] - 32);
	cr_expect_eq(result.commands, plain.commands - 1);
	result = proven_replaced(graph, "wgrad g0 resident\n", 0, "");
	cr_expect_eq(result.write_bytes[WC_CLASS_WEIGHT_GRADIENT], plain.write_bytes[WC_CLASS_WEIGHT_GRADIENT]);
	cr_expect_eq(result.commands, plain.commands);
}

// A concatenation's rows are copies: another reader may have them put together again. Three parts in each of two iterations.
Test(device_rules, a_concatenation_is_made_again)
{
	const struct graph_case *graph = &device_cases[DEVICE_CONCAT];
	struct check_result plain = proven(graph, graph->text);
	struct check_result result = proven_replaced(graph, "compute act:e=0:4\n", 0, "free act:both\ncompute act:both=0:4\ncompute act:e=0:4\n");

	cr_expect_eq(result.commands, plain.commands + 2 * 3);
	cr_expect_eq(result.macs, plain.macs);
	cr_expect_eq(memcmp(plain.write_bytes, result.write_bytes, sizeof(plain.write_bytes)), 0);
}

// The same bytes whether statistics stand by themselves or come with the norm; the text reads back as it was.
Test(device_rules, a_norm_makes_its_own_statistics)
{
	const struct graph_case *graph = &device_cases[DEVICE_RESIDUAL];
	struct check_result plain = proven(graph, graph->text), result = proven_replaced(graph, "statistics g1=0:6\n", 0, "");

	cr_expect_eq(memcmp(plain.read_bytes, result.read_bytes, sizeof(plain.read_bytes)), 0);
	cr_expect_eq(memcmp(plain.write_bytes, result.write_bytes, sizeof(plain.write_bytes)), 0);
	cr_expect_eq(result.commands, plain.commands);
	result = proven_replaced(graph, "statistics g0=0:6\n", 0, "");
	cr_expect_eq(result.commands, plain.commands);
	cr_expect_eq(memcmp(plain.read_bytes, result.read_bytes, sizeof(plain.read_bytes)), 0);
}

Test(device_rules, texts_round_trip)
{
	for (int i = 0; i < DEVICE_COUNT; i++) {
		char *first = NULL, *second = NULL;
		size_t bytes;
		struct net net;

		graph_net(&net, device_cases[i].yaml);
		for (int round = 0; round < 2; round++) {
			char **text = round == 0 ? &first : &second;
			FILE *file = open_memstream(text, &bytes);
			struct schedule schedule;

			cr_assert_not_null(file);
			fixture_schedule(&schedule, &net, round == 0 ? device_cases[i].text : first);
			cr_assert_eq(schedule_write(&schedule, &net, file, NULL), 0);
			fclose(file);
			schedule_release(&schedule);
		}
		cr_expect_str_eq(first, second);
		free(first);
		free(second);
		net_release(&net);
	}
}

static void expect_refused(const struct graph_case *graph, const char *from, const char *to, const char *message)
{
	char *text = fixture_replace(graph->text, from, 0, to);
	FILE *file = fmemopen(text, strlen(text), "r");
	struct schedule schedule;
	struct wc_error err = {""};
	struct net net;

	cr_assert_not_null(file);
	graph_net(&net, graph->yaml);
	cr_expect_eq(schedule_read(&schedule, &net, file, "text", &err), WC_ERR_INPUT, "%s", to);
	cr_expect_not_null(strstr(err.text, message), "%s", err.text);
	fclose(file);
	schedule_release(&schedule);
	net_release(&net);
	free(text);
}

Test(device_rules, the_text_is_refused_where_it_has_no_meaning)
{
	const struct graph_case *graph = &device_cases[DEVICE_SLICES];

	expect_refused(graph, "weight c1 streamed slice 8", "weight c1 streamed slice 4", "slice 4 of 'c1' has 8 bytes of bias, not a multiple of the bus of 16");
	expect_refused(graph, "wgrad c1 streamed slice 4", "wgrad c1 streamed slice 2", "slice 2 of 'c1' has 8 bytes of bias");
	expect_refused(graph, "split a=0:2", "split a=0:2 view", "'view' belongs to 'accounting paper'");
	expect_refused(graph, "compute grad:c0=0:4 by sc", "compute grad:c0=0:4", "2 nodes read 'c0'");
	graph = &device_cases[DEVICE_CONCAT];
	expect_refused(graph, "compute grad:s=0:4 by b1", "compute grad:b1=0:4 by both", "the gradient behind the concat 'both' is made by: split both");
	expect_refused(graph, "split both=0:4", "split r=0:4", "'r' is no add or concatenation");
	graph = &device_cases[DEVICE_RESIDUAL];
	expect_refused(graph, "weight g1 resident", "weight g1 streamed slice 4", "gamma and beta of 'g1' pass whole");
	expect_refused(&graph_cases[GRAPH_CONCAT], "split o=0:6 view", "split both=0:6", "'both' is a view of its pieces and is not split");
	expect_refused(&graph_cases[GRAPH_ODD], "accounting paper", "array 4x4\nbus 16\naccounting device", "which the device has not");
}

static const char norm_net[] = "name: gn\ninput: {height: 2, width: 2, channels: 1}\nnodes:\n  - {name: c, op: conv, channels: 16, kernel: 1}\n"
			       "  - {name: g, op: gn, group_channels: 8}\n  - {name: gp, op: global_pool}\n  - {name: loss, op: loss}\n";
static const char norm_forward[] = "schedule 1\nnet gn\nbatch 2\narray 4x4\nbuffer 4096\nbus 16\ngroup forward c gp\nsub_batch 1\nstrip 0\n"
				   "load act:input=0:2\ncompute act:c=0:2\nfree act:input\nstore act:c=0:2\nstatistics g=0:2\ncompute act:g=0:2\n"
				   "compute act:gp=0:1\nstore act:gp=0:1\n";

// Rows of c have 64 bytes, q has 64. The first pixels are in c's slab when the rows' sums become statistics, if these are all there; else they have been set apart.
Test(device_rules, sums_of_all_rows_need_no_room_for_their_shift)
{
	const struct graph_case all = {"gn", norm_net, norm_forward};
	struct check_result result = proven(&all, norm_forward);

	cr_expect_eq(result.peak_bytes, 2 * 64 + 2 * 64 + 2 * 2 * 64, "%lu", result.peak_bytes);
	cr_expect_eq(result.peak.statement, 4);
	result = proven_replaced(&all, "statistics g=0:2\n", 0, "");
	cr_expect_eq(result.peak_bytes, 2 * 64 + 2 * 64 + 2 * 2 * 64, "%lu", result.peak_bytes);
	result = proven_replaced(&all, "statistics g=0:2\n", 0, "statistics g=0:1\nstatistics g=1:2\n");
	cr_expect_eq(result.peak_bytes, 2 * 64 + 2 * 64 + 2 * 2 * 64 + 64, "%lu", result.peak_bytes);
	cr_expect_eq(result.peak.statement, 5);
}

static const char norm_backward[] = "group backward c gp\nsub_batch 1\nstrip 0\nload grad:gp=0:1\ncompute grad:g=0:2\nload act:c=0:2\nstatistics g=0:2\n"
				    "compute grad:c=0:2\nload act:input=0:2\naccumulate c=0:2\n";

// On an array of 4 columns with a bus of 16 bytes the vector unit has 8 lanes: groups of 16 channels take a command more in either phase, in each
// iteration; on one of 8 columns they do not.
Test(device_rules, a_group_wider_than_the_vector_unit_takes_a_command_more)
{
	char text[1024], *wide = fixture_replace(norm_net, "group_channels: 8", 0, "group_channels: 16");
	const struct graph_case eight = {"gn", norm_net, text}, sixteen = {"wide gn", wide, text};
	uint64_t commands;

	snprintf(text, sizeof(text), "%s%s", norm_forward, norm_backward);
	commands = proven(&eight, text).commands;
	cr_expect_eq(proven(&sixteen, text).commands, commands + 2 * 2);
	cr_expect_eq(proven_replaced(&sixteen, "statistics g=0:2\n", 0, "statistics g=0:1\nstatistics g=1:2\n").commands,
		     proven_replaced(&eight, "statistics g=0:2\n", 0, "statistics g=0:1\nstatistics g=1:2\n").commands + 2 * 2);
	cr_expect_eq(proven_replaced(&sixteen, "array 4x4", 0, "array 4x8").commands, proven_replaced(&eight, "array 4x4", 0, "array 4x8").commands);
	cr_expect_eq(proven_replaced(&sixteen, "array 4x4", 0, "array 16x4").commands, proven_replaced(&eight, "array 4x4", 0, "array 16x4").commands);
	cr_expect_eq(proven_replaced(&sixteen, "bus 16", 0, "bus 32").commands, proven_replaced(&eight, "bus 16", 0, "bus 32").commands);
	free(wide);
}
