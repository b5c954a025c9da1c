// SPDX-License-Identifier: Apache-2.0
//
// Events to the bytes of a chunk's payload (README.md, "Events").
#ifndef WC_WCT_ENCODE_H
#define WC_WCT_ENCODE_H

#include "traces/error.h"
#include "traces/strings.h"
#include "traces/wct.h"

// A chunk in the making. Zeroed, then wct_encoder_clear().
struct wct_encoder {
	uint8_t *bytes; // owned
	size_t length, capacity;
	struct string_table strings;
	uint64_t cycle;   // of the last event that had one
	uint32_t command; // likewise
	uint32_t events, kinds;
	uint64_t cycle_min, cycle_max;
};

// Start an empty chunk.
void wct_encoder_clear(struct wct_encoder *encoder);
void wct_encoder_release(struct wct_encoder *encoder);

// Append one event, tile data only when `with_data`. WC_ERR_INPUT: the event is outside the format's limits and nothing is appended.
// WC_ERR_SYSTEM: out of memory, and the chunk is not to be used any more.
int wct_encode(struct wct_encoder *encoder, const struct wct_event *event, bool with_data, struct wc_error *err);

#endif
