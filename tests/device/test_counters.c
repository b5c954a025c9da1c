// SPDX-License-Identifier: Apache-2.0
//
// Cycles without a wave to stream are counted by what the array waits for. (That all causes add up to the cycles, every run of the bench checks.)
#include <criterion/criterion.h>

#include "tests/device/gemm.h"

static const enum wc_counter stalls[] = { WC_COUNTER_STALL_LOAD, WC_COUNTER_STALL_STORE, WC_COUNTER_STALL_VECTOR, WC_COUNTER_STALL_DRAIN,
					  WC_COUNTER_STALL_COMMAND };

// 64 pixels, one wave.
static union command tile(struct bench *b, bool fp32)
{
	struct conv_tile t = { .batch = 1, .height = 8, .width = 8, .channels = 8, .kernel = 1, .stride = 1, .n_cols = 4, .m_rows = 64, .w = 2048,
			       .out = 4096, .fp32 = fp32 };

	return command_conv(&t, b->params.rows);
}

// At least so many of the cycles without a wave have this cause; `rest` at most another.
static void expect(struct bench *b, enum wc_counter cause, uint64_t least, uint64_t rest)
{
	bench_finish(b);
	cr_expect(bench_counter(b, cause) >= least, "%s: %llu", wc_counter_name(cause), (unsigned long long)bench_counter(b, cause));
	for (size_t i = 0; i < sizeof stalls / sizeof *stalls; i++)
		if (stalls[i] != cause && stalls[i] != WC_COUNTER_STALL_COMMAND)
			cr_expect(bench_counter(b, stalls[i]) <= rest, "%s beside %s: %llu", wc_counter_name(stalls[i]), wc_counter_name(cause),
				  (unsigned long long)bench_counter(b, stalls[i]));
}

// A GEMM that waits for one command, 2 KiB of work: 128 beats of a memory, 64 lines and as many again for the vector unit.
static void waits(const char *config, int engine)
{
	struct bench b;
	union command before, gemm;

	bench_open(&b, config, NULL, 1);
	before = engine == 0 ? command_load(b.data, 8192, 2048) : engine == 1 ? command_store(b.data, 8192, 2048) : command_vector(0, 1024, 8192, 8192, 0);
	gemm = tile(&b, false);
	gemm.gemm.wait_load = engine == 0;
	gemm.gemm.wait_store = engine == 1;
	gemm.gemm.wait_vector = engine == 2;
	bench_issue(&b, &before);
	bench_issue(&b, &gemm);
	expect(&b, engine == 0 ? WC_COUNTER_STALL_LOAD : engine == 1 ? WC_COUNTER_STALL_STORE : WC_COUNTER_STALL_VECTOR, 60, 110); // the tile's own drain in the end
	bench_close(&b);
}

Test(counters, a_gemm_waits_for_what_its_counts_lack)
{
	for (int engine = 0; engine < 3; engine++) {
		waits(CONFIG_QUICK, engine);
		waits(CONFIG_SMALL, engine);
	}
}

// 64 rows of sums are written before the second one may begin.
Test(counters, a_gemm_waits_for_a_drain)
{
	struct bench b;
	union command c;

	bench_open(&b, CONFIG_QUICK, NULL, 1);
	c = tile(&b, true);
	bench_issue(&b, &c);
	c.gemm.wait_gemm = 1;
	bench_issue(&b, &c);
	expect(&b, WC_COUNTER_STALL_DRAIN, 60, 0);
	bench_close(&b);
}

// Without a GEMM the cause is what is done instead; a vector unit at work comes before a load beside it.
Test(counters, without_a_gemm_it_is_what_is_at_work)
{
	struct bench b;
	union command c;

	bench_open(&b, CONFIG_QUICK, NULL, 1);
	c = command_load(b.data, 0, 4096);
	bench_issue(&b, &c);
	expect(&b, WC_COUNTER_STALL_LOAD, 256, 0);
	cr_assert(b.backend->ops->reset(b.backend, 1, &b.err) == 0);
	bench_start(&b);
	c = command_store(b.data, 0, 4096);
	bench_issue(&b, &c);
	expect(&b, WC_COUNTER_STALL_STORE, 256, 0);
	cr_assert(b.backend->ops->reset(b.backend, 1, &b.err) == 0);
	bench_start(&b);
	c = command_vector(0, 16384, 0, 0, 0);
	bench_issue(&b, &c);
	c = command_load(b.data, 32768, 4096);
	bench_issue(&b, &c);
	expect(&b, WC_COUNTER_STALL_VECTOR, 1024, 20);
	bench_close(&b);
}

// Eight loads: four wait in their queue, and the ring behind them. The vector unit is at work all the time; the GEMM needs none of it.
Test(counters, a_full_queue_is_the_cause_while_it_holds_the_ring_up)
{
	struct bench b;
	union command c;

	bench_open(&b, CONFIG_QUICK, NULL, 1);
	c = command_vector(0, 16384, 0, 0, 0);
	bench_issue(&b, &c);
	c = command_load(b.data, 32768, 4096);
	for (int i = 0; i < 8; i++)
		bench_issue(&b, &c);
	c = tile(&b, false);
	bench_issue(&b, &c);
	bench_finish(&b);
	cr_expect(bench_counter(&b, WC_COUNTER_STALL_LOAD) > 256, "%llu", (unsigned long long)bench_counter(&b, WC_COUNTER_STALL_LOAD));
	bench_close(&b);
}
