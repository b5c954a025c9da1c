// SPDX-License-Identifier: Apache-2.0
//
// The C macro by itself: shapes it refuses, names, seeds, checkpoints, the waveform window.
#include <criterion/criterion.h>

#include "csim/array/array_macro.h"
#include "tests/array/stimulus.h"

static struct wc_error err;

static int make(const char *name, int rows, int cols, int stages)
{
	int id = array_macro_create(name, rows, cols, stages, &err);

	cr_assert_geq(id, 0, "%s", err.text);
	return id;
}

static void play(int id, const struct program *p, int t, struct rng *rng, uint32_t *psum)
{
	struct trio_inputs in = {0};
	uint32_t valid[MAX_LANES / 32];

	program_inputs(p, t, rng, &in);
	array_macro_step(array_macro_get(id),
			 &(struct array_macro_inputs){in.a, in.a_valid, in.a_sel, in.w, in.w_en, in.w_sel}, psum, valid);
}

Test(macro, refuses_bad_shapes_with_the_values)
{
	cr_assert_eq(array_macro_create("x", 12, 16, 1, &err), WC_ERR_INPUT);
	cr_assert_str_eq(err.text, "array 'x' of 12 x 16: each must be one of 4, 8, 16, 32, 64, 128");
	cr_assert_eq(array_macro_create("x", 16, 256, 1, &err), WC_ERR_INPUT);
	cr_assert_eq(array_macro_create("x", 16, 16, 3, &err), WC_ERR_INPUT);
	cr_assert_str_eq(err.text, "array 'x' of 3 stages per PE: must be 1 or 2");

	char name[2 * ARRAY_MACRO_NAME_BYTES];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	cr_assert_eq(array_macro_create(name, 4, 4, 1, &err), WC_ERR_INPUT);
}

Test(macro, instances_have_an_end)
{
	for (int i = 0; i < ARRAY_MACRO_MAX; i++)
		cr_assert_eq(make("many", 4, 4, 1), i);
	cr_assert_eq(array_macro_create("many", 4, 4, 1, &err), WC_ERR_SYSTEM);
	for (int i = 0; i < ARRAY_MACRO_MAX; i++)
		array_macro_free(i);
	array_macro_free(0);
	array_macro_free(-1);
	cr_assert_null(array_macro_get(0));
}

Test(macro, found_by_name_or_its_end)
{
	int a = make("top.core0.array", 4, 4, 1);
	int b = make("top.core1.array", 8, 4, 1);

	cr_assert_eq(array_macro_find("core0.array"), array_macro_get(a));
	cr_assert_eq(array_macro_find("top.core1.array"), array_macro_get(b));
	cr_assert_eq(array_macro_find("array"), array_macro_get(b));
	cr_assert_null(array_macro_find("ore0.array"));
	cr_assert_null(array_macro_find("top.top.core0.array"));
	cr_assert_eq(array_macro_rows(array_macro_get(b)), 8);
	cr_assert_eq(array_macro_cols(array_macro_get(b)), 4);
	cr_assert_str_eq(array_macro_name(array_macro_get(a)), "top.core0.array");
	array_macro_free(a);
	array_macro_free(b);
}

// Ids are used again, so the newest instance may have the lowest one: a model that is reset beside another finds its own array.
Test(macro, the_newest_of_a_name_is_found)
{
	int first = make("top.array", 4, 4, 1);
	int second = make("top.array", 4, 4, 1);

	cr_assert_eq(array_macro_find("top.array"), array_macro_get(second));
	array_macro_free(first);
	cr_assert_eq(make("top.array", 4, 4, 1), first);
	cr_assert_eq(array_macro_find("top.array"), array_macro_get(first));
	array_macro_free(first);
	cr_assert_eq(array_macro_find("top.array"), array_macro_get(second));
	array_macro_free(second);
	cr_assert_null(array_macro_find("top.array"));
}

static int equal_weights(int a, int b)
{
	int equal = 0;

	for (int r = 0; r < 16; r++)
		for (int c = 0; c < 16; c++)
			for (int sel = 0; sel < 2; sel++)
				equal += array_macro_weight(array_macro_get(a), r, c, sel) ==
					 array_macro_weight(array_macro_get(b), r, c, sel);
	return equal;
}

Test(macro, undefined_weights_follow_seed_and_name)
{
	int a, same, other_seed, other_name;

	array_macro_seed(1);
	a = make("one", 16, 16, 1);
	same = make("one", 16, 16, 1);
	other_name = make("two", 16, 16, 1);
	array_macro_seed(2);
	other_seed = make("one", 16, 16, 1);
	array_macro_seed(0);

	cr_assert_eq(equal_weights(a, same), 512);
	cr_assert_lt(equal_weights(a, other_name), 50);
	cr_assert_lt(equal_weights(a, other_seed), 50);
	array_macro_free(a);
	array_macro_free(same);
	array_macro_free(other_name);
	array_macro_free(other_seed);
}

