// SPDX-License-Identifier: Apache-2.0
//
// What `wavecore train` has beyond a run: data, optimizer, what is written and tested.
#ifndef WC_CLI_TRAIN_H
#define WC_CLI_TRAIN_H

#include "driver/cli/run.h"
#include "driver/host/dataset.h"
#include "driver/host/rate.h"

struct train {
	int steps, test;             // test: images, 0: none
	double momentum, decay;
	struct rate rate;            // its length and warm-up are known once opened
	struct data *data;           // borrowed; whose images, labels and parameters change from step to step
	struct dataset dataset, tests;
	struct optimizer optimizer;
	uint64_t drawn;              // samples before the first step
	uint64_t before;             // steps of this batch that they make
};

// Fill numbers from the words. WC_ERR_INPUT quotes option and value, or says what the network or a schedule lacks.
int train_parse(struct train *train, const struct run_words *words, const struct run_job *job, const struct net *net, struct wc_error *err);
// Open the data set, take up masters, momenta and draws from --weights, and draw the first mini-batch into `data`. Release it always.
int train_open(struct train *train, const struct run_words *words, uint64_t seed, struct data *data, struct wc_error *err);
void train_release(struct train *train);

// One schedule's training, in a process of its own.
struct train_steps {
	const struct run_job *job;
	const struct run_outputs *outputs; // borrowed
	const char *schedule;              // its name
	FILE *curve;
	float *losses;                     // [done], owned
	int done;                          // steps
	bool unread;                       // nobody reads stdout any more
	int stdout_errno, curve_errno;     // why either could not be written at first
	double step_from_s;                // when the present step began
	struct run_training training;      // for run_options
};

int train_steps_begin(struct train_steps *steps, const struct run_job *job, const char *schedule, const struct run_outputs *outputs,
		      struct wc_error *err);
// Behind a run that ended with `status`: write the parameters, test them, and describe it all. `resume`: the file with what is finished, or NULL.
// `status`, or what went wrong afterwards.
int train_steps_end(struct train_steps *steps, const struct run_result *result, const char *resume, int status, json_t *object, struct wc_error *err);

// How many of the first `train->test` test images the network puts into the right class, in the order of sums that an array of `rows` rows has.
// WC_ERR_STOPPED: *stop became other than 0.
int train_test(const struct train *train, int rows, const volatile sig_atomic_t *stop, int *right, struct wc_error *err);

#endif
