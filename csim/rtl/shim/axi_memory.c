// SPDX-License-Identifier: Apache-2.0
//
// The memory behind one of the device's AXI4 ports: see axi_memory.h.
#include "csim/rtl/shim/axi_memory.h"

#include <string.h>

enum { RESP_OKAY = 0, RESP_SLVERR = 2, RESP_DECERR = 3 };
enum { SLVERR_BYTES = 4096 };

void axi_memory_init(struct axi_memory *am, struct wc_memory *memory, const struct axi_port *port, uint32_t latency_cycles, bool is_random,
		     uint64_t seed)
{
	memset(am, 0, sizeof *am);
	am->memory = memory;
	am->port = *port;
	am->latency_cycles = latency_cycles;
	am->is_random = is_random;
	am->random = seed;
}

static bool is_full(const struct axi_queue *q)
{
	return q->tail - q->head == AXI_MEMORY_BURSTS;
}

static bool is_empty(const struct axi_queue *q)
{
	return q->tail == q->head;
}

static struct axi_burst *head(struct axi_queue *q)
{
	return &q->bursts[q->head % AXI_MEMORY_BURSTS];
}

static void push(struct axi_queue *q, struct axi_burst burst)
{
	q->bursts[q->tail++ % AXI_MEMORY_BURSTS] = burst;
}

static uint8_t response(const struct wc_memory *memory, uint64_t addr)
{
	if (wc_memory_contains(memory, addr, memory->bus_bytes))
		return RESP_OKAY;
	return addr - (memory->base + memory->bytes) < SLVERR_BYTES ? RESP_SLVERR : RESP_DECERR;
}

// Latency of a burst that is accepted now: at least 1, so that nothing is answered in the cycle that asks.
static uint64_t latency(struct axi_memory *am)
{
	return am->is_random ? 1 + splitmix_next(&am->random) % (2 * (uint64_t)am->latency_cycles) : am->latency_cycles;
}

static uint64_t address(const void *signal)
{
	uint64_t addr;

	memcpy(&addr, signal, sizeof addr);
	return addr;
}

// One burst's address is accepted. Answers stay in order, so a burst is never due before its predecessor.
static void accept_read(struct axi_memory *am, uint64_t cycle)
{
	const struct axi_port *p = &am->port;
	uint32_t beats = *p->arlen + 1u;

	push(&am->reads, (struct axi_burst){ .addr = address(p->araddr), .due = cycle + latency(am), .beats = beats, .id = *p->arid });
	am->accepted.read = true;
	am->accepted.read_id = *p->arid;
	am->accepted.addr_read = address(p->araddr);
	am->accepted.bytes_read = beats * am->memory->bus_bytes;
}

static void accept_write(struct axi_memory *am)
{
	const struct axi_port *p = &am->port;
	uint32_t beats = *p->awlen + 1u;

	push(&am->writes, (struct axi_burst){ .addr = address(p->awaddr), .beats = beats, .id = *p->awid });
	am->accepted.write = true;
	am->accepted.write_id = *p->awid;
	am->accepted.addr_write = address(p->awaddr);
	am->accepted.bytes_write = beats * am->memory->bus_bytes;
}

static void offer_beat(struct axi_memory *am)
{
	const struct axi_port *p = &am->port;
	struct wc_memory *memory = am->memory;
	struct axi_burst *burst = head(&am->reads);

	*p->rvalid = 1;
	*p->rid = burst->id;
	*p->rlast = burst->beats == 1;
	*p->rresp = response(memory, burst->addr);
	if (*p->rresp == RESP_OKAY)
		memcpy(p->rdata, memory->data + (burst->addr - memory->base), memory->bus_bytes);
}

static void beat_read(struct axi_memory *am)
{
	struct axi_burst *burst = head(&am->reads);

	if (*am->port.rresp == RESP_OKAY)
		wc_memory_count(am->memory, burst->addr, false);
	burst->addr += am->memory->bus_bytes;
	if (--burst->beats == 0)
		am->reads.head++;
}

static void beat_written(struct axi_memory *am, uint64_t cycle)
{
	struct wc_memory *memory = am->memory;
	struct axi_burst *burst = head(&am->writes);
	uint8_t resp = response(memory, burst->addr);
	const uint8_t *strobes = am->port.wstrb;
	const uint8_t *data = (const uint8_t *)am->port.wdata;

	if (resp == RESP_OKAY) {
		uint8_t *to = memory->data + (burst->addr - memory->base);

		for (uint32_t i = 0; i < memory->bus_bytes; i++)
			if (strobes[i / 8] >> (i % 8) & 1)
				to[i] = data[i];
		wc_memory_count(memory, burst->addr, true);
	} else if (resp > burst->resp) {
		burst->resp = resp;
	}
	burst->addr += memory->bus_bytes;
	if (--burst->beats == 0) {
		push(&am->answers, (struct axi_burst){ .due = cycle + latency(am), .id = burst->id, .resp = burst->resp });
		am->writes.head++;
	}
}

void axi_memory_cycle(struct axi_memory *am, uint64_t cycle)
{
	const struct axi_port *p = &am->port;
	// Two bits of chance per channel: each holds back its ready, or a new valid, in one cycle of four.
	uint64_t chance = am->is_random ? splitmix_next(&am->random) : UINT64_MAX;

	am->accepted.read = am->accepted.write = false;

	// R and B first, from bursts accepted in earlier cycles. What was offered and not taken stays.
	if (!*p->rvalid && !is_empty(&am->reads) && cycle >= head(&am->reads)->due && (chance & 3))
		offer_beat(am);
	if (!*p->bvalid && !is_empty(&am->answers) && cycle >= head(&am->answers)->due && (chance >> 2 & 3)) {
		*p->bvalid = 1;
		*p->bid = head(&am->answers)->id;
		*p->bresp = head(&am->answers)->resp;
	}
	*p->arready = !is_full(&am->reads) && (chance >> 4 & 3);
	*p->awready = !is_full(&am->writes) && (chance >> 6 & 3);
	*p->wready = !is_empty(&am->writes) && !is_full(&am->answers) && (chance >> 8 & 3);
	am->r_taken = *p->rvalid && *p->rready;
	am->b_taken = *p->bvalid && *p->bready;

	if (am->r_taken)
		beat_read(am);
	if (am->b_taken)
		am->answers.head++;
	if (*p->wvalid && *p->wready)
		beat_written(am, cycle);
	if (*p->arvalid && *p->arready)
		accept_read(am, cycle);
	if (*p->awvalid && *p->awready)
		accept_write(am);
}

void axi_memory_edge(struct axi_memory *am)
{
	if (am->r_taken)
		*am->port.rvalid = 0;
	if (am->b_taken)
		*am->port.bvalid = 0;
}
