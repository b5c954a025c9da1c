// SPDX-License-Identifier: Apache-2.0
//
// The functions that rtl/sim/array_dpi.sv imports. DPI hands packed vectors over as pointers to 32-bit words, least significant
// first, which is what the macro takes.
#include <stdio.h>
#include <string.h>

#include "csim/array/array_macro.h"
#include "csim/array/array_dpi.h"

int array_dpi_create(const char *name, int rows, int cols, int mac_stages)
{
	struct wc_error err = {{0}};
	int id = array_macro_create(name, rows, cols, mac_stages, &err);

	// The model stops with $fatal; DPI has no other way to carry the text.
	if (id < 0)
		fprintf(stderr, "error: %s\n", err.text);
	return id;
}

void array_dpi_free(int id)
{
	array_macro_free(id);
}

void array_dpi_reset(int id)
{
	array_macro_reset(array_macro_get(id));
}

int array_dpi_step(int id, const uint32_t *a, const uint32_t *a_valid, const uint32_t *a_sel, const uint32_t *w,
		   const uint32_t *w_en, const uint32_t *w_sel, uint32_t *psum, uint32_t *psum_valid)
{
	struct array_macro *m = array_macro_get(id);
	struct array_macro_inputs in = {a, a_valid, a_sel, w, w_en, w_sel};
	bool active = array_macro_step(m, &in, psum, psum_valid);

	return active | array_macro_has_window(m) << 1;
}

void array_dpi_window(int id, uint32_t *psum, uint32_t *w0, uint32_t *w1, uint32_t *a, uint32_t *valid, int *row, int *col)
{
	struct array_macro_view view;

	array_macro_view(array_macro_get(id), &view);
	memcpy(psum, view.psum, sizeof(view.psum));
	memcpy(w0, view.w0, sizeof(view.w0));
	memcpy(w1, view.w1, sizeof(view.w1));
	memcpy(a, view.a, sizeof(view.a));
	*valid = view.valid;
	*row = view.row;
	*col = view.col;
}
