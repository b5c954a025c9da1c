// SPDX-License-Identifier: Apache-2.0
//
// The thin C++ layer over the verilated test bench (rtl/sim/wc_tb.sv): owns the model, hands its signals to C as pointers, and runs the
// cycle loop. Memory, traces, probes and faults are C. Compiled once per configuration, into its wc_rtl.so.
//
// One cycle: the inputs of the cycle are set from the outputs of the cycle (which do not depend on them), the model settles with
// the clock low, the clock rises. In waveforms cycle t is the time from 10 t to 10 t + 10, clock high first.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

#include "Vwc_tb.h"
#include "verilated.h"
#include "verilated_syms.h"
#if VM_TRACE
#include "verilated_fst_c.h"
#endif

extern "C" {
#include "csim/lanes/lane_macro.h"
#include "csim/rtl/rtl_api.h"
#include "csim/rtl/shim/axi_memory.h"
#include "csim/rtl/shim/events.h"
#include "csim/rtl/shim/faults.h"
#include "csim/rtl/shim/probes.h"
#include "csim/rtl/shim/state.h"
#include "csim/rtl/shim/watchdog.h"
}

extern "C" const struct wc_rtl wc_rtl;

// What the model printed: the text of a failed assertion. The first line since the last clear is kept.
static thread_local char printed[256];

extern "C" int wc_rtl_printf(const char *format, ...)
{
	if (printed[0])
		return 0;
	va_list args;
	va_start(args, format);
	int n = std::vsnprintf(printed, sizeof printed, format, args);
	va_end(args);
	printed[std::strcspn(printed, "\n")] = 0;
	return n;
}

struct wc_rtl_model {
	VerilatedContext context;
	Vwc_tb top{&context, ""};
	struct axi_memory memory[WC_MEM_PORTS];
	struct taps taps;
	struct events events = {};
	struct device_state state = {};
	struct faults faults = {};
	struct probes probes = {};
	uint64_t cycle = 0;
	uint64_t moved = 0; // last cycle in which something moved, or the device rested
	int stop = 0;       // what the observer returned
	bool failed = false; // a register access was never answered
#if VM_TRACE
	VerilatedFstC trace;
	const char *waveform = nullptr;
	uint64_t wave_from = 0, wave_to = 0;
#endif

	explicit wc_rtl_model(const struct wc_rtl_setup *setup)
	{
		context.fatalOnError(false);
		context.randReset(2);
		context.randSeed(static_cast<int>(setup->seed % 0x7fffffff) + 1);
	}
};

// A memory port's part of a signal, `bytes` for each port.
template <class T> static uint8_t *part(T &signal, int port, int bytes = 1)
{
	return reinterpret_cast<uint8_t *>(&signal) + port * bytes;
}

static void connect_port(struct wc_rtl_model *m, const struct wc_rtl_setup *setup, int p)
{
	Vwc_tb &t = m->top;
	struct axi_port port = {};

	port.arid = part(t.m_axi_arid, p);
	port.arlen = part(t.m_axi_arlen, p);
	port.arvalid = part(t.m_axi_arvalid, p);
	port.arready = part(t.m_axi_arready, p);
	port.araddr = part(t.m_axi_araddr, p, 8);
	port.rid = part(t.m_axi_rid, p);
	port.rresp = part(t.m_axi_rresp, p);
	port.rlast = part(t.m_axi_rlast, p);
	port.rvalid = part(t.m_axi_rvalid, p);
	port.rready = part(t.m_axi_rready, p);
	port.rdata = &t.m_axi_rdata[p * WC_BUS_BYTES / 4];
	port.awlen = part(t.m_axi_awlen, p);
	port.awvalid = part(t.m_axi_awvalid, p);
	port.awready = part(t.m_axi_awready, p);
	port.awaddr = part(t.m_axi_awaddr, p, 8);
	port.wlast = part(t.m_axi_wlast, p);
	port.wvalid = part(t.m_axi_wvalid, p);
	port.wready = part(t.m_axi_wready, p);
	port.wdata = &t.m_axi_wdata[p * WC_BUS_BYTES / 4];
	port.wstrb = part(t.m_axi_wstrb, p, WC_BUS_BYTES / 8);
	port.bresp = part(t.m_axi_bresp, p);
	port.bvalid = part(t.m_axi_bvalid, p);
	port.bready = part(t.m_axi_bready, p);
	// Each port has its own random numbers; port 0 those that a device of one port has.
	axi_memory_init(&m->memory[p], setup->memory, &port, setup->latency_cycles, setup->random_memory,
			setup->seed + p * UINT64_C(0x9e3779b97f4a7c15));
}

