// SPDX-License-Identifier: Apache-2.0
//
// oneDNN 2.6 has no group normalization; a layer normalization of a group's elements laid out in one line, one line a sample, is
// one. Its scale and shift are then per element, and the gradients of those of one channel belong together.
#include <stdlib.h>

#include "tests/golden/onednn.h"
#include "tests/golden/onednn_primitive.h"

enum { FLAGS = dnnl_use_scale | dnnl_use_shift };

struct lines {
	dnnl_memory_desc_t data, statistics, parameter;
	float *x, *y, *dy, *dx, *mean, *variance, *gamma, *beta, *dgamma, *dbeta;
};

static struct lines lines_create(int batch, int length)
{
	struct lines lines = {
	    .data = onednn_describe(2, (dnnl_dims_t){batch, length}, dnnl_ab),
	    .statistics = onednn_describe(1, (dnnl_dims_t){batch}, dnnl_a),
	    .parameter = onednn_describe(1, (dnnl_dims_t){length}, dnnl_a),
	};
	float **const whole[] = {&lines.x, &lines.y, &lines.dy, &lines.dx},
		      **const one[] = {&lines.gamma, &lines.beta, &lines.dgamma, &lines.dbeta};

	for (int i = 0; i < 4; i++) {
		*whole[i] = rig_zeros((size_t)batch * length, sizeof(float));
		*one[i] = rig_zeros(length, sizeof(float));
	}
	lines.mean = rig_zeros(batch, sizeof(float));
	lines.variance = rig_zeros(batch, sizeof(float));
	return lines;
}

static void lines_free(struct lines *lines)
{
	free(lines->x);
	free(lines->y);
	free(lines->dy);
	free(lines->dx);
	free(lines->mean);
	free(lines->variance);
	free(lines->gamma);
	free(lines->beta);
	free(lines->dgamma);
	free(lines->dbeta);
}

static void run(struct lines *lines, float eps)
{
	struct onednn_tensor forward_tensors[] = {
	    {DNNL_ARG_SRC, lines->data, lines->x},
	    {DNNL_ARG_DST, lines->data, lines->y},
	    {DNNL_ARG_MEAN, lines->statistics, lines->mean},
	    {DNNL_ARG_VARIANCE, lines->statistics, lines->variance},
	    {DNNL_ARG_SCALE, lines->parameter, lines->gamma},
	    {DNNL_ARG_SHIFT, lines->parameter, lines->beta},
	};
	struct onednn_tensor backward_tensors[] = {
	    {DNNL_ARG_SRC, lines->data, lines->x},
	    {DNNL_ARG_DIFF_DST, lines->data, lines->dy},
	    {DNNL_ARG_MEAN, lines->statistics, lines->mean},
	    {DNNL_ARG_VARIANCE, lines->statistics, lines->variance},
	    {DNNL_ARG_SCALE, lines->parameter, lines->gamma},
	    {DNNL_ARG_SHIFT, lines->parameter, lines->beta},
	    {DNNL_ARG_DIFF_SRC, lines->data, lines->dx},
	    {DNNL_ARG_DIFF_SCALE, lines->parameter, lines->dgamma},
	    {DNNL_ARG_DIFF_SHIFT, lines->parameter, lines->dbeta},
	};
	dnnl_layer_normalization_desc_t operation;
	dnnl_primitive_desc_t forward, backward;

	ONEDNN_CHECK(dnnl_layer_normalization_forward_desc_init(&operation, dnnl_forward_training, &lines->data,
								&lines->statistics, eps, FLAGS));
	forward = onednn_prepare(&operation, NULL);
	onednn_execute(forward, forward_tensors, 6, NULL);
	ONEDNN_CHECK(dnnl_layer_normalization_backward_desc_init(&operation, dnnl_backward, &lines->data, &lines->data,
								 &lines->statistics, eps, FLAGS));
	backward = onednn_prepare(&operation, forward);
	onednn_execute(backward, backward_tensors, 9, NULL);
	ONEDNN_CHECK(dnnl_primitive_desc_destroy(backward));
	ONEDNN_CHECK(dnnl_primitive_desc_destroy(forward));
}

void onednn_norm(const struct golden_norm *norm, const float *x, const float *dy, const float *gamma, const float *beta, float *y,
		 float *dx, double *dgamma, double *dbeta)
{
	int pixels = norm->height * norm->width, length = pixels * norm->group_channels;
	struct lines lines = lines_create(norm->batch, length);

	for (int first = 0; first < norm->channels; first += norm->group_channels) {
		for (int i = 0; i < norm->batch * length; i++) {
			size_t at = (size_t)(i / norm->group_channels) * norm->channels + first + i % norm->group_channels;

			lines.x[i] = x[at];
			lines.dy[i] = dy[at];
			lines.gamma[i % length] = gamma[at % norm->channels];
			lines.beta[i % length] = beta[at % norm->channels];
		}
		run(&lines, norm->eps);
		for (int c = first; c < first + norm->group_channels; c++)
			dgamma[c] = dbeta[c] = 0;
		for (int i = 0; i < norm->batch * length; i++) {
			size_t at = (size_t)(i / norm->group_channels) * norm->channels + first + i % norm->group_channels;

			y[at] = lines.y[i];
			dx[at] = lines.dx[i];
		}
		for (int i = 0; i < length; i++) {
			dgamma[first + i % norm->group_channels] += lines.dgamma[i];
			dbeta[first + i % norm->group_channels] += lines.dbeta[i];
		}
	}
	lines_free(&lines);
}
