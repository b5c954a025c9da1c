// SPDX-License-Identifier: Apache-2.0
//
// Results of runs side by side.
#include <inttypes.h>
#include <string.h>

#include "driver/cli/run.h"

static uint64_t integer(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

bool run_has_row(const json_t *result)
{
	const uint64_t exit = integer(result, "exit");

	return exit != CLI_USAGE && exit != CLI_SYSTEM;
}

int run_names_width(json_t *const *results, int count)
{
	int width = (int)strlen("schedule"), rows = 0;

	for (int i = 0; i < count; i++) {
		const int length = (int)strlen(json_string_value(json_object_get(results[i], "schedule")));

		rows += run_has_row(results[i]);
		width = width > length ? width : length;
	}
	return rows ? width : 0;
}

void run_print_table(json_t *const *results, int count, FILE *file)
{
	const int width = run_names_width(results, count);

	if (!width)
		return;
	fprintf(file, "%-*s %11s %11s %12s %12s %12s %9s %8s %8s %10s\n", width, "schedule", "cycles", "utilization", "DRAM read", "DRAM written",
		"predicted", "buffer", "tiles", "differ", "host MAC/s");
	fprintf(file, "%-*s %11s %11s %12s %12s %12s %9s %8s %8s %10s\n", width, "", "", "%", "bytes", "bytes", "bytes", "bytes", "checked", "", "M");
	for (int i = 0; i < count; i++) {
		const json_t *cycles = json_object_get(results[i], "cycles");
		const json_t *utilization = json_object_get(results[i], "array_utilization");
		char cycles_text[24] = "-", utilization_text[24] = "-";

		if (!run_has_row(results[i]))
			continue;
		if (json_is_integer(cycles))
			snprintf(cycles_text, sizeof(cycles_text), "%" JSON_INTEGER_FORMAT, json_integer_value(cycles));
		if (json_is_real(utilization))
			snprintf(utilization_text, sizeof(utilization_text), "%.2f", 100 * json_real_value(utilization));
		fprintf(file, "%-*s %11s %11s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %9" PRIu64 " %8" PRIu64 " %8" PRIu64 " %10.1f\n", width,
			json_string_value(json_object_get(results[i], "schedule")), cycles_text, utilization_text, integer(results[i], "dram_read_bytes"),
			integer(results[i], "dram_write_bytes"), integer(results[i], "predicted_dram_bytes"),
			integer(results[i], "buffer_high_water_bytes"), integer(results[i], "checked_tiles"), integer(results[i], "mismatched"),
			json_real_value(json_object_get(results[i], "macs_per_s")) / 1e6);
	}
}
