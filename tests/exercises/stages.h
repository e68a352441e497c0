/* SPDX-License-Identifier: MIT */
/*
 * stages: a network in stages, for the tests of pipelines. Stage r makes of x[i]: w[i] x[i] + x[i + 1]^2 / 4, counted
 * round; the loss is the sum of what the last one makes, times a target. Backward needs what forward was given.
 *
 *      both sides   stages_weight, stages_x, stages_target
 *      in a rank    stages_begin, stages_report
 *      in learn     stages_called; stages_values (what each call was given, and the gradient of the weights); stages_contract,
 *                   stages_bubble
 */
#ifndef PAIRWISE_TESTS_EXERCISES_STAGES_H
#define PAIRWISE_TESTS_EXERCISES_STAGES_H

#include "exercises/exercises.h"
#include "p2p/p2p_layer.h"
#include "tests/exercises/stages_buffers.h"

/* STAGES_BACKWARD + b is the number of a call of backward, b that of forward. */
enum { STAGES_WIDTH = 4, STAGES_BACKWARD = 100, STAGES_CALLS = 4 * STAGES_MOST };
/* What makes a stage wait, or lets another one wait, in exercise 30. */
enum { STAGES_IN_TIME, STAGES_X_FIRST, STAGES_Y_LATE, STAGES_DX_LATE };
enum { STAGES_OF_X = 1000, STAGES_OF_TARGET = 2000 };

#define STAGES_NETWORK "latency=10us,bandwidth=1G" EXPECTED_REDUCE
#define STAGES_FORWARD_S 1e-3
#define STAGES_BACKWARD_S 2e-3

static inline double stages_weight(const check_case *c, int rank, size_t i)
{
    return check_value(c, rank, i) / 100;
}

static inline double stages_x(const check_case *c, size_t b, size_t i)
{
    return check_value(c, 0, STAGES_OF_X + b * STAGES_WIDTH + i) / 100;
}

static inline double stages_target(const check_case *c, size_t b, size_t i)
{
    return check_value(c, c->ranks - 1, STAGES_OF_TARGET + b * STAGES_WIDTH + i) / 50;
}

static inline void stages_forward_of(const check_case *c, int rank, const double *in, double *out)
{
    for (size_t i = 0; i < STAGES_WIDTH; i++) {
        double next = in[(i + 1) % STAGES_WIDTH];
        out[i] = stages_weight(c, rank, i) * in[i] + next * next / 4;
    }
}

/* Adds to weights the gradient of the stage's, and sets in_gradient. */
static inline void stages_backward_of(const check_case *c, int rank, const double *in, const double *out_gradient,
                                      double *in_gradient, double *weights)
{
    for (size_t i = 0; i < STAGES_WIDTH; i++) {
        double before = out_gradient[(i + STAGES_WIDTH - 1) % STAGES_WIDTH];
        weights[i] += out_gradient[i] * in[i];
        in_gradient[i] = out_gradient[i] * stages_weight(c, rank, i) + before * in[i] / 2;
    }
}

/* ---- In a rank ---- */

typedef struct {
    p2p_comm *comm;
    const check_case *c;
    size_t count, kept, most_kept;
    double calls[STAGES_CALLS];
    double in[STAGES_MOST][STAGES_WIDTH], gradient[STAGES_MOST][STAGES_WIDTH]; /* what the calls were given */
    double weights[STAGES_WIDTH];
    stages_buffers buffers;
    double late; /* the first of those */
} stages_self;

static stages_self *stages_watched;

/* A rank of n may have n - rank micro-batches that went forward and not back, in exercise 30: does it wait for a further one? */
static inline void stages_watch_ahead(const stages_self *self, bool sends, int peer)
{
    int rank = p2p_rank(self->comm);
    bool each_came = self->buffers.forward.receives == self->buffers.forward.calls; /* else something else is wrong */
    if (!sends && peer == rank - 1 && each_came && self->kept >= (size_t)(self->c->ranks - rank))
        check_number(self->c, "ahead", (double)self->kept);
}

/* Does it wait for a dy when none is forward and not back? */
static inline void stages_watch_none_out(const stages_self *self, bool sends, int peer)
{
    size_t forwards = self->buffers.forward.calls;
    if (!sends && peer == p2p_rank(self->comm) + 1 && !self->kept && forwards && forwards < self->c->count)
        check_number(self->c, "none out", (double)forwards);
}

