/* SPDX-License-Identifier: MIT */
/*
 * What comes before a learner's main, in every program that is checked: settings are taken from the environment, and
 * new processes are forbidden, and signals to others: an exercise needs none, one that forks without end would take the
 * machine down, and kill(-1, SIGKILL) everything else that its user runs.
 * Also delays: in the sweep that looks for races, every Pairwise call of the learner waits a moment first.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "tests/exercises/check_internal.h"

check_settings check_given = {.fd = -1, .only = -1};

void __sanitizer_print_stack_trace(void) __attribute__((weak));

/* ---- No new processes, no signals to others ---- */

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined __riscv && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#endif

#ifdef ARCHITECTURE
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define SKIP_UNLESS(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (count))
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define FORBID(number) SKIP_UNLESS(number, 1), ANSWER(SECCOMP_RET_TRAP)
#define ONLY_TO(number, process) \
    SKIP_UNLESS(number, 4), LOAD(args[0]), SKIP_UNLESS(process, 1), ANSWER(SECCOMP_RET_ALLOW), ANSWER(SECCOMP_RET_TRAP)

/* clone makes a thread if CLONE_THREAD is in its first argument; what clone3 makes stands in memory, where a filter cannot
 * look, so it is said not to exist, and libc takes clone. */
static void forbid_processes(void)
{
    const unsigned self = (unsigned)getpid();
    struct sock_filter rules[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        ANSWER(SECCOMP_RET_ALLOW),
        LOAD(nr),
#ifdef __NR_fork
        FORBID(__NR_fork),
        FORBID(__NR_vfork),
#endif
        FORBID(__NR_ptrace),
        FORBID(__NR_process_vm_writev),
        FORBID(__NR_tkill),
        FORBID(__NR_rt_sigqueueinfo),
        FORBID(__NR_rt_tgsigqueueinfo),
        ONLY_TO(__NR_kill, self),
        ONLY_TO(__NR_tgkill, self),
        SKIP_UNLESS(__NR_clone3, 1),
        ANSWER(SECCOMP_RET_ERRNO | ENOSYS),
        SKIP_UNLESS(__NR_clone, 3),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
        ANSWER(SECCOMP_RET_TRAP),
        ANSWER(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof rules / sizeof *rules, .filter = rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#else
static void forbid_processes(void)
{
}
#endif

/* ---- Saying where: learn looks for the line, and for the learner's own line in the stack behind it ---- */

/* In a signal handler, of a process that ends in any case. */
static void say_where(const char *text)
{
    // NOLINTNEXTLINE(bugprone-signal-handler)
    if (write(STDERR_FILENO, text, strlen(text)) > 0 && __sanitizer_print_stack_trace) __sanitizer_print_stack_trace();
}

static void on_forbidden(int signal, siginfo_t *call, void *context)
{
    static const int signals[] = {__NR_kill, __NR_tgkill, __NR_tkill, __NR_rt_sigqueueinfo, __NR_rt_tgsigqueueinfo};
    bool sends = false;
    (void)signal, (void)context;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sends |= call->si_syscall == signals[i];
    say_where(sends ? "==check== a signal to another process\n" : "==check== a new process was asked for\n");
    _exit(1);
}

/* Shortly before the time limit. */
static void on_late(int signal)
{
    (void)signal;
    say_where("==check== late\n");
}

static void set_limits(void)
{
    struct rlimit none = {0, 0}, files;
    setrlimit(RLIMIT_CORE, &none);
    if (getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur > CHECK_AREA * CHECK_MAX_RANKS) {
        files.rlim_cur = CHECK_AREA * CHECK_MAX_RANKS;
        setrlimit(RLIMIT_FSIZE, &files);
    }
}

__attribute__((constructor)) static void begin(void)
{
    const char *given = getenv(CHECK_VARIABLE);
    unsigned long long seed, delays;
    long late;
    if (!given || sscanf(given, "%d,%zu,%llu,%llu,%ld,%d", &check_given.fd, &check_given.world, &seed, &delays, &late,
                         &check_given.only) != 6)
        return;
    check_given.seed = seed;
    check_given.delays = delays ? delays + (unsigned)getpid() : 0;
    unsetenv(CHECK_VARIABLE);
    set_limits();
    sigaction(SIGSYS, &(struct sigaction){.sa_sigaction = on_forbidden, .sa_flags = SA_SIGINFO}, NULL);
    signal(SIGALRM, on_late);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {late / 1000, late % 1000 * 1000}}, NULL);
    forbid_processes();
}

/* ---- Delays: every Pairwise call passes through p2p__here first; the linker puts this in its place ---- */

void __real_p2p__here(const char *file, int line);
void __wrap_p2p__here(const char *file, int line);

/* Mostly not at all, now and then long enough for everyone else to get ahead. */
static void wait_a_moment(void)
{
    uint64_t x = check_given.delays;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    check_given.delays = x;
    if (x % 4) return;
    nanosleep(&(struct timespec){0, (long)(x >> 32) % 400000}, NULL);
}

void __wrap_p2p__here(const char *file, int line)
{
    if (check_given.delays) wait_a_moment();
    __real_p2p__here(file, line);
}
