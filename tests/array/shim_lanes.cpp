// SPDX-License-Identifier: Apache-2.0
//
// The verilated lanes_pair.
#include "Vlanes_pair.h"
#include "Vlanes_pair___024root.h"

#include <cstring>

#include "models.h"

namespace {

template <class Port> void put(Port &port, const uint32_t *words)
{
	memcpy(&port, words, sizeof(port));
}

template <class Port> void get(uint32_t *words, const Port &port)
{
	memcpy(words, &port, sizeof(port));
}

Vlanes_pair *of(void *model)
{
	return static_cast<Vlanes_pair *>(model);
}

} // namespace

void *lanes_pair_create(void)
{
	Vlanes_pair *m = new Vlanes_pair;

	m->eval();
	return m;
}

void lanes_pair_free(void *model)
{
	of(model)->final();
	delete of(model);
}

void lanes_pair_clock(void *model, const struct lanes_inputs *in, struct lanes_outputs *out)
{
	Vlanes_pair &m = *of(model);

	m.line_i = in->line;
	m.slot_i = in->slot;
	m.slot_high_i = in->slot_high;
	put(m.rdata_i, in->rdata);
	m.fire_i = in->fire;
	m.code_i = in->code;
	m.vector_i = in->vector;
	m.head_i = in->head;
	m.type_i = in->type;
	m.shift_i = in->shift;
	m.literal_a_i = in->literal_a;
	m.literal_b_i = in->literal_b;
	put(m.constants_i, in->constants);
	m.tap_i = in->tap;
	m.channel_i = in->channel;
	m.active_i = in->active;
	m.first_i = in->first;
	m.put_i = in->put;
	m.clk_i = 0;
	m.eval();
	m.clk_i = 1;
	m.eval();
	get(out->rtl_put, m.rtl_put_o);
	get(out->dpi_put, m.dpi_put_o);
	get(out->rtl_registers[0], m.rtl_registers_o);
	out->rtl_predicate = m.rtl_predicate_o;
}

struct lane_macro *lanes_pair_macro(void *model)
{
	return static_cast<struct lane_macro *>(reinterpret_cast<void *>(of(model)->rootp->lanes_pair__DOT__u_dpi__DOT__lanes));
}
