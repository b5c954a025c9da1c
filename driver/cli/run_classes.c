// SPDX-License-Identifier: Apache-2.0
//
// The table of --by-class: what the memory moved, class by class, and whether that is what was predicted.
#include <inttypes.h>
#include <string.h>

#include "driver/cli/run.h"

// Classes whose bytes are not those predicted.
static int count_different(const json_t *measured, const json_t *predicted)
{
	int different = 0;

	for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++)
		different += !json_equal(json_object_get(measured, wc_class_name(class)), json_object_get(predicted, wc_class_name(class)));
	return different;
}

static void print_direction(const json_t *result, const char *schedule, int width, const char *direction, FILE *file)
{
	char key[32];
	const json_t *measured, *predicted;
	uint64_t total = 0;

	snprintf(key, sizeof(key), "%s_by_class", direction);
	measured = json_object_get(result, key);
	snprintf(key, sizeof(key), "predicted_%s_by_class", direction);
	predicted = json_object_get(result, key);
	fprintf(file, "%-*s %-5s", width, schedule, direction);
	for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++) {
		const json_int_t bytes = json_integer_value(json_object_get(measured, wc_class_name(class)));

		total += (uint64_t)bytes;
		fprintf(file, " %*" JSON_INTEGER_FORMAT, strlen(wc_class_name(class)) > 10 ? (int)strlen(wc_class_name(class)) : 10, bytes);
	}
	fprintf(file, " %12" PRIu64 " %7d\n", total, count_different(measured, predicted));
}

void run_print_classes(json_t *const *results, int count, FILE *file)
{
	const int width = run_names_width(results, count);

	if (!width)
		return;
	fprintf(file, "\n%-*s %-5s", width, "schedule", "bytes");
	for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++)
		fprintf(file, " %10s", wc_class_name(class));
	fprintf(file, " %12s %7s\n", "all", "differ");
	for (int i = 0; i < count; i++) {
		const char *schedule = json_string_value(json_object_get(results[i], "schedule"));

		if (!run_has_row(results[i]))
			continue;
		print_direction(results[i], schedule, width, "read", file);
		print_direction(results[i], "", width, "write", file);
	}
}
