/* SPDX-License-Identifier: MIT */
/*
 * The test of 03_deadlock: pairs of ranks exchange short and long messages in three ways. A virtual network tells the
 * ways apart: in order, the two messages follow one another; otherwise they travel at the same time.
 */
#include <math.h>
#include <string.h>

#include "exercises/check/check.h"
#include "exercises/exercises.h"

#pragma weak my_exchange_in_order
#pragma weak my_exchange_sendrecv
#pragma weak my_exchange_isend

enum { SHORT = 1024, LONG = 1 << 20, WAYS = 3 };

static const char network[] = "latency=10us,bandwidth=1G";

typedef p2p_err exchange(p2p_comm *comm, const void *mine, void *theirs, size_t bytes, int peer);

static const char *const names[WAYS] = {"my_exchange_in_order", "my_exchange_sendrecv", "my_exchange_isend"};

/* root 0: neighbours are pairs (0-1, 2-3); root 1: those half the world apart (0-2, 1-3). */
static int peer_of(const check_case *c, int rank)
{
    return rank ^ (c->root ? c->ranks / 2 : 1);
}

static void add(check_plan *plan, int ranks, int way, size_t bytes)
{
    bool is_long = bytes == LONG;
    check_case c = {.call = names[way], .count = bytes / sizeof(int32_t), .dtype = DTYPE_I32, .variant = way};

    c.what = is_long ? "neighbours exchange 1 MiB" : "neighbours exchange 1 KiB";
    check_add(plan, c);
    if (ranks == 2 || is_long) return;
    c.root = 1;
    c.what = "ranks half the world apart exchange 1 KiB";
    check_add(plan, c);
}

static void add_world(check_plan *plan, int ranks, bool strict, const char *on)
{
    check_world(plan, ranks, strict, on);
    for (int way = 0; way < WAYS; way++) {
        add(plan, ranks, way, SHORT);
        add(plan, ranks, way, LONG);
    }
}

static void cases(check_plan *plan)
{
    add_world(plan, 2, false, NULL);
    add_world(plan, 2, true, NULL);
    add_world(plan, 4, false, NULL);
    add_world(plan, 4, true, NULL);
    add_world(plan, 8, true, NULL);
    add_world(plan, 2, false, network);
    add_world(plan, 4, true, network);
}

/* What stands in theirs before: no rank's mine, and another row on each rank. */
static double at_first(int rank, size_t index)
{
    return 1000 * (rank + 1) + (double)(index % 100);
}

static void run(p2p_comm *comm, const check_case *c)
{
    static exchange *const ways[WAYS] = {my_exchange_in_order, my_exchange_sendrecv, my_exchange_isend};
    int rank = p2p_rank(comm);
    void *mine = check_buffer(c, rank, c->count, DTYPE_I32), *theirs = check_buffer(c, -1, c->count, DTYPE_I32);
    for (size_t i = 0; i < c->count; i++) check_put(theirs, i, DTYPE_I32, at_first(rank, i));

    check_report(c, "before", theirs, c->count, DTYPE_I32);
    check_returned(c, ways[c->variant](comm, mine, theirs, c->count * sizeof(int32_t), peer_of(c, rank)));
    check_report(c, "theirs", theirs, c->count, DTYPE_I32);
}

static double want(const check_case *c, int rank, size_t index)
{
    return check_value(c, peer_of(c, rank), index);
}

static bool judge_traffic(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        int peer = peer_of(c, rank);
        p2p_traffic all = check_sent(c, rank), to_peer = check_traffic(c, rank, peer);
        if (all.messages_sent == 1 && to_peer.bytes_sent == c->count * sizeof(int32_t)) continue;
        if (all.messages_sent != to_peer.messages_sent)
            return check_fail(c, "whose", "Rank %d sent messages to others than rank %d, its peer.", rank, peer);
        if (all.messages_sent == 1)
            return check_fail(c, "bytes",
                              "Rank %d sent %llu bytes to rank %d, its peer; mine has %zu, which `bytes` says.", rank,
                              (unsigned long long)to_peer.bytes_sent, peer, c->count * sizeof(int32_t));
        if (to_peer.bytes_sent == all.messages_sent * c->count * sizeof(int32_t))
            return check_fail(
                c, "repeated",
                "Rank %d sent rank %d, its peer, %llu messages of %zu bytes, each as long as all of mine; "
                "it should send one. It received %llu.",
                rank, peer, (unsigned long long)all.messages_sent, c->count * sizeof(int32_t),
                (unsigned long long)check_traffic(c, rank, peer).messages_received);
        return check_fail(
            c, "messages",
            "Rank %d sent %llu messages, %llu bytes of them to rank %d, its peer; it should send one message "
            "of %zu bytes. A long message need not be cut up: the repair is when, not how much.",
            rank, (unsigned long long)all.messages_sent, (unsigned long long)to_peer.bytes_sent, peer,
            c->count * sizeof(int32_t));
    }
    return true;
}

/* How many message times the exchange took, on a network where that is known. */
static void judge_time(const check_case *c)
{
    double one = 10e-6 + (double)(c->count * sizeof(int32_t)) / 1e9, want_messages = c->variant == 0 ? 2 : 1;

    for (int rank = 0; rank < c->ranks; rank++) {
        double messages = check_seconds(c, rank) / one;
        if (fabs(messages - want_messages) < 0.01) continue;
        if (c->variant == 0)
            check_fail(c, "not_ordered",
                       "The exchange took rank %d the time of %.2f messages. In order, one message follows the other, "
                       "which takes the time of 2: here both travel at once, which the other two functions are for.",
                       rank, messages);
        else
            check_fail(c, "ordered",
                       "The exchange took rank %d the time of %.2f messages. This repair lets both travel at the same "
                       "time, which takes the time of 1: here one waits for the other, as in my_exchange_in_order.",
                       rank, messages);
        return;
    }
}

static bool holds(const check_case *c, int rank, int source)
{
    for (size_t i = 0; i < c->count; i++)
        if (check_element(c, rank, "theirs", i) != check_value(c, source, i)) return false;
    return c->count > 0;
}

static void say_values(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        int peer = peer_of(c, rank);
        if (check_element(c, rank, "theirs", 0) == at_first(peer, 0)) {
            check_fail(c, "theirs", "Rank %d got what stood in rank %d's theirs: it is mine that goes out.", rank,
                       peer);
            return;
        }
        for (int source = 0; source < c->ranks; source++) {
            if (source == peer || !holds(c, rank, source)) continue;
            if (source == rank)
                check_fail(
                    c, "back",
                    "Rank %d's theirs holds its own mine: rank %d has sent back what it received, instead of its own "
                    "mine.",
                    rank, peer);
            else
                check_fail(c, "whose", "Rank %d's theirs holds what rank %d sent; its peer is rank %d.", rank, source,
                           peer);
            return;
        }
    }
}

static void judge(const check_case *c)
{
    if (!check_values(c, "values", "theirs", "before", NULL, want)) {
        if (judge_traffic(c)) say_values(c);
        return;
    }
    if (judge_traffic(c) && c->network) judge_time(c);
}

static const char *const files[] = {"deadlock.c", NULL};

const check_exercise check_03_deadlock = {
    .name = "03_deadlock",
    .idea = "two ranks that both send first, and three repairs",
    .call = "my_exchange_in_order",
    .files = files,
    .hands_on_errors = true,
    .waits_on_errors = true,
    .library = CHECK_LIBRARY_P2P,
    .broken_stub = true,
    .cases = cases,
    .run = run,
    .judge = judge,
};
