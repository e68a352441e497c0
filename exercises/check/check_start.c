/* SPDX-License-Identifier: MIT */
/*
 * guard: what becomes a rank, before the learner's program takes its place: launch -n N guard PROGRAM. None of the learner's
 * code has run yet, and none can undo what is done here:
 *
 *      descriptors    of those that learn gave for all ranks, a rank keeps its own; nothing else that was left open
 *      calls          what the code of others may not ask the system for is refused (check_forbid.c)
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "exercises/check/check_filter.h"
#include "exercises/check/check_internal.h"
#include "p2p/message/internal.h"

/* ---- Descriptors and limits ---- */

/* Is it one that the launcher gave: "rank,control,board" in its variable? */
static bool is_given(int fd, const int given[3])
{
    return fd <= STDERR_FILENO || fd == CHECK_FD || fd == given[1] || fd == given[2];
}

static bool keep_own_descriptors(void)
{
    enum { MOST = 1024 };
    const char *job = getenv(P2P_JOB_VARIABLE);
    int given[3];
    if (!job || sscanf(job, "%d,%d,%d", &given[0], &given[1], &given[2]) != 3) return false;
    if (given[0] < 0 || given[0] >= CHECK_MAX_RANKS) return false;
    if (given[0] && fcntl(CHECK_FD + given[0], F_GETFD) >= 0) dup2(CHECK_FD + given[0], CHECK_FD);
    for (int fd = 0; fd < MOST; fd++)
        if (!is_given(fd, given)) close(fd);
    return true;
}

static void set_limits(void)
{
    struct rlimit none = {0, 0}, files;
    setrlimit(RLIMIT_CORE, &none);
    if (getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur > CHECK_FILE_BYTES) {
        files.rlim_cur = CHECK_FILE_BYTES;
        setrlimit(RLIMIT_FSIZE, &files);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--can") == 0)
        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && check_forbid_calls(false) ? 0 : 1;
    if (argc < 2 || !keep_own_descriptors()) {
        fputs("==check== the guard is started by build/launch only\n", stderr);
        return 1;
    }
    set_limits();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        check_forbid_calls(false); /* learn says beforehand if that cannot be had */
    execv(argv[1], argv + 1);
    fprintf(stderr, "==check== %s: %s\n", argv[1], strerror(errno));
    return 127;
}
