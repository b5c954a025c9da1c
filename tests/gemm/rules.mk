# SPDX-License-Identifier: Apache-2.0
#
# Verilated models for tests/gemm: the engine and its buffer, in the simulation form of the array. They are built once, without sanitizers.

GEMM_MODELS := $(RTL_BUILD)/test-gemm
GEMM_RTL := rtl/fp_pkg.sv $(GEN)/wc_cmd_pkg.sv $(addprefix rtl/,sim/array_fast.sv skew.v fifo.v index_walk.v vector_walk.v tap_walk.v fetch.v \
	opbuf.v tile_queue.v wave_ctrl.v row_mem.v acc_add.v accum.v preload.v drain.v gemm.v gbuf_place.v gbuf_rotate.v gbuf_bank.v \
	gbuf_read.v gbuf.v)
GEMM_VFLAGS := --cc -O3 --x-assign unique --x-initial unique --no-timing --assert -DWC_ASSERT +define+WC_ARRAY_FAST --expand-limit 2 -Wno-fatal
GEMM_CXX := $(CXX) -O3 -march=native -I$(VERILATOR_INCLUDE) -I$(VERILATOR_INCLUDE)/vltstd -Itests/gemm

# NAME: rows, cols, accumulator rows, buffer bytes, line bytes, stages
GEMM_8x4_1 := 8 4 24 65536 16 1
GEMM_16x16_1 := 16 16 256 65536 64 1
GEMM_4x8_2 := 4 8 64 32768 32 2
GEMMS := 8x4_1 16x16_1 4x8_2

define gemm_model
$(GEMM_MODELS)/$(1)/Vgemm_$(1)__ALL.a: tests/gemm/rtl/gemm_bench.sv $(GEMM_RTL) tests/gemm/rules.mk
	@mkdir -p $$(@D)
	$$(call say,VERILATE,gemm_$(1))
	$$(Q)$(VERILATOR) $(GEMM_VFLAGS) --prefix Vgemm_$(1) --top gemm_bench -GRows=$(word 1,$(GEMM_$(1))) -GCols=$(word 2,$(GEMM_$(1))) \
		-GAccRows=$(word 3,$(GEMM_$(1))) -GGbufBytes=$(word 4,$(GEMM_$(1))) -GLineBytes=$(word 5,$(GEMM_$(1))) \
		-GMacStages=$(word 6,$(GEMM_$(1))) --Mdir $$(@D) $(GEMM_RTL) tests/gemm/rtl/gemm_bench.sv
	$$(Q)$$(MAKE) -s --no-print-directory -C $$(@D) -f Vgemm_$(1).mk CXX="$(CXX)" OPT_FAST="-O2 -march=native" OPT_SLOW=-O1 Vgemm_$(1)__ALL.a > $$(@D)/log
$(GEMM_MODELS)/shim_$(1).o: tests/gemm/shim.cpp tests/gemm/models.h traces/splitmix.h $(GEMM_MODELS)/$(1)/Vgemm_$(1)__ALL.a
	$$(call say,CXX,$$@)
	$$(Q)$(GEMM_CXX) -I. -I$(GEMM_MODELS)/$(1) -DMODEL=Vgemm_$(1) -DOPS=gemm_$(1) -DHEADER='"Vgemm_$(1).h"' -DROWS=$(word 1,$(GEMM_$(1))) \
		-DCOLS=$(word 2,$(GEMM_$(1))) -DACC_ROWS=$(word 3,$(GEMM_$(1))) -DGBUF_BYTES=$(word 4,$(GEMM_$(1))) \
		-DLINE_BYTES=$(word 5,$(GEMM_$(1))) -DSTAGES=$(word 6,$(GEMM_$(1))) -c $$< -o $$@
endef
$(foreach gemm,$(GEMMS),$(eval $(call gemm_model,$(gemm))))

# Verilator's run-time library.
$(GEMM_MODELS)/%.o: $(VERILATOR_INCLUDE)/%.cpp
	@mkdir -p $(@D)
	$(call say,CXX,$@)
	$(Q)$(GEMM_CXX) -DVM_COVERAGE=0 -DVM_SC=0 -DVM_TRACE=0 -c $< -o $@

TEST_OBJS_gemm := $(GEMMS:%=$(GEMM_MODELS)/shim_%.o) $(foreach m,$(GEMMS),$(GEMM_MODELS)/$(m)/Vgemm_$(m)__ALL.a) $(GEMM_MODELS)/verilated.o $(GEMM_MODELS)/verilated_threads.o
TEST_LIBS_gemm := -lpthread
