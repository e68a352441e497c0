/* SPDX-License-Identifier: MIT */
/* The test of exercise 09: values, n - 1 messages, and the rounds, which a virtual clock counts. */
#include "exercises/exercises.h"
#include "tests/exercises/expected.h"

#pragma weak my_tree_broadcast

/* A message takes a millisecond, however long it is: so many milliseconds are so many rounds. */
#define A_ROUND_S 1e-3
#define ROUNDS_NETWORK "latency=1ms,bandwidth=1e15" EXPECTED_REDUCE

static void add(check_plan *plan, size_t count, int turn, int root)
{
    check_add(plan, (check_case){.count = count,
                                 .dtype = expected_dtype(OP_SUM, turn),
                                 .root = root,
                                 .shows = CHECK_SHOW_COUNT | CHECK_SHOW_DTYPE | CHECK_SHOW_ROOT});
}

static void add_cases(check_plan *plan, int ranks)
{
    size_t n = (size_t)ranks, counts[] = {0, 1, n - 1, n + 1, 1000};
    for (int root = 0; root < ranks; root++) add(plan, 5, root, root);
    for (int i = 0; i < 5; i++) add(plan, counts[i], i, (i * 3 + 1) % ranks);
    if (ranks == 5) add(plan, 20000, 0, 3); /* too long to be buffered */
}

static void cases(check_plan *plan)
{
    static const int ranks[] = {8, 5, 4, 3, 2, 13};
    check_matrix(plan, add_cases);
    for (int i = 0; i < 6; i++) {
        check_world(plan, ranks[i], false, ROUNDS_NETWORK);
        add(plan, 5, 0, 0);
        add(plan, 5, 0, ranks[i] - 1);
    }
}

static void run(p2p_comm *comm, const check_case *c)
{
    void *buf = check_buffer(c, p2p_rank(comm), c->count, c->dtype);
    check_report(c, "before", buf, c->count, c->dtype);
    check_returned(c, my_tree_broadcast(comm, buf, c->count, c->dtype, c->root));
    check_report(c, "buf", buf, c->count, c->dtype);
}

/* ---- In learn ---- */

static double of_rank_0(const check_case *c, int rank, size_t index)
{
    (void)rank;
    return check_value(c, 0, index);
}

static bool has_nothing_new(const check_case *c, int rank)
{
    return rank != c->root && expected_holds(c, rank, "buf", 0, c->count, expected_own);
}

/* A rank has what another rank had at first, and that one has the root's data now. */
static void passed_on_too_early(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        for (int from = 0; from < c->ranks; from++) {
            size_t same = 0;
            if (from == c->root || from == rank || !check_traffic(c, from, rank).messages_sent) continue;
            while (same < c->count && check_element(c, rank, "buf", same) == check_value(c, from, same)) same++;
            if (same < c->count || !c->count) continue;
            check_fail(c, "early",
                       "Rank %d sent rank %d what it had in buf at first, not the root's data. It must send what it "
                       "has received.",
                       from, rank);
            return;
        }
}

/* These ranks have in buf what they had before: did no message come, or was it written to another place? */
static void say_missed(const check_case *c, unsigned without)
{
    unsigned received = 0, told = 0;
    char text[100];
    for (int rank = 0; rank < c->ranks; rank++) {
        if (check_sent(c, rank).messages_received) received |= 1u << rank;
        for (int from = 0; from < c->ranks; from++)
            if (from != rank && check_traffic(c, from, rank).messages_sent) told |= 1u << rank;
    }
    if (without & told & ~received)
        check_fail(c, c->root ? "unreceived.root" : "unreceived", "The data was sent to %s, and not received there.",
                   expected_ranks(text, sizeof text, without & told & ~received));
    else if (without & ~received)
        check_fail(c, "missed",
                   "The data never came to %s: no rank sent a message there. Among %d ranks a round begins "
                   "with %s that ha%s the data.",
                   expected_ranks(text, sizeof text, without & ~received), c->ranks,
                   c->ranks > 4   ? "1, one with 2 and one with 4 ranks"
                   : c->ranks > 2 ? "1 and one with 2 ranks"
                                  : "1 rank",
                   c->ranks > 2 ? "ve" : "s");
    else
        check_fail(c, "unwritten", "A message came to %s, but nothing was written to buf there.",
                   expected_ranks(text, sizeof text, without));
}

static bool values(const check_case *c)
{
    unsigned without = 0;
    if (check_values(c, "values", "buf", "before", NULL, expected_from_root)) return true;
    for (int rank = 0; rank < c->ranks; rank++) {
        p2p_traffic all = check_sent(c, rank);
        if (rank != c->root && all.messages_received == 1 && all.bytes_received != c->count * dtype_size(c->dtype))
            return check_fail(
                c, "bytes", "Rank %d received a message of %llu bytes; the buffer has %zu: %zu elements of %zu bytes.",
                rank, (unsigned long long)all.bytes_received, c->count * dtype_size(c->dtype), c->count,
                dtype_size(c->dtype));
    }
    for (int rank = 0; rank < c->ranks; rank++)
        if (has_nothing_new(c, rank)) without |= 1u << rank;
    if (c->root != 0 && expected_holds(c, c->root, "buf", 0, c->count, of_rank_0))
        check_fail(
            c, "root",
            "Rank %d is the root, and has rank 0's data: does your tree begin at rank 0, whichever rank the root is?",
            c->root);
    else if (!expected_holds(c, c->root, "buf", 0, c->count, expected_own))
        check_fail(c, "root_changed", "The root's own buffer has changed: rank %d is the root here, it only sends.",
                   c->root);
    else if (without)
        say_missed(c, without);
    else
        passed_on_too_early(c);
    return false;
}

