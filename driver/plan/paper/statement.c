// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/statement.h"

#include "driver/plan/build.h"

struct sched_statement paper_whole(const struct paper_writer *writer, enum sched_op op, enum sched_tensor tensor, int node)
{
	return (struct sched_statement){ .op = op, .tensor = tensor, .node = node, .hi = writer->net->nodes[node].out.height };
}

struct sched_statement paper_on_rows(enum sched_op op, enum sched_tensor tensor, int node, struct rows rows)
{
	return (struct sched_statement){ .op = op, .tensor = tensor, .node = node, .lo = rows.lo, .hi = rows.hi };
}

static void append(struct paper_writer *writer, const struct sched_statement *statement, struct sched_operand *list, int *count, struct sched_operand operand)
{
	if (*count < SCHED_LIST_MAX)
		list[(*count)++] = operand;
	else if (!writer->rc)
		writer->rc = wc_fail(writer->err, writer->too_many, "'%s %s:%s' has more than %d operands apart, some in the buffer and some in DRAM",
				     sched_op_name(statement->op), sched_tensor_name(statement->tensor), writer->net->nodes[statement->node].name, SCHED_LIST_MAX);
}

void paper_from(struct paper_writer *writer, struct sched_statement *statement, enum sched_tensor tensor, int node)
{
	append(writer, statement, statement->from, &statement->from_count,
	       (struct sched_operand){ .tensor = tensor, .node = (int16_t)node, .hi = (int16_t)writer->net->nodes[node].out.height });
}

void paper_from_needed(struct paper_writer *writer, struct sched_statement *statement, enum sched_tensor tensor, int node)
{
	append(writer, statement, statement->from, &statement->from_count, (struct sched_operand){ .tensor = tensor, .node = (int16_t)node });
}

void paper_to(struct paper_writer *writer, struct sched_statement *statement, enum sched_tensor tensor, int node)
{
	append(writer, statement, statement->to, &statement->to_count, (struct sched_operand){ .tensor = tensor, .node = (int16_t)node });
}

void paper_using(struct paper_writer *writer, struct sched_statement *statement, enum sched_tensor tensor, int node)
{
	append(writer, statement, statement->saved, &statement->saved_count, (struct sched_operand){ .tensor = tensor, .node = (int16_t)node });
}

void paper_add(struct paper_writer *writer, const struct sched_statement *statement)
{
	if (!writer->rc && build_statement(writer->strip, statement))
		writer->rc = wc_fail(writer->err, WC_ERR_SYSTEM, "out of memory");
}
