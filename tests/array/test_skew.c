// SPDX-License-Identifier: Apache-2.0
//
// skew.v: every lane leaves its own number of enabled cycles after it entered, stalls do not count, and after reset nothing but
// zeros come out until real data have passed.
#include <criterion/criterion.h>

#include "tests/array/models.h"
#include "tests/array/random.h"

enum { HISTORY = 128 };

static const struct {
	int lanes, width, step;
	bool reverse;
} lines[SKEW_LINES] = {
	[SKEW_IN] = {16, 18, 1, false},
	[SKEW_TWO] = {8, 18, 2, false},
	[SKEW_OUT] = {128, 33, 1, true},
};

static uint64_t lane_of(const struct skew_row *row, int width, int lane)
{
	uint64_t value = 0;

	for (int i = 0; i < width; i++) {
		int bit = lane * width + i;

		value |= (uint64_t)(row->words[bit / 32] >> (bit % 32) & 1) << i;
	}
	return value;
}

// Run for `cycles` clocks after a reset and compare every lane in every cycle with the inputs remembered.
static int run(void *model, struct rng *rng, int cycles, int enable_percent)
{
	static struct skew_row past[HISTORY][SKEW_LINES];
	int enabled = 0; // cycles counted since reset
	int seen = 0;    // lanes that had real data

	skew_set_reset(model);
	for (int cycle = 0; cycle < cycles; cycle++) {
		struct skew_row in[SKEW_LINES], out[SKEW_LINES];
		bool en = rng_chance(rng, enable_percent);

		for (size_t i = 0; i < sizeof(in); i += 4)
			((uint32_t *)in)[i / 4] = (uint32_t)rng_next(rng);
		memcpy(past[enabled % HISTORY], in, sizeof(in));
		skew_set_clock(model, en, in, out);
		for (int l = 0; l < SKEW_LINES; l++)
			for (int lane = 0; lane < lines[l].lanes; lane++) {
				int rank = lines[l].reverse ? lines[l].lanes - 1 - lane : lane;
				int from = enabled - rank * lines[l].step;
				int width = lines[l].width;
				uint64_t got = lane_of(&out[l], width, lane);
				uint64_t want = from < 0 ? 0 : lane_of(&past[from % HISTORY][l], width, lane);

				cr_assert(got == want, "line %d, lane %d, cycle %d: got %" PRIx64 ", expected %" PRIx64, l, lane,
					  cycle, got, want);
				seen += from >= 0;
			}
		enabled += en;
	}
	return seen;
}

Test(skew, every_lane_has_its_delay)
{
	struct rng rng = rng_start("skew/every_lane_has_its_delay");
	void *model = skew_set_create();

	cr_assert_gt(run(model, &rng, 1000, 100), 100000);
	cr_assert_gt(run(model, &rng, 1000, 60), 50000);
	// A reset in the middle: what is in the ring must not come out.
	cr_assert_gt(run(model, &rng, 40, 100), 0);
	cr_assert_gt(run(model, &rng, 300, 90), 10000);
	skew_set_free(model);
}
