// SPDX-License-Identifier: Apache-2.0
//
// Bytes, commands, occupancy and MACs of the hand-written schedules, against sums made by hand from driver/README.md.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/fixture.h"

static struct check_result proven(const char *text)
{
	struct net net;
	struct check_result result;

	fixture_small_net(&net);
	fixture_expect_proven(text, &net, &result);
	net_release(&net);
	return result;
}

// One sample: image 16 rows of 64 bytes, feature maps 16 rows of 128, mask 16 rows of 16.
// Weights 144 and 288 bytes, sums 288 and 576. Forward MACs 18432 and 36864.
enum { FORWARD_MACS = 55296, TRAINING_MACS = FORWARD_MACS * 2 + 36864 };
enum { PARAMETER_BYTES = 144 + 288 + 288 + 576 };

Test(counts, a_group_per_layer)
{
	struct check_result result = proven(fixture_layerwise);

	cr_assert_not(result.forward_only);
	cr_assert_eq(result.read_bytes[WC_CLASS_IO], 2 * 3 * 1024);
	cr_assert_eq(result.read_bytes[WC_CLASS_ACTIVATION], 4 * 3 * 2048);
	cr_assert_eq(result.write_bytes[WC_CLASS_ACTIVATION], 3 * 3 * 2048);
	cr_assert_eq(result.read_bytes[WC_CLASS_GRADIENT], 3 * 3 * 2048);
	cr_assert_eq(result.write_bytes[WC_CLASS_GRADIENT], 2 * 3 * 2048);
	// conv1 once, conv2 in both iterations of its group, and once for the data gradient.
	cr_assert_eq(result.read_bytes[WC_CLASS_WEIGHT], 144 + 2 * 288 + 288);
	// conv2's sums are written once; conv1's by each of 3 cuts, read by all but the first.
	cr_assert_eq(result.read_bytes[WC_CLASS_WEIGHT_GRADIENT], 2 * 288);
	cr_assert_eq(result.write_bytes[WC_CLASS_WEIGHT_GRADIENT], 576 + 3 * 288);
	cr_assert_eq(result.write_bytes[WC_CLASS_MASK] + result.write_bytes[WC_CLASS_BOUNDARY] + result.write_bytes[WC_CLASS_IO], 0);
	cr_assert_eq(result.commands, 6 + 3 + 14 + 17 + 4 + 26);
	cr_assert_eq(result.read_bytes[WC_CLASS_COMMAND], 256 * 70);
	cr_assert_eq(result.macs, 3 * TRAINING_MACS);
	cr_assert_eq(result.extra_macs, 0);
	// The data gradient of conv2: both gradients, streamed weights, resident sums.
	cr_assert_eq(result.peak_bytes, 2 * 6144 + 288 + 576);
	cr_assert_eq(result.peak.group, 3);
	cr_assert_eq(result.peak.statement, 3);
	// That group again: image, relu1 and the gradients of conv2 and relu1; then that of conv1 for that of conv2.
	cr_assert_eq(result.footprint_bytes, 3 * (1024 + 3 * 2048) + PARAMETER_BYTES);
}

Test(counts, a_serialized_group)
{
	struct check_result result = proven(fixture_serialized);

	cr_assert_eq(result.read_bytes[WC_CLASS_IO], 2 * 3 * 1024);
	cr_assert_eq(result.read_bytes[WC_CLASS_ACTIVATION], 3 * 2048);
	cr_assert_eq(result.write_bytes[WC_CLASS_ACTIVATION], 2 * 3 * 2048);
	cr_assert_eq(result.read_bytes[WC_CLASS_MASK], 3 * 256);
	cr_assert_eq(result.write_bytes[WC_CLASS_MASK], 3 * 256);
	cr_assert_eq(result.read_bytes[WC_CLASS_GRADIENT], 3 * 2048);
	cr_assert_eq(result.read_bytes[WC_CLASS_WEIGHT], 144 + 288 + 288);
	cr_assert_eq(result.read_bytes[WC_CLASS_WEIGHT_GRADIENT], 0);
	cr_assert_eq(result.write_bytes[WC_CLASS_WEIGHT_GRADIENT], 288 + 576);
	cr_assert_eq(result.macs, 3 * TRAINING_MACS);
}

Test(counts, overl_recomputes_its_halo)
{
	struct check_result result = proven(fixture_overl);

	cr_assert_eq(result.read_bytes[WC_CLASS_BOUNDARY], 0);
	cr_assert_eq(result.read_bytes[WC_CLASS_IO], 2 * 3 * 20 * 64);
	cr_assert_eq(result.read_bytes[WC_CLASS_GRADIENT], 3 * 18 * 128);
	// conv1: two halo rows in forward, 18 rows in backward; a row is 1152 MACs.
	cr_assert_eq(result.extra_macs, 3 * (2 + 18) * 1152);
	cr_assert_eq(result.macs, 3 * (TRAINING_MACS + (2 + 18) * 1152));
	// The image and conv2, then its gradient; no tensor between.
	cr_assert_eq(result.footprint_bytes, 3 * (1024 + 2048) + PARAMETER_BYTES);
}