/* Have all micro-batches come from there? */
static inline void stages_watch_beyond(const stages_self *self, bool sends, int peer)
{
    int rank = p2p_rank(self->comm);
    const stages_direction *d = peer < rank ? &self->buffers.forward : &self->buffers.backward;
    if (!sends && abs(peer - rank) == 1 && d->receives >= self->c->count)
        check_number(self->c, "beyond", peer > rank ? STAGES_BACKWARD : self->buffers.backward.calls > 0);
}

/* y goes behind its forward, dx behind its backward, and the next x comes when nothing can go back. */
static inline void stages_watch_late(stages_self *self, bool sends, int peer)
{
    int rank = p2p_rank(self->comm);
    const stages_direction *back = &self->buffers.backward;
    bool went_back = self->count && self->calls[self->count - 1] >= STAGES_BACKWARD;
    bool can_go_back = rank == self->c->ranks - 1 ? self->kept > 0 : back->receives > back->calls;
    if (peer == rank - 1 && !sends && can_go_back) stages_first(&self->late, STAGES_X_FIRST);
    if (peer == rank - 1 && sends && !went_back) stages_first(&self->late, STAGES_DX_LATE);
    if (peer == rank + 1 && sends && went_back) stages_first(&self->late, STAGES_Y_LATE);
}

/* What is sent is another buffer. */
static inline void stages_watch_sent(const stages_self *self)
{
    const stages_buffers *b = &self->buffers;
    if (b->forward.sent != STAGES_FINE) check_number(self->c, "sent", b->forward.sent);
    if (b->backward.sent != STAGES_FINE) check_number(self->c, "sent back", b->backward.sent);
}

/* A call that sets something anew, when what it has set before was not sent. */
static inline void stages_watch_unsent(const stages_self *self, bool back, const void *out)
{
    const stages_direction *d = back ? &self->buffers.backward : &self->buffers.forward;
    if (out && d->sends < d->calls) check_number(self->c, back ? "unsent back" : "unsent", (double)d->sends);
}

/* One more than there are micro-batches: which call was before it? */
static inline void stages_watch_more(const stages_self *self, bool sends, int peer)
{
    const stages_direction *d = peer > p2p_rank(self->comm) ? &self->buffers.forward : &self->buffers.backward;
    if (sends && abs(peer - p2p_rank(self->comm)) == 1 && d->sends == self->c->count + 1 && self->count)
        check_number(self->c, d == &self->buffers.forward ? "more" : "more back", self->calls[self->count - 1]);
}

static inline void stages_on_message(bool sends, const void *buf, size_t bytes, int peer)
{
    (void)bytes;
    stages_watch_ahead(stages_watched, sends, peer);
    stages_watch_beyond(stages_watched, sends, peer);
    stages_watch_none_out(stages_watched, sends, peer);
    stages_watch_late(stages_watched, sends, peer);
    stages_watch_message(&stages_watched->buffers, p2p_rank(stages_watched->comm), sends, buf, peer);
    stages_watch_sent(stages_watched);
    stages_watch_more(stages_watched, sends, peer);
}

static inline void stages_note(stages_self *self, size_t call)
{
    if (self->count < STAGES_CALLS) self->calls[self->count++] = (double)call;
}

static inline void stages_forward(const my_stage *stage, size_t b, const double *in, double *out)
{
    stages_self *self = stage->self;
    const check_case *c = self->c;
    double x[STAGES_WIDTH], ignored[STAGES_WIDTH];
    stages_note(self, b < STAGES_MOST ? b : STAGES_BACKWARD - 1);
    stages_watch_unsent(self, false, out);
    stages_watch_call(&self->buffers.forward, in, out);
    if (b >= STAGES_MOST) return;
    for (size_t i = 0; i < STAGES_WIDTH; i++) x[i] = in ? in[i] : p2p_rank(self->comm) ? NAN : stages_x(c, b, i);
    memcpy(self->in[b], x, sizeof x);
    if (++self->kept > self->most_kept) self->most_kept = self->kept;
    stages_forward_of(c, p2p_rank(self->comm), x, out ? out : ignored);
    p2p_layer_compute(self->comm, (size_t)(STAGES_FORWARD_S * EXPECTED_REDUCE_RATE));
}

