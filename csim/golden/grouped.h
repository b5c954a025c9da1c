// SPDX-License-Identifier: Apache-2.0
//
// Grouped and depthwise convolutions: the operators of ordered.h once per group, on copies of the group's channels.
//
// `conv` has the channels of all groups; group g reads input channels [g in_c / groups, (g + 1) in_c / groups) and makes output
// channels likewise. Weights and their gradients are [out_c][R][S][in_c / groups], a group's in one piece. Depthwise: groups =
// in_c. The order of the sums is that of ordered.h with the group's channels as the channels. The bias gradient knows no groups:
// golden_bias_gradient_add().
//
// Errors as in ordered.h, WC_ERR_INPUT also if the groups do not divide the channels.
#ifndef WC_GOLDEN_GROUPED_H
#define WC_GOLDEN_GROUPED_H

#include <stdint.h>

#include "csim/golden/conv.h"
#include "traces/error.h"

// One group's convolution.
static inline struct golden_conv golden_group_conv(const struct golden_conv *conv, int groups)
{
	struct golden_conv group = *conv;

	group.in_c /= groups;
	group.out_c /= groups;
	return group;
}

// Channels [first, first + count) of `pixels` pixels of `channels` channels, made dense; and back into their place.
void golden_group_gather(const uint16_t *tensor, size_t pixels, int channels, int first, int count, uint16_t *group);
void golden_group_scatter(const uint16_t *group, size_t pixels, int channels, int first, int count, uint16_t *tensor);

// `bias` may be NULL.
int golden_grouped_forward(const struct golden_conv *conv, int groups, int rows, const uint16_t *x, const uint16_t *w,
			   const uint16_t *bias, struct golden_range range, uint16_t *y, struct wc_error *err);
int golden_grouped_data_gradient(const struct golden_conv *conv, int groups, int rows, const uint16_t *dy, const uint16_t *w,
				 struct golden_range range, uint16_t *dx, struct wc_error *err);
int golden_grouped_weight_gradient_add(const struct golden_conv *conv, int groups, int rows, const uint16_t *x,
				       const uint16_t *dy, struct golden_range cut, float *sums, struct wc_error *err);

#endif
