// SPDX-License-Identifier: Apache-2.0
//
// What a training step needs of DRAM in each form, over strips, images and mini-batches (driver/plan/footprint_model.h).
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "driver/cli/cli.h"
#include "driver/cli/report.h"
#include "driver/plan/footprint_model.h"
#include "traces/wct_json.h"

static const char footprint_nets[] = "vgg16,resnet50";
static const int images[] = {224, 448, 1024}, batches[] = {32, 64};

enum { STRIPS_MIN = 2, STRIPS_MAX = 16, STRIPS = STRIPS_MAX - STRIPS_MIN + 1, BATCHES = sizeof(batches) / sizeof(*batches) };

struct table {
	const struct report_options *options;
	FILE *file;
	json_t *rows; // REPORT_JSON
	const char *net_name;
	struct net net;
	int image;
	int strips[STRIPS]; // asked for
	int strip_count;
	struct footprint forms[FOOTPRINT_FORMS][STRIPS]; // without strips: the first
	int largest_images[BATCHES][FOOTPRINT_FORMS][STRIPS];
	bool images_found;
};

// Forms without strips have one number for all.
static int numbers(const struct table *table, enum footprint_form form)
{
	return footprint_is_tiled(form) ? table->strip_count : 1;
}

static double ratio(const struct table *table, enum footprint_form form, int i, int batch)
{
	return (double)footprint_bytes(&table->forms[form][i], (uint64_t)batch) / (double)footprint_bytes(&table->forms[FOOTPRINT_COLUMN][0], (uint64_t)batch);
}

static int model(struct table *table, struct wc_error *err)
{
	int result = 0;

	for (enum footprint_form form = 0; !result && form < FOOTPRINT_FORMS; form++)
		for (int i = 0; !result && i < numbers(table, form); i++)
			result = footprint_model(&table->forms[form][i], &table->net, form, table->strips[i], table->options->cores, err);
	return result;
}

static void print_table(const struct table *table, int batch)
{
	const bool small = footprint_bytes(&table->forms[FOOTPRINT_COLUMN][0], (uint64_t)batch) < 1 << 30;
	const double unit = small ? 1 << 20 : 1 << 30;

	fprintf(table->file, "%s, image %d, ", table->net_name, table->image);
	cli_print_batch(batch, table->options->cores, table->file);
	fprintf(table->file, ": %s in DRAM\n%-16s %8s",
		small ? "MiB" : "GiB", "strips", "");
	for (int i = 0; i < table->strip_count; i++)
		fprintf(table->file, " %7d", table->strips[i]);
	fprintf(table->file, "\n");
	for (enum footprint_form form = 0; form < FOOTPRINT_FORMS; form++) {
		fprintf(table->file, "%-16s", footprint_form_name(form));
		if (footprint_is_tiled(form))
			fprintf(table->file, " %8s", "");
		for (int i = 0; i < numbers(table, form); i++)
			fprintf(table->file, footprint_is_tiled(form) ? " %7.3f" : " %8.3f", 
				(double)footprint_bytes(&table->forms[form][i], (uint64_t)batch) / unit);
		fprintf(table->file, "\n");
	}
	fprintf(table->file, "%-16s %8s", "overl-h, ratio", "");
	for (int i = 0; i < table->strip_count; i++)
		fprintf(table->file, " %7.3f", ratio(table, FOOTPRINT_OVERL_H, i, batch));
	fprintf(table->file, "\n");
}

// One line for a number of strips, one column for a form, in bytes; two blank lines between, for gnuplot's index.
static void print_columns(const struct table *table, int batch)
{
	fprintf(table->file, "# %s image %d ", table->net_name, table->image);
	cli_print_batch(batch, table->options->cores, table->file);
	fprintf(table->file, "\n# strips");
	for (enum footprint_form form = 0; form < FOOTPRINT_FORMS; form++)
		fprintf(table->file, " %s", footprint_form_name(form));
	fprintf(table->file, "\n");
	for (int i = 0; i < table->strip_count; i++) {
		fprintf(table->file, "%d", table->strips[i]);
		for (enum footprint_form form = 0; form < FOOTPRINT_FORMS; form++)
			fprintf(table->file, " %" PRIu64, footprint_bytes(&table->forms[form][footprint_is_tiled(form) ? i : 0], (uint64_t)batch));
		fprintf(table->file, "\n");
	}
	fprintf(table->file, "\n\n");
}

static void add_rows(const struct table *table, int which, int batch)
{
	for (enum footprint_form form = 0; form < FOOTPRINT_FORMS; form++)
		for (int i = 0; i < numbers(table, form); i++) {
			const struct footprint *of = &table->forms[form][i];
			json_t *row = json_pack("{s:o, s:i, s:i, s:i, s:s, s:o, s:I, s:f, s:i, s:i, s:o}", "net", wct_json_text(table->net_name), "image", table->image, "batch",
						batch, "cores", table->options->cores,
						"form", footprint_form_name(form), "strips", footprint_is_tiled(form) ? json_integer(table->strips[i]) : json_null(),
						"footprint_bytes", (json_int_t)footprint_bytes(of, (uint64_t)batch), "ratio", ratio(table, form, i, batch), "segments",
						of->segments, "tiled_segments", of->tiled, "ends_at",
						of->barrier ? json_string(table->net.nodes[of->barrier].name) : json_null());

			if (table->options->dram_bytes) {
				json_object_set_new(row, "largest_batch", json_integer((json_int_t)footprint_largest_batch(of, table->options->dram_bytes)));
				json_object_set_new(row, "largest_image", json_integer(table->largest_images[which][form][i]));
			}
			json_array_append_new(table->rows, row);
		}
}