static inline void stages_backward(const my_stage *stage, size_t b, const double *gradient_out, double *gradient_in)
{
    stages_self *self = stage->self;
    const check_case *c = self->c;
    bool last = p2p_rank(self->comm) == c->ranks - 1;
    double g[STAGES_WIDTH], ignored[STAGES_WIDTH];
    stages_note(self, STAGES_BACKWARD + (b < STAGES_MOST ? b : STAGES_BACKWARD - 1));
    stages_watch_unsent(self, true, gradient_in);
    stages_watch_call(&self->buffers.backward, gradient_out, gradient_in);
    if (b >= STAGES_MOST) return;
    for (size_t i = 0; i < STAGES_WIDTH; i++)
        g[i] = gradient_out ? gradient_out[i] : last ? stages_target(c, b, i) : NAN;
    memcpy(self->gradient[b], g, sizeof g);
    if (self->kept) self->kept--;
    stages_backward_of(c, p2p_rank(self->comm), self->in[b], g, gradient_in ? gradient_in : ignored, self->weights);
    p2p_layer_compute(self->comm, (size_t)(STAGES_BACKWARD_S * EXPECTED_REDUCE_RATE));
}

static inline my_stage stages_begin(p2p_comm *comm, const check_case *c, stages_self *self)
{
    *self = (stages_self){.comm = comm, .c = c};
    stages_watched = self;
    check_on_message = stages_on_message;
    return (my_stage){c->count, STAGES_WIDTH, stages_forward, stages_backward, self};
}

static inline void stages_report(const check_case *c, const stages_self *self)
{
    check_report(c, "calls", self->calls, self->count, DTYPE_F64);
    check_report(c, "in", self->in, c->count * STAGES_WIDTH, DTYPE_F64);
    check_report(c, "gradient", self->gradient, c->count * STAGES_WIDTH, DTYPE_F64);
    check_report(c, "weights", self->weights, STAGES_WIDTH, DTYPE_F64);
    check_number(c, "kept", (double)self->most_kept);
    check_number(c, "late", self->late);
    stages_report_buffers(c, &self->buffers);
    check_on_message = NULL;
}

/* ---- In learn ---- */

/* What stage `rank` is given: in forward and in backward; and the gradient of its weights. */
typedef struct {
    double in[STAGES_MOST][STAGES_WIDTH], gradient[STAGES_MOST][STAGES_WIDTH], weights[STAGES_WIDTH];
} stages_right;

static inline void stages_compute(const check_case *c, stages_right right[CHECK_MAX_RANKS])
{
    memset(right, 0, CHECK_MAX_RANKS * sizeof *right);
    for (size_t b = 0; b < c->count; b++) {
        double out[STAGES_WIDTH];
        for (size_t i = 0; i < STAGES_WIDTH; i++) {
            right[0].in[b][i] = stages_x(c, b, i);
            right[c->ranks - 1].gradient[b][i] = stages_target(c, b, i);
        }
        for (int r = 0; r < c->ranks; r++)
            stages_forward_of(c, r, right[r].in[b], r + 1 < c->ranks ? right[r + 1].in[b] : out);
        for (int r = c->ranks - 1; r >= 0; r--)
            stages_backward_of(c, r, right[r].in[b], right[r].gradient[b], r ? right[r - 1].gradient[b] : out,
                               right[r].weights);
    }
}

/* What a call should be: "forward 3". */
static inline const char *stages_name(char name[24], double call)
{
    bool back = call >= STAGES_BACKWARD;
    snprintf(name, 24, "%s %.0f", back ? "backward" : "forward", call - (back ? STAGES_BACKWARD : 0));
    return name;
}

static inline bool stages_same(const double *right, const check_case *c, int rank, const char *report, size_t b)
{
    for (size_t i = 0; i < STAGES_WIDTH; i++) {
        double has = check_element(c, rank, report, b * STAGES_WIDTH + i);
        if (!(fabs(has - right[i]) <= 1e-9 * fmax(1, fabs(right[i])))) return false;
    }
    return true;
}

/* So many times what it should be; NAN: it is something else. */
static inline double stages_scale(const double *right, const check_case *c, int rank, const char *report, size_t b)
{
    double by = check_element(c, rank, report, b * STAGES_WIDTH) / right[0];
    for (size_t i = 1; i < STAGES_WIDTH; i++) {
        double has = check_element(c, rank, report, b * STAGES_WIDTH + i);
        if (!(fabs(has - by * right[i]) <= 1e-9 * fmax(1, fabs(has)))) return NAN;
    }
    return by;
}

