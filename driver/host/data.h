// SPDX-License-Identifier: Apache-2.0
//
// What a run starts from: images, weights and the gradient of the network's output, all fp16.
//
// Images: a .npy file, or Fashion-MNIST's first training images for a 28x28x1 network, or normal numbers from
// the seed. Pixels (uint8) become (pixel / 255 - 0.2860) / 0.3530, rounded once to fp16.
// Weights: .npy files, or normal numbers times sqrt(2 / (C R S)) (He et al. 2015, equation 10).
// Biases and betas: normal numbers / 10; gammas 1 plus such, so that each element is a number of its own; or, as training usually begins,
// zeros and ones, the weights of the layer before the loss a tenth. A network that ends with a loss has labels, uniform over the classes,
// and else an output gradient: a .npy file, or normal numbers.
// Random streams (random.h): 0 images, 1 output gradient or labels, 2 + node the weights of a node, 2 + node_count + 2 node its bias or gamma, one
// more its beta; the element's index in the dense tensor.
//
// Training changes them from step to step, in place: an optimizer the parameters, who feeds the run the images and labels.
#ifndef WC_DATA_H
#define WC_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/net/net.h"

#define DATA_FASHION_MNIST "/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz"
#define DATA_FASHION_MNIST_LABELS "/usr/share/datasets/fashion-mnist/train-labels-idx1-ubyte.gz"
#define DATA_FASHION_MNIST_TEST "/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz"
#define DATA_FASHION_MNIST_TEST_LABELS "/usr/share/datasets/fashion-mnist/t10k-labels-idx1-ubyte.gz"

struct data_options {
	uint64_t seed;
	const char *input;    // NHWC float16, float32 or uint8, at least `batch` samples; NULL: see above
	const char *weights;  // directory with NODE.weight.npy or NODE.weight.krsc.npy (float16, float32) and, if they are there, NODE.bias.npy, NODE.gamma.npy,
	                      // NODE.beta.npy; NULL: from the seed
	const char *gradient; // NHWC float16 or float32; NULL: from the seed
	bool plain;           // as training begins: biases and betas are 0, gammas 1
	bool blank;           // images and labels are zeros: who trains puts them there
	// Told in one line what is right and yet surprising: values of a file that are not finite as fp16. May be NULL.
	void (*note)(void *context, const char *text);
	void *note_context;
};

struct data {
	const struct net *net; // borrowed
	int batch;
	const char *images_from; // "fashion-mnist", "file" or "random"; static. Of blank data "blank"
	uint16_t *images;        // dense NHWC, owned
	uint16_t *gradient;      // of the last node's output, dense NHWC, owned; NULL if that is a loss
	int32_t *labels;         // [batch], owned; NULL if there is no loss
	float loss_scale;        // what the loss's gradient is multiplied with, so that it does not vanish in fp16
	uint16_t **weights;      // [node_count] dense KRSC, owned; NULL where the node is neither convolution nor fully connected layer
	uint16_t **bias, **gamma, **beta; // [node_count] [channels], owned; NULL where the node has none
};

// WC_ERR_INPUT: a file that is missing (other than weights: one whose master, see parameters.h, is there), malformed, of another shape or type, or under
// both of its names; the message gives both shapes.
int data_init(struct data *data, const struct net *net, int batch, const struct data_options *options, struct wc_error *err);
void data_release(struct data *data);

// A pixel as fp16.
uint16_t data_pixel(uint8_t pixel);

// Elements of a node's output for the whole batch.
uint64_t data_count(const struct net *net, int node, int batch);

#endif
