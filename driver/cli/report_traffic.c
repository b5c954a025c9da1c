// SPDX-License-Identifier: Apache-2.0
//
// What each schedule moves, by class, and over buffer sizes.
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "driver/cli/cli.h"
#include "driver/cli/report.h"
#include "driver/plan/account_paper.h"
#include "driver/plan/paper/paper.h"
#include "traces/wct_json.h"

static const char paper_nets[] = "alexnet,vgg16,resnet50,resnet101,resnet152,inception-v3,inception-v4";
static const char deep_nets[] = "resnet50,resnet101,resnet152,inception-v3,inception-v4";
static const char paper_schedules[] = "baseline,il,mbs-fs,mbs1,mbs2,hybrid";

enum { MEAN_MAX = 64 };

// A schedule's mean of the ratios, over networks.
struct mean {
	char schedule[64];
	double sum;
	int count;
};

struct table {
	const struct report_options *options;
	FILE *file;
	json_t *rows; // REPORT_JSON
	struct net net;
	char net_name[256];
	uint32_t buffer_bytes;
	uint64_t baseline_bytes;
	struct mean means[MEAN_MAX];
	int mean_count;
};

static int plan_one(const struct table *table, const char *name, struct account *account, struct wc_error *err)
{
	const struct report_options *options = table->options;
	const struct plan_options plan = {
		.batch = report_batch(options, table->net_name),
		.cores = options->cores,
		.buffer_bytes = table->buffer_bytes,
		.accounting = SCHED_PAPER,
		.max_extra_percent = options->max_extra_percent,
	};
	struct schedule schedule;
	int result = plan_by_name(&schedule, name, &table->net, &plan, err);

	if (result)
		return result;
	result = account_paper_schedule(&schedule, &table->net, account, err);
	schedule_release(&schedule);
	return result;
}

static void add_to_mean(struct table *table, const char *schedule, double ratio)
{
	int i = 0;

	while (i < table->mean_count && strcmp(table->means[i].schedule, schedule))
		i++;
	if (i == MEAN_MAX)
		return;
	if (i == table->mean_count) {
		snprintf(table->means[i].schedule, sizeof(table->means[i].schedule), "%s", schedule);
		table->mean_count++;
	}
	table->means[i].sum += ratio;
	table->means[i].count++;
}

static void print_row(struct table *table, const char *schedule, const struct account *account)
{
	const uint64_t bytes = account_total_bytes(account);
	const double ratio = table->baseline_bytes ? (double)bytes / (double)table->baseline_bytes : 0;
	const double extra = cli_extra_percent(&table->net, report_batch(table->options, table->net_name), account->extra_macs);
	json_t *row, *classes;

	add_to_mean(table, schedule, ratio);
	if (table->options->form != REPORT_JSON) {
		fprintf(table->file, "%-13s %-9s %15" PRIu64 " %7.4f %6.2f", table->net_name, schedule, bytes, ratio, extra);
		for (enum wc_class class = 0; class <= WC_CLASS_WEIGHT_GRADIENT; class++)
			fprintf(table->file, " %14" PRIu64, account->read_bytes[class] + account->write_bytes[class]);
		fprintf(table->file, "\n");
		return;
	}
	classes = json_object();
	for (enum wc_class class = 0; class <= WC_CLASS_WEIGHT_GRADIENT; class++)
		json_object_set_new(classes, wc_class_name(class), json_integer((json_int_t)(account->read_bytes[class] + account->write_bytes[class])));
	row = json_pack("{s:o, s:s, s:i, s:I, s:I, s:f, s:f, s:o}", "net", wct_json_text(table->net_name), "schedule", schedule, "cores",
			table->options->cores, "buffer_bytes", (json_int_t)table->buffer_bytes, "dram_bytes", (json_int_t)bytes, "ratio", ratio, "extra_macs",
			extra, "by_class", classes);
	json_array_append_new(table->rows, row);
}

static int visit_schedule(const char *name, void *context, struct wc_error *err)
{
	struct table *table = context;
	struct account account;
	int result = plan_one(table, name, &account, err);

	if (!result)
		print_row(table, name, &account);
	return result;
}

static int open_net(struct table *table, const char *name, struct wc_error *err)
{
	int result = cli_net(&table->net, name, table->options->image, err);

	snprintf(table->net_name, sizeof(table->net_name), "%s", name);
	return result;
}

static int find_baseline(struct table *table, struct wc_error *err)
{
	struct account account;
	int result = plan_one(table, "baseline", &account, err);

	table->baseline_bytes = result ? 0 : account_total_bytes(&account);
	return result;
}

