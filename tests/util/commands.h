/* SPDX-License-Identifier: MIT */
/* commands: shell commands of a test that has a folder of its own, $D. */
#ifndef PAIRWISE_TESTS_UTIL_COMMANDS_H
#define PAIRWISE_TESTS_UTIL_COMMANDS_H

#include <stdlib.h>

#include "tests/util/folder.h"
#include "tests/util/suite.h"

/* In front of a command line: `children PID [NAME]` prints the processes that PID has started. A bare system has no pgrep. */
#define CHILDREN "children() { sed -n \"s/^\\([0-9]*\\) (${2:-.*}) . $1 .*/\\1/p\" /proc/[0-9]*/stat 2>/dev/null; }\n"

static inline void run(const char *command, process_result *result)
{
    setenv("D", test_folder, 1);
    shell_run(command, NULL, result);
}

static inline void must_work(const char *command)
{
    process_result result;
    run(command, &result);
    ASSERT_STATUS(result, 0);
    process_free(&result);
}

#endif
