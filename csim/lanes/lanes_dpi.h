// SPDX-License-Identifier: Apache-2.0
//
// DPI entry points of the lanes' macro; rtl/sim/simd_lanes_dpi.sv is their only caller. Vectors are packed as the DPI standard's
// svBitVecVal, 32 bits per word, least significant first.
#ifndef WC_LANES_DPI_H
#define WC_LANES_DPI_H

#include <stdint.h>

// A new instance, or NULL after a message on stderr.
void *lanes_dpi_create(const char *name, int lanes);
void lanes_dpi_free(void *lanes);

void lanes_dpi_line(void *lanes, int slot, int high, const uint32_t *line);
// The arguments are those of struct lane_macro_inputs.
void lanes_dpi_fire(void *lanes, int code, int has_vector, int head, int type, int shift, int scalar_a, int scalar_b, int channel, int active,
		    const uint32_t *first);
// What the last operation gave, a word per lane.
void lanes_dpi_result(void *lanes, uint32_t *result);

#endif
