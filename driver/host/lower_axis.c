// SPDX-License-Identifier: Apache-2.0
//
// One axis of a residue class; see lower_axis.h.
#include "driver/host/lower_axis.h"

static int gcd(int a, int b)
{
	return b ? gcd(b, a % b) : a;
}

struct lower_axis lower_axis_of(int residue, int lo, int hi, int kernel, int stride, int pad, int dilation)
{
	const int first = lo + ((residue - lo) % stride + stride) % stride;
	const int divisor = gcd(stride, dilation);
	struct lower_axis axis = {
		.first = first,
		.step = stride,
		.count = first < hi ? (hi - first + stride - 1) / stride : 0,
		.tap_step = stride / divisor,
		.tap_position = -(dilation / divisor),
	};
	int r = 0;

	while (r < kernel && (residue + pad - r * dilation) % stride != 0)
		r++;
	if (r < kernel) {
		axis.tap_first = r;
		axis.taps = (kernel - 1 - r) / axis.tap_step + 1;
		axis.position = (first + pad - r * dilation) / stride;
	}
	return axis;
}
