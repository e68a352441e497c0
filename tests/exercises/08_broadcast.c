/* SPDX-License-Identifier: MIT */
/*
 * The test of 08_broadcast: every root, awkward counts, and who sent how much to whom; and two calls in a row, with roots 0
 * and 1, in which rank 1's message may come to rank 2 before rank 0's.
 */
#include "exercises/check/check.h"
#include "exercises/exercises.h"
#include "tests/exercises/in_a_row.h"

#pragma weak my_broadcast

enum { ONCE, IN_A_ROW }; /* variants */

static void add(check_plan *plan, int ranks)
{
    static const size_t counts[] = {5, 1000, 1, 0, 7, 3};
    static const enum dtype dtypes[] = {DTYPE_I32, DTYPE_F64, DTYPE_F32, DTYPE_I64};
    unsigned shows = CHECK_SHOW_COUNT | CHECK_SHOW_DTYPE | CHECK_SHOW_ROOT;
    size_t n = 0;

    for (int root = 0; root < ranks; root++) {
        for (int i = 0; i < 2; i++, n++)
            check_add(plan, (check_case){.count = counts[n % 6], .dtype = dtypes[n % 4], .root = root, .shows = shows});
    }
    check_add(plan, (check_case){.count = 50000, .dtype = DTYPE_F32, .root = ranks / 2, .shows = shows});
    if (ranks != 3) return;
    check_add(plan, (check_case){.variant = IN_A_ROW,
                                 .what = "called twice in a row, with root 0 and root 1",
                                 .count = 5,
                                 .dtype = DTYPE_I32,
                                 .shows = CHECK_SHOW_COUNT | CHECK_SHOW_DTYPE});
}

static void cases(check_plan *plan)
{
    check_matrix(plan, add);
}

/* ---- Two calls ---- */

static p2p_comm *door;
static bool rank_1_has_it;

/* Rank 0's message to rank 2 waits until rank 1, which has its own, has sent the second call's. */
static void hold_back(int dest)
{
    if (dest == 2 && rank_1_has_it) in_a_row_wait(door, 2);
    rank_1_has_it = dest == 1;
}

static void run_in_a_row(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm);
    void *buf = check_buffer(c, rank, c->count, c->dtype), *second = check_buffer(c, -1, c->count, c->dtype);
    p2p_split(comm, 0, rank, &door);
    for (size_t i = 0; i < c->count; i++) check_put(second, i, c->dtype, check_value(c, rank, c->count + i));
    check_report(c, "before", buf, c->count, c->dtype);
    rank_1_has_it = false;
    if (rank == 0 && !c->strict) check_before_send = hold_back; /* where rank 1 need not wait for rank 2 */
    check_returned(c, my_broadcast(comm, buf, c->count, c->dtype, 0));
    check_before_send = NULL;
    check_returned(c, my_broadcast(comm, second, c->count, c->dtype, 1));
    in_a_row_end(door, 0);
    check_report(c, "buf", buf, c->count, c->dtype);
    check_report(c, "second", second, c->count, c->dtype);
}

static void run(p2p_comm *comm, const check_case *c)
{
    if (c->variant == IN_A_ROW) {
        run_in_a_row(comm, c);
        return;
    }
    void *buf = check_buffer(c, p2p_rank(comm), c->count, c->dtype);

    check_report(c, "before", buf, c->count, c->dtype);
    check_returned(c, my_broadcast(comm, buf, c->count, c->dtype, c->root));
    check_report(c, "buf", buf, c->count, c->dtype);
}

static double want(const check_case *c, int rank, size_t index)
{
    (void)rank;
    return check_value(c, c->root, index);
}

/* Does rank hold that rank's data now? */
static bool holds(const check_case *c, int rank, int source)
{
    for (size_t i = 0; i < c->count; i++)
        if (check_element(c, rank, "buf", i) != check_value(c, source, i)) return false;
    return c->count > 0;
}

static bool is_zero(const check_case *c, int rank)
{
    for (size_t i = 0; i < c->count; i++)
        if (check_element(c, rank, "buf", i) != 0) return false;
    return c->count > 0;
}

