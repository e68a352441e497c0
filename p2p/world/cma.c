/* SPDX-License-Identifier: MIT */
#include "p2p/world/cma.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "p2p/shared/copy.h"

#define AT_ONCE ((size_t)1 << 30) /* one call moves less than 2 GiB */

enum { PAGE = 4096, ASIDE = 8 * PAGE };

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

/* Where the kernel's copy would be slow (copy.h): by way of memory that begins where the other process's does in its page. */
bool p2p__cma_read(pid_t pid, void *to, uint64_t from, size_t bytes)
{
    char aside[PAGE + ASIDE], *here = aside + (from - (uintptr_t)aside) % PAGE;
    if (!p2p__copy_is_slow((uintptr_t)to, from, bytes)) return move(process_vm_readv, pid, to, from, bytes);
    for (size_t done = 0, part; done < bytes; done += part) {
        part = bytes - done < ASIDE ? bytes - done : ASIDE;
        if (!move(process_vm_readv, pid, here, from + done, part)) return false;
        p2p__copy((char *)to + done, here, part);
    }
    return true;
}

bool p2p__cma_write(pid_t pid, void *from, uint64_t to, size_t bytes)
{
    char aside[PAGE + ASIDE], *here = aside + (to - (uintptr_t)aside) % PAGE;
    if (!p2p__copy_is_slow(to, (uintptr_t)from, bytes)) return move(process_vm_writev, pid, from, to, bytes);
    for (size_t done = 0, part; done < bytes; done += part) {
        part = bytes - done < ASIDE ? bytes - done : ASIDE;
        p2p__copy(here, (char *)from + done, part);
        if (!move(process_vm_writev, pid, here, to + done, part)) return false;
    }
    return true;
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
