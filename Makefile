# SPDX-License-Identifier: Apache-2.0
#
# One make process for everything; each directory with targets of its own adds a rules.mk.
# `make help` lists the targets.

.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
# Output of jobs side by side is kept together, but not that of a single long one: it comes as it is made, a progress line on a terminal too.
MAKEFLAGS += --output-sync=$(if $(filter run steps waves bench report crosscheck,$(MAKECMDGOALS)),none,target)
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif
.DEFAULT_GOAL := all

CC := gcc
CXX := g++
VERILATOR := verilator
ifneq ($(shell command -v ccache),)
CC := ccache gcc
CXX := ccache g++
endif

# make SANITIZE=1: host code and tests under ASan and UBSan, in a tree of its own. The verilated
# models are built once, without.
ROOT_BUILD := build
BUILD := $(ROOT_BUILD)$(if $(SANITIZE),/sanitize)
GEN := $(ROOT_BUILD)/gen
RTL_BUILD := $(ROOT_BUILD)/rtl
# The RTL configuration of the quick tests and of `make run`. Here, as prerequisites are expanded where they are read.
QUICK := r16c16-b65536-w16-m1-rtl

WARN := -Wall -Wextra -Werror
# The golden model's bits need one rounding per operation: never contract a*b+c.
FLOAT := -ffp-contract=off -fno-fast-math
SAN := $(if $(SANITIZE),-fsanitize=address -fsanitize=undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
CFLAGS := -std=c17 -D_GNU_SOURCE -g -O2 $(WARN) $(FLOAT) $(SAN) -I. -I$(GEN) $(EXTRA_CFLAGS)
FAST := -O3 -march=native
LDLIBS := -ljansson -lyaml -lpopt -lz -ldl -lm

ifdef V
say = @true
Q :=
else
say = @echo "  $(1)	$(2)"
Q := @
endif

.PHONY: all deps run test test-full steps bench report lint synth waves clean help

## all: the wavecore command and the quick RTL configuration
all: $(BUILD)/wavecore $(RTL_BUILD)/$(QUICK)/wc_rtl.so

# ---- dependencies ------------------------------------------------------------------------------

# Made once per change of scripts/setup. It is included, so make installs first and then reads everything
# anew: what the rules ask of the installed tools (where Verilator's headers are, is there a ccache) is known only then.
DEPS := $(ROOT_BUILD)/deps.mk
$(DEPS): scripts/setup
	@mkdir -p $(@D)
	$(Q)scripts/setup
	$(Q)root=$$($(VERILATOR) --getenv VERILATOR_ROOT) && echo "VERILATOR_INCLUDE := $$root/include" > $@
ifneq ($(filter-out help clean,$(or $(MAKECMDGOALS),all)),)
include $(DEPS)
endif

## deps: install what is missing from Debian
deps: $(DEPS)

# Objects are rebuilt when the flags change.
FLAGS := $(BUILD)/.flags
$(FLAGS): force
	@mkdir -p $(@D)
	@echo '$(CFLAGS) $(FAST) $(LDLIBS)' | cmp -s - $@ || echo '$(CFLAGS) $(FAST) $(LDLIBS)' > $@
.PHONY: force

# ---- generated from rtl/commands.def and rtl/programs.def --------------------------------------

GENERATED_H := $(GEN)/wc_commands.h $(GEN)/wc_programs.h
$(GEN)/wc_commands.h $(GEN)/wc_programs.h: what = header
$(GEN)/wc_cmd_pkg.sv $(GEN)/wc_simd_pkg.sv: what = package
$(GEN)/cmd_check.v: what = check
$(GEN)/simd_rom.v: what = rom

$(GEN)/wc_commands.h $(GEN)/wc_cmd_pkg.sv $(GEN)/cmd_check.v: rtl/commands.def scripts/gen-commands
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)scripts/gen-commands $(what) $< > $@.$$$$ && mv $@.$$$$ $@

$(GEN)/wc_programs.h $(GEN)/wc_simd_pkg.sv $(GEN)/simd_rom.v: rtl/programs.def scripts/gen-programs
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)scripts/gen-programs $(what) $< > $@.$$$$ && mv $@.$$$$ $@

# ---- the library and the command ---------------------------------------------------------------

