# SPDX-License-Identifier: MIT
# Fuzzing, a part of the Makefile: each tests/fuzz/NAME.c is a program of libFuzzer's, build/fuzz/NAME, and a function in
# the suites tests/fuzz.c and tests/trainer_fuzz.c, which give it the corpus.

FUZZ_TRAIN   := cache cifar resume safetensors
FUZZ_NAMES   := $(filter-out files,$(basename $(notdir $(wildcard tests/fuzz/*.c))))
FUZZ_PARTS   := $(OBJ)/tests/fuzz/files.o $(OBJ)/tests/util/folder.o
FUZZ_READERS := $(filter-out %/main.o,$(REPLAY) $(LEARN)) $(OBJ)/bench/util/sizes.o

$(BUILD)/tests/fuzz: $(patsubst %,$(OBJ)/tests/fuzz/%.o,$(filter-out $(FUZZ_TRAIN),$(FUZZ_NAMES))) $(FUZZ_PARTS) $(FUZZ_READERS)
$(BUILD)/tests/trainer_fuzz: $(FUZZ_TRAIN:%=$(OBJ)/tests/fuzz/%.o) $(FUZZ_PARTS)

# Used by `make fuzz` with a BUILD of its own.
$(BUILD)/fuzz/%: tests/fuzz/%.c $(FUZZ_PARTS) $(FUZZ_READERS) $(TRAIN_LIB) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(COMPILE) -MF $@.d -DFUZZ_PROGRAM -fsanitize=fuzzer $(filter %.c %.o,$^) $(TRAIN_LIB) $(LIB) -lOpenCL $(LEARN_LIBS) -o $@
fuzz-programs: $(FUZZ_NAMES:%=$(BUILD)/fuzz/%)

fuzz: build/.setup-test-all build/.setup-train ## every reader of files with random bytes, SECONDS=60 each
	@$(MAKE) BUILD=build/fuzzed CC=clang SAN=fuzzer-no-link,address,undefined fuzz-programs
	@tests/fuzz/fuzz.sh build/fuzzed/fuzz $(or $(SECONDS),60) $(FUZZ_NAMES)
.PHONY: fuzz fuzz-programs
