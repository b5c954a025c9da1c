// SPDX-License-Identifier: Apache-2.0
//
// Inside csim/golden: which positions a pooling window covers along one axis, and which windows cover a position.
#ifndef WC_GOLDEN_WINDOW_H
#define WC_GOLDEN_WINDOW_H

// [lo, hi); empty if hi <= lo.
struct window_span {
	int lo, hi;
};

// Taps of window `out` that lie inside the image.
static inline struct window_span window_taps(int out, int in, int kernel, int stride, int pad)
{
	int first = out * stride - pad;

	return (struct window_span){first < 0 ? -first : 0, first + kernel > in ? in - first : kernel};
}

// Windows of `out` that cover position `at`.
static inline struct window_span window_covering(int at, int out, int kernel, int stride, int pad)
{
	int from = at + pad - kernel + 1; // the first position of the earliest window
	int last = (at + pad) / stride;

	return (struct window_span){from > 0 ? (from + stride - 1) / stride : 0, last < out ? last + 1 : out};
}

// Positions that adaptive window `out` of `count` covers.
static inline struct window_span window_adaptive(int out, int in, int count)
{
	return (struct window_span){(int)((long long)out * in / count), (int)((((long long)out + 1) * in + count - 1) / count)};
}

// Adaptive windows that cover position `at`: the last begins not behind it, o in / count < at + 1; the first ends behind it,
// (o + 1) in / count > at.
static inline struct window_span window_adaptive_covering(int at, int in, int count)
{
	return (struct window_span){(int)((long long)at * count / in), (int)((((long long)at + 1) * count + in - 1) / in)};
}

#endif