static void connect_taps(struct wc_rtl_model *m)
{
	Vwc_tb &t = m->top;

	m->taps.events = &t.events_o;
	m->taps.levels = &t.levels_o;
	m->taps.waiting = &t.waiting_o;
	m->taps.begin_index = &t.begin_index_o[0];
	m->taps.end_index = &t.end_index_o[0];
	m->taps.complete = &t.complete_o[0];
	m->taps.waits = &t.waits_o[0];
	m->taps.ar_index = reinterpret_cast<const uint32_t *>(&t.ar_index_o);
	m->taps.aw_index = reinterpret_cast<const uint32_t *>(&t.aw_index_o);
	m->taps.wave_index = &t.wave_index_o;
	m->taps.wave_rows = &t.wave_rows_o;
	m->taps.wave_cmd = &t.wave_cmd_o;
	m->taps.drain_row = &t.drain_row_o;
	m->taps.drain_cmd = &t.drain_cmd_o;
	m->taps.drain_cols = &t.drain_cols_o;
	m->taps.drain_fp32 = &t.drain_fp32_o;
	m->taps.drain_bits = &t.drain_bits_o[0];
	m->taps.feed_a_row = &t.feed_a_row_o;
	m->taps.feed_a_sel = &t.feed_a_sel_o;
	m->taps.feed_a_bits = &t.feed_a_bits_o[0];
	m->taps.feed_b_k = &t.feed_b_k_o;
	m->taps.feed_b_wave = &t.feed_b_wave_o;
	m->taps.feed_b_cmd = &t.feed_b_cmd_o;
	m->taps.feed_b_bits = &t.feed_b_bits_o[0];
	m->taps.acc_row = &t.acc_row_o;
	m->taps.acc_wave = &t.acc_wave_o;
	m->taps.acc_cmd = &t.acc_cmd_o;
	m->taps.acc_side = &t.acc_side_o;
	m->taps.acc_bits = &t.acc_bits_o[0];
}

// Storage of a variable that a .vlt file makes public; nullptr where the configuration has none of that name.
static void *find(struct wc_rtl_model *m, const char *scope, const char *name)
{
	char path[128];
	std::snprintf(path, sizeof path, "wc_tb.u_dut.%s", scope);
	const VerilatedScope *found = m->context.scopeFind(path);
	VerilatedVar *var = found ? found->varFind(name) : nullptr;
	return var ? var->datap() : nullptr;
}

static void connect_state(struct wc_rtl_model *m)
{
	struct device_state *s = &m->state;

	s->rows = WC_ROWS;
	s->cols = WC_COLS;
	s->line_bytes = std::max({2 * WC_ROWS, 4 * WC_COLS, WC_BUS_BYTES});
	for (int i = 0; i < STATE_BANKS; i++) {
		char scope[64];
		std::snprintf(scope, sizeof scope, "u_gbuf.g_bank[%d].u_bank", i);
		s->banks[i] = static_cast<uint8_t *>(find(m, scope, "mem"));
	}
	s->accumulator[0] = static_cast<uint32_t *>(find(m, "u_gemm.u_accum.u_side0", "mem"));
	s->accumulator[1] = static_cast<uint32_t *>(find(m, "u_gemm.u_accum.u_side1", "mem"));
	s->weights[0] = static_cast<uint32_t *>(find(m, "u_gemm.u_array", "w0"));
	s->weights[1] = static_cast<uint32_t *>(find(m, "u_gemm.u_array", "w1"));
	s->simd_fault = static_cast<uint32_t *>(find(m, "u_vector.u_simd.u_lanes", "fault"));
	s->relu_fault = static_cast<uint32_t *>(find(m, "u_vector.u_relu", "fault"));
	s->psum = static_cast<uint32_t *>(find(m, "u_gemm.u_array", "psum"));
	s->macro = s->psum ? nullptr : array_macro_find("wc_tb.u_dut.u_gemm.u_array");
}

