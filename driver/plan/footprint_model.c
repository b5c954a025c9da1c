// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/footprint_model.h"

#include <stdlib.h>

#include "driver/plan/footprint_segments.h"

static const struct {
	const char *name;
	enum sched_tiling tiling;
	bool hybrid;
} forms[FOOTPRINT_FORMS] = {
	[FOOTPRINT_COLUMN] = { "column", SCHED_TILING_NONE, false },
	[FOOTPRINT_CHECKPOINT_SQRT] = { "checkpoint-sqrt", SCHED_TILING_NONE, false },
	[FOOTPRINT_CHECKPOINT] = { "checkpoint", SCHED_TILING_NONE, true },
	[FOOTPRINT_OVERL] = { "overl", SCHED_TILING_OVERL, false },
	[FOOTPRINT_2PS] = { "2ps", SCHED_TILING_2PS, false },
	[FOOTPRINT_OVERL_H] = { "overl-h", SCHED_TILING_OVERL, true },
	[FOOTPRINT_2PS_H] = { "2ps-h", SCHED_TILING_2PS, true },
};

const char *footprint_form_name(enum footprint_form form)
{
	return forms[form].name;
}

bool footprint_is_tiled(enum footprint_form form)
{
	return forms[form].tiling != SCHED_TILING_NONE;
}

// Units first.. to the end as column has them, with their input.
static int column_bits(const struct footprint_units *units, int first, uint64_t *bits, struct wc_error *err)
{
	const struct footprint_stretch stretch = { .first = footprint_first_node(units, first), .last = units->graph.output };
	int rc = footprint_live_bits(&units->graph, &stretch, bits, err);

	*bits += footprint_input_bits(units, first);
	return rc;
}

static int model_column(struct footprint *footprint, const struct footprint_units *units, struct wc_error *err)
{
	footprint->segments = 1;
	return column_bits(units, 0, &footprint->sample_bits, err);
}

static int model_sqrt(struct footprint *footprint, struct footprint_units *units, struct wc_error *err)
{
	uint64_t kept = 0;
	int rc = footprint_find_ways(units, SCHED_TILING_NONE, 0, err);

	while (footprint->segments * footprint->segments < units->count)
		footprint->segments++;
	for (int i = 0; !rc && i < footprint->segments; i++) {
		const int first = i * units->count / footprint->segments, last = (i + 1) * units->count / footprint->segments - 1;
		const struct footprint_way *way = footprint_way_at(units, first, last, FOOTPRINT_AGAIN);

		kept += way->keep_bits;
		if (kept + way->live_bits > footprint->sample_bits)
			footprint->sample_bits = kept + way->live_bits;
	}
	return rc;
}

// The first segment in strips, the rest as column, or all of it.
static int model_plain(struct footprint *footprint, const struct footprint_units *units, enum sched_tiling tiling, int strips, struct wc_error *err)
{
	int rc = model_column(footprint, units, err);

	for (int last = 0; !rc && last < units->run; last++) {
		struct footprint_way way;
		uint64_t rest = 0, peak;

		rc = footprint_tile(units, 0, last, tiling, strips, &way, err);
		if (!rc && last + 1 < units->count)
			rc = column_bits(units, last + 1, &rest, err);
		peak = way.keep_bits + (way.live_bits > rest ? way.live_bits : rest);
		if (rc || !way.possible || peak >= footprint->sample_bits)
			continue;
		footprint->sample_bits = peak;
		footprint->segments = last + 1 < units->count ? 2 : 1;
		footprint->tiled = 1;
		footprint->last = units->last[last];
	}
	return rc;
}

static int model_segments(struct footprint *footprint, struct footprint_units *units, enum sched_tiling tiling, int strips, struct wc_error *err)
{
	int *ends = calloc((size_t)units->count, sizeof(*ends));
	bool *tiled = calloc((size_t)units->count, sizeof(*tiled));
	int rc = ends && tiled ? footprint_find_ways(units, tiling, tiling == SCHED_TILING_NONE ? 0 : strips, err)
			       : wc_fail(err, WC_ERR_SYSTEM, "out of memory");

	if (!rc)
		rc = footprint_cut(units, &footprint->sample_bits, ends, tiled, &footprint->segments, err);
	for (int i = 0; !rc && i < footprint->segments; i++) {
		if (tiled[i] && !footprint->tiled++)
			footprint->last = units->last[ends[i]];
	}
	free(ends);
	free(tiled);
	return rc;
}

