// SPDX-License-Identifier: Apache-2.0
//
// What a schedule for `paper` accounting costs: driver/README.md, "DRAM bytes under `paper` accounting".
#ifndef WC_PLAN_ACCOUNT_PAPER_H
#define WC_PLAN_ACCOUNT_PAPER_H

#include <stdint.h>

#include "driver/plan/account.h"

// Add the groups [first, first + count) of the schedule, in order. A normalization's or convolution's sums begun, or
// statistics made, in groups outside of these are unknown; whole schedules have none. Leaves mask bits in bits.
struct account_paper {
	uint64_t read_bytes[WC_CLASS_COUNT], write_bytes[WC_CLASS_COUNT];
	uint64_t mask_read_bits, mask_write_bits;
	uint64_t macs;
	uint64_t recomputed_macs; // of activations made again in backward, and of halos
};

// Of a schedule of one core. 0 or WC_ERR_SYSTEM.
int account_paper_groups(const struct schedule *schedule, int first, int count, const struct net *net, struct account_paper *account,
			 struct wc_error *err);
uint64_t account_paper_bytes(const struct account_paper *account);

// The whole schedule, each core's bytes; the reduction of weight gradients over several is not counted. payload_bytes are the bytes, there
// are no commands. 0 or WC_ERR_SYSTEM.
int account_paper_schedule(const struct schedule *schedule, const struct net *net, struct account *account, struct wc_error *err);

#endif
