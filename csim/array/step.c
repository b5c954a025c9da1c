// SPDX-License-Identifier: Apache-2.0
//
// One clock edge of the array macro.
#include <string.h>

#include "csim/array/half.h"
#include "csim/array/kernel.h"
#include "csim/array/state.h"

static bool bit_of(const uint32_t *words, int i)
{
	return words[i >> 5] >> (i & 31) & 1;
}

static uint16_t half_of(const uint32_t *words, int i)
{
	return (uint16_t)(words[i >> 1] >> (i & 1) * 16);
}

static bool any(const uint32_t *words, int bits)
{
	uint32_t all = 0;

	for (int i = 0; i < (bits + 31) / 32; i++)
		all |= words[i];
	return all != 0;
}

void array_macro_reset(struct array_macro *m)
{
	size_t rows = (size_t)m->head.rows;
	size_t ring = (size_t)m->head.ring;

	m->head.at = m->head.load_at = m->head.ring - m->head.cols - 1;
	m->head.busy = m->head.loading = 0;
	memset(m->psum, 0, rows * (size_t)m->head.cols * sizeof(*m->psum));
	memset(m->valid, 0, rows * ring * sizeof(*m->valid));
	memset(m->use1, 0, rows * ring * sizeof(*m->use1));
	memset(m->load, -1, ring * sizeof(*m->load));
	memset(m->n_valid, 0, rows * sizeof(*m->n_valid));
	memset(m->n_use1, 0, rows * sizeof(*m->n_use1));
	for (size_t r = 0; r < rows; r++)
		m->quiet[r] = m->head.stages;
}

// Make room for one entry before `at`. What is still needed, the columns and one entry that has just left, goes to the end
// of the ring once it has reached the start.
static void open_rings(struct array_macro *m)
{
	int keep = m->head.cols + 1;

	if (m->head.at == 0) {
		int to = m->head.ring - keep;

		for (int r = 0; r < m->head.rows; r++) {
			size_t base = (size_t)r * (size_t)m->head.ring;

			memcpy(m->a + base + to, m->a + base, (size_t)keep * sizeof(*m->a));
			memcpy(m->valid + base + to, m->valid + base, (size_t)keep * sizeof(*m->valid));
			memcpy(m->use1 + base + to, m->use1 + base, (size_t)keep * sizeof(*m->use1));
		}
		m->head.at = to;
	}
	m->head.at--;
}

// Take this cycle's operand of every row into column 0 and move the others one column on.
static void shift_operands(struct array_macro *m, const struct array_macro_inputs *in)
{
	open_rings(m);
	for (int r = 0; r < m->head.rows; r++) {
		size_t enter = (size_t)r * (size_t)m->head.ring + (size_t)m->head.at;
		size_t leave = enter + (size_t)m->head.cols;
		bool valid = bit_of(in->a_valid, r);
		bool use1 = valid && bit_of(in->a_sel, r);

		m->a[enter] = array_half_to_float(half_of(in->a, r));
		m->valid[enter] = valid ? UINT32_MAX : 0;
		m->use1[enter] = use1 ? UINT32_MAX : 0;
		m->n_valid[r] += valid - (int)(m->valid[leave] & 1);
		m->n_use1[r] += use1 - (int)(m->use1[leave] & 1);
	}
}

static void step_row(struct array_macro *m, int r)
{
	int cols = m->head.cols;
	size_t at = (size_t)r * (size_t)m->head.ring + (size_t)m->head.at;
	size_t pe = (size_t)r * (size_t)cols;
	const float *above = r ? m->psum + pe - cols : m->zeros;
	const float *w0 = m->w[0] + pe;
	const float *w1 = m->w[1] + pe;

	if (m->head.stages == 2) {
		// The product pending at a column is that of the operand now one column further.
		array_add_row(m->psum + pe, m->addend + pe, m->product + pe, m->valid + at + 1, cols);
		memcpy(m->addend + pe, above, (size_t)cols * sizeof(*above));
		array_mul_row(m->product + pe, m->a + at, w0, w1, m->use1 + at, cols);
	} else if (m->n_valid[r] == cols && (m->n_use1[r] == 0 || m->n_use1[r] == cols)) {
		array_mac_row(m->psum + pe, above, m->a + at, m->n_use1[r] ? w1 : w0, cols);
	} else {
		array_mac_row_masked(m->psum + pe, above, m->a + at, w0, w1, m->valid + at, m->use1 + at, cols);
	}
}

static void step_grid(struct array_macro *m, const struct array_macro_inputs *in)
{
	shift_operands(m, in);
	// From the bottom up, so that every row still finds the old sums above it.
	for (int r = m->head.rows - 1; r >= 0; r--) {
		if (m->n_valid[r])
			m->quiet[r] = 0;
		else if (m->quiet[r] >= m->head.stages)
			continue;
		else
			m->quiet[r]++;
		step_row(m, r);
	}
}

static void load_weights(struct array_macro *m, const struct array_macro_inputs *in)
{
	int cols = m->head.cols;
	int entry = -1;

	for (int r = 0; r < m->head.rows && entry < 0; r++)
		if (bit_of(in->w_en, r))
			entry = 2 * r + bit_of(in->w_sel, r);

	if (m->head.load_at == 0) {
		m->head.load_at = m->head.ring - cols;
		memcpy(m->load + m->head.load_at, m->load, (size_t)cols * sizeof(*m->load));
	}
	m->load[--m->head.load_at] = entry;

	for (int c = 0; c < cols; c++)
		m->bus[c] = array_half_to_float(half_of(in->w, c));
	for (int c = 0; c < cols; c++) {
		int load = m->load[m->head.load_at + c];

		if (load >= 0)
			m->w[load & 1][(size_t)(load >> 1) * (size_t)cols + (size_t)c] = m->bus[c];
	}
}

static void write_ports(const struct array_macro *m, uint32_t *psum, uint32_t *psum_valid)
{
	int cols = m->head.cols;
	int last = m->head.rows - 1;
	const float *sums = m->psum + (size_t)last * (size_t)cols;
	const uint32_t *valid = m->valid + (size_t)last * (size_t)m->head.ring + m->head.at + m->head.stages - 1;

	for (int c = 0; c < cols; c++)
		psum[c] = array_canonical_bits(array_float_bits(sums[c]));
	for (int base = 0; base < cols; base += 32) {
		uint32_t word = 0;

		for (int c = base; c < cols && c < base + 32; c++)
			word |= (valid[c] & 1) << (c - base);
		psum_valid[base / 32] = word;
	}
}

bool array_macro_step(struct array_macro *m, const struct array_macro_inputs *in, uint32_t *psum, uint32_t *psum_valid)
{
	int rows = m->head.rows;
	int cols = m->head.cols;

	// An operand crosses the columns and its last sum is cleared one step after it was valid.
	if (any(in->a_valid, rows))
		m->head.busy = cols + m->head.stages;
	if (any(in->w_en, rows))
		m->head.loading = cols;

	if (m->head.busy) {
		m->head.busy--;
		step_grid(m, in);
		write_ports(m, psum, psum_valid);
	} else {
		memset(psum, 0, (size_t)cols * sizeof(*psum));
		memset(psum_valid, 0, (size_t)(cols + 31) / 32 * sizeof(*psum_valid));
	}
	// After the sums: a weight captured at this edge is used from the next cycle on.
	if (m->head.loading) {
		m->head.loading--;
		load_weights(m, in);
	}
	return m->head.busy || m->head.loading;
}
