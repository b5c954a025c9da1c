// SPDX-License-Identifier: Apache-2.0
//
// Vectors that operators make on the way to their results, computed once for the whole batch: of a normalization, of the loss, of a bias.
#include <assert.h>

#include "csim/golden/half.h"
#include "csim/golden/loss.h"
#include "driver/host/clock.h"
#include "driver/host/expect_internal.h"
#include "traces/alloc.h"

// What the vectors of a normalization are made from and of: sums per group, [sample][row][group] or [sample][group].
struct norm_job {
	struct golden_norm norm;
	struct golden_range all;
	const uint16_t *x, *dy, *gamma;
	const struct golden_norm_statistics *statistics;
	struct golden_norm_sums *row_sums, *totals, *channel_sums;
};

static int open_job(struct norm_job *job, struct expect *expect, int node, bool backward, struct wc_error *err)
{
	const uint16_t *x = expect_act(expect, node, err) ? expect_act(expect, expect->net->nodes[node].inputs[0], err) : NULL;
	const uint16_t *dy = x && backward ? expect_grad(expect, node, err) : NULL;
	const struct golden_norm norm = expect_norm(expect, node);
	const size_t rows = (size_t)norm.batch * (size_t)norm.height;

	*job = (struct norm_job){
		.norm = norm,
		.all = {0, norm.batch, 0, norm.height},
		.x = x,
		.dy = dy,
		.gamma = expect->data->gamma[node],
		.statistics = expect->statistics[node],
	};
	if (!x || (backward && !dy))
		return WC_ERR_SYSTEM;
	job->row_sums = wc_alloc(rows * (size_t)golden_norm_groups(&norm), sizeof(*job->row_sums));
	job->totals = wc_alloc((size_t)norm.batch * (size_t)golden_norm_groups(&norm), sizeof(*job->totals));
	job->channel_sums = wc_alloc(backward ? rows * (size_t)norm.channels : 0, sizeof(*job->channel_sums));
	if (!job->row_sums || !job->totals || !job->channel_sums)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for the sums of '%s'", expect->net->nodes[node].name);
	return 0;
}

static void close_job(struct norm_job *job)
{
	wc_free(job->row_sums);
	wc_free(job->totals);
	wc_free(job->channel_sums);
}

// Two vectors from sums per group: each channel has its group's, or only the first channel does. `stride`: elements from one sample or row to the next.
static void spread(const struct golden_norm *norm, const struct golden_norm_sums *sums, size_t count, bool all_channels, size_t stride, float *vectors)
{
	const size_t channels = (size_t)norm->channels, width = (size_t)norm->group_channels;

	for (size_t i = 0; i < count; i++, vectors += stride)
		for (size_t c = 0; c < channels; c += all_channels ? 1 : width) {
			const struct golden_norm_sums *of = &sums[i * (channels / width) + c / width];

			vectors[c] = of->first;
			vectors[channels + c] = of->second;
		}
}

static void fill_statistics(const struct norm_job *job, float *vectors)
{
	const size_t channels = (size_t)job->norm.channels, width = (size_t)job->norm.group_channels;

	for (size_t n = 0; n < (size_t)job->norm.batch; n++, vectors += 2 * channels)
		for (size_t c = 0; c < channels; c++) {
			const struct golden_norm_statistics *of = &job->statistics[n * (channels / width) + c / width];

			vectors[c] = of->mean;
			vectors[channels + c] = of->rstd;
		}
}

static void fill_shift(const struct norm_job *job, float *vectors)
{
	const size_t channels = (size_t)job->norm.channels, sample = (size_t)job->norm.height * (size_t)job->norm.width * channels;

	for (size_t n = 0; n < (size_t)job->norm.batch; n++)
		golden_halves_to_floats(vectors + n * channels, job->x + n * sample, channels);
}

static int fill_row_statistics(const struct norm_job *job, float *vectors, struct wc_error *err)
{
	const size_t rows = (size_t)job->norm.batch * (size_t)job->norm.height;
	int result = golden_norm_row_sums(&job->norm, job->x, job->all, job->row_sums, err);

	if (!result)
		spread(&job->norm, job->row_sums, rows, false, 2 * (size_t)job->norm.channels, vectors);
	return result;
}

