// SPDX-License-Identifier: Apache-2.0
//
// Rule: a run with --resume that is repeated does not simulate again what was finished, and says the same of it; a file of another run is
// refused; and --profile shows where the cycles went.
#include <criterion/criterion.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "traces/wct.h"

TestSuite(resume, .fini = command_clean, .timeout = 240);

#define RUN "run --net lenet --batch 1 --schedule mbs2 --arith dpi "
#define TRAIN "train --net lenet --batch 1 --schedule mbs2 --arith dpi --steps 2 "

static json_int_t sum_of(const json_t *array, const char *key)
{
	json_int_t sum = 0;
	const json_t *entry;
	size_t i;

	json_array_foreach(array, i, entry)
		sum += command_integer(entry, key);
	return sum;
}

static const char *scratch_file(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", command_scratch(), name);
	return path;
}

static void set_checksum(json_t *state)
{
	char text[9], *dumped;

	json_object_del(state, "checksum");
	dumped = json_dumps(state, JSON_COMPACT);
	cr_assert(dumped);
	snprintf(text, sizeof(text), "%08" PRIx32, wct_digest_bytes(0, dumped, strlen(dumped)));
	free(dumped);
	json_object_set_new(state, "checksum", json_string(text));
}

// The file, as if so many groups were finished and it belonged to the run `key`; negative, NULL: as it is.
static void write_state(const json_t *state, const char *key, json_int_t finished)
{
	json_t *changed = json_deep_copy(state);

	if (key)
		json_object_set_new(changed, "run", json_string(key));
	if (finished >= 0)
		json_object_set_new(changed, "finished", json_integer(finished));
	set_checksum(changed);
	cr_assert_eq(json_dump_file(changed, scratch_file("state"), 0), 0);
	json_decref(changed);
}

Test(resume, repeats_what_the_rtl_said)
{
	static const char *const same[] = {"cycles", "counters", "phases", "layers", "by_class", "predicted_by_class", "digests", "checked", "macs", "commands"};
	json_t *first = command_results(RUN "--resume state --json", ""), *again = command_results(RUN "--resume state --json", "groups were finished before"), *state;

	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		cr_expect(json_equal(json_object_get(first, same[i]), json_object_get(again, same[i])), "%s", same[i]);
	cr_expect_eq(sum_of(json_object_get(first, "layers"), "cycles"), command_integer(first, "cycles"));
	cr_expect_eq(sum_of(json_object_get(first, "phases"), "cycles"), command_integer(first, "cycles"));
	cr_expect_eq(sum_of(json_object_get(first, "phases"), "macs"), command_integer(first, "macs"));
	json_decref(again);
	state = json_load_file(scratch_file("state"), 0, NULL);
	cr_assert(state && command_integer(state, "finished") > 1);
	write_state(state, NULL, 1);
	json_decref(state);
	again = command_results(RUN "--resume state --json", "note: schedule 'mbs2': 1 groups were finished before");
	cr_expect(json_equal(json_object_get(first, "digests"), json_object_get(again, "digests")));
	cr_expect(json_equal(json_object_get(first, "by_class"), json_object_get(again, "by_class")));
	json_decref(again);
	json_decref(first);
}

Test(resume, refuses_what_does_not_belong)
{
	struct command command;
	FILE *file;

	command_run(&command, RUN "--resume state");
	cr_assert_eq(command.status, 0, "%s", command.err);
	command_release(&command);
	command_expect_error(RUN "--resume state --seed 2", 2, "--resume: 'state' belongs to a run of another network, schedule, device, design or data");
	command_expect_error(RUN "--resume state --latency 50", 2, "belongs to a run of another");
	command_expect_error("train --net lenet --batch 1 --schedule mbs2 --steps 1 --arith dpi --resume state", 2, "belongs to a run of another");
	command_expect_error(RUN "--backend model --resume state", 2, "has no meaning for --backend model");
	command_expect_error(RUN "--resume state --trace t.wct", 2, "--trace has no meaning with --resume");
	command_expect_error(RUN "--resume state --fault memory:command=1,address=64,bit=0", 2, "--fault has no meaning with --resume");
	command_expect_error(RUN "--resume none/state", 2, "--resume: cannot create 'none/state'");
	file = fopen(scratch_file("state"), "w");
	cr_assert(file);
	fputs("{\"wavecore_resume\": 1, \"run\":", file);
	fclose(file);
	command_expect_error(RUN "--resume state", 2, "--resume: 'state' is not a file of --resume");
}

