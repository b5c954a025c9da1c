// SPDX-License-Identifier: Apache-2.0
//
// C view of the verilated test models. The shims (shim_*.cpp) only copy ports and clock.
#ifndef WC_TESTS_ARRAY_MODELS_H
#define WC_TESTS_ARRAY_MODELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MAX_LANES = 128 };

// ---- rtl/array_trio.sv ---------------------------------------------------------------------------

// Packed as at the ports: 32 bits per word, least significant first.
struct trio_inputs {
	uint32_t a[MAX_LANES / 2], a_valid[MAX_LANES / 32], a_sel[MAX_LANES / 32];
	uint32_t w[MAX_LANES / 2], w_en[MAX_LANES / 32], w_sel[MAX_LANES / 32];
	bool rst_n, en;
};

enum trio_form { FORM_RTL, FORM_FAST, FORM_DPI, FORMS };

// What a form shows at its ports.
struct trio_outputs {
	uint32_t psum[MAX_LANES], valid[MAX_LANES / 32];
};

struct trio_ops {
	const char *name;
	int rows, cols, stages;
	void *(*create)(void);
	void (*free)(void *model);
	// One clock cycle with these inputs; then the outputs after the rising edge.
	void (*clock)(void *model, const struct trio_inputs *in, struct trio_outputs out[FORMS]);
	// array_fast's weight registers and partial sums, indexed as rtl/sim/array_probe.vlt says.
	uint32_t *(*fast_w)(void *model, int sel);
	uint32_t *(*fast_psum)(void *model);
	// Full hierarchical name of the array_dpi instance, owned by the model.
	const char *(*dpi_name)(void *model);
};

extern const struct trio_ops trio_4x4_1, trio_4x8_2, trio_16x16_1, trio_8x32_2, trio_128x64_1;

// ---- rtl/fp_units.sv -----------------------------------------------------------------------------

void *fp_units_create(void);
void fp_units_free(void *model);
void fp_units_mul(void *model, const uint16_t *a, const uint16_t *b, uint32_t *product, size_t count);
void fp_units_add(void *model, const uint32_t *a, const uint32_t *b, uint32_t *sum, size_t count);
void fp_units_mul32(void *model, const uint32_t *a, const uint32_t *b, uint32_t *product, size_t count);
void fp_units_mac(void *model, const uint32_t *psum, const uint16_t *a, const uint16_t *b, uint32_t *sum, size_t count);
void fp_units_narrow(void *model, const uint32_t *value, uint16_t *half, size_t count);

// ---- rtl/skew_set.sv -----------------------------------------------------------------------------

enum skew_line { SKEW_IN, SKEW_TWO, SKEW_OUT, SKEW_LINES };

// Packed lanes of one line; the longest is 128 lanes of 33 bits.
struct skew_row {
	uint32_t words[128 * 33 / 32];
};

void *skew_set_create(void);
void skew_set_free(void *model);
void skew_set_reset(void *model);
// Outputs before the rising edge (lanes of delay 0 pass straight through), then the edge.
void skew_set_clock(void *model, bool en, const struct skew_row in[SKEW_LINES], struct skew_row out[SKEW_LINES]);

// ---- rtl/lanes_pair.sv ---------------------------------------------------------------------------

enum { PAIR_LANES = 32 };

// Ports of rtl/simd_lanes.v.
struct lanes_inputs {
	bool line, slot_high, fire, vector, put;
	uint8_t slot, head, type, shift;
	uint32_t rdata[PAIR_LANES / 2];
	uint32_t code, literal_a, literal_b, constants[4], channel;
	uint16_t tap, active;
	uint32_t first;
};

struct lanes_outputs {
	uint32_t rtl_put[PAIR_LANES], dpi_put[PAIR_LANES];
	uint32_t rtl_registers[8][PAIR_LANES], rtl_predicate;
};

struct lane_macro;

void *lanes_pair_create(void);
void lanes_pair_free(void *model);
// One clock cycle with these inputs; then the outputs after the rising edge.
void lanes_pair_clock(void *model, const struct lanes_inputs *in, struct lanes_outputs *out);
// The C form's state, owned by the model.
struct lane_macro *lanes_pair_macro(void *model);

#ifdef __cplusplus
}
#endif
#endif
