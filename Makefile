# SPDX-License-Identifier: MIT
# Builds everything (learn/course.mk the course). `make help` lists the targets; V=1 shows full commands.

.DEFAULT_GOAL := all
help: ## this list
	@sed -n 's/^\([a-z][a-z%-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | awk -F'\t' '{ line = sprintf("make %-12s", $$1); count = split($$2, words, " "); for (i = 1; i <= count; i++) { if (length(line words[i]) > 78) { print line; line = sprintf("%17s", "") } line = line " " words[i] } print line }'
	@echo 'Variables: CC=clang BUILD=build/other SAN=address,undefined WERROR='
	@echo '           PREFIX=/usr/local DESTDIR= V=1'

# ---- Settings ----

BUILD   ?= build
PREFIX  ?= /usr/local
CFLAGS  ?= -O2 -g
WERROR  ?= -Werror
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion $(WERROR)
SANFLAGS = $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
COMPILE  = $(CC) -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARN) $(SANFLAGS) -MMD -MP -I. -I$(BUILD)
LINK     = $(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS)
WRAP    := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=p2p__queue_begin,--wrap=p2p__cma_read,--wrap=p2p__cma_write,--wrap=dtype_combine

# As many jobs as cores, unless several goals ask for an order (`make clean test`).
ifeq ($(MAKELEVEL)$(word 2,$(filter-out 0% 1% 2% 3% K%,$(MAKECMDGOALS))),0)
MAKEFLAGS += -j$(or $(shell nproc 2>/dev/null),2)
endif
MAKEFLAGS += --no-print-directory
Q   := $(if $(V),,@)
say  = $(if $(V),,@printf '  %-4s%s\n' $(1) $(2))

# ---- What there is: a folder of the library appears here as soon as it has a source file ----
FOLDERS := $(addprefix p2p/,shared trace world message group deadlock job) dtype collectives ring mpi
# A library of its own, for it needs OpenCL; the rest needs libc only.
TRAINING := kernels trainer
OBJ     := $(BUILD)/obj
LIB     := $(BUILD)/libpairwise.a
TRAIN_LIB := $(BUILD)/libpairwise_train.a

objects  = $(patsubst %.c,$(OBJ)/%.o,$(wildcard $(1)))
programs = $(patsubst %.c,$(BUILD)/%,$(wildcard $(1)))

