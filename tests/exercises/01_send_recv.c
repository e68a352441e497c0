/* SPDX-License-Identifier: MIT */
/* The test of 01_send_recv: from any rank to any other, all other ranks left in peace. In a case, root is `from`. */
#include <stdio.h>

#include "exercises/check/check.h"
#include "exercises/exercises.h"

#pragma weak my_send_recv

enum { MOST = 8 };

static int receiver(const check_case *c)
{
    return c->variant;
}

static const char *from_to(int from, int to)
{
    static char words[MOST][MOST][32];

    snprintf(words[from][to], sizeof words[from][to], "from %d to %d", from, to);
    return words[from][to];
}

static void add(check_plan *plan, int ranks)
{
    static const size_t counts[] = {5, 1, 1000, 0, 7, 20000};
    static const enum dtype dtypes[] = {DTYPE_I32, DTYPE_F64, DTYPE_F32, DTYPE_I64};
    size_t n = 0;

    for (int from = 0; from < ranks; from++) {
        for (int to = 0; to < ranks; to++) {
            if (ranks > 3 && (from * 3 + to) % ranks > 2) continue;
            check_case c = {.count = counts[n % 6], .dtype = dtypes[n % 4], .root = from, .variant = to};
            c.what = from_to(from, to);
            c.shows = CHECK_SHOW_COUNT | CHECK_SHOW_DTYPE;
            check_add(plan, c);
            if (from != to) n++;
        }
    }
}

static void cases(check_plan *plan)
{
    check_matrix(plan, add);
}

static void run(p2p_comm *comm, const check_case *c)
{
    void *buf = check_buffer(c, p2p_rank(comm), c->count, c->dtype);

    check_report(c, "before", buf, c->count, c->dtype);
    check_returned(c, my_send_recv(comm, buf, c->count, c->dtype, c->root, receiver(c)));
    check_report(c, "buf", buf, c->count, c->dtype);
}

static double want(const check_case *c, int rank, size_t index)
{
    return check_value(c, rank == receiver(c) ? c->root : rank, index);
}

/* No rank sends but `from`, and that only to another rank. */
static bool others_silent(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        unsigned long long messages = check_sent(c, rank).messages_sent + check_traffic(c, rank, rank).messages_sent;
        bool same = c->root == receiver(c);
        if (!messages || (rank == c->root && !same)) continue;
        if (same)
            return check_fail(c, "self",
                              "Rank %d sent %llu message%s. From and to are the same rank here: no rank has "
                              "anything to do.",
                              rank, messages, messages == 1 ? "" : "s");
        if (rank == receiver(c) && check_sent(c, c->root).messages_sent)
            return check_fail(
                c, "answer",
                "Rank %d, which receives, sent %llu message%s as well%s. It is not asked for an answer: one "
                "message goes from %d to %d, and none comes back.",
                rank, messages, messages == 1 ? "" : "s",
                check_traffic(c, rank, c->root).messages_sent ? ", to the sender" : "", c->root, rank);
        return check_fail(
            c, "bystander",
            "Rank %d sent %llu message%s. Only rank `from`, here %d, sends; every rank runs this function, and "
            "most of them have nothing to do in it.",
            rank, messages, messages == 1 ? "" : "s", c->root);
    }
    return true;
}

/* `from` sends one message with all that there is. */
static bool contract(const check_case *c)
{
    int from = c->root, to = receiver(c);
    size_t size = dtype_size(c->dtype), bytes = c->count * size;
    unsigned long long messages = check_sent(c, from).messages_sent, there = check_traffic(c, from, to).bytes_sent;

    if (!others_silent(c)) return false;
    if (from == to) return true;
    for (int rank = 0; rank < c->ranks; rank++)
        if (rank != to && check_traffic(c, from, rank).messages_sent)
            return check_fail(
                c, "told",
                "Rank %d sent a message to rank %d%s: `to` is rank %d here, and no other rank is told anything.", from,
                rank, rank == from ? ", itself" : ", which is neither `from` nor `to`", to);
    if (!messages && !c->count) return true; /* an empty message may be left out */
    if (!messages) return check_fail(c, "nothing", "Rank %d sent nothing; it should have sent %zu bytes.", from, bytes);
    if (messages != 1)
        return check_fail(c, "messages", "Rank %d sent %llu messages; one is enough for a buffer of any length.", from,
                          messages);
    if (there == c->count && there != bytes)
        return check_fail(
            c, "bytes",
            "Rank %d sent %llu byte%s. p2p_send counts bytes, not elements: %zu of type %s are %zu x %zu = "
            "%zu bytes (dtype_size tells how many one has).",
            from, there, there == 1 ? "" : "s", c->count, dtype_name(c->dtype), c->count, size, bytes);
    if (there != bytes)
        return check_fail(c, "bytes", "Rank %d sent %llu bytes to rank %d; %zu of type %s are %zu bytes.", from, there,
                          to, c->count, dtype_name(c->dtype), bytes);
    return true;
}

static void judge(const check_case *c)
{
    bool right = check_values(c, "values", "buf", "before", NULL, want);
    if (!contract(c) || right || c->root == receiver(c)) return; /* it also says why values are wrong */
    for (size_t i = 0; i < c->count; i++)
        if (check_element(c, c->root, "buf", i) != check_value(c, c->root, i)) {
            check_fail(c, "sender", "Rank %d is the sender, and its buf has changed: sending only reads it.", c->root);
            return;
        }
}

static const char *const files[] = {"send_recv.c", NULL};

const check_exercise check_01_send_recv = {
    .name = "01_send_recv",
    .idea = "one message, from one rank to another",
    .call = "my_send_recv",
    .files = files,
    .hands_on_errors = true,
    .library = CHECK_LIBRARY_P2P,
    .cases = cases,
    .run = run,
    .judge = judge,
};
