// SPDX-License-Identifier: Apache-2.0
//
// Rule: a byte that is moved and was not predicted, in any class and direction, and a bit in which any two schedules differ, is a mismatch
// that names it; a run that this machine cannot hold is refused with both sizes.
#include <criterion/criterion.h>
#include <string.h>

#include "driver/cli/run.h"

Test(compare, bytes_of_every_class_and_direction)
{
	const struct account account = {.read_bytes = {10, 20, 30, 40, 50}, .write_bytes = {1, 2, 3, 4, 5}};

	for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++)
		for (int write = 0; write < 2; write++)
			for (int difference = -1; difference <= 1; difference++) {
				struct run_result result = {0};
				struct wc_error err;
				int status;

				memcpy(result.read_bytes, account.read_bytes, sizeof(result.read_bytes));
				memcpy(result.write_bytes, account.write_bytes, sizeof(result.write_bytes));
				(write ? result.write_bytes : result.read_bytes)[class] += (uint64_t)difference;
				status = run_compare_bytes(&result, &account, &err);
				cr_assert_eq(status, difference ? WC_ERR_MISMATCH : 0, "class %d", class);
				if (difference)
					cr_assert(strstr(err.text, wc_class_name(class)) && strstr(err.text, write ? "written" : "read"), "%s", err.text);
			}
}

// Runs named r0, r1, ... with the digests of each as JSON.
static int compare(const char *const *digests, int count, int *tensors, struct wc_error *err)
{
	json_t *results[8];
	int status;

	for (int i = 0; i < count; i++) {
		char name[8];
		json_t *object = json_loads(digests[i], 0, NULL);

		cr_assert(object, "%s", digests[i]);
		snprintf(name, sizeof(name), "r%d", i);
		results[i] = json_pack("{s:s, s:o}", "schedule", name, "digests", object);
	}
	status = run_compare_digests(results, count, tensors, err);
	for (int i = 0; i < count; i++)
		json_decref(results[i]);
	return status;
}

Test(compare, digests_of_all_schedules)
{
	static const struct {
		const char *digests[3];
		int status, tensors;
		const char *says[3];
	} cases[] = {
		{{"{\"a\": \"1\", \"b\": \"2\"}", "{\"a\": \"1\", \"b\": \"2\"}", "{\"a\": \"1\"}"}, 0, 2, {""}},
		{{"{\"a\": \"1\", \"b\": \"2\"}", "{\"a\": \"1\", \"b\": \"3\"}", "{\"a\": \"1\"}"}, WC_ERR_MISMATCH, -1, {"b:", "'r0'", "'r1'"}},
		{{"{\"a\": \"1\"}", "{\"a\": \"1\"}", "{\"a\": \"4\"}"}, WC_ERR_MISMATCH, -1, {"a:", "'r0'", "'r2'"}},
		// What the first run has not made whole.
		{{"{\"a\": \"1\"}", "{\"a\": \"1\", \"b\": \"2\"}", "{\"b\": \"3\"}"}, WC_ERR_MISMATCH, -1, {"b:", "'r1'", "'r2'"}},
		{{"{}", "{\"b\": \"2\"}", "{\"b\": \"2\"}"}, 0, 1, {""}},
		{{"{\"a\": \"1\"}", "{\"b\": \"1\"}", "{}"}, WC_ERR_MISMATCH, -1, {"no tensor in common"}},
		{{"{}", "{}", "{}"}, WC_ERR_MISMATCH, -1, {"no tensor in common"}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wc_error err = {""};
		int tensors;

		cr_expect_eq(compare(cases[i].digests, 3, &tensors, &err), cases[i].status, "case %zu: %s", i, err.text);
		if (cases[i].tensors >= 0)
			cr_expect_eq(tensors, cases[i].tensors, "case %zu: %d", i, tensors);
		for (int k = 0; k < 3 && cases[i].says[k]; k++)
			cr_expect(strstr(err.text, cases[i].says[k]), "case %zu: no '%s' in '%s'", i, cases[i].says[k], err.text);
	}
}
