// SPDX-License-Identifier: Apache-2.0
//
// A run against its prediction, and runs against each other.
#include <inttypes.h>
#include <string.h>

#include "driver/cli/run.h"

int run_compare_bytes(const struct run_result *result, const struct account *account, struct wc_error *err)
{
	for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++) {
		const bool read = result->read_bytes[class] != account->read_bytes[class];

		if (read || result->write_bytes[class] != account->write_bytes[class])
			return wc_fail(err, WC_ERR_MISMATCH, "DRAM bytes of class '%s' %s: the memory moved %" PRIu64 ", predicted were %" PRIu64,
				       wc_class_name(class), read ? "read" : "written", read ? result->read_bytes[class] : result->write_bytes[class],
				       read ? account->read_bytes[class] : account->write_bytes[class]);
	}
	return 0;
}

// Where run `i` is the first that has the tensor, those behind it must agree with it. WC_ERR_MISMATCH: one does not. *compared: the
// tensors that at least two runs have.
static int compare_from(json_t *const *results, int count, int i, int *compared, struct wc_error *err)
{
	json_t *digest;
	const char *name;

	json_object_foreach(json_object_get(results[i], "digests"), name, digest) {
		bool known = false, again = false;

		for (int k = 0; k < i; k++)
			known |= json_object_get(json_object_get(results[k], "digests"), name) != NULL;
		for (int k = i + 1; !known && k < count; k++) {
			const json_t *other = json_object_get(json_object_get(results[k], "digests"), name);

			if (other && strcmp(json_string_value(digest), json_string_value(other)))
				return wc_fail(err, WC_ERR_MISMATCH, "%s: bits differ between schedules '%s' and '%s'", name,
					       json_string_value(json_object_get(results[i], "schedule")),
					       json_string_value(json_object_get(results[k], "schedule")));
			again |= other != NULL;
		}
		*compared += again;
	}
	return 0;
}

int run_compare_losses(json_t *const *results, int count, struct wc_error *err)
{
	for (int i = 1; i < count; i++) {
		const json_t *first = json_array_get(json_object_get(results[0], "losses"), 0), *other = json_array_get(json_object_get(results[i], "losses"), 0);

		if (!json_equal(first, other))
			return wc_fail(err, WC_ERR_MISMATCH, "loss of the first step: %.9g under schedule '%s', %.9g under '%s'", json_real_value(first),
				       json_string_value(json_object_get(results[0], "schedule")), json_real_value(other),
				       json_string_value(json_object_get(results[i], "schedule")));
	}
	return 0;
}

int run_compare_digests(json_t *const *results, int count, int *tensors, struct wc_error *err)
{
	int result = 0;

	*tensors = 0;
	for (int i = 0; !result && i < count; i++)
		result = compare_from(results, count, i, tensors, err);
	if (!result && !*tensors)
		result = wc_fail(err, WC_ERR_MISMATCH, "the schedules have no tensor in common to compare");
	return result;
}
