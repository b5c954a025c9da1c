# SPDX-License-Identifier: Apache-2.0
#
# Verilated models and the C macros for tests/array. The models are built once, without sanitizers, with the
# options of the device build; the C macros and the tests follow CFLAGS.

ARRAY_MODELS := $(RTL_BUILD)/test-array
ARRAY_RTL := rtl/fp_pkg.sv rtl/fp32_add.v rtl/fp32_mul.v rtl/fp16_mul.v rtl/fp32_to_fp16.v rtl/mac.v rtl/pe.v rtl/array.v rtl/skew.v \
	rtl/sim/array_fast.sv rtl/sim/array_dpi.sv
LANES_RTL := rtl/sim/lint.vlt $(RTL_PKGS) rtl/simd_lanes.v rtl/sim/simd_lanes_dpi.sv
ARRAY_VFLAGS := --cc -O3 --x-assign fast --x-initial fast --no-timing --assert -DWC_ASSERT --expand-limit 2 \
	-Wall -Wno-fatal
ARRAY_CXX := $(CXX) -O3 -march=native -I$(VERILATOR_INCLUDE) -I$(VERILATOR_INCLUDE)/vltstd -Itests/array

# NAME_ROWSxCOLS_STAGES: rows, cols, stages, with the instance-by-instance form or not.
TRIO_4x4_1 := 4 4 1 1
TRIO_4x8_2 := 4 8 2 1
TRIO_16x16_1 := 16 16 1 1
TRIO_8x32_2 := 8 32 2 0
TRIO_128x64_1 := 128 64 1 0
TRIOS := 4x4_1 4x8_2 16x16_1 8x32_2 128x64_1

# $(1) directory and class, $(2) top, $(3) source of the top, $(4) parameters, $(5) design files instead of the array's
define array_model
$(ARRAY_MODELS)/$(1)/V$(1)__ALL.a: $(3) $(or $(5),$(ARRAY_RTL)) rtl/sim/array_probe.vlt tests/array/rules.mk
	@mkdir -p $$(@D)
	$$(call say,VERILATE,$(1))
	$$(Q)$(VERILATOR) $(ARRAY_VFLAGS) --prefix V$(1) --top $(2) $(4) --Mdir $$(@D) rtl/sim/array_probe.vlt $(or $(5),$(ARRAY_RTL)) $(3)
	$$(Q)$$(MAKE) -s --no-print-directory -C $$(@D) -f V$(1).mk CXX="$(CXX)" OPT_FAST="-O3 -march=native" OPT_SLOW=-O1 V$(1)__ALL.a > $$(@D)/log
	$$(Q)touch $$@
endef

define array_trio
$(call array_model,trio_$(1),array_trio,tests/array/rtl/array_trio.sv,-GRows=$(word 1,$(TRIO_$(1))) -GCols=$(word 2,$(TRIO_$(1))) -GMacStages=$(word 3,$(TRIO_$(1))) -GStructural=$(word 4,$(TRIO_$(1))))
$(ARRAY_MODELS)/shim_trio_$(1).o: tests/array/shim_trio.cpp tests/array/models.h $(ARRAY_MODELS)/trio_$(1)/Vtrio_$(1)__ALL.a
	$$(call say,CXX,$$@)
	$$(Q)$(ARRAY_CXX) -I$(ARRAY_MODELS)/trio_$(1) -DMODEL=Vtrio_$(1) -DOPS=trio_$(1) -DHEADER='"Vtrio_$(1).h"' \
		-DROOT='"Vtrio_$(1)___024root.h"' -DROWS=$(word 1,$(TRIO_$(1))) -DCOLS=$(word 2,$(TRIO_$(1))) \
		-DSTAGES=$(word 3,$(TRIO_$(1))) -c $$< -o $$@
endef
$(foreach trio,$(TRIOS),$(eval $(call array_trio,$(trio))))

$(eval $(call array_model,fp_units,fp_units,tests/array/rtl/fp_units.sv,))
$(eval $(call array_model,skew_set,skew_set,tests/array/rtl/skew_set.sv,))
$(eval $(call array_model,lanes_pair,lanes_pair,tests/array/rtl/lanes_pair.sv,,$(LANES_RTL)))