static inline bool stages_tell_scale(const check_case *c, const double *right, int rank, size_t b, bool back)
{
    const char *call = back ? "backward" : "forward";
    int from = rank + (back ? 1 : -1);
    double by = stages_scale(right, c, rank, back ? "gradient" : "in", b);
    if (!isfinite(by) || by == 0) return false;
    return !check_fail(
        c, "given.scaled",
        "On rank %d %s %zu was given %.4g times what rank %d's %s has set for micro-batch %zu%s: what is "
        "set goes on as it is.",
        rank, call, b, by, from, call, b,
        fabs(by * (double)c->count - 1) < 1e-9 ? ", which was divided by the number of micro-batches"
        : fabs(by * c->ranks - 1) < 1e-9       ? ", which was divided by the number of ranks"
                                               : "");
}

/* Did micro-batch `other` go in a direction after b, on a rank? */
static inline bool stages_is_later(const check_case *c, int rank, bool back, size_t other, size_t b)
{
    double call = (double)((back ? STAGES_BACKWARD : 0) + b), later = (double)((back ? STAGES_BACKWARD : 0) + other);
    bool seen = false;
    for (size_t i = 0; i < check_elements(c, rank, "calls"); i++) {
        double is = check_element(c, rank, "calls", i);
        if (seen && is == later) return true;
        seen |= is == call;
    }
    return false;
}

/* The first call that was given something else, and whose that is. */
static inline bool stages_given(const check_case *c, const stages_right *right, int rank, size_t b, bool back)
{
    const char *report = back ? "gradient" : "in", *call = back ? "backward" : "forward";
    int from = rank + (back ? 1 : -1);
    const double(*all)[STAGES_WIDTH] = back ? right[rank].gradient : right[rank].in;
    if (stages_same(all[b], c, rank, report, b)) return true;
    if (back && rank && check_traffic(c, rank - 1, rank).messages_sent == 2 * c->count)
        return check_fail(c, "direction",
                          "Rank %d sends rank %d two messages for each micro-batch: in backward, too, it goes to the "
                          "right. Gradients come from the stage behind, rank + 1, and go to the one before, rank - 1.",
                          rank - 1, rank);
    if (from < 0 || from == c->ranks)
        return check_fail(
            c, "null",
            "On rank %d %s %zu was given memory, and should be given NULL: the %s stage has nobody to take it "
            "from.",
            rank, call, b, back ? "last" : "first");
    if (isnan(check_element(c, rank, report, b * STAGES_WIDTH)))
        return check_fail(c, "null",
                          "On rank %d %s %zu was given NULL, or what was computed from it: it is for the %s stage "
                          "only that there is nothing to take. This one takes what rank %d has made.",
                          rank, call, b, back ? "last" : "first", from);
    if (stages_tell_buffers(c, rank, b, back)) return false;
    for (size_t other = 0; other < c->count; other++)
        if (stages_same(all[other], c, rank, report, b) && stages_is_later(c, from, back, other, b))
            return check_fail(
                c, "given.reused",
                "On rank %d %s %zu was given what rank %d's %s has set for micro-batch %zu: it was set to "
                "the same buffer while the message with micro-batch %zu was still under way.",
                rank, call, b, from, call, other, b);
    for (size_t other = 0; other < c->count; other++)
        if (stages_same(all[other], c, rank, report, b))
            return check_fail(
                c, "order",
                "On rank %d %s %zu was given what belongs to micro-batch %zu. Both sides of a cut "
                "must go through the micro-batches in the same order, and what is sent must be computed before.",
                rank, call, b, other);
    const double(*theirs)[STAGES_WIDTH] = back ? right[from].gradient : right[from].in;
    if (stages_same(theirs[b], c, rank, report, b))
        return check_fail(
            c, "given",
            "On rank %d %s %zu was given what rank %d's %s was given itself. What it has set is to be sent on.", rank,
            call, b, from, call);
    for (size_t other = 0; back && other < c->count; other++)
        if (stages_same(right[from].in[other], c, rank, report, b))
            return check_fail(c, "given",
                              "On rank %d %s %zu was given what its own forward has set, and takes what rank %d's "
                              "%s has.",
                              rank, call, b, from, call);
    p2p_traffic sent = check_traffic(c, from, rank);
    if (sent.messages_sent && sent.bytes_sent < sent.messages_sent * STAGES_WIDTH * sizeof(double))
        return check_fail(c, "given",
                          "A message from rank %d to rank %d has %llu bytes. A micro-batch is %d numbers, %zu bytes: "
                          "width counts numbers.",
                          from, rank, (unsigned long long)(sent.bytes_sent / sent.messages_sent), STAGES_WIDTH,
                          STAGES_WIDTH * sizeof(double));
    if (stages_tell_scale(c, all[b], rank, b, back)) return false;
    bool nothing = true;
    for (size_t i = 0; i < STAGES_WIDTH; i++) nothing &= check_element(c, rank, report, b * STAGES_WIDTH + i) == 0;
    return check_fail(
        c, "given", "On rank %d %s %zu was given %s. It takes what rank %d's %s has set for micro-batch %zu.", rank,
        call, b, nothing ? "zeros: nothing has come, or nothing was computed into what was sent" : "something else",
        from, call, b);
}

