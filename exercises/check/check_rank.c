/* SPDX-License-Identifier: MIT */
/*
 * The rank's side of a check: main. It runs the cases of one world, one after the other, each on a communicator of its own,
 * and writes down what happened. It decides nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exercises/check/check_internal.h"

#pragma weak check_choose /* only in a program of several mutants */

/* Kept by malloc under the sanitizer, whose red zones catch what goes beyond; freed when the case has ended. */
enum { BUFFERS = 256, MOST_CALLS = 1000 };

static struct {
    int rank;
    uint64_t key;
    bool nobody_listens;
    int number; /* of the case */
    void *buffers[BUFFERS];
    size_t buffer_count;
} rank_side;

_Noreturn static void give_up(const char *why)
{
    fprintf(stderr, "==check== %s\n", why);
    fflush(NULL);
    _exit(1);
}

/* ---- Records ---- */

static void read_key(int rank)
{
    rank_side.rank = rank;
    rank_side.number = -1;
    ssize_t got = recv(CHECK_FD, &rank_side.key, sizeof rank_side.key, MSG_WAITALL);
    rank_side.nobody_listens = got < 0 && errno == EBADF; /* in a debugger */
    if (got != (ssize_t)sizeof rank_side.key && !rank_side.nobody_listens)
        give_up("there is nowhere to report to: start this program by make test");
}

/* Of the others' none is known here. */
uint64_t check_key(const check_case *c, int rank)
{
    (void)c;
    return rank_side.key && rank != rank_side.rank ? 0 : rank_side.key;
}

/* While orders are explored, what differs from one to the other is what is printed. */
static void print(const check_record *r, const char *name, const void *data)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    for (uint64_t i = 0; i < r->bytes; i++) sum = (sum ^ ((const unsigned char *)data)[i]) * UINT64_C(1099511628211);
    printf("%d %u %s %d %016llx\n", (int)r->number, (unsigned)r->kind, name, (int)r->value, (unsigned long long)sum);
}

static void write_all(const void *data, size_t bytes)
{
    for (const char *at = data; bytes && !rank_side.nobody_listens;) {
        ssize_t wrote = send(CHECK_FD, at, bytes, MSG_NOSIGNAL);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) _exit(CHECK_LOST);
        at += wrote;
        bytes -= (size_t)wrote;
    }
}

static void record(check_record r, const char *name, const void *data)
{
    static const char padding[CHECK_ALIGN];
    r.number = rank_side.number;
    snprintf(r.name, sizeof r.name, "%s", name);
    if (r.bytes && !data) give_up("the test reports what is not there");
    bool result = r.kind == CHECK_REPORT || r.kind == CHECK_NUMBER || r.kind == CHECK_RETURNED;
    if (check_given.orders == CHECK_ALL_ORDERS && result && strcmp(name, CHECK_ANY_SOURCE) != 0) print(&r, name, data);
    write_all(&r, sizeof r);
    write_all(data, r.bytes);
    write_all(padding, check_record_size(r.bytes) - sizeof r - r.bytes);
}

void check_report(const check_case *c, const char *name, const void *data, size_t count, enum dtype dtype)
{
    if (c->fails) return; /* it is not asked for */
    record(
        (check_record){.kind = CHECK_REPORT, .bytes = count * dtype_size(dtype), .value = (int)dtype, .count = count},
        name, data);
}

void check_number(const check_case *c, const char *name, double value)
{
    (void)c;
    record((check_record){.kind = CHECK_NUMBER, .bytes = sizeof value}, name, &value);
}

static void record_call(enum check_kind kind, int value, const char *call, check_place at)
{
    const char *slash = strrchr(at.file, '/');
    record((check_record){.kind = kind, .bytes = strlen(call) + 1, .value = value, .count = (uint64_t)at.line},
           slash ? slash + 1 : at.file, call);
}

void check_returned(const check_case *c, p2p_err err)
{
    check_place at = {"", 0};
    const char *failed = check_failed_call(&at);
    (void)c;
    record_call(CHECK_RETURNED, (int)err, failed, at);
}

/* ---- Buffers ---- */

void *check_buffer(const check_case *c, int rank, size_t count, enum dtype dtype)
{
    void *buf = calloc(count ? count : 1, dtype_size(dtype));
    if (!buf) give_up("out of memory");
    if (rank_side.buffer_count == BUFFERS) give_up("the test asks for too many buffers in one case");
    if (!rank_side.buffer_count) check_trace_buffer(buf, count * dtype_size(dtype));
    rank_side.buffers[rank_side.buffer_count++] = buf;
    for (size_t i = 0; rank >= 0 && i < count; i++) check_put(buf, i, dtype, check_value(c, rank, i));
    return buf;
}