Test(counts, strips_hand_over_lines)
{
	struct check_result result = proven(fixture_2ps);

	// A sample keeps 2 image rows and 2 rows of relu1, taken in both phases, and 2 rows of gradient.
	cr_assert_eq(result.write_bytes[WC_CLASS_BOUNDARY], 3 * (128 + 256 + 256));
	cr_assert_eq(result.read_bytes[WC_CLASS_BOUNDARY], 3 * (2 * (128 + 256) + 256));
	cr_assert_eq(result.read_bytes[WC_CLASS_IO], 2 * 3 * 16 * 64);
	cr_assert_eq(result.read_bytes[WC_CLASS_GRADIENT], 3 * 16 * 128);
	cr_assert_eq(result.extra_macs, 3 * 16 * 1152);
	// Backward, first strip, relu1: sums, gradient rows 7:16, image 7:16, conv1 8:16, relu1 6:16 (other rows: not in place), mask 8:16.
	cr_assert_eq(result.peak_bytes, 576 + 2304 + 1152 + 2048 + 2560 + 256);
	// Backward: the image, conv2's gradient, and the lines kept of image, relu1 and gradient.
	cr_assert_eq(result.footprint_bytes, 3 * (1024 + 2048 + 128 + 256 + 256) + PARAMETER_BYTES);
	cr_assert_eq(result.peak.group, 1);
	cr_assert_eq(result.peak.strip, 0);
	cr_assert_eq(result.peak.statement, 5);
}

// A data gradient with stride 2: 16 x 16 from 8 x 8, kernel 3, pad 1, 5 to 3 channels.
Test(counts, residue_classes_of_a_stride)
{
	static const struct fixture_layer layers[] = {{"conv1", 1, 1, 0, 5, 1}, {"conv2", 3, 2, 1, 3, 1}};
	static const char text[] = "schedule 1\nnet hand\nbatch 5\ncores 1\narray 4x4\nbuffer 65536\nbus 16\naccounting device\n"
		"group forward conv1 conv2\nsub_batch 2\ntiling none\nweight conv1 resident\nweight conv2 resident\n"
		"strip 0\nload act:image=0:16\ncompute act:conv1=0:16\nstore act:conv1=0:15\ncompute act:conv2=0:8\nstore act:conv2=0:8\n"
		"group backward conv1 conv2\nsub_batch 2\ntiling none\nweight conv2 resident\nwgrad conv1 resident\nwgrad conv2 resident\n"
		"strip 0\nload grad:conv2=0:8\nload act:conv1=0:15\naccumulate conv2=0:8\ncompute grad:conv1=0:16\n"
		"load act:image=0:16\naccumulate conv1=0:16\n";
	struct net net;
	struct check_result result;

	fixture_net(&net, (struct net_shape){16, 16, 3}, layers, 2);
	// Rows of conv1 that conv2 reads: 2 * 7 - 1 + 3 = 16, so row 15 is needed.
	fixture_check(text, &net, &result);
	cr_assert_eq(result.violation.kind, CHECK_ABSENT, "%s", result.violation.text);
	cr_assert_eq(result.violation.fault_lo, 15);
	char *whole = fixture_replace(text, "store act:conv1=0:15", 0, "store act:conv1=0:16");
	char *right = fixture_replace(whole, "load act:conv1=0:15", 0, "load act:conv1=0:16");

	fixture_expect_proven(right, &net, &result);
	cr_assert_eq(result.macs, 5u * (2 * 256 * 15 + 3 * 64 * 135));
	// Iterations of 2, 2, 1 samples. Forward: 2 weight reads; per iteration a load, 2 stores and the tiles: 512 or 256 pixels
	// x 2 column tiles, 128 or 64 pixels x 1. Backward: a weight read, 2 sum writes; per iteration 3 loads, accumulate conv2
	// 1 x ceil(45 / 4) = 12, conv1 1 x ceil(3 / 4) = 1, and 4 classes of 128 or 64 pixels x 2 column tiles.
	cr_assert_eq(result.commands, 2 + 3 * 3 + (4 + 4 + 2) + 3 + 3 + 3 * 3 + 3 * 13 + 3 * 8);
	free(whole);
	free(right);
	net_release(&net);
}

Test(counts, the_print_names_verdict_and_place)
{
	struct net net;
	struct schedule schedule;
	struct check_result result;
	char text[2048] = "";
	FILE *file;

	fixture_small_net(&net);
	fixture_schedule(&schedule, &net, fixture_layerwise);
	for (int round = 0; round < 2; round++) {
		file = fmemopen(text, sizeof(text), "w");
		cr_assert_not_null(file);
		schedule_check(&schedule, &net, &result, NULL);
		schedule_check_print(&result, &schedule, &net, file);
		fclose(file);
		if (round == 0) {
			cr_assert_not_null(strstr(text, "proven"), "%s", text);
			cr_assert_not_null(strstr(text, "peak of live bytes in the buffer 13152 of 65536, in group 3 (backward conv2..conv2), strip 0"), "%s", text);
			cr_assert_not_null(strstr(text, "  weight_gradient            576           1440"), "%s", text);
			schedule.groups[1].strips[0].statements[2].hi = 15;
		} else {
			cr_assert_not_null(strstr(text, "wrong (not-stored): group 2 (forward conv2..conv2), strip 0, statement 0"), "%s", text);
			cr_assert_not_null(strstr(text, "'load act:relu1=0:16': needs act:relu1 rows 0:16, rows 15:16 are missing (sample 0); DRAM has 0:15"),
					   "%s", text);
		}
	}
	schedule_release(&schedule);
	net_release(&net);
}