static inline bool stages_values(const check_case *c)
{
    static stages_right right[CHECK_MAX_RANKS];
    stages_compute(c, right);
    for (size_t b = 0; b < c->count; b++)
        for (int rank = 0; rank < c->ranks; rank++)
            if (!stages_given(c, right, rank, b, false)) return false;
    for (size_t b = c->count; b > 0; b--)
        for (int rank = c->ranks - 1; rank >= 0; rank--)
            if (!stages_given(c, right, rank, b - 1, true)) return false;
    for (int rank = 0; rank < c->ranks; rank++)
        if (!stages_same(right[rank].weights, c, rank, "weights", 0))
            return check_fail(c, "weights",
                              "The gradient of rank %d's weights is not that of one rank with all stages: was "
                              "backward called once for each micro-batch, after its forward?",
                              rank);
    return true;
}

/* How often each micro-batch went in a direction on a rank; false: something else was called as well. */
static inline bool stages_times(const check_case *c, int rank, bool back, size_t times[STAGES_MOST])
{
    bool all_exist = true;
    memset(times, 0, STAGES_MOST * sizeof *times);
    for (size_t i = 0; i < check_elements(c, rank, "calls"); i++) {
        double call = check_element(c, rank, "calls", i);
        size_t b = (size_t)call - (back ? STAGES_BACKWARD : 0);
        if ((call >= STAGES_BACKWARD) != back) continue;
        if (b < c->count)
            times[b]++;
        else
            all_exist = false;
    }
    return all_exist;
}

/* A direction in which no call is wrong, and calls are missing. */
static inline bool stages_none_missing(const check_case *c, int rank, bool back)
{
    const char *call = back ? "backward" : "forward";
    size_t times[STAGES_MOST], missing = 0, first = 0;
    if (!stages_times(c, rank, back, times)) return true;
    for (size_t b = c->count; b-- > 0;) {
        if (times[b] > 1) return true;
        if (!times[b]) first = b, missing++;
    }
    if (!missing) return true;
    if (missing == c->count)
        return check_fail(c, "calls.never", "On rank %d %s was never called: there are %zu micro-batches.", rank, call,
                          c->count);
    return check_fail(c, "calls.missing", "On rank %d %s was not called for %zu of %zu micro-batches: number %zu%s.",
                      rank, call, missing, c->count, first, missing > 1 ? " is the first" : "");
}

static inline bool stages_none_beyond(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        for (size_t i = 0; i < check_elements(c, rank, "calls"); i++) {
            double call = check_element(c, rank, "calls", i);
            char name[24];
            if (call - (call >= STAGES_BACKWARD ? STAGES_BACKWARD : 0) >= (double)c->count)
                return check_fail(c, "calls.beyond", "Call %zu on rank %d is %s, which does not exist: count is %zu.",
                                  i + 1, rank, stages_name(name, call), c->count);
        }
    return true;
}

/* Each micro-batch forward and back, and no other. */
static inline bool stages_all_called(const check_case *c)
{
    if (!stages_none_beyond(c)) return false;
    for (int rank = 0; rank < c->ranks; rank++)
        if (!stages_none_missing(c, rank, false) || !stages_none_missing(c, rank, true)) return false;
    return true;
}

