// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/device/planner.h"

#include <stdlib.h>
#include <string.h>

void choice_release(struct choice *choice)
{
	sched_group_release(&choice->group);
	choice->cost = 0;
}

int planner_say(struct planner *planner, struct sched_strip *strip, enum sched_op op, enum sched_tensor tensor, int node, struct rows rows,
		enum sched_with with)
{
	struct sched_statement statement = { .op = op, .tensor = tensor, .node = node, .lo = rows.lo, .hi = rows.hi, .with = with };

	if (rows_empty(rows) || !build_statement(strip, &statement))
		return 0;
	return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
}

int planner_move(struct planner *planner, struct sched_strip *strip, enum sched_op op, enum sched_tensor tensor, int node, struct rows rows)
{
	return planner_say(planner, strip, op, tensor, node, rows, SCHED_WITH_NONE);
}

struct rows planner_all_rows(const struct planner *planner, int node)
{
	return (struct rows){ 0, planner->net->nodes[node].out.height };
}

double planner_cost(const struct planner *planner, const struct sched_group *group)
{
	const struct plan_options *options = planner->options;
	struct account account;

	account_group(planner->schedule, group, planner->net, options->acc_rows, &account);
	return (double)account_total_bytes(&account) +
	       (double)account.macs * options->bus_bytes / ((double)options->rows * options->cols);
}

static bool is_side(int value)
{
	return value >= 4 && value <= 128 && !(value & (value - 1));
}

static int check_options(const struct plan_options *options, struct wc_error *err)
{
	uint32_t bus = options->bus_bytes;

	if (options->batch < 1 || options->batch > 65535)
		return wc_fail(err, WC_ERR_INPUT, "batch is %d, must be from 1 to 65535", options->batch);
	if (options->cores != 1)
		return wc_fail(err, WC_ERR_INPUT, "cores is %d, but a planner by itself plans for 1 core", options->cores);
	if (!is_side(options->rows) || !is_side(options->cols))
		return wc_fail(err, WC_ERR_INPUT, "array is %dx%d, sides must be 4, 8, 16, 32, 64 or 128", options->rows, options->cols);
	if (options->acc_rows < 1)
		return wc_fail(err, WC_ERR_INPUT, "accumulator rows is %d, must be positive", options->acc_rows);
	if (bus < 16 || bus > 128 || (bus & (bus - 1)))
		return wc_fail(err, WC_ERR_INPUT, "bus is %u bytes, must be 16, 32, 64 or 128", bus);
	if (options->buffer_bytes < 4096 || options->buffer_bytes > 1 << 30 || options->buffer_bytes % 4096)
		return wc_fail(err, WC_ERR_INPUT, "buffer is %u bytes, must be a multiple of 4096 up to 1GiB", options->buffer_bytes);
	if (options->strips < 0)
		return wc_fail(err, WC_ERR_INPUT, "strips is %d, must be positive, or 0 for any number", options->strips);
	return 0;
}

// Of the vector unit, as the device has them.
static int lanes_of(const struct plan_options *options)
{
	const int rows = options->rows, columns = 2 * options->cols, bus = (int)options->bus_bytes / 2, lanes = rows > columns ? rows : columns;

	return lanes > bus ? lanes : bus;
}

typedef int require_fn(const struct net *net, const char *who, struct wc_error *err);

static int begin(struct planner *planner, struct schedule *schedule, const char *name, const struct net *net, const struct plan_options *options,
		 require_fn *require, struct wc_error *err)
{
	int rc;

	memset(schedule, 0, sizeof(*schedule));
	*planner = (struct planner){ .net = net, .options = options, .schedule = schedule, .err = err };
	rc = check_options(options, err);
	if (!rc)
		rc = require(net, "device schedules", err);
	if (!rc)
		rc = net_require_lanes(net, lanes_of(options), "device schedules", err);
	if (rc)
		return rc;
	schedule->batch = options->batch;
	schedule->cores = options->cores;
	schedule->rows = options->rows;
	schedule->cols = options->cols;
	schedule->buffer_bytes = options->buffer_bytes;
	schedule->bus_bytes = options->bus_bytes;
	schedule->accounting = SCHED_DEVICE;
	schedule->net_name = strdup(net->name);
	schedule->planner = strdup(name);
	if (!schedule->net_name || !schedule->planner)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	return 0;
}

int planner_begin(struct planner *planner, struct schedule *schedule, const char *name, const struct net *net,
		  const struct plan_options *options, struct wc_error *err)
{
	return begin(planner, schedule, name, net, options, net_require_chain, err);
}

int planner_begin_graph(struct planner *planner, struct schedule *schedule, const char *name, const struct net *net,
			const struct plan_options *options, struct wc_error *err)
{
	const int rc = begin(planner, schedule, name, net, options, net_require_device, err);

	// A chain's slabs need not live through their statement (expansion.holds): the room rule has no slices of data gradients for it.
	planner->sliced_gradients = !net_is_chain(net);
	return rc;
}

int planner_end(struct planner *planner, int rc)
{
	if (rc)
		schedule_release(planner->schedule);
	else if (planner->err)
		planner->err->text[0] = 0; // of sizes that were tried and did not fit
	return rc == PLAN_NO_FIT ? WC_ERR_INPUT : rc;
}

// Why the group is as large as it is, for the schedule's reader.
static int explain(struct planner *planner, struct sched_group *group)
{
	struct fit now, more;
	char text[300], next[120] = "";
	int rc;

	rc = fit_group(planner->schedule, group, planner->net, &now, planner->err);
	if (rc)
		return rc;
	if (group->sub_batch < planner->schedule->batch) {
		group->sub_batch++;
		rc = fit_group(planner->schedule, group, planner->net, &more, NULL);
		group->sub_batch--;
		if (rc == WC_ERR_SYSTEM)
			return wc_fail(planner->err, rc, "out of memory");
		if (!rc)
			snprintf(next, sizeof(next), "; sub_batch %d fits too, with no fewer bytes to move", group->sub_batch + 1);
		else if (more.live_bytes > planner->schedule->buffer_bytes)
			snprintf(next, sizeof(next), "; sub_batch %d would need %llu", group->sub_batch + 1, (unsigned long long)more.live_bytes);
		else
			snprintf(next, sizeof(next), "; sub_batch %d would not fit in one piece each", group->sub_batch + 1);
	} else if (group->strip_count == 1) {
		snprintf(next, sizeof(next), "; all samples fit");
	}
	snprintf(text, sizeof(text), "%s needs most: %llu of %u bytes%s", planner->net->nodes[now.node].name,
		 (unsigned long long)now.live_bytes, planner->schedule->buffer_bytes, next);
	group->reason = strdup(text);
	return group->reason ? 0 : wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
}

int planner_append(struct planner *planner, struct choice_list *list)
{
	for (int i = 0; i < list->count; i++) {
		int rc = explain(planner, &list->choices[i].group);

		if (rc)
			return rc;
		if (build_append(planner->schedule, &list->choices[i].group))
			return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
	}
	return 0;
}
