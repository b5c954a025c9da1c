// SPDX-License-Identifier: Apache-2.0
//
// What a schedule costs, from its text, the network and the device's parameters alone: the formulas
// of driver/README.md ("DRAM bytes under `device` accounting"). It knows nothing of steps or commands,
// so that a run's measured bytes prove it.
#ifndef WC_PLAN_ACCOUNT_H
#define WC_PLAN_ACCOUNT_H

#include <stdint.h>

#include "csim/memory.h"
#include "driver/plan/schedule.h"

enum { ACCOUNT_COMMAND_BYTES = 256 };

struct program_whole; // driver/plan/device/program.h

// Of all cores together.
struct account {
	uint64_t read_bytes[WC_CLASS_COUNT];  // whole beats
	uint64_t write_bytes[WC_CLASS_COUNT];
	uint64_t payload_bytes[WC_CLASS_COUNT]; // both directions, without the padding of rows and slices to the bus
	uint64_t commands;
	// A convolution's forward pass is K C R S MACs per output pixel, padding included, and so is its weight
	// gradient. Its data gradient counts as much for all rows, and in proportion for some.
	uint64_t macs;
	uint64_t extra_macs; // beyond one forward pass and, if there are backward groups, one backward pass of the batch
};

// `acc_rows`: rows of the accumulator, which bound a GEMM tile. Adds up every group, on every core, and behind backward the reduction of
// the cores' weight gradients, if there are several.
void account_schedule(const struct schedule *schedule, const struct net *net, int acc_rows, struct account *account);
// The same with what runs beside the groups, as program_expand_whole() has it; `device`.
void account_schedule_whole(const struct schedule *schedule, const struct net *net, int acc_rows, struct program_whole whole, struct account *account);

// A planner's schedule, or one that is proven: no slice of a convolution cuts one of its groups.
//
// One group of a schedule of one core, whether or not it is in schedule->groups; extra_macs stays 0.
void account_group(const struct schedule *schedule, const struct sched_group *group, const struct net *net, int acc_rows,
		   struct account *account);

// Most bytes in DRAM at once, under either accounting: tensors from the group that first stores them to the one that last reads them, the
// whole batch; 2 bytes of weight per parameter, and 4 of gradient for each core (driver/README.md, "Footprint"). 0 or WC_ERR_SYSTEM.
int account_footprint(const struct schedule *schedule, const struct net *net, uint64_t *bytes, struct wc_error *err);
// The same with masters and momenta, 8 more bytes per parameter, if there is an update; `device`.
int account_footprint_whole(const struct schedule *schedule, const struct net *net, struct program_whole whole, uint64_t *bytes, struct wc_error *err);

// Sum over classes of reads and writes.
uint64_t account_total_bytes(const struct account *account);

#endif