/* And once. */
static inline bool stages_called(const check_case *c)
{
    if (!stages_all_called(c)) return false;
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t made = check_elements(c, rank, "calls"), times[2][STAGES_MOST] = {{0}};
        for (size_t i = 0; i < made; i++) {
            double call = check_element(c, rank, "calls", i);
            bool back = call >= STAGES_BACKWARD;
            size_t b = (size_t)call - (back ? STAGES_BACKWARD : 0);
            char name[24];
            if (times[back][b]++)
                return check_fail(c, "calls.again", "Call %zu on rank %d is %s once more.", i + 1, rank,
                                  stages_name(name, call));
            if (back && !times[0][b])
                return check_fail(c, "calls.before", "Call %zu on rank %d is %s, before its forward.", i + 1, rank,
                                  stages_name(name, call));
        }
    }
    return true;
}

/* Why there is more bubble than there must be: the key, and words for it. */
typedef struct {
    const char *key, *words;
} stages_why;

#define STAGES_SOMEWHERE ((stages_why){"bubble", "Somewhere a stage waits, or passes on later than it could."})

/* On the network: (p-1)/(m+p-1), to the percent. */
static inline bool stages_bubble(const check_case *c, const char *if_in_turn, stages_why why)
{
    double took = expected_seconds(c), p = c->ranks, m = (double)c->count;
    double computing = m * (STAGES_FORWARD_S + STAGES_BACKWARD_S), is = 1 - computing / took,
           should = (p - 1) / (m + p - 1);
    if (is <= should + 0.01) return true;
    bool in_turn = took >= 0.98 * p * computing;
    return check_slow(
        c, in_turn ? "bubble" : why.key, took / (computing * (m + p - 1) / m),
        "It took %.1f ms, of which each rank has computed for %.1f ms: %.0f%% is bubble. With p = %d stages "
        "and m = %zu micro-batches it is (p-1)/(m+p-1) = %.0f%%. %s",
        1e3 * took, 1e3 * computing, 100 * is, c->ranks, c->count, 100 * should, in_turn ? if_in_turn : why.words);
}

/* Does the last stage send to the first as if it were the next one? With two it is its neighbour, and sends so before backward. */
static inline bool stages_is_ring(const check_case *c, int rank, int peer, unsigned long long most)
{
    int fact = (int)check_element(c, rank, "buffers", 2);
    bool early = fact == STAGES_SENT_EARLY || fact == STAGES_SENT_OPPOSITE;
    p2p_traffic sent = check_traffic(c, rank, peer);
    if (rank == 0 || rank != c->ranks - 1 || peer || (c->ranks == 2 && !early) ||
        sent.messages_sent != most + c->count || sent.bytes_sent < sent.messages_sent * STAGES_WIDTH * sizeof(double))
        return false;
    return !check_fail(
        c, "messages.ring",
        "Rank %d, the last stage, sends rank 0 what its forward has set, %zu messages: the stages are no "
        "ring. The last one has nobody to send to in forward, the first nobody to receive from.",
        rank, c->count);
}

/* Adds behind which call the first message too many was sent. */
static inline void stages_tell_more(const check_case *c, int rank, int peer)
{
    double call = check_number_of(c, rank, peer > rank ? "more" : "more back");
    char name[24];
    if (abs(peer - rank) == 1 && !isnan(call))
        check_because(c, "messages.more", "The first one too many to rank %d is sent behind %s.", peer,
                      stages_name(name, call));
}

/* A message for each micro-batch and direction, to the neighbours only. */
static inline bool stages_contract(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        for (int peer = 0; peer < c->ranks; peer++) {
            p2p_traffic sent = check_traffic(c, rank, peer);
            unsigned long long most = abs(rank - peer) == 1 ? c->count : 0;
            if (stages_is_ring(c, rank, peer, most)) return false;
            if (sent.messages_sent > most || sent.bytes_sent > most * STAGES_WIDTH * sizeof(double)) {
                check_fail(
                    c, "messages",
                    "Rank %d sent %llu messages, %llu bytes, to rank %d; for %zu micro-batches it should be %llu, of "
                    "%zu bytes each. %s",
                    rank, (unsigned long long)sent.messages_sent, (unsigned long long)sent.bytes_sent, peer, c->count,
                    most, STAGES_WIDTH * sizeof(double),
                    sent.messages_sent > most && sent.bytes_sent <= most * STAGES_WIDTH * sizeof(double)
                        ? "The others are empty or shorter: nobody needs to be told that a message has come, or may "
                          "come; a send and a receive wait for each other by themselves."
                        : "What forward has set goes to rank + 1, what backward has set to rank - 1, if there is such "
                          "a rank.");
                stages_tell_more(c, rank, peer);
                return false;
            }
        }
    return true;
}

#endif
