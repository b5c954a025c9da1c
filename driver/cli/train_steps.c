// SPDX-License-Identifier: Apache-2.0
//
// One schedule's training: what is fed to the run, and said and written of every step.
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "driver/cli/train.h"
#include "driver/host/clock.h"
#include "driver/host/parameters.h"
#include "traces/alloc.h"

static uint64_t drawn(const struct train_steps *steps, int done)
{
	return steps->job->train->drawn + (uint64_t)done * (uint64_t)steps->job->data->batch;
}

static int next_batch(void *context, int step, struct wc_error *err)
{
	struct train_steps *steps = context;
	struct train *train = steps->job->train;

	if (steps->unread)
		return wc_fail(err, WC_ERR_SYSTEM, "cannot write to stdout: %s", strerror(EPIPE));
	train->optimizer.sgd.lr = rate_at(&train->rate, train->before + (uint64_t)step);
	return dataset_draw(&train->dataset, steps->job->seed, drawn(steps, step), train->data, err);
}

static void note_errno(int *first)
{
	if (!*first)
		*first = errno;
}

// What cannot be written is found in the end, ferror(), and ends nothing: the parameters are worth more. But a pipe that nobody reads any more (head)
// ends the training, as others do.
static void step_done(void *context, int step, double loss)
{
	struct train_steps *steps = context;
	const double now_s = clock_wall_s(), rate = steps->job->data->batch / (now_s - steps->step_from_s);

	steps->step_from_s = now_s;
	steps->losses[step] = (float)loss;
	steps->done = step + 1;
	if (!steps->job->words->json) {
		// Over the progress line, which is shorter.
		const char *over = isatty(STDOUT_FILENO) && isatty(STDERR_FILENO) ? "\r" : "";

		if (printf("%s%s: step %d of %d, loss %.9g, %.1f images/s\n", over, steps->schedule, steps->done, steps->training.steps, (double)steps->losses[step], rate) < 0 ||
		    fflush(stdout)) {
			note_errno(&steps->stdout_errno);
			steps->unread |= errno == EPIPE;
		}
	}
	if (steps->curve && (fprintf(steps->curve, "%d\t%.9g\t%.1f\n", steps->done, (double)steps->losses[step], rate) < 0 || fflush(steps->curve)))
		note_errno(&steps->curve_errno);
}

static int open_curve(struct train_steps *steps, struct wc_error *err)
{
	const char *path = steps->outputs->paths[RUN_CURVE];

	if (!path)
		return 0;
	steps->curve = fopen(path, "w");
	if (!steps->curve)
		return wc_fail(err, WC_ERR_SYSTEM, "cannot write '%s': %s", path, strerror(errno));
	fprintf(steps->curve, "# %s, %s, batch %d: step, loss, images/s\n", steps->job->net->name, steps->schedule, steps->job->data->batch);
	return 0;
}

static int close_curve(struct train_steps *steps, struct wc_error *err)
{
	FILE *curve = steps->curve;
	bool failed;

	steps->curve = NULL;
	if (!curve)
		return 0;
	failed = ferror(curve);
	if (fclose(curve)) {
		note_errno(&steps->curve_errno);
		failed = true;
	}
	return failed ? wc_fail(err, WC_ERR_SYSTEM, "cannot write '%s': %s", steps->outputs->paths[RUN_CURVE], strerror(steps->curve_errno)) : 0;
}

int train_steps_begin(struct train_steps *steps, const struct run_job *job, const char *schedule, const struct run_outputs *outputs,
		      struct wc_error *err)
{
	const char *save = outputs->paths[RUN_SAVE];
	int result;

	*steps = (struct train_steps){
		.job = job, .outputs = outputs, .schedule = schedule, .step_from_s = clock_wall_s(),
		.training = {.steps = job->train->steps, .next_batch = next_batch, .step_done = step_done, .context = steps},
	};
	steps->losses = wc_alloc((size_t)job->train->steps, sizeof(*steps->losses));
	if (!steps->losses)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for the losses of %d steps", job->train->steps);
	result = open_curve(steps, err);
	return result || !save ? result : parameters_prepare(save, err);
}

