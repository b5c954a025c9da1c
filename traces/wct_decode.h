// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a chunk's payload to events. Every length and number is checked; no input makes it read outside the payload.
#ifndef WC_WCT_DECODE_H
#define WC_WCT_DECODE_H

#include "traces/error.h"
#include "traces/strings.h"
#include "traces/wct.h"

// Zeroed, then wct_decoder_start().
struct wct_decoder {
	const uint8_t *at, *end; // what is left of the payload, borrowed
	struct string_table strings;
	uint64_t cycle;
	uint32_t command;
	enum wct_level level;    // of the file
	uint32_t events, kinds;  // decoded so far
	uint64_t cycle_min, cycle_max;
	uint32_t *bits;          // owned: data of the last tile
	uint64_t *row_cycles;    // owned
};

void wct_decoder_start(struct wct_decoder *decoder, const uint8_t *payload, size_t bytes, enum wct_level level);
void wct_decoder_release(struct wct_decoder *decoder);

static inline bool wct_decoder_at_end(const struct wct_decoder *decoder)
{
	return decoder->at == decoder->end;
}

// Decode the next event, whose pointers hold until the next call. On WC_ERR_INPUT or WC_ERR_SYSTEM (out of memory) *fault says
// what is wrong, in static storage, and the decoder is not to be asked again before another start.
int wct_decode(struct wct_decoder *decoder, struct wct_event *event, const char **fault);

#endif
