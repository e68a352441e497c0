/* SPDX-License-Identifier: MIT */
/*
 * suite: what the Criterion suites share beyond job.h. Only test bodies use it, never a rank or a forked child.
 */
#ifndef PAIRWISE_TESTS_SUITE_H
#define PAIRWISE_TESTS_SUITE_H

#include <criterion/criterion.h>
#include <string.h>

#include "tests/util/job.h"

/* job_right, job_matrix or job_sizes found nothing wrong. */
#define ASSERT_RIGHT(call)                               \
    do {                                                 \
        const char *why_ = (call);                       \
        cr_assert(why_ == NULL, "%s", why_ ? why_ : ""); \
    } while (0)

#define ASSERT_CONTAINS(text, part) \
    cr_assert(strstr((text), (part)) != NULL, "expected to see \"%s\" in:\n%.4000s", (part), (text))

#define ASSERT_LACKS(text, part) \
    cr_assert(strstr((text), (part)) == NULL, "did not expect to see \"%s\" in:\n%.4000s", (part), (text))

/* A process_result ended with this status, in time, and left no process behind. */
#define ASSERT_STATUS(result, want)                                                                      \
    cr_assert((result).status == (want) && !(result).late && (result).left_behind == 0,                  \
              "status %d%s, expected %d; %d left behind; out:\n%.2000s\nerr:\n%.3000s", (result).status, \
              (result).late ? " (killed: too late)" : "", (want), (result).left_behind, (result).out, (result).err)

#endif