static void free_buffers(void)
{
    for (size_t i = 0; i < rank_side.buffer_count; i++) free(rank_side.buffers[i]);
    rank_side.buffer_count = 0;
}

/* ---- Cases ---- */

static void note_traffic(p2p_comm *comm)
{
    p2p_traffic by_peer[CHECK_MAX_RANKS];
    if (p2p_stats(comm, by_peer)) return;
    record((check_record){.kind = CHECK_TRAFFIC,
                          .bytes = (size_t)p2p_size(comm) * sizeof *by_peer,
                          .value = (int32_t)check_context(comm)},
           "", by_peer);
}

/* A request that was not waited for keeps the communicator, and what it writes to. What finalize would say of it, with
 * its line, is said here, where it is known which case it was. */
static void end_communicator(p2p_comm *world, p2p_comm *comm)
{
    p2p_set_errors(comm, P2P_ERRORS_RETURN);
    if (p2p_free(comm) == P2P_OK) {
        free_buffers();
        return;
    }
    check_place at = {"", 0};
    const char *leaked = check_leaked(world, &at);
    record_call(CHECK_LEAK, 0, leaked, at);
}

/* By dissemination (exercise 07), so that virtual clocks are equal afterwards, however they were. */
static void set_clocks(p2p_comm *world)
{
    int rank = p2p_rank(world), size = p2p_size(world);
    for (int step = 1; step < size; step *= 2)
        p2p_sendrecv(world, NULL, 0, (rank + step) % size, 0, NULL, 0, (rank - step + size) % size, 0, NULL);
}

/* With CHECK_LATER_CALLS again and again, until there is no such call any more. */
static void run_function(p2p_comm *comm, const check_case *c)
{
    check_case now = *c;
    bool later = c->fails == CHECK_LATER_CALLS;
    if (later) now.fails = CHECK_FIRST_CALLS + 1;
    for (bool there = true; there; now.fails++) {
        free_buffers();
        check_calls_begin(&now);
        check_the_exercise.run(comm, &now);
        there = check_calls_end(&now) >= now.fails && later && now.fails < MOST_CALLS;
    }
}

/* On the world itself: a communicator of p2p_split ends with a rank's death. */
static void run_repairing_case(p2p_comm *world, const check_case *c)
{
    rank_side.number = c->number;
    record((check_record){.kind = CHECK_BEGAN}, "", NULL);
    check_deaths_begin(world, c);
    run_function(world, c);
    free_buffers();
    record((check_record){.kind = CHECK_ENDED}, "", NULL);
}

static void run_case(p2p_comm *world, const check_case *c)
{
    p2p_comm *comm;
    p2p_split(world, 0, p2p_rank(world), &comm);
    if (c->network) set_clocks(world);
    rank_side.number = c->number;
    double began = p2p_time(world);
    record((check_record){.kind = CHECK_BEGAN, .value = (int32_t)check_context(comm)}, "", NULL);
    check_trace_begin(comm, c);
    run_function(comm, c);
    check_trace_end();
    if (c->network) check_number(c, CHECK_SECONDS, p2p_time(world) - began);
    note_traffic(comm);
    end_communicator(world, comm);
    record((check_record){.kind = CHECK_ENDED}, "", NULL);
}

int main(int argc, char **argv)
{
    p2p_comm *world;
    check_plan plan;
    if (check_choose && argc == 2) check_choose(strtoul(argv[1], NULL, 10));
    if (p2p_init(&world)) return 1;
    read_key(p2p_rank(world));
    check_plan_make(&plan, &check_the_exercise, check_given.seed, 0);
    if (check_given.world >= plan.world_count || plan.worlds[check_given.world].ranks != p2p_size(world))
        give_up("the plan has no such world: run make, and try again");
    const check_world_plan *mine = &plan.worlds[check_given.world];
    for (size_t i = mine->repairs ? (size_t)check_deaths_open(world) : 0; i < mine->count; i++)
        if (check_given.only < 0 || (size_t)check_given.only == i)
            (mine->repairs ? run_repairing_case : run_case)(world, &plan.cases[mine->first + i]);
    record((check_record){.kind = CHECK_ALL_DONE}, "", NULL);
    check_plan_free(&plan);
    return p2p_finalize(world) ? 1 : 0;
}
