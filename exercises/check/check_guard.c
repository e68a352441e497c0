/* SPDX-License-Identifier: MIT */
/*
 * What comes before a learner's main, in every program that is checked: settings are taken from the environment; a rank
 * that is stopped by the filter of check_forbid.c, or late, says where.
 * Also delays: in the sweep that looks for races, every Pairwise call of the learner waits a moment first.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "exercises/check/check_internal.h"

#pragma weak check_deaths_call /* a program with a main of its own is not killed */

check_settings check_given = {.only = -1};
check_place check_called;

void __sanitizer_print_stack_trace(void) __attribute__((weak));

/* The sanitizers ask for them before anything else runs. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
    return CHECK_ASAN_OPTIONS;
}

const char *__ubsan_default_options(void)
{
    return CHECK_UBSAN_OPTIONS;
}

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

__attribute__((constructor)) static void begin(void)
{
    const char *given = getenv(CHECK_VARIABLE);
    unsigned long long seed, delays;
    long late;
    if (!given || sscanf(given, CHECK_VARIABLE_FORMAT, &check_given.world, &seed, &delays, &late, &check_given.only,
                         &check_given.orders) != 6)
        return;
    check_given.seed = seed;
    check_given.delays = delays ? delays + (unsigned)getpid() : 0;
    unsetenv(CHECK_VARIABLE);
    sigaction(SIGSYS, &(struct sigaction){.sa_sigaction = on_forbidden, .sa_flags = SA_SIGINFO}, NULL);
    signal(SIGALRM, on_late);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {late / 1000, late % 1000 * 1000}}, NULL);
}

/* ---- Every Pairwise call passes through p2p__here first; the linker puts this in its place: delays ---- */

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
    check_called = (check_place){file, line};
    if (check_given.delays) wait_a_moment();
    if (check_deaths_call) check_deaths_call(file);
    __real_p2p__here(file, line);
}
