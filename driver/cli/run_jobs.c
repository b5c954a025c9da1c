// SPDX-License-Identifier: Apache-2.0
//
// Several schedules side by side: a process each, whose result comes back as JSON text through a pipe. What the golden model
// has computed before is shared with all of them.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/cli/train.h"
#include "traces/alloc.h"

struct child {
	pid_t pid; // 0: not running
	int fd;
	int schedule;
	char *text;
	size_t used, capacity;
};

static void store_fraction(void *context, double fraction)
{
	*(volatile double *)context = fraction;
}

static void show_fraction(void *context, double fraction)
{
	progress_show(context, fraction);
}

// The tensors that every schedule is compared with, once for all; layer by layer, so that a wish to stop is seen in between.
static int prepare(const struct run_job *job, struct expect *expect, struct wc_error *err)
{
	const int last = job->net->node_count - 1;

	for (int node = 1; node <= last && !*job->stop; node++)
		if (job->net->nodes[node].op != NET_LOSS && !expect_act(expect, node, err))
			return WC_ERR_SYSTEM;
	for (int node = last - 1; job->problem->plan.phases == PLAN_ALL && node > 0 && !*job->stop; node--)
		if (job->net->nodes[node].has_gradient && !expect_grad(expect, node, err))
			return WC_ERR_SYSTEM;
	return 0;
}

static _Noreturn void in_child(const struct run_job *job, int schedule, struct expect *expect, double *fraction, int fd)
{
	json_t *object = run_one(job, schedule, expect, store_fraction, fraction);
	char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
	size_t length = text ? strlen(text) : 0, written = 0;

	while (written < length) {
		const ssize_t got = write(fd, text + written, length - written);

		if (got < 0 && errno != EINTR)
			break;
		written += got > 0 ? (size_t)got : 0;
	}
	fflush(NULL);
	// No atexit handlers: they are the parent's.
	_exit(object && written == length ? 0 : CLI_SYSTEM);
}

static int start(struct child *child, const struct run_job *job, int schedule, struct expect *expect, double *fraction, struct wc_error *err)
{
	const pid_t parent = getpid();
	int fds[2];

	if (pipe(fds))
		return wc_fail(err, WC_ERR_SYSTEM, "cannot make a pipe: %s", strerror(errno));
	fflush(NULL);
	child->pid = fork();
	if (child->pid < 0) {
		child->pid = 0;
		close(fds[0]);
		close(fds[1]);
		return wc_fail(err, WC_ERR_SYSTEM, "cannot start a process: %s", strerror(errno));
	}
	if (child->pid == 0) {
		close(fds[0]);
		run_signals_end_with(parent);
		in_child(job, schedule, expect, fraction, fds[1]);
	}
	close(fds[1]);
	child->fd = fds[0];
	return 0;
}

// Read what there is; true at the end.
static bool collect(struct child *child, struct wc_error *err, int *result)
{
	char bytes[65536];
	const ssize_t got = read(child->fd, bytes, sizeof(bytes));

	if (got < 0)
		return errno != EINTR && errno != EAGAIN;
	if (child->used + (size_t)got + 1 > child->capacity) {
		const size_t capacity = 2 * (child->used + (size_t)got + 1);
		char *text = wc_realloc(child->text, capacity, 1);

		if (!text) {
			*result = wc_fail(err, WC_ERR_SYSTEM, "out of memory for a result");
			return true;
		}
		child->text = text;
		child->capacity = capacity;
	}
	memcpy(child->text + child->used, bytes, (size_t)got);
	child->used += (size_t)got;
	child->text[child->used] = '\0';
	return got == 0;
}

static int finish(struct child *child, const char *schedule, json_t **object, struct wc_error *err)
{
	int status, result = 0;

	close(child->fd);
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	*object = child->used ? json_loads(child->text, 0, NULL) : NULL;
	if (!*object && WIFSIGNALED(status))
		result = wc_fail(err, WC_ERR_SYSTEM, "the run of '%s' was ended by signal %d", schedule, WTERMSIG(status));
	else if (!*object)
		result = wc_fail(err, WC_ERR_SYSTEM, "the run of '%s' ended with status %d and no result", schedule, WEXITSTATUS(status));
	wc_free(child->text);
	*child = (struct child){0};
	return result;
}

static int run_forked(const struct run_job *job, int jobs, struct expect *expect, double *fractions, json_t **results, struct wc_error *err)
{
	const int count = job->schedule_count;
	struct child *children = wc_alloc((size_t)jobs, sizeof(*children));
	struct pollfd *polls = wc_alloc((size_t)jobs, sizeof(*polls));
	struct progress progress;
	int next = 0, running = 0, result = 0;
	bool told = false;

	if (!children || !polls) {
		wc_free(children);
		wc_free(polls);
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for %d jobs", jobs);
	}
	progress_start(&progress);
	while (running || (!result && next < count)) {
		double done = 0;

		for (int i = 0; i < jobs && !result && next < count && !*job->stop; i++)
			if (!children[i].pid) {
				result = start(&children[i], job, next, expect, &fractions[next], err);
				children[i].schedule = next++;
				running += !result;
			}
		if (!running)
			break;
		for (int i = 0; i < jobs; i++)
			polls[i] = (struct pollfd){.fd = children[i].pid ? children[i].fd : -1, .events = POLLIN};
		poll(polls, (nfds_t)jobs, 100);
		// A signal to this process alone stops its children too.
		for (int i = 0; *job->stop && !told && i < jobs; i++)
			if (children[i].pid)
				kill(children[i].pid, *job->stop); // not another one, which may be ignored
		told |= *job->stop != 0;
		for (int i = 0; i < jobs; i++)
			if (children[i].pid && polls[i].revents && collect(&children[i], err, &result)) {
				const int schedule = children[i].schedule;
				struct wc_error child_error;
				int ended = finish(&children[i], job->names[schedule], &results[schedule], &child_error);

				if (ended && !result)
					result = wc_fail(err, ended, "%s", child_error.text);
				running--;
			}
		for (int i = 0; i < count; i++)
			done += fractions[i];
		progress_show(&progress, done / count);
	}
	progress_end(&progress);
	wc_free(children);
	wc_free(polls);
	return result;
}

int run_jobs(const struct run_job *job, int jobs, json_t **results, struct wc_error *err)
{
	const int count = job->schedule_count;
	struct expect expect;
	int result = expect_init(&expect, job->data, job->device.params.rows, err);

	if (result)
		return result;
	expect.optimizer = job->train ? &job->train->optimizer : NULL;
	if ((count > 1 && jobs > 1) || job->train) {
		double *fractions = mmap(NULL, (size_t)count * sizeof(*fractions), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		if (fractions == MAP_FAILED)
			result = wc_fail(err, WC_ERR_SYSTEM, "cannot share memory between processes: %s", strerror(errno));
		else
			result = count > 1 ? prepare(job, &expect, err) : 0;
		if (!result)
			result = run_forked(job, jobs < count ? jobs : count, &expect, fractions, results, err);
		if (fractions != MAP_FAILED)
			munmap(fractions, (size_t)count * sizeof(*fractions));
	} else {
		for (int i = 0; !result && i < count && !*job->stop; i++) {
			struct progress progress;

			progress_start(&progress);
			results[i] = run_one(job, i, &expect, show_fraction, &progress);
			progress_end(&progress);
			if (!results[i])
				result = wc_fail(err, WC_ERR_SYSTEM, "out of memory for a result");
		}
	}
	expect_release(&expect);
	return result;
}
