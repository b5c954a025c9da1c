// SPDX-License-Identifier: Apache-2.0
//
// One event as a line of text or as a JSON object.
#ifndef WC_WCT_TEXT_H
#define WC_WCT_TEXT_H

#include <jansson.h>
#include <stdio.h>

#include "traces/wct.h"

// Print the event and a newline; with `data` a line of hexadecimal values for each row of a tile. Failed writes are left to `out`.
void wct_event_print(const struct wct_event *event, bool data, FILE *out);

// A new object with the same names, or NULL: out of memory.
json_t *wct_event_json(const struct wct_event *event, bool data);

#endif
