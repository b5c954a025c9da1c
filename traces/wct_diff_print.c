// SPDX-License-Identifier: Apache-2.0
//
// The report of a comparison, for people and as JSON.
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "traces/wct_diff.h"
#include "traces/wct_json.h"
#include "traces/wct_value.h"

static const char *const difference_names[] = {
	[WCT_SAME] = "same",
	[WCT_DIFFERS] = "differs",
	[WCT_ONLY_IN_GOT] = "only_in_got",
	[WCT_ONLY_IN_EXPECTED] = "only_in_expected",
};

static void print_number(FILE *out, const char *name, int64_t number)
{
	if (number >= 0)
		fprintf(out, ", %s %" PRId64, name, number);
}

static void print_element(const struct wct_divergence *first, FILE *out)
{
	int digits = first->is_fp32 ? 8 : 4;

	fprintf(out, "  element (%" PRIu32 ", %" PRIu32 "), column %" PRIu32 "\n", first->m, first->n, first->n);
	fprintf(out, "  got 0x%0*" PRIx32 " (%.9g), expected 0x%0*" PRIx32 " (%.9g), ", digits, first->got,
		wct_value(first->got, first->is_fp32), digits, first->expected, wct_value(first->expected, first->is_fp32));
	if (first->ulps == WCT_ULPS_NAN)
		fprintf(out, "one is a NaN\n");
	else if (!first->ulps)
		fprintf(out, "zeros of other sign\n");
	else
		fprintf(out, "%" PRIu64 " ULP%s\n", first->ulps, first->ulps == 1 ? "" : "s");
}

static void print_first(const struct wct_divergence *first, FILE *out)
{
	fprintf(out, "first divergence: %s", wct_kind_name(first->kind));
	if (first->command != WCT_NO_COMMAND)
		fprintf(out, ", command %" PRIu32, first->command);
	if (first->core >= 0)
		fprintf(out, " of core %" PRId64, first->core);
	if (first->layer >= 0)
		fprintf(out, ", layer %" PRId32 " '%s'", first->layer, first->layer_name);
	if (first->phase != WCT_PHASE_NONE)
		fprintf(out, ", phase %s", wct_phase_name(first->phase));
	print_number(out, "sample", first->sample);
	if (first->tile_m >= 0 && first->tile_n >= 0)
		fprintf(out, ", tile (%" PRId64 ", %" PRId64 ")", first->tile_m, first->tile_n);
	// A tile is seen when it leaves the array, behind its last wave: not where the fault struck.
	print_number(out, first->kind == WCT_TILE ? "left the array with wave" : "wave", first->wave);
	if (first->has_cycle)
		fprintf(out, ", cycle %" PRIu64, first->cycle);
	fprintf(out, "\n  %s\n", first->text);
	if (first->has_element)
		print_element(first, out);
}

static void print_counts(FILE *out, const char *title, const uint64_t counts[WCT_KIND_END])
{
	const char *separator = "";

	for (int i = WCT_HEADER; i < WCT_KIND_END; i++) {
		if (!counts[i])
			continue;
		fprintf(out, "%s%" PRIu64 " %s", *separator ? separator : title, counts[i], wct_kind_name((enum wct_kind)i));
		separator = ", ";
	}
	if (*separator)
		fputc('\n', out);
}

int wct_diff_print(const struct wct_diff_report *report, FILE *out, struct wc_error *err)
{
	if (report->first.difference == WCT_SAME)
		fprintf(out, "no divergence\n");
	else
		print_first(&report->first, out);
	print_counts(out, "compared:                   ", report->compared);
	if (report->elements_compared)
		fprintf(out, "elements compared:          %" PRIu64 "\n", report->elements_compared);
	print_counts(out, "differing:                  ", report->differing);
	print_counts(out, "only in the first trace:    ", report->only_got);
	print_counts(out, "only in the second trace:   ", report->only_expected);
	print_counts(out, "not compared of the first:  ", report->not_compared_got);
	print_counts(out, "not compared of the second: ", report->not_compared_expected);
	if (report->got_is_cut || report->expected_is_cut)
		fprintf(out, "cut off:                    %s\n",
			report->got_is_cut ? report->expected_is_cut ? "both traces" : "the first trace" : "the second trace");
	if (fflush(out) || ferror(out))
		return wc_fail(err, WC_ERR_SYSTEM, "cannot write the report: %s", strerror(errno));
	return 0;
}

