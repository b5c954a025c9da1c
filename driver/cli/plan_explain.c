// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>

#include "driver/cli/cli.h"
#include "driver/cli/plan.h"

void plan_explain(const struct schedule *schedule, const struct net *net, const struct plan_costs *costs, FILE *file)
{
	const uint64_t bytes = account_total_bytes(&costs->account);
	const bool device = schedule->accounting == SCHED_DEVICE;

	fprintf(file, "%s, ", net->name);
	cli_print_batch(schedule->batch, schedule->cores, file);
	fprintf(file, ", buffer %" PRIu32 " bytes, %s accounting: %" PRIu64 " DRAM bytes", schedule->buffer_bytes,
		device ? "device" : "paper", bytes);
	if (costs->baseline_bytes)
		fprintf(file, ", %.3f of baseline", (double)bytes / (double)costs->baseline_bytes);
	fprintf(file, "\nbytes of the buffer: at most %" PRIu64 " live at a statement", costs->peak_buffer_bytes);
	if (device)
		fprintf(file, "; %" PRIu64 " with loads moved ahead, placed below byte %" PRIu64, costs->high_water_bytes, costs->placed_bytes);
	fprintf(file, "\nbytes of DRAM: at most %" PRIu64 " live at once\n", costs->footprint_bytes);
	fprintf(file, "%-8s  %-9s  %6s  %6s  %12s  %12s  layers\n", "phase", "sub_batch", "strips", "tiling", device ? "placed below" : "live bytes",
		"pinned bytes");
	for (int i = 0; i < schedule->group_count; i++) {
		const struct sched_group *group = &schedule->groups[i];

		fprintf(file, "%-8s  %9d  %6d  %6s  %12" PRIu64 "  %12" PRIu64 "  %s..%s\n", sched_phase_name(group->phase), group->sub_batch, group->strip_count,
			sched_tiling_name(group->tiling), costs->group_buffer_bytes[i], costs->group_pinned_bytes[i], net->nodes[group->first].name,
			net->nodes[group->last].name);
		if (group->reason)
			fprintf(file, "          %s\n", group->reason);
	}
}
