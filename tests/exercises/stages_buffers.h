/* SPDX-License-Identifier: MIT */
/*
 * stages_buffers: which buffers the messages of a pipeline come to and go from, beside those that forward and backward were
 * given. It is watched in a rank, and told where a call was given wrong numbers.
 *
 *      in a rank    stages_watch_call, stages_watch_message; stages_report_buffers
 *      in learn     stages_tell_buffers
 */
#ifndef PAIRWISE_TESTS_EXERCISES_STAGES_BUFFERS_H
#define PAIRWISE_TESTS_EXERCISES_STAGES_BUFFERS_H

#include "tests/exercises/expected.h"

enum { STAGES_MOST = 16 }; /* micro-batches */

/* The first mistake on the side that sends, and on the side that receives. */
enum {
    STAGES_FINE,
    STAGES_SENT_OTHER, /* from here on: not what the call has set */
    STAGES_SENT_GIVEN,
    STAGES_SENT_OPPOSITE,
    STAGES_SENT_EARLY,
    STAGES_SENT_TWICE,
    STAGES_GIVEN_OTHER,
    STAGES_GIVEN_EARLY,
    STAGES_GIVEN_UNWAITED,
    STAGES_OVERWRITTEN
};

/* One direction: message number k is for call number k, and what that sets goes in message number k. */
typedef struct {
    const void *in[STAGES_MOST], *out[STAGES_MOST], *came[STAGES_MOST];
    size_t calls, sends, receives;
    size_t calls_when_sent; /* the last time */
    const void *last_sent;
    double sent, given; /* the first mistake */
    double given_at;    /* the number of its call */
} stages_direction;

typedef struct {
    stages_direction forward, backward;
} stages_buffers;

/* ---- In a rank ---- */

static inline void stages_first(double *fact, int is)
{
    if (*fact == STAGES_FINE) *fact = is;
}

static inline void stages_watch_call(stages_direction *d, const void *in, const void *out)
{
    size_t k = d->calls++;
    if (k >= STAGES_MOST) return;
    d->in[k] = in, d->out[k] = out;
    if (d->given == STAGES_FINE) d->given_at = (double)k;
    if (check_under_way(in))
        stages_first(&d->given, STAGES_GIVEN_UNWAITED);
    else if (in && k >= d->receives)
        stages_first(&d->given, STAGES_GIVEN_EARLY);
    else if (in && in != d->came[k])
        stages_first(&d->given, STAGES_GIVEN_OTHER);
}

static inline const void *stages_last(const void *const *of, size_t count)
{
    return count && count <= STAGES_MOST ? of[count - 1] : NULL;
}

static inline void stages_watch_send(stages_direction *d, const stages_direction *opposite, const void *buf)
{
    size_t k = d->sends++;
    bool again = k && buf == d->last_sent && d->calls == d->calls_when_sent;
    d->last_sent = buf, d->calls_when_sent = d->calls;
    if (k >= STAGES_MOST) return;
    bool is_opposite = buf == stages_last(opposite->came, opposite->receives) ||
                       buf == stages_last(opposite->out, opposite->calls);
    if (k >= d->calls)
        stages_first(&d->sent, is_opposite                                     ? STAGES_SENT_OPPOSITE
                               : again && buf == stages_last(d->out, d->calls) ? STAGES_SENT_TWICE
                                                                               : STAGES_SENT_EARLY);
    else if (buf == d->out[k])
        return;
    else if (buf == d->in[k] || buf == stages_last(d->came, d->receives))
        stages_first(&d->sent, STAGES_SENT_GIVEN);
    else if (is_opposite)
        stages_first(&d->sent, STAGES_SENT_OPPOSITE);
    else
        stages_first(&d->sent, STAGES_SENT_OTHER);
}

static inline void stages_watch_receive(stages_direction *d, const void *buf)
{
    size_t k = d->receives++;
    if (k >= STAGES_MOST) return;
    if (k && d->calls < k && d->came[k - 1] == buf) stages_first(&d->given, STAGES_OVERWRITTEN);
    d->came[k] = buf;
}

/* Forward goes from a rank to the next one, backward to the one before. */
static inline void stages_watch_message(stages_buffers *b, int rank, bool sends, const void *buf, int peer)
{
    bool right = peer == rank + 1;
    stages_direction *d = sends == right ? &b->forward : &b->backward;
    if (!right && peer != rank - 1) return;
    if (sends)
        stages_watch_send(d, right ? &b->backward : &b->forward, buf);
    else
        stages_watch_receive(d, buf);
}

static inline void stages_report_buffers(const check_case *c, const stages_buffers *b)
{
    const double facts[] = {b->forward.sent,           b->forward.given,          b->backward.sent,
                            b->backward.given,         (double)b->forward.calls,  (double)b->forward.sends,
                            (double)b->backward.calls, (double)b->backward.sends, b->forward.given_at,
                            b->backward.given_at};
    check_report(c, "buffers", facts, sizeof facts / sizeof *facts, DTYPE_F64);
}

/* ---- In learn ---- */

