// SPDX-License-Identifier: Apache-2.0
//
// NumPy .npy files, version 1.0, C order, little-endian: how tensors enter and leave the project.
//
//   offset 0  "\x93NUMPY", version 1, 0, header length H (u16)
//   offset 10 H bytes: {'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), } spaces "\n"
//   offset 10 + H  the elements, last dimension fastest
//
// Source: numpy.lib.format, "Format Version 1.0".
#ifndef WC_NPY_H
#define WC_NPY_H

#include <stddef.h>
#include <stdint.h>

#include "traces/error.h"

enum npy_type {
	NPY_FLOAT16, // '<f2', held as its bits in uint16_t
	NPY_FLOAT32, // '<f4'
	NPY_UINT8,   // '|u1'
	NPY_UINT16,  // '<u2'
	NPY_INT32,   // '<i4'
	NPY_INT64,   // '<i8'
	NPY_TYPE_COUNT
};

enum { NPY_DIMS_MAX = 5 };

struct npy_array {
	enum npy_type type;
	int dims;                     // 0 (one element) to NPY_DIMS_MAX
	uint64_t shape[NPY_DIMS_MAX]; // elements per dimension, 0 allowed; [dims..] unused
	void *data;                   // owned: the product of the shape, allocated with wc_alloc()
};

size_t npy_element_bytes(enum npy_type type);

// The name a message uses: "float16", "float32", "uint8", "uint16", "int32", "int64".
const char *npy_type_name(enum npy_type type);

// Read a whole file. Fills `array`, which the caller releases, or leaves it empty.
// WC_ERR_INPUT: no such file, not a .npy of version 1.0, Fortran order, another element type, more than
// NPY_DIMS_MAX dimensions, fewer or more data than the shape says. WC_ERR_SYSTEM: out of memory, failed read.
int npy_read(const char *path, struct npy_array *array, struct wc_error *err);

// The same for a reader that has no use for some types: bit t of `types` is set where enum npy_type t is wanted, and messages name only these.
int npy_read_types(const char *path, unsigned types, struct npy_array *array, struct wc_error *err);

// Write `array` (its data stay the caller's), replacing the file. The same array gives the same bytes that numpy.save() writes.
// WC_ERR_SYSTEM: the file cannot be created or written; a part of it may then be left, which npy_read() rejects.
int npy_write(const char *path, const struct npy_array *array, struct wc_error *err);

// Free the data and clear `array`; also of an array that was never filled, if it is zeroed.
void npy_release(struct npy_array *array);

#endif
