/* SPDX-License-Identifier: MIT */
// worlds: each
/*
 * hosts_clock: events of a host whose clock shows something else become events of host 0's clock: by what the exchanges
 * say, and never so that a message arrives before it was sent. The exchanges themselves are in tests/all/hosts.sh.
 */
#include <stdlib.h>

#include "p2p/job/hosts.h"
#include "p2p/trace/notes.h"
#include "tests/util/suite.h"

#define MS UINT64_C(1000000)
#define AHEAD (5000 * MS) /* what the clock of host 1 shows more when the job begins */
#define BEGAN (1000 * MS)
#define DRIFT 1e-4 /* and it is too fast by this */

/* Ranks 0 and 1 are on host 0, rank 2 is on host 1. */
typedef struct {
    p2p_plan plan;
    p2p_cluster hosts;
    far_host host[2];
    uint16_t host_of[3];
    p2p_job job;
    scoreboard *board;
    uint32_t next;
} two_hosts;

static uint64_t on_host_1(uint64_t time)
{
    return time + AHEAD + (uint64_t)(int64_t)((double)(int64_t)(time - BEGAN) * DRIFT);
}

static void make(two_hosts *t)
{
    int fd;

    *t = (two_hosts){.plan = {.size = 3}, .host_of = {0, 0, 1}};
    cr_assert_eq(p2p__config_read(&t->plan.config, (char[200]){""}, 200), P2P_OK);
    t->plan.config.trace_room = 1 << 20;
    t->plan.config.trace_bytes = 3 * p2p__trace_rank_bytes(3, &t->plan.config);
    t->plan.config.record = true;
    t->plan.config.notes_bytes = p2p__notes_bytes(3, &t->plan.config);
    t->hosts =
        (p2p_cluster){.count = 2, .map = {.count = 2, .first = {0, 2, 3}}, .hosts = t->host, .host_of = t->host_of};
    t->board = p2p__scoreboard_create(3, &t->plan.config, false, &fd);
    cr_assert_not_null(t->board);
    t->job = (p2p_job){
        .plan = &t->plan, .size = 3, .hosts = &t->hosts, .count = 2, .scoreboard = t->board, .started = BEGAN};
    p2p__trace_open(&t->job);
    cr_assert_not_null(t->job.trace);
}

static void add(two_hosts *t, int rank, int kind, int peer, uint64_t time)
{
    trace_rank *trace = p2p__trace_of(t->board, rank);
    uint64_t count = atomic_load(&trace->count), at = rank == 2 ? on_host_1(time) : time;

    trace->events[count] = (trace_event){.kind = (uint8_t)kind, .start = at, .end = at, .peer = peer, .id = t->next};
    atomic_store(&trace->count, count + 1);
}

static void message(two_hosts *t, int from, int to, uint64_t sent, uint64_t received)
{
    t->next++;
    add(t, from, TRACE_SENT, to, sent);
    add(t, to, TRACE_RECEIVED, from, received);
}

static uint64_t time_of(two_hosts *t, int rank, int event)
{
    return p2p__trace_of(t->board, rank)->events[event].start;
}

static void expect_near(uint64_t got, uint64_t want, uint64_t within)
{
    cr_expect(got <= want + within && want <= got + within, "%llu, not %llu", (unsigned long long)got,
              (unsigned long long)want);
}

/* What an exchange says at this time if it is wrong by so much. */
static clock_sample sample(uint64_t time, int64_t error)
{
    return (clock_sample){on_host_1(time) + (uint64_t)error, time, 1000};
}

Test(hosts_clock, an_offset_and_a_drift)
{
    two_hosts t;

    make(&t);
    message(&t, 0, 2, BEGAN + MS, BEGAN + 2 * MS);
    message(&t, 2, 1, BEGAN + 500000 * MS, BEGAN + 500001 * MS);
    notes_record *kept = p2p__notes_record(t.board, 2);
    kept->calls[7] = (notes_call){.start = on_host_1(BEGAN + 3 * MS)}; /* it never ended */
    t.host[1].clock = (host_clock){.first = sample(BEGAN, 0), .last = sample(BEGAN + 1000000 * MS, 0)};
    cr_expect_eq(p2p__clocks_apply(&t.job), BEGAN);
    expect_near(time_of(&t, 2, 0), BEGAN + 2 * MS, 2000);
    expect_near(time_of(&t, 2, 1), BEGAN + 500000 * MS, 2000);
    expect_near(kept->calls[7].start, BEGAN + 3 * MS, 2000);
    cr_expect_eq(kept->calls[7].end, 0);
    cr_expect_eq(kept->calls[8].start, 0);
    cr_expect_eq(time_of(&t, 0, 0), BEGAN + MS, "host 0's own");
}

/* The exchanges were wrong by more than a message takes: in either direction. */
Test(hosts_clock, no_message_arrives_before_it_was_sent)
{
    for (int64_t error = -2 * (int64_t)MS; error <= 2 * (int64_t)MS; error += (int64_t)MS / 2) {
        two_hosts t;
        make(&t);
        for (uint64_t i = 0; i < 50; i++) {
            uint64_t at = BEGAN + (10 + 10 * i) * MS;
            message(&t, 0, 2, at, at + MS + i * 1000);
            message(&t, 2, 1, at + 5 * MS, at + 6 * MS + i * 1000);
            message(&t, 0, 1, at + 7 * MS, at + 8 * MS);
        }
        t.host[1].clock = (host_clock){.first = sample(BEGAN, error), .last = sample(BEGAN + 1000 * MS, error)};
        p2p__clocks_apply(&t.job);
        for (int i = 0; i < 50; i++) {
            cr_assert_lt(time_of(&t, 0, 2 * i), time_of(&t, 2, 2 * i), "message %d to host 1, error %lld", i,
                         (long long)error);
            cr_assert_lt(time_of(&t, 2, 2 * i + 1), time_of(&t, 1, 2 * i), "message %d from host 1, error %lld", i,
                         (long long)error);
        }
    }
}

/* A rank began before host 0 had: nothing is before the beginning. */
Test(hosts_clock, the_first_event_is_the_beginning)
{
    two_hosts t;

    make(&t);
    message(&t, 2, 0, BEGAN - 3 * MS, BEGAN + MS);
    t.host[1].clock = (host_clock){.last = sample(BEGAN, 0)};
    expect_near(p2p__clocks_apply(&t.job), BEGAN - 3 * MS, 2000);
}
