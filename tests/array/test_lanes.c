// SPDX-License-Identifier: Apache-2.0
//
// The C macro of the vector unit's lanes has, after every clock edge, the registers of the synthesizable lanes, and puts what they put, whatever
// comes in: inputs here follow no program.
#include <criterion/criterion.h>

#include "csim/lanes/lane_macro.h"
#include "tests/array/models.h"
#include "tests/array/random.h"
#include "wc_programs.h"

enum { SLOTS = 8, REGISTERS = 8, CYCLES = 500000 };

// 2^-2 to 2^2 of either sign: sums stay numbers, and each depends on all before it.
static uint32_t tame_word(struct rng *rng)
{
	return ((uint32_t)rng_next(rng) & 0x81ffffff) + 0x3e800000;
}

// An fp32 of any kind: patterns at random, numbers near 1 whose sums cancel, numbers whose products are subnormal, special ones.
static uint32_t random_word(struct rng *rng)
{
	static const uint32_t special[] = {0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffffffff, 0x7f800001, 0x00000001, 0x807fffff,
					   0x00800000, 0x7f7fffff, 0x3f800000, 0xbf800000, 0x4b400000};
	uint32_t bits = (uint32_t)rng_next(rng);

	switch (rng_below(rng, 8)) {
	case 0:
		return special[rng_below(rng, sizeof(special) / sizeof(special[0]))];
	case 1:
		return bits & 0x807fffff; // subnormal
	case 2:
		return bits;
	case 3:
		return (bits & 0x80ffffff) + 0x1f800000; // around 2^-64
	case 4:
		return (bits & 0x800fffff) | 0x7f000000; // near overflow
	default:
		return tame_word(rng);
	}
}

static uint32_t random_source(struct rng *rng)
{
	switch (rng_below(rng, 10)) {
	case 0 ... 3:
		return (uint32_t)rng_below(rng, REGISTERS);
	case 4 ... 6:
		return WC_SIMD_STREAM + (uint32_t)rng_below(rng, 8);
	case 7:
		return WC_SIMD_CONSTANT + (uint32_t)rng_below(rng, 6); // constants, tap, channel
	case 8:
		return WC_SIMD_LITERAL + (uint32_t)rng_below(rng, 64);
	default:
		return (uint32_t)rng_below(rng, 128);
	}
}

static uint32_t code_of(uint32_t op, uint32_t d, uint32_t a, uint32_t b)
{
	return op << 18 | d << 14 | a << 7 | b;
}

// Its three registers differ.
static uint32_t random_acc2(struct rng *rng)
{
	uint32_t d = (uint32_t)rng_below(rng, REGISTERS), a = d + 1 + (uint32_t)rng_below(rng, REGISTERS - 1), b;

	do
		b = d + 1 + (uint32_t)rng_below(rng, REGISTERS - 1);
	while (b == a);
	return code_of(WC_SIMD_OP_ACC2, d, a % REGISTERS, b % REGISTERS);
}

// Halves as well as words: a half's kinds are not those of a word's upper part.
static void random_line(struct rng *rng, uint32_t *line)
{
	bool halves = rng_chance(rng, 40);

	for (int i = 0; i < PAIR_LANES / 2; i++)
		line[i] = halves ? (uint32_t)rng_wild_half(rng) << 16 | rng_wild_half(rng) : random_word(rng);
}

static void random_inputs(struct rng *rng, struct lanes_inputs *in)
{
	memset(in, 0, sizeof(*in));
	in->line = rng_chance(rng, 60);
	in->slot = (uint8_t)rng_below(rng, SLOTS);
	in->slot_high = rng_chance(rng, 50);
	random_line(rng, in->rdata);
	in->fire = rng_chance(rng, 90);
	in->code = code_of((uint32_t)rng_below(rng, rng_chance(rng, 95) ? WC_SIMD_OP_LOOP : 32), (uint32_t)rng_below(rng, 10), random_source(rng),
			   random_source(rng));
	if (in->code >> 18 == WC_SIMD_OP_ACC2)
		in->code = random_acc2(rng);
	in->vector = rng_chance(rng, 90);
	in->head = (uint8_t)rng_below(rng, SLOTS);
	in->type = (uint8_t)(rng_chance(rng, 60) ? rng_below(rng, 3) : rng_below(rng, 16));
	in->shift = (uint8_t)rng_below(rng, 16);
	in->literal_a = random_word(rng);
	in->literal_b = random_word(rng);
	for (int i = 0; i < 4; i++)
		in->constants[i] = random_word(rng);
	in->channel = (uint32_t)rng_next(rng);
	in->tap = (uint16_t)rng_next(rng);
	in->active = (uint16_t)(rng_chance(rng, 60) ? PAIR_LANES : rng_chance(rng, 90) ? rng_below(rng, PAIR_LANES + 1) : rng_below(rng, 1 << 16));
	in->first = (uint32_t)rng_next(rng) | 1;
	in->put = rng_chance(rng, 50);
}

