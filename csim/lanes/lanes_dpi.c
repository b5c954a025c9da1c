// SPDX-License-Identifier: Apache-2.0
//
// The functions that rtl/sim/simd_lanes_dpi.sv imports.
#include "csim/lanes/lanes_dpi.h"

#include <stdio.h>
#include <string.h>

#include "csim/lanes/lane_macro.h"

void *lanes_dpi_create(const char *name, int lanes)
{
	struct wc_error err = {{0}};
	struct lane_macro *m;

	// The model stops with $fatal; DPI has no other way to carry the text.
	if (lane_macro_create(name, lanes, &m, &err)) {
		fprintf(stderr, "error: %s\n", err.text);
		return NULL;
	}
	return m;
}

void lanes_dpi_free(void *lanes)
{
	lane_macro_free(lanes);
}

void lanes_dpi_line(void *lanes, int slot, int high, const uint32_t *line)
{
	lane_macro_line(lanes, slot, high != 0, line);
}

void lanes_dpi_fire(void *lanes, int code, int has_vector, int head, int type, int shift, int scalar_a, int scalar_b, int channel, int active,
		    const uint32_t *first)
{
	lane_macro_fire(lanes, &(struct lane_macro_inputs){
		.code = (uint32_t)code,
		.has_vector = has_vector != 0,
		.head = head,
		.type = type,
		.shift = shift,
		.scalar_a = (uint32_t)scalar_a,
		.scalar_b = (uint32_t)scalar_b,
		.channel = (uint32_t)channel,
		.active = (uint32_t)active,
		.first = first,
	});
}

void lanes_dpi_result(void *lanes, uint32_t *result)
{
	const struct lane_macro *m = lanes;

	memcpy(result, lane_macro_result(m), (size_t)lane_macro_lanes(m) * sizeof(*result));
}
