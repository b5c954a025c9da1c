// SPDX-License-Identifier: Apache-2.0
#include "csim/array/state.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN_BYTES = 64 };

// Reserve `count` words of 32 bits at the end of the layout; with an arena, return where they lie.
static void *take(void *arena, size_t *offset, size_t count)
{
	void *at = arena ? (char *)arena + *offset : NULL;

	*offset += (count * sizeof(uint32_t) + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
	return at;
}

static size_t lay_out(struct array_macro *m)
{
	size_t rows = (size_t)m->head.rows;
	size_t cols = (size_t)m->head.cols;
	size_t ring = (size_t)m->head.ring;
	size_t split = m->head.stages == 2 ? rows * cols : 0;
	size_t offset = 0;

	m->w[0] = take(m->arena, &offset, rows * cols);
	m->w[1] = take(m->arena, &offset, rows * cols);
	m->psum = take(m->arena, &offset, rows * cols);
	m->product = take(m->arena, &offset, split);
	m->addend = take(m->arena, &offset, split);
	m->zeros = take(m->arena, &offset, cols);
	m->a = take(m->arena, &offset, rows * ring);
	m->valid = take(m->arena, &offset, rows * ring);
	m->use1 = take(m->arena, &offset, rows * ring);
	m->load = take(m->arena, &offset, ring);
	m->n_valid = take(m->arena, &offset, rows);
	m->n_use1 = take(m->arena, &offset, rows);
	m->quiet = take(m->arena, &offset, rows);
	m->bus = take(m->arena, &offset, cols);
	return offset;
}

int array_state_alloc(struct array_macro *m, struct wc_error *err)
{
	m->arena = NULL;
	m->arena_bytes = lay_out(m);
	m->arena = aligned_alloc(ALIGN_BYTES, m->arena_bytes);
	if (!m->arena)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory: array '%s' of %d x %d needs %zu bytes", m->head.name,
			       m->head.rows, m->head.cols, m->arena_bytes);
	memset(m->arena, 0, m->arena_bytes);
	lay_out(m);
	return 0;
}
