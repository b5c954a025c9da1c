// SPDX-License-Identifier: Apache-2.0
//
// --resume: what is finished of a run, in a file of JSON that is replaced after every group.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/cli/train.h"
#include "traces/file.h"
#include "traces/wct.h"
#include "traces/wct_json.h"
#include "wc_commands.h"

enum { VERSION = 3 };

static const char checksum_key[] = "checksum";

static uint32_t digest(uint32_t sum, const void *bytes, size_t count)
{
	return bytes ? wct_digest_bytes(sum, bytes, count) : sum;
}

static uint32_t digest_data(uint32_t sum, const struct data *data)
{
	const struct net *net = data->net;
	const int last = net->node_count - 1;

	sum = digest(sum, data->images, 2 * data_count(net, 0, data->batch));
	sum = digest(sum, data->gradient, data->gradient ? 2 * data_count(net, last, data->batch) : 0);
	sum = digest(sum, data->labels, (size_t)data->batch * sizeof(*data->labels));
	for (int node = 0; node <= last; node++) {
		const struct net_node *of = &net->nodes[node];
		const size_t channels = (size_t)of->out.channels * sizeof(uint16_t);

		sum = digest(sum, data->weights[node], data->weights[node] ? 2 * net_weights(of) : 0);
		sum = digest(sum, data->bias[node], channels);
		sum = digest(sum, data->gamma[node], channels);
		sum = digest(sum, data->beta[node], channels);
	}
	return sum;
}

// The design as it was built; a file that cannot be read fails elsewhere.
static uint32_t digest_file(uint32_t sum, const char *path)
{
	static uint8_t bytes[1 << 16];
	FILE *file = path ? fopen(path, "rb") : NULL;

	if (!file)
		return sum;
	for (size_t got; (got = fread(bytes, 1, sizeof(bytes), file)) > 0;)
		sum = digest(sum, bytes, got);
	fclose(file);
	return sum;
}

// Of all that results, bytes and cycles depend on. WC_ERR_SYSTEM without memory.
static int make_key(const struct run_job *job, const struct schedule *schedule, struct run_state *state, struct wc_error *err)
{
	const struct device *device = &job->device;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	bool failed;
	int result;

	if (!file)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for the schedule's text");
	result = schedule_write(schedule, job->net, file, err);
	fprintf(file, "commands %d kind %d mac %d ports %" PRIu32 " latency %" PRIu32 " random %d seed %" PRIu64, WC_COMMAND_VERSION, device->kind,
		device->params.mac_stages, device->params.mem_ports, device->rtl.latency_cycles, device->rtl.random_memory, job->seed);
	if (job->train)
		fprintf(file, " steps %d lr %a %s %" PRIu64 " %" PRIu64 " momentum %a decay %a from %" PRIu64, job->train->steps, job->train->rate.peak,
			rate_decay_name(job->train->rate.decay), job->train->rate.warmup, job->train->rate.length, job->train->momentum, job->train->decay,
			job->train->drawn);
	failed = ferror(file);
	failed |= fclose(file) != 0;
	if (!result && failed)
		result = wc_fail(err, WC_ERR_SYSTEM, "out of memory for the schedule's text");
	if (!result)
		snprintf(state->key, sizeof(state->key), "%08" PRIx32, digest_file(digest_data(digest(0, text, size), job->data), device->rtl.library));
	free(text);
	return result;
}

static int bad_file(const struct run_state *state, const char *why, struct wc_error *err)
{
	return wc_fail(err, WC_ERR_INPUT, "--resume: '%s' %s; name another file, or remove it to begin anew", state->path, why);
}

// Of all other fields, as "%08x". False: out of memory.
static bool make_checksum(json_t *object, char text[9])
{
	char *dumped;

	json_object_del(object, checksum_key);
	dumped = json_dumps(object, JSON_COMPACT);
	if (!dumped)
		return false;
	snprintf(text, 9, "%08" PRIx32, digest(0, dumped, strlen(dumped)));
	free(dumped);
	return true;
}

// Takes the checksum out.
static int check_checksum(const struct run_state *state, json_t *object, struct wc_error *err)
{
	json_t *said = json_incref(json_object_get(object, checksum_key));
	char text[9];
	int result = 0;

	if (!make_checksum(object, text))
		result = wc_fail(err, WC_ERR_SYSTEM, "out of memory for '%s'", state->path);
	else if (!json_is_string(said) || strcmp(json_string_value(said), text))
		result = bad_file(state, "is damaged", err);
	json_decref(said);
	return result;
}

static bool read_numbers(const json_t *array, struct profile *profile)
{
	const size_t count = (size_t)profile->node_count * PROFILE_PHASES;

	if (json_array_size(array) != count)
		return false;
	for (size_t i = 0; i < count; i++) {
		const json_t *cycles = json_array_get(array, i);

		if (!json_is_integer(cycles) || json_integer_value(cycles) < 0)
			return false;
		profile->entries[i].cycles = (uint64_t)json_integer_value(cycles);
	}
	return true;
}

