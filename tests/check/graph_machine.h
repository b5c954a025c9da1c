// SPDX-License-Identifier: Apache-2.0
//
// A brute-force interpreter of schedules on graphs, `paper` and `device`, the checker's opponent there. Like interpret.h's it shares no code with the
// checker and argues about nothing: it runs every iteration on every sample with a value per row, in slabs that are memory, really shared by views
// and by what works in place, and compares every row that is read or made with what it should be (truth.h).
#ifndef GRAPH_MACHINE_H
#define GRAPH_MACHINE_H

#include "tests/check/truth.h"

struct graph_run {
	bool wrong_read;   // some statement read a row that was not what it should be, or freed what was not there
	bool wrong_made;   // some statement made, or stored, a row that is not what it should be
	bool output_wrong; // at the end of forward, in DRAM
	bool weights_wrong; // at the end, some parameters' gradient; not judged before all groups have run
	uint64_t peak_bytes; // of the buffer, by adding up memory at every statement
};

// Run the groups up to `last` inclusive.
struct graph_run graph_run(const struct schedule *schedule, const struct net *net, int last);
bool graph_run_right(const struct graph_run *run);

// What follows is shared by the interpreter's parts.
enum { GRAPH_ACT = SCHED_ACT, GRAPH_GRAD = SCHED_GRAD, GRAPH_MASK = SCHED_MASK, GRAPH_ACCESSES = 160 };

enum access_role { ACCESS_READ, ACCESS_GRADIENT, ACCESS_SUM, ACCESS_NAMED, ACCESS_MADE };

// Rows lo:hi of a tensor's piece that a statement reads, names or makes; of them, stream_lo:stream_hi pass between DRAM and operator.
struct access {
	enum access_role role;
	int kind, node, lo, hi;
	int stream_lo, stream_hi;
	int tensor; // as the operator names it
	int part;   // of a gradient made: its number in truth_parts()
	bool passing; // read on its way to DRAM, as the statement before makes it
};

struct memory_block {
	uint64_t *value; // [sample * (hi - lo) + y - lo]
	int lo, hi, users;
	uint64_t bytes;  // of a sample
};

struct graph_slab {
	int kind, node, lo, hi, first, last;
	int view; // index of the slab that it is a view of, -1
	uint64_t rows; // bit y: of a view, the row has been split off, or made since
	struct memory_block *block; // while it lives
};

enum { GRAPH_SLABS = 512 };

struct graph_machine {
	const struct schedule *schedule;
	const struct net *net;
	bool device;                    // accounting
	const struct sched_group *group;
	const struct sched_strip *strip;
	int at;                         // the statement being run
	int sample_first, sample_count;
	struct truth truth;
	struct values dram, kept_before, kept_now, kept_forward;
	uint64_t kept_before_bytes, kept_now_bytes; // of a sample
	uint64_t *statistics, *sums;    // [sample * node_count + node]
	int *counted, *summed;          // rows in them
	uint64_t *weights, *resident;   // [node]
	bool *begun;                    // [node]: some sums are in DRAM
	struct graph_slab slabs[GRAPH_SLABS];
	int slab_count;
	struct graph_run *run;
};

// Everything that statement `at` of machine->strip reads, names or makes. Returns the number.
int graph_accesses(const struct graph_machine *machine, int at, struct access accesses[GRAPH_ACCESSES]);
// The node whose operator a statement runs, -1.
int graph_operator(const struct graph_machine *machine, const struct sched_statement *statement);
// What `using` of the statement puts in the place of act:`node`; -1: nothing.
int graph_source(const struct graph_machine *machine, const struct sched_statement *statement, int node);

// Before a strip; around each statement: memory for slabs that begin, and from those that end.
void graph_lay_out(struct graph_machine *machine);
void graph_open(struct graph_machine *machine);
void graph_close(struct graph_machine *machine);
// A row in the slab that lives now; NULL if none holds it.
uint64_t *graph_cell(const struct graph_machine *machine, int kind, int node, int sample, int y);
// Row y of a view is one from now on.
void graph_split_off(struct graph_machine *machine, int node, int y);
bool graph_is_split_off(const struct graph_machine *machine, int node, int y);
// Bytes of a row in the buffer.
uint64_t graph_row_bytes(const struct graph_machine *machine, int kind, int node);
// `device`: what the statement at hand takes beside slabs, and what stays for the whole group.
uint64_t graph_room(const struct graph_machine *machine);
uint64_t graph_stays(const struct graph_machine *machine);
// Live bytes between open and close.
uint64_t graph_bytes(const struct graph_machine *machine);

#endif
