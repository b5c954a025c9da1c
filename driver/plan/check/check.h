// SPDX-License-Identifier: Apache-2.0
//
// The schedule checker. It knows the meaning of a schedule (driver/README.md) and nothing of who wrote it:
// no planner, no expansion, no accounting is asked. It executes the statements on sets of rows and proves
//
//   coverage    the final output is stored whole; each row of each convolution's, fully connected layer's and normalization's
//               output gradient of each sample enters the parameters' gradient exactly once. (With exactness this covers every row of every
//               tensor that anything depends on: rows that no output reads need not be computed.)
//   exactness   what a statement reads is there at that moment: in the strip's slab, in DRAM, or in the boundary
//               storage of the strip that the rules name. Values do not depend on the schedule, so a row that is
//               there holds the right thing. Only rows outside the image are padding.
//   parts       a gradient is the sum of its readers' parts, added in reverse order of execution, each once; what is read as an output's gradient
//               has them all. A view of an add's gradient is where that is, and lost where that is overwritten.
//   statistics  of a normalization, and its sums in backward, cover all rows of a sample before they are used, each row once.
//   once        no row is stored, kept or filled into a slab twice; no row is computed twice in a phase, except the
//               halos of `overl` and what a backward group recomputes of the forward phase.
//   order       forward groups first; an operator runs in a group that covers it; `overl` strips are independent.
//   joints      forward strips of a tiled group load and take no row that they do not read.
//   occupancy   the live bytes at every statement fit the buffer: slabs, resident weights and sums, and slices and what else the statement
//               takes (`device`) or kept rows and the reserve (`paper`).
//
// and counts, from the same execution, DRAM bytes by class, commands, multiply-accumulates and the footprint in DRAM.
//
// Cores are folded: each executes the same on as many samples as the others, so one is checked, and what it moves is multiplied.
//
// Samples are folded, exactly: in a group each sample of the batch belongs to one iteration, all iterations execute
// the same statements, and no row depends on a row of another sample. So the rows of every tensor that are there after a group are
// the same for all samples, and one sample stands for all. Only bytes, tiles, occupancy and K cuts see an iteration's number of samples.
#ifndef WC_CHECK_H
#define WC_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "csim/memory.h"
#include "driver/plan/schedule.h"

enum {
	CHECK_ACC_ROWS = 256,     // AccRows of the device (rtl/README.md): the tiles of a convolution
	CHECK_COMMAND_BYTES = 256, // rtl/commands.def
	CHECK_UPDATE_BLOCK = 4096, // parameters that the update takes at a time, or the largest power of two of them that fits the buffer
};

enum check_kind {
	CHECK_NONE,
	CHECK_FORM,       // a statement or property that has no meaning for this network, group or phase
	CHECK_ORDER,      // a forward group behind a backward one, sums continued that a group starts from zero
	CHECK_ABSENT,     // rows read that the slab does not hold
	CHECK_NOT_STORED, // rows loaded that DRAM does not hold
	CHECK_NOT_KEPT,   // rows taken that the boundary storage does not hold
	CHECK_TWICE,      // rows computed, filled, stored, kept or accumulated again
	CHECK_UNUSED,     // a tiled forward strip fetches rows that it does not read
	CHECK_PARTS,      // a gradient read that lacks readers' parts, or added to out of order
	CHECK_STATISTICS, // a normalization without the statistics, or the sums, of whole samples
	CHECK_COVERAGE,   // at the end of a phase: output not stored, or weight gradient incomplete
	CHECK_BUFFER,     // live bytes exceed the buffer
};

// Where in the schedule. Indices from 0; -1 where the place is larger than that (a whole group, the end of the schedule).
struct check_place {
	int group, strip, statement;
	int line; // in the schedule's text; 0: not read from text
};

struct check_violation {
	enum check_kind kind;
	struct check_place place;
	enum sched_tensor tensor;
	int node;     // the layer whose tensor is at fault; -1: none
	int sample;   // the first sample that meets it, of a core's
	int needed_lo, needed_hi; // rows needed (or, for CHECK_TWICE and CHECK_UNUSED, given); 0, 0 without rows
	int fault_lo, fault_hi;   // the first interval of these that is at fault
	char present[96];         // rows there instead, "0:121 130:224" or "none"; "" without rows
	char text[WC_ERROR_TEXT_BYTES]; // all of this in one line; but of a schedule read from a file, without the line
};

// What runs beside the groups of a `device` schedule; it is counted, and must fit the buffer. `paper` counts neither. The reduction of several
// cores' weight gradients behind the last backward group is part of every `device` schedule that has one.
struct check_options {
	bool loss;   // behind the last forward group; the network must have a loss node
	bool update; // behind the last backward group, if there is one
};

struct check_result {
	bool ok;           // proven; false until the end is reached
	bool forward_only; // the schedule has no backward group; nothing was asked of gradients
	struct check_violation violation; // the first one in execution order; kind CHECK_NONE if ok

	// Complete if ok; up to the violation otherwise. Of all cores, but for the buffer, of which each has one.
	uint64_t peak_bytes; // most live bytes in the global buffer, `reserve` included
	struct check_place peak; // group -1: the loss, the reduction or the update
	uint64_t footprint_bytes; // most bytes in DRAM at once; `device`: labels, losses and commands apart
	uint64_t read_bytes[WC_CLASS_COUNT], write_bytes[WC_CLASS_COUNT]; // DRAM; whole beats under `device`
	uint64_t commands; // `device` alone, else 0
	// Whole batch, padding included. A convolution's data gradient weighs as much as its forward pass when all rows are computed,
	// in proportion (over the whole schedule, rounded down) when some are.
	uint64_t macs;
	uint64_t extra_macs; // the part of it spent on rows computed before
};

// Check `schedule` against `net`. 0 if it is proven. WC_ERR_INPUT with the violation's text, behind "FILE:LINE: " where they are known, if it is wrong; also, with
// violation.kind CHECK_NONE, if what is asked for is not checked here (a `device` schedule of what the device
// has not: adaptive pools; an operator that reads a tensor twice, numbers beyond 64 bits). WC_ERR_SYSTEM if memory runs out. `result` is always filled and owns nothing.
int schedule_check_with(const struct schedule *schedule, const struct net *net, const struct check_options *options, struct check_result *result,
			struct wc_error *err);
// The same with neither loss nor update.
int schedule_check(const struct schedule *schedule, const struct net *net, struct check_result *result, struct wc_error *err);

// The result for a human: verdict, behind "FILE:LINE: " if it is wrong and these are known, then occupancy, traffic by class, commands and MACs if it is proven.
void schedule_check_print(const struct check_result *result, const struct schedule *schedule, const struct net *net, FILE *file);

// A kind's name, e.g. "not-stored". Static storage.
const char *check_kind_name(enum check_kind kind);

#endif
