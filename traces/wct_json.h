// SPDX-License-Identifier: Apache-2.0
//
// What the JSON forms of dump, stat and diff share.
#ifndef WC_WCT_JSON_H
#define WC_WCT_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "traces/error.h"
#include "traces/wct.h"

// A number; beyond 63 bits, where jansson's integers end, a real one.
json_t *wct_json_u64(uint64_t value);

// A string; bytes that are no UTF-8 become '?'.
json_t *wct_json_text(const char *text);

// {kind: count} of the counts that are not 0.
json_t *wct_json_counts(const uint64_t counts[WCT_KIND_END]);

// json_object_set_new() for a chain of them: false once a value was NULL or memory ran out.
bool wct_json_set(json_t *object, const char *key, json_t *value);

// Write `object` as one line and drop it. NULL or a failed write: WC_ERR_SYSTEM.
int wct_json_print(json_t *object, FILE *out, struct wc_error *err);

#endif
