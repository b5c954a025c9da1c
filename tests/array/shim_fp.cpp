// SPDX-License-Identifier: Apache-2.0
//
// The verilated fp_units in loops, so that a test pays one call per block of operands.
#include "Vfp_units.h"
#include "models.h"

static Vfp_units *of(void *model)
{
	return static_cast<Vfp_units *>(model);
}

void *fp_units_create(void)
{
	return new Vfp_units;
}

void fp_units_free(void *model)
{
	delete of(model);
}

void fp_units_mul(void *model, const uint16_t *a, const uint16_t *b, uint32_t *product, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		of(model)->mul_a_i = a[i];
		of(model)->mul_b_i = b[i];
		of(model)->eval();
		product[i] = of(model)->mul_o;
	}
}

void fp_units_add(void *model, const uint32_t *a, const uint32_t *b, uint32_t *sum, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		of(model)->add_a_i = a[i];
		of(model)->add_b_i = b[i];
		of(model)->eval();
		sum[i] = of(model)->add_o;
	}
}

void fp_units_mul32(void *model, const uint32_t *a, const uint32_t *b, uint32_t *product, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		of(model)->mul32_a_i = a[i];
		of(model)->mul32_b_i = b[i];
		of(model)->eval();
		product[i] = of(model)->mul32_o;
	}
}

void fp_units_mac(void *model, const uint32_t *psum, const uint16_t *a, const uint16_t *b, uint32_t *sum, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		of(model)->mac_psum_i = psum[i];
		of(model)->mac_a_i = a[i];
		of(model)->mac_b_i = b[i];
		of(model)->eval();
		sum[i] = of(model)->mac_o;
	}
}

void fp_units_narrow(void *model, const uint32_t *value, uint16_t *half, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		of(model)->narrow_i = value[i];
		of(model)->eval();
		half[i] = of(model)->narrow_o;
	}
}
