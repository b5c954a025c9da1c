// SPDX-License-Identifier: Apache-2.0
//
// What a run prints in the end: table or JSON, what was checked, the errors.
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "driver/cli/run.h"

// The gravest of the runs' exit statuses.
static int worst_exit(json_t *const *results, int count)
{
	static const int order[] = {CLI_OK, CLI_MISMATCH, CLI_USAGE, CLI_SYSTEM, CLI_INTERRUPTED};
	size_t worst = 0;

	for (int i = 0; i < count; i++) {
		const int status = (int)json_integer_value(json_object_get(results[i], "exit"));

		for (size_t k = 0; k < sizeof(order) / sizeof(*order); k++)
			if (order[k] == status && k > worst)
				worst = k;
	}
	return order[worst];
}

static void print_errors(json_t *const *results, int count)
{
	for (int i = 0; i < count; i++) {
		const char *error = json_string_value(json_object_get(results[i], "error"));
		const char *report = json_string_value(json_object_get(results[i], "report"));
		const int exit = (int)json_integer_value(json_object_get(results[i], "exit"));

		if (error || exit != CLI_OK)
			fprintf(stderr, "error: schedule '%s': %s\n", json_string_value(json_object_get(results[i], "schedule")),
				error ? error : "the text of the error is lost: out of memory");
		if (report)
			fprintf(stderr, "%s", report);
	}
}

static void print_notes(json_t *const *results, int count)
{
	for (int i = 0; i < count; i++) {
		const json_t *note;
		size_t k;

		json_array_foreach(json_object_get(results[i], "notes"), k, note)
			fprintf(stderr, "note: schedule '%s': %s\n", json_string_value(json_object_get(results[i], "schedule")), json_string_value(note));
	}
}

static void print_json(json_t *const *results, int count, int all, bool compared, bool identical, FILE *file)
{
	if (all == 1) {
		json_dumpf(results[0], file, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	} else {
		json_t *runs = json_array(), *object;

		for (int i = 0; i < count; i++)
			json_array_append(runs, results[i]);
		object = json_pack("{s:o, s:o}", "runs", runs, "bit_identical", compared ? json_boolean(identical) : json_null());
		json_dumpf(object, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
		json_decref(object);
	}
	fprintf(file, "\n");
}

static void print_summary(json_t *const *results, int count, int all, int tensors, bool identical, FILE *file)
{
	uint64_t tiles = 0, elements = 0;

	for (int i = 0; i < count; i++) {
		tiles += (uint64_t)json_integer_value(json_object_get(results[i], "checked_tiles"));
		elements += (uint64_t)json_integer_value(json_object_get(results[i], "checked"));
	}
	fprintf(file, "%" PRIu64 " tiles, %" PRIu64 " elements checked, all equal to the golden model; DRAM bytes equal to the prediction\n", tiles, elements);
	for (int i = 0; i < count; i++) {
		const json_t *accuracy = json_object_get(results[i], "test_accuracy");

		if (json_is_real(accuracy))
			fprintf(file, "%s: %.2f%% of %" JSON_INTEGER_FORMAT " test images right, forward by the golden model with the trained parameters\n",
				json_string_value(json_object_get(results[i], "schedule")), 100 * json_real_value(accuracy),
				json_integer_value(json_object_get(results[i], "test_images")));
	}
	if (count > 1 && identical && !tensors)
		fprintf(file, "loss of the first step bit-identical under %s%d schedules\n", count == all ? "all " : "", count);
	else if (count > 1 && identical)
		fprintf(file, "forward outputs and data gradients bit-identical under %s%d schedules (%d tensors)\n", count == all ? "all " : "", count,
		       tensors);
}

int run_print(json_t *const *results, int count, int all, const struct run_words *words, FILE *file)
{
	struct wc_error err;
	int status = worst_exit(results, count), tensors = 0;
	bool compared = false, identical = false;

	if (status == CLI_OK && count > 1) {
		compared = true;
		// Behind several steps each schedule has parameters of its own: sums of gradients have its order.
		identical = json_integer_value(json_object_get(results[0], "steps")) > 1 ? !run_compare_losses(results, count, &err)
											  : !run_compare_digests(results, count, &tensors, &err);
		if (!identical)
			status = cli_fail(&err, WC_ERR_MISMATCH);
	}
	if (words->json)
		print_json(results, count, all, compared, identical, file);
	else
		run_print_table(results, count, file);
	if (words->by_class && !words->json)
		run_print_classes(results, count, file);
	if (!words->json && status == CLI_OK)
		print_summary(results, count, all, tensors, identical, file);
	for (int i = 0; words->profile && !words->json && i < count; i++)
		if (run_has_row(results[i]))
			run_profile_print(results[i], file);
	if (status == CLI_OK && words->fault)
		fprintf(stderr, "note: the planted fault changed no result: its command, wave, row, column or address does not occur, or nothing read the bit\n");
	// In the end it is only known that something was not written.
	if (fflush(file)) {
		fprintf(stderr, "error: cannot write to stdout: %s\n", strerror(errno));
		status = CLI_SYSTEM;
	}
	print_notes(results, count);
	print_errors(results, count);
	return status;
}
