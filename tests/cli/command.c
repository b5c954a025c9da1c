// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *read_all(const char *path)
{
	FILE *file = fopen(path, "rb");
	char *text = NULL;
	size_t used = 0, got;

	if (!file)
		return NULL;
	do {
		text = realloc(text, used + 65536);
		cr_assert(text);
		got = fread(text + used, 1, 65535, file);
		used += got;
	} while (got);
	text[used] = '\0';
	fclose(file);
	return text;
}

static const char *build(void)
{
	const char *path = getenv("WC_BUILD");

	return path ? path : "build";
}

const char *command_scratch(void)
{
	static char path[256];
	char root[1024], data[2048], link[512];

	// The sanitizer's suppressions are for this binary, by a relative path; the command needs none.
	unsetenv("LSAN_OPTIONS");
	snprintf(path, sizeof(path), "%s/tests/cli/scratch-%d", build(), (int)getpid());
	if (!mkdir(path, 0777)) {
		cr_assert(getcwd(root, sizeof(root)));
		snprintf(data, sizeof(data), "%s/tests/cli/data", root);
		snprintf(link, sizeof(link), "%s/data", path);
		cr_assert_eq(symlink(data, link), 0);
	}
	return path;
}

void command_write(const char *name, const void *bytes, size_t count)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", command_scratch(), name);
	file = fopen(path, "wb");
	cr_assert(file);
	cr_assert_eq(fwrite(bytes, 1, count, file), count);
	cr_assert_eq(fclose(file), 0);
}

void command_clean(void)
{
	char command[512];

	snprintf(command, sizeof(command), "rm -rf '%s'", command_scratch());
	cr_expect_eq(system(command), 0);
}

void command_read(struct command *command)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/stdout.txt", command_scratch());
	command->out = read_all(path);
	snprintf(path, sizeof(path), "%s/stderr.txt", command_scratch());
	command->err = read_all(path);
	cr_assert(command->out && command->err);
}

pid_t command_start(struct command *command, const char *arguments)
{
	char words[4096], root[1024], program[2048], scratch[256];
	char *argv[64] = {program};
	int count = 1;
	pid_t child;

	*command = (struct command){0};
	cr_assert(getcwd(root, sizeof(root)));
	snprintf(program, sizeof(program), "%s/%s/wavecore", root, build());
	snprintf(words, sizeof(words), "%s", arguments);
	for (char *word = strtok(words, " "); word && count < 63; word = strtok(NULL, " "))
		argv[count++] = word;
	argv[count] = NULL;
	snprintf(scratch, sizeof(scratch), "%s", command_scratch()); // of this process, not of the child
	fflush(NULL);
	child = fork();
	cr_assert(child >= 0);
	if (child == 0) {
		if (chdir(scratch) || !freopen("stdout.txt", "w", stdout) || !freopen("stderr.txt", "w", stderr))
			_exit(126);
		execv(program, argv);
		_exit(127);
	}
	return child;
}

void command_run(struct command *command, const char *arguments)
{
	char root[1024], line[16384];
	int status;

	cr_assert(getcwd(root, sizeof(root)));
	snprintf(line, sizeof(line), "cd '%s' && timeout 60 '%s/%s/wavecore' %s > stdout.txt 2> stderr.txt", command_scratch(), root, build(), arguments);
	status = system(line);
	command->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	command_read(command);
}

void command_release(struct command *command)
{
	free(command->out);
	free(command->err);
}

char *command_rerun(const struct command *command)
{
	char root[1024], program[4096], *line;

	cr_assert(getcwd(root, sizeof(root)));
	// As command_run() calls it.
	snprintf(program, sizeof(program), "rerun: %s/%s/wavecore run ", root, build());
	line = strstr(command->err, program);
	cr_assert(line, "no '%s' in %s", program, command->err);
	return line + strlen(program) - strlen("run ");
}

void command_expect_error(const char *arguments, int status, const char *message)
{
	struct command command;

	command_run(&command, arguments);
	cr_expect_eq(command.status, status, "wavecore %s: status %d, expected %d\n%s", arguments, command.status, status, command.err);
	cr_expect(!strncmp(command.err, "error: ", 7), "wavecore %s: stderr does not begin with 'error: '\n%s", arguments, command.err);
	cr_expect(strstr(command.err, message), "wavecore %s: stderr lacks '%s'\n%s", arguments, message, command.err);
	cr_expect_str_empty(command.out, "wavecore %s: printed a result\n%s", arguments, command.out);
	command_release(&command);
}

void command_expect_output(const char *arguments, const char *name)
{
	struct command command;
	char path[512];
	char *expected;

	command_run(&command, arguments);
	cr_expect_eq(command.status, 0, "wavecore %s: status %d\n%s", arguments, command.status, command.err);
	snprintf(path, sizeof(path), "tests/cli/expected/%s", name);
	if (getenv("WC_REFRESH")) {
		FILE *file = fopen(path, "w");

		cr_assert(file);
		fputs(command.out, file);
		fclose(file);
	}
	expected = read_all(path);
	cr_assert(expected, "%s is missing; WC_REFRESH=1 writes it", path);
	cr_expect_str_eq(command.out, expected, "wavecore %s: output is not %s; WC_REFRESH=1 refreshes it after review. Got:\n%s", arguments, path,
			 command.out);
	free(expected);
	command_release(&command);
}

json_t *command_results(const char *arguments, const char *note)
{
	struct command command;
	json_t *results;

	command_run(&command, arguments);
	cr_assert_eq(command.status, 0, "%s: %s", arguments, command.err);
	if (note && *note)
		cr_expect(strstr(command.err, note), "%s", command.err);
	else if (note)
		cr_expect_str_empty(command.err);
	results = json_loads(command.out, 0, NULL);
	cr_assert(results, "%s", command.out);
	command_release(&command);
	return results;
}

json_int_t command_integer(const json_t *object, const char *key)
{
	cr_assert(json_is_integer(json_object_get(object, key)), "%s", key);
	return json_integer_value(json_object_get(object, key));
}
