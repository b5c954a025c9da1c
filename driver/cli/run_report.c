// SPDX-License-Identifier: Apache-2.0
//
// A mismatch in words, and the line that runs it again.
#include <inttypes.h>
#include <string.h>

#include "csim/golden/half.h"
#include "driver/cli/run.h"
#include "wc_commands.h"

enum { WINDOW_BEFORE = 2000, WINDOW_AFTER = 200 };

static void write_value(const struct mismatch *mismatch, uint32_t bits, FILE *file)
{
	if (mismatch->bits < 16)
		fprintf(file, "%" PRIu32, bits);
	else if (mismatch->bits == 32)
		fprintf(file, "0x%08" PRIx32 " (%.9g)", bits, (double)golden_float_of(bits));
	else
		fprintf(file, "0x%04" PRIx32 " (%.5g)", bits, (double)golden_half_to_float((uint16_t)bits));
}

static void write_place(const struct mismatch *mismatch, const struct net *net, const struct wc_device_params *params, FILE *file)
{
	const struct op *op = &mismatch->op;
	char element[256], command[32];

	mismatch_command(mismatch, params->cores, command, sizeof(command));
	mismatch_element_name(net, &mismatch->element, element, sizeof(element));
	switch (mismatch->kind) {
	case MISMATCH_TILE:
		fprintf(file, "mismatch: layer '%s' %s, %s\n", net->nodes[op->node].name, op_name(op), element);
		fprintf(file, "  tile       m %d n %d (%s, %" PRId64 " waves), row %d column %d of %dx%d", op_tile_m(op, &net->nodes[op->node], params->acc_rows),
			op_tile_n(op, &net->nodes[op->node], params->cols), command, op_waves(op, params->rows), mismatch->m, mismatch->n, op->m_count, op->n_count);
		if (!op_is_map_tile(op))
			fprintf(file, ", cut %d", op->value.stage);
		fprintf(file, "\n");
		break;
	case MISMATCH_FINAL:
		fprintf(file, "mismatch: DRAM at the end of the run, %s\n", element);
		break;
	default:
		fprintf(file, "mismatch: layer '%s' %s (%s), %s\n", net->nodes[op->node].name, op_name(op), command, element);
		break;
	}
	if (mismatch->kind != MISMATCH_FINAL && !value_is_parameters(op->value.kind))
		fprintf(file, "  command    samples %d:%d rows %d:%d\n", op->sample_first, op->sample_first + op->sample_count, op->lo, op->hi);
}

static void write_values(const struct mismatch *mismatch, FILE *file)
{
	if (mismatch->cycle)
		fprintf(file, "  cycle      %" PRIu64 "\n", mismatch->cycle);
	fprintf(file, "  got        ");
	write_value(mismatch, mismatch->got, file);
	fprintf(file, "\n  expected   ");
	write_value(mismatch, mismatch->expected, file);
	fprintf(file, "\n");
	if (mismatch->bits >= 16) {
		fprintf(file, "  distance   ");
		if (mismatch->ulps == GOLDEN_ULPS_NAN)
			fprintf(file, "one of them is a NaN\n");
		else
			fprintf(file, "%" PRIu32 " ULP%s\n", mismatch->ulps, mismatch->ulps == 1 ? "" : "s");
	}
	fprintf(file, "  extent     %" PRIu64 " of %" PRIu64 " elements compared there differ\n", mismatch->different, mismatch->compared);
}

void run_write_report(const struct run_result *result, const struct net *net, const struct wc_device_params *params, FILE *file)
{
	const struct mismatch *mismatch = &result->mismatch;
	const struct diagnosis *diagnosis = &result->diagnosis;
	char command[32];

	mismatch_command(mismatch, params->cores, command, sizeof(command));
	switch (mismatch->kind) {
	case MISMATCH_NONE:
		return;
	case MISMATCH_STOPPED:
		fprintf(file, "mismatch: the device stopped at %s (layer '%s' %s) with status %s\n", command, net->nodes[mismatch->op.node].name, op_name(&mismatch->op), device_status_name(mismatch->status));
		break;
	case MISMATCH_SHAPE:
		fprintf(file, "mismatch: layer '%s' %s (%s): tile of %dx%d drained wrong: row %d, %d columns\n",
			net->nodes[mismatch->op.node].name, op_name(&mismatch->op), command, mismatch->op.m_count, mismatch->op.n_count,
			mismatch->row, mismatch->count);
		break;
	default:
		write_place(mismatch, net, params, file);
		write_values(mismatch, file);
		break;
	}
	if (diagnosis->wave >= 0)
		fprintf(file, "  wave       %d, column %d\n", diagnosis->wave, diagnosis->column);
	for (size_t i = 0; i < sizeof(diagnosis->text) / sizeof(*diagnosis->text) && diagnosis->text[i][0]; i++)
		fprintf(file, "  %-9s  %s\n", i ? "" : "fault", diagnosis->text[i]);
}