// Everything that looks at the model; nothing of it is copied later.
static bool connect(struct wc_rtl_model *m, const struct wc_rtl_setup *setup)
{
	for (int p = 0; p < WC_MEM_PORTS; p++)
		connect_port(m, setup, p);
	connect_taps(m);
	connect_state(m);
	m->events.taps = &m->taps;
	m->faults.taps = &m->taps;
	m->faults.state = &m->state;
	m->faults.memory = setup->memory;
	m->faults.params = wc_rtl.params;
	m->probes.taps = &m->taps;
	m->probes.state = &m->state;
	m->probes.faults = &m->faults;
	m->probes.mac_stages = WC_MAC_STAGES;
	if (setup->pe_window && m->state.macro)
		array_macro_set_window(m->state.macro, setup->pe_row, setup->pe_column);
	return m->state.banks[0] && m->state.accumulator[0] && m->state.simd_fault && m->state.relu_fault && (m->state.psum || m->state.macro);
}

#if VM_TRACE
static bool in_window(const struct wc_rtl_model *m)
{
	return m->waveform && m->cycle >= m->wave_from && (!m->wave_to || m->cycle < m->wave_to);
}
#endif

// The clock's two edges, after the inputs are set.
static void clock(struct wc_rtl_model *m)
{
#if VM_TRACE
	bool dump = in_window(m);
	if (dump) {
		m->top.eval();
		m->trace.dump(10 * m->cycle);
	}
#endif
	m->top.clk_i = 0;
	m->top.eval();
#if VM_TRACE
	if (dump)
		m->trace.dump(10 * m->cycle + 5);
#endif
	m->top.clk_i = 1;
	m->top.eval();
}

static void tick(struct wc_rtl_model *m)
{
	bool armed = m->faults.fault.kind != WC_FAULT_NONE;

	for (struct axi_memory &port : m->memory)
		axi_memory_cycle(&port, m->cycle);
	if (armed)
		faults_before(&m->faults, m->cycle);
	if (*m->taps.events & m->events.mask)
		m->stop |= events_report(&m->events, m->cycle);
	if (m->events.observer.probe)
		m->stop |= probes_report(&m->probes, &m->events.observer, m->cycle);
	for (int p = 0; m->events.observer.event && p < WC_MEM_PORTS; p++)
		if (m->memory[p].accepted.read || m->memory[p].accepted.write)
			m->stop |= events_bursts(&m->events, &m->memory[p].accepted, p, m->cycle);
	if (*m->taps.levels & (TAP_MOVES | TAP_IDLE | TAP_STOPPED))
		m->moved = m->cycle;
	m->context.time(10 * m->cycle);
	clock(m);
	if (armed)
		faults_after(&m->faults);
	for (struct axi_memory &port : m->memory)
		axi_memory_edge(&port);
	m->cycle++;
}

static void model_free(struct wc_rtl_model *m)
{
	if (!m)
		return;
	// Verilator's destructors use the thread's context, which is that of the model created last.
	Verilated::threadContextp(&m->context);
	m->top.final();
#if VM_TRACE
	if (m->waveform)
		m->trace.close();
#endif
	delete m;
}

static struct wc_rtl_model *model_create(const struct wc_rtl_setup *setup, struct wc_error *err)
{
	printed[0] = 0;
	array_macro_seed(setup->seed);
	lane_macro_seed(setup->seed);
	struct wc_rtl_model *m = new (std::nothrow) wc_rtl_model(setup);
	if (!m) {
		wc_fail(err, WC_ERR_SYSTEM, "cannot allocate the RTL model");
		return nullptr;
	}
	// The first evaluation runs the model's initial blocks, which make the macros of array and lanes.
	m->top.clk_i = 1;
	m->top.rst_ni = 1;
	m->top.eval();
	if (!connect(m, setup)) {
		wc_fail(err, WC_ERR_SYSTEM, "the RTL model lacks a memory that the shim looks for; its names and shim.cpp differ");
		model_free(m);
		return nullptr;
	}
#if VM_TRACE
	if (setup->waveform) {
		m->context.traceEverOn(true);
		m->top.trace(&m->trace, 99);
		m->trace.open(setup->waveform);
		if (!m->trace.isOpen()) {
			wc_fail(err, WC_ERR_INPUT, "cannot create the waveform '%s'", setup->waveform);
			model_free(m);
			return nullptr;
		}
		m->waveform = setup->waveform;
		m->wave_from = setup->wave_from;
		m->wave_to = setup->wave_to;
	}
#endif
	m->top.rst_ni = 0;
	for (int i = 0; i < 2; i++) {
		m->top.clk_i = 0;
		m->top.eval();
		m->top.clk_i = 1;
		m->top.eval();
	}
	m->top.rst_ni = 1;
	return m;
}

