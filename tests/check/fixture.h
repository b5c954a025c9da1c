// SPDX-License-Identifier: Apache-2.0
//
// Small networks and hand-written schedules for the checker's tests.
#ifndef FIXTURE_H
#define FIXTURE_H

#include "driver/plan/check/check.h"

struct fixture_layer {
	const char *name;
	int kernel, stride, pad, channels; // kernel 0: a ReLU
	int dilation;                      // 0 is 1
};

// A chain behind an image node "image". net_release() frees it.
void fixture_net(struct net *net, struct net_shape image, const struct fixture_layer *layers, int count);

// image 16x16x2, conv1 3x3 pad 1 -> 4, relu1, conv2 3x3 pad 1 -> 4: the network of the texts below.
void fixture_small_net(struct net *net);
// image 224x8x1 and two 3x3 pad-1 convolutions, one channel each.
void fixture_tall_net(struct net *net);

// Complete schedules of the small network, batch 3, forward and backward, by hand.
extern const char fixture_layerwise[]; // a group per layer; ReLU gradient from the stored output
extern const char fixture_serialized[]; // one group of sub-batch 2, masks
extern const char fixture_overl[];     // two strips with halos, recomputed in backward
extern const char fixture_2ps[];       // two strips with boundaries, backward in reverse order

// Parse; fails the test if the text cannot be read.
void fixture_schedule(struct schedule *schedule, const struct net *net, const char *text);
// `text` with the `nth` (from 0) occurrence of `from` replaced; fails the test if there is none. Caller frees.
char *fixture_replace(const char *text, const char *from, int nth, const char *to);
// Parse and check in one; the return value of schedule_check().
int fixture_check(const char *text, const struct net *net, struct check_result *result);
// Fail the test, with the checker's message, unless the text is proven.
void fixture_expect_proven(const char *text, const struct net *net, struct check_result *result);

#endif
