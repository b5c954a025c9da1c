// SPDX-License-Identifier: Apache-2.0
//
// The bits of softmax cross-entropy and its gradient, sample by sample over K classes. Operations are binary32, rounded once
// each; exp, log and reciprocal are those of scalar.h; NaNs are canonical.
//
//     m = the first of the largest z, or the first NaN
//     e_k = exp(z_k - m);  sum = e_0 + e_1 + ..., from +0, k ascending
//     p_k = e_k * reciprocal(sum)
//     loss = log(sum) - (z_label - m)
//     dz_k = fp16((p_k - (k is the label ? 1 : 0)) * scale)
//
// The sum is at least 1, e of the largest, and at most K. `scale` is the loss scale over the batch. The loss itself is not
// scaled.
#ifndef WC_GOLDEN_LOSS_H
#define WC_GOLDEN_LOSS_H

#include <stddef.h>
#include <stdint.h>

#include "traces/error.h"

struct golden_loss {
	int batch, classes;
	float scale;
};

// z and dz: [batch][classes] fp16 bits; labels and losses: [batch]. dz may be z; losses or dz may be NULL. WC_ERR_INPUT with
// nothing written if there are no samples or classes, or a label is none of them.
int golden_softmax_loss(const struct golden_loss *loss, const uint16_t *z, const int32_t *labels, float *losses, uint16_t *dz,
			struct wc_error *err);

// What the loss has on the way, of each sample: m, reciprocal(sum), log(sum).
struct golden_softmax {
	float largest, reciprocal, logarithm;
};

// [batch]; z as above. WC_ERR_INPUT without samples or classes.
int golden_softmax(const struct golden_loss *loss, const uint16_t *z, struct golden_softmax *softmax, struct wc_error *err);

#endif