static uint32_t csr_read(struct wc_rtl_model *m, uint32_t offset)
{
	uint64_t limit = m->cycle + WATCHDOG_CYCLES;

	Verilated::threadContextp(&m->context);
	m->top.s_axil_araddr = static_cast<uint8_t>(offset);
	m->top.s_axil_arvalid = 1;
	m->top.s_axil_rready = 1;
	while (!m->top.s_axil_rvalid && m->cycle < limit) {
		bool taken = m->top.s_axil_arready;
		tick(m);
		if (taken)
			m->top.s_axil_arvalid = 0;
	}
	m->failed |= m->cycle >= limit;
	uint32_t value = m->top.s_axil_rdata;
	tick(m);
	m->top.s_axil_rready = 0;
	return value;
}

static void csr_write(struct wc_rtl_model *m, uint32_t offset, uint32_t value)
{
	uint64_t limit = m->cycle + WATCHDOG_CYCLES;

	Verilated::threadContextp(&m->context);
	m->top.s_axil_awaddr = static_cast<uint8_t>(offset);
	m->top.s_axil_wdata = value;
	m->top.s_axil_awvalid = m->top.s_axil_wvalid = m->top.s_axil_bready = 1;
	while (!m->top.s_axil_bvalid && m->cycle < limit) {
		bool addr_taken = m->top.s_axil_awready, data_taken = m->top.s_axil_wready;
		tick(m);
		if (addr_taken)
			m->top.s_axil_awvalid = 0;
		if (data_taken)
			m->top.s_axil_wvalid = 0;
	}
	m->failed |= m->cycle >= limit;
	tick(m);
	m->top.s_axil_bready = 0;
}

// Whatever went wrong in the cycles so far, in register accesses too.
static int trouble(struct wc_rtl_model *m, struct wc_error *err)
{
	if (m->context.gotError()) {
		m->context.gotError(false);
		m->context.gotFinish(false);
		int ret = wc_fail(err, WC_ERR_SYSTEM, "assertion of the design failed in cycle %llu: %s",
				  static_cast<unsigned long long>(m->cycle - 1), printed);
		printed[0] = 0;
		return ret;
	}
	if (m->failed || m->cycle - m->moved > WATCHDOG_CYCLES) {
		unsigned bursts = 0;
		for (const struct axi_memory &port : m->memory)
			bursts += port.reads.tail - port.reads.head + port.answers.tail - port.answers.head;
		m->failed = false;
		m->moved = m->cycle;
		return watchdog_fail(&m->taps, m->cycle, bursts, err);
	}
	if (m->stop) {
		m->stop = 0;
		return wc_fail(err, WC_ERR_STOPPED, "stopped by the observer in cycle %llu", static_cast<unsigned long long>(m->cycle - 1));
	}
	return 0;
}

static int step(struct wc_rtl_model *m, uint64_t max_cycles, struct wc_error *err)
{
	int ret = trouble(m, err);

	// A failed assertion is noted in the thread's context, which is that of the model used last.
	Verilated::threadContextp(&m->context);
	for (uint64_t i = 0; !ret && i < max_cycles && !(*m->taps.levels & (TAP_IDLE | TAP_STOPPED)); i++) {
		tick(m);
		ret = trouble(m, err);
	}
	return ret;
}

static void set_observer(struct wc_rtl_model *m, const struct wc_observer *observer)
{
	events_set_observer(&m->events, observer);
}

static void set_fault(struct wc_rtl_model *m, const struct wc_fault *fault)
{
	faults_set(&m->faults, fault);
}

static uint64_t cycle(struct wc_rtl_model *m)
{
	return m->cycle;
}

static void buffer_read(struct wc_rtl_model *m, uint32_t address, void *bytes, uint32_t count)
{
	state_buffer_read(&m->state, address, bytes, count);
}

static void buffer_write(struct wc_rtl_model *m, uint32_t address, const void *bytes, uint32_t count)
{
	state_buffer_write(&m->state, address, bytes, count);
}

extern "C" __attribute__((visibility("default"))) const struct wc_rtl wc_rtl = {
	WC_RTL_ABI,
	{ WC_ROWS, WC_COLS, WC_ACC_ROWS, WC_MAC_STAGES, WC_GBUF_BYTES, WC_BUS_BYTES, WC_MEM_PORTS },
	VM_TRACE,
	WC_ARRAY_MACRO,
	model_create,
	model_free,
	csr_read,
	csr_write,
	step,
	set_observer,
	set_fault,
	cycle,
	buffer_read,
	buffer_write,
};
