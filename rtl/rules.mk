# SPDX-License-Identifier: Apache-2.0
#
# The verilated device: build/rtl/<config>/wc_rtl.so for any configuration, by its name
#
#   r<Rows>c<Cols>-b<GbufBytes>-w<BusBytes>[-p2][-c2]-m<MacStages>-<arith>[-waves][-rand]
#
#   p2      two memory ports; without it one
#   c2      two cores; without it one
#   arith   rtl: all in synthesizable arithmetic; dpi: the array and the vector unit's lanes as C macros behind DPI
#   waves   FST tracing compiled in (about 30% slower even while it is off)
#   rand    undefined state (never-reset registers, memories) takes values from the run's seed instead of 0
#
# `make build/rtl/r8c4-b65536-w16-m1-rtl/wc_rtl.so` needs nothing else. Also here: what `make lint` and `make synth` do with the design files.

RTL_PKGS := rtl/fp_pkg.sv $(GEN)/wc_cmd_pkg.sv $(GEN)/wc_simd_pkg.sv
RTL_SRCS := $(sort $(wildcard rtl/*.v)) $(GEN)/cmd_check.v $(GEN)/simd_rom.v
RTL_SIM := $(sort $(wildcard rtl/sim/*.sv rtl/sim/*.vlt))

# ---- from the name to the parameters; $(1) is the configuration's name ---------------------------

rtl_all_words = $(subst -, ,$(1))
rtl_counts = $(filter p2 c2,$(wordlist 4,5,$(rtl_all_words)))
rtl_ports = $(if $(filter p2,$(rtl_counts)),2,1)
rtl_cores = $(if $(filter c2,$(rtl_counts)),2,1)
# The words that every name has, without ports and cores.
rtl_words = $(wordlist 1,3,$(rtl_all_words)) $(filter-out p2 c2,$(wordlist 4,5,$(rtl_all_words))) $(wordlist 6,99,$(rtl_all_words))
rtl_rows = $(patsubst r%,%,$(firstword $(subst c, ,$(word 1,$(rtl_words)))))
rtl_cols = $(word 2,$(subst c, ,$(word 1,$(rtl_words))))
rtl_gbuf = $(patsubst b%,%,$(word 2,$(rtl_words)))
rtl_bus = $(patsubst w%,%,$(word 3,$(rtl_words)))
rtl_stages = $(patsubst m%,%,$(word 4,$(rtl_words)))
rtl_arith = $(word 5,$(rtl_words))
rtl_has = $(filter $(2),$(wordlist 6,9,$(rtl_words)))
RTL_ACC_ROWS := 256

rtl_bad_name = $(or $(filter-out waves rand,$(wordlist 6,9,$(rtl_words))),$(filter-out rtl dpi,$(rtl_arith)),$(if $(rtl_arith),,$(1)))

# ---- flags ---------------------------------------------------------------------------------------

RTL_VFLAGS := --cc --exe --build -j 1 --no-timing --assert -DWC_ASSERT -DWC_FAULTS -O3 --expand-limit 2 --prefix Vwc_tb --top-module wc_tb
RTL_CXXFLAGS := -fPIC -fno-gnu-unique -fvisibility=hidden -march=native -Wno-unused

# The C side of the library. It is built once for all configurations, without sanitizers.
RTL_SHIM_SRCS := $(sort $(wildcard csim/rtl/shim/*.c)) $(sort $(wildcard csim/array/*.c csim/lanes/*.c)) csim/model/lane_ops.c csim/memory.c traces/error.c
RTL_OBJ := $(RTL_BUILD)/obj
RTL_OBJS := $(RTL_SHIM_SRCS:%.c=$(RTL_OBJ)/%.o)

$(RTL_OBJ)/%.o: %.c $(GENERATED_H)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -std=c17 -D_GNU_SOURCE -g $(FAST) $(WARN) $(FLOAT) -fPIC -fvisibility=hidden -I. -I$(GEN) -MMD -MP -MF $(@:.o=.d) -MT $@ -c $< -o $@.$$$$ && mv $@.$$$$ $@
.PRECIOUS: $(RTL_OBJ)/%.o

-include $(RTL_OBJS:.o=.d)

# ---- one configuration ---------------------------------------------------------------------------

$(RTL_BUILD)/%/wc_rtl.so: $(RTL_PKGS) $(RTL_SRCS) $(RTL_SIM) rtl/rules.mk csim/rtl/shim/shim.cpp csim/rtl/shim/exports.map \
		$(wildcard csim/rtl/shim/*.h) csim/rtl/rtl_api.h csim/backend.h csim/memory.h traces/error.h $(RTL_OBJS)
	$(if $(call rtl_bad_name,$*),$(error cannot build configuration '$*': the name is r<Rows>c<Cols>-b<bytes>-w<bytes>[-p2][-c2]-m<stages>-<rtl|dpi>[-waves][-rand]))
	@mkdir -p $(@D)
	$(call say,VERILATE,$*)
	@# Of two makes that want one configuration the second waits, and finds the work done. The library gets its name when it is whole,
	@# so that what is there can be loaded at any time. From scratch: Verilator's own makefile does not know of the C objects and flags.
	$(Q)exec 9> $(@D)/.lock; \
	flock -n 9 || { echo "waiting for another build of $*" >&2; flock 9; [ -e $@ ] && [ -z "$$(find $^ -newer $@ -print -quit)" ] && exit 0; }; \
	rm -rf $(@D)/model; \
	$(VERILATOR) $(RTL_VFLAGS) --Mdir $(@D)/model -o $(abspath $(@D))/model/wc_rtl.so \
		-GCores=$(call rtl_cores,$*) -GRows=$(call rtl_rows,$*) -GCols=$(call rtl_cols,$*) -GAccRows=$(RTL_ACC_ROWS) -GGbufBytes=$(call rtl_gbuf,$*) \
		-GBusBytes=$(call rtl_bus,$*) -GMemPorts=$(call rtl_ports,$*) -GMacStages=$(call rtl_stages,$*) \
		$(if $(filter dpi,$(call rtl_arith,$*)),+define+WC_ARRAY_DPI +define+WC_LANES_DPI,+define+WC_ARRAY_FAST) \
		$(if $(call rtl_has,$*,waves),--trace-fst --trace-structs) \
		$(if $(call rtl_has,$*,rand),--x-assign unique --x-initial unique,--x-assign fast --x-initial fast) \
		-CFLAGS "$(RTL_CXXFLAGS) -I$(CURDIR) -I$(CURDIR)/$(GEN) -include csim/rtl/shim/printf.h -DWC_ROWS=$(call rtl_rows,$*) -DWC_COLS=$(call rtl_cols,$*) \
			-DWC_ACC_ROWS=$(RTL_ACC_ROWS) -DWC_GBUF_BYTES=$(call rtl_gbuf,$*) -DWC_BUS_BYTES=$(call rtl_bus,$*) \
			-DWC_ARRAY_MACRO=$(if $(filter dpi,$(call rtl_arith,$*)),1,0) \
			-DWC_MEM_PORTS=$(call rtl_ports,$*) -DWC_CORES=$(call rtl_cores,$*) -DWC_MAC_STAGES=$(call rtl_stages,$*)" \
		-LDFLAGS "-shared -Wl,--version-script=$(CURDIR)/csim/rtl/shim/exports.map -Wl,-Bsymbolic" \
		-MAKEFLAGS "OPT_FAST=-O3 OPT_SLOW=-O1 OPT_GLOBAL=-O2 CXX='$(CXX)' LINK='$(CXX)'" \
		$(RTL_PKGS) $(filter %.vlt,$(RTL_SIM)) $(RTL_SRCS) $(filter %.sv,$(RTL_SIM)) $(abspath csim/rtl/shim/shim.cpp) \
		$(abspath $(RTL_OBJS)) > $(@D)/log 2>&1 || { cat $(@D)/log >&2; exit 1; }; \
	mv $(@D)/model/wc_rtl.so $@

# ---- lint and synthesis --------------------------------------------------------------------------

RTL_DESIGN := $(RTL_PKGS) $(RTL_SRCS)

# $(1) Rows $(2) Cols $(3) BusBytes $(4) MacStages $(5) MemPorts $(6) more words
lint_verilator = $(VERILATOR) --lint-only -Wall $(6) -GRows=$(1) -GCols=$(2) -GBusBytes=$(3) -GMacStages=$(4) -GMemPorts=$(5) rtl/sim/lint.vlt

.PHONY: lint-rtl lint-verilator lint-yosys lint-icarus
lint-rtl: lint-verilator lint-yosys lint-icarus

lint-verilator: $(RTL_DESIGN) $(RTL_SIM)
	$(call say,LINT,verilator)
	$(Q)$(call lint_verilator,4,4,16,1,1,--top-module wavecore_cores) $(RTL_DESIGN)
	$(Q)$(call lint_verilator,8,32,128,2,2,--top-module wavecore_cores -GCores=2) $(RTL_DESIGN)
	$(Q)$(call lint_verilator,16,16,16,1,1,--top-module wc_tb -GCores=2 --assert -DWC_ASSERT -DWC_FAULTS -DWC_ARRAY_FAST) $(RTL_DESIGN) $(filter %.sv,$(RTL_SIM))
	$(Q)$(call lint_verilator,128,128,128,1,2,--top-module wc_tb --assert -DWC_ASSERT -DWC_FAULTS -DWC_ARRAY_DPI -DWC_LANES_DPI) $(RTL_DESIGN) $(filter %.sv,$(RTL_SIM))

# With one memory port and with two; so many cores.
lint-yosys: $(RTL_DESIGN)
	$(call say,LINT,yosys)
	$(Q)for ports in 1 2; do yosys -q -p "read_verilog -sv -defer $(RTL_DESIGN) rtl/sim/array_fast.sv; \
		chparam -set Rows 4 -set Cols 4 -set GbufBytes 4096 -set MemPorts $$ports -set Cores $$ports wavecore_cores; \
		hierarchy -check -top wavecore_cores; proc; check -assert" || exit 1; done

lint-icarus: $(RTL_DESIGN)
	$(call say,LINT,icarus)
	$(Q)for ports in 1 2; do \
		iverilog -g2012 -Wall -Wno-timescale -t null -s wavecore_cores -Pwavecore_cores.MemPorts=$$ports -Pwavecore_cores.Cores=$$ports \
			$(RTL_DESIGN) rtl/sim/array_fast.sv || exit 1; done

SYNTH_PORTS ?= 1
## synth: Yosys on the design at a small size: cells and longest topological path per block; SYNTH_PORTS=2 for two memory ports
synth: $(RTL_DESIGN) synth-begin
	$(Q)scripts/synth $(ROOT_BUILD)/synth $(SYNTH_PORTS) $(RTL_DESIGN)

# Of its own: what a recipe prints is shown when it ends.
.PHONY: synth-begin
synth-begin: $(RTL_DESIGN)
	@echo "Yosys synthesizes the design; this takes about 3 minutes of processor time"