// Where the layers that rows can be cut from end, and why.
static void print_barrier(const struct table *table)
{
	const struct footprint *of = &table->forms[FOOTPRINT_OVERL_H][0];
	const struct net_node *node = &table->net.nodes[of->barrier];

	if (!of->barrier)
		return;
	fprintf(table->file, "%s%s: the first layers that rows can be cut from end before %s '%s'%s\n", table->options->form == REPORT_COLUMNS ? "# " : "",
		table->net_name, net_op_name(node->op), node->name,
		node->op == NET_GN ? ", which needs the statistics of whole samples: segments end at norms" : "");
}

// The largest image does not depend on the one at hand: found once for a network.
static int find_images(struct table *table, int which, int batch, struct wc_error *err)
{
	int result = 0;

	for (enum footprint_form form = 0; !result && form < FOOTPRINT_FORMS; form++)
		for (int i = 0; !result && i < numbers(table, form); i++)
			result = footprint_largest_image(table->net_name, form, table->strips[i], batch, table->options->cores, table->options->dram_bytes,
							 &table->largest_images[which][form][i], err);
	return result;
}

static void print_largest(const struct table *table, int which, int batch)
{
	const uint64_t dram = table->options->dram_bytes;
	const char *mark = table->options->form == REPORT_COLUMNS ? "# " : "";

	fprintf(table->file, "%s%s in %" PRIu64 " bytes of DRAM\n%s%-16s %22s %7s %22s %7s\n", mark, table->net_name, dram, mark, "", "largest batch", "strips",
		"largest image", "strips");
	for (enum footprint_form form = 0; form < FOOTPRINT_FORMS; form++) {
		int batches_best = 0, images_best = 0;

		for (int i = 1; i < numbers(table, form); i++) {
			if (table->forms[form][i].sample_bits < table->forms[form][batches_best].sample_bits)
				batches_best = i;
			if (table->largest_images[which][form][i] > table->largest_images[which][form][images_best])
				images_best = i;
		}
		fprintf(table->file, "%s%-16s %8" PRIu64 " at image %4d", mark, footprint_form_name(form),
			footprint_largest_batch(&table->forms[form][batches_best], dram), table->image);
		fprintf(table->file, footprint_is_tiled(form) ? " %7d" : "       -", table->strips[batches_best]);
		fprintf(table->file, " %9d at batch %3d", table->largest_images[which][form][images_best], batch);
		fprintf(table->file, footprint_is_tiled(form) ? " %7d\n" : "       -\n", table->strips[images_best]);
	}
}

static int report_image(struct table *table, int image, struct wc_error *err)
{
	const struct report_options *options = table->options;
	const int count = options->batch ? 1 : BATCHES;
	int result = cli_net(&table->net, table->net_name, image, err);

	table->image = image;
	if (!result)
		result = model(table, err);
	for (int i = 0; !result && i < count; i++) {
		const int batch = options->batch ? options->batch : batches[i];

		if (options->dram_bytes && !table->images_found)
			result = find_images(table, i, batch, err);
		if (options->form == REPORT_JSON)
			add_rows(table, i, batch);
		else if (options->form == REPORT_COLUMNS)
			print_columns(table, batch);
		else
			print_table(table, batch);
		if (options->dram_bytes && options->form != REPORT_JSON)
			print_largest(table, i, batch);
	}
	table->images_found = true;
	if (!result && options->form != REPORT_JSON)
		print_barrier(table);
	if (!result && options->form == REPORT_TABLE)
		fprintf(table->file, "\n");
	net_release(&table->net);
	return result;
}

static int visit_net(const char *name, void *context, struct wc_error *err)
{
	struct table *table = context;
	int result = 0;

	table->net_name = name;
	table->images_found = false;
	if (table->options->image)
		return report_image(table, table->options->image, err);
	for (size_t i = 0; !result && i < sizeof(images) / sizeof(*images); i++)
		result = report_image(table, images[i], err);
	return result;
}

int report_footprint(const struct report_options *options, FILE *file, struct wc_error *err)
{
	static struct table table;
	int result;

	table = (struct table){.options = options, .file = file, .rows = options->form == REPORT_JSON ? json_array() : NULL};
	for (int strips = options->strips ? options->strips : STRIPS_MIN; strips <= (options->strips ? options->strips : STRIPS_MAX); strips++)
		table.strips[table.strip_count++] = strips;
	result = report_each(options->nets ? options->nets : footprint_nets, visit_net, &table, err);
	if (table.rows && !result) {
		json_dumpf(table.rows, file, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
		fprintf(file, "\n");
	}
	json_decref(table.rows);
	if (!result && (fflush(file) || ferror(file)))
		return wc_fail(err, WC_ERR_SYSTEM, "cannot write the report: %m");
	return result;
}
