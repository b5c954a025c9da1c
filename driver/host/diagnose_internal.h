// SPDX-License-Identifier: Apache-2.0
//
// Shared by the parts of the diagnosis.
#ifndef WC_DIAGNOSE_INTERNAL_H
#define WC_DIAGNOSE_INTERNAL_H

#include <stdarg.h>

#include "driver/host/diagnose.h"
#include "traces/alloc.h"

enum { WHERE_BYTES = 128 }; // of what layout_describe() says about an address

// Append a line to the text.
void diagnosis_say(struct diagnosis *diagnosis, const char *format, ...) __attribute__((format(printf, 2, 3)));
void diagnosis_at(struct diagnosis *diagnosis, enum diagnosis_stage stage, uint64_t address);

// Byte of an element of a feature map or of filters in its slab, and of any element in DRAM.
uint64_t diagnose_buffer_address(const struct program *program, const struct slab *slab, const struct mismatch_element *element);
uint64_t diagnose_memory_address(const struct diagnose_context *context, const struct mismatch_element *element);
// Its byte among rows.
uint64_t diagnose_rows_address(const struct op_rows *rows, const struct mismatch_element *element);
// Its bits, of those that begin at its byte.
uint32_t diagnose_value(const struct op_rows *rows, const struct mismatch_element *element, const uint8_t *bytes);

void diagnose_vector(const struct diagnose_context *context, const struct mismatch *mismatch, struct diagnosis *diagnosis);
void diagnose_tile(const struct diagnose_context *context, const struct mismatch *mismatch, struct diagnosis *diagnosis);

#endif
