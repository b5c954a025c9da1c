// SPDX-License-Identifier: Apache-2.0
//
// DPI entry points of the array macro; rtl/sim/array_dpi.sv is their only caller. Vectors are packed as the DPI standard's
// svBitVecVal, 32 bits per word, least significant first.
#ifndef WC_ARRAY_DPI_H
#define WC_ARRAY_DPI_H

#include <stdint.h>

// Id of a new instance, or negative after a message on stderr.
int array_dpi_create(const char *name, int rows, int cols, int mac_stages);
void array_dpi_free(int id);
void array_dpi_reset(int id);

// One enabled clock edge. Bit 0 of the result: something is still in flight; bit 1: the window is on.
int array_dpi_step(int id, const uint32_t *a, const uint32_t *a_valid, const uint32_t *a_sel, const uint32_t *w,
		   const uint32_t *w_en, const uint32_t *w_sel, uint32_t *psum, uint32_t *psum_valid);

// The window of 4 x 4 PEs after the last step: 16 x 32, 16 x 16, 16 x 16, 16 x 16 and 16 bits, and where its first PE lies.
void array_dpi_window(int id, uint32_t *psum, uint32_t *w0, uint32_t *w1, uint32_t *a, uint32_t *valid, int *row, int *col);

#endif