// What no schedule can do without.
static void print_bound(const struct table *table)
{
	const uint64_t bytes = paper_lower_bound(&table->net, report_batch(table->options, table->net_name), table->options->cores);

	if (table->options->form == REPORT_TABLE)
		fprintf(table->file, "%-13s %-9s %15" PRIu64 " %7.4f\n", table->net_name, "(bound)", bytes, (double)bytes / (double)table->baseline_bytes);
}

static int visit_net(const char *name, void *context, struct wc_error *err)
{
	struct table *table = context;
	int result = open_net(table, name, err);

	if (!result)
		result = find_baseline(table, err);
	if (!result)
		result = report_each(table->options->schedules ? table->options->schedules : paper_schedules, visit_schedule, table, err);
	if (!result)
		print_bound(table);
	net_release(&table->net);
	return result;
}

static void print_means(const struct table *table)
{
	fprintf(table->file, "\nmean of the networks\n");
	for (int i = 0; i < table->mean_count; i++)
		fprintf(table->file, "%-13s %-9s %15s %7.4f\n", "", table->means[i].schedule, "", table->means[i].sum / table->means[i].count);
}

static int finish(struct table *table, int result, struct wc_error *err)
{
	if (table->rows && !result) {
		json_dumpf(table->rows, table->file, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
		fprintf(table->file, "\n");
	}
	json_decref(table->rows);
	if (!result && (fflush(table->file) || ferror(table->file)))
		return wc_fail(err, WC_ERR_SYSTEM, "cannot write the report: %m");
	return result;
}

static void begin(struct table *table, const struct report_options *options, FILE *file)
{
	*table = (struct table){.options = options, .file = file, .buffer_bytes = options->buffer_bytes};
	if (options->form == REPORT_JSON)
		table->rows = json_array();
}

int report_traffic(const struct report_options *options, FILE *file, struct wc_error *err)
{
	struct table table;
	int result;

	begin(&table, options, file);
	if (options->form != REPORT_JSON) {
		fprintf(file, "%s%-*s %-9s %15s %7s %6s", options->form == REPORT_COLUMNS ? "# " : "", options->form == REPORT_COLUMNS ? 11 : 13, "network",
			"schedule", "DRAM bytes", "ratio", "extra%");
		for (enum wc_class class = 0; class <= WC_CLASS_WEIGHT_GRADIENT; class++)
			fprintf(file, " %14s", wc_class_name(class));
		fprintf(file, "\n");
	}
	result = report_each(options->nets ? options->nets : paper_nets, visit_net, &table, err);
	if (!result && options->form == REPORT_TABLE)
		print_means(&table);
	return finish(&table, result, err);
}

// One buffer, all schedules: a row of ratios.
static int visit_ratio(const char *name, void *context, struct wc_error *err)
{
	struct table *table = context;
	struct account account;
	int result = plan_one(table, name, &account, err);

	if (result)
		return result;
	if (table->options->form == REPORT_JSON)
		print_row(table, name, &account);
	else
		fprintf(table->file, " %9.4f", (double)account_total_bytes(&account) / (double)table->baseline_bytes);
	return 0;
}

static int print_heading(const char *name, void *context, struct wc_error *err)
{
	struct table *table = context;

	(void)err;
	fprintf(table->file, " %9s", name);
	return 0;
}

static int sweep_net(const char *name, void *context, struct wc_error *err)
{
	static const int sizes[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 32, 36, 40};
	struct table *table = context;
	const char *schedules = table->options->schedules ? table->options->schedules : paper_schedules;
	int result = open_net(table, name, err);

	for (size_t i = 0; !result && i < sizeof(sizes) / sizeof(*sizes); i++) {
		table->buffer_bytes = (uint32_t)sizes[i] << 20;
		result = find_baseline(table, err);
		if (!result && table->options->form != REPORT_JSON)
			fprintf(table->file, "%-13s %6d", table->net_name, sizes[i]);
		if (!result)
			result = report_each(schedules, visit_ratio, table, err);
		if (!result && table->options->form != REPORT_JSON)
			fprintf(table->file, "\n");
	}
	if (!result && table->options->form != REPORT_JSON)
		fprintf(table->file, "\n");
	net_release(&table->net);
	return result;
}

int report_sweep(const struct report_options *options, FILE *file, struct wc_error *err)
{
	const char *schedules = options->schedules ? options->schedules : paper_schedules;
	struct table table;
	int result = 0;

	begin(&table, options, file);
	if (options->form != REPORT_JSON) {
		fprintf(file, "%s%-*s %6s", options->form == REPORT_COLUMNS ? "# " : "", options->form == REPORT_COLUMNS ? 11 : 13, "network", "MiB");
		result = report_each(schedules, print_heading, &table, err);
		fprintf(file, "\n");
	}
	if (!result)
		result = report_each(options->nets ? options->nets : deep_nets, sweep_net, &table, err);
	return finish(&table, result, err);
}
