// SPDX-License-Identifier: Apache-2.0
//
// A machine that runs a placed program on tags instead of numbers. Every bus-sized granule of the global buffer, of
// DRAM and of boundary storage remembers what was written there last, so that whatever the expansion, the placement
// or the reordering of loads gets wrong shows up as a granule that is not what a step expects to read. It also
// sums what moves, step by step, for comparison with the accounting.
#ifndef MACHINE_H
#define MACHINE_H

#include "driver/plan/account.h"
#include "driver/plan/device/program.h"

struct machine_sums {
	uint64_t read_bytes[WC_CLASS_COUNT], write_bytes[WC_CLASS_COUNT];
	uint64_t payload_bytes[WC_CLASS_COUNT];
	uint64_t commands;
	uint64_t weight_gradient_rows; // samples x rows accumulated, over all convolutions
};

// Run the program in the order of its steps; fails the test at the first wrong granule. At the end the last node's
// output must be in DRAM, and, if there are backward groups, every weight gradient must be whole.
void machine_run(const struct program *program, int acc_rows, struct machine_sums *sums);

#endif
