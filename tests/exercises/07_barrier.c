/* SPDX-License-Identifier: MIT */
/*
 * The test of 07_barrier: no rank leaves before all have come. In real time that can only be tried; in virtual time it
 * can be seen: a rank that comes a second late can have told no other anything earlier, so a rank that leaves before
 * that second has not waited for it.
 */
#include <math.h>
#include <stdio.h>

#include "exercises/exercises.h"
#include "p2p/p2p_layer.h"
#include "tests/exercises/expected.h"

#pragma weak my_barrier

enum {
    IN_A_ROW = 3,
    NO_RANK = -1,
    ALL = 100
}; /* variant: NO_RANK, the rank that is late, or ALL + the one that is not */

static const char network[] = "latency=10us,bandwidth=1G";
static const double latency = 10e-6;

static const char *const rank_late[] = {"rank 0 late", "rank 1 late", "rank 2 late", "rank 3 late",
                                        "rank 4 late", "rank 5 late", "rank 6 late", "rank 7 late"};

static void add(check_plan *plan, int ranks)
{
    for (int late = 0; late < ranks; late++) check_add(plan, (check_case){.variant = late, .what = rank_late[late]});
    check_add(plan, (check_case){.variant = ALL + ranks / 2, .what = "all late but one"});
    check_add(plan, (check_case){.variant = NO_RANK, .what = "no rank late"});
}

static void cases(check_plan *plan)
{
    static const int sizes[] = {1, 2, 3, 4, 5, 8};

    for (int strict = 0; strict < 2; strict++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            check_world(plan, sizes[i], strict, network);
            add(plan, sizes[i]);
        }
    }
}

/* When a rank comes to the barrier, in seconds from the moment the others do. */
static double comes(const check_case *c, int rank)
{
    if (c->variant >= ALL) return rank == c->variant - ALL ? 0 : 1 + rank;
    return rank == c->variant ? 1 : 0;
}

/* Compute until that virtual second, at the 10 GB/s that networks have unless they say otherwise: what takes time there
 * without a message. */
static void wait_until(p2p_comm *comm, double moment)
{
    double wait = moment - p2p_time(comm);
    if (wait > 0) p2p_layer_compute(comm, (size_t)(wait * 10e9 + 0.5));
}

/* Three barriers, long after one another: what one leaves behind would spoil the next. */
static void run(p2p_comm *comm, const check_case *c)
{
    double start = p2p_time(comm); /* the same on all ranks */

    for (int i = 0; i < (c->fails ? 1 : IN_A_ROW); i++) {
        char name[16];
        double begin = start + 100 * i;
        wait_until(comm, begin + comes(c, p2p_rank(comm)));
        p2p_err err = my_barrier(comm);
        check_returned(c, err);
        if (err) return;
        snprintf(name, sizeof name, "leave%d", i);
        check_number(c, name, p2p_time(comm) - begin);
    }
}

static int rounds(int ranks)
{
    int n = 0;
    for (int distance = 1; distance < ranks; distance *= 2) n++;
    return n;
}

/* Distances below the number of ranks that are missing, as bits, if `heard` are the ranks that a rank has heard from. */
static unsigned missing_distances(const check_case *c, int rank, unsigned heard, int way)
{
    unsigned missing = 0;

    for (int distance = 1; distance < c->ranks; distance *= 2)
        if (!(heard & 1u << (rank - way * distance + c->ranks) % c->ranks)) missing |= (unsigned)distance;
    return missing;
}

/* What a rank that left early had waited for, if that tells: a kind of failure, and the words for it. */
static const char *what_it_heard(const check_case *c, int rank, char *words, size_t room)
{
    unsigned heard = 0;
    uint64_t sent = 0;
    char text[100];

    for (int other = 0; other < c->ranks; other++) sent += check_sent(c, other).messages_sent;
    for (int other = 0; other < c->ranks; other++)
        if (other != rank && check_traffic(c, rank, other).messages_received) heard |= 1u << other;
    unsigned missing = missing_distances(c, rank, heard, 1), other_way = missing_distances(c, rank, heard, -1);
    if (!sent) {
        snprintf(words, room, "No rank sent a message: there was no round at all, and %d ranks need %d.", c->ranks,
                 rounds(c->ranks));
        return "early.none";
    }
    if (!heard) {
        snprintf(words, room, "It received no message at all, and so it waited for no rank.");
        return "early.silent";
    }
    if (!missing || !other_way) return NULL;
    snprintf(words, room,
             "It heard from %s only, and from no rank at distance %d; among %d ranks the distances are %s.",
             expected_ranks(text, sizeof text, heard), (int)(missing & ~(missing - 1)), c->ranks,
             c->ranks > 4 ? "1, 2 and 4" : "1 and 2");
    return "early.distance";
}

static bool judge_early(const check_case *c, int barrier)
{
    static const char *const which[IN_A_ROW] = {"", " the second barrier in a row", " the third barrier in a row"};
    char name[24], words[300];
    int last = 0;

    snprintf(name, sizeof name, "leave%d", barrier);
    for (int rank = 1; rank < c->ranks; rank++)
        if (comes(c, rank) > comes(c, last)) last = rank;
    for (int rank = 0; rank < c->ranks; rank++) {
        double left = check_number_of(c, rank, name);
        if (left >= comes(c, last) - 1e-9) continue;
        const char *key = barrier ? NULL : what_it_heard(c, rank, words, sizeof words);
        if (!key)
            snprintf(words, sizeof words,
                     "Nothing that rank %d waited for could tell it of rank %d, directly or through another rank.%s",
                     rank, last,
                     barrier ? " No rank left the one before early: what does a call leave to the next?" : "");
        return check_fail(c,
                          key       ? key
                          : barrier ? "early.again"
                                    : "early",
                          "Rank %d left%s at %.6f s, before rank %d had come, at %.0f s. %s", rank, which[barrier],
                          left, last, comes(c, last), words);
    }
    return true;
}