/* What is wrong with what a rank sends; NULL: nothing is known to be. */
static inline const char *stages_wrong_sent(int fact, int from, int rank, bool back)
{
    static char words[200];
    const char *call = back ? "backward" : "forward", *other = back ? "forward" : "backward";
    if (fact == STAGES_SENT_EARLY)
        snprintf(words, sizeof words,
                 "Rank %d sends to rank %d before its %s has set what is sent: what goes is nothing, or still what was "
                 "set for the micro-batch before.",
                 from, rank, call);
    else if (fact == STAGES_SENT_GIVEN)
        snprintf(words, sizeof words,
                 "Rank %d sends rank %d the buffer that its %s was given, and not the one that it has set.", from, rank,
                 call);
    else if (fact == STAGES_SENT_OPPOSITE)
        snprintf(words, sizeof words,
                 "Rank %d sends rank %d a buffer of the other direction, %s's, and not the one that its %s has set.",
                 from, rank, other, call);
    else if (fact == STAGES_SENT_OTHER)
        snprintf(words, sizeof words, "Rank %d sends rank %d another buffer than the one that its %s has set.", from,
                 rank, call);
    else if (fact == STAGES_SENT_TWICE)
        snprintf(words, sizeof words,
                 "Rank %d sends rank %d what its %s has set, and then the same once more: what is set in one call goes "
                 "once.",
                 from, rank, call);
    return fact >= STAGES_SENT_OTHER && fact <= STAGES_SENT_TWICE ? words : NULL;
}

static inline const char *stages_sent_key(int fact)
{
    return fact == STAGES_SENT_EARLY ? "given.early" : fact == STAGES_SENT_TWICE ? "given.twice" : "given.sent";
}

static inline bool stages_tell_sent(const check_case *c, int fact, int from, int rank, bool back)
{
    const char *words = stages_wrong_sent(fact, from, rank, back);
    return words && !check_fail(c, stages_sent_key(fact), "%s", words);
}

/* Where a world has ended in a deadlock: adds what is wrong with what a rank has sent until then. */
static inline bool stages_tell_sent_until(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        for (int back = 0; back < 2; back++) {
            double sent = check_number_of(c, rank, back ? "sent back" : "sent"),
                   unsent = check_number_of(c, rank, back ? "unsent back" : "unsent");
            int to = rank + (back ? -1 : 1);
            if (sent > STAGES_FINE && sent != STAGES_SENT_EARLY) {
                check_because(c, stages_sent_key((int)sent), "%s", stages_wrong_sent((int)sent, rank, to, back));
                return true;
            }
            if (!(unsent >= 0)) continue;
            check_because(c, "deadlock.unsent",
                          "Rank %d calls %s once more when what it has set the last time was not sent to rank %d.",
                          rank, back ? "backward" : "forward", to);
            return true;
        }
    return false;
}

/* The same; and that a rank which has returned has sent less than it has computed. */
static inline void stages_tell_unsent(const check_case *c)
{
    if (stages_tell_sent_until(c)) return;
    for (int rank = 0; rank < c->ranks; rank++)
        for (int back = 0; back < 2; back++) {
            int to = rank + (back ? -1 : 1);
            double calls = check_element(c, rank, "buffers", 4 + 2 * (size_t)back),
                   sends = check_element(c, rank, "buffers", 5 + 2 * (size_t)back);
            if (!check_elements(c, rank, "buffers") || to < 0 || to == c->ranks || sends >= calls) continue;
            check_because(c, "deadlock.unsent",
                          "Rank %d has called %s %.0f times, and sent rank %d what it has set %.0f times.", rank,
                          back ? "backward" : "forward", calls, to, sends);
            return;
        }
}

/* Messages from a rank that is no neighbour; or fewer from this one than it has computed. */
static inline bool stages_tell_source(const check_case *c, int rank, bool back)
{
    const char *call = back ? "backward" : "forward";
    int from = rank + (back ? 1 : -1);
    for (int peer = 0; peer < c->ranks; peer++)
        if (abs(peer - rank) > 1 && check_traffic(c, rank, peer).messages_received)
            return !check_fail(
                c, "given.from",
                "Rank %d receives from rank %d. What a stage is given comes from rank - 1 in forward, and from "
                "rank + 1 in backward.",
                rank, peer);
    double calls = check_element(c, from, "buffers", back ? 6 : 4),
           sends = check_element(c, from, "buffers", back ? 7 : 5);
    return sends < calls &&
           !check_fail(c, "deadlock.unsent",
                       "Rank %d has called %s %.0f times, and sent rank %d what it has set %.0f time%s.", from, call,
                       calls, rank, sends, sends == 1 ? "" : "s");
}

/* What rank was given in a call is wrong: were the buffers of its message others than those of the calls? */
static inline bool stages_tell_buffers(const check_case *c, int rank, size_t b, bool back)
{
    const char *call = back ? "backward" : "forward";
    int from = rank + (back ? 1 : -1);
    int sent = (int)check_element(c, from, "buffers", back ? 2 : 0),
        given = (int)check_element(c, rank, "buffers", back ? 3 : 1);
    if (stages_tell_source(c, rank, back) || stages_tell_sent(c, sent, from, rank, back)) return true;
    if (given == STAGES_GIVEN_OTHER)
        return !check_fail(c, "given.came",
                           "On rank %d %s %zu was given another buffer than the one that rank %d's message came to.",
                           rank, call, b, from);
    if (given == STAGES_GIVEN_EARLY)
        return !check_fail(c, "given.early",
                           "On rank %d %s was called before the message for it had come from rank %d, the first time "
                           "in its call %.0f: it was given what was in the buffer before.",
                           rank, call, from, check_element(c, rank, "buffers", back ? 9 : 8) + 1);
    if (given == STAGES_GIVEN_UNWAITED)
        return !check_fail(c, "given.unwaited",
                           "On rank %d %s was called while the receive from rank %d, which had begun, was still under "
                           "way: until p2p_wait the buffer holds what was in it before.",
                           rank, call, from);
    if (given == STAGES_OVERWRITTEN)
        return !check_fail(
            c, "given.overwritten",
            "On rank %d a message from rank %d was received to the buffer of the one before, which %s had "
            "not used yet.",
            rank, from, call);
    return false;
}

#endif
