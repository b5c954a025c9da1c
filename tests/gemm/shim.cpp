// SPDX-License-Identifier: Apache-2.0
//
// One verilated gemm_bench behind struct gemm_ops. Compiled once per configuration: MODEL is the class, OPS the variable, HEADER its header, and
// ROWS, COLS, ACC_ROWS, GBUF_BYTES, LINE_BYTES, STAGES its parameters.
#include HEADER

#include <cstring>
#include <deque>

#include "models.h"
#include "traces/splitmix.h"

namespace {

struct Bench {
	VerilatedContext context;
	MODEL *model;
	uint64_t random;
	uint8_t scratch[GBUF_BYTES]; // what the scratch area holds
};

uint32_t below(Bench *b, uint32_t limit)
{
	return (uint32_t)((splitmix_next(&b->random) >> 32) * limit >> 32);
}

void eval_low(Bench *b)
{
	b->model->clk_i = 0;
	b->model->eval();
}

void rise(Bench *b)
{
	b->model->clk_i = 1;
	b->model->eval();
}

void reset(void *p)
{
	Bench *b = static_cast<Bench *>(p);
	MODEL &m = *b->model;

	m.cmd_valid_i = m.halt_i = m.ld_req_i = m.st_req_i = m.v_req_i = 0;
	m.rst_ni = 0;
	for (int i = 0; i < 2; i++) {
		eval_low(b);
		rise(b);
	}
	m.rst_ni = 1;
	eval_low(b);
}

void *create(uint64_t seed)
{
	Bench *b = new Bench;

	b->random = seed;
	// Undefined state takes values from the seed.
	b->context.randSeed((int)(seed & 0x7fffffff) | 1);
	b->context.randReset(2);
	b->model = new MODEL(&b->context, "gemm");
	reset(b);
	return b;
}

void destroy(void *p)
{
	Bench *b = static_cast<Bench *>(p);

	b->model->final();
	delete b->model;
	delete b;
}

void write(void *p, const uint8_t *bytes)
{
	Bench *b = static_cast<Bench *>(p);
	MODEL &m = *b->model;

	for (int at = 0; at < GBUF_BYTES; at += LINE_BYTES) {
		m.v_req_i = m.v_we_i = 1;
		m.v_addr_i = at;
		m.v_size_i = LINE_BYTES;
		memcpy(&m.v_wdata_i, bytes + at, LINE_BYTES);
		eval_low(b);
		rise(b);
	}
	m.v_req_i = m.v_we_i = 0;
	eval_low(b);
	memcpy(b->scratch, bytes, GBUF_BYTES);
}

void read(void *p, uint8_t *bytes)
{
	Bench *b = static_cast<Bench *>(p);
	MODEL &m = *b->model;

	for (int at = 0, got = 0; got < GBUF_BYTES; at += LINE_BYTES) {
		m.v_req_i = at < GBUF_BYTES;
		m.v_we_i = 0;
		m.v_addr_i = at;
		m.v_size_i = LINE_BYTES;
		eval_low(b);
		if (m.v_rvalid_o) {
			memcpy(bytes + got, &m.v_rdata_o, LINE_BYTES);
			got += LINE_BYTES;
		}
		rise(b);
	}
	m.v_req_i = 0;
	eval_low(b);
}

// An expected answer of a read port: bytes of the scratch area, which only the load port writes.
struct Answer {
	bool check;
	uint32_t size;
	uint8_t bytes[LINE_BYTES];
};

template <class Data> int wrong(std::deque<Answer> &answers, const Data &data)
{
	int bad = answers.empty();

	if (!answers.empty()) {
		bad = answers.front().check && memcmp(&data, answers.front().bytes, answers.front().size) != 0;
		answers.pop_front();
	}
	return bad;
}

Answer expect(Bench *b, uint32_t scratch, uint32_t address, uint32_t size)
{
	Answer a = {address >= scratch, size, {}};

	memcpy(a.bytes, b->scratch + address, size);
	return a;
}

// A random access of the even addresses [from, GBUF_BYTES).
void request(Bench *b, uint32_t from, IData &address, SData &size)
{
	uint32_t at = from + 2 * below(b, (GBUF_BYTES - from) / 2);
	uint32_t most = GBUF_BYTES - at < LINE_BYTES ? GBUF_BYTES - at : LINE_BYTES;

	address = at;
	size = (SData)(1 + below(b, most));
}

// Lanes [from, to) of W bits of a packed vector that are not 0.
template <int W, class Data> int not_zero(const Data &data, uint32_t from, uint32_t to)
{
	const uint8_t *bytes = reinterpret_cast<const uint8_t *>(&data);
	int count = 0;

	for (uint32_t i = from; i < to; i++) {
		uint32_t lane = 0;

		memcpy(&lane, bytes + i * W / 8, W / 8);
		count += lane != 0;
	}
	return count;
}

// What enters the array beyond the ends of k and n, and what the accumulator holds there.
void look(MODEL &m, const gemm_run *run, gemm_result *result)
{
	const uint8_t *commands = static_cast<const uint8_t *>(run->commands);
	uint16_t n_cols;
	uint32_t k_total;

	if (m.feed_a_valid_o) {
		memcpy(&k_total, commands + 256 * (m.feed_a_index_o - run->first_index) + 28, sizeof(k_total));
		uint32_t k_left = k_total - ROWS * m.feed_a_wave_o;

		result->stray_operands += not_zero<16>(m.feed_a_bits_o, k_left < ROWS ? k_left : ROWS, ROWS);
	}
	if (m.feed_b_valid_o) {
		memcpy(&k_total, commands + 256 * (m.feed_b_index_o - run->first_index) + 28, sizeof(k_total));
		memcpy(&n_cols, commands + 256 * (m.feed_b_index_o - run->first_index) + 26, sizeof(n_cols));
		bool beyond = ROWS * m.feed_b_wave_o + m.feed_b_k_o >= k_total;

		result->stray_operands += not_zero<16>(m.feed_b_bits_o, beyond ? 0 : n_cols, COLS);
	}
	if (m.acc_valid_o) {
		memcpy(&n_cols, commands + 256 * (m.acc_index_o - run->first_index) + 26, sizeof(n_cols));
		result->stray_sums += not_zero<32>(m.acc_bits_o, n_cols, COLS);
	}
}

void run(void *p, const gemm_run *run, gemm_result *result)
{
	Bench *b = static_cast<Bench *>(p);
	MODEL &m = *b->model;
	const uint8_t *commands = static_cast<const uint8_t *>(run->commands);
	std::deque<Answer> st_answers, v_answers;
	int issued = 0, stopped_cycle = -1, before[GEMM_STALLS] = {0};

	memset(result, 0, sizeof(*result));
	result->in_order = true;
	result->first_busy = -1;
	b->random = run->seed;
	for (int cycle = 0; cycle < run->cycles_max; cycle++) {
		uint32_t wait_gemm = 0;

		result->cycles = cycle;
		if (issued < run->count)
			memcpy(&wait_gemm, commands + 256 * issued + 12, sizeof(wait_gemm));
		m.cmd_valid_i = issued < run->count && (uint32_t)result->done >= wait_gemm;
		if (m.cmd_valid_i) {
			memcpy(&m.cmd_i, commands + 256 * issued, 256);
			m.cmd_index_i = run->first_index + (uint32_t)issued;
		}
		m.halt_i = run->halt_cycle >= 0 && cycle >= run->halt_cycle;
		if (m.halt_i && stopped_cycle < 0)
			stopped_cycle = cycle;
		if (!m.ld_req_i && below(b, 100) < (uint32_t)run->pressure_percent) {
			m.ld_req_i = 1;
			request(b, run->scratch_address, m.ld_addr_i, m.ld_size_i);
			for (int i = 0; i < LINE_BYTES; i++)
				((uint8_t *)&m.ld_wdata_i)[i] = (uint8_t)splitmix_next(&b->random);
		}
		if (!m.st_req_i && below(b, 100) < (uint32_t)run->pressure_percent) {
			m.st_req_i = 1;
			request(b, below(b, 2) ? run->scratch_address : 0, m.st_addr_i, m.st_size_i);
		}
		if (!m.v_req_i && below(b, 100) < (uint32_t)run->pressure_percent) {
			m.v_req_i = 1;
			request(b, below(b, 2) ? run->scratch_address : 0, m.v_addr_i, m.v_size_i);
		}
		eval_low(b);

		if (m.cmd_valid_i && m.cmd_ready_o)
			issued++;
		if (m.done_o)
			result->in_order &= m.done_index_o == run->first_index + (uint32_t)result->done++;
		result->busy += m.array_busy_o;
		result->stalls[GEMM_STALL_OPERAND] += m.stall_operand_o;
		result->stalls[GEMM_STALL_WEIGHT] += m.stall_weight_o;
		result->stalls[GEMM_STALL_ACCUMULATOR] += m.stall_accumulator_o;
		result->stalls[GEMM_STALL_COMMAND] += m.stall_command_o;
		look(m, run, result);
		result->waves += m.wave_o;
		result->bubbles += m.bubble_o;
		if (m.array_busy_o) {
			if (result->first_busy < 0) {
				result->first_busy = cycle;
				memcpy(before, result->stalls, sizeof(before));
			}
			result->last_busy = cycle;
			for (int i = 0; i < GEMM_STALLS; i++)
				result->between[i] = result->stalls[i] - before[i];
		}
		if (stopped_cycle >= 0)
			result->late_accesses += m.access_o;
		if (m.error_o && stopped_cycle < 0)
			stopped_cycle = cycle;
		if (m.st_rvalid_o)
			result->read_errors += wrong(st_answers, m.st_rdata_o);
		if (m.v_rvalid_o)
			result->read_errors += wrong(v_answers, m.v_rdata_o);
		// A store or vector read granted together with a load write is of other banks, so the order does not matter.
		bool st = m.st_req_i && m.st_gnt_o, v = m.v_req_i && m.v_gnt_o, ld = m.ld_req_i && m.ld_gnt_o;

		if (st)
			st_answers.push_back(expect(b, run->scratch_address, m.st_addr_i, m.st_size_i));
		if (v)
			v_answers.push_back(expect(b, run->scratch_address, m.v_addr_i, m.v_size_i));
		if (ld)
			memcpy(b->scratch + m.ld_addr_i, &m.ld_wdata_i, m.ld_size_i);
		rise(b);
		m.st_req_i &= !st;
		m.v_req_i &= !v;
		m.ld_req_i &= !ld;
		if (result->done == run->count || (stopped_cycle >= 0 && cycle >= stopped_cycle + 1000))
			break;
	}
	m.cmd_valid_i = m.ld_req_i = m.st_req_i = m.v_req_i = 0;
	for (int i = 0; i < 3; i++) {
		eval_low(b);
		rise(b);
	}
	eval_low(b);
	result->error = m.error_o;
	result->error_status = m.error_status_o;
	result->error_index = m.error_index_o;
}

} // namespace

extern const gemm_ops OPS = {ROWS, COLS, ACC_ROWS, GBUF_BYTES, LINE_BYTES, STAGES, create, destroy, reset, write, read, run};