/* Round the ring one way or the other, the same way on every rank: does each distance have its message? */
static bool goes_round(const check_case *c, int rank, int way)
{
    for (int distance = 1; distance < c->ranks; distance *= 2) {
        int to = (rank + way * distance + c->ranks) % c->ranks;
        uint64_t sent = check_traffic(c, rank, to).messages_sent;
        if (sent != IN_A_ROW && !(sent == 2 * IN_A_ROW && 2 * distance % c->ranks == 0 && c->ranks > 2)) return false;
    }
    return true;
}

static bool judge_partners(const check_case *c, int rank)
{
    if (goes_round(c, rank, 1) || goes_round(c, rank, -1)) return true;
    for (int distance = 1; distance < c->ranks; distance *= 2) {
        int to = (rank + distance) % c->ranks;
        if (check_traffic(c, rank, to).messages_sent == IN_A_ROW) continue;
        return check_fail(c, "partners",
                          "Rank %d sent rank %d %llu messages in %d barriers; in the round of distance %d it "
                          "sends one to rank (%d + %d) mod %d = %d.",
                          rank, to, (unsigned long long)check_traffic(c, rank, to).messages_sent, IN_A_ROW, distance,
                          rank, distance, c->ranks, to);
    }
    return true;
}

/* All ranks tell rank 0, and rank 0 tells each of them. */
static bool is_central(const check_case *c)
{
    for (int rank = 1; rank < c->ranks; rank++) {
        if (check_sent(c, rank).messages_sent != IN_A_ROW) return false;
        if (check_traffic(c, rank, 0).messages_sent != IN_A_ROW) return false;
        if (check_traffic(c, 0, rank).messages_sent != IN_A_ROW) return false;
    }
    return c->ranks > 2;
}

static bool right_number(const check_case *c, int rank)
{
    unsigned long long messages = check_sent(c, rank).messages_sent / IN_A_ROW;
    int needed = rounds(c->ranks);

    if (check_traffic(c, rank, rank).messages_sent)
        return check_fail(
            c, "self",
            "No rank left early, but rank %d sent itself a message, as happens at distance 0 and at distance %d. That "
            "is a round too many: among %d rank%s the distances are those of 1, 2, 4, ... below %d, which makes %d "
            "round%s.",
            rank, c->ranks, c->ranks, c->ranks == 1 ? "" : "s", c->ranks, needed, needed == 1 ? "" : "s");
    if (check_sent(c, rank).messages_sent == (uint64_t)needed * IN_A_ROW) return true;
    return check_fail(
        c, "messages",
        "No rank left early, but rank %d sent %llu message%s a barrier; dissemination among %d ranks takes "
        "ceil(log2 %d) = %d round%s, and one message of each rank in each of them.",
        rank, messages, messages == 1 ? "" : "s", c->ranks, c->ranks, needed, needed == 1 ? "" : "s");
}

static bool contract(const check_case *c)
{
    if (is_central(c))
        return check_fail(c, "central",
                          "No rank left early, but all report to rank 0, which then tells each of them: rank 0 handles "
                          "%d messages, one after the other. Dissemination among %d ranks takes %d rounds.",
                          2 * (c->ranks - 1), c->ranks, rounds(c->ranks));
    for (int rank = 0; rank < c->ranks; rank++) {
        p2p_traffic sent = check_sent(c, rank);
        if (!right_number(c, rank)) return false;
        if (sent.bytes_sent)
            return check_fail(
                c, "bytes",
                "Rank %d sent %llu bytes in %llu message%s. The messages of a barrier are empty: that one came "
                "says it all.",
                rank, (unsigned long long)sent.bytes_sent, (unsigned long long)sent.messages_sent,
                sent.messages_sent == 1 ? "" : "s");
        if (!judge_partners(c, rank)) return false;
    }
    return true;
}

/* With no rank late: a round takes one latency, because sending and receiving go on at the same time. */
static void judge_time(const check_case *c)
{
    for (int rank = 0; rank < c->ranks && c->ranks > 2 && c->variant == NO_RANK; rank++) {
        double took = check_number_of(c, rank, "leave0") / latency;
        if (took < rounds(c->ranks) + 0.1) continue;
        if (took > 0.5 / latency || check_number_of(c, rank, "any source") > 0) {
            check_fail(
                c, "later",
                "Rank %d left a barrier long after all had come, %s: it took a message of a later round or of the "
                "next barrier for one of its own, and then waited for another. In each round, receive from the one "
                "rank that sends in it.",
                rank, took > 0.5 / latency ? "when the next one had begun" : "some rounds later");
            return;
        }
        check_fail(c, "slow",
                   "The barrier took rank %d %.1f times the latency; %d rounds take %d times when each rank sends and "
                   "receives at the same time.",
                   rank, took, rounds(c->ranks), rounds(c->ranks));
        return;
    }
}

/* The messages are judged in the last case of a world: a barrier that a rank leaves early is told as that. */
static void judge(const check_case *c)
{
    for (int i = 0; i < IN_A_ROW; i++)
        if (!judge_early(c, i)) return;
    if (c->variant == NO_RANK && contract(c)) judge_time(c);
}

static const char *const files[] = {"barrier.c", NULL};

const check_exercise check_07_barrier = {
    .name = "07_barrier",
    .idea = "no rank leaves before every rank has come",
    .call = "my_barrier",
    .files = files,
    .hands_on_errors = true,
    .library = CHECK_LIBRARY_P2P,
    .cases = cases,
    .run = run,
    .judge = judge,
};