/* Everyone but the root is told once. */
static bool told_once(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        p2p_traffic all = check_sent(c, rank);
        if (rank == c->root && all.messages_received > 0)
            return check_fail(c, "twice",
                              "Rank %d, the root, was sent %llu message%s; it has the data from the beginning.", rank,
                              (unsigned long long)all.messages_received, all.messages_received > 1 ? "s" : "");
        for (int from = 0; from < c->ranks; from++) {
            unsigned long long pieces = check_traffic(c, rank, from).messages_received;
            if (rank != c->root && pieces > 1 && pieces == all.messages_received)
                return check_fail(
                    c, "pieces",
                    "Rank %d received %llu messages from rank %d; one is enough, with the whole buffer in it.", rank,
                    pieces, from);
        }
        if (rank != c->root && all.messages_received > 1)
            return check_fail(c, "twice",
                              "Rank %d received %llu messages; one is enough: in a tree everyone but the root has one "
                              "parent, which makes n-1 = %d messages in all.",
                              rank, (unsigned long long)all.messages_received, c->ranks - 1);
        if (rank != c->root && all.bytes_received != c->count * dtype_size(c->dtype))
            return check_fail(c, "bytes", "Rank %d received %llu bytes; the buffer has %zu: %zu elements of %zu bytes.",
                              rank, (unsigned long long)all.bytes_received, c->count * dtype_size(c->dtype), c->count,
                              dtype_size(c->dtype));
    }
    return true;
}

/* No rank sends more often than there are rounds. */
static bool shared_work(const check_case *c)
{
    int rounds = expected_log2_up(c->ranks);
    for (int rank = 0; rank < c->ranks; rank++) {
        unsigned long long sent = check_sent(c, rank).messages_sent;
        if (sent <= (unsigned long long)rounds) continue;
        if (rank == c->root && sent == (unsigned long long)c->ranks - 1)
            return check_fail(c, "naive",
                              "Rank %d, the root, sent all %llu messages itself: that is the naive broadcast of "
                              "exercise 08, which takes n-1 = %llu rounds. In a tree of %d ranks the root sends log2 n "
                              "= %d, because each rank that has the data helps to pass it on.",
                              rank, sent, sent, c->ranks, rounds);
        return check_fail(c, "naive",
                          "Rank %d sent %llu messages; in a tree of %d ranks there are log2 n = %d rounds, and no rank "
                          "sends more than one message a round.",
                          rank, sent, c->ranks, rounds);
    }
    return true;
}

static bool is_chain(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        if (check_sent(c, rank).messages_sent > 1) return false;
    return true;
}

/* Rounds until all below a rank have the data, if it tells the child first that takes longest, as all do. */
static int best_rounds(const check_case *c, int rank)
{
    int takes[CHECK_MAX_RANKS], children = 0, rounds = 0;
    for (int child = 0; child < c->ranks; child++) {
        if (child == rank || !check_traffic(c, rank, child).messages_sent) continue;
        int own = best_rounds(c, child), at = children++;
        for (; at > 0 && takes[at - 1] < own; at--) takes[at] = takes[at - 1];
        takes[at] = own;
    }
    for (int i = 0; i < children; i++)
        if (i + 1 + takes[i] > rounds) rounds = i + 1 + takes[i];
    return rounds;
}

static bool rounds(const check_case *c)
{
    int taken = (int)(expected_seconds(c) / A_ROUND_S + 0.5), needed = expected_log2_up(c->ranks);
    if (taken <= needed) return true;
    if (is_chain(c))
        return check_fail(
            c, "rounds",
            "It took %d rounds; a tree of %d ranks takes log2 n = %d. Each rank passed the data to one "
            "other: that is a chain, in which one rank works and all others wait. In a tree each rank that has "
            "the data passes it on again in every round, so that twice as many have it.",
            taken, c->ranks, needed);
    if (best_rounds(c, c->root) > needed)
        return check_fail(
            c, "shape",
            "It took %d rounds; a tree of %d ranks takes log2 n = %d. Each rank is told once, but no "
            "order of these messages needs less than %d rounds: some ranks that have the data stop "
            "sending too early. A rank that has it sends it on in every round, so the root sends %d times.",
            taken, c->ranks, needed, best_rounds(c, c->root), needed);
    return check_fail(c, "order",
                      "It took %d rounds; a tree of %d ranks takes log2 n = %d. The messages are as few as they should "
                      "be, so look at their order: in each round each rank that has the data must have another to send "
                      "it to. The rank with most ranks below it must be told first.",
                      taken, c->ranks, needed);
}

static void judge(const check_case *c)
{
    if (!values(c)) return;
    if (c->count == 0) return; /* an empty message may be left out */
    if (!told_once(c) || !shared_work(c)) return;
    if (c->network) rounds(c);
}

static const char *const files[] = {"tree_broadcast.c", NULL};

const check_exercise check_09_tree_broadcast = {
    .name = "09_tree_broadcast",
    .idea = "broadcast in log2 n rounds: each rank that has the data passes it on",
    .call = "my_tree_broadcast",
    .files = files,
    .hands_on_errors = true,
    .library = CHECK_LIBRARY_P2P,
    .cases = cases,
    .run = run,
    .judge = judge};
