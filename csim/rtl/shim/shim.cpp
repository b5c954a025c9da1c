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

// Words of a core's part of feed_a_bits_o and feed_b_bits_o (PadA, PadB).
enum { FEED_A_WORDS = WC_ROWS < 8 ? 4 : WC_ROWS / 2, FEED_B_WORDS = WC_COLS < 8 ? 4 : WC_COLS / 2 };

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

// What looks at one core.
struct core {
	struct taps taps;
	struct events events = {};
	struct device_state state = {};
	struct faults faults = {};
	struct probes probes = {};
	uint64_t moved = 0;  // last cycle in which something moved, or the core rested
	bool failed = false; // a register access was never answered
};

struct wc_rtl_model {
	VerilatedContext context;
	Vwc_tb top{&context, ""};
	struct axi_memory memory[WC_MEM_PORTS];
	struct core cores[WC_CORES];
	uint64_t cycle = 0;
	int stop = 0; // what the observer returned
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

// A memory port's part of a signal, `bytes` for each port; or a core's.
template <class T> static uint8_t *part(T &signal, int port, int bytes = 1)
{
	return reinterpret_cast<uint8_t *>(&signal) + port * bytes;
}

// A core's part of a signal, `words` of 32 bits for each core.
template <class T> static uint32_t *words_of(T &signal, int core, int words = 1)
{
	return reinterpret_cast<uint32_t *>(&signal) + core * words;
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
	port.awid = part(t.m_axi_awid, p);
	port.awlen = part(t.m_axi_awlen, p);
	port.awvalid = part(t.m_axi_awvalid, p);
	port.awready = part(t.m_axi_awready, p);
	port.awaddr = part(t.m_axi_awaddr, p, 8);
	port.wlast = part(t.m_axi_wlast, p);
	port.wvalid = part(t.m_axi_wvalid, p);
	port.wready = part(t.m_axi_wready, p);
	port.wdata = &t.m_axi_wdata[p * WC_BUS_BYTES / 4];
	port.wstrb = part(t.m_axi_wstrb, p, WC_BUS_BYTES / 8);
	port.bid = part(t.m_axi_bid, p);
	port.bresp = part(t.m_axi_bresp, p);
	port.bvalid = part(t.m_axi_bvalid, p);
	port.bready = part(t.m_axi_bready, p);
	// Each port has its own random numbers; port 0 those that a device of one port has.
	axi_memory_init(&m->memory[p], setup->memory, &port, setup->latency_cycles, setup->random_memory,
			setup->seed + p * UINT64_C(0x9e3779b97f4a7c15));
}

static void connect_taps(struct wc_rtl_model *m, int c)
{
	Vwc_tb &t = m->top;
	struct taps *taps = &m->cores[c].taps;

	taps->core = c;
	taps->events = words_of(t.events_o, c);
	taps->levels = part(t.levels_o, c);
	taps->waiting = part(t.waiting_o, c);
	taps->begin_index = words_of(t.begin_index_o, c, TAP_ENGINES);
	taps->end_index = words_of(t.end_index_o, c, TAP_ENGINES);
	taps->complete = words_of(t.complete_o, c, TAP_ENGINES);
	taps->waits = words_of(t.waits_o, c, 4 * TAP_ENGINES);
	taps->ar_index = words_of(t.ar_index_o, c, WC_MEM_PORTS);
	taps->aw_index = words_of(t.aw_index_o, c, WC_MEM_PORTS);
	taps->wave_index = words_of(t.wave_index_o, c);
	taps->wave_rows = words_of(t.wave_rows_o, c);
	taps->wave_cmd = words_of(t.wave_cmd_o, c);
	taps->drain_row = words_of(t.drain_row_o, c);
	taps->drain_cmd = words_of(t.drain_cmd_o, c);
	taps->drain_cols = words_of(t.drain_cols_o, c);
	taps->drain_fp32 = part(t.drain_fp32_o, c);
	taps->drain_bits = words_of(t.drain_bits_o, c, WC_COLS);
	taps->feed_a_row = words_of(t.feed_a_row_o, c);
	taps->feed_a_sel = words_of(t.feed_a_sel_o, c);
	taps->feed_a_bits = words_of(t.feed_a_bits_o, c, FEED_A_WORDS);
	taps->feed_b_k = words_of(t.feed_b_k_o, c);
	taps->feed_b_wave = words_of(t.feed_b_wave_o, c);
	taps->feed_b_cmd = words_of(t.feed_b_cmd_o, c);
	taps->feed_b_bits = words_of(t.feed_b_bits_o, c, FEED_B_WORDS);
	taps->acc_row = words_of(t.acc_row_o, c);
	taps->acc_wave = words_of(t.acc_wave_o, c);
	taps->acc_cmd = words_of(t.acc_cmd_o, c);
	taps->acc_side = words_of(t.acc_side_o, c);
	taps->acc_bits = words_of(t.acc_bits_o, c, WC_COLS);
}

// Storage of a variable that a .vlt file makes public; nullptr where the configuration has none of that name.
static void *find(struct wc_rtl_model *m, int c, const char *scope, const char *name)
{
	char path[128];
	std::snprintf(path, sizeof path, "wc_tb.u_dut.g_core[%d].u_core.%s", c, scope);
	const VerilatedScope *found = m->context.scopeFind(path);
	VerilatedVar *var = found ? found->varFind(name) : nullptr;
	return var ? var->datap() : nullptr;
}

static void connect_state(struct wc_rtl_model *m, int c)
{
	struct device_state *s = &m->cores[c].state;
	char array[64];

	s->rows = WC_ROWS;
	s->cols = WC_COLS;
	s->line_bytes = std::max({2 * WC_ROWS, 4 * WC_COLS, WC_BUS_BYTES});
	for (int i = 0; i < STATE_BANKS; i++) {
		char scope[64];
		std::snprintf(scope, sizeof scope, "u_gbuf.g_bank[%d].u_bank", i);
		s->banks[i] = static_cast<uint8_t *>(find(m, c, scope, "mem"));
	}
	s->accumulator[0] = static_cast<uint32_t *>(find(m, c, "u_gemm.u_accum.u_side0", "mem"));
	s->accumulator[1] = static_cast<uint32_t *>(find(m, c, "u_gemm.u_accum.u_side1", "mem"));
	s->weights[0] = static_cast<uint32_t *>(find(m, c, "u_gemm.u_array", "w0"));
	s->weights[1] = static_cast<uint32_t *>(find(m, c, "u_gemm.u_array", "w1"));
	s->simd_fault = static_cast<uint32_t *>(find(m, c, "u_vector.u_simd.u_lanes", "fault"));
	s->relu_fault = static_cast<uint32_t *>(find(m, c, "u_vector.u_relu", "fault"));
	s->psum = static_cast<uint32_t *>(find(m, c, "u_gemm.u_array", "psum"));
	std::snprintf(array, sizeof array, "wc_tb.u_dut.g_core[%d].u_core.u_gemm.u_array", c);
	s->macro = s->psum ? nullptr : array_macro_find(array);
}

// Everything that looks at a core; nothing of it is copied later.
static bool connect_core(struct wc_rtl_model *m, const struct wc_rtl_setup *setup, int c)
{
	struct core *core = &m->cores[c];

	connect_taps(m, c);
	connect_state(m, c);
	core->events.taps = &core->taps;
	core->faults.taps = &core->taps;
	core->faults.state = &core->state;
	core->faults.memory = setup->memory;
	core->faults.params = wc_rtl.params;
	core->probes.taps = &core->taps;
	core->probes.state = &core->state;
	core->probes.faults = &core->faults;
	core->probes.mac_stages = WC_MAC_STAGES;
	if (setup->pe_window && core->state.macro)
		array_macro_set_window(core->state.macro, setup->pe_row, setup->pe_column);
	return core->state.banks[0] && core->state.accumulator[0] && core->state.simd_fault && core->state.relu_fault &&
	       (core->state.psum || core->state.macro);
}

static bool connect(struct wc_rtl_model *m, const struct wc_rtl_setup *setup)
{
	bool found = true;

	for (int p = 0; p < WC_MEM_PORTS; p++)
		connect_port(m, setup, p);
	for (int c = 0; c < WC_CORES; c++)
		found &= connect_core(m, setup, c);
	return found;
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

// What one core's observer and faults have to do before the clock edge.
static void look(struct wc_rtl_model *m, struct core *core)
{
	if (core->faults.fault.kind != WC_FAULT_NONE)
		faults_before(&core->faults, m->cycle);
	if (*core->taps.events & core->events.mask)
		m->stop |= events_report(&core->events, m->cycle);
	if (core->events.observer.probe)
		m->stop |= probes_report(&core->probes, &core->events.observer, m->cycle);
	for (int p = 0; core->events.observer.event && p < WC_MEM_PORTS; p++)
		if (m->memory[p].accepted.read || m->memory[p].accepted.write)
			m->stop |= events_bursts(&core->events, &m->memory[p].accepted, p, m->cycle);
	if (*core->taps.levels & (TAP_MOVES | TAP_IDLE | TAP_STOPPED))
		core->moved = m->cycle;
}

static void tick(struct wc_rtl_model *m)
{
	bool armed = false;

	for (struct axi_memory &port : m->memory)
		axi_memory_cycle(&port, m->cycle);
	for (struct core &core : m->cores) {
		armed |= core.faults.fault.kind != WC_FAULT_NONE;
		look(m, &core);
	}
	m->context.time(10 * m->cycle);
	clock(m);
	for (struct core &core : m->cores)
		if (armed)
			faults_after(&core.faults);
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

	offset %= WC_CSR_CORE(WC_CORES);
	Verilated::threadContextp(&m->context);
	m->top.s_axil_araddr = static_cast<uint16_t>(offset);
	m->top.s_axil_arvalid = 1;
	m->top.s_axil_rready = 1;
	while (!m->top.s_axil_rvalid && m->cycle < limit) {
		bool taken = m->top.s_axil_arready;
		tick(m);
		if (taken)
			m->top.s_axil_arvalid = 0;
	}
	m->cores[offset / WC_CSR_CORE(1)].failed |= m->cycle >= limit;
	uint32_t value = m->top.s_axil_rdata;
	tick(m);
	m->top.s_axil_rready = 0;
	return value;
}

static void csr_write(struct wc_rtl_model *m, uint32_t offset, uint32_t value)
{
	uint64_t limit = m->cycle + WATCHDOG_CYCLES;

	offset %= WC_CSR_CORE(WC_CORES);
	Verilated::threadContextp(&m->context);
	m->top.s_axil_awaddr = static_cast<uint16_t>(offset);
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
	m->cores[offset / WC_CSR_CORE(1)].failed |= m->cycle >= limit;
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
	for (struct core &core : m->cores)
		if (core.failed || m->cycle - core.moved > WATCHDOG_CYCLES) {
			unsigned bursts = 0;
			for (const struct axi_memory &port : m->memory)
				bursts += port.reads.tail - port.reads.head + port.answers.tail - port.answers.head;
			core.failed = false;
			core.moved = m->cycle;
			return watchdog_fail(&core.taps, WC_CORES, m->cycle, bursts, err);
		}
	if (m->stop) {
		m->stop = 0;
		return wc_fail(err, WC_ERR_STOPPED, "stopped by the observer in cycle %llu", static_cast<unsigned long long>(m->cycle - 1));
	}
	return 0;
}

// Whether a core has something left to do.
static bool runs(const struct wc_rtl_model *m)
{
	for (const struct core &core : m->cores)
		if (!(*core.taps.levels & (TAP_IDLE | TAP_STOPPED)))
			return true;
	return false;
}

static int step(struct wc_rtl_model *m, uint64_t max_cycles, struct wc_error *err)
{
	int ret = trouble(m, err);

	// A failed assertion is noted in the thread's context, which is that of the model used last.
	Verilated::threadContextp(&m->context);
	for (uint64_t i = 0; !ret && i < max_cycles && runs(m); i++) {
		tick(m);
		ret = trouble(m, err);
	}
	return ret;
}

static void set_observer(struct wc_rtl_model *m, const struct wc_observer *observer)
{
	for (struct core &core : m->cores)
		events_set_observer(&core.events, observer);
}

static void set_fault(struct wc_rtl_model *m, const struct wc_fault *fault)
{
	for (struct core &core : m->cores)
		faults_set(&core.faults, fault);
}

static uint64_t cycle(struct wc_rtl_model *m)
{
	return m->cycle;
}

static void buffer_read(struct wc_rtl_model *m, uint32_t address, void *bytes, uint32_t count)
{
	state_buffer_read(&m->cores[address / WC_GBUF_BYTES].state, address % WC_GBUF_BYTES, bytes, count);
}

static void buffer_write(struct wc_rtl_model *m, uint32_t address, const void *bytes, uint32_t count)
{
	state_buffer_write(&m->cores[address / WC_GBUF_BYTES].state, address % WC_GBUF_BYTES, bytes, count);
}

extern "C" __attribute__((visibility("default"))) const struct wc_rtl wc_rtl = {
	WC_RTL_ABI,
	{ WC_ROWS, WC_COLS, WC_ACC_ROWS, WC_MAC_STAGES, WC_GBUF_BYTES, WC_BUS_BYTES, WC_MEM_PORTS, WC_CORES },
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
