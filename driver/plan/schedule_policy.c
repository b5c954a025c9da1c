// SPDX-License-Identifier: Apache-2.0
//
// How a node's parameters, or their gradients, pass through the buffer in a group: `weight` and `wgrad`.
#include "driver/plan/schedule_parser.h"

#include <string.h>

// A slice, of filters and of biases, starts where a beat starts, and where a group of the convolution does.
static int check_slice(struct parser *parser, const struct net_node *node, int slice, int element_bytes)
{
	const int64_t bias_bytes = (int64_t)slice * element_bytes, bytes = net_weights(node) / node->out.channels * bias_bytes;

	if (slice < node->out.channels && node->conv.groups > 1 && slice % (node->out.channels / node->conv.groups))
		return parser_fail(parser, "slice %d of '%s' cuts a group, each of which has %d output channels", slice, node->name,
				   node->out.channels / node->conv.groups);
	if (slice < node->out.channels && bytes % parser->schedule->bus_bytes)
		return parser_fail(parser, "slice %d of '%s' takes %lld bytes, not a multiple of the bus of %u", slice, node->name, (long long)bytes,
				   parser->schedule->bus_bytes);
	if (slice < node->out.channels && node->bias && bias_bytes % parser->schedule->bus_bytes)
		return parser_fail(parser, "slice %d of '%s' has %lld bytes of bias, not a multiple of the bus of %u", slice, node->name,
				   (long long)bias_bytes, parser->schedule->bus_bytes);
	return 0;
}

int parser_policy(struct parser *parser, struct sched_policy *policies, int element_bytes)
{
	const struct net_node *node;
	struct sched_policy *policy;
	int index;

	if (parser_expect_words(parser, 3, 5) || parser_node(parser, parser->words[1], &index))
		return WC_ERR_INPUT;
	node = &parser->net->nodes[index];
	if (!net_parameters(node) || index < parser->group->first || index > parser->group->last)
		return parser_fail(parser, "'%s' is not a node of this group with weights", node->name);
	policy = &policies[index];
	if (policy->resident || policy->slice || policy->blocked)
		return parser_fail(parser, "'%s %s' given twice", parser->words[0], node->name);
	if (!strcmp(parser->words[2], "blocked") && element_bytes == 2) {
		policy->blocked = true;
		return parser_expect_words(parser, 3, 3) ? WC_ERR_INPUT : parser_expect_paper(parser, "blocked");
	}
	if (strcmp(parser->words[2], "resident") && strcmp(parser->words[2], "streamed"))
		return parser_fail(parser, "'%.64s' must be resident or streamed", parser->words[2]);
	policy->resident = *parser->words[2] == 'r';
	if (parser->count == 3)
		return 0;
	if (parser->count == 4 || strcmp(parser->words[3], "slice"))
		return parser_fail(parser, "expected 'slice' and a number of output channels behind '%s'", parser->words[2]);
	if (policy->resident && parser->schedule->accounting == SCHED_DEVICE)
		return parser_fail(parser, "what is resident is not streamed in slices");
	if (!policy->resident && parser->schedule->accounting == SCHED_PAPER)
		return parser_fail(parser, "'streamed slice' belongs to 'accounting device'");
	if (!policy->resident && node->op == NET_GN)
		return parser_fail(parser, "gamma and beta of '%s' pass whole, not in slices", node->name);
	if (parser_int(parser, "slice", parser->words[4], 1, node->out.channels, &policy->slice))
		return WC_ERR_INPUT;
	return policy->resident ? 0 : check_slice(parser, node, policy->slice, element_bytes);
}
