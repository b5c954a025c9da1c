// SPDX-License-Identifier: Apache-2.0
//
// Images with labels that training draws mini-batches from: Fashion-MNIST, or .npy files.
//
// Fashion-MNIST's 28x28x1 images stand in the middle of a larger input, black pixels round them, and every channel gets the same pixel. Images of a
// file have the network's input shape. Pixels become numbers as in data.h.
//
// Samples are drawn epoch after epoch, each in an order of its own, so that draw d is sample order(d / count)[d % count]; a batch may reach into
// the next epoch. The order of epoch e is a Fisher-Yates shuffle, i from count - 1 to 1, by random.h's stream 2^32 + e: sample i changes places with
// bits(i) mod (i + 1).
#ifndef WC_DATASET_H
#define WC_DATASET_H

#include "driver/host/data.h"
#include "traces/npy.h"

#define DATASET_FASHION_MNIST "fashion-mnist"

struct dataset {
	const struct net *net; // borrowed; whose input the images fill
	const char *from;      // "fashion-mnist" or "file"; static
	uint32_t count;        // samples, at least one
	struct net_shape shape; // of an image
	enum npy_type type;    // of its elements: float16, float32 or uint8
	void *images;          // [count] dense NHWC, owned
	int32_t *labels;       // [count], each below the network's classes, owned
	uint64_t seed, epoch;  // of the order that is there
	uint32_t *order;       // [count], owned; NULL: none yet
};

// `name`: "fashion-mnist" (its training images, or those for tests) or a file of images; `labels`: the file of its labels, [N] int32, int64 or uint8;
// NULL: X.labels.npy for X.npy. The network ends with a loss. WC_ERR_INPUT: a file that is missing, malformed, of another shape or type or not
// finite in fp16; a label that is none of the network's classes: file, index, value, limit.
int dataset_open(struct dataset *dataset, const char *name, const char *labels, bool test, const struct net *net, struct wc_error *err);
void dataset_release(struct dataset *dataset);
// The name of the labels' file for that of the images; WC_ERR_INPUT if it does not fit.
int dataset_labels_beside(const char *images, char *path, size_t size, struct wc_error *err);

// Sample `index` as the network's input, dense.
void dataset_image(const struct dataset *dataset, uint32_t index, uint16_t *image);
// Fill the images and labels of `data` with draws first .. first + batch - 1. WC_ERR_SYSTEM without memory.
int dataset_draw(struct dataset *dataset, uint64_t seed, uint64_t first, struct data *data, struct wc_error *err);

#endif
