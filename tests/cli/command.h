// SPDX-License-Identifier: Apache-2.0
//
// Running the `wavecore` command from a test.
#ifndef WC_TESTS_CLI_COMMAND_H
#define WC_TESTS_CLI_COMMAND_H

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>

struct command {
	int status;      // exit status; 128 + n: ended by signal n
	char *out, *err; // what it printed
};

// Run `wavecore ARGUMENTS` through the shell, from a scratch directory of the test's own, in which data/ is tests/cli/data.
// Ended after 60 seconds. Release the result with command_release().
void command_run(struct command *command, const char *arguments);
void command_release(struct command *command);

// The same without waiting: the process, whose output command_read() fetches after its end. Words are separated by blanks, no shell.
pid_t command_start(struct command *command, const char *arguments);
void command_read(struct command *command);

// The arguments of the line "rerun: PROGRAM ARGUMENTS" in stderr, to the end of all text; fails the test if there is none.
char *command_rerun(const struct command *command);

// Run, and fail the test unless the status is `status` and stderr contains `message`; results must not be printed then.
void command_expect_error(const char *arguments, int status, const char *message);
// Run, and compare stdout (status 0) with the file tests/cli/expected/NAME; WC_REFRESH=1 writes it anew.
void command_expect_output(const char *arguments, const char *name);

// Run, fail the test unless the status is 0, and parse stdout. `note`: what stderr contains; "": it is empty; NULL: it is not looked at.
json_t *command_results(const char *arguments, const char *note);
// A field that must be an integer.
json_int_t command_integer(const json_t *object, const char *key);

// Path of the scratch directory, relative to the project.
const char *command_scratch(void);
// Write a file into it.
void command_write(const char *name, const void *bytes, size_t count);
// Remove it: the teardown of every test.
void command_clean(void);

#endif
