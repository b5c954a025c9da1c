// SPDX-License-Identifier: Apache-2.0
//
// What a statement reads and fills, after driver/README.md, "Meaning".
#include "driver/plan/check/internal.h"

int check_operator(const struct net *net, const struct sched_statement *statement)
{
	switch (statement->op) {
	case SCHED_COMPUTE:
		return statement->tensor == SCHED_GRAD ? net_consumer(net, statement->node) : statement->node;
	case SCHED_ACCUMULATE:
		return statement->node;
	default:
		return -1;
	}
}

static int gradient_reads(const struct net *net, const struct sched_statement *statement, struct row_use uses[CHECK_USES_MAX])
{
	int consumer = check_operator(net, statement);
	struct row_range rows = check_rows_gathered(&net->nodes[consumer], (struct row_range){statement->lo, statement->hi});

	uses[0] = (struct row_use){SCHED_GRAD, consumer, rows};
	if (net->nodes[consumer].op != NET_RELU)
		return 1;
	uses[1] = (struct row_use){statement->with == SCHED_WITH_MASK ? SCHED_MASK : SCHED_ACT, consumer, rows};
	return 2;
}

int check_reads(const struct net *net, const struct sched_statement *statement, struct row_use uses[CHECK_USES_MAX])
{
	const struct net_node *node = &net->nodes[statement->node];
	struct row_range rows = {statement->lo, statement->hi};

	switch (statement->op) {
	case SCHED_KEEP:
	case SCHED_STORE:
		uses[0] = (struct row_use){statement->tensor, statement->node, rows};
		return 1;
	case SCHED_ACCUMULATE:
		uses[0] = (struct row_use){SCHED_GRAD, statement->node, rows};
		uses[1] = (struct row_use){SCHED_ACT, node->inputs[0], check_rows_read(node, rows)};
		return 2;
	case SCHED_COMPUTE:
		if (statement->tensor == SCHED_GRAD)
			return gradient_reads(net, statement, uses);
		uses[0] = (struct row_use){SCHED_ACT, node->inputs[0], check_rows_read(node, rows)};
		return 1;
	default:
		return 0;
	}
}

int check_fills(const struct net *net, const struct sched_statement *statement, struct row_use uses[CHECK_USES_MAX])
{
	struct row_range rows = {statement->lo, statement->hi};

	if (statement->op != SCHED_LOAD && statement->op != SCHED_TAKE && statement->op != SCHED_COMPUTE)
		return 0;
	uses[0] = (struct row_use){statement->tensor, statement->node, rows};
	if (statement->op != SCHED_COMPUTE || statement->tensor != SCHED_ACT || net->nodes[statement->node].op != NET_RELU ||
	    statement->with != SCHED_WITH_MASK)
		return 1;
	uses[1] = (struct row_use){SCHED_MASK, statement->node, rows};
	return 2;
}
