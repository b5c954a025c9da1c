// SPDX-License-Identifier: Apache-2.0
//
// Parameters as files, so that training can go on where it stopped. For every array of a node, ARRAY one of weight, bias, gamma, beta:
//
//   NODE.ARRAY.npy           float16, weights KRSC, others [channels]: what the next step computes with
//   NODE.ARRAY.master.npy    float32, of the same shape
//   NODE.ARRAY.momentum.npy  float32, of the same shape
//   samples.npy              int64 []: samples that training has drawn so far (dataset.h)
//
// The first ones are read by data_init().
#ifndef WC_PARAMETERS_H
#define WC_PARAMETERS_H

#include "driver/host/optimizer.h"

// Whether each of these files, and the one beside it (.new) that is written first, is not there or can be replaced: WC_ERR_INPUT names one that is no
// regular file.
int parameters_check(const struct net *net, const char *directory, struct wc_error *err);
// Make the directory, if it is not there. WC_ERR_INPUT if it cannot be made.
int parameters_prepare(const char *directory, struct wc_error *err);
// Call `each` with the name, in its directory, of every file above, until it returns other than 0: the result.
int parameters_names(const struct net *net, int (*each)(void *context, const char *name), void *context);
// Write all of them, beside those that are there, and only then replace them, samples.npy last. What fails says what the directory holds, and leaves
// nothing beside.
int parameters_save(const struct optimizer *optimizer, uint64_t samples, const char *directory, struct wc_error *err);
// Read the masters and momenta, and how many samples were drawn, if they are there; what is not stays as it is. WC_ERR_INPUT: a master or momentum that is
// missing where others are there, a file that is malformed or of another shape, a number that is not finite, or a master that does not round to the parameter that data_init() has read.
int parameters_load(struct optimizer *optimizer, uint64_t *samples, const char *directory, struct wc_error *err);

#endif
