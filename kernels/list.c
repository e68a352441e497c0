/* SPDX-License-Identifier: MIT */
/*
 * list: which devices there are. A child process asks OpenCL, so that the caller itself has not used OpenCL and may
 * still fork.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/device.h"

enum { PATIENCE = 30 }; /* seconds until the child that asks a driver is killed */

_Static_assert(sizeof(kernel_listing) <= 4096, "a listing crosses a pipe at once");

static _Noreturn void ask(int to)
{
    char cache[KERNEL__PATH];
    kernel_listing listing;
    sigset_t all;

    signal(SIGALRM, SIG_DFL);
    sigemptyset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    alarm(PATIENCE);
    kernel__cache_choose(cache); /* PoCL's own files go there; if it cannot be used, kernel_open says so */
    kernel__survey(&listing);
    _exit(write(to, &listing, sizeof listing) == sizeof listing ? 0 : 1);
}

/* However the child ends, it is reaped. */
static bool hear(pid_t child, int from, kernel_listing *listing)
{
    ssize_t got;

    while ((got = read(from, listing, sizeof *listing)) < 0 && errno == EINTR) continue;
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
    return got == (ssize_t)sizeof *listing;
}

kernel_err kernel_list(kernel_listing *listing)
{
    kernel_listing heard;
    int ends[2];
    pid_t child;

    if (!listing) return kernel__fail(NULL, KERNEL_ERR_ARG, "kernel_list: nowhere to put the list (NULL)");
    if (kernel__is_ours()) {
        kernel__survey(listing);
        return KERNEL_OK;
    }
    if (kernel__may_use(__func__)) return KERNEL_ERR_STATE;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return kernel__fail(NULL, KERNEL_ERR_CL, "kernel_list: pipe2: %s", strerror(errno));
    child = fork();
    if (child == 0) ask(ends[1]);
    close(ends[1]);
    bool fine = child > 0 && hear(child, ends[0], &heard);
    close(ends[0]);
    if (!fine)
        return kernel__fail(NULL, KERNEL_ERR_CL, "kernel_list: the process that asked OpenCL for its devices %s",
                            child < 0 ? "could not be started" : "died");
    *listing = heard;
    return KERNEL_OK;
}
