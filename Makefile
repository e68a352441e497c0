# SPDX-License-Identifier: MIT
# One file builds everything. `make help` lists the targets; V=1 shows full commands.

.DEFAULT_GOAL := all
help:
	@echo 'make            build the library, the launcher, the examples, the benches and the test programs'
	@echo 'make test       the quick tests: every suite and every fault (under 4 minutes from a clean clone)'
	@echo 'make demo       hello, the token ring, and what Pairwise says about a deadlock'
	@echo 'make bench      how long a message takes next to a bare socketpair; how soon a death is known; what waiting costs'
	@echo 'make plots      all-reduce by naive, tree, doubling and ring, as SVG and PNG (two minutes)'
	@echo 'make bench-peers  ours next to Open MPI and MPICH, where they are installed (three minutes)'
	@echo 'make test-all   test, and sanitizers, valgrind, injected system call errors, limits (about 5 minutes)'
	@echo 'make test-long  everything, on a bare Debian too (longer; needs root)'
	@echo 'make lint       clang-tidy and cppcheck, both as errors'
	@echo 'make format     clang-format, in place'
	@echo 'make install    PREFIX=/usr/local DESTDIR=    headers, library, pairwise-launch, pkg-config file'
	@echo 'make clean      remove $(BUILD)/'
	@echo
	@echo 'Variables: CC=clang  BUILD=build/other  SAN=address,undefined  WERROR=  V=1'

# ---- Settings ----

BUILD   ?= build
PREFIX  ?= /usr/local
VERSION := 0.1.0
CFLAGS  ?= -O2 -g
WERROR  ?= -Werror
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion $(WERROR)
SANFLAGS = $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
COMPILE  = $(CC) -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARN) $(SANFLAGS) -MMD -MP -I. -I$(BUILD)
LINK     = $(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS)
WRAP    := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=p2p__ring_begin,--wrap=p2p__pull

# As many jobs as cores, unless several goals ask for an order (`make clean test`).
ifeq ($(MAKELEVEL)$(word 2,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(or $(shell nproc 2>/dev/null),2)
endif
MAKEFLAGS += --no-print-directory
Q   := $(if $(V),,@)
say  = $(if $(V),,@printf '  %-4s%s\n' $(1) $(2))

# ---- What there is: a folder of the library appears here as soon as it has a source file ----

FOLDERS := p2p dtype collectives ring
HEADERS := $(wildcard p2p/p2p.h p2p/p2p_layer.h dtype/dtype.h collectives/collectives.h ring/ring.h)
OBJ     := $(BUILD)/obj
LIB     := $(BUILD)/libpairwise.a

objects  = $(patsubst %.c,$(OBJ)/%.o,$(wildcard $(1)))
programs = $(patsubst %.c,$(BUILD)/%,$(wildcard $(1)))

LIB_OBJ    := $(filter-out $(OBJ)/p2p/launch_main.o,$(call objects,$(FOLDERS:=/*.c)))
BENCH_UTIL := $(call objects,bench/util/*.c)
TEST_UTIL  := $(call objects,tests/util/*.c)
FAULTS     := $(call objects,tests/faultlab/*.c)
PROGRAMS   := $(BUILD)/launch $(call programs,examples/*.c bench/*.c)
CASES      := $(call programs,tests/wrong/*.c tests/right/*.c) $(if $(FAULTS),$(BUILD)/tests/faultlab)
SUITES     := $(call programs,tests/*.c)
SOURCES     = $(filter-out bench/peers/%,$(wildcard $(FOLDERS:=/*.[ch]) examples/*.[ch] bench/*.[ch] bench/*/*.[ch] tests/*.[ch] tests/*/*.[ch]))

all: $(LIB) $(PROGRAMS) $(CASES)
cases: $(CASES)
suites: $(SUITES)

# ---- How it is made ----

# The tools: installed once if missing (scripts/setup.sh); the stamp is there when nothing is missing.
build/.setup-%: scripts/setup.sh
	@sh scripts/setup.sh $*

# Both ends of a link compare this: programs from different builds are told so.
$(BUILD)/build_id.h: $(wildcard p2p/*.[ch]) | build/.setup-build
	@mkdir -p $(@D)
	@printf '#define P2P_BUILD_ID "%s"\n' "$$(cat $^ | cksum | tr ' ' -)" >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(OBJ)/%.o: %.c | build/.setup-build $(BUILD)/build_id.h
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(COMPILE) -c $< -o $@

$(call objects,tests/*.c): | build/.setup-test
build/.setup-test build/.setup-plots build/.setup-lint build/.setup-test-all build/.setup-test-long: | build/.setup-build

$(LIB): $(LIB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

define link
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) $(filter %.o,$^) $(LIB) $(1) -o $@
endef

$(BUILD)/launch: $(OBJ)/p2p/launch_main.o $(LIB)
	$(call link)
$(call programs,examples/*.c tests/wrong/*.c tests/right/*.c): $(BUILD)/%: $(OBJ)/%.o $(LIB)
	$(call link)
$(call programs,bench/*.c): $(BUILD)/%: $(OBJ)/%.o $(BENCH_UTIL) $(LIB)
	$(call link)
$(SUITES): $(BUILD)/%: $(OBJ)/%.o $(TEST_UTIL) $(LIB)
	$(call link,-lcriterion)
$(BUILD)/tests/faultlab: $(FAULTS) $(TEST_UTIL) $(LIB)
	$(call link,$(WRAP))

.SECONDARY:
-include $(wildcard $(OBJ)/*/*.d $(OBJ)/*/*/*.d)

# ---- What to do with it ----

export BUILD CC V

test: all build/.setup-test
	@if [ -e build/.setup-test ]; then $(MAKE) suites; fi
	@tests/test.sh

test-all: test build/.setup-test-all
	@tests/run.sh tests/all/*.sh

test-long: test-all build/.setup-test-long
	@tests/run.sh tests/long/*.sh

bench: all
	@$(BUILD)/bench/ping_pong --world raw,socket
	@$(BUILD)/bench/death
	@$(BUILD)/bench/idle

plots: all build/.setup-plots
	@bench/plots/plots.sh

bench-peers: all
	@bench/peers/peers.sh

demo: all
	@scripts/demo.sh

lint: $(BUILD)/build_id.h build/.setup-lint
	@scripts/lint.sh $(SOURCES)

format: build/.setup-lint
	clang-format -i $(SOURCES)

install: all
	@scripts/install.sh "$(DESTDIR)" "$(PREFIX)" $(VERSION) $(HEADERS)

clean:
	rm -rf $(BUILD)

.PHONY: help all cases suites test test-all test-long bench plots bench-peers demo lint format install clean
