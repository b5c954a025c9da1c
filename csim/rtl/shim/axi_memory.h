// SPDX-License-Identifier: Apache-2.0
//
// The memory behind one of the device's AXI4 ports: latency, several outstanding bursts, everything in order, and on request random latency and
// back-pressure from a seed. It moves the bytes of struct wc_memory and counts each accepted R and W beat there. Ports of one device share a
// struct wc_memory; nothing orders what they do within a cycle.
//
// Read:  AR accepted in cycle t -> first beat offered in cycle t + latency, then one beat a cycle; bursts one after another.
// Write: beats are accepted while their burst's AW has been; the response is offered latency cycles after the last beat.
//
// A beat outside struct wc_memory is answered SLVERR when it lies in the 4096 bytes behind its end, DECERR otherwise; it moves and counts
// nothing.
//
// Every cycle, before the clock edge: call axi_memory_cycle(). It reads the device's outputs of this cycle, sets the device's
// inputs for it, and does the transfers of which both sides now agree. That is sound because the device's outputs do not depend
// on its inputs of the same cycle.
#ifndef WC_AXI_MEMORY_H
#define WC_AXI_MEMORY_H

#include "csim/memory.h"
#include "traces/splitmix.h"

// Where the simulated port keeps its signals. Wide ones are 32-bit words, least significant first.
struct axi_port {
	uint8_t *arid, *arlen, *arvalid, *arready;
	const void *araddr; // 8 bytes, on any boundary
	uint8_t *rid, *rresp, *rlast, *rvalid, *rready;
	uint32_t *rdata;
	uint8_t *awid, *awlen, *awvalid, *awready;
	const void *awaddr; // 8 bytes, on any boundary
	uint8_t *wlast, *wvalid, *wready;
	uint32_t *wdata;
	const void *wstrb; // bus_bytes / 8 bytes
	uint8_t *bid, *bresp, *bvalid, *bready;
};

enum { AXI_MEMORY_BURSTS = 64 }; // outstanding, each way; further addresses are not accepted

struct axi_burst {
	uint64_t addr, due; // due: first cycle in which a beat (a response) may be offered
	uint32_t beats;     // left
	uint8_t id, resp;
};

struct axi_queue {
	struct axi_burst bursts[AXI_MEMORY_BURSTS];
	uint32_t head, tail;
};

// What the device's IDs say (rtl/wavecore_cores.v, rtl/axi_read.v): whose burst it is, and of a read whether it fetches commands.
static inline int axi_id_core(uint8_t id)
{
	return id >> 1;
}

static inline bool axi_id_is_ring(uint8_t id)
{
	return !(id & 1);
}

// What was accepted in the last cycle, for traces.
struct axi_accepted {
	bool read, write; // a burst's address
	uint8_t read_id, write_id;
	uint64_t addr_read, addr_write;
	uint32_t bytes_read, bytes_write;
};

struct axi_memory {
	struct wc_memory *memory;
	struct axi_port port;
	uint64_t random; // state of splitmix_next()
	uint32_t latency_cycles;
	bool is_random;
	struct axi_queue reads, writes, answers;
	struct axi_accepted accepted;
	bool r_taken, b_taken; // the beat, the response on offer is taken at this cycle's edge
};

// `memory` is borrowed.
void axi_memory_init(struct axi_memory *am, struct wc_memory *memory, const struct axi_port *port, uint32_t latency_cycles, bool is_random,
		     uint64_t seed);
void axi_memory_cycle(struct axi_memory *am, uint64_t cycle);
// After the clock edge: withdraw what was taken.
void axi_memory_edge(struct axi_memory *am);

#endif
