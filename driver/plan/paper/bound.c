// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/planner.h"

uint64_t paper_lower_bound(const struct net *net, int batch, int cores)
{
	const int last = net->node_count - 1, output = net->nodes[last].op == NET_LOSS ? net->nodes[last].inputs[0] : last;
	const uint64_t samples = 2 * (uint64_t)batch, passes = net->nodes[output].has_gradient ? 2 : 1;

	return samples * (uint64_t)paper_elements(&net->nodes[0]) + passes * samples * (uint64_t)paper_elements(&net->nodes[output]) +
	       4 * (uint64_t)cores * (uint64_t)net_total_parameters(net);
}