// A loss that is no number has no JSON.
static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static void describe(const struct train_steps *steps, const struct run_result *result, json_t *object)
{
	const struct train *train = steps->job->train;
	json_t *losses = json_array(), *rates = json_array();

	for (int i = 0; i < steps->done; i++) {
		json_array_append_new(losses, number((double)steps->losses[i]));
		json_array_append_new(rates, json_real((double)rate_at(&train->rate, train->before + (uint64_t)i)));
	}
	json_object_set_new(object, "data", json_string(train->dataset.from));
	json_object_set_new(object, "steps", json_integer(train->steps));
	json_object_set_new(object, "steps_done", json_integer(steps->done));
	json_object_set_new(object, "samples_before", json_integer((json_int_t)train->drawn));
	json_object_set_new(object, "losses", losses);
	json_object_set_new(object, "final_loss", steps->done ? number((double)steps->losses[steps->done - 1]) : json_null());
	json_object_set_new(object, "update_cycles",
			    steps->job->device.kind == DEVICE_RTL ? json_integer((json_int_t)profile_sum(&result->profile, PROFILE_UPDATE).cycles) : json_null());
	json_object_set_new(object, "update_wall_s", json_real(result->update_wall_s));
	json_object_set_new(object, "lr", json_real(train->rate.peak));
	json_object_set_new(object, "lr_decay", json_string(rate_decay_name(train->rate.decay)));
	json_object_set_new(object, "lr_steps", json_integer((json_int_t)train->rate.length));
	json_object_set_new(object, "warmup", json_integer((json_int_t)train->rate.warmup));
	json_object_set_new(object, "rates", rates);
	json_object_set_new(object, "momentum", json_real(train->momentum));
	json_object_set_new(object, "decay", json_real(train->decay));
	json_object_set_new(object, "test_images", json_integer(0));
	json_object_set_new(object, "test_accuracy", json_null());
}

// All may be equal and yet of no use.
static void note_no_number(const struct train_steps *steps, json_t *object)
{
	int first = 0;
	char text[100];

	while (first < steps->done && isfinite(steps->losses[first]))
		first++;
	if (first == steps->done)
		return;
	snprintf(text, sizeof(text), "the loss is no number from step %d on; a smaller --lr may keep it one", first + 1);
	json_object_set_new(object, "notes", json_pack("[s]", text));
}

static int test(const struct train_steps *steps, json_t *object, struct wc_error *err)
{
	const struct train *train = steps->job->train;
	int right, result;

	if (!train->test)
		return 0;
	result = train_test(train, steps->job->device.params.rows, steps->job->stop, &right, err);
	if (result)
		return result;
	json_object_set_new(object, "test_images", json_integer(train->test));
	json_object_set_new(object, "test_accuracy", json_real((double)right / train->test));
	return 0;
}

// In which step it ended, and what is kept; save: the directory that has the parameters, or NULL.
static void say_where(const struct train_steps *steps, const struct run_result *result, const char *resume, int status, const char *save, struct wc_error *err)
{
	struct wc_error said = *err;

	if (status == WC_ERR_STOPPED)
		wc_fail(err, status, "interrupted after %d of %d steps; %" PRIu64 " tiles checked so far, all equal%s%s%s%s", steps->done, steps->training.steps,
			result->counts.tiles, save ? "; the parameters are in " : "", save ? save : "", resume ? "; what is finished is in " : "",
			resume ? resume : "");
	else if (status == WC_ERR_MISMATCH && result->mismatch.kind != MISMATCH_NONE)
		wc_fail(err, status, "in step %d, %s", steps->done + 1, said.text);
	else if (status && save)
		wc_fail(err, status, "%s; the parameters after %d of %d steps are in %s", said.text, result->updates, steps->training.steps, save);
}

int train_steps_end(struct train_steps *steps, const struct run_result *result, const char *resume, int status, json_t *object, struct wc_error *err)
{
	// The parameters are those behind the last complete step, however the run ended. What failed before the first has made none.
	const bool kept = !status || status == WC_ERR_STOPPED || status == WC_ERR_MISMATCH || result->updates;
	const char *save = kept ? steps->outputs->paths[RUN_SAVE] : NULL;
	struct wc_error later;
	bool unsaved = false;
	int wrong = 0;

	// First of all: a curve can be drawn again, training would have to be done again.
	if (save && (wrong = parameters_save(&steps->job->train->optimizer, drawn(steps, result->updates), save, &later))) {
		save = NULL;
		unsaved = true;
	}
	if (!wrong)
		wrong = close_curve(steps, &later);
	else
		close_curve(steps, NULL);
	if (!wrong && ferror(stdout))
		wrong = wc_fail(&later, WC_ERR_SYSTEM, "cannot write to stdout: %s", strerror(steps->stdout_errno));
	describe(steps, result, object);
	note_no_number(steps, object);
	say_where(steps, result, resume, status, save, err);
	if (!wrong && !status)
		wrong = test(steps, object, &later);
	if (wrong && (!status || status == WC_ERR_STOPPED)) {
		*err = later;
		status = wrong;
	} else if (unsaved) {
		const struct wc_error first = *err;

		wc_fail(err, status, "%s; %s", first.text, later.text);
	}
	wc_free(steps->losses);
	steps->losses = NULL;
	return status;
}