static int fill_row_sums(const struct norm_job *job, float *vectors, struct wc_error *err)
{
	const size_t channels = (size_t)job->norm.channels, rows = (size_t)job->norm.batch * (size_t)job->norm.height;
	int result = golden_norm_gradient_row_sums(&job->norm, job->x, job->dy, job->statistics, job->gamma, job->all, job->row_sums, err);

	if (!result)
		result = golden_norm_parameter_row_sums(&job->norm, job->x, job->dy, job->statistics, job->all, job->channel_sums, err);
	if (result)
		return result;
	spread(&job->norm, job->row_sums, rows, false, 4 * channels, vectors);
	for (size_t i = 0; i < rows * channels; i++) {
		float *row = vectors + i / channels * 4 * channels + 2 * channels;

		row[i % channels] = job->channel_sums[i].first;
		row[channels + i % channels] = job->channel_sums[i].second;
	}
	return 0;
}

// The means take the totals' places.
static int fill_sums(const struct norm_job *job, float *vectors, struct wc_error *err)
{
	int result = golden_norm_gradient_row_sums(&job->norm, job->x, job->dy, job->statistics, job->gamma, job->all, job->row_sums, err);

	if (!result)
		result = golden_norm_combine(&job->norm, job->row_sums, job->all, job->totals, err);
	if (!result)
		result = golden_norm_gradient_means(&job->norm, job->totals, 0, job->norm.batch, job->totals, err);
	if (!result)
		spread(&job->norm, job->totals, (size_t)job->norm.batch, true, 2 * (size_t)job->norm.channels, vectors);
	return result;
}

static int fill_norm(struct expect *expect, const struct value *value, float *vectors, struct wc_error *err)
{
	struct norm_job job;
	int result = open_job(&job, expect, value->node, value->kind == SLAB_ROW_SUMS || value->kind == SLAB_SUMS, err);

	if (!result)
		switch (value->kind) {
		case SLAB_STATISTICS:
			fill_statistics(&job, vectors);
			break;
		case SLAB_SHIFT:
			fill_shift(&job, vectors);
			break;
		case SLAB_ROW_STATISTICS:
			result = fill_row_statistics(&job, vectors, err);
			break;
		case SLAB_ROW_SUMS:
			result = fill_row_sums(&job, vectors, err);
			break;
		default:
			assert(value->kind == SLAB_SUMS);
			result = fill_sums(&job, vectors, err);
			break;
		}
	close_job(&job);
	return result;
}

static int fill_softmax(struct expect *expect, const struct value *value, float *vectors, struct wc_error *err)
{
	const int batch = expect->data->batch;
	const struct golden_loss loss = {.batch = batch, .classes = expect->net->nodes[value->node].in.channels};
	const uint16_t *logits = expect_act(expect, expect->net->nodes[value->node].inputs[0], err);
	struct golden_softmax *softmax = wc_alloc((size_t)batch, sizeof(*softmax));
	int result = logits ? 0 : WC_ERR_SYSTEM;

	if (!result && !softmax)
		result = wc_fail(err, WC_ERR_SYSTEM, "out of memory for the softmax of %d samples", batch);
	if (!result)
		result = golden_softmax(&loss, logits, softmax, err);
	for (int n = 0; !result && n < batch; n++) {
		vectors[n] = softmax[n].largest;
		vectors[batch + n] = softmax[n].reciprocal;
		vectors[2 * batch + n] = softmax[n].logarithm;
	}
	wc_free(softmax);
	return result;
}

const float *expect_vectors(struct expect *expect, const struct value *value, struct wc_error *err)
{
	const struct value_shape shape = value_shape_of(expect->net, expect->data->batch, value);
	const size_t rows = (shape.samples ? (size_t)expect->data->batch : 1) * (size_t)shape.rows;
	float **kept = &expect->way[value->node].vectors[value->kind], *vectors;
	double start_s;
	int result = 0;

	if (*kept)
		return *kept;
	vectors = wc_alloc(rows * (size_t)shape.vectors * shape.count, sizeof(*vectors));
	if (!vectors) {
		wc_fail(err, WC_ERR_SYSTEM, "out of memory for what '%s' makes on the way", expect->net->nodes[value->node].name);
		return NULL;
	}
	start_s = clock_cpu_s();
	if (value->kind == SLAB_BIAS_WIDE)
		golden_halves_to_floats(vectors, expect->data->bias[value->node], rows);
	else
		result = (value->kind == SLAB_SOFTMAX ? fill_softmax : fill_norm)(expect, value, vectors, err);
	expect->cpu_s += clock_cpu_s() - start_s;
	if (result)
		wc_free(vectors);
	else
		*kept = vectors;
	return result ? NULL : vectors;
}
