// SPDX-License-Identifier: Apache-2.0
//
// A run's memory, before an hour is spent on filling it: whether its tensors fit this machine, and whether a planted fault is in it.
#include <inttypes.h>
#include <sys/resource.h>
#include <unistd.h>

#include "driver/cli/run.h"
#include "driver/host/layout.h"

// What is certainly needed, in double: products of a large batch need not fit an integer.
static double bytes_needed(const struct net *net, int batch, int cores, bool backward, bool training, int jobs)
{
	const int last = net->node_count - 1;
	double golden = 0, collected = 0, parameters = 0, dram;

	for (int node = 0; node <= last; node++) {
		const double tensor = 2 * (double)data_count(net, node, 1) * batch;

		golden += tensor;
		collected += node ? tensor : 0;
		if (backward && node) {
			golden += tensor;
			collected += node < last ? tensor : 0;
		}
		parameters += (double)net_parameters(&net->nodes[node]);
	}
	// Gradients of parameters are fp32, golden and collected, and so are masters and momenta. Each core has gradients of its own.
	golden += parameters * (2 + (backward ? 4 * cores : 0) + (training ? 8 : 0));
	collected += parameters * (backward ? 4 : 0);
	// The simulated memory holds at least what the run starts from, the gradients, and its output.
	dram = parameters * (2 + (backward ? 4 * cores : 0) + (training ? 8 : 0)) + 2 * batch * ((double)data_count(net, 0, 1) + (backward ? 2 : 1) * (double)data_count(net, last, 1));
	return golden + jobs * (collected + dram);
}

static double bytes_there(void)
{
	const double physical = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
	struct rlimit limit;

	if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY && (double)limit.rlim_cur < physical)
		return (double)limit.rlim_cur;
	return physical;
}

int run_memory_check(const struct net *net, const struct cli_problem *problem, bool training, int jobs, struct wc_error *err)
{
	const double needed = bytes_needed(net, problem->plan.batch, problem->plan.cores, problem->plan.phases == PLAN_ALL, training, jobs), there = bytes_there();

	if (needed <= there)
		return 0;
	return wc_fail(err, WC_ERR_INPUT, "cannot run '%s' with batch %d: its tensors, golden, collected and in simulated memory, need at least %.0f bytes%s, "
		       "this machine has %.0f; take a smaller batch%s", net->name, problem->plan.batch, needed, jobs > 1 ? " in all jobs" : "", there,
		       jobs > 1 ? " or fewer jobs" : "");
}

int run_memory_check_fault(const struct fault *fault, const struct schedule *schedule, const struct net *net, bool training, struct wc_error *err)
{
	const struct program_whole whole = {.loss = net->nodes[net->node_count - 1].op == NET_LOSS, .update = training};
	struct wc_memory memory;
	struct layout layout;
	int result;

	if (fault->device.kind != WC_FAULT_MEMORY)
		return 0;
	result = layout_init(&layout, schedule, net, whole, RUN_RING_ENTRIES, err);
	if (result)
		return result;
	// As the run makes it; what is not touched takes no memory.
	result = wc_memory_init(&memory, schedule->bus_bytes, layout.region_bytes, err);
	if (!result) {
		result = fault_check_memory(fault, &memory, err);
		wc_memory_release(&memory);
	}
	layout_release(&layout);
	return result;
}