// The state comes up undefined and different in each form: load all of it.
static void load_everything(struct rng *rng, void *model)
{
	struct lanes_outputs out;
	struct lanes_inputs in;

	for (int i = 0; i < 2 * SLOTS; i++) {
		random_inputs(rng, &in);
		in.line = true;
		in.fire = false;
		in.slot = (uint8_t)(i / 2);
		in.slot_high = i % 2;
		lanes_pair_clock(model, &in, &out);
	}
	for (uint32_t i = 0; i <= REGISTERS; i++) {
		random_inputs(rng, &in);
		in.line = false;
		in.fire = in.vector = in.put = true;
		in.type = 1;
		in.head = (uint8_t)(i % SLOTS);
		in.active = PAIR_LANES;
		in.code = i < REGISTERS ? code_of(WC_SIMD_OP_MOV, i, WC_SIMD_STREAM, 0) : code_of(WC_SIMD_OP_ACTIVE, 0, 0, 0);
		lanes_pair_clock(model, &in, &out);
	}
}

static void compare(const struct lane_macro *macro, const struct lanes_inputs *in, const struct lanes_outputs *out, long cycle)
{
	for (int i = 0; i < PAIR_LANES; i++)
		cr_assert(out->rtl_put[i] == out->dpi_put[i], "cycle %ld, operation %06x, lane %d: simd_lanes puts %08x, simd_lanes_dpi %08x", cycle,
			  in->code, i, out->rtl_put[i], out->dpi_put[i]);
	for (int r = 0; r < REGISTERS; r++)
		for (int i = 0; i < PAIR_LANES; i++)
			cr_assert(out->rtl_registers[r][i] == lane_macro_register(macro, r)[i],
				  "cycle %ld, operation %06x, lane %d: r%d is %08x in simd_lanes and %08x in the macro", cycle, in->code, i, r,
				  out->rtl_registers[r][i], lane_macro_register(macro, r)[i]);
	for (int i = 0; i < PAIR_LANES; i++)
		cr_assert((out->rtl_predicate >> i & 1) == (lane_macro_predicate(macro)[i] & 1), "cycle %ld, operation %06x, lane %d: predicates differ",
			  cycle, in->code, i);
}

// Results of a kind in the lanes of floating-point operations: a test that sees none of one would show little.
struct seen {
	long normal, subnormal, zero, infinity, nan;
};

static void count(struct seen *seen, const struct lanes_outputs *out)
{
	for (int i = 0; i < PAIR_LANES; i++) {
		uint32_t magnitude = out->rtl_put[i] & 0x7fffffff;

		seen->normal += magnitude >= 0x00800000 && magnitude < 0x7f800000;
		seen->subnormal += magnitude > 0 && magnitude < 0x00800000;
		seen->zero += magnitude == 0;
		seen->infinity += magnitude == 0x7f800000;
		seen->nan += magnitude > 0x7f800000;
	}
}

static bool is_arithmetic(const struct lanes_inputs *in)
{
	uint32_t op = in->code >> 18;

	return in->fire && in->put && (op == WC_SIMD_OP_ADD || op == WC_SIMD_OP_SUB || op == WC_SIMD_OP_MUL || op == WC_SIMD_OP_ACC ||
				       op == WC_SIMD_OP_ACC2);
}

Test(lanes, macro_equals_rtl)
{
	struct rng rng = rng_start("lanes");
	void *model = lanes_pair_create();
	const struct lane_macro *macro = lanes_pair_macro(model);
	struct seen seen = {0};

	load_everything(&rng, model);
	for (long cycle = 0; cycle < CYCLES; cycle++) {
		struct lanes_outputs out;
		struct lanes_inputs in;

		random_inputs(&rng, &in);
		lanes_pair_clock(model, &in, &out);
		compare(macro, &in, &out, cycle);
		if (is_arithmetic(&in))
			count(&seen, &out);
	}
	lanes_pair_free(model);
	cr_assert(seen.normal > CYCLES && seen.subnormal > CYCLES / 100 && seen.zero > CYCLES / 100 && seen.infinity > CYCLES / 100 && seen.nan > CYCLES / 100,
		  "results: %ld normal, %ld subnormal, %ld zero, %ld infinite, %ld NaN", seen.normal, seen.subnormal, seen.zero, seen.infinity, seen.nan);
}