$(ARRAY_MODELS)/shim_fp.o: tests/array/shim_fp.cpp tests/array/models.h $(ARRAY_MODELS)/fp_units/Vfp_units__ALL.a
	$(call say,CXX,$@)
	$(Q)$(ARRAY_CXX) -I$(ARRAY_MODELS)/fp_units -c $< -o $@
$(ARRAY_MODELS)/shim_skew.o: tests/array/shim_skew.cpp tests/array/models.h $(ARRAY_MODELS)/skew_set/Vskew_set__ALL.a
	$(call say,CXX,$@)
	$(Q)$(ARRAY_CXX) -I$(ARRAY_MODELS)/skew_set -c $< -o $@
$(ARRAY_MODELS)/shim_lanes.o: tests/array/shim_lanes.cpp tests/array/models.h $(ARRAY_MODELS)/lanes_pair/Vlanes_pair__ALL.a
	$(call say,CXX,$@)
	$(Q)$(ARRAY_CXX) -I$(ARRAY_MODELS)/lanes_pair -c $< -o $@

# Verilator's run-time library, shared by all models.
$(ARRAY_MODELS)/%.o: $(VERILATOR_INCLUDE)/%.cpp
	@mkdir -p $(@D)
	$(call say,CXX,$@)
	$(Q)$(ARRAY_CXX) -DVM_COVERAGE=0 -DVM_SC=0 -DVM_TRACE=0 -c $< -o $@

$(BUILD)/csim/array/%.o $(BUILD)/csim/lanes/%.o: OPT := $(FAST)

TEST_OBJS_array := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard csim/array/*.c csim/lanes/*.c))) \
	$(TRIOS:%=$(ARRAY_MODELS)/shim_trio_%.o) $(ARRAY_MODELS)/shim_fp.o $(ARRAY_MODELS)/shim_skew.o $(ARRAY_MODELS)/shim_lanes.o \
	$(foreach m,$(TRIOS:%=trio_%) fp_units skew_set lanes_pair,$(ARRAY_MODELS)/$(m)/V$(m)__ALL.a) \
	$(patsubst %,$(ARRAY_MODELS)/%.o,verilated verilated_dpi verilated_threads)
TEST_LIBS_array := -lpthread

# ---- build/bench-array: the forms' speeds --------------------------------------------------------

# $(1) form, $(2) rows and columns, $(3) module
define array_bench
$(call array_model,bench_$(1)_$(2),$(3),,-GRows=$(2) -GCols=$(2))
$(ARRAY_MODELS)/bench_$(1)_$(2).o: scripts/bench-array/shim.cpp scripts/bench-array/bench.h $(ARRAY_MODELS)/bench_$(1)_$(2)/Vbench_$(1)_$(2)__ALL.a
	$$(call say,CXX,$$@)
	$$(Q)$(ARRAY_CXX) -I$(ARRAY_MODELS)/bench_$(1)_$(2) -DMODEL=Vbench_$(1)_$(2) -DHEADER='"Vbench_$(1)_$(2).h"' \
		-DNAME=bench_$(1)_$(2) -DFORM=$(3) -DSIZE=$(2) -c $$< -o $$@
endef
$(eval $(call array_bench,array,16,array))
$(foreach size,16 32 128,$(eval $(call array_bench,fast,$(size),array_fast)))
$(foreach size,16 32 128,$(eval $(call array_bench,dpi,$(size),array_dpi)))

BENCH_ARRAY_MODELS := bench_array_16 $(foreach size,16 32 128,bench_fast_$(size) bench_dpi_$(size))
$(BUILD)/bench-array: $(BUILD)/scripts/bench-array/main.o $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard csim/array/*.c))) \
		$(BUILD)/traces/error.o $(BENCH_ARRAY_MODELS:%=$(ARRAY_MODELS)/%.o) \
		$(foreach m,$(BENCH_ARRAY_MODELS),$(ARRAY_MODELS)/$(m)/V$(m)__ALL.a) \
		$(patsubst %,$(ARRAY_MODELS)/%.o,verilated verilated_dpi verilated_threads)
	$(call say,LD,$@)
	$(Q)$(CXX) $(SAN) -o $@ $^ -lz -lpthread
