// SPDX-License-Identifier: Apache-2.0
//
// What `device` accounting asks beyond rows, after driver/README.md, "Graphs on the device": moves and commands of the operators, the room
// that they take, loss and update.
#ifndef WC_CHECK_DEVICE_H
#define WC_CHECK_DEVICE_H

#include "driver/plan/check/internal.h"

// Iterations of a group that move the same: `times` of them with `samples` each; the group's first is the first of them if `first`.
struct check_iterations {
	uint64_t samples, times;
	bool first;
};

// moves.c: in and out of DRAM. `bytes` are rounded up to the bus.
enum check_direction { CHECK_READ, CHECK_WRITE };
void check_commands(struct check_state *state, uint64_t commands);
void check_move(struct check_state *state, enum wc_class class, enum check_direction direction, uint64_t bytes, uint64_t times);
uint64_t check_tiles(uint64_t elements, int size);

// parameters.c: convolutions and fully connected layers. Whether a group's weights come in more slices than one.
bool check_is_sliced(const struct check_state *state, int node);
// All filters (fp16) or their sums (fp32), with biases if `bias`, slice by slice.
void check_move_weights(struct check_state *state, int node, int slice, uint64_t times);
void check_move_sums(struct check_state *state, int node, int slice, enum check_direction direction, uint64_t times);
void check_traffic_forward(struct check_state *state, const struct sched_statement *statement, const struct check_iterations *run);
void check_traffic_data_gradient(struct check_state *state, const struct sched_statement *statement, int operator, const struct check_iterations *run);
void check_traffic_accumulate(struct check_state *state, const struct sched_statement *statement, const struct check_iterations *run);
// Bytes of slices, of weights or of sums, that are in the buffer at once.
uint64_t check_slice_bytes(const struct check_state *state, const struct sched_statement *statement, bool first_iteration);
// Bytes of what is resident.
uint64_t check_resident_weights(const struct check_state *state, int node);
uint64_t check_resident_sums(const struct check_state *state, int node);

// statistics.c: normalizations. What the statement at state->place makes of statistics, or of sums in a backward group.
enum check_norm { NORM_NOTHING, NORM_WHOLE, NORM_SOME, NORM_LAST };
enum check_norm check_norm(const struct check_state *state, const struct sched_statement *statement);
// A vector of fp32 (q), or of fp16 (h), per channel.
uint64_t check_q_bytes(const struct check_state *state, int node);
uint64_t check_h_bytes(const struct check_state *state, int node);
void check_traffic_norm(struct check_state *state, const struct sched_statement *statement, const struct check_iterations *run);
uint64_t check_norm_room(const struct check_state *state, const struct sched_statement *statement, uint64_t samples);

// room.c: bytes that the statement at state->place, derived in state->step, takes beside slabs and what is resident.
uint64_t check_room(const struct check_state *state, const struct sched_statement *statement, uint64_t samples, bool first_iteration);

// whole.c: what runs by itself. The loss over a core's whole batch; behind backward the reduction of all cores' gradients, where there are
// several, and the update, where it is asked for.
int check_loss(struct check_state *state);
int check_parameters(struct check_state *state);

#endif