// Save in the middle of a wave, go on, then restore (once over the live instances, once after they are gone) and go on again.
static void restore_and_replay(int stages)
{
	struct rng rng = rng_start("macro/checkpoint");
	struct program *p = program_create(&rng, 8, 16, stages, 8, true, true);
	int other = make("other", 4, 4, 1);
	int id = make("array", 8, 16, stages);
	int half = p->cycles / 2;
	uint32_t(*want)[MAX_LANES] = calloc((size_t)p->cycles, sizeof(*want));
	uint32_t psum[MAX_LANES];
	FILE *file = tmpfile();
	long sums = 0;

	cr_assert(file && want);
	for (int t = 0; t < p->cycles; t++) {
		if (t == half)
			cr_assert_eq(array_macro_save_all(file, &err), 0);
		play(id, p, t, &rng, want[t]);
	}
	for (int gone = 0; gone <= 1; gone++) {
		if (gone) {
			array_macro_free(other);
			array_macro_free(id);
		}
		rewind(file);
		cr_assert_eq(array_macro_restore_all(file, &err), 0, "%s", err.text);
		cr_assert_str_eq(array_macro_name(array_macro_get(id)), "array");
		cr_assert_str_eq(array_macro_name(array_macro_get(other)), "other");
		for (int t = half; t < p->cycles; t++) {
			play(id, p, t, &rng, psum);
			cr_assert_arr_eq(psum, want[t], 16 * sizeof(*psum), "cycle %d after restoring", t);
			for (int c = 0; c < 16; c++)
				sums += psum[c] != 0;
		}
	}
	cr_assert_gt(sums, 100);
	fclose(file);
	free(want);
	array_macro_free(other);
	array_macro_free(id);
	program_free(p);
}

Test(macro, checkpoint_continues_with_the_same_sums)
{
	restore_and_replay(1);
	restore_and_replay(2);
}

// Every truncation and every changed bit is noticed, and none leaves the process without its arrays.
Test(macro, restore_refuses_damaged_files)
{
	int id = make("array", 4, 4, 2);
	FILE *file = tmpfile();
	char bytes[16384];
	size_t size;

	cr_assert(file);
	cr_assert_eq(array_macro_save_all(file, &err), 0);
	rewind(file);
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	cr_assert(size > 1000 && size < sizeof(bytes));

	for (size_t cut = 0; cut < size; cut += cut < 400 ? 1 : 97) {
		file = tmpfile();
		fwrite(bytes, 1, cut, file);
		rewind(file);
		cr_assert_eq(array_macro_restore_all(file, &err), WC_ERR_INPUT, "cut at %zu", cut);
		cr_assert(array_macro_get(id));
		fclose(file);
	}
	for (size_t at = 0; at < size; at++) {
		file = tmpfile();
		bytes[at] ^= 0x40;
		fwrite(bytes, 1, size, file);
		bytes[at] ^= 0x40;
		rewind(file);
		cr_assert_eq(array_macro_restore_all(file, &err), WC_ERR_INPUT, "byte %zu changed and nobody noticed", at);
		fclose(file);
	}
	array_macro_free(id);
}

Test(macro, restore_refuses_another_shape_under_the_same_id)
{
	int id = make("array", 4, 4, 1);
	FILE *file = tmpfile();

	cr_assert(file);
	cr_assert_eq(array_macro_save_all(file, &err), 0);
	array_macro_free(id);
	cr_assert_eq(make("array", 4, 8, 1), id);
	rewind(file);
	cr_assert_eq(array_macro_restore_all(file, &err), WC_ERR_INPUT);
	fclose(file);
	array_macro_free(id);
}

// The window shows the PEs that the probes show, at the place asked for or as near as the array allows.
Test(macro, window_mirrors_its_pes)
{
	struct rng rng = rng_start("macro/window");
	struct program *p = program_create(&rng, 8, 16, 1, 6, false, false);
	int id = make("array", 8, 16, 1);
	struct array_macro *m = array_macro_get(id);
	uint32_t psum[MAX_LANES], column[MAX_LANES];
	int valid_pes = 0;

	cr_assert(!array_macro_has_window(m));
	for (int t = 0; t < p->cycles; t++) {
		int row = t % 10, col = t % 19;
		struct array_macro_view view;

		play(id, p, t, &rng, psum);
		array_macro_set_window(m, row, col);
		cr_assert(array_macro_has_window(m));
		row = row > 4 ? 4 : row;
		col = col > 12 ? 12 : col;
		array_macro_view(m, &view);
		for (int i = 0; i < 16; i++) {
			int r = row + i / 4, c = col + i % 4;
			// The operand at the PE entered the array r + c cycles before.
			int vector = t - r - c;
			bool there = vector >= 0 && p->vector_wave[vector] >= 0;

			array_macro_column(m, c, column);
			cr_assert_eq(view.psum[i], column[r]);
			cr_assert_eq(view.w0[i], array_macro_weight(m, r, c, 0));
			cr_assert_eq(view.w1[i], array_macro_weight(m, r, c, 1));
			cr_assert_eq(view.valid >> i & 1, there);
			if (there)
				cr_assert_eq(view.a[i], p->a[vector][r]);
			valid_pes += there;
		}
	}
	array_macro_set_window(m, -1, 0);
	cr_assert(!array_macro_has_window(m));
	cr_assert_gt(valid_pes, 100);
	array_macro_free(id);
	program_free(p);
}
