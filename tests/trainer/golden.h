/* SPDX-License-Identifier: MIT */
/*
 * golden: numbers that PyTorch wrote, in files beside the checkout (not part of it): tests that compare with them are
 * skipped where they are not there.
 */
#ifndef PAIRWISE_TESTS_TRAINER_GOLDEN_H
#define PAIRWISE_TESTS_TRAINER_GOLDEN_H

#include <stdbool.h>
#include <stddef.h>

#define GOLDEN_FOLDER "../shared/golden/resnet20"
#define GOLDEN_INIT GOLDEN_FOLDER "/init.safetensors"
#define GOLDEN_DATA "../shared/data/cifar-10-batches-bin"

bool golden_here(void);

/* Numbers of expected.json behind the first `section`, then the first `key` in it: "one_rank", "losses". Brackets and
 * names between them are skipped. Returns how many there were, at most `room`; reading ends at the closing bracket of
 * what began behind the key. */
size_t golden_numbers(const char *section, const char *key, double *numbers, size_t room);

/* One number of an object: section, key, name. NaN if it is not there. */
double golden_number(const char *section, const char *key, const char *name);

#endif
