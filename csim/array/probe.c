// SPDX-License-Identifier: Apache-2.0
//
// Looking into the array macro and breaking it.
#include <assert.h>

#include "csim/array/half.h"
#include "csim/array/state.h"

static size_t pe_index(const struct array_macro *m, int row, int col)
{
	assert(row >= 0 && row < m->head.rows && col >= 0 && col < m->head.cols);
	return (size_t)row * (size_t)m->head.cols + (size_t)col;
}

int array_macro_rows(const struct array_macro *m)
{
	return m->head.rows;
}

int array_macro_cols(const struct array_macro *m)
{
	return m->head.cols;
}

const char *array_macro_name(const struct array_macro *m)
{
	return m->head.name;
}

void array_macro_column(const struct array_macro *m, int col, uint32_t *psum)
{
	for (int r = 0; r < m->head.rows; r++)
		psum[r] = array_canonical_bits(array_float_bits(m->psum[pe_index(m, r, col)]));
}

uint16_t array_macro_weight(const struct array_macro *m, int row, int col, int sel)
{
	return array_half_of_exact(m->w[sel][pe_index(m, row, col)]);
}

uint16_t array_macro_operand(const struct array_macro *m, int row, int col, bool *valid)
{
	size_t at = (size_t)row * (size_t)m->head.ring + (size_t)(m->head.at + col);

	assert(row >= 0 && row < m->head.rows && col >= 0 && col < m->head.cols);
	*valid = m->valid[at] != 0;
	return array_half_of_exact(m->a[at]);
}

void array_macro_flip_weight(struct array_macro *m, int row, int col, int sel, int bit)
{
	float *weight = &m->w[sel][pe_index(m, row, col)];

	assert(bit >= 0 && bit < 16);
	*weight = array_half_to_float((uint16_t)(array_half_of_exact(*weight) ^ 1u << bit));
}

void array_macro_flip_psum(struct array_macro *m, int row, int col, int bit)
{
	float *sum = &m->psum[pe_index(m, row, col)];

	assert(bit >= 0 && bit < 32);
	if (!m->head.busy)
		return;
	*sum = array_float_of(array_float_bits(*sum) ^ 1u << bit);
	m->quiet[row] = 0; // so that the next step overwrites it
}

void array_macro_set_window(struct array_macro *m, int row, int col)
{
	int last_row = m->head.rows - ARRAY_MACRO_WINDOW;
	int last_col = m->head.cols - ARRAY_MACRO_WINDOW;

	m->head.window_row = row < last_row ? row : last_row;
	m->head.window_col = col < 0 ? 0 : col < last_col ? col : last_col;
}

bool array_macro_has_window(const struct array_macro *m)
{
	return m->head.window_row >= 0;
}

void array_macro_view(const struct array_macro *m, struct array_macro_view *view)
{
	view->valid = 0;
	view->row = m->head.window_row;
	view->col = m->head.window_col;
	for (int i = 0; i < ARRAY_MACRO_WINDOW * ARRAY_MACRO_WINDOW; i++) {
		int row = m->head.window_row + i / ARRAY_MACRO_WINDOW;
		int col = m->head.window_col + i % ARRAY_MACRO_WINDOW;
		bool valid;

		view->psum[i] = array_canonical_bits(array_float_bits(m->psum[pe_index(m, row, col)]));
		view->w0[i] = array_macro_weight(m, row, col, 0);
		view->w1[i] = array_macro_weight(m, row, col, 1);
		view->a[i] = array_macro_operand(m, row, col, &valid);
		view->valid |= (uint32_t)valid << i;
	}
}
