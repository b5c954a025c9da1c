// SPDX-License-Identifier: Apache-2.0
#include "rig.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/net_text.h"
#include "tests/plan_own.h"

const char *const rig_planners[RIG_PLANNERS] = {"baseline", "il", "mbs-fs", "mbs1", "mbs2", "overl", "2ps", "overl-h", "2ps-h", "hybrid"};

uint64_t rig_profile_cycles(const struct profile *profile)
{
	uint64_t cycles = 0;

	for (enum profile_phase phase = 0; phase < PROFILE_PHASES; phase++)
		cycles += profile_sum(profile, phase).cycles;
	return cycles;
}

static void start(struct rig *rig, const char *yaml, uint64_t seed)
{
	*rig = (struct rig){0};
	tests_net(&rig->net, yaml);
	rig->options.seed = seed;
}

static void predict(struct rig *rig)
{
	const struct program_whole whole = {
		.loss = rig->net.nodes[rig->net.node_count - 1].op == NET_LOSS, .update = rig->expect.optimizer != NULL,
	};

	account_schedule_whole(&rig->schedule, &rig->net, rig->device.params.acc_rows, whole, &rig->account);
}

void rig_train(struct rig *rig)
{
	const struct golden_sgd sgd = {.decay = 0.01f, .mu = 0.9f, .lr = 0.05f};

	cr_assert_eq(optimizer_init(&rig->optimizer, &rig->data, &sgd, &rig->err), 0, "%s", rig->err.text);
	rig->expect.optimizer = &rig->optimizer;
	predict(rig);
}

// Data and options, once there is a schedule.
static void finish(struct rig *rig)
{
	const struct schedule *schedule = &rig->schedule;
	const struct data_options data = {.seed = rig->options.seed};

	rig->planned = true;
	rig->device = (struct device){
		.kind = DEVICE_MODEL,
		.params = {.rows = schedule->rows,
			   .cols = schedule->cols,
			   .acc_rows = 256,
			   .mac_stages = 1,
			   .buffer_bytes = schedule->buffer_bytes,
			   .bus_bytes = schedule->bus_bytes,
			   .mem_ports = 1,
			   .cores = schedule->cores},
		.overlap = true,
	};
	cr_assert_eq(data_init(&rig->data, &rig->net, schedule->batch, &data, &rig->err), 0, "%s", rig->err.text);
	cr_assert_eq(expect_init(&rig->expect, &rig->data, schedule->rows, &rig->err), 0, "%s", rig->err.text);
	predict(rig);
	rig->options = (struct run_options){
		.schedule = &rig->schedule,
		.net = &rig->net,
		.data = &rig->data,
		.device = rig->device,
		.seed = rig->options.seed,
		.schedule_name = "test",
	};
}

void rig_start(struct rig *rig, const char *yaml, const char *planner, int rows, int cols, int batch, uint32_t buffer_bytes, uint32_t bus_bytes,
	       uint64_t seed)
{
	rig_start_cores(rig, yaml, planner, 1, rows, cols, batch, buffer_bytes, bus_bytes, seed);
}

void rig_start_cores(struct rig *rig, const char *yaml, const char *planner, int cores, int rows, int cols, int batch, uint32_t buffer_bytes,
		     uint32_t bus_bytes, uint64_t seed)
{
	int status;

	start(rig, yaml, seed);
	rig->plan = (struct plan_options){
		.batch = batch,
		.cores = cores,
		.rows = rows,
		.cols = cols,
		.acc_rows = 256,
		.buffer_bytes = buffer_bytes,
		.bus_bytes = bus_bytes,
	};
	status = plan_own(&rig->schedule, planner, &rig->net, &rig->plan, &rig->err);
	if (status)
		cr_assert(strstr(rig->err.text, "cannot fit"), "%s: %s\n%s", planner, rig->err.text, yaml);
	else
		finish(rig);
}

void rig_start_text(struct rig *rig, const char *yaml, const char *schedule, uint64_t seed)
{
	FILE *file = fmemopen((void *)schedule, strlen(schedule), "r");

	start(rig, yaml, seed);
	cr_assert(file);
	cr_assert_eq(schedule_read(&rig->schedule, &rig->net, file, "test", &rig->err), 0, "%s", rig->err.text);
	fclose(file);
	finish(rig);
}

int rig_run(struct rig *rig)
{
	run_result_release(&rig->result);
	return run_schedule(&rig->options, &rig->expect, &rig->result, &rig->err);
}

void rig_stop(struct rig *rig)
{
	run_result_release(&rig->result);
	expect_release(&rig->expect);
	if (rig->optimizer.data)
		optimizer_release(&rig->optimizer);
	data_release(&rig->data);
	schedule_release(&rig->schedule);
	net_release(&rig->net);
}

void rig_expect_right(const struct rig *rig, int status)
{
	char element[256] = "";

	if (rig->result.mismatch.kind != MISMATCH_NONE)
		mismatch_element_name(&rig->net, &rig->result.mismatch.element, element, sizeof(element));
	cr_assert_eq(status, 0, "seed %" PRIu64 ": %s; %s; %s", rig->options.seed, rig->err.text, element, rig->result.diagnosis.text[0]);
	cr_assert_gt(rig->result.counts.tiles, 0);
	cr_assert_gt(rig->result.counts.stores, 0);
	cr_assert_eq(rig->result.commands, rig->account.commands);
	for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++) {
		cr_assert_eq(rig->result.read_bytes[class], rig->account.read_bytes[class], "%s read: %" PRIu64 " moved, %" PRIu64 " predicted",
			     wc_class_name(class), rig->result.read_bytes[class], rig->account.read_bytes[class]);
		cr_assert_eq(rig->result.write_bytes[class], rig->account.write_bytes[class], "%s written: %" PRIu64 " moved, %" PRIu64 " predicted",
			     wc_class_name(class), rig->result.write_bytes[class], rig->account.write_bytes[class]);
	}
}
