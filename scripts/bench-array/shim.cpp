// SPDX-License-Identifier: Apache-2.0
//
// One verilated array behind struct bench_model. Compiled once per model: MODEL is the class, HEADER its header, NAME the
// variable, FORM the module, SIZE rows and columns.
#include HEADER

#include <cstring>

#include "bench.h"

namespace {

template <class Port> void put(Port &port, const uint32_t *words)
{
	memcpy(&port, words, sizeof(port));
}

uint64_t run(const bench_cycle *program, int period, long cycles)
{
	VerilatedContext context;
	MODEL m{&context};
	uint64_t hash = 0;

	m.en_i = 1;
	for (m.rst_ni = 0; !m.rst_ni; m.rst_ni = 1) {
		m.clk_i = 0;
		m.eval();
		m.clk_i = 1;
		m.eval();
	}
	for (long t = 0; t < cycles; t++) {
		const bench_cycle &in = program[t % period];
		uint32_t psum[SIZE];

		put(m.a_i, in.a);
		put(m.a_valid_i, in.a_valid);
		put(m.a_sel_i, in.a_sel);
		put(m.w_i, in.w);
		put(m.w_en_i, in.w_en);
		put(m.w_sel_i, in.w_sel);
		m.clk_i = 0;
		m.eval();
		m.clk_i = 1;
		m.eval();
		memcpy(psum, &m.psum_o, sizeof(psum));
		// The first period still uses weights that nobody loaded.
		for (int c = 0; c < SIZE && t >= period; c++)
			hash = hash * 31 + psum[c];
	}
	m.final();
	return hash;
}

} // namespace

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)

extern "C" const bench_model NAME = {TEXT(FORM), SIZE, SIZE, run};
