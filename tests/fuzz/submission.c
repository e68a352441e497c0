/* SPDX-License-Identifier: MIT */
#include "learn/grade/submission.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

enum { BLOCK = 512 };

/* A fuzzer does not hit upon sums: every header is given its own, unless the archive's first byte says not to. */
static void put_sums(char *bytes, size_t count)
{
    for (char *block = bytes; block + BLOCK <= bytes + count; block += BLOCK) {
        unsigned sum = 0;
        char digits[9];
        for (int i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? ' ' : (unsigned char)block[i];
        snprintf(digits, sizeof digits, "%06o", sum);
        memcpy(block + 148, digits, 7);
    }
}

FUZZ(submission)
{
    size_t exercises;
    const learn_exercise *all = learn_course(&exercises);
    learn_submission s;
    char *copy = fuzz_text(bytes, count);
    if (*copy != 'x') put_sums(copy, count);
    learn_submission_read(&s, fuzz_file("handed.tar", copy, count), false);
    for (size_t i = 0; i < exercises; i++) learn_handed_in(&s, &all[i]);
    learn_submission_free(&s);
    free(copy);
    return 0;
}
