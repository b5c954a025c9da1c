// SPDX-License-Identifier: Apache-2.0
//
// IDX files as MNIST and Fashion-MNIST come, gzip-compressed or plain: images and labels.
//
//   offset 0  u8 0, u8 0, u8 element type (0x08: unsigned byte), u8 number of dimensions D
//   offset 4  D sizes, u32 big-endian, then the bytes, last dimension fastest
//
// Source: Y. LeCun, C. Cortes, C. Burges, "The MNIST database", file formats.
#ifndef WC_IDX_H
#define WC_IDX_H

#include <stdint.h>

#include "traces/error.h"

// No image is larger than this in either direction, and no file's data larger than IDX_BYTES_MAX: what a header
// may claim is bounded before memory is asked for.
enum { IDX_SIDE_MAX = 4096 };
#define IDX_BYTES_MAX ((uint64_t)1 << 31)

struct idx_data {
	uint32_t count;         // samples read
	uint32_t file_count;    // samples in the file
	uint32_t height, width; // of an image; 1, 1 for labels
	uint8_t *bytes;         // owned: count x height x width, allocated with wc_alloc()
};

// Read the first `limit` samples (0: all) of a file of images (3 dimensions) or labels (1 dimension). Fills `data`,
// which the caller releases, or leaves it empty.
// WC_ERR_INPUT: no such file, wrong magic, an empty or oversized dimension, fewer samples in the header than `limit`,
// data that end early, damaged compression, and, when all samples are read, data beyond the last one.
// Reading a part does not check what comes behind it, nor the gzip file's closing checksum.
int idx_read_images(const char *path, uint32_t limit, struct idx_data *data, struct wc_error *err);
int idx_read_labels(const char *path, uint32_t limit, struct idx_data *data, struct wc_error *err);

// Free the bytes and clear `data`; also of zeroed data.
void idx_release(struct idx_data *data);

#endif