// What reads the end of the first run of units that can be tiled.
static int barrier_of(const struct footprint_units *units)
{
	const struct net *net = units->graph.net;
	const int last = units->run ? units->last[units->run - 1] : 0;

	return net->nodes[last].consumer_count && net->nodes[net->nodes[last].consumers[0]].op != NET_LOSS ? net->nodes[last].consumers[0] : 0;
}

int footprint_model(struct footprint *footprint, const struct net *net, enum footprint_form form, int strips, int cores, struct wc_error *err)
{
	struct footprint_units units;
	int rc = footprint_units_init(&units, net, err);

	*footprint = (struct footprint){ .cores = cores, .fixed_bytes = (2 + 4 * (uint64_t)cores) * (uint64_t)net_total_parameters(net) };
	if (!rc) {
		footprint->barrier = barrier_of(&units);
		// A loss alone is no unit.
		if (!units.count)
			footprint->sample_bits = 16 * (uint64_t)paper_elements(&net->nodes[0]);
		else if (form == FOOTPRINT_COLUMN)
			rc = model_column(footprint, &units, err);
		else if (form == FOOTPRINT_CHECKPOINT_SQRT)
			rc = model_sqrt(footprint, &units, err);
		else if (forms[form].hybrid)
			rc = model_segments(footprint, &units, forms[form].tiling, strips, err);
		else
			rc = model_plain(footprint, &units, forms[form].tiling, strips, err);
	}
	footprint_units_release(&units);
	return rc;
}

uint64_t footprint_bytes(const struct footprint *footprint, uint64_t batch)
{
	return footprint->fixed_bytes + (batch * footprint->sample_bits + 7) / 8;
}

uint64_t footprint_largest_batch(const struct footprint *footprint, uint64_t dram_bytes)
{
	const uint64_t samples = dram_bytes < footprint->fixed_bytes ? 0 : 8 * (dram_bytes - footprint->fixed_bytes) / footprint->sample_bits;

	return samples - samples % (uint64_t)footprint->cores;
}

// Whether an image's step fits. An image that the network cannot take does not.
static int try_image(const char *net_name, enum footprint_form form, int strips, int batch, int cores, uint64_t dram_bytes, int image, bool *fits,
		     struct wc_error *err)
{
	struct footprint footprint;
	struct net net;
	int rc = net_open(&net, net_name, image, err);

	*fits = false;
	if (rc)
		return rc == WC_ERR_INPUT ? 0 : rc;
	rc = footprint_model(&footprint, &net, form, strips, cores, err);
	*fits = !rc && footprint_bytes(&footprint, (uint64_t)batch) <= dram_bytes;
	net_release(&net);
	return rc;
}

int footprint_largest_image(const char *net_name, enum footprint_form form, int strips, int batch, int cores, uint64_t dram_bytes, int *image,
			    struct wc_error *err)
{
	struct net net;
	int rc = net_open(&net, net_name, 0, err), low, high;
	bool fits;

	*image = 0;
	if (rc)
		return rc;
	low = net.nodes[0].out.height;
	net_release(&net);
	// A size that fits, the network's own or a smaller one, and one that does not.
	rc = try_image(net_name, form, strips, batch, cores, dram_bytes, low, &fits, err);
	for (; !rc && !fits && low > 1; low /= 2)
		rc = try_image(net_name, form, strips, batch, cores, dram_bytes, low / 2, &fits, err);
	if (rc || !fits)
		return rc;
	for (high = 2 * low; !rc && high <= NET_IMAGE_MAX; high *= 2) {
		rc = try_image(net_name, form, strips, batch, cores, dram_bytes, high, &fits, err);
		if (!fits)
			break;
		low = high;
	}
	high = high > NET_IMAGE_MAX ? NET_IMAGE_MAX + 1 : high;
	while (!rc && low + 1 < high) {
		const int middle = low + (high - low) / 2;

		rc = try_image(net_name, form, strips, batch, cores, dram_bytes, middle, &fits, err);
		*(fits ? &low : &high) = middle;
	}
	*image = rc ? 0 : low;
	return rc;
}
