// SPDX-License-Identifier: Apache-2.0
//
// Rule: a command waits for exactly the commands it conflicts with: for none too few, and for none that it
// does not conflict with, so that engines overlap.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "driver/host/depend.h"
#include "driver/host/random.h"
#include "rig.h"
#include "tests/seed.h"

static void add(struct depend *depend, enum depend_engine engine, struct depend_access access, uint32_t wait[DEPEND_ENGINE_COUNT])
{
	cr_assert_eq(depend_add(depend, engine, &access, 1, wait, NULL), 0);
}

static struct depend_access buffer(bool write, uint64_t lo, uint64_t hi)
{
	return (struct depend_access){.space = DEPEND_BUFFER, .write = write, .lo = lo, .hi = hi};
}

Test(depend, read_after_write_write_after_read_write_after_write)
{
	struct depend depend;
	uint32_t wait[DEPEND_ENGINE_COUNT];

	depend_init(&depend);
	add(&depend, DEPEND_LOAD, buffer(true, 0, 64), wait);
	add(&depend, DEPEND_LOAD, buffer(true, 64, 128), wait);
	cr_assert_eq(wait[DEPEND_LOAD], 0, "loads are in order among themselves");
	add(&depend, DEPEND_GEMM, buffer(false, 0, 64), wait);
	cr_assert_eq(wait[DEPEND_LOAD], 1, "the second load is not waited for");
	add(&depend, DEPEND_LOAD, buffer(true, 32, 48), wait);
	cr_assert_eq(wait[DEPEND_GEMM], 1, "write after read");
	add(&depend, DEPEND_VECTOR, buffer(true, 100, 104), wait);
	cr_assert_eq(wait[DEPEND_LOAD], 2, "write after write");
	add(&depend, DEPEND_VECTOR, buffer(false, 100, 104), wait);
	cr_assert_eq(wait[DEPEND_VECTOR], 1, "the vector unit reads ahead");
	add(&depend, DEPEND_STORE, buffer(false, 200, 300), wait);
	for (int engine = 0; engine < DEPEND_ENGINE_COUNT; engine++)
		cr_assert_eq(wait[engine], 0, "nothing touched these bytes");
	depend_release(&depend);
}

Test(depend, buffer_and_memory_are_apart)
{
	struct depend depend;
	uint32_t wait[DEPEND_ENGINE_COUNT];

	depend_init(&depend);
	add(&depend, DEPEND_STORE, (struct depend_access){DEPEND_MEMORY, true, 0, 64}, wait);
	add(&depend, DEPEND_LOAD, buffer(true, 0, 64), wait);
	cr_assert_eq(wait[DEPEND_STORE], 0);
	add(&depend, DEPEND_LOAD, (struct depend_access){DEPEND_MEMORY, false, 32, 33}, wait);
	cr_assert_eq(wait[DEPEND_STORE], 1, "a load of what was stored");
	depend_release(&depend);
}

// Every earlier access, one by one: the plain form of the rule.
struct history {
	enum depend_engine engine;
	uint32_t count;
	struct depend_access access;
};

static void plain_waits(const struct history *history, int length, enum depend_engine engine, const struct depend_access *access,
			uint32_t wait[DEPEND_ENGINE_COUNT])
{
	const bool ahead = engine == DEPEND_GEMM || engine == DEPEND_VECTOR;

	for (int i = 0; i < length; i++) {
		const struct depend_access *before = &history[i].access;
		const bool overlap = before->space == access->space && before->lo < access->hi && access->lo < before->hi;
		const bool conflict = history[i].engine == engine ? before->write && !access->write && ahead : before->write || access->write;

		if (overlap && conflict && history[i].count > wait[history[i].engine])
			wait[history[i].engine] = history[i].count;
	}
}

Test(depend, random_accesses_agree_with_the_plain_rule)
{
	enum { LENGTH = 3000 };
	static struct history history[2 * LENGTH];
	const uint64_t seed = tests_seed("tests/host/test_depend", 1);
	struct depend depend;
	int length = 0;
	uint64_t waits = 0, free_of_waits = 0;

	depend_init(&depend);
	for (uint64_t i = 0; i < LENGTH; i++) {
		const enum depend_engine engine = (enum depend_engine)(random_bits(seed, 0, i) % DEPEND_ENGINE_COUNT);
		uint32_t expected[DEPEND_ENGINE_COUNT] = {0}, got[DEPEND_ENGINE_COUNT];
		struct depend_access accesses[2];

		for (uint64_t k = 0; k < 2; k++) {
			const uint64_t bits = random_bits(seed, 1 + k, i);
			const uint64_t lo = bits % 4096;

			accesses[k] = (struct depend_access){
				.space = (enum depend_space)(bits >> 20 & 1),
				.write = bits >> 21 & 1,
				.lo = lo,
				.hi = lo + 1 + (bits >> 24) % 300,
			};
			plain_waits(history, length, engine, &accesses[k], expected);
		}
		cr_assert_eq(depend_add(&depend, engine, accesses, 2, got, NULL), 0);
		cr_assert_arr_eq(got, expected, sizeof(got), "command %d", (int)i);
		for (int k = 0; k < 2; k++)
			history[length++] = (struct history){engine, depend.issued[engine], accesses[k]};
		for (int e = 0; e < DEPEND_ENGINE_COUNT; e++)
			*(got[e] ? &waits : &free_of_waits) += 1;
	}
	cr_assert_gt(waits, 100);
	cr_assert_gt(free_of_waits, 100);
	depend_release(&depend);
}

// A run's loads for the next iteration must not wait for the present one's last commands when they need not.
Test(depend, loads_run_ahead_of_compute)
{
	struct depend depend;
	uint32_t wait[DEPEND_ENGINE_COUNT];

	depend_init(&depend);
	for (int i = 0; i < 8; i++) {
		const uint64_t side = (uint64_t)(i % 2) * 4096;

		add(&depend, DEPEND_LOAD, buffer(true, side, side + 4096), wait);
		cr_assert_eq(wait[DEPEND_GEMM], i < 2 ? 0u : (uint32_t)i - 1, "load %d waits for the GEMM that read its side, not for the last", i);
		add(&depend, DEPEND_GEMM, buffer(false, side, side + 4096), wait);
		cr_assert_eq(wait[DEPEND_LOAD], (uint32_t)i + 1);
	}
	depend_release(&depend);
}
