/* SPDX-License-Identifier: MIT */
/*
 * fuzz: readers of what others may have made, each given any bytes at all: it must end, with an error or a result, and
 * touch no memory that is not its own. One file here for each reader.
 *
 *      make fuzz SECONDS=60          libFuzzer, a program for each, in turn
 *      tests/fuzz.c, trainer_fuzz.c  the corpus, in `make test`; what the fuzzer found becomes a file there
 */
#ifndef PAIRWISE_TESTS_FUZZ_H
#define PAIRWISE_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#ifdef FUZZ_PROGRAM
#define FUZZ(name) int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
#else
#define FUZZ(name) int fuzz_##name(const uint8_t *bytes, size_t count)
int fuzz_cache(const uint8_t *bytes, size_t count);
int fuzz_cifar(const uint8_t *bytes, size_t count);
int fuzz_remains(const uint8_t *bytes, size_t count);
int fuzz_resume(const uint8_t *bytes, size_t count);
int fuzz_safetensors(const uint8_t *bytes, size_t count);
int fuzz_settings(const uint8_t *bytes, size_t count);
int fuzz_state(const uint8_t *bytes, size_t count);
int fuzz_submission(const uint8_t *bytes, size_t count);
int fuzz_trace(const uint8_t *bytes, size_t count);
#endif

/* A folder of this process's own, removed when it ends, and a file in it with these bytes: its path, valid until the
 * fourth call after it. */
const char *fuzz_folder(void);
const char *fuzz_file(const char *name, const void *bytes, size_t count);

/* A copy with a NUL behind it. Free it. */
char *fuzz_text(const void *bytes, size_t count);

#endif
