// SPDX-License-Identifier: Apache-2.0
//
// Putting statements of a strip together.
#ifndef WC_PAPER_STATEMENT_H
#define WC_PAPER_STATEMENT_H

#include "driver/plan/rows.h"

struct paper_writer {
	const struct net *net;
	struct sched_strip *strip; // being filled
	struct wc_error *err;
	int too_many;              // what rc becomes if a statement would list more than SCHED_LIST_MAX tensors
	int rc;                    // 0 until something fails; nothing is added behind that
};

// A statement on all rows of a tensor, or on some.
struct sched_statement paper_whole(const struct paper_writer *writer, enum sched_op op, enum sched_tensor tensor, int node);
struct sched_statement paper_on_rows(enum sched_op op, enum sched_tensor tensor, int node, struct rows rows);

// Clauses: `from` with all rows of the tensor, or with those that the statement needs; `to`; `using`.
void paper_from(struct paper_writer *writer, struct sched_statement *statement, enum sched_tensor tensor, int node);
void paper_from_needed(struct paper_writer *writer, struct sched_statement *statement, enum sched_tensor tensor, int node);
void paper_to(struct paper_writer *writer, struct sched_statement *statement, enum sched_tensor tensor, int node);
void paper_using(struct paper_writer *writer, struct sched_statement *statement, enum sched_tensor tensor, int node);

void paper_add(struct paper_writer *writer, const struct sched_statement *statement);

#endif