LIB_DIRS := traces csim csim/golden csim/model csim/rtl driver/net driver/plan driver/plan/check driver/plan/device driver/plan/paper driver/plan/paper/hybrid driver/host
LIB_SRCS := $(sort $(wildcard $(addsuffix /*.c,$(LIB_DIRS))))
LIB_OBJS := $(LIB_SRCS:%.c=$(BUILD)/%.o)
CLI_OBJS := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard driver/cli/*.c)))
LIB := $(BUILD)/libwavecore.a

$(BUILD)/csim/golden/%.o $(BUILD)/csim/model/%.o: OPT := $(FAST)

$(BUILD)/%.o: %.c $(FLAGS) $(GENERATED_H)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CFLAGS) $(OPT) -MMD -MP -c $< -o $@

$(LIB): $(LIB_OBJS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(BUILD)/wavecore: $(CLI_OBJS) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)

# ---- the verilated device, one shared object per configuration ---------------------------------

include rtl/rules.mk

# ---- tests -------------------------------------------------------------------------------------

# tests/AREA/*.c makes one Criterion binary; tests/AREA/rules.mk may add TEST_OBJS_AREA, TEST_LIBS_AREA
# and TEST_NEEDS_AREA (files that must exist before it runs).
TEST_AREAS := $(sort $(patsubst tests/%/,%,$(dir $(wildcard tests/*/*.c))))
-include $(wildcard tests/*/rules.mk)

define test_binary
$(BUILD)/tests/$(1)/test: $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard tests/$(1)/*.c))) $$(TEST_OBJS_$(1)) $(LIB)
	$$(call say,LD,$$@)
	$$(Q)$$(CXX) $(SAN) -o $$@ $$^ -lcriterion $$(LDLIBS) $$(TEST_LIBS_$(1))
.PHONY: test-$(1)
test-$(1): $(BUILD)/tests/$(1)/test $$(TEST_NEEDS_$(1))
	@echo "== tests/$(1)"
	$$(Q)LSAN_OPTIONS=suppressions=tests/lsan.supp:print_suppressions=0 WC_BUILD=$(BUILD) $(BUILD)/tests/$(1)/test $$(TEST_ARGS)
endef
$(foreach area,$(TEST_AREAS),$(eval $(call test_binary,$(area))))

## test: lint and every quick test; SANITIZE=1 for ASan and UBSan
test: lint $(TEST_AREAS:%=test-%)

## test-AREA: one area alone, e.g. `make test-plan`; TEST_ARGS="--filter x/y" picks tests
## test-full: the quick tests, the long suites, everything again under the sanitizers, and whole training steps on the RTL
test-full: test
	$(Q)WC_LONG=1 $(MAKE) --no-print-directory $(TEST_AREAS:%=test-%)
	$(Q)$(MAKE) --no-print-directory SANITIZE=1 $(TEST_AREAS:%=test-%)
	$(Q)$(MAKE) --no-print-directory steps

## steps: a training step of each small network under every schedule on the RTL, as a table
steps: $(BUILD)/wavecore
	$(Q)WAVECORE=$< scripts/steps --jobs 2

## lint: Verilator, Yosys and Icarus read every design file; dependences between directories
lint: lint-rtl lint-includes

.PHONY: lint-includes
lint-includes:
	$(Q)scripts/check-includes

# ---- the main job ------------------------------------------------------------------------------

RUN := --net fashion-conv --batch 32 --array 16x16 --buffer 64KiB --arith rtl --seed 1
## run: real images through the RTL under four schedules, every tile checked
run: $(BUILD)/wavecore $(RTL_BUILD)/$(QUICK)/wc_rtl.so
	$(Q)$(BUILD)/wavecore run $(RUN) --schedule baseline,mbs,overl,2ps --jobs $(shell nproc)

CASE ?= --schedule mbs --batch 4 --waves-window 0:20000
## waves: a waveform of one run, e.g. `make waves CASE="--schedule 2ps --waves-window 5000:7000"`
waves: $(BUILD)/wavecore
	$(Q)$(BUILD)/wavecore run $(CASE) --waves $(BUILD)/waves.fst
	@echo "gtkwave $(BUILD)/waves.fst"

## bench: speeds and ratios, measured in one run
bench: $(BUILD)/wavecore $(BUILD)/bench-array
	$(Q)scripts/bench

## report: tables of traffic, buffers and footprints, and their plots, into build/report
report: $(BUILD)/wavecore
	$(Q)scripts/plot $(BUILD)/wavecore $(BUILD)/report

## crosscheck: training steps against PyTorch in float64, each operator within its proven bound; installs Debian's python3-torch
.PHONY: crosscheck
crosscheck: $(BUILD)/wavecore
	$(Q)scripts/setup python3-numpy python3-torch
	$(Q)scripts/crosscheck --wavecore $< --self-test
	$(Q)scripts/crosscheck --wavecore $<

## clean: remove build/
clean:
	rm -rf $(ROOT_BUILD)

## help: this list
help:
	@sed -n 's/^## \([^:]*\): */\1\t/p' $(MAKEFILE_LIST) | awk -F '\t' '{ printf "  %-12s %s\n", $$1, $$2 }'

-include $(patsubst %.o,%.d,$(LIB_OBJS) $(CLI_OBJS)) $(wildcard $(BUILD)/tests/*/*.d)
