// SPDX-License-Identifier: Apache-2.0
//
// What training keeps of every parameter from step to step: an fp32 master and its momentum (csim/golden/sgd.h). The fp16 parameters that the next
// step computes with are the data's.
#ifndef WC_OPTIMIZER_H
#define WC_OPTIMIZER_H

#include "csim/golden/sgd.h"
#include "driver/host/data.h"
#include "driver/plan/device/program.h"

struct optimizer_array {
	uint64_t count;           // 0: the node has no such array
	float *master, *momentum; // [count], owned
};

struct optimizer {
	struct golden_sgd sgd;                         // of the present step
	struct data *data;                             // borrowed; an update changes its parameters
	struct optimizer_array (*arrays)[ARRAY_COUNT]; // [node_count], owned
};

// Where the data have it.
uint16_t *optimizer_parameters(const struct data *data, int node, enum parameter_array array);

// Masters are the data's parameters, momenta +0. `sgd` but for its inv_scale, which is 1 over the data's loss scale. WC_ERR_SYSTEM if
// memory is short; nothing needs releasing then.
int optimizer_init(struct optimizer *optimizer, struct data *data, const struct golden_sgd *sgd, struct wc_error *err);
void optimizer_release(struct optimizer *optimizer);

#endif
