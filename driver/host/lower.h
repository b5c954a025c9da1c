// SPDX-License-Identifier: Apache-2.0
//
// From steps on slabs to commands of the device: geometry, addresses, dependences. Nothing is decided
// here; the command count of a step is the one that driver/README.md gives.
#ifndef WC_LOWER_H
#define WC_LOWER_H

#include "csim/backend.h"
#include "csim/golden/sgd.h"
#include "driver/host/op.h"
#include "driver/plan/device/program.h"

struct lower {
	const struct program *program; // borrowed, as the layout
	const struct layout *layout;
	struct wc_device_params params;
	struct op_queue *queue;        // borrowed: where the commands go
	struct depend depend;
	int **cuts;                    // [node][output channel] the last cut lowered for it, -1 before the first; NULL: no parameters
	int16_t **readers;             // [node][sample * height + row] index of the consumer whose part is in the gradient last; NULL: none is yet
	struct golden_sgd sgd;         // of the update
	float loss_scale;              // over the batch
};

int lower_init(struct lower *lower, const struct program *program, const struct layout *layout,
	       const struct wc_device_params *params, struct op_queue *queue, struct wc_error *err);
// The program begins again.
void lower_restart(struct lower *lower);
// What comes is for a device that has seen no command.
void lower_new_device(struct lower *lower);
void lower_release(struct lower *lower);

// Append the commands of one step; steps must come in order. WC_ERR_INPUT if a command's field has no room
// (the message gives the value and the limit), WC_ERR_SYSTEM without memory.
int lower_step(struct lower *lower, int step, struct wc_error *err);

#endif