// Quoted when a shell would not take it as it is.
static void write_word(const char *word, FILE *file)
{
	if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+")]) {
		fputs(word, file);
		return;
	}
	fputc('\'', file);
	for (; *word; word++)
		*word == '\'' ? fputs("'\\''", file) : fputc(*word, file);
	fputc('\'', file);
}

static void write_option(const char *option, const char *value, FILE *file)
{
	if (!value)
		return;
	fprintf(file, " --%s ", option);
	write_word(value, file);
}

void run_write_rerun(const struct run_job *job, const char *schedule, const struct run_result *result, FILE *file)
{
	const uint64_t cycle = result->mismatch.cycle;
	const struct run_words *words = job->words;
	const struct wc_device_params *device = &job->device.params;
	const bool rtl = job->device.kind == DEVICE_RTL;

	fprintf(file, "rerun: ");
	write_word(cli_program(), file);
	fprintf(file, words->training ? " train" : " run");
	write_option("net", words->net, file);
	write_option("image", words->image, file);
	write_option("schedule", schedule, file);
	fprintf(file, " --batch %d --array %dx%d --buffer %" PRIu32 " --bus %" PRIu32, job->data->batch, device->rows, device->cols, device->buffer_bytes,
		device->bus_bytes);
	if (device->cores != 1)
		fprintf(file, " --cores %d", device->cores);
	if (device->mem_ports != 1)
		fprintf(file, " --ports %" PRIu32, device->mem_ports);
	if (device->mac_stages != 1)
		fprintf(file, " --mac-stages %d", device->mac_stages);
	// Of several schedules' options, those that this one has a use for.
	write_option("strips", cli_uses_strips(schedule) ? words->device.strips : NULL, file);
	write_option("phases", cli_is_planner(schedule) ? words->device.phases : NULL, file);
	write_option("backend", rtl ? "rtl" : "model", file);
	if (rtl)
		write_option("arith", job->arith, file);
	fprintf(file, " --seed %" PRIu64, job->seed);
	write_option("steps", words->steps, file);
	write_option("data", words->dataset, file);
	write_option("labels", words->labels, file);
	write_option("lr", words->lr, file);
	write_option("lr-decay", words->lr_decay, file);
	write_option("lr-steps", words->lr_steps, file);
	write_option("warmup", words->warmup, file);
	write_option("momentum", words->momentum, file);
	write_option("decay", words->decay, file);
	write_option("input", words->input, file);
	write_option("weights", words->weights, file);
	write_option("gradient", words->gradient, file);
	write_option("latency", words->latency, file);
	if (words->random_memory)
		fprintf(file, " --random-memory");
	if (words->random_reset)
		fprintf(file, " --random-reset");
	write_option("fault", words->fault, file);
	if (rtl && words->waves) {
		write_option("waves", words->waves, file);
		write_option("waves-window", words->waves_window, file);
		write_option("pe-window", words->pe_window, file);
	} else if (rtl && cycle && !words->resume) {
		fprintf(file, " --waves mismatch.fst --waves-window %" PRIu64 ":%" PRIu64, cycle > WINDOW_BEFORE ? cycle - WINDOW_BEFORE : 0,
			cycle + WINDOW_AFTER);
		if (!strcmp(job->arith, "dpi") && result->diagnosis.pe_row >= 0 && result->diagnosis.column >= 0)
			fprintf(file, " --pe-window %d,%d", result->diagnosis.pe_row, result->diagnosis.column);
	}
	fprintf(file, "\n");
}
