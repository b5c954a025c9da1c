// SPDX-License-Identifier: Apache-2.0
//
// Planted faults, to prove that a run finds them: one bit, flipped once.
//
//     buffer:command=N,address=A,bit=B             byte A of the global buffer, when command N begins
//     weight:command=N,wave=W,row=R,column=C,bit=B weight register in use of PE (R, C), in wave W of GEMM N
//     accumulator:command=N,wave=W,row=M,column=C,bit=B  after wave W was added
//     lane:command=N,row=V,column=L,bit=B          what lane L of the vector unit writes in vector V (from 0) of VECTOR or SIMD N
//     memory:command=N,address=A,bit=B             byte A of the DRAM, when command N has ended
//     command:command=N,address=A,bit=B            byte A (0..255) of command N in the ring
//
// Numbers are decimal or 0x hexadecimal. Every key of the kind must be given, once, in any order; beside them core=C, whose command it is
// (default 0).
#ifndef WC_FAULT_SPEC_H
#define WC_FAULT_SPEC_H

#include "csim/backend.h"

struct fault {
	struct wc_fault device; // kind WC_FAULT_NONE: nothing for the device to do
	bool in_command;        // flip bit device.bit of byte device.address of command device.command, in the ring
};

// WC_ERR_INPUT quotes the word at fault and what is known.
int fault_parse(struct fault *fault, const char *text, struct wc_error *err);
// Whether the place is there in a device: row, column, address of the buffer. Commands and waves are known when it runs alone.
int fault_check(const struct fault *fault, const struct wc_device_params *params, struct wc_error *err);
// Whether a fault in DRAM is in this one. WC_ERR_INPUT names its addresses.
int fault_check_memory(const struct fault *fault, const struct wc_memory *memory, struct wc_error *err);

#endif