static json_t *number_or_null(int64_t number)
{
	return number >= 0 ? json_integer(number) : json_null();
}

static bool set_element(json_t *object, const struct wct_divergence *first)
{
	return wct_json_set(object, "m", json_integer(first->m)) && wct_json_set(object, "n", json_integer(first->n)) &&
	       wct_json_set(object, "column", json_integer(first->n)) &&
	       wct_json_set(object, "type", json_string(first->is_fp32 ? "fp32" : "fp16")) &&
	       wct_json_set(object, "got_bits", json_integer(first->got)) &&
	       wct_json_set(object, "expected_bits", json_integer(first->expected)) &&
	       wct_json_set(object, "ulps", first->ulps == WCT_ULPS_NAN ? json_null() : wct_json_u64(first->ulps)) &&
	       wct_json_set(object, "elements", wct_json_u64(first->elements)) &&
	       wct_json_set(object, "elements_differing", wct_json_u64(first->elements_differing));
}

static json_t *first_json(const struct wct_divergence *first)
{
	json_t *object;
	bool complete;

	if (first->difference == WCT_SAME)
		return json_null();
	object = json_object();
	complete = wct_json_set(object, "difference", json_string(difference_names[first->difference])) &&
		   wct_json_set(object, "event", json_string(wct_kind_name(first->kind))) &&
		   wct_json_set(object, "command", number_or_null(first->command == WCT_NO_COMMAND ? -1 : (int64_t)first->command)) &&
		   wct_json_set(object, "core", number_or_null(first->core)) && wct_json_set(object, "layer", number_or_null(first->layer)) &&
		   wct_json_set(object, "layer_name", first->layer >= 0 ? wct_json_text(first->layer_name) : json_null()) &&
		   wct_json_set(object, "phase", json_string(wct_phase_name(first->phase))) &&
		   wct_json_set(object, "sample", number_or_null(first->sample)) &&
		   wct_json_set(object, "tile_m", number_or_null(first->tile_m)) &&
		   wct_json_set(object, "tile_n", number_or_null(first->tile_n)) &&
		   wct_json_set(object, "wave", number_or_null(first->wave)) &&
		   wct_json_set(object, "cycle", first->has_cycle ? wct_json_u64(first->cycle) : json_null()) &&
		   wct_json_set(object, "text", wct_json_text(first->text)) && (!first->has_element || set_element(object, first));
	if (complete)
		return object;
	json_decref(object);
	return NULL;
}

int wct_diff_print_json(const struct wct_diff_report *report, FILE *out, struct wc_error *err)
{
	json_t *object = json_object();
	bool complete = wct_json_set(object, "first_divergence", first_json(&report->first)) &&
			wct_json_set(object, "compared", wct_json_counts(report->compared)) &&
			wct_json_set(object, "elements_compared", wct_json_u64(report->elements_compared)) &&
			wct_json_set(object, "differing", wct_json_counts(report->differing)) &&
			wct_json_set(object, "only_in_got", wct_json_counts(report->only_got)) &&
			wct_json_set(object, "only_in_expected", wct_json_counts(report->only_expected)) &&
			wct_json_set(object, "not_compared_got", wct_json_counts(report->not_compared_got)) &&
			wct_json_set(object, "not_compared_expected", wct_json_counts(report->not_compared_expected)) &&
			wct_json_set(object, "got_cut_off", json_boolean(report->got_is_cut)) &&
			wct_json_set(object, "expected_cut_off", json_boolean(report->expected_is_cut));

	if (!complete) {
		json_decref(object);
		object = NULL;
	}
	return wct_json_print(object, out, err);
}
