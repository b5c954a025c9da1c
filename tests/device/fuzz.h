// SPDX-License-Identifier: Apache-2.0
//
// Random programs for the device: valid commands of every opcode of which some fields, walkers included, take random values, and commands
// of nothing but random bytes.
#ifndef WC_TEST_DEVICE_FUZZ_H
#define WC_TEST_DEVICE_FUZZ_H

#include "tests/device/harness.h"

enum { FUZZ_COMMANDS = 6, FUZZ_TEXT = 1024 };

struct program {
	union command commands[FUZZ_COMMANDS];
	int count;
	char text[FUZZ_TEXT]; // what was changed, for messages

	// Too much work to wait for its end: then neither status nor results are known beforehand.
	bool is_long;
	// Results do not depend on the order in which a command moves its bytes. False: rows overlap where the order is not defined.
	bool has_order;
	// A store changes the ring.
	bool spoils_ring;
};

// Waits are such that the commands are executed one after another, unless a random one asks for more than there is.
void fuzz_program(struct program *program, struct bench *b, uint64_t *rng);
// Inside: whether the command is long, and whether what it reads depends on the order of its accesses.
void fuzz_look_at_simd(struct program *program, const struct bench *b, const struct wc_simd_command *command);

#endif
