// SPDX-License-Identifier: Apache-2.0
//
// The checker's result as text for a human.
#include <inttypes.h>

#include "driver/plan/check/internal.h"

static void print_classes(const struct check_result *result, FILE *file)
{
	uint64_t read = 0, write = 0;

	fprintf(file, "%-17s %14s %14s\n", "DRAM bytes", "read", "written");
	for (int class = 0; class < WC_CLASS_COUNT; class++) {
		read += result->read_bytes[class];
		write += result->write_bytes[class];
		if (result->read_bytes[class] + result->write_bytes[class] > 0)
			fprintf(file, "  %-15s %14" PRIu64 " %14" PRIu64 "\n", wc_class_name((enum wc_class)class), result->read_bytes[class],
				result->write_bytes[class]);
	}
	fprintf(file, "  %-15s %14" PRIu64 " %14" PRIu64 "\n", "total", read, write);
}

// As compilers do, so that editors find the line.
static void print_disproof(const struct check_result *result, const struct schedule *schedule, FILE *file)
{
	const struct check_violation *violation = &result->violation;

	if (violation->kind == CHECK_NONE) {
		fprintf(file, "not checked\n");
		return;
	}
	if (schedule->file_name != NULL)
		fprintf(file, "%s:", schedule->file_name);
	if (schedule->file_name != NULL && violation->place.line > 0)
		fprintf(file, "%d:", violation->place.line);
	fprintf(file, "%swrong (%s): %s\n", schedule->file_name != NULL ? " " : "", check_kind_name(violation->kind), violation->text);
}

void schedule_check_print(const struct check_result *result, const struct schedule *schedule, const struct net *net, FILE *file)
{
	char place[224];

	if (!result->ok) {
		print_disproof(result, schedule, file);
		return;
	}
	fprintf(file, "proven: the output of %d samples", schedule->batch);
	if (schedule->cores > 1)
		fprintf(file, " on %d cores", schedule->cores);
	fprintf(file, " is computed and stored whole%s\n",
		result->forward_only ? "; forward only" : ", every weight gradient row is accumulated once");
	snprintf(place, sizeof(place), schedule->cores > 1 ? "loss, reduction or update" : "loss or update");
	if (result->peak.group >= 0)
		check_place_text(place, sizeof(place), schedule, net, &result->peak);
	fprintf(file, "peak of live bytes in the buffer %" PRIu64 " of %u, in %s", result->peak_bytes, schedule->buffer_bytes, place);
	if (result->peak.statement >= 0) {
		const struct sched_group *group = &schedule->groups[result->peak.group];
		char statement[160];

		check_statement_text(statement, sizeof(statement), net, &group->strips[result->peak.strip].statements[result->peak.statement]);
		fprintf(file, ": '%s'", statement);
	}
	fprintf(file, "\n");
	print_classes(result, file);
	fprintf(file, "peak of live bytes in DRAM (footprint) %" PRIu64 "\n", result->footprint_bytes);
	if (schedule->accounting == SCHED_DEVICE)
		fprintf(file, "commands %" PRIu64 "\n", result->commands);
	fprintf(file, "MACs %" PRIu64 ", of them extra %" PRIu64 "\n", result->macs, result->extra_macs);
}
