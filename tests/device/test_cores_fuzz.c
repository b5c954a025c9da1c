// SPDX-License-Identifier: Apache-2.0
//
// Random programs on two cores at once, each with memory of its own: the functional model of two cores says the same of each, whatever the
// other does. Status, index and commands done; and where a program is complete, the bytes moved and every byte of memory and buffer.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/device/fuzz.h"

enum { CORES = 2, ROUNDS = 120, ROUNDS_LONG = 4000, RUN_CYCLES = 20000000 };

struct pair {
	struct bench device, cores[CORES];
};

// Fresh, the same random bytes everywhere, the programs in the rings.
static void prepare(struct pair *pair, const struct program *programs, uint64_t seed)
{
	struct bench *device = &pair->device;
	uint8_t *bytes = malloc(device->params.buffer_bytes);
	uint64_t rng = seed;

	cr_assert(device->backend->ops->reset(device->backend, seed, &device->err) == 0, "%s", device->err.text);
	memset(device->memory.read_bytes, 0, sizeof device->memory.read_bytes);
	memset(device->memory.write_bytes, 0, sizeof device->memory.write_bytes);
	for (int i = 0; i < CORES; i++) {
		struct bench *core = &pair->cores[i];

		bench_core(core, device, i);
		random_fill(&rng, core->memory.data, core->memory.bytes);
		random_fill(&rng, bytes, core->params.buffer_bytes);
		bench_buffer_write(core, 0, bytes, core->params.buffer_bytes);
		for (int k = 0; k < programs[i].count; k++)
			bench_issue(core, &programs[i].commands[k]);
	}
	// Core 1's memory is the device's last. In one of two rounds its window goes on behind it.
	if (seed % 2)
		bench_set_csr(&pair->cores[1], WC_CSR_MEM_LIMIT_LO, (uint32_t)(device->memory.base + device->memory.bytes) + 65536);
	for (int i = 0; i < CORES; i++)
		bench_set_csr(&pair->cores[i], WC_CSR_TAIL, pair->cores[i].issued);
	free(bytes);
}

static void compare_bytes(struct pair *rtl, struct pair *model, int i, const char *where, const char *text)
{
	enum wc_class class = i == 0 ? WC_CLASS_MASK : WC_CLASS_IO;
	struct bench *a = &rtl->cores[i], *b = &model->cores[i];
	uint32_t bytes = a->params.buffer_bytes;
	uint8_t *mine = malloc(bytes), *other = malloc(bytes);

	bench_buffer_read(a, 0, mine, bytes);
	bench_buffer_read(b, 0, other, bytes);
	cr_assert(memcmp(mine, other, bytes) == 0, "%s: the buffer of core %d differs:%s", where, i, text);
	cr_assert(memcmp(a->memory.data, b->memory.data, a->memory.bytes) == 0, "%s: the memory of core %d differs:%s", where, i, text);
	cr_assert(rtl->device.memory.read_bytes[class] == model->device.memory.read_bytes[class], "%s: the bytes that core %d read differ:%s", where, i, text);
	cr_assert(rtl->device.memory.write_bytes[class] == model->device.memory.write_bytes[class], "%s: the bytes that core %d wrote differ:%s", where, i, text);
	free(mine);
	free(other);
}

// Whether the core's program is complete and was compared byte by byte.
static bool compare_core(struct pair *rtl, struct pair *model, const struct program *program, int i, const char *where)
{
	static const enum wc_csr csrs[] = { WC_CSR_STATUS, WC_CSR_ERROR_INDEX, WC_CSR_DONE };

	cr_assert(bench_csr(&rtl->cores[i], WC_CSR_STATUS) & 6, "%s: core %d is neither idle nor stopped:%s", where, i, program->text);
	bench_check_causes(&rtl->cores[i]);
	for (size_t k = 0; k < sizeof csrs / sizeof *csrs; k++)
		cr_assert(bench_csr(&rtl->cores[i], csrs[k]) == bench_csr(&model->cores[i], csrs[k]), "%s: register 0x%02x of core %d is 0x%x, the model has 0x%x:%s",
			  where, csrs[k], i, bench_csr(&rtl->cores[i], csrs[k]), bench_csr(&model->cores[i], csrs[k]), program->text);
	if (bench_csr(&rtl->cores[i], WC_CSR_STATUS) >> 8 != WC_STATUS_OK || !program->has_order)
		return false;
	compare_bytes(rtl, model, i, where, program->text);
	return true;
}

static void fuzz(bool random_memory, uint64_t seed)
{
	struct wc_rtl_options options = { .latency_cycles = 10, .random_memory = random_memory };
	int rounds = getenv("WC_LONG") ? ROUNDS_LONG : ROUNDS, compared[CORES] = { 0, 0 }, both = 0;
	struct pair rtl, model;
	uint64_t rng = seed;

	bench_open(&rtl.device, CONFIG_CORES, &options, seed);
	bench_open_model(&model.device, CONFIG_CORES, seed);
	for (int i = 0; i < CORES; i++)
		bench_core(&rtl.cores[i], &rtl.device, i);
	for (int round = 0; round < rounds; round++) {
		struct program programs[CORES];
		uint64_t round_seed = rng;
		bool whole[CORES];
		char where[32];

		snprintf(where, sizeof where, "round %d", round);
		for (int i = 0; i < CORES; i++)
			do
				fuzz_program(&programs[i], &rtl.cores[i], &rng);
			while (programs[i].spoils_ring || programs[i].is_long);
		prepare(&rtl, programs, round_seed);
		prepare(&model, programs, round_seed);
		cr_assert(rtl.device.backend->ops->step(rtl.device.backend, RUN_CYCLES, &rtl.device.err) == 0, "%s: %s", where, rtl.device.err.text);
		cr_assert(model.device.backend->ops->step(model.device.backend, UINT64_MAX, &model.device.err) == 0, "%s: model: %s", where, model.device.err.text);
		for (int i = 0; i < CORES; i++) {
			whole[i] = compare_core(&rtl, &model, &programs[i], i, where);
			compared[i] += whole[i];
		}
		both += whole[0] && whole[1];
	}
	cr_assert(compared[0] > rounds / 8 && compared[1] > rounds / 8 && both > 0, "%d and %d of %d compared, both in %d", compared[0], compared[1], rounds, both);
	bench_close(&rtl.device);
	bench_close(&model.device);
}

Test(cores_fuzz, random_programs_on_both_end_as_the_model_says)
{
	fuzz(false, test_seed(91));
}

Test(cores_fuzz, random_programs_on_both_end_as_the_model_says_under_random_back_pressure)
{
	fuzz(true, test_seed(92));
}
