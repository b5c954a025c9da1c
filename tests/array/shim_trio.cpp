// SPDX-License-Identifier: Apache-2.0
//
// One verilated array_trio behind struct trio_ops. Compiled once per configuration: MODEL is the class, OPS the variable,
// HEADER and ROOT its headers, ROWS, COLS and STAGES its shape.
#include HEADER
#include ROOT

#include <cstring>
#include <string>

#include "models.h"

namespace {

struct Trio {
	VerilatedContext context;
	MODEL model{&context, "trio"};
	std::string dpi_name = "trio.array_trio.u_dpi";
};

// Ports of up to 64 bits are integers, wider ones arrays of words; both are little-endian in memory.
template <class Port> void put(Port &port, const uint32_t *words)
{
	memcpy(&port, words, sizeof(port));
}

template <class Port> void get(uint32_t *words, const Port &port)
{
	memcpy(words, &port, sizeof(port));
}

void *create()
{
	Trio *t = new Trio;

	t->model.eval();
	return t;
}

void destroy(void *model)
{
	Trio *t = static_cast<Trio *>(model);

	t->model.final();
	delete t;
}

void clock(void *model, const trio_inputs *in, trio_outputs *out)
{
	MODEL &m = static_cast<Trio *>(model)->model;

	m.rst_ni = in->rst_n;
	m.en_i = in->en;
	put(m.a_i, in->a);
	put(m.a_valid_i, in->a_valid);
	put(m.a_sel_i, in->a_sel);
	put(m.w_i, in->w);
	put(m.w_en_i, in->w_en);
	put(m.w_sel_i, in->w_sel);
	m.clk_i = 0;
	m.eval();
	m.clk_i = 1;
	m.eval();
	get(out[FORM_RTL].psum, m.rtl_psum_o);
	get(out[FORM_RTL].valid, m.rtl_valid_o);
	get(out[FORM_FAST].psum, m.fast_psum_o);
	get(out[FORM_FAST].valid, m.fast_valid_o);
	get(out[FORM_DPI].psum, m.dpi_psum_o);
	get(out[FORM_DPI].valid, m.dpi_valid_o);
}

uint32_t *fast_w(void *model, int sel)
{
	auto *root = static_cast<Trio *>(model)->model.rootp;

	return sel ? &root->array_trio__DOT__u_fast__DOT__w1[0] : &root->array_trio__DOT__u_fast__DOT__w0[0];
}

uint32_t *fast_psum(void *model)
{
	return &static_cast<Trio *>(model)->model.rootp->array_trio__DOT__u_fast__DOT__psum[0];
}

const char *dpi_name(void *model)
{
	return static_cast<Trio *>(model)->dpi_name.c_str();
}

} // namespace

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)

extern "C" const trio_ops OPS = {TEXT(OPS), ROWS,  COLS,   STAGES,    create,
				 destroy,   clock, fast_w, fast_psum, dpi_name};
