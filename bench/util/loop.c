/* SPDX-License-Identifier: MIT */
#include "bench/util/loop.h"

#include <string.h>
#include <time.h>

enum { WARMUP_MOST = 50, GROWTH = 4 };

static const double warmup_share = 0.2;

typedef struct {
    const loop_calls *calls;
    const loop_plan *plan;
    loop_result *result;
} loop;

double loop_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static double virtual_us(const loop_calls *calls)
{
    return calls->virtual_time ? calls->virtual_time(calls->state) * 1e6 : 0;
}

/* One operation; `us` and `v` are set to what this rank measured. */
static void operate(const loop *l, bool fill, double *us, double *v)
{
    const loop_plan *plan = l->plan;

    if (fill) elements_fill(plan->elements, plan->buf, plan->count);
    l->calls->barrier(l->calls->state);
    double virtual_start = virtual_us(l->calls), start = loop_now_us();
    l->calls->operate(l->calls->state, plan->buf, plan->count);
    *us = loop_now_us() - start;
    *v = virtual_us(l->calls) - virtual_start;
    if (fill) l->result->wrong += elements_wrong(plan->elements, plan->buf, plan->count);
}

/* Bytes that are not zero. */
static uint64_t count_others(const unsigned char *buf, size_t bytes)
{
    uint64_t others = 0;

    for (size_t i = 0; i < bytes; i++) others += buf[i] != 0;
    return others;
}

/* What an operation sends: that of one operation and its barrier, less that of a barrier. */
static void count_traffic(const loop *l)
{
    const loop_calls *calls = l->calls;
    uint64_t messages[3], bytes[3];
    double us, v;

    if (!calls->sent) return;
    calls->sent(calls->state, &messages[0], &bytes[0]);
    calls->barrier(calls->state);
    calls->sent(calls->state, &messages[1], &bytes[1]);
    operate(l, true, &us, &v);
    calls->sent(calls->state, &messages[2], &bytes[2]);
    l->result->messages = messages[2] - messages[1] - (messages[1] - messages[0]);
    l->result->bytes = bytes[2] - bytes[1] - (bytes[1] - bytes[0]);
}

/* How many more of these there is time for: none at the end, never many more than there have been. */
static size_t next_chunk(const loop *l, size_t done, size_t most, double seconds, double spent_s)
{
    double fit = (seconds - spent_s) / (spent_s / (double)done);
    size_t limit = done * GROWTH < most - done ? done * GROWTH : most - done;
    size_t mine = fit < 0.5 ? 0 : fit < 1 ? 1 : fit < (double)limit ? (size_t)fit : limit;

    return l->calls->agree(l->calls->state, mine);
}

/* Up to `most` operations in about so many seconds (0: all of them). Lists may be NULL. Returns how many. */
static size_t repeat(const loop *l, bool fill, size_t most, double seconds, double *us, double *v)
{
    double start = loop_now_us(), unused;
    size_t done = 0, chunk = seconds > 0 && most > 1 ? 1 : most;

    while (chunk > 0) {
        for (size_t end = done + chunk; done < end; done++)
            operate(l, fill, us ? us + done : &unused, v ? v + done : &unused);
        bool go_on = seconds > 0 && done < most;
        chunk = go_on ? next_chunk(l, done, most, seconds, (loop_now_us() - start) * 1e-6) : 0;
    }
    return done;
}

void loop_run(const loop_calls *calls, const loop_plan *plan, loop_result *result)
{
    loop l = {calls, plan, result};
    bool by_time = plan->warmup == LOOP_BY_TIME;

    result->wrong = result->messages = result->bytes = 0;
    count_traffic(&l);
    repeat(&l, true, by_time ? WARMUP_MOST : (size_t)plan->warmup, by_time ? plan->seconds * warmup_share : 0, NULL,
           NULL);
    size_t bytes = plan->cold ? 0 : plan->count * plan->elements->size;
    if (bytes) memset(plan->buf, 0, bytes);
    result->count = repeat(&l, plan->cold, plan->iters, plan->seconds, result->us, result->virtual_us);
    result->wrong += count_others(plan->buf, bytes);
}
