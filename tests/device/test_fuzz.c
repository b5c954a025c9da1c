// SPDX-License-Identifier: Apache-2.0
//
// Random programs: the device never hangs, trips no assertion (the AXI checkers and the buffer's range checks among them), and ends idle or
// with a status and an index. The functional model says the same of every program: status, index, bytes moved and, where all is complete,
// every byte of memory and buffer.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/device/fuzz.h"

enum { RUN_CYCLES = 20000000, LONG_CYCLES = 30000, STATUSES = WC_STATUS_DEPENDENCE + 1 };

struct tally {
	int ended[STATUSES]; // programs by status; 0: complete
	int compared, long_ones;
};

// Fresh backend, the same random bytes in memory and buffer of both, the program in the ring.
static void prepare(struct bench *b, const struct program *p, uint64_t seed)
{
	uint64_t rng = seed;
	uint8_t *bytes = malloc(b->params.buffer_bytes);

	cr_assert(b->backend->ops->reset(b->backend, seed, &b->err) == 0, "%s", b->err.text);
	bench_start(b);
	random_fill(&rng, b->memory.data, b->memory.bytes);
	random_fill(&rng, bytes, b->params.buffer_bytes);
	b->backend->ops->buffer_write(b->backend, 0, bytes, b->params.buffer_bytes);
	memset(b->memory.read_bytes, 0, sizeof b->memory.read_bytes);
	memset(b->memory.write_bytes, 0, sizeof b->memory.write_bytes);
	// In one of two programs the window is wider than the memory.
	if (seed % 2)
		bench_set_csr(b, WC_CSR_MEM_LIMIT_LO, (uint32_t)(b->memory.base + b->memory.bytes) + 65536);
	for (int i = 0; i < p->count; i++)
		bench_issue(b, &p->commands[i]);
	bench_set_csr(b, WC_CSR_TAIL, b->issued);
	free(bytes);
}

static bool same_bytes(const uint8_t *a, const uint8_t *b, uint64_t count, uint64_t *at)
{
	for (*at = 0; *at < count; ++*at)
		if (a[*at] != b[*at])
			return false;
	return true;
}

// Where memory, buffer or counted bytes differ, in words; "": nowhere.
static void find_difference(struct bench *rtl, struct bench *model, char *text, size_t size)
{
	uint32_t buffer_bytes = rtl->params.buffer_bytes;
	uint8_t *a = malloc(buffer_bytes), *b = malloc(buffer_bytes);
	uint64_t at;

	text[0] = '\0';
	rtl->backend->ops->buffer_read(rtl->backend, 0, a, buffer_bytes);
	model->backend->ops->buffer_read(model->backend, 0, b, buffer_bytes);
	if (!same_bytes(rtl->memory.data, model->memory.data, rtl->memory.bytes, &at))
		snprintf(text, size, "the memory differs at offset 0x%llx", (unsigned long long)at);
	else if (!same_bytes(a, b, buffer_bytes, &at))
		snprintf(text, size, "the buffer differs at 0x%llx", (unsigned long long)at);
	else if (memcmp(rtl->memory.read_bytes, model->memory.read_bytes, sizeof rtl->memory.read_bytes))
		snprintf(text, size, "the bytes read differ");
	else if (memcmp(rtl->memory.write_bytes, model->memory.write_bytes, sizeof rtl->memory.write_bytes))
		snprintf(text, size, "the bytes written differ");
	free(a);
	free(b);
}

// The end of a program that nobody waits for is not known; it can be cut short at any time.
static void run_long(struct bench *rtl, const struct program *p, const char *where)
{
	cr_assert(rtl->backend->ops->step(rtl->backend, LONG_CYCLES, &rtl->err) == 0, "%s: %s:%s", where, rtl->err.text, p->text);
	bench_set_csr(rtl, WC_CSR_CTRL, 0);
	cr_assert(bench_csr(rtl, WC_CSR_STATUS) == 2, "%s: no reset:%s", where, p->text);
	cr_assert(rtl->backend->ops->step(rtl->backend, 1, &rtl->err) == 0, "%s: %s:%s", where, rtl->err.text, p->text);
}

