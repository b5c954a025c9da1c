// SPDX-License-Identifier: Apache-2.0
//
// wavecore report WHAT: tables over networks and schedules, for paper accounting, and of footprints.
#include <string.h>
#include <sys/stat.h>

#include "driver/cli/cli.h"
#include "driver/cli/report.h"
#include "driver/net/builtin.h"
#include "driver/plan/paper/paper.h"

static const struct {
	const char *name;
	bool plans; // takes planners and a buffer; else strips and DRAM
	int (*report)(const struct report_options *options, FILE *file, struct wc_error *err);
} reports[] = {
	{"traffic", true, report_traffic},
	{"sweep", true, report_sweep},
	{"footprint", false, report_footprint},
};

int report_each(const char *list, int (*visit)(const char *name, void *context, struct wc_error *err), void *context, struct wc_error *err)
{
	int result = 0;

	while (!result) {
		const size_t length = strcspn(list, ",");
		char name[256];

		if (!length || length >= sizeof(name))
			return wc_fail(err, WC_ERR_INPUT, "a list of names has an empty or overlong name at '%.64s'", list);
		memcpy(name, list, length);
		name[length] = '\0';
		result = visit(name, context, err);
		if (!list[length])
			break;
		list += length + 1;
	}
	return result;
}

static int require_planner(const char *name, void *context, struct wc_error *err)
{
	(void)context;
	return paper_plan_require(name, err);
}

// A pipe can be read but once: what it holds is seen when the report is made.
static int require_net(const char *name, void *context, struct wc_error *err)
{
	const struct report_options *options = context;
	struct stat status;
	struct net net;
	int result;

	if (!net_builtin_find(name) && !stat(name, &status) && !S_ISREG(status.st_mode))
		return 0;
	result = cli_net(&net, name, options->image, err);
	net_release(&net);
	return result;
}

// No table is begun that ends at a name that there is not.
static int require_lists(struct report_options *options, struct wc_error *err)
{
	int result = options->nets ? report_each(options->nets, require_net, options, err) : 0;

	return result || !options->schedules ? result : report_each(options->schedules, require_planner, NULL, err);
}

int report_batch(const struct report_options *options, const char *net)
{
	if (options->batch)
		return options->batch;
	return strcmp(net, "alexnet") ? 32 : 64;
}

static int run(int argc, const char **argv)
{
	static struct {
		const char *nets, *schedules, *batch, *cores, *image, *buffer, *max_extra_macs, *strips, *dram;
		int json, columns;
	} words;
	static const struct poptOption table[] = {
		{"net", 0, POPT_ARG_STRING, &words.nets, 0, "networks (default: those of the MBS paper; sweep: the five deep ones; footprint: vgg16,resnet50)", "NAME|FILE,..."},
		{"schedule", 0, POPT_ARG_STRING, &words.schedules, 0, "planners (default: baseline,il,mbs-fs,mbs1,mbs2,hybrid)", "NAME,..."},
		{"batch", 0, POPT_ARG_STRING, &words.batch, 0, "samples of the mini-batch (default 32; 64 for alexnet; footprint: both)", "N"},
		{"cores", 0, POPT_ARG_STRING, &words.cores, 0, "cores that the mini-batch is split among, 1 or 2 (default 1)", "N"},
		{"image", 0, POPT_ARG_STRING, &words.image, 0, "height and width of the input (default: the network's own; footprint: 224, 448 and 1024)", "N"},
		{"buffer", 0, POPT_ARG_STRING, &words.buffer, 0, "global buffer of a core (default 10MiB)", "SIZE"},
		{"max-extra-macs", 0, POPT_ARG_STRING, &words.max_extra_macs, 0, "hybrid: recomputation, percent of the training MACs (default 0)", "PERCENT"},
		{"strips", 0, POPT_ARG_STRING, &words.strips, 0, "footprint: strips of a segment (default: 2 to 16)", "N"},
		{"dram", 0, POPT_ARG_STRING, &words.dram, 0, "footprint: also the largest batch and image that fit in so much DRAM", "SIZE"},
		{"json", 0, POPT_ARG_NONE, &words.json, 0, "print JSON", NULL},
		{"columns", 0, POPT_ARG_NONE, &words.columns, 0, "print columns for gnuplot", NULL},
		POPT_TABLEEND,
	};
	struct report_options options = {.nets = NULL};
	uint64_t batch = 0, cores = 1, image = 0, buffer = 10 << 20, extra = 0, strips = 0, dram = 0;
	struct wc_error err;
	const char *name;
	size_t which = 0;
	int status = cli_parse(&cli_report, argc, argv, table, &name, 1, 1), result = 0;

	if (status >= 0)
		return status;
	while (which < sizeof(reports) / sizeof(*reports) && strcmp(reports[which].name, name))
		which++;
	if (which == sizeof(reports) / sizeof(*reports))
		return cli_misuse(&cli_report, "no report '%s'", name);
	if (words.json && words.columns)
		return cli_misuse(&cli_report, "--json and --columns exclude each other");
	if (reports[which].plans ? words.strips || words.dram : words.schedules || words.buffer || words.max_extra_macs)
		return cli_misuse(&cli_report, "report %s takes no %s", name, reports[which].plans ? "--strips or --dram" : "--schedule, --buffer or --max-extra-macs");
	if (words.buffer && !strcmp(name, "sweep"))
		return cli_misuse(&cli_report, "report sweep takes no --buffer: it goes through those from 1 to 40 MiB");
	if (words.max_extra_macs && words.schedules && !strstr(words.schedules, "hybrid"))
		return cli_misuse(&cli_report, "--max-extra-macs has no meaning without the planner hybrid");
	if ((words.batch && (result = cli_number("batch", words.batch, 1, 65535, &batch, &err))) ||
	    (words.cores && (result = cli_number("cores", words.cores, 1, WC_CORES_MAX, &cores, &err))) ||
	    (words.image && (result = cli_number("image", words.image, 1, NET_IMAGE_MAX, &image, &err))) ||
	    (words.buffer && (result = cli_size("buffer", words.buffer, 4096, 1u << 30, &buffer, &err))) ||
	    (words.max_extra_macs && (result = cli_number("max-extra-macs", words.max_extra_macs, 0, 1000, &extra, &err))) ||
	    (words.strips && (result = cli_number("strips", words.strips, 2, 1024, &strips, &err))) ||
	    (words.dram && (result = cli_size("dram", words.dram, 1 << 20, 1ull << 50, &dram, &err))))
		return cli_fail(&err, result);
	if (buffer % 4096)
		return cli_misuse(&cli_report, "--buffer: %s is not a multiple of 4 KiB", words.buffer);
	if (batch % cores)
		return cli_misuse(&cli_report, "--batch: %s is not a multiple of %s cores", words.batch, words.cores);
	options = (struct report_options){
		.form = words.json ? REPORT_JSON : words.columns ? REPORT_COLUMNS : REPORT_TABLE,
		.nets = words.nets,
		.schedules = words.schedules,
		.cores = (int)cores,
		.batch = (int)batch,
		.image = (int)image,
		.buffer_bytes = (uint32_t)buffer,
		.max_extra_percent = (int)extra,
		.strips = (int)strips,
		.dram_bytes = dram,
	};
	result = require_lists(&options, &err);
	if (!result)
		result = reports[which].report(&options, stdout, &err);
	return result ? cli_fail(&err, result) : CLI_OK;
}

const struct cli_command cli_report = {"report", "traffic|sweep|footprint", "print tables over networks and schedules", run};
