// SPDX-License-Identifier: Apache-2.0
//
// Whether an FST waveform was written to its end. Its writer, which Verilator brings along, reports no failed write: on a full disk a
// file is left that a viewer cannot read, or reads only in part.
//
// A file is a sequence of blocks up to its end:
//
//   offset 0  type (u8), offset 1  length (u64, big-endian, of all that follows the type)
//
// The first one is the header (type 0, length 329; at its offset 65 the number of blocks with values, u64, big-endian). A block that is being
// written has type 255. Geometry (3) and hierarchy (4, 6 or 7) are written last, when the file is closed.
// Source: the format as written and read by GTKWave's fstapi.c.
#ifndef WC_FST_H
#define WC_FST_H

#include "traces/error.h"

// 0: whole. WC_ERR_SYSTEM: it is cut off, or cannot be read; the message names the file, the offset and what is missing there.
int fst_check_whole(const char *path, struct wc_error *err);

#endif