static void run_both(struct bench *rtl, struct bench *model, const struct program *p, uint64_t seed, const char *where, struct tally *tally)
{
	static const enum wc_csr csrs[] = { WC_CSR_STATUS, WC_CSR_ERROR_INDEX, WC_CSR_DONE };
	uint32_t status;

	prepare(model, p, seed);
	cr_assert(rtl->backend->ops->step(rtl->backend, RUN_CYCLES, &rtl->err) == 0, "%s: %s:%s", where, rtl->err.text, p->text);
	cr_assert(model->backend->ops->step(model->backend, UINT64_MAX, &model->err) == 0, "%s: model: %s:%s", where, model->err.text, p->text);
	status = bench_csr(rtl, WC_CSR_STATUS);
	cr_assert(status & 6, "%s: neither idle nor stopped:%s", where, p->text);
	bench_check_causes(rtl);
	for (size_t i = 0; i < sizeof csrs / sizeof *csrs; i++)
		cr_assert(bench_csr(rtl, csrs[i]) == bench_csr(model, csrs[i]), "%s: register 0x%02x is 0x%x, the model has 0x%x:%s", where, csrs[i],
			  bench_csr(rtl, csrs[i]), bench_csr(model, csrs[i]), p->text);
	cr_assert(status >> 8 < STATUSES);
	tally->ended[status >> 8]++;
	if (status >> 8 == WC_STATUS_OK && p->has_order) {
		char text[128];

		find_difference(rtl, model, text, sizeof text);
		cr_assert(!text[0], "%s: %s:%s", where, text, p->text);
		tally->compared++;
	}
}

static void fuzz(const char *config, bool random_memory, uint64_t seed)
{
	struct wc_rtl_options options = { .latency_cycles = 10, .random_memory = random_memory };
	int rounds = getenv("WC_LONG") ? 10000 : 250;
	struct tally tally = { .compared = 0 };
	uint64_t rng = seed;
	struct bench rtl, model;

	bench_open(&rtl, config, &options, seed);
	bench_open_model(&model, config, seed);
	for (int round = 0; round < rounds; round++) {
		uint64_t round_seed = rng;
		struct program p;
		char where[128];

		snprintf(where, sizeof where, "%s, round %d", config, round);
		do
			fuzz_program(&p, &rtl, &rng);
		while (p.spoils_ring);
		prepare(&rtl, &p, round_seed);
		if (p.is_long) {
			run_long(&rtl, &p, where);
			tally.long_ones++;
		} else {
			run_both(&rtl, &model, &p, round_seed, where, &tally);
		}
	}
	// The programs are worth their time: some complete, some stop for each reason that there is.
	cr_assert(tally.compared > rounds / 8, "%d of %d compared", tally.compared, rounds);
	cr_assert(tally.ended[WC_STATUS_BUFFER_RANGE] > rounds / 60 && tally.ended[WC_STATUS_BAD_FIELD] > rounds / 60);
	cr_assert(tally.ended[WC_STATUS_MISALIGNED] && tally.ended[WC_STATUS_MEMORY_RANGE] && tally.ended[WC_STATUS_AXI_ERROR]);
	cr_assert(rounds < 1000 || (tally.ended[WC_STATUS_BAD_OPCODE] && tally.ended[WC_STATUS_BAD_VERSION] && tally.ended[WC_STATUS_DEPENDENCE]));
	bench_close(&rtl);
	bench_close(&model);
}

Test(fuzz, random_programs_end_as_the_model_says)
{
	fuzz(CONFIG_QUICK, false, test_seed(81));
}

Test(fuzz, random_programs_end_as_the_model_says_on_a_small_array)
{
	fuzz(CONFIG_SMALL, true, test_seed(82));
}

Test(fuzz, random_programs_end_as_the_model_says_on_two_ports)
{
	fuzz(CONFIG_TWO, true, test_seed(83));
}

Test(fuzz, a_difference_anywhere_is_found)
{
	struct program p = { .count = 0 };
	struct bench rtl, model;
	char text[128];
	uint8_t byte;

	bench_open(&rtl, CONFIG_QUICK, NULL, 1);
	bench_open_model(&model, CONFIG_QUICK, 1);
	prepare(&rtl, &p, 1);
	prepare(&model, &p, 1);
	find_difference(&rtl, &model, text, sizeof text);
	cr_assert(!text[0], "%s", text);

	rtl.memory.data[rtl.memory.bytes - 1] ^= 1;
	find_difference(&rtl, &model, text, sizeof text);
	cr_assert(strstr(text, "memory differs"), "%s", text);
	rtl.memory.data[rtl.memory.bytes - 1] ^= 1;

	rtl.backend->ops->buffer_read(rtl.backend, 12345, &byte, 1);
	byte ^= 0x80;
	rtl.backend->ops->buffer_write(rtl.backend, 12345, &byte, 1);
	find_difference(&rtl, &model, text, sizeof text);
	cr_assert(strstr(text, "buffer differs at 0x3039"), "%s", text);
	byte ^= 0x80;
	rtl.backend->ops->buffer_write(rtl.backend, 12345, &byte, 1);

	model.memory.read_bytes[WC_CLASS_COMMAND]++;
	find_difference(&rtl, &model, text, sizeof text);
	cr_assert(strstr(text, "bytes read"), "%s", text);
	bench_close(&rtl);
	bench_close(&model);
}
