// SPDX-License-Identifier: Apache-2.0
//
// Which values bytes in DRAM or in the global buffer stand for, so that the golden model can say what they must be: a tensor's rows, or
// what an operator makes on the way to them.
#ifndef WC_VALUE_H
#define WC_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/net/net.h"
#include "driver/plan/device/program.h"

enum { VALUE_ONES = 8 }; // elements of SLAB_ONES that mean something

struct value {
	enum slab_kind kind;
	int node;  // as a slab's
	// SLAB_GRAD, SLAB_PART, SLAB_WIDE: index in the node's consumers. They add their parts from the last to the first: of SLAB_GRAD, the one
	// that has done so last, 0 when the gradient is complete; of the others, whose part it is.
	int reader;
	// SLAB_ACT of an add: inputs that are in the sum, 0 when all are. SLAB_WGRAD, SLAB_BIAS_WGRAD, SLAB_PARAMETERS_WGRAD: the cut that was added last. SLAB_WIDE: output channels of the reader that are in
	// the sum. SLAB_UPDATE_GRADIENT: 1 as long as it is core 0's alone, 0 when all cores' gradients are in it. SLAB_UPDATE_STATE: 0 before the update, 1 behind it.
	int stage;
	enum parameter_array array; // SLAB_CORE_GRADIENT to SLAB_UPDATE_WEIGHT
	int core; // SLAB_WGRAD, SLAB_BIAS_WGRAD, SLAB_PARAMETERS_WGRAD, SLAB_CORE_GRADIENT: whose
};

// How they are counted: rows (of each sample, if there are samples; output channels of filters and biases, samples of the loss; else one), in a
// row vectors of elements. A vector is dense: its first element, in a row's bytes, is what the bus pads vectors to.
//   feature maps        rows y of samples, one vector of W C elements in (w, c) order; a mask's have its bits
//   filters             a row is an output channel, R S C elements; of biases one
//   normalization       gamma, beta; mean, reciprocal deviation; ...: vectors of C elements, as enum slab_kind lists them
//   labels, losses      a row is a sample, one element; SLAB_SOFTMAX: one row, three vectors of batch elements
//   reduction, update   one row of the array's elements; SLAB_UPDATE_STATE: two vectors, masters and momenta
struct value_shape {
	bool samples;
	int rows, vectors;
	uint64_t count; // elements of a vector
	int bits;       // of an element: 1 to 8, 16 or 32
};

struct value_shape value_shape_of(const struct net *net, int batch, const struct value *value);
// Elements of vector `vector` that mean something are those at multiples of this: 1, but for sums over groups of channels, which stand in
// each group's first one.
int value_step(const struct net *net, const struct value *value, int vector);
// The bytes of a dense vector; of fields of bits, those up to the last one's byte.
static inline uint64_t value_vector_bytes(const struct value_shape *shape)
{
	return (shape->count * (uint64_t)shape->bits + 7) / 8;
}

// Element `i` of dense elements of `bits` bits.
uint32_t value_bits(const uint8_t *bytes, int bits, uint64_t i);

// Filters or their gradient; a feature map.
bool value_is_filters(enum slab_kind kind);
bool value_is_map(enum slab_kind kind);
// Parameters, their gradients, or numbers of the loss: not rows of samples.
bool value_is_parameters(enum slab_kind kind);

// Elements of an array of parameters: of the reduction and the update.
static inline bool value_is_array(enum slab_kind kind)
{
	return kind >= SLAB_CORE_GRADIENT && kind <= SLAB_UPDATE_WEIGHT;
}

// "act:relu2", "weight gradient of conv3", "part of grad:relu1 by conv4".
void value_name(const struct net *net, const struct value *value, char *text, size_t size);

#endif
