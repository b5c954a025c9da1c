// SPDX-License-Identifier: Apache-2.0
//
// Planted faults: see faults.h.
#include "csim/rtl/shim/faults.h"

// 0: no bit is wrong.
static void set_lane_fault(struct faults *faults, uint32_t simd_bit, uint32_t relu_bit)
{
	*faults->state->simd_fault = simd_bit;
	*faults->state->relu_fault = relu_bit;
}

void faults_set(struct faults *faults, const struct wc_fault *fault)
{
	faults->fault = fault->core == faults->taps->core ? *fault : (struct wc_fault){ .kind = WC_FAULT_NONE };
	faults->due = false;
	set_lane_fault(faults, 0, 0);
}

// Whether one of the engines whose bits are set in `engines` is at the fault's command.
static bool is_command(const struct faults *faults, uint32_t engines, const uint32_t *index)
{
	for (int e = 0; e < TAP_ENGINES; e++)
		if ((engines >> e & 1) && index[e] == faults->fault.command)
			return true;
	return false;
}

static void strike_buffer(struct faults *faults)
{
	const struct wc_fault *f = &faults->fault;
	uint8_t byte;

	if (f->address < faults->params.buffer_bytes) {
		state_buffer_read(faults->state, (uint32_t)f->address, &byte, 1);
		byte ^= (uint8_t)(1u << f->bit % 8);
		state_buffer_write(faults->state, (uint32_t)f->address, &byte, 1);
	}
	faults->fault.kind = WC_FAULT_NONE;
}

static void strike_memory(struct faults *faults)
{
	const struct wc_fault *f = &faults->fault;

	if (wc_memory_contains(faults->memory, f->address, 1))
		*wc_memory_at(faults->memory, f->address, 1) ^= (uint8_t)(1u << f->bit % 8);
	faults->fault.kind = WC_FAULT_NONE;
}

// The wave's first vector enters row 0 in this cycle; it meets PE (row, column) later by the skew, which is when the wave begins to use the
// register and when nothing can still be loading it.
static void watch_weight(struct faults *faults, uint64_t cycle)
{
	const struct taps *t = faults->taps;
	const struct wc_fault *f = &faults->fault;

	if (!faults->due && (*t->events & TAP_WAVE_BEGIN) && *t->wave_cmd == f->command && (int)*t->wave_index == f->wave &&
	    f->row < faults->params.rows && f->column < faults->params.cols) {
		faults->due = true;
		faults->due_cycle = cycle + (uint64_t)(f->row * faults->params.mac_stages + f->column);
		faults->sel = (int)*t->feed_a_sel;
	}
	if (faults->due && cycle == faults->due_cycle) {
		state_flip_weight(faults->state, f->row, f->column, faults->sel, f->bit % 16);
		faults->fault.kind = WC_FAULT_NONE;
	}
}

// The row's sum is written at this cycle's edge; faults_after() breaks it then.
static void watch_accumulator(struct faults *faults)
{
	const struct taps *t = faults->taps;
	const struct wc_fault *f = &faults->fault;

	faults->due = (*t->events & TAP_ACCUMULATE) && *t->acc_cmd == f->command && (int)*t->acc_wave == f->wave && (int)*t->acc_row == f->row &&
		      f->column < faults->params.cols;
	faults->side = (int)*t->acc_side;
}

// A result of a SIMD is made at the edge of the cycle in which it is put; a chunk of a VECTOR stands at the port until the cycle in which it is taken, from an
// edge before on.
static void watch_lane(struct faults *faults)
{
	const struct taps *t = faults->taps;
	const struct wc_fault *f = &faults->fault;
	uint32_t lane = (uint32_t)f->column, simd_bit = 1 + 32 * lane + (uint32_t)f->bit % 32, relu_bit = 1 + 16 * lane + (uint32_t)f->bit % 16;
	bool is_next;

	if (*t->events & 1 << TAP_VECTOR) {
		faults->due = t->begin_index[TAP_VECTOR] == f->command && lane < wc_device_lanes(&faults->params);
		faults->put = 0;
	}
	is_next = faults->due && faults->put == (uint64_t)f->row;
	if (*t->events & TAP_PUT)
		faults->put++;
	set_lane_fault(faults, is_next ? simd_bit : 0, faults->due && faults->put == (uint64_t)f->row ? relu_bit : 0);
}

void faults_before(struct faults *faults, uint64_t cycle)
{
	const struct taps *t = faults->taps;

	switch (faults->fault.kind) {
	case WC_FAULT_BUFFER:
		if (is_command(faults, *t->events & TAP_BEGIN, t->begin_index))
			strike_buffer(faults);
		break;
	case WC_FAULT_MEMORY:
		if (is_command(faults, (*t->events & TAP_END) >> 4, t->end_index))
			strike_memory(faults);
		break;
	case WC_FAULT_WEIGHT:
		watch_weight(faults, cycle);
		break;
	case WC_FAULT_ACCUMULATOR:
		watch_accumulator(faults);
		break;
	case WC_FAULT_LANE:
		watch_lane(faults);
		break;
	case WC_FAULT_NONE:
		break;
	}
}

void faults_after(struct faults *faults)
{
	const struct wc_fault *f = &faults->fault;

	if (!faults->due)
		return;
	if (f->kind == WC_FAULT_ACCUMULATOR) {
		state_flip_accumulator(faults->state, faults->side, f->row, f->column, f->bit % 32);
		faults->fault.kind = WC_FAULT_NONE;
	} else if (f->kind == WC_FAULT_LANE && faults->put > (uint64_t)f->row) {
		set_lane_fault(faults, 0, 0);
		faults->fault.kind = WC_FAULT_NONE;
	}
}