// The position that the file holds.
static int take_position(struct run_state *state, json_t *object, struct wc_error *err)
{
	const json_t *parts = json_object_get(object, "finished"), *counters = json_object_get(object, "counters");
	const char *key = json_string_value(json_object_get(object, "run"));

	if (json_integer_value(json_object_get(object, "wavecore_resume")) != VERSION || !key || !json_is_integer(parts) || json_integer_value(parts) < 1)
		return bad_file(state, "is not a file of --resume", err);
	const int result = check_checksum(state, object, err);

	if (result)
		return result;
	if (strcmp(key, state->key))
		return bad_file(state, "belongs to a run of another network, schedule, device, design or data", err);
	state->from.parts = (uint64_t)json_integer_value(parts);
	for (enum wc_counter counter = 0; counter < WC_COUNTER_COUNT; counter++) {
		const json_t *value = json_object_get(counters, wc_counter_name(counter));

		if (!json_is_integer(value) || json_integer_value(value) < 0)
			return bad_file(state, "is not a file of --resume", err);
		state->from.counters[counter] = (uint64_t)json_integer_value(value);
	}
	state->from.cycles = (uint64_t)json_integer_value(json_object_get(object, "cycles"));
	if (!json_is_integer(json_object_get(object, "cycles")) || json_integer_value(json_object_get(object, "cycles")) < 0 ||
	    !read_numbers(json_object_get(object, "layer_cycles"), &state->from.profile))
		return bad_file(state, "is not a file of --resume", err);
	state->resume.from = &state->from;
	state->kept = true;
	return 0;
}

static json_t *describe(const struct run_state *state, const struct run_position *position)
{
	json_t *counters = json_object(), *cycles = json_array(), *object;
	char checksum[9];

	for (enum wc_counter counter = 0; counter < WC_COUNTER_COUNT; counter++)
		json_object_set_new(counters, wc_counter_name(counter), json_integer((json_int_t)position->counters[counter]));
	for (int i = 0; i < position->profile.node_count * PROFILE_PHASES; i++)
		json_array_append_new(cycles, json_integer((json_int_t)position->profile.entries[i].cycles));
	object = json_pack("{s:i, s:o, s:o, s:I, s:I, s:o, s:o}", "wavecore_resume", VERSION, "run", json_string(state->key), "schedule",
			   wct_json_text(state->schedule), "finished", (json_int_t)position->parts, "cycles", (json_int_t)position->cycles, "counters", counters, "layer_cycles", cycles);
	if (object && (!make_checksum(object, checksum) || json_object_set_new(object, checksum_key, json_string(checksum)))) {
		json_decref(object);
		object = NULL;
	}
	return object;
}

// The old file stays until the new one is whole.
static int write_position(void *context, const struct run_position *position, struct wc_error *err)
{
	struct run_state *state = context;
	json_t *object = describe(state, position);
	char *aside = NULL;
	int result = 0;

	if (!object || asprintf(&aside, "%s%s", state->replaced, run_output_aside(RUN_RESUME)) < 0) {
		json_decref(object);
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for '%s'", state->path);
	}
	if (json_dump_file(object, aside, JSON_COMPACT) || rename(aside, state->replaced)) {
		result = wc_fail(err, WC_ERR_SYSTEM, "cannot write '%s': %s", state->path, strerror(errno));
		unlink(aside);
	}
	state->kept |= !result;
	free(aside);
	json_decref(object);
	return result;
}

static int read_file(struct run_state *state, struct wc_error *err)
{
	const char *why;
	const int fd = wc_file_open(state->replaced, WC_FILE_REGULAR, &why);
	json_t *object;
	int result;

	if (fd < 0)
		return wc_fail(err, WC_ERR_INPUT, "--resume: cannot open '%s': %s", state->path, why);
	object = json_loadfd(fd, 0, NULL);
	close(fd);
	if (!object)
		return bad_file(state, "is not a file of --resume", err);
	result = take_position(state, object, err);
	json_decref(object);
	return result;
}

int run_state_open(struct run_state *state, const struct run_job *job, int index, const char *path, struct wc_error *err)
{
	struct stat status;
	int result;

	*state = (struct run_state){
		.path = path, .schedule = job->names[index], .replaced = run_replaced_path(path),
		.resume = {.name = path, .part_done = write_position, .context = state},
	};
	if (!state->replaced)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for '%s'", path);
	result = make_key(job, &job->schedules[index], state, err);
	if (!result)
		result = profile_init(&state->from.profile, job->net->node_count, err);
	if (result)
		return result;
	// Not there, or empty: nothing is finished.
	return stat(path, &status) || !status.st_size ? 0 : read_file(state, err);
}

void run_state_release(struct run_state *state)
{
	profile_release(&state->from.profile);
	free(state->replaced);
}
