/* SPDX-License-Identifier: MIT */
/*
 * The filter of system calls under which the code of others runs: as a rank (check_start.c), or as a kernel on a device
 * (bench/rate.c). It cannot be taken off again.
 *
 *      new processes  none for a rank, and no signals to others: one that forks without end would take the machine down, and
 *                     kill(-1, SIGKILL) everything else that its user runs. The compiler of a device starts processes:
 *                     there they are bounded by number, and end with their namespace
 *      channels       no sockets, shared memory or queues of its own, no memory of other processes, and its own is not
 *                     shown to them; what it holds in memory can be counted
 *      files          no other owners, rights or names for those that are there
 *      its group      of processes stays what it is: it can be stopped, and killed, as one
 *      other tables   system calls of 32 bits (int 0x80), of x32, and of kernels younger than this list end the process
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/sockios.h>

#include "exercises/check/check_filter.h"

#ifdef ARCHITECTURE
#define SKIP_BELOW(value, count) BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (value), 0, (count))
#define REFUSE ANSWER(SECCOMP_RET_ERRNO | EPERM)
#define UNKNOWN ANSWER(SECCOMP_RET_ERRNO | ENOSYS)
#define TRAP(number) SKIP_UNLESS(number, 1), ANSWER(SECCOMP_RET_TRAP)
/* The first argument, or the second, decides. */
#define SIGNAL_TO(number, process) \
    SKIP_UNLESS(number, 4), LOAD(args[0]), SKIP_UNLESS(process, 1), ALLOW, ANSWER(SECCOMP_RET_TRAP)
#define OF_SELF(number, process) \
    SKIP_UNLESS(number, 6), LOAD(args[0]), SKIP_UNLESS(0, 1), ALLOW, SKIP_UNLESS(process, 1), ALLOW, REFUSE
#define NOT_WITH_FIRST(number, value) SKIP_UNLESS(number, 4), LOAD(args[0]), SKIP_UNLESS(value, 1), REFUSE, LOAD(nr)
#define NOT_WITH(number, value) SKIP_UNLESS(number, 4), LOAD(args[1]), SKIP_UNLESS(value, 1), REFUSE, LOAD(nr)

/* From here on numbers are the same everywhere; the x32 table begins at 1 << 30. */
enum { FIRST_NEW = 424, CLOSE_RANGE = 436, OPENAT2, FACCESSAT2 = 439, EPOLL_PWAIT2 = 441, FUTEX_WAITV = 449 };
enum { X32 = 1 << 30 };

/* Other processes, channels to them, memory that belongs to no process, and the system's own affairs. */
static const unsigned refused[] = {
    __NR_process_vm_readv,
    __NR_setpriority,
    __NR_ioprio_set,
    __NR_sched_setscheduler,
    __NR_sched_setparam,
    __NR_sched_setattr,
    __NR_kcmp,
    __NR_socket,
    __NR_connect,
    __NR_bind,
    __NR_listen,
    __NR_memfd_create,
    __NR_shmget,
    __NR_shmat,
    __NR_msgget,
    __NR_semget,
    __NR_mq_open,
    __NR_add_key,
    __NR_keyctl,
    __NR_request_key,
    __NR_unshare,
    __NR_setns,
    __NR_mount,
    __NR_umount2,
    __NR_pivot_root,
    __NR_chroot,
    __NR_bpf,
    __NR_perf_event_open,
    __NR_userfaultfd,
    __NR_open_by_handle_at,
    __NR_fchmod,
    __NR_fchmodat,
    __NR_fchown,
    __NR_fchownat,
    __NR_linkat,
    __NR_setxattr,
    __NR_lsetxattr,
    __NR_fsetxattr,
    __NR_setsid,
    __NR_setpgid,
#ifdef __NR_chmod
    __NR_chmod,
    __NR_chown,
    __NR_lchown,
    __NR_link,
#endif
};

/* clone makes a thread if CLONE_THREAD is in its first argument; what clone3 makes stands in memory, where a filter cannot
 * look, so it is said not to exist, and libc takes clone. */
bool check_forbid_calls(bool processes)
{
    const unsigned self = (unsigned)getpid();
    enum { CLONE_THREAD = 0x10000, ANY_NAMESPACE = 0x7e020000 };
    const unsigned clone_forbids = processes ? SECCOMP_RET_ALLOW : SECCOMP_RET_TRAP;
    struct sock_filter rules[] = {
        BEGIN_FILTER,
        SKIP_BELOW(X32, 1),
        ANSWER(SECCOMP_RET_KILL_PROCESS),
        PERMIT(CLOSE_RANGE),
        PERMIT(OPENAT2),
        PERMIT(FACCESSAT2),
        PERMIT(EPOLL_PWAIT2),
        PERMIT(FUTEX_WAITV),
        SKIP_BELOW(FIRST_NEW, 1),
        UNKNOWN,
    /* new processes */
#ifdef __NR_fork
        SKIP_UNLESS(__NR_fork, 1),
        ANSWER(clone_forbids),
        SKIP_UNLESS(__NR_vfork, 1),
        ANSWER(clone_forbids),
#endif
        SKIP_UNLESS(__NR_clone, 6),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, ANY_NAMESPACE, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 2, 0),
        ANSWER(clone_forbids),
        ANSWER(SECCOMP_RET_TRAP),
        ALLOW,
        /* signals, and what else reaches other processes */
        SIGNAL_TO(__NR_kill, self),
        SIGNAL_TO(__NR_tgkill, self),
        TRAP(__NR_tkill),
        TRAP(__NR_rt_sigqueueinfo),
        TRAP(__NR_rt_tgsigqueueinfo),
        TRAP(__NR_ptrace),
        TRAP(__NR_process_vm_writev),
        NOT_WITH_FIRST(__NR_prctl, PR_SET_DUMPABLE), /* its memory is not for other ranks */
        NOT_WITH(__NR_fcntl, F_SETOWN),
        NOT_WITH(__NR_fcntl, F_SETOWN_EX),
        NOT_WITH(__NR_fcntl, F_SETSIG),
        NOT_WITH(__NR_ioctl, FIOSETOWN),
        NOT_WITH(__NR_ioctl, SIOCSPGRP),
        NOT_WITH(__NR_ioctl, TIOCSTI),
        OF_SELF(__NR_prlimit64, self),
    };
    enum { FIRST = sizeof rules / sizeof *rules, REFUSED = sizeof refused / sizeof *refused };
    struct sock_filter all[FIRST + 2 * REFUSED + 1];
    memcpy(all, rules, sizeof rules);
    for (size_t i = 0; i < REFUSED; i++) {
        all[FIRST + 2 * i] = (struct sock_filter)SKIP_UNLESS(refused[i], 1);
        all[FIRST + 2 * i + 1] = (struct sock_filter)REFUSE;
    }
    all[FIRST + 2 * REFUSED] = (struct sock_filter)ALLOW;
    struct sock_fprog program = {.len = sizeof all / sizeof *all, .filter = all};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#else
bool check_forbid_calls(bool processes)
{
    errno = ENOSYS;
    return false;
}
#endif
