// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/device/fit.h"

#include <inttypes.h>
#include <stdlib.h>

#include "driver/plan/device/expand.h"

static int no_fit(const struct expansion *x, const struct fit *fit, const char *how)
{
	char where[200];

	return wc_fail(x->err, WC_ERR_INPUT, "cannot fit layer '%s' in %s: needs %" PRIu64 " bytes%s, buffer has %u", x->net->nodes[fit->node].name,
		       expand_group_text(x, where, sizeof(where)), fit->live_bytes, how, x->schedule->buffer_bytes);
}

// Expand strip x->strip and place it beside `resident` bytes.
static int fit_strip(struct expansion *x, uint64_t resident, struct fit *fit)
{
	int slab_first = x->program->slab_count, count, step, rc;
	uint32_t buffer = x->schedule->buffer_bytes;
	struct piece *pieces;
	uint64_t live;
	int *roots;

	rc = expand_strip(x);
	if (rc)
		return rc;
	rc = expand_pieces(x, slab_first, &pieces, &roots, &count);
	if (rc)
		return rc;
	rc = place_live_bytes(pieces, count, &live, &step);
	live += resident;
	if (!rc && live > fit->live_bytes) {
		fit->live_bytes = live;
		fit->node = count ? expand_layer_at(x, step) : x->group->first;
	}
	if (!rc)
		rc = live > buffer ? WC_ERR_INPUT : place_offline(pieces, count, buffer - (uint32_t)resident);
	free(pieces);
	free(roots);
	if (rc == WC_ERR_SYSTEM)
		return wc_fail(x->err, rc, "out of memory");
	return rc ? no_fit(x, fit, live > buffer ? "" : " in pieces that do not fit together") : 0;
}

static int fit_iteration(struct expansion *x, int iteration, int samples, uint64_t resident, struct fit *fit)
{
	int rc = 0;

	for (int strip = 0; !rc && strip < x->group->strip_count; strip++) {
		x->iteration = iteration;
		x->strip = strip;
		x->sample_count = samples;
		rc = fit_strip(x, resident, fit);
	}
	return rc;
}

int fit_group(const struct schedule *schedule, const struct sched_group *group, const struct net *net, struct fit *fit, struct wc_error *err)
{
	int full = schedule->batch / group->sub_batch, rest = schedule->batch % group->sub_batch, rc;
	struct program program;
	struct expansion x;
	uint64_t resident = 0;

	*fit = (struct fit){ .live_bytes = 0, .node = group->first };
	rc = expand_init(&x, &program, schedule, net, err);
	if (rc)
		return rc;
	rc = expand_begin_group(&x, group, schedule->group_count);
	for (int i = 0; i < program.slab_count; i++)
		resident += program.slabs[i].bytes;
	if (!rc && resident > schedule->buffer_bytes) {
		fit->live_bytes = resident;
		rc = no_fit(&x, fit, "");
	}
	// The first iteration loads no sums, the others do, and the last may have fewer samples.
	if (!rc && full > 0)
		rc = fit_iteration(&x, 0, group->sub_batch, resident, fit);
	if (!rc && full > 1 && group->phase == SCHED_BACKWARD)
		rc = fit_iteration(&x, 1, group->sub_batch, resident, fit);
	if (!rc && rest > 0)
		rc = fit_iteration(&x, full, rest, resident, fit);
	expand_release(&x);
	program_release(&program);
	return rc;
}
