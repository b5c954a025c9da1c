// SPDX-License-Identifier: Apache-2.0
//
// A small network with every operator that a training step has, odd in its sizes.
#ifndef WC_TESTS_HOST_WHOLE_NET_H
#define WC_TESTS_HOST_WHOLE_NET_H

// Three readers of one tensor, an add of three, a concatenation of three that two read, pools of both kinds with overlapping and with
// missing windows, groups of 3 and of 12 channels, biases.
static const char whole_net[] = "name: whole\ninput: {height: 13, width: 11, channels: 3}\nnodes:\n"
				"  - {name: c1, op: conv, channels: 12, kernel: 3, pad: 1, bias: true}\n"
				"  - {name: n1, op: gn, group_channels: 3}\n  - {name: r1, op: relu}\n"
				"  - {name: p1, op: max_pool, kernel: 3, stride: 2, pad: 1}\n"
				"  - {name: c2, op: conv, input: p1, channels: 12, kernel: 3, pad: 1}\n"
				"  - {name: c3, op: conv, input: p1, channels: 12, kernel: 1}\n"
				"  - {name: a1, op: add, inputs: [c2, c3, p1]}\n"
				"  - {name: n2, op: gn, group_channels: 12}\n  - {name: r2, op: relu}\n"
				"  - {name: c4, op: conv, input: r2, channels: 5, kernel: 3, pad: 1}\n"
				"  - {name: p2, op: avg_pool, input: r2, kernel: 3, stride: 1, pad: 1}\n"
				"  - {name: cat, op: concat, inputs: [c4, p2, r2]}\n"
				"  - {name: c5, op: conv, input: cat, channels: 7, kernel: 2, stride: 2}\n"
				"  - {name: p3, op: avg_pool, input: cat, kernel: 2, stride: 3}\n"
				"  - {name: c6, op: conv, input: p3, channels: 7, kernel: 1, bias: true}\n"
				"  - {name: g1, op: global_pool, input: c6}\n"
				"  - {name: f1, op: fc, input: c5, units: 7, bias: true}\n"
				"  - {name: a2, op: add, inputs: [f1, g1]}\n  - {name: r3, op: relu}\n"
				"  - {name: f2, op: fc, units: 5, bias: true}\n  - {name: loss, op: loss}\n";

#endif