# The launcher's own: no part of the library, and so above all its folders.
LAUNCHER   := $(addprefix $(OBJ)/p2p/job/,launch_main.o machine.o)
LIB_OBJ    := $(filter-out $(LAUNCHER) $(OBJ)/mpi/stubs.o $(OBJ)/mpi/heap.o,$(call objects,$(FOLDERS:=/*.c)))
TEST_UTIL  := $(call objects,tests/util/*.c)
HAS_TRAIN  := $(wildcard build/.setup-train)
FAULTS     := $(filter-out $(if $(HAS_TRAIN),,$(OBJ)/tests/faultlab/trainer%),$(call objects,tests/faultlab/*.c))
TRAIN_OBJ  := $(filter-out $(OBJ)/trainer/train_main.o,$(call objects,$(TRAINING:=/*.c)))
TRAIN_PROGRAMS := $(BUILD)/train $(call programs,bench/kernels.c bench/rate.c bench/train.c bench/compression.c examples/train_*.c)
TRAIN_SUITES := $(call programs,$(TRAINING:%=tests/%*.c))
REPLAY     := $(call objects,replay/*.c)
PROGRAMS   := $(filter-out $(TRAIN_PROGRAMS),$(addprefix $(BUILD)/,launch replay demo mpicc mpicxx mpic++ mpirun) $(call programs,examples/*.c bench/*.c))
MPI_CASES  := $(call programs,tests/mpi/*/*.c)
CASES      := $(MPI_CASES) $(call programs,tests/wrong/*.c tests/right/*.c) $(BUILD)/tests/faultlab
SUITES     := $(filter-out $(TRAIN_SUITES),$(call programs,tests/*.c))
FORMATTED   = $(filter-out bench/peers/%,$(wildcard p2p/*.h $(FOLDERS:=/*.[ch]) $(TRAINING:=/*.[ch]) examples/*.[ch] bench/*.[ch] bench/*/*.[ch] learn/*.[ch] learn/*/*.[ch] exercises/check/*.[ch] replay/*.[ch] demo/*.[ch] solutions/*/*.[ch] solutions/*/*.cl tests/*.[ch] tests/*/*.[ch] tests/mpi/*/*.c kernels/*.cl kernels/*/*.cl))

all: $(LIB) $(BUILD)/libmpi_abi.so.1 $(PROGRAMS) $(CASES) $(BUILD)/learn build/.setup-train ## the libraries, the launcher, the examples, the benches, the test programs
	@if [ -e build/.setup-train ]; then $(MAKE) training; fi
	@+scripts/hosts.sh again
suites: $(SUITES) $(if $(HAS_TRAIN),$(TRAIN_SUITES))
training: $(TRAIN_LIB) $(TRAIN_PROGRAMS) $(BUILD)/tests/faultlab
	@:

# ---- How it is made ----

# The tools: installed once if missing (scripts/setup.sh); the stamp is there when nothing is missing.
build/.setup-%: scripts/setup.sh
	@sh scripts/setup.sh $*

# Both ends of a link compare this: programs from different builds are told so. And launchers of several hosts the second as
# well: what else ranks must have alike there.
$(BUILD)/build_id.h: private ID := P2P_BUILD_ID
$(BUILD)/build_id.h: $(wildcard p2p/*.h p2p/*/*.[ch])
$(BUILD)/hosts_id.h: private ID := P2P_HOSTS_ID
$(BUILD)/hosts_id.h: $(wildcard p2p/job/mpi/* collectives/*.[ch] ring/*.[ch] dtype/*.[ch] mpi/*.[ch] $(BUILD)/tuned_*.inc)
$(OBJ)/p2p/job/hosts_join.o: $(BUILD)/hosts_id.h
$(BUILD)/build_id.h $(BUILD)/hosts_id.h: | build/.setup-build
	@mkdir -p $(@D)
	@printf '#define $(ID) "%s"\n' "$$(cat $^ | cksum | tr ' ' -)" >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(addprefix $(OBJ)/,$(addsuffix .o,dtype/reduce dtype/half $(addprefix trainer/,clip wire powersgd topk))): override CFLAGS += -O3 # loops over many elements: several at once
# To optimise a test takes longer than it saves, but where large buffers are filled and compared.
$(filter-out $(OBJ)/tests/p2p_alloc.o $(OBJ)/tests/util/% $(OBJ)/tests/kernels/%,$(call objects,tests/*.c tests/*/*.c)): override CFLAGS += -O0
$(OBJ)/%.o: %.c | build/.setup-build $(BUILD)/build_id.h
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(COMPILE) -c $< -o $@

$(call objects,tests/*.c tests/util/report.c): | build/.setup-test
build/.setup-train build/.setup-test build/.setup-plots build/.setup-lint build/.setup-test-all build/.setup-test-long: | build/.setup-build

$(OBJ)/collectives/choose.o $(OBJ)/p2p/job/machine.o: $(wildcard $(BUILD)/tuned_choices.inc)
$(OBJ)/p2p/message/engine.o: $(wildcard $(BUILD)/tuned_direct.inc)
$(OBJ)/kernels/sources.o: $(wildcard kernels/*.cl kernels/*/*.cl kernels/shapes.h)
$(LIB): $(LIB_OBJ)
$(TRAIN_LIB): $(TRAIN_OBJ)
$(LIB) $(TRAIN_LIB):
	$(call say,AR,$@)
	$(Q)rm -f $@.new && ar rcs $@.new $^ && mv $@.new $@

