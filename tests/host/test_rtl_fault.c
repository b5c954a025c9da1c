// SPDX-License-Identifier: Apache-2.0
//
// Rule: the RTL, with and without a random memory, and the C model give one account of a fault: the same stage, address and command.
#include <criterion/criterion.h>
#include <stddef.h>
#include <stdio.h>

#include "rig.h"
#include "wc_commands.h"

static const char net_yaml[] = "name: small\ninput: {height: 8, width: 8, channels: 4}\nnodes:\n"
			       "  - {name: c1, op: conv, channels: 8, kernel: 3, pad: 1}\n  - {name: r1, op: relu}\n"
			       "  - {name: c2, op: conv, channels: 4, kernel: 3, pad: 1, stride: 2}\n";

// One iteration over all samples, a few dozen commands.
static const char schedule[] = "schedule 1\nnet small\nbatch 2\ncores 1\narray 16x16\nbuffer 65536\nbus 16\naccounting device\n"
			       "group forward c1 c2\n  sub_batch 2\n  tiling none\n  strip 0\n"
			       "    load act:input=0:8\n    compute act:c1=0:8\n    compute act:r1=0:8 mask\n    store mask:r1=0:8\n    store act:r1=0:8\n"
			       "    compute act:c2=0:4\n    store act:c2=0:4\n"
			       "group backward c1 c2\n  sub_batch 2\n  tiling none\n  strip 0\n"
			       "    load grad:c2=0:4\n    load act:r1=0:8\n    accumulate c2=0:4\n    compute grad:r1=0:8\n    load mask:r1=0:8\n"
			       "    compute grad:c1=0:8 mask\n    load act:input=0:8\n    accumulate c1=0:8\n";

enum { DEVICES = 3 };

static void start(struct rig *rig, int device)
{
	rig_start_text(rig, net_yaml, schedule, 21);
	rig->options.device.overlap = false;
	if (device) {
		rig->options.device.kind = DEVICE_RTL;
		rig->options.device.rtl = (struct wc_rtl_options){
			.library = "build/rtl/r16c16-b65536-w16-m1-rtl/wc_rtl.so",
			.latency_cycles = 100,
			.random_memory = device == 2,
		};
	}
}

struct account_of_fault {
	int status;
	enum diagnosis_stage stage;
	enum mismatch_kind kind;
	uint32_t command;
	int node;
	uint64_t address;
};

static struct account_of_fault strike(const struct fault *fault, int device)
{
	struct account_of_fault account;
	struct rig rig;

	start(&rig, device);
	rig.options.fault = *fault;
	account = (struct account_of_fault){.status = rig_run(&rig)};
	if (account.status == WC_ERR_MISMATCH) {
		account.stage = rig.result.diagnosis.stage;
		account.kind = rig.result.mismatch.kind;
		account.command = rig.result.mismatch.command;
		account.node = rig.result.mismatch.op.node;
		account.address = rig.result.diagnosis.has_address ? rig.result.diagnosis.address : 0;
		cr_expect_eq(rig.result.mismatch.cycle > 0, device > 0);
	}
	rig_stop(&rig);
	return account;
}

// The first command of a kind.
static uint32_t first_of(enum op_kind kind, struct op *op)
{
	for (uint32_t command = 0; command < 64; command++) {
		struct rig rig;
		bool found;

		// A command whose version is wrong stops the device there, and tells what it was.
		start(&rig, 0);
		rig.options.fault.in_command = true;
		rig.options.fault.device = (struct wc_fault){.command = command, .address = 1, .bit = 7};
		cr_assert_eq(rig_run(&rig), WC_ERR_MISMATCH, "command %u: %s", (unsigned)command, rig.err.text);
		cr_assert_eq(rig.result.diagnosis.stage, STAGE_COMMAND);
		cr_assert_eq(rig.result.mismatch.command, command);
		found = rig.result.mismatch.op.kind == kind;
		*op = rig.result.mismatch.op;
		rig_stop(&rig);
		if (found)
			return command;
	}
	cr_assert_fail("no such command");
	return 0;
}

static void expect_everywhere(const char *label, const struct fault *fault, enum diagnosis_stage stage, uint32_t command, int node, uint64_t address)
{
	for (int device = 0; device < DEVICES; device++) {
		const struct account_of_fault got = strike(fault, device);

		cr_expect_eq(got.status, WC_ERR_MISMATCH, "%s, device %d: status %d", label, device, got.status);
		cr_expect_eq(got.stage, stage, "%s, device %d: stage %s", label, device, diagnosis_stage_name(got.stage));
		cr_expect_eq(got.command, command, "%s, device %d: command %u", label, device, (unsigned)got.command);
		cr_expect_eq(got.node, node, "%s, device %d: layer %d", label, device, got.node);
		cr_expect_eq(got.address, address, "%s, device %d: address 0x%llx", label, device, (unsigned long long)got.address);
	}
}

Test(rtl_fault, operand_in_the_buffer)
{
	struct op op;
	const uint32_t command = first_of(OP_FORWARD, &op);
	struct fault fault = {.device = {.kind = WC_FAULT_BUFFER, .command = command, .bit = 6}};

	// The middle tap of filter 0: every pixel reads it.
	fault.device.address = (uint32_t)op.command.gemm.b_base + 4 * 4 * 2 + 1;
	expect_everywhere("weight", &fault, STAGE_BUFFER, command, 1, fault.device.address - 1);
}

Test(rtl_fault, command_in_the_ring)
{
	struct op op;
	const uint32_t command = first_of(OP_DATA_GRADIENT, &op);
	const struct fault fault = {.in_command = true,
				    .device = {.command = command, .address = offsetof(struct wc_gemm_command, a_base) + 1, .bit = 1}};

	for (int device = 0; device < DEVICES; device++) {
		const struct account_of_fault got = strike(&fault, device);

		cr_expect_eq(got.status, WC_ERR_MISMATCH, "device %d", device);
		cr_expect_eq(got.stage, STAGE_COMMAND, "device %d: %s", device, diagnosis_stage_name(got.stage));
		cr_expect_eq(got.command, command, "device %d: command %u", device, (unsigned)got.command);
		cr_expect_eq(got.node, op.node, "device %d: layer %d", device, got.node);
		// The byte's address in the ring, whose entries are of 256 bytes.
		cr_expect_eq(got.address % WC_COMMAND_BYTES, fault.device.address, "device %d: address 0x%llx", device,
			     (unsigned long long)got.address);
	}
}

Test(rtl_fault, stored_rows)
{
	struct op op;
	const uint32_t command = first_of(OP_STORE, &op);
	const struct fault fault = {.device = {.kind = WC_FAULT_MEMORY, .command = command, .address = op.command.load.dram_addr, .bit = 2}};

	for (int device = 0; device < DEVICES; device++) {
		const struct account_of_fault got = strike(&fault, device);

		cr_expect_eq(got.status, WC_ERR_MISMATCH, "device %d", device);
		cr_expect(got.stage == STAGE_STORE || got.stage == STAGE_MEMORY, "device %d: %s", device, diagnosis_stage_name(got.stage));
		cr_expect_eq(got.address & ~1ull, fault.device.address, "device %d", device);
	}
}
