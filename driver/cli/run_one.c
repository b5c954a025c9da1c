// SPDX-License-Identifier: Apache-2.0
//
// One schedule's run: plan, check, run, compare bytes with the prediction, and put it all into a JSON object.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "driver/cli/train.h"
#include "driver/plan/account.h"
#include "driver/plan/check/check.h"
#include "traces/wct_json.h"

static void set_integer(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

static json_t *by_class(const uint64_t *read, const uint64_t *write)
{
	json_t *object = json_object();

	for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++)
		set_integer(object, wc_class_name(class), (read ? read[class] : 0) + (write ? write[class] : 0));
	return object;
}

static uint64_t sum(const uint64_t *bytes)
{
	uint64_t total = 0;

	for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++)
		total += bytes[class];
	return total;
}

static void describe_mismatch(json_t *object, const struct run_result *result, const struct net *net)
{
	const struct mismatch *mismatch = &result->mismatch;
	char element[256] = "";
	json_t *to = json_object();

	json_object_set_new(object, "mismatch", to);
	if (mismatch->kind != MISMATCH_FINAL) {
		set_integer(to, "core", (uint64_t)mismatch->core);
		set_integer(to, "command", mismatch->command);
		json_object_set_new(to, "layer", wct_json_text(net->nodes[mismatch->op.node].name));
		json_object_set_new(to, "phase", json_string(op_name(&mismatch->op)));
	}
	set_integer(to, "cycle", mismatch->cycle);
	json_object_set_new(to, "stage", json_string(diagnosis_stage_name(result->diagnosis.stage)));
	if (mismatch->kind == MISMATCH_STOPPED) {
		json_object_set_new(to, "status", json_string(device_status_name(mismatch->status)));
		return;
	}
	if (mismatch->kind == MISMATCH_SHAPE)
		return;
	mismatch_element_name(net, &mismatch->element, element, sizeof(element));
	json_object_set_new(to, "element", wct_json_text(element));
	set_integer(to, "got", mismatch->got);
	set_integer(to, "expected", mismatch->expected);
	set_integer(to, "ulps", mismatch->ulps);
	if (mismatch->kind == MISMATCH_TILE) {
		set_integer(to, "m", (uint64_t)mismatch->m);
		set_integer(to, "n", (uint64_t)mismatch->n);
	}
	if (result->diagnosis.wave >= 0)
		set_integer(to, "wave", (uint64_t)result->diagnosis.wave);
	if (result->diagnosis.pe_row >= 0)
		set_integer(to, "pe_row", (uint64_t)result->diagnosis.pe_row);
	if (result->diagnosis.column >= 0)
		set_integer(to, "column", (uint64_t)result->diagnosis.column);
	if (result->diagnosis.has_address)
		set_integer(to, "address", result->diagnosis.address);
}

