// SPDX-License-Identifier: Apache-2.0
//
// The window of PEs in waveforms (--pe-window): what the FST file shows of each PE is what went through it.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fstapi.h"
#include "tests/device/gemm.h"

#define CONFIG_DPI_WAVES "r16c16-b65536-w16-m1-dpi-waves"

enum { PES = 16, VECTORS = 64, ROWS = 16 };

// Signals of one PE, by their numbers in the file, and their values as the file is read.
enum { PSUM, W0, W1, A, VALID, SIGNALS };
static const char *const names[SIGNALS] = { "psum", "w0", "w1", "a", "valid" };

// What a PE showed in the cycles in which it had a valid activation.
struct pe {
	fstHandle handles[SIGNALS];
	uint32_t values[SIGNALS];
	int count;
	uint32_t psum[VECTORS], a[VECTORS], w[2][VECTORS];
};

struct file {
	struct pe pes[PES];
	fstHandle corner[2];
	uint32_t corner_values[2];
	uint64_t time; // of the values
	bool found;
};

// What the probe told: of column `column`, for every vector.
struct probed {
	int column, count;
	uint32_t psum[VECTORS][ROWS], a[VECTORS][ROWS];
	int a_count;
};

static int note(void *context, const struct wc_probe *probe)
{
	struct probed *p = context;

	if (probe->kind == WC_PROBE_COLUMN)
		memcpy(p->psum[p->count++], probe->bits, sizeof p->psum[0]);
	if (probe->kind == WC_PROBE_OPERAND_A)
		memcpy(p->a[p->a_count++], probe->bits, sizeof p->a[0]);
	cr_assert(p->count < VECTORS && p->a_count < VECTORS);
	return 0;
}

// One tile of two waves.
static void record(const char *file, int row, int column, struct probed *probed)
{
	struct conv_tile t = { .batch = 1, .height = 5, .width = 5, .channels = 20, .kernel = 1, .stride = 1, .n_cols = 16, .m_rows = 25, .w = 2048,
			       .out = 4096, .fp32 = true };
	struct wc_rtl_options options = { .waveform = file, .pe_window = true, .pe_row = row, .pe_column = column };
	uint64_t rng = test_seed(71);
	struct bench b;
	union command c;

	bench_open(&b, CONFIG_DPI_WAVES, &options, 1);
	buffer_fill_halves(&b, &rng, 0, 4096);
	b.backend->ops->set_observer(b.backend, &(struct wc_observer){ .context = probed, .probe = note, .probe_column = probed->column });
	c = command_conv(&t, b.params.rows);
	bench_issue(&b, &c);
	bench_finish(&b);
	bench_close(&b);
}

// The values of one cycle are complete.
static void sample(struct file *f)
{
	for (int i = 0; i < PES; i++) {
		struct pe *pe = &f->pes[i];

		if (!pe->values[VALID])
			continue;
		cr_assert(pe->count < VECTORS);
		pe->psum[pe->count] = pe->values[PSUM];
		pe->a[pe->count] = pe->values[A];
		pe->w[0][pe->count] = pe->values[W0];
		pe->w[1][pe->count++] = pe->values[W1];
	}
}

static void change(void *context, uint64_t time, fstHandle handle, const unsigned char *text)
{
	struct file *f = context;
	uint32_t value = (uint32_t)strtoul((const char *)text, NULL, 2);

	// A cycle lasts 10; its registers change at its beginning.
	for (; f->time / 10 < time / 10; f->time += 10)
		sample(f);
	for (int i = 0; i < PES; i++)
		for (int s = 0; s < SIGNALS; s++)
			if (f->pes[i].handles[s] == handle)
				f->pes[i].values[s] = value;
	for (int i = 0; i < 2; i++)
		if (f->corner[i] == handle)
			f->corner_values[i] = value;
}

static void changed(void *context, uint64_t time, fstHandle handle, const unsigned char *text, uint32_t length)
{
	(void)length;
	change(context, time, handle, text);
}

static void find_signals(void *reader, struct file *f)
{
	struct fstHier *h;
	int row = -1, col = -1, found = 0;

	while ((h = fstReaderIterateHier(reader))) {
		if (h->htyp == FST_HT_SCOPE) {
			sscanf(h->u.scope.name, "g_win_row[%d]", &row);
			sscanf(h->u.scope.name, "g_win_col[%d]", &col);
		}
		if (h->htyp != FST_HT_VAR)
			continue;
		for (int s = 0; s < SIGNALS && col >= 0; s++) {
			size_t length = strcspn(h->u.var.name, " [");

			if (strlen(names[s]) == length && !strncmp(h->u.var.name, names[s], length) && row >= 0 && !f->pes[4 * row + col].handles[s]) {
				f->pes[4 * row + col].handles[s] = h->u.var.handle;
				found++;
			}
		}
		if (!strncmp(h->u.var.name, "win_row", 7))
			f->corner[0] = h->u.var.handle;
		if (!strncmp(h->u.var.name, "win_col", 7))
			f->corner[1] = h->u.var.handle;
	}
	f->found = found == PES * SIGNALS && f->corner[0] && f->corner[1];
}

