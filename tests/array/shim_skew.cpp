// SPDX-License-Identifier: Apache-2.0
//
// The verilated skew_set.
#include <cstring>

#include "Vskew_set.h"
#include "models.h"

static Vskew_set *of(void *model)
{
	return static_cast<Vskew_set *>(model);
}

void *skew_set_create(void)
{
	return new Vskew_set;
}

void skew_set_free(void *model)
{
	delete of(model);
}

void skew_set_reset(void *model)
{
	of(model)->rst_ni = 1;
	of(model)->eval();
	of(model)->rst_ni = 0;
	of(model)->eval();
	of(model)->rst_ni = 1;
	of(model)->eval();
}

void skew_set_clock(void *model, bool en, const struct skew_row in[SKEW_LINES], struct skew_row out[SKEW_LINES])
{
	Vskew_set *m = of(model);

	m->en_i = en;
	memcpy(&m->in_i, in[SKEW_IN].words, sizeof(m->in_i));
	memcpy(&m->two_i, in[SKEW_TWO].words, sizeof(m->two_i));
	memcpy(&m->out_i, in[SKEW_OUT].words, sizeof(m->out_i));
	m->clk_i = 0;
	m->eval();
	memcpy(out[SKEW_IN].words, &m->in_o, sizeof(m->in_o));
	memcpy(out[SKEW_TWO].words, &m->two_o, sizeof(m->two_o));
	memcpy(out[SKEW_OUT].words, &m->out_o, sizeof(m->out_o));
	m->clk_i = 1;
	m->eval();
}
