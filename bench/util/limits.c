/* SPDX-License-Identifier: MIT */
#include "bench/util/limits.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/util/loop.h"
#include "dtype/dtype.h"

enum { BURSTS = 40, EXCHANGES = 50, PATIENCE = 2000, TIMES = 5 };

/* A timing should take so long that the cost of reading the clock does not matter. */
static const double least_us = 20;

/* ---- A cache line to another core ---- */

typedef struct {
    _Alignas(64) _Atomic int ping;
    _Alignas(64) _Atomic int pong;
} lines;

/* After PATIENCE polls, yield: the other side may need this core. */
static void wait_for(_Atomic int *at, int number)
{
    for (int polls = 0; atomic_load_explicit(at, memory_order_acquire) < number; polls++)
        if (polls > PATIENCE) sched_yield();
}

/* Move to the first or the second core of those this process may use, if there are two; then allow all of them
 * again. */
static void go_to_core(int number)
{
    cpu_set_t all, one;
    size_t core = 0;

    if (sched_getaffinity(0, sizeof all, &all) != 0 || number >= CPU_COUNT(&all)) return;
    for (int before = number; before > 0 || !CPU_ISSET(core, &all); core++)
        if (CPU_ISSET(core, &all)) before--;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0) sched_setaffinity(0, sizeof all, &all);
}

static _Noreturn void answer(lines *l, pid_t parent)
{
    go_to_core(1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    for (int i = 1; i <= BURSTS * EXCHANGES; i++) {
        wait_for(&l->ping, i);
        atomic_store_explicit(&l->pong, i, memory_order_release);
    }
    _exit(0);
}

static void time_lines(limits *limit, lines *l)
{
    for (int burst = 0, i = 0; burst < BURSTS; burst++) {
        double start = loop_now_us();
        for (int end = i + EXCHANGES; i < end;) {
            atomic_store_explicit(&l->ping, ++i, memory_order_release);
            wait_for(&l->pong, i);
        }
        double us = (loop_now_us() - start) / (2 * EXCHANGES);
        samples_add(&limit->line, &us, 1);
    }
}

static bool measure_line(limits *limit)
{
    lines *l = mmap(NULL, sizeof *l, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t parent = getpid(), child = l == MAP_FAILED ? -1 : fork();

    if (child < 0) {
        perror("limits: two processes that share a page");
        return false;
    }
    if (child == 0) answer(l, parent);
    go_to_core(0);
    time_lines(limit, l);
    waitpid(child, NULL, 0);
    munmap(l, sizeof *l);
    return true;
}

/* ---- Loops over memory ---- */

static void copy_once(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    __asm__ volatile("" : : "r"(to) : "memory"); /* the compiler must not remove the loop */
}

static void sum_once(void *to, const void *from, size_t bytes)
{
    dtype_reduce(to, from, bytes / sizeof(float), DTYPE_F32, OP_SUM);
}

static double time_of(void (*once)(void *, const void *, size_t), void *to, const void *from, size_t bytes,
                      size_t repeat)
{
    double start = loop_now_us();

    for (size_t i = 0; i < repeat; i++) once(to, from, bytes);
    return loop_now_us() - start;
}

static void measure_loop(void (*once)(void *, const void *, size_t), void *to, const void *from, size_t bytes,
                         samples *us)
{
    size_t repeat = 1;

    while (time_of(once, to, from, bytes, repeat) < least_us) repeat *= 2;
    for (int i = 0; i < TIMES; i++) {
        double each = time_of(once, to, from, bytes, repeat) / (double)repeat;
        samples_add(us, &each, 1);
    }
}

static bool measure_memory(limits *l, size_t bytes)
{
    size_t room = (bytes + 63) / 64 * 64;
    char *to = aligned_alloc(64, 2 * room);

    if (!to) {
        fprintf(stderr, "limits: no memory for two buffers of %zu bytes\n", bytes);
        return false;
    }
    memset(to, 0, 2 * room);
    measure_loop(copy_once, to, to + room, bytes, &l->copy);
    measure_loop(sum_once, to, to + room, bytes, &l->sum);
    free(to);
    return true;
}

/* ---- The whole ---- */

bool limits_round(limits *l, size_t bytes)
{
    return measure_line(l) && measure_memory(l, bytes);
}

void limits_settle(limits *l)
{
    samples_sort(&l->line);
    samples_sort(&l->copy);
    samples_sort(&l->sum);
    l->line_us = samples_percentile(&l->line, 50);
    l->copy_us = samples_percentile(&l->copy, 50);
    l->sum_us = samples_percentile(&l->sum, 50);
}

void limits_free(limits *l)
{
    samples_free(&l->line);
    samples_free(&l->copy);
    samples_free(&l->sum);
}

double limits_message_us(const limits *l)
{
    return l->line_us + l->copy_us;
}

double limits_all_reduce_us(const limits *l, int ranks, int cores)
{
    int at_once = ranks < cores ? ranks : cores;

    return ranks < 2 ? 0 : l->line_us + (ranks - 1) * (l->sum_us + l->copy_us) / at_once;
}