static void read_file(const char *path, struct file *f)
{
	void *reader = fstReaderOpen(path);

	cr_assert(reader, "%s", path);
	memset(f, 0, sizeof *f);
	find_signals(reader, f);
	cr_assert(f->found, "the window's signals are not in the waveform");
	fstReaderSetFacProcessMaskAll(reader);
	cr_assert(fstReaderIterBlocks2(reader, change, changed, f, NULL));
	sample(f);
	fstReaderClose(reader);
}

static void check_window(int row, int column, int corner_row, int corner_column)
{
	static struct file f;
	static struct probed probed;
	const char *dir = getenv("WC_BUILD") ? getenv("WC_BUILD") : "build";
	char path[256], file[300];
	uint64_t nonzero = 0;

	snprintf(path, sizeof path, "%s/wc_window_XXXXXX", dir);
	cr_assert(mkdtemp(path));
	snprintf(file, sizeof file, "%s/w.fst", path);
	for (int j = 0; j < 4; j++) {
		memset(&probed, 0, sizeof probed);
		probed.column = corner_column + j;
		record(file, row, column, &probed);
		cr_assert(probed.count == 50 && probed.a_count == 50, "25 vectors in each of two waves");
		read_file(file, &f);
		cr_assert((int)f.corner_values[0] == corner_row && (int)f.corner_values[1] == corner_column, "the window lies at (%u, %u)", f.corner_values[0],
			  f.corner_values[1]);
		for (int i = 0; i < 4; i++) {
			const struct pe *pe = &f.pes[4 * i + j];

			cr_assert(pe->count == probed.count, "PE (%d, %d): %d vectors of %d", i, j, pe->count, probed.count);
			for (int v = 0; v < pe->count; v++) {
				cr_assert(pe->psum[v] == probed.psum[v][corner_row + i], "PE (%d, %d), vector %d: psum %08x, %08x expected", i, j, v, pe->psum[v],
					  probed.psum[v][corner_row + i]);
				cr_assert(pe->a[v] == probed.a[v][corner_row + i], "PE (%d, %d), vector %d: a", i, j, v);
				nonzero += pe->psum[v] != 0 && pe->a[v] != 0 && (pe->w[0][v] != 0 || pe->w[1][v] != 0);
			}
		}
	}
	cr_assert(nonzero > 100);
	unlink(file);
	rmdir(path);
}

Test(window, shows_what_goes_through_its_pes)
{
	check_window(0, 0, 0, 0);
	check_window(2, 7, 2, 7);
}

Test(window, moves_inward_at_the_edges)
{
	check_window(15, 14, 12, 12);
}

static void expect_refusal(const char *config, const struct wc_rtl_options *options, const char *text)
{
	struct wc_device_params params = { 16, 16, 256, 1, 65536, 16, 1, 1 };
	struct wc_rtl_options o = *options;
	const char *dir = getenv("WC_RTL");
	uint64_t regions[WC_CLASS_COUNT] = { 0 };
	struct wc_memory memory;
	struct wc_error err = { "" };
	char library[256];

	if (!strncmp(config, "r8c4", 4))
		params = (struct wc_device_params){ 8, 4, 256, 2, 16384, 32, 1, 1 };
	snprintf(library, sizeof library, "%s/%s/wc_rtl.so", dir ? dir : "build/rtl", config);
	o.library = library;
	cr_assert(wc_memory_init(&memory, params.bus_bytes, regions, &err) == 0);
	cr_assert(wc_rtl_create(&params, &o, &memory, &err) == NULL);
	cr_assert(strstr(err.text, text), "%s", err.text);
	wc_memory_release(&memory);
}

Test(window, is_refused_where_it_cannot_be_shown)
{
	expect_refusal(CONFIG_DPI_WAVES, &(struct wc_rtl_options){ .pe_window = true }, "no waveform is recorded");
	expect_refusal(CONFIG_DPI_WAVES, &(struct wc_rtl_options){ .pe_window = true, .waveform = "w.fst", .pe_row = 16 }, "from (16, 0)");
	expect_refusal(CONFIG_DPI_WAVES, &(struct wc_rtl_options){ .pe_window = true, .waveform = "w.fst", .pe_column = -1 }, "from (0, -1)");
	expect_refusal("r8c4-b16384-w32-m2-rtl-waves", &(struct wc_rtl_options){ .pe_window = true, .waveform = "w.fst" }, "no array macro");
}
