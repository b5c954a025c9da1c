// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the host share: networks from text, runs on the C model or the RTL.
#ifndef WC_TESTS_HOST_RIG_H
#define WC_TESTS_HOST_RIG_H

#include "driver/host/optimizer.h"
#include "driver/host/run.h"
#include "driver/plan/account.h"
#include "driver/plan/plan.h"

// A problem: what to run on what. Fill in, then rig_run().
struct rig {
	struct net net;
	struct plan_options plan;
	struct device device;
	struct data data;
	struct expect expect;
	struct optimizer optimizer; // of rig_train()
	struct schedule schedule;
	struct account account;
	struct run_options options; // set by rig_start(); may be changed before rig_run()
	struct run_result result;
	struct wc_error err;
	bool planned; // rig_start() found a schedule
};

// Open the network, take a default device of rows x cols with `buffer_bytes` (the C model, order of execution drawn from
// the seed), plan, and make data. rig->planned is false where the planner says the problem does not fit; it may say nothing else.
void rig_start(struct rig *rig, const char *yaml, const char *planner, int rows, int cols, int batch, uint32_t buffer_bytes, uint32_t bus_bytes,
	       uint64_t seed);
// The same on a device of several cores.
void rig_start_cores(struct rig *rig, const char *yaml, const char *planner, int cores, int rows, int cols, int batch, uint32_t buffer_bytes,
		     uint32_t bus_bytes, uint64_t seed);
// The same with a schedule's text instead of a planner.
void rig_start_text(struct rig *rig, const char *yaml, const char *schedule, uint64_t seed);
// From now on the parameters are updated behind backward.
void rig_train(struct rig *rig);
int rig_run(struct rig *rig);
void rig_stop(struct rig *rig);

// Fail the test unless the run checked something, found no difference, and moved the predicted bytes.
void rig_expect_right(const struct rig *rig, int status);

// The names of all planners.
enum { RIG_PLANNERS = 10 };
extern const char *const rig_planners[RIG_PLANNERS];

// The cycles of all layers and phases.
uint64_t rig_profile_cycles(const struct profile *profile);

#endif
