// SPDX-License-Identifier: Apache-2.0
//
// Small helpers round jansson.
#include "traces/wct_json.h"

#include <errno.h>
#include <string.h>

#include "traces/alloc.h"

json_t *wct_json_u64(uint64_t value)
{
	return value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

static bool is_ascii(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text >= 0x80)
			return false;
	}
	return true;
}

// jansson does not tell text that is no UTF-8 from a failed allocation; for ASCII it can only be the latter.
json_t *wct_json_text(const char *text)
{
	json_t *json = json_string(text);
	char *copy;

	if (json || is_ascii(text))
		return json;
	copy = wc_alloc(strlen(text) + 1, 1);
	if (!copy)
		return NULL;
	for (size_t i = 0; text[i]; i++)
		copy[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
	json = json_string(copy);
	wc_free(copy);
	return json;
}

bool wct_json_set(json_t *object, const char *key, json_t *value)
{
	return !json_object_set_new(object, key, value);
}

json_t *wct_json_counts(const uint64_t counts[WCT_KIND_END])
{
	json_t *object = json_object();

	for (int i = WCT_HEADER; i < WCT_KIND_END; i++) {
		if (counts[i] && !wct_json_set(object, wct_kind_name((enum wct_kind)i), wct_json_u64(counts[i]))) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

int wct_json_print(json_t *object, FILE *out, struct wc_error *err)
{
	bool written;
	const char *reason;

	if (!object)
		return wc_fail(err, WC_ERR_SYSTEM, "cannot write JSON: out of memory");
	written = !json_dumpf(object, out, JSON_COMPACT) && fputc('\n', out) != EOF;
	reason = ferror(out) ? strerror(errno) : "out of memory";
	json_decref(object);
	return written ? 0 : wc_fail(err, WC_ERR_SYSTEM, "cannot write JSON: %s", reason);
}
