/* SPDX-License-Identifier: MIT */
/*
 * guard: what becomes a rank, before the learner's program takes its place: launch -n N guard PROGRAM. None of the learner's
 * code has run yet, and none can undo what is done here:
 *
 *      descriptors    of those that learn gave for all ranks, a rank keeps its own; nothing else that was left open
 *      new processes  none, and no signals to others: one that forks without end would take the machine down, and
 *                     kill(-1, SIGKILL) everything else that its user runs
 *      channels       no sockets, shared memory or queues of its own, no memory of other processes; what it holds in
 *                     memory can be counted
 *      other tables   system calls of 32 bits (int 0x80), of x32, and of kernels younger than this list end the rank
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/sockios.h>

#include "exercises/check/check_filter.h"
#include "exercises/check/check_internal.h"
#include "p2p/message/internal.h"

/* ---- The filter ---- */

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
};

/* clone makes a thread if CLONE_THREAD is in its first argument; what clone3 makes stands in memory, where a filter cannot
 * look, so it is said not to exist, and libc takes clone. */
static bool forbid_calls(void)
{
    const unsigned self = (unsigned)getpid();
    enum { CLONE_THREAD = 0x10000 };
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
        TRAP(__NR_fork),
        TRAP(__NR_vfork),
#endif
        SKIP_UNLESS(__NR_clone, 4),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
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
static bool forbid_calls(void)
{
    errno = ENOSYS;
    return false;
}
#endif

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
        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && forbid_calls() ? 0 : 1;
    if (argc < 2 || !keep_own_descriptors()) {
        fputs("==check== the guard is started by build/launch only\n", stderr);
        return 1;
    }
    set_limits();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) forbid_calls(); /* learn says beforehand if that cannot be had */
    execv(argv[1], argv + 1);
    fprintf(stderr, "==check== %s: %s\n", argv[1], strerror(errno));
    return 127;
}
