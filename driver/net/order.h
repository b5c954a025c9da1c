// SPDX-License-Identifier: Apache-2.0
//
// The order of execution.
#ifndef WC_NET_ORDER_H
#define WC_NET_ORDER_H

#include "driver/net/net.h"

// The stable topological order of a network whose nodes name producers anywhere in it: of the nodes whose producers
// are done, the one that stands first is next. order[0..node_count) are indices. 0, or WC_ERR_SYSTEM. Where there is a
// cycle, *cycle_count > 0 and order[0..*cycle_count) are the nodes on it instead, each a producer of the next and
// the last of the first, beginning with the one that stands first.
int net_order(const struct net *net, int order[], int *cycle_count, struct wc_error *err);

#endif