static void describe(json_t *object, const struct run_job *job, const struct run_result *result, const struct account *account)
{
	const struct wc_device_params *device = &job->device.params;
	const double core_cycles = (double)result->cycles * device->cores;
	const uint64_t checked = result->counts.elements;
	json_t *counters = json_object(), *digests = json_object();

	if (job->device.kind == DEVICE_RTL) {
		set_integer(object, "latency", job->device.rtl.latency_cycles);
		json_object_set_new(object, "random_memory", json_boolean(job->device.rtl.random_memory));
	}
	json_object_set_new(object, "cycles", job->device.kind == DEVICE_RTL ? json_integer((json_int_t)result->cycles) : json_null());
	set_integer(object, "commands", result->commands);
	set_integer(object, "macs", result->macs);
	json_object_set_new(object, "array_utilization",
			    result->cycles ? json_real((double)result->macs / (core_cycles * device->rows * device->cols)) : json_null());
	json_object_set_new(object, "array_busy",
			    result->cycles ? json_real((double)result->counters[WC_COUNTER_ARRAY_BUSY] / core_cycles) : json_null());
	set_integer(object, "dram_read_bytes", sum(result->read_bytes));
	set_integer(object, "dram_write_bytes", sum(result->write_bytes));
	set_integer(object, "predicted_dram_bytes", account_total_bytes(account));
	set_integer(object, "predicted_dram_read_bytes", sum(account->read_bytes));
	set_integer(object, "predicted_dram_write_bytes", sum(account->write_bytes));
	json_object_set_new(object, "by_class", by_class(result->read_bytes, result->write_bytes));
	json_object_set_new(object, "predicted_by_class", by_class(account->read_bytes, account->write_bytes));
	json_object_set_new(object, "read_by_class", by_class(result->read_bytes, NULL));
	json_object_set_new(object, "write_by_class", by_class(NULL, result->write_bytes));
	json_object_set_new(object, "predicted_read_by_class", by_class(account->read_bytes, NULL));
	json_object_set_new(object, "predicted_write_by_class", by_class(NULL, account->write_bytes));
	set_integer(object, "payload_bytes", sum(account->payload_bytes));
	set_integer(object, "buffer_high_water_bytes", result->buffer_high_water);
	set_integer(object, "checked", checked);
	set_integer(object, "checked_tiles", result->counts.tiles);
	set_integer(object, "checked_vectors", result->counts.vectors);
	set_integer(object, "checked_loads", result->counts.loads);
	set_integer(object, "checked_stores", result->counts.stores);
	set_integer(object, "checked_tile_elements", result->counts.tile_elements);
	set_integer(object, "checked_vector_elements", result->counts.vector_elements);
	set_integer(object, "checked_load_elements", result->counts.load_elements);
	set_integer(object, "checked_store_elements", result->counts.store_elements);
	set_integer(object, "mismatched", result->mismatch.kind == MISMATCH_NONE ? 0 : result->mismatch.different ? result->mismatch.different : 1);
	json_object_set_new(object, "wall_s", json_real(result->wall_s));
	json_object_set_new(object, "macs_per_s", json_real(result->wall_s > 0 ? (double)result->macs / result->wall_s : 0));
	json_object_set_new(object, "device_cpu_s", json_real(result->device_cpu_s));
	json_object_set_new(object, "golden_cpu_s", json_real(result->golden_cpu_s));
	set_integer(object, "golden_macs", result->golden_macs);
	for (enum wc_counter counter = 0; counter < WC_COUNTER_COUNT; counter++)
		set_integer(counters, wc_counter_name(counter), result->counters[counter]);
	json_object_set_new(object, "counters", counters);
	run_profile_describe(object, job, &result->profile);
	for (int i = 0; i < result->digest_count; i++) {
		const struct run_digest *digest = &result->digests[i];
		char name[256];

		layout_store_name(job->net, digest->kind == COLLECT_ACT ? LAYOUT_ACT : LAYOUT_GRAD, digest->node, name, sizeof(name));
		json_object_set_new(digests, name, json_sprintf("%08x", (unsigned)digest->crc));
	}
	json_object_set_new(object, "digests", digests);
	if (result->mismatch.kind != MISMATCH_NONE)
		describe_mismatch(object, result, job->net);
}

static void add_report(json_t *object, const struct run_job *job, const char *schedule, const struct run_result *result)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file) {
		json_object_set_new(object, "report", json_string("no memory for the report of the mismatch\n"));
		return;
	}
	run_write_report(result, job->net, &job->device.params, file);
	run_write_rerun(job, schedule, result, file);
	fclose(file);
	json_object_set_new(object, "report", wct_json_text(text));
	free(text);
}

// What all steps together move.
static void multiply(struct account *account, uint64_t steps)
{
	for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++) {
		account->read_bytes[class] *= steps;
		account->write_bytes[class] *= steps;
		account->payload_bytes[class] *= steps;
	}
}

static void interrupted_text(const struct run_result *result, const struct run_options *options, const char *resume, struct wc_error *err)
{
	wc_fail(err, WC_ERR_STOPPED, "interrupted after %" PRIu64 " commands; %" PRIu64 " tiles checked so far, all equal%s%s%s%s", result->commands,
		result->counts.tiles, options->trace ? "; the trace so far is in " : "", options->trace ? options->trace : "",
		resume ? "; what is finished is in " : "", resume ? resume : "");
}

static void add_note(json_t *object, const char *text)
{
	json_t *notes = json_object_get(object, "notes");

	if (!notes) {
		notes = json_array();
		json_object_set_new(object, "notes", notes);
	}
	json_array_append_new(notes, wct_json_text(text));
}

static void add_notes(json_t *object, const struct run_job *job, const struct run_result *result, const struct run_resume *resume, int status)
{
	const uint64_t from = job->device.rtl.wave_from;
	char text[200];

	if (resume && resume->from && status != WC_ERR_INPUT) {
		snprintf(text, sizeof(text), "%" PRIu64 " groups were finished before: they ran on the C model now, with the cycles that the RTL took then",
			 resume->from->parts);
		add_note(object, text);
	}
	// An error says it otherwise.
	if (result->waveform.text[0] && (status == WC_ERR_MISMATCH || status == WC_ERR_STOPPED))
		add_note(object, result->waveform.text);
	if (job->words->waves_window && result->end_cycle && from >= result->end_cycle) {
		snprintf(text, sizeof(text), "--waves-window begins at cycle %" PRIu64 ", but the run ended at cycle %" PRIu64 ": the waveform is empty", from,
			 result->end_cycle);
		add_note(object, text);
	}
}

