/* SPDX-License-Identifier: MIT */
#include "p2p/world/cma.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_ONCE ((size_t)1 << 30) /* one call moves less than 2 GiB */

enum { PAGE = 4096, ASIDE = 8 * PAGE }; /* short enough for the second cache, long beside a call of the system */

void p2p__cma_allow(void)
{
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

/* By process_vm_readv or _writev. */
static bool move(__typeof__(process_vm_readv) *some, pid_t pid, void *at, uint64_t other, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        size_t part = bytes - done < AT_ONCE ? bytes - done : AT_ONCE;
        struct iovec here = {(char *)at + done, part}, there = {(void *)(uintptr_t)(other + done), part};
        ssize_t moved = TEMP_FAILURE_RETRY(some(pid, &here, 1, &there, 1, 0));
        if (moved <= 0) return false;
        done += (size_t)moved;
    }
    return true;
}

static void *read_own(void *to, const void *from, size_t bytes)
{
    move(process_vm_readv, getpid(), to, (uintptr_t)from, bytes);
    return to;
}

p2p_copy_way p2p__cma_way = {.copy = read_own};

/* Not part of its callers: it is rare, and has a large frame. */
__attribute__((noinline)) bool p2p__cma_aside(pid_t pid, void *at, uint64_t other, size_t bytes, bool writes)
{
    char aside[PAGE + ASIDE], *here = aside + (other - (uintptr_t)aside) % PAGE;
    for (size_t done = 0, part; done < bytes; done += part) {
        part = bytes - done < ASIDE ? bytes - done : ASIDE;
        if (writes) p2p__copy(here, (char *)at + done, part);
        if (!move(writes ? process_vm_writev : process_vm_readv, pid, here, other + done, part)) return false;
        if (!writes) p2p__copy((char *)at + done, here, part);
    }
    return true;
}

bool p2p__cma_read(pid_t pid, void *to, uint64_t from, size_t bytes)
{
    if (p2p__copy_is_slow(&p2p__cma_way, (uintptr_t)to, from, bytes))
        return p2p__cma_aside(pid, to, from, bytes, false);
    return move(process_vm_readv, pid, to, from, bytes);
}

bool p2p__cma_write(pid_t pid, void *from, uint64_t to, size_t bytes)
{
    if (p2p__copy_is_slow(&p2p__cma_way, to, (uintptr_t)from, bytes)) return p2p__cma_aside(pid, from, to, bytes, true);
    return move(process_vm_writev, pid, from, to, bytes);
}

/* The program must not see the child: SIGCHLD is blocked until it has been reaped. */
bool p2p__cma_works(bool writes)
{
    const uint64_t secret = UINT64_C(0x5a17c0de5a17c0de);
    volatile uint64_t answer = writes ? 0 : secret;
    sigset_t child, old;
    int status = -1;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &child, &old);
    p2p__cma_allow();
    pid_t self = getpid(), pid = fork();
    if (pid == 0) {
        uint64_t seen = 0;
        bool is_read = p2p__cma_read(self, &seen, (uintptr_t)&secret, sizeof seen);
        if (is_read && writes) is_read = p2p__cma_write(self, &seen, (uintptr_t)&answer, sizeof seen);
        _exit(is_read && seen == secret ? 0 : 1);
    }
    if (pid > 0) TEMP_FAILURE_RETRY(waitpid(pid, &status, 0));
    prctl(PR_SET_PTRACER, 0, 0, 0, 0);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 && answer == secret;
}