Test(resume, refuses_changed_numbers)
{
	static const char *const keys[] = {"wavecore_resume", "run", "finished", "cycles", "counters", "layer_cycles", "checksum"};
	struct command command;
	json_t *state;

	command_run(&command, RUN "--resume state");
	cr_assert_eq(command.status, 0, "%s", command.err);
	command_release(&command);
	state = json_load_file(scratch_file("state"), 0, NULL);
	cr_assert(state);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		json_t *changed = json_deep_copy(state), *value = json_object_get(changed, keys[i]);

		if (json_is_object(value))
			json_object_set_new(value, "cycles", json_integer(command_integer(value, "cycles") + 1));
		else if (json_is_array(value))
			json_array_set_new(value, 0, json_integer(json_integer_value(json_array_get(value, 0)) + 1));
		else if (json_is_string(value))
			json_string_set(value, "00000000");
		else
			json_integer_set(value, json_integer_value(value) + 1);
		cr_assert_eq(json_dump_file(changed, scratch_file("state"), 0), 0);
		command_expect_error(RUN "--resume state", 2, i ? "--resume: 'state' is damaged; name another file" : "'state' is not a file of --resume");
		json_decref(changed);
	}
	// How it is set out does not matter.
	cr_assert_eq(json_dump_file(state, scratch_file("state"), JSON_INDENT(2)), 0);
	json_decref(state);
	command_run(&command, RUN "--resume state");
	cr_expect_eq(command.status, 0, "%s", command.err);
	command_release(&command);
}

Test(resume, refuses_a_position_that_the_run_has_not)
{
	struct command command;
	char longer[16];
	json_t *state;

	command_run(&command, RUN "--resume state");
	cr_assert_eq(command.status, 0, "%s", command.err);
	command_release(&command);
	state = json_load_file(scratch_file("state"), 0, NULL);
	cr_assert(state);
	write_state(state, NULL, INT64_MAX);
	command_expect_error(RUN "--resume state --profile --by-class", 2,
			     "--resume: 'state' says that 9223372036854775807 groups are finished, but the run has 2");
	write_state(state, NULL, 0);
	command_expect_error(RUN "--resume state", 2, "--resume: 'state' is not a file of --resume");
	snprintf(longer, sizeof(longer), "%s0", json_string_value(json_object_get(state, "run")));
	write_state(state, longer, -1);
	command_expect_error(RUN "--resume state", 2, "belongs to a run of another");
	json_decref(state);
}

Test(resume, knows_the_cycles_of_updates)
{
	json_t *first = command_results(TRAIN "--resume state --json", ""), *again;

	cr_assert(command_integer(first, "update_cycles") > 0);
	again = command_results(TRAIN "--resume state --json", "groups were finished before");
	cr_expect_eq(command_integer(again, "update_cycles"), command_integer(first, "update_cycles"));
	json_decref(again);
	json_decref(first);
}

Test(resume, writes_where_a_link_leads)
{
	struct command command;
	struct stat status;

	// An empty file, as mktemp makes it, says that nothing is finished.
	command_write("empty", "", 0);
	cr_assert_eq(symlink("empty", scratch_file("link")), 0);
	command_run(&command, RUN "--resume link");
	cr_assert_eq(command.status, 0, "%s", command.err);
	command_release(&command);
	cr_expect(!lstat(scratch_file("link"), &status) && S_ISLNK(status.st_mode));
	cr_expect(!stat(scratch_file("empty"), &status) && status.st_size > 0);
}

Test(resume, profile_is_a_table)
{
	struct command command;

	command_run(&command, RUN "--profile");
	cr_assert_eq(command.status, 0, "%s", command.err);
	cr_expect(strstr(command.out, "\nschedule 'mbs2'\nlayer "), "%s", command.out);
	cr_expect(strstr(command.out, "\nconv2       weight_gradient "), "%s", command.out);
	cr_expect(strstr(command.out, "\nall layers  data_gradient "), "%s", command.out);
	command_release(&command);
	command_expect_error("run --backend model --profile", 2, "--profile has no meaning for --backend model");
}
