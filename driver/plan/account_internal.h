// SPDX-License-Identifier: Apache-2.0
//
// What the parts of the accounting for the device share: account.c counts groups and transfers, account_conv.c convolutions and
// what passes over pixels in classes, account_norm.c normalizations, account_whole.c the loss, the reduction and the update.
#ifndef WC_PLAN_ACCOUNT_INTERNAL_H
#define WC_PLAN_ACCOUNT_INTERNAL_H

#include "driver/plan/account.h"
#include "driver/plan/device/program.h"
#include "driver/plan/device/use.h"

// The group being counted.
struct count {
	const struct schedule *schedule;
	const struct sched_group *group;
	const struct net *net;
	int acc_rows;
	int samples;  // of the present iteration
	bool first_iteration;
	uint64_t times; // iterations like this one; each is counted once and multiplied
	int strip, statement;
	struct account *account;
};

// One command that moves so many bytes.
void account_add(struct count *count, bool write, enum wc_class class, uint64_t bytes, uint64_t payload_bytes);
static inline void account_commands(struct count *count, int64_t commands)
{
	count->account->commands += count->times * (uint64_t)commands;
}

// `vectors` of a normalization's channels, each rounded up to the bus, moved by one command.
void account_vectors(struct count *count, bool write, enum wc_class class, const struct net_node *node, int element_bytes, uint64_t vectors);

// Whether no earlier statement of the group, in this or an earlier iteration, has accumulated into the node.
bool account_is_first_cut(const struct count *count, int node);

void account_conv(struct count *count, const struct sched_statement *statement);
void account_conv_gradient(struct count *count, int node, struct rows rows);
void account_accumulate(struct count *count, const struct sched_statement *statement);
// The gradient of a pool with a window.
void account_pool_gradient(struct count *count, int node, struct rows rows);
// A normalization, forward or backward: what it needs beside its operands, and its sums if it makes them.
void account_norm(struct count *count, int node, struct rows rows, bool gradient);
void account_statistics(struct count *count, const struct sched_statement *statement);
// What runs beside the groups; count->group has no meaning. The loss of one core; the reduction of all cores' gradients, if there are
// several, and the update, if there is one.
void account_loss(struct count *count);
void account_parameters(struct count *count, int cores, bool update);
// Parameters, or their gradients, that stay over the group.
void account_resident(struct count *count, bool sums, int node);

#endif