// ---- two chains at a time ------------------------------------------------------------------------

static float float_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static uint32_t sum_of(uint32_t a, uint32_t b)
{
	float value = float_of(a) + float_of(b);
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return value != value ? 0x7fc00000 : bits;
}

// A register's lanes, by a line of fp32 in two.
static void load_register(void *model, uint32_t index, const uint32_t *lanes)
{
	struct lanes_inputs in = {.first = 1, .active = PAIR_LANES, .type = 1};
	struct lanes_outputs out;

	in.line = true;
	for (int high = 0; high < 2; high++) {
		in.slot_high = high;
		memcpy(in.rdata, lanes + high * PAIR_LANES / 2, sizeof(in.rdata));
		lanes_pair_clock(model, &in, &out);
	}
	in.line = false;
	in.fire = in.vector = true;
	in.code = code_of(WC_SIMD_OP_MOV, index, WC_SIMD_STREAM, 0);
	lanes_pair_clock(model, &in, &out);
}

// Pixels of groups in r2 and r3, added up in r0.
static void check_chains(void *model, struct rng *rng, int group, bool wild)
{
	const struct lane_macro *macro = lanes_pair_macro(model);
	uint32_t sums[2][PAIR_LANES] = {0}, values[2][PAIR_LANES];
	struct lanes_inputs in = {.active = PAIR_LANES, .fire = true, .code = code_of(WC_SIMD_OP_ACC2, 0, 2, 3)};
	struct lanes_outputs out = {0};

	for (int lane = 0; lane < PAIR_LANES; lane += group)
		in.first |= 1u << lane;
	load_register(model, 0, sums[0]);
	for (int pixel = 0; pixel < 3; pixel++) {
		for (int lane = 0; lane < 2 * PAIR_LANES; lane++)
			values[lane / PAIR_LANES][lane % PAIR_LANES] = wild ? random_word(rng) : tame_word(rng);
		load_register(model, 2, values[0]);
		load_register(model, 3, values[1]);
		for (int channel = 0; channel < group; channel++)
			lanes_pair_clock(model, &in, &out);
		for (int lane = 0; lane + group <= PAIR_LANES; lane += group)
			for (int i = 0; i < 2 * group; i++)
				sums[i / group][lane] = sum_of(sums[i / group][lane], values[i / group][lane + i % group]);
	}
	for (int lane = 0; lane + group <= PAIR_LANES; lane += group)
		for (int chain = 0; chain < 2; chain++) {
			cr_assert(out.rtl_registers[0][lane + chain] == sums[chain][lane], "groups of %d, lane %d, chain %d: %08x, not %08x", group, lane, chain,
				  out.rtl_registers[0][lane + chain], sums[chain][lane]);
			cr_assert(lane_macro_register(macro, 0)[lane + chain] == sums[chain][lane], "groups of %d, lane %d, chain %d: the macro has %08x, not %08x",
				  group, lane, chain, lane_macro_register(macro, 0)[lane + chain], sums[chain][lane]);
		}
}

Test(lanes, groups_add_up_two_chains_in_their_order)
{
	struct rng rng = rng_start("chains");
	void *model = lanes_pair_create();

	for (int round = 0; round < 200; round++)
		for (int group = 2; group <= PAIR_LANES; group++)
			check_chains(model, &rng, group, round % 2);
	lanes_pair_free(model);
}

Test(lanes, macro_refuses_bad_numbers)
{
	static const int bad[] = {0, 4, 24, 512};
	struct wc_error err;
	struct lane_macro *m;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_eq(lane_macro_create("x", bad[i], &m, &err), WC_ERR_INPUT);
	cr_assert_str_eq(err.text, "vector unit 'x' of 512 lanes: must be one of 8, 16, 32, 64, 128, 256");
	lane_macro_free(NULL);
}

Test(lanes, undefined_state_follows_seed_and_name)
{
	static const struct {
		const char *name;
		uint64_t seed;
	} made[] = {{"a", 1}, {"a", 1}, {"b", 1}, {"a", 2}};
	struct lane_macro *m[4];
	struct wc_error err;

	for (int i = 0; i < 4; i++) {
		lane_macro_seed(made[i].seed);
		cr_assert_eq(lane_macro_create(made[i].name, PAIR_LANES, &m[i], &err), 0, "%s", err.text);
	}
	for (int i = 1; i < 4; i++) {
		bool same = memcmp(lane_macro_register(m[0], 3), lane_macro_register(m[i], 3), PAIR_LANES * sizeof(uint32_t)) == 0;

		cr_assert_eq(same, i == 1, "instance %d", i);
	}
	for (int i = 0; i < 4; i++)
		lane_macro_free(m[i]);
}
