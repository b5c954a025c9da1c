// SPDX-License-Identifier: Apache-2.0
//
// What a training step needs of DRAM when everything of it lives there, as LR-CNN counts it (Wang et al., 2024, arXiv 2401.11471,
// sections 3 to 5): a model of forms of execution, not of schedules (those have account_footprint()).
//
//   column          layer by layer. Kept for backward: inputs of convolutions, fully connected layers and normalizations,
//                   masks of ReLUs (1 bit), indices of max pools.
//   checkpoint-sqrt the network in ceil(sqrt(n)) segments of n units; forward keeps the segments' inputs alone, backward runs a segment
//                   forward again and then back (Chen et al., 2016, arXiv 1604.06174)
//   checkpoint      the same with the segments of least peak, by dynamic programming
//   overl, 2ps      the first segment in strips, the rest as column. Of a tiled segment there are its input, the gradients
//                   of its input and output, and one strip's feature maps and gradients; with 2ps also every line that a strip
//                   has saved for the next. The segment ends where the peak is least.
//   overl-h, 2ps-h  the network in segments with a kept tensor between, each in strips or run again as under checkpoint,
//                   so that the peak is least
//
// Live bytes are counted at every operator, of a forward pass and the backward pass behind it:
//
//   tensor        lives
//   input         of a segment: from its forward to the end of its backward
//   feature map   from its operator to its last reader; if a convolution, fc or normalization reads it, to the backward operator of the first of these
//   mask, index   from its operator to its backward operator
//   gradient      from the backward operator of the last reader, or, at the end of a segment, from the next one's, to that of its producer
//
// ReLUs, normalizations and adds work in place where their operand has its last use. A strip has the rows that its output rows need
// (overl), or those that it makes and the lines above them (2ps); its gradients have the same rows. Parameters have 2 bytes of weight and,
// for each core, 4 of gradient. The image counts, the loss does not.
//
// A unit is what lies between two places where one tensor alone goes on; ReLUs stay with what they read. Only convolutions, ReLUs,
// and max and average pools that follow each other can be tiled: a normalization needs the statistics of whole samples.
#ifndef WC_PLAN_FOOTPRINT_MODEL_H
#define WC_PLAN_FOOTPRINT_MODEL_H

#include "driver/net/net.h"

enum footprint_form {
	FOOTPRINT_COLUMN,
	FOOTPRINT_CHECKPOINT_SQRT,
	FOOTPRINT_CHECKPOINT,
	FOOTPRINT_OVERL,
	FOOTPRINT_2PS,
	FOOTPRINT_OVERL_H,
	FOOTPRINT_2PS_H,
	FOOTPRINT_FORMS,
};

struct footprint {
	int cores;            // a mini-batch is a multiple of them
	uint64_t sample_bits; // of feature maps, gradients, masks and lines, one sample, at the peak
	uint64_t fixed_bytes; // parameters and their gradients on each core
	int segments;         // 1 for column
	int tiled;            // segments in strips
	int last;             // last node of the first tiled segment; 0: none
	int barrier;          // what ends the first run of layers that can be tiled; 0: nothing does
};

// "column", "checkpoint-sqrt", ... Static storage.
const char *footprint_form_name(enum footprint_form form);
// Whether the form has strips.
bool footprint_is_tiled(enum footprint_form form);

// Strips: as many as the last layer of a segment has rows, at most `strips`; no matter for forms without. 0 or WC_ERR_SYSTEM.
int footprint_model(struct footprint *footprint, const struct net *net, enum footprint_form form, int strips, int cores, struct wc_error *err);

// Bytes of a mini-batch.
uint64_t footprint_bytes(const struct footprint *footprint, uint64_t batch);
// The largest mini-batch that fits; 0: not even one sample on each core.
uint64_t footprint_largest_batch(const struct footprint *footprint, uint64_t dram_bytes);
// The largest image of a network, by name or file, whose step fits, up to NET_IMAGE_MAX; 0: none does. Footprints are taken to grow with
// the image. WC_ERR_INPUT if the network cannot be opened.
int footprint_largest_image(const char *net_name, enum footprint_form form, int strips, int batch, int cores, uint64_t dram_bytes, int *image,
			    struct wc_error *err);

#endif
