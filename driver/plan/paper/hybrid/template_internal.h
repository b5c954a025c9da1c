// SPDX-License-Identifier: Apache-2.0
//
// Building templates. All of these do nothing useful once memory has run out; template->failed says so.
#ifndef WC_HYBRID_TEMPLATE_INTERNAL_H
#define WC_HYBRID_TEMPLATE_INTERNAL_H

#include "driver/plan/paper/hybrid/template.h"

int template_step(struct hybrid_template *template, enum hybrid_step_kind kind, int node);
// The slab of a tensor, a new one if there is none.
int template_slab(struct hybrid_template *template, const struct hybrid_view *view, enum sched_tensor tensor, int node);
// An event of a slab at a step; several at one step are one. Valid until the next one is added.
struct hybrid_event *template_event(struct hybrid_template *template, int slab, int step, bool makes);
// An event that may not stream, if `weights`: of the operand that stays while weights pass.
void template_operand(struct hybrid_template *template, int slab, int step, bool weights);
void template_pair(struct hybrid_template *template, int step, int in, int out);

// Leaves that a module takes from the one before it, and gives to the one behind.
const struct paper_list *template_inputs(const struct hybrid_view *view, int module);
const struct paper_list *template_outputs(const struct hybrid_view *view, int module);

#endif