// What runs beside the groups.
static struct program_whole run_whole(const struct run_job *job, const struct expect *expect)
{
	return (struct program_whole){.loss = job->net->nodes[job->net->node_count - 1].op == NET_LOSS, .update = expect->optimizer != NULL};
}

json_t *run_one(const struct run_job *job, int index, struct expect *expect, run_progress *progress, void *context)
{
	const struct wc_device_params *device = &job->device.params;
	const struct schedule *schedule = &job->schedules[index];
	const char *name = job->names[index];
	struct train_steps steps = {0};
	struct run_state state = {0};
	struct run_outputs outputs;
	struct check_result check;
	struct run_result result = {0};
	struct account account = {0};
	struct wc_error err = {.text = ""};
	json_t *object = json_pack("{s:o, s:o, s:s, s:o, s:s, s:i, s:i, s:i, s:i, s:i, s:I, s:i, s:I, s:s}", "net", wct_json_text(job->net->name), "schedule", wct_json_text(name), "backend",
				   job->device.kind == DEVICE_RTL ? "rtl" : "model", "array", json_sprintf("%dx%d", device->rows, device->cols), "arith",
				   job->arith, "ports", (int)device->mem_ports, "cores", device->cores, "batch", job->data->batch,
				   "image", job->net->nodes[0].out.height, "mac_stages", device->mac_stages,
				   "buffer_bytes", (json_int_t)device->buffer_bytes, "bus_bytes", (int)device->bus_bytes, "seed", (json_int_t)job->seed, "images", job->data->images_from);
	char *waveform = NULL;
	int status = run_outputs_make(&outputs, job->words, name, job->schedule_count > 1, &err);

	if (!status && outputs.paths[RUN_WAVES] && !(waveform = run_replaced_path(outputs.paths[RUN_WAVES])))
		status = wc_fail(&err, WC_ERR_SYSTEM, "out of memory for the name of the waveform");
	if (!status)
		status = cli_prove(schedule, job->net, &check, &err);
	if (!status && outputs.paths[RUN_RESUME])
		status = run_state_open(&state, job, index, outputs.paths[RUN_RESUME], &err);
	if (!status && job->train)
		status = train_steps_begin(&steps, job, name, &outputs, &err);
	if (!status) {
		struct run_options options = {
			.schedule = schedule,
			.net = job->net,
			.data = job->data,
			.device = job->device,
			.seed = job->seed,
			.fault = job->fault,
			.schedule_name = name,
			.trace = outputs.paths[RUN_TRACE],
			.golden_trace = outputs.paths[RUN_GOLDEN_TRACE],
			.trace_level = job->trace_level,
			.dump = outputs.paths[RUN_DUMP],
			.training = job->train ? &steps.training : NULL,
			.resume = outputs.paths[RUN_RESUME] ? &state.resume : NULL,
			.progress = progress,
			.progress_context = context,
			.stop = job->stop,
		};

		options.device.rtl.waveform = waveform;
		account_schedule_whole(schedule, job->net, device->acc_rows, run_whole(job, expect), &account);
		multiply(&account, job->train ? (uint64_t)job->train->steps : 1);
		run_signals_recording(waveform);
		status = run_schedule(&options, expect, &result, &err);
		run_signals_recording(NULL);
		if (!status)
			status = run_compare_bytes(&result, &account, &err);
		describe(object, job, &result, &account);
		if (status == WC_ERR_STOPPED)
			interrupted_text(&result, &options, state.kept ? outputs.paths[RUN_RESUME] : NULL, &err);
		if (job->train)
			status = train_steps_end(&steps, &result, state.kept ? outputs.paths[RUN_RESUME] : NULL, status, object, &err);
		if (result.mismatch.kind != MISMATCH_NONE)
			add_report(object, job, name, &result);
		add_notes(object, job, &result, options.resume, status);
	}
	set_integer(object, "exit", cli_exit_of(status));
	if (status)
		json_object_set_new(object, "error", wct_json_text(err.text));
	run_state_release(&state);
	run_result_release(&result);
	run_outputs_release(&outputs);
	free(waveform);
	return object;
}
