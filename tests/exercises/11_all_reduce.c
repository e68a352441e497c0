/* SPDX-License-Identifier: MIT */
/* The test of exercise 11: the same result, to the bit, on every rank, with no more messages than two halves need. */
#include "exercises/exercises.h"
#include "tests/exercises/all_reduce.h"

#pragma weak my_all_reduce

static void cases(check_plan *plan)
{
    check_matrix(plan, all_reduce_cases);
}

static void run(p2p_comm *comm, const check_case *c)
{
    all_reduce_run(comm, c, my_all_reduce);
}

static bool contract(const check_case *c)
{
    unsigned long long messages = 0, bytes = 0, needed = 2 * ((unsigned long long)c->ranks - 1);
    unsigned long long ranks = (unsigned long long)c->ranks, length = c->count * dtype_size(c->dtype);
    for (int rank = 0; rank < c->ranks; rank++) {
        messages += check_sent(c, rank).messages_sent;
        bytes += check_sent(c, rank).bytes_sent;
    }
    if (messages == ranks * (ranks - 1) && messages > needed)
        return check_fail(c, "everyone",
                          "The ranks sent %llu messages in all, n-1 each: as many as if everyone sent its buffer to "
                          "everyone. A reduce and a broadcast need n-1 = %d each, %llu together.",
                          messages, c->ranks - 1, needed);
    if (messages > needed)
        return check_fail(
            c, "messages",
            "The ranks sent %llu messages in all. A reduce and a broadcast need n-1 = %d each, %llu together.",
            messages, c->ranks - 1, needed);
    if (bytes > needed * length)
        return check_fail(c, "bytes", "The ranks sent %llu bytes in all; %llu messages of %llu bytes are %llu.", bytes,
                          needed, length, needed * length);
    return true;
}

/* Has every rank sent something to this rank, and this one to every rank? */
static bool is_hub(const check_case *c, int hub)
{
    for (int rank = 0; rank < c->ranks; rank++)
        if (rank != hub && !(check_traffic(c, rank, hub).messages_sent && check_traffic(c, hub, rank).messages_sent))
            return false;
    return true;
}

/* One rank has n times what it had, the others once: it told them first, and then all of that was added. */
static bool broadcast_first(const check_case *c)
{
    for (int q = 0; q < c->ranks && c->ranks > 1 && c->count > 2 && c->op == OP_SUM; q++) {
        bool all = true;
        for (int rank = 0; rank < c->ranks && all; rank++)
            for (size_t i = 0; i < c->count && all; i++)
                all = check_element(c, rank, "buf", i) == (rank == q ? c->ranks : 1) * check_value(c, q, i);
        if (all)
            return !check_fail(
                c, "first",
                "Rank %d has %d times what it had at first, and all others have what rank %d had: it was "
                "given to all before anything was combined.",
                q, c->ranks, q);
    }
    return false;
}

/* Everyone has what one rank had at first: that one broadcast it, but the result was elsewhere. */
static bool other_hub(const check_case *c)
{
    if (broadcast_first(c)) return true;
    for (int q = 0; q < c->ranks && c->ranks > 1 && c->count > 2; q++) {
        bool all = true;
        for (int rank = 0; rank < c->ranks && all; rank++)
            for (size_t i = 0; i < c->count && all; i++) all = check_element(c, rank, "buf", i) == check_value(c, q, i);
        if (!all) continue;
        if (is_hub(c, q))
            return !check_fail(
                c, "other_buffer",
                "Every rank has what rank %d had at first. All parts came to rank %d, which sent its buf "
                "to all; but the result was not in buf: it stands in other memory, or was not made.",
                q, q);
        check_fail(c, "hub",
                   "Every rank has what rank %d had at first: rank %d sent it to all, but the result was not there. Is "
                   "the root of "
                   "the broadcast the one of the reduce?",
                   q, q);
        return true;
    }
    return false;
}

static void judge(const check_case *c)
{
    if (all_reduce_values(c, other_hub)) contract(c);
}

static const char *const files[] = {"all_reduce.c", NULL};
static const char *const uses[] = {"08_broadcast", "10_reduce", NULL};

const check_exercise check_11_all_reduce = {.name = "11_all_reduce",
                                            .idea = "everyone's numbers combined on every rank: reduce, then broadcast",
                                            .call = "my_all_reduce",
                                            .files = files,
                                            .uses = uses,
                                            .hands_on_errors = true,
                                            .library = CHECK_LIBRARY_P2P,
                                            .cases = cases,
                                            .run = run,
                                            .judge = judge};