# What each program is made of, beside the library.
NAMED := $(SUITES) $(TRAIN_SUITES) $(call programs,examples/*.c bench/*.c tests/wrong/*.c tests/right/*.c)
$(NAMED): $(BUILD)/%: $(OBJ)/%.o
$(BUILD)/launch: $(LAUNCHER)
$(BUILD)/replay: $(REPLAY)
$(BUILD)/demo: $(call objects,demo/*.c) $(filter-out %/main.o,$(REPLAY))
$(OBJ)/replay/page.o: $(wildcard replay/page/*)
$(BUILD)/train: $(OBJ)/trainer/train_main.o
$(BUILD)/tests/faultlab: $(FAULTS) $(filter-out %/report.o,$(TEST_UTIL)) $(if $(HAS_TRAIN),$(TRAIN_LIB))
$(call programs,bench/*.c): $(call objects,bench/util/*.c)
$(call programs,bench/kernels.c bench/train.c): $(call objects,bench/layers/*.c)
$(BUILD)/bench/rate: $(call objects,bench/rate/*.c exercises/check/check_forbid.c)
$(SUITES): $(TEST_UTIL)
$(addprefix $(BUILD)/tests/,replay trace trace_format hosts): $(filter-out %/main.o,$(REPLAY))
$(BUILD)/tests/bench: $(call objects,bench/util/busy.c)
$(TRAIN_SUITES): $(TEST_UTIL) $(call objects,$(TRAINING:%=tests/%/*.c))
$(TRAIN_PROGRAMS) $(TRAIN_SUITES): $(TRAIN_LIB)
$(BUILD)/tests/faultlab: private LIBS := $(WRAP) $(if $(HAS_TRAIN),-lOpenCL) -lm
$(SUITES) $(TRAIN_SUITES): private LIBS += -lcriterion -ljansson -lm
$(TRAIN_PROGRAMS) $(TRAIN_SUITES): private LIBS += -lOpenCL -lm
$(NAMED) $(addprefix $(BUILD)/,launch replay demo train) $(BUILD)/tests/faultlab: $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) $(filter %.o,$^) $(filter $(TRAIN_LIB),$^) $(LIB) $(LIBS) -o $@

include mpi/mpi.mk learn/course.mk
include p2p/job/mpi/hosts.mk
include bench/bench.mk
include tests/fuzz/fuzz.mk
-include $(wildcard $(OBJ)/*/*.d $(OBJ)/*/*/*.d)

# ---- What to do with it ----

export BUILD CC V SPEED RANKS STEP
# The library again under the address and undefined behaviour sanitizers, in a folder of its own.
asan: all
	@$(MAKE) BUILD=build/asan SAN=address,undefined CFLAGS='-O1 -g' all $(if $(wildcard build/.setup-test),suites)
test-all: test build/.setup-test-all build/.setup-lint asan ## test, and sanitizers, lint, valgrind, failing system calls, several hosts, limits (a quarter of an hour)
	@tests/test.sh all
test-long: test-all build/.setup-test-long ## everything in every world, on a bare Debian too (hours; needs root)
	@tests/test.sh long
durations: all suites asan build/.setup-test-all build/.setup-lint ## tests/durations anew, by which the longest jobs begin first
	@tests/durations.sh

demo: all ## a ResNet learns on two ranks; what its all-reduce costs (under a minute)
	@scripts/demo.sh
demo-%: all ## for a class: ring, naive, race, deadlock, train (SPEED=slow RANKS=n STEP=1)
	@$(BUILD)/demo $*
tour: all ## hello, the token ring, and what Pairwise says about a deadlock
	@scripts/tour.sh

lint: $(BUILD)/build_id.h $(BUILD)/hosts_id.h $(BUILD)/course.h $(BUILD)/mpi_stubs.inc build/.setup-train build/.setup-test build/.setup-lint ## clang-format, clang, clang-tidy, cppcheck; clang's analyzer on what has changed
	@scripts/lint.sh
lint-files:
	@echo $(FORMATTED)
reference: all ## docs/reference.md anew, from --help of every program
	@scripts/reference.sh >$(BUILD)/reference.md && cp $(BUILD)/reference.md docs/reference.md
format: build/.setup-lint ## clang-format, in place
	clang-format -i $(FORMATTED)
INSTALL = scripts/install.sh $(1) "$(DESTDIR)" "$(PREFIX)"
install: ## headers, libraries, pairwise-launch, -replay, -train, manual, pkg-config files
	@$(call INSTALL,check)
	@$(MAKE) all
	@$(call INSTALL,install)
uninstall: ## takes away what install put there (with the same PREFIX and DESTDIR)
	@$(call INSTALL,uninstall)
clean: ## remove $(BUILD)/
	rm -rf $(BUILD)

.PHONY: help all suites training asan test-all test-long durations demo tour lint lint-files format reference install uninstall clean