static bool root_sends(const check_case *c)
{
    size_t size = dtype_size(c->dtype), bytes = c->count * size;
    p2p_traffic sent = check_sent(c, c->root);
    unsigned long long others = (unsigned long long)c->ranks - 1;

    if (check_traffic(c, c->root, c->root).messages_sent)
        return check_fail(c, "self", "The root, rank %d, sent a message to itself. It has the data: leave it out.",
                          c->root);
    if (!sent.messages_sent && !c->count) return true; /* an empty message may be left out */
    if (!sent.messages_sent && others)
        return check_fail(
            c, "nothing",
            "Rank %d sent 0 messages; the root of a naive broadcast sends n-1 = %llu, one to each other rank. "
            "No rank sent anything, so whatever the others have now did not come from the root.%s",
            c->root, others,
            c->root ? " With root 0 all was right: does it tell those above it only, or only if it is rank 0?" : "");
    for (int to = 0; to < c->ranks; to++) {
        unsigned long long pieces = check_traffic(c, c->root, to).messages_sent;
        if (to == c->root || pieces < 2) continue;
        return check_fail(c, "pieces",
                          "The root, rank %d, sent rank %d %llu messages; one is enough, with the whole buffer in it.",
                          c->root, to, pieces);
    }
    if (sent.messages_sent != others)
        return check_fail(
            c, "messages",
            "Rank %d sent %llu message%s; the root of a naive broadcast sends n-1 = %llu, one to each other "
            "rank.",
            c->root, (unsigned long long)sent.messages_sent, sent.messages_sent == 1 ? "" : "s", others);
    for (int to = 0; to < c->ranks; to++) {
        uint64_t there = check_traffic(c, c->root, to).bytes_sent;
        if (to == c->root || there == bytes) continue;
        if (there == c->count)
            return check_fail(
                c, "bytes",
                "The root sent rank %d %zu bytes. Messages are measured in bytes, not elements: %zu of type %s "
                "are %zu x %zu = %zu bytes.",
                to, c->count, c->count, dtype_name(c->dtype), c->count, size, bytes);
        return check_fail(c, "bytes", "The root sent rank %d %llu bytes; %zu elements of type %s are %zu bytes.", to,
                          (unsigned long long)there, c->count, dtype_name(c->dtype), bytes);
    }
    return true;
}

/* The root sends to every other rank, and no other rank sends. */
static bool contract(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        unsigned long long sent = check_sent(c, rank).messages_sent + check_traffic(c, rank, rank).messages_sent;
        if (rank == c->root || !sent) continue;
        if (c->root == 0 && !check_sent(c, 0).messages_sent)
            return check_fail(
                c, "reversed",
                "Rank %d sent %llu message%s, and the root, rank %d, none: it should be the other way round. The "
                "root sends to all others, and all others receive.",
                rank, sent, sent == 1 ? "" : "s", c->root);
        if (check_traffic(c, rank, c->root).messages_sent == sent && sent == 1 && c->root == 0)
            return check_fail(
                c, "answer",
                "Rank %d sent the root, rank %d, a message. Only the root sends in a naive broadcast; no rank "
                "answers, since the calls see to it by themselves that messages come.",
                rank, c->root);
        if (check_traffic(c, rank, (rank + 1) % c->ranks).messages_sent == sent && c->root == 0)
            return check_fail(
                c, "chain",
                "Rank %d passed the data on to rank %d. That works too, as a chain; but in this exercise only the "
                "root sends, to every other rank.",
                rank, (rank + 1) % c->ranks);
        return check_fail(c, "others",
                          "Rank %d sent %llu message%s, but the root is rank %d: in a naive broadcast only the root "
                          "sends, whichever rank that is.",
                          rank, sent, sent == 1 ? "" : "s", c->root);
    }
    return root_sends(c);
}

static void say_why(const check_case *c)
{
    if (!holds(c, c->root, c->root)) {
        check_fail(c, "root_changed", "The root's own buffer has changed: rank %d is the root here, it only sends.",
                   c->root);
        return;
    }
    for (int rank = 0; rank < c->ranks; rank++) {
        for (int source = 0; source < c->ranks; source++) {
            if (source == c->root || source == rank || !holds(c, rank, source)) continue;
            check_fail(c, "root", "Rank %d has what rank %d had, but the root is rank %d.", rank, source, c->root);
            return;
        }
        if (!is_zero(c, rank)) continue;
        check_fail(c, "zeros", "Rank %d's buffer is all zeros, which no rank sent.", rank);
        return;
    }
}

static double want_second(const check_case *c, int rank, size_t index)
{
    (void)rank;
    return check_value(c, 1, c->count + index);
}

static void in_a_row(const check_case *c)
{
    if (check_values(c, "values", "buf", "before", NULL, want) &&
        check_values(c, "values", "second", NULL, NULL, want_second))
        return;
    if (check_number_of(c, 2, "any source") > 0)
        check_fail(c, "next_call",
                   "Rank 2 took a message of the second call for one of the first: rank 1, the second call's root, had "
                   "sent its message when rank 0's came.");
}

static void judge(const check_case *c)
{
    if (c->variant == IN_A_ROW) {
        in_a_row(c);
        return;
    }
    bool right = check_values(c, "values", "buf", "before", NULL, want);

    if (contract(c) && !right) say_why(c);
}

static const char *const files[] = {"broadcast.c", NULL};

const check_exercise check_08_broadcast = {
    .name = "08_broadcast",
    .idea = "one rank's data on every rank",
    .call = "my_broadcast",
    .files = files,
    .hands_on_errors = true,
    .library = CHECK_LIBRARY_P2P,
    .cases = cases,
    .run = run,
    .judge = judge,
};
