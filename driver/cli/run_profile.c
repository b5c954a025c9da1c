// SPDX-License-Identifier: Apache-2.0
//
// Cycles and utilization by layer and phase: as JSON, and as the table of --profile.
#include <inttypes.h>
#include <string.h>

#include "driver/cli/run.h"
#include "traces/wct_json.h"

static json_t *describe_entry(const struct run_job *job, const struct profile_entry *entry, enum profile_phase phase)
{
	const double pes = (double)job->device.params.rows * job->device.params.cols, cycles = (double)entry->cycles;
	const bool timed = job->device.kind == DEVICE_RTL;

	return json_pack("{s:s, s:o, s:I, s:I, s:o, s:o}", "phase", profile_phase_name(phase), "cycles",
			 timed ? json_integer((json_int_t)entry->cycles) : json_null(), "macs", (json_int_t)entry->macs, "commands",
			 (json_int_t)entry->commands, "array_utilization", timed && entry->cycles ? json_real((double)entry->macs / (cycles * pes)) : json_null(),
			 "array_busy", timed && entry->cycles ? json_real((double)entry->busy_cycles / cycles) : json_null());
}

void run_profile_describe(json_t *object, const struct run_job *job, const struct profile *profile)
{
	json_t *layers = json_array(), *phases = json_array();

	for (enum profile_phase phase = 0; phase < PROFILE_PHASES; phase++) {
		const struct profile_entry sum = profile_sum(profile, phase);

		for (int node = 0; node < profile->node_count; node++) {
			const struct profile_entry *entry = profile_at(profile, node, phase);
			json_t *layer;

			if (!entry->commands)
				continue;
			layer = describe_entry(job, entry, phase);
			json_object_set_new(layer, "layer", wct_json_text(job->net->nodes[node].name));
			json_array_append_new(layers, layer);
		}
		if (sum.commands)
			json_array_append_new(phases, describe_entry(job, &sum, phase));
	}
	json_object_set_new(object, "phases", phases);
	json_object_set_new(object, "layers", layers);
}

static void print_line(const json_t *entry, const char *layer, int width, double all, FILE *file)
{
	const double cycles = (double)json_integer_value(json_object_get(entry, "cycles"));
	const json_t *utilization = json_object_get(entry, "array_utilization");

	fprintf(file, "%-*s  %-15s %12.0f %6.1f %12.2f %15" JSON_INTEGER_FORMAT " %9" JSON_INTEGER_FORMAT "\n", width, layer,
		json_string_value(json_object_get(entry, "phase")), cycles, all > 0 ? 100 * cycles / all : 0.0, 100 * json_real_value(utilization),
		json_integer_value(json_object_get(entry, "macs")), json_integer_value(json_object_get(entry, "commands")));
}

void run_profile_print(const json_t *result, FILE *file)
{
	const json_t *layers = json_object_get(result, "layers"), *phases = json_object_get(result, "phases"), *entry;
	const double all = (double)json_integer_value(json_object_get(json_object_get(result, "counters"), "cycles"));
	int width = (int)strlen("all layers");
	size_t i;

	json_array_foreach(layers, i, entry) {
		const int length = (int)strlen(json_string_value(json_object_get(entry, "layer")));

		width = length > width ? length : width;
	}
	fprintf(file, "\nschedule '%s'\n%-*s  %-15s %12s %6s %12s %15s %9s\n", json_string_value(json_object_get(result, "schedule")), width, "layer", "phase",
		"cycles", "%", "utilization%", "MACs", "commands");
	json_array_foreach(layers, i, entry)
		print_line(entry, json_string_value(json_object_get(entry, "layer")), width, all, file);
	json_array_foreach(phases, i, entry)
		print_line(entry, "all layers", width, all, file);
}
