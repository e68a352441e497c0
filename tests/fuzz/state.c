/* SPDX-License-Identifier: MIT */
/* What is remembered of a learner: .learn/EXERCISE/failure and passed. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "learn/course/commands.h"
#include "tests/fuzz/fuzz.h"

FUZZ(state)
{
    size_t exercises;
    const learn_exercise *e = learn_course(&exercises);
    char key[LEARN_KEY], path[300];
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (here < 0 || chdir(fuzz_folder()) != 0) __builtin_trap();
    mkdir(LEARN_STATE, 0700);
    snprintf(path, sizeof path, LEARN_STATE "/%s", e->name);
    mkdir(path, 0700);
    snprintf(path, sizeof path, LEARN_STATE "/%s/failure", e->name);
    fuzz_file(path, bytes, count);
    snprintf(path, sizeof path, LEARN_STATE "/%s/passed", e->name);
    fuzz_file(path, bytes, count);
    learn_last_failure(e, key);
    learn_progress(e);
    if (fchdir(here) != 0) __builtin_trap();
    close(here);
    return 0;
}
