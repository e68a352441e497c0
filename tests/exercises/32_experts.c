/* SPDX-License-Identifier: MIT */
/*
 * The test of exercise 32: each token gets what its expert makes of it, at its own place, up to the capacity; how often
 * and for how many tokens the experts were called, what was sent, and on a virtual network how long it took.
 */
#include "exercises/exercises.h"
#include "p2p/p2p_layer.h"
#include "tests/exercises/ring_contract.h"
#include "tests/exercises/token_trips.h"
#include "tests/exercises/ways.h"

#pragma weak my_apply_experts

enum { WIDTH = 4, MOST_TOKENS = 2 * CHECK_MAX_RANKS, MOST_CALLS = 4 * MOST_TOKENS };
enum { OF_X = 0, OF_TO = 1000, OF_EXPERT = 2000 };
enum { LEFT_IN_Y = 1000, TRIPS = 3 }; /* what y has before; messages from each rank to each */
enum { EVEN, UNEVEN, TIGHT, NO_TOKENS, ALL_TO_ONE, VARIANTS };

#define CALL_S 20e-6
#define TOKEN_S 2e-6

static const char *const words[VARIANTS] = {"2 tokens for each expert on each rank", "rank r has 2r tokens",
                                            "8 tokens on each rank, capacity 2", "no tokens",
                                            "5 tokens on each rank, all for one expert"};

static void cases(check_plan *plan)
{
    static const int ranks[] = {2, 4, 3, 5, 8, 1, 4};
    for (int i = 0; i < 7; i++) {
        check_world(plan, ranks[i], i == 6, i < 2 ? RING_NETWORK : NULL);
        for (int k = 0; k < VARIANTS; k++)
            check_add(plan, (check_case){.variant = k, .dtype = DTYPE_F64, .what = words[k]});
    }
}

static size_t tokens_of(const check_case *c, int rank)
{
    const size_t tokens[VARIANTS] = {2 * (size_t)c->ranks, 2 * (size_t)rank, 8, 0, 5};
    return tokens[c->variant];
}

static size_t capacity_of(const check_case *c)
{
    return c->variant == TIGHT ? 2 : 16;
}

static int expert_of(const check_case *c, int rank, size_t token)
{
    if (c->variant == EVEN) return (int)(token % (size_t)c->ranks);
    if (c->variant == ALL_TO_ONE) return c->ranks / 2;
    return ((int)check_value(c, rank, OF_TO + token) + 100) % c->ranks;
}

/* The how manieth of its rank's tokens for its expert is it? Those from the capacity on stay. */
static size_t number_of(const check_case *c, int rank, size_t token)
{
    size_t before = 0;
    for (size_t i = 0; i < token; i++) before += expert_of(c, rank, i) == expert_of(c, rank, token);
    return before;
}

static bool stays(const check_case *c, int rank, size_t token)
{
    return number_of(c, rank, token) >= capacity_of(c);
}

/* How many tokens go from one rank to another. */
static size_t moved(const check_case *c, int from, int to)
{
    size_t count = 0;
    for (size_t i = 0; i < tokens_of(c, from); i++) count += expert_of(c, from, i) == to && !stays(c, from, i);
    return count;
}

/* How many would go if there were no capacity. */
static size_t wanted(const check_case *c, int from, int to)
{
    size_t count = 0;
    for (size_t i = 0; i < tokens_of(c, from); i++) count += expert_of(c, from, i) == to;
    return count;
}

static void token_of(const check_case *c, int rank, size_t token, double x[WIDTH])
{
    for (size_t w = 0; w < WIDTH; w++) x[w] = check_value(c, rank, OF_X + token * WIDTH + w) / 20;
}

/* The expert of a rank, of one token; in place. */
static void apply_one(const check_case *c, int expert, double x[WIDTH])
{
    double first = x[0];
    for (size_t w = 0; w < WIDTH; w++) {
        double next = w + 1 < WIDTH ? x[w + 1] : first;
        x[w] = check_value(c, expert, OF_EXPERT + w) / 50 * x[w] +
               check_value(c, expert, OF_EXPERT + WIDTH + w) / 50 * next * next;
    }
}

/* ---- In a rank ---- */

typedef struct {
    p2p_comm *comm;
    const check_case *c;
    size_t calls;
    double counts[MOST_CALLS];
} experts_self;

static void apply(const my_experts *experts, size_t count, const double *x, double *y)
{
    experts_self *self = experts->self;
    memmove(y, x, count * WIDTH * sizeof *y);
    for (size_t i = 0; i < count; i++) apply_one(self->c, p2p_rank(self->comm), y + i * WIDTH);
    if (count && self->calls < MOST_CALLS) self->counts[self->calls++] = (double)count;
    if (count) p2p_layer_compute(self->comm, (size_t)((CALL_S + (double)count * TOKEN_S) * EXPECTED_REDUCE_RATE));
}

static void run(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm);
    size_t count = tokens_of(c, rank);
    experts_self self = {.comm = comm, .c = c};
    my_experts experts = {WIDTH, capacity_of(c), apply, &self};
    int *to = check_buffer(c, -1, count, DTYPE_I32);
    double *x = check_buffer(c, -1, count * WIDTH, DTYPE_F64), *y = check_buffer(c, -1, count * WIDTH, DTYPE_F64);
    for (size_t i = 0; i < count; i++) {
        to[i] = expert_of(c, rank, i);
        token_of(c, rank, i, x + i * WIDTH);
    }
    for (size_t i = 0; i < count * WIDTH; i++) y[i] = LEFT_IN_Y;
    token_trips_begin(c, WIDTH, count, x, y);
    check_returned(c, my_apply_experts(comm, &experts, count, to, x, y));
    token_trips_end();
    check_report(c, "y", y, count * WIDTH, DTYPE_F64);
    check_report(c, "x", x, count * WIDTH, DTYPE_F64);
    check_report(c, "counts", self.counts, self.calls, DTYPE_F64);
}

/* ---- In learn: what a token has ---- */

static void compute(const check_case *c, int way, int rank, double *y)
{
    (void)way;
    for (size_t i = 0; i < tokens_of(c, rank); i++, y += WIDTH) {
        token_of(c, rank, i, y);
        if (!stays(c, rank, i)) apply_one(c, expert_of(c, rank, i), y);
    }
}

static size_t count_y(const check_case *c, int rank)
{
    return tokens_of(c, rank) * WIDTH;
}

static const ways_result result = {"y", count_y, 1, compute};

static bool has(const check_case *c, int rank, size_t token, const double is[WIDTH])
{
    for (size_t w = 0; w < WIDTH; w++)
        if (!ways_near(check_element(c, rank, "y", token * WIDTH + w), is[w])) return false;
    return true;
}

/* Has the token what an expert (-1: none) makes of token i of rank q? */
static bool has_of(const check_case *c, int rank, size_t token, int expert, int q, size_t i)
{
    double x[WIDTH];
    token_of(c, q, i, x);
    if (expert >= 0) apply_one(c, expert, x);
    return has(c, rank, token, x);
}

static bool say_untouched(const check_case *c, int rank, size_t token)
{
    const double before[WIDTH] = {LEFT_IN_Y, LEFT_IN_Y, LEFT_IN_Y, LEFT_IN_Y}, zeros[WIDTH] = {0};
    bool is_before = has(c, rank, token, before);
    if (!is_before && !has(c, rank, token, zeros)) return false;
    if (stays(c, rank, token))
        return !check_fail(c, "rest",
                           "In y token %zu of rank %d is %s. It is number %zu of those for expert %d, and %zu may go: "
                           "it stays as it is, y is x.",
                           token, rank, is_before ? "as it was before" : "zeros", number_of(c, rank, token) + 1,
                           expert_of(c, rank, token), capacity_of(c));
    return !check_fail(c, "back",
                       "In y token %zu of rank %d is %s: what expert %d has made of it has not come back to its place.",
                       token, rank, is_before ? "as it was before" : "zeros", expert_of(c, rank, token));
}

static bool some_called(const check_case *c)
{
    bool some = false;
    for (int rank = 0; rank < c->ranks; rank++) some |= check_elements(c, rank, "counts") > 0;
    return some;
}

/* Which tokens have been to no expert, though they should go: all that should; those for their own rank's expert; those
 * that are not the first of all, or not the last for their expert. */
static const char *which_stayed(const check_case *c)
{
    bool all = true, own = true, in_all = true, last = true;
    for (int rank = 0; rank < c->ranks; rank++)
        for (size_t i = 0; i < tokens_of(c, rank); i++) {
            size_t behind = 0;
            for (size_t k = i + 1; k < tokens_of(c, rank); k++)
                behind += expert_of(c, rank, k) == expert_of(c, rank, i);
            bool is_x = has_of(c, rank, i, -1, rank, i), should = stays(c, rank, i);
            all &= is_x;
            own &= is_x == (should || expert_of(c, rank, i) == rank);
            in_all &= is_x == (i >= capacity_of(c));
            last &= is_x == (behind >= capacity_of(c));
        }
    if (all)
        return some_called(c) ? " So it is with all tokens: the experts were called, and what they have made has not "
                                "come back."
                              : " So it is with all tokens: the experts were not called.";
    if (own) return " Its expert is on its own rank, and must see it as well.";
    if (in_all) return " Only the first tokens of all went: the capacity is that of each expert by itself.";
    return last ? " The last ones for each expert went, and not the first." : "";
}

static bool say_capacity(const check_case *c, int rank, size_t token)
{
    int expert = expert_of(c, rank, token);
    size_t number = number_of(c, rank, token) + 1;
    if (stays(c, rank, token) && has_of(c, rank, token, expert, rank, token))
        return !check_fail(c, "capacity",
                           "Token %zu of rank %d has been to expert %d. It is number %zu of those for it, and only the "
                           "first %zu of a rank's tokens may go to an expert.",
                           token, rank, expert, number, capacity_of(c));
    if (stays(c, rank, token) || !has_of(c, rank, token, -1, rank, token)) return false;
    return !check_fail(c, "stays",
                       "In y token %zu of rank %d is x, as if no expert had seen it. It is number %zu of those for "
                       "expert %d, and %zu may go.%s",
                       token, rank, number, expert, capacity_of(c), which_stayed(c));
}

/* Tokens that have come to a rank, and for how many its expert was called. */
static size_t come_to(const check_case *c, int rank, double *called)
{
    size_t come = 0;
    for (int q = 0; q < c->ranks; q++) come += moved(c, q, rank);
    *called = 0;
    for (size_t i = 0; i < check_elements(c, rank, "counts"); i++) *called += check_element(c, rank, "counts", i);
    return come;
}

/* The token has what an expert (-1: none) has made of token i of rank q. */
static bool say_whose(const check_case *c, int rank, size_t token, int expert, int q, size_t i)
{
    const char *made = expert < 0 ? "" : "what an expert has made of ";
    if (stays(c, rank, token))
        return !check_fail(c, "rest",
                           "In y token %zu of rank %d is %stoken %zu of rank %d. It is number %zu of those for expert "
                           "%d, and %zu may go: it stays as it is, y is x.",
                           token, rank, made, i, q, number_of(c, rank, token) + 1, expert_of(c, rank, token),
                           capacity_of(c));
    if (q == rank && check_number_of(c, rank, "back to y") == 1)
        return !check_fail(
            c, "within_y",
            "In y token %zu of rank %d is %stoken %zu. On their way back tokens come to y itself, in the "
            "order of the experts: when they are moved within y, one is overwritten that is still to be "
            "moved.",
            token, rank, made, i);
    if (q == rank && has_of(c, rank, i, expert, q, i))
        return !check_fail(
            c, "place",
            "In y token %zu of rank %d is the same as token %zu: both had the same place in the buffer. A token's "
            "place is behind all that go to experts before its own, and those for its own that come before it.",
            token, rank, i);
    return !check_fail(
        c, q == rank ? "order" : "rank", "In y token %zu of rank %d is %stoken %zu of rank %d. %s", token, rank, made,
        i, q,
        q == rank ? "What comes back lies in the order of the experts; each token goes back to where it was taken from."
                  : "Each rank's tokens come back to it, in the order in which they were sent.");
}

/* Whose result is it? */
static bool say_other(const check_case *c, int rank, size_t token)
{
    int right = expert_of(c, rank, token);
    double twice[WIDTH];
    if (has_of(c, rank, token, right, rank, token) || has_of(c, rank, token, -1, rank, token)) return false;
    for (int expert = 0; expert < c->ranks; expert++)
        if (has_of(c, rank, token, expert, rank, token))
            return !check_fail(c, "expert", "Token %zu of rank %d has been to expert %d%s; to[%zu] is %d.", token, rank,
                               expert, expert == rank ? ", that of its own rank" : "", token, right);
    for (int q = 0; q < c->ranks; q++)
        for (size_t i = 0; i < tokens_of(c, q); i++)
            for (int expert = -1; expert < c->ranks; expert++)
                if (has_of(c, rank, token, expert, q, i)) return say_whose(c, rank, token, expert, q, i);
    token_of(c, rank, token, twice);
    apply_one(c, right, twice);
    for (size_t w = 0; w < WIDTH; w++) twice[w] += check_element(c, rank, "x", token * WIDTH + w);
    if (has(c, rank, token, twice))
        return !check_fail(c, "sum",
                           "In y token %zu of rank %d is what expert %d has made of it plus x: y is what the expert "
                           "makes, in place of x.",
                           token, rank, right);
    token_of(c, rank, token, twice);
    for (int k = 0; k < 2; k++) apply_one(c, right, twice);
    return has(c, rank, token, twice) &&
           !check_fail(c, "twice", "Token %zu of rank %d has been to its expert twice.", token, rank);
}

/* ---- Tokens that are moved as something else than `width` doubles each ---- */

enum { NUMBERS = 4 }; /* places counted in doubles, not in tokens, of: x, sorted; back from sorted, y */

typedef struct {
    size_t in, out;       /* bytes of a token that are moved */
    bool single[NUMBERS]; /* token i begins at i, not at i * width */
    bool turned[2];       /* i and place[i] change roles: to sorted; back */
    const char *words;
} moving;

static const moving movings[] = {
    {WIDTH, WIDTH * sizeof(double), {false}, {false}, "To sorted only `width` bytes of each token were copied"},
    {sizeof(double), WIDTH * sizeof(double), {false}, {false}, "To sorted only one number of each token was copied"},
    {WIDTH * sizeof(double), WIDTH, {false}, {false}, "To y only `width` bytes of each token were copied"},
    {WIDTH * sizeof(double), sizeof(double), {false}, {false}, "To y only one number of each token was copied"},
    {WIDTH, WIDTH, {false}, {false}, "Of each token only `width` bytes were copied, to sorted and to y"},
    {sizeof(double), sizeof(double), {false}, {false}, "Of each token only one number was copied, to sorted and to y"},
    {WIDTH * sizeof(double), WIDTH * sizeof(double), {true}, {false}, "Token i was taken from x + i"},
    {WIDTH * sizeof(double), WIDTH * sizeof(double), {false, true}, {false}, "Token i was put at sorted + place[i]"},
    {WIDTH * sizeof(double),
     WIDTH * sizeof(double),
     {false, false, true},
     {false},
     "Token i was taken from sorted + place[i]"},
    {WIDTH * sizeof(double), WIDTH * sizeof(double), {false, false, false, true}, {false}, "Token i was put at y + i"},
    {WIDTH * sizeof(double),
     WIDTH * sizeof(double),
     {false},
     {true},
     "Token place[i] was put at number i of sorted, and should be put the other way round, token i at number place[i]"},
    {WIDTH * sizeof(double),
     WIDTH * sizeof(double),
     {false},
     {false, true},
     "Number i of sorted was taken back to token place[i], and should be the other way round, number place[i] to token "
     "i"},
    {WIDTH * sizeof(double),
     WIDTH * sizeof(double),
     {false},
     {true, true},
     "Token place[i] was put at number i of sorted and taken back from there, and should be the other way round, token "
     "i at number place[i]"}};

static size_t place_of(const check_case *c, int rank, size_t token)
{
    size_t place = number_of(c, rank, token);
    for (int q = 0; q < expert_of(c, rank, token); q++) place += moved(c, rank, q);
    return place;
}

static void move(const check_case *c, const moving *m, int rank, double *x, double *sorted, double *y)
{
    size_t count = tokens_of(c, rank), step[NUMBERS];
    for (int k = 0; k < NUMBERS; k++) step[k] = m->single[k] ? 1 : WIDTH;
    for (size_t i = 0; i < count; i++) token_of(c, rank, i, x + i * WIDTH);
    for (size_t i = 0; i < count * WIDTH; i++) y[i] = LEFT_IN_Y;
    for (size_t i = 0; i < count; i++) {
        if (stays(c, rank, i)) continue;
        size_t place = place_of(c, rank, i);
        memcpy(sorted + (m->turned[0] ? i : place) * step[1], x + (m->turned[0] ? place : i) * step[0], m->in);
    }
    for (size_t i = 0; i < count; i++)
        if (!stays(c, rank, i)) apply_one(c, expert_of(c, rank, i), sorted + place_of(c, rank, i) * WIDTH);
    for (size_t i = 0; i < count; i++) {
        size_t place = place_of(c, rank, i);
        bool turned = m->turned[1] && !stays(c, rank, i);
        memcpy(y + (turned ? place : i) * step[3],
               stays(c, rank, i) ? x + i * WIDTH : sorted + (turned ? i : place) * step[2], m->out);
    }
}

static bool is_moved(const check_case *c, const moving *m)
{
    bool is = true;
    for (int rank = 0; rank < c->ranks && is; rank++) {
        size_t numbers = count_y(c, rank);
        double *room = calloc(3 * numbers + 1, sizeof *room);
        if (!room) abort();
        double *y = room + 2 * numbers;
        move(c, m, rank, room, room + numbers, y);
        for (size_t i = 0; i < numbers && is; i++) is = ways_near(check_element(c, rank, "y", i), y[i]);
        free(room);
    }
    return is;
}

static bool say_moved(const check_case *c)
{
    for (size_t k = 0; k < sizeof movings / sizeof *movings; k++)
        if (is_moved(c, &movings[k]))
            return !check_fail(c, "moved", "%s.%s", movings[k].words,
                               movings[k].turned[0] || movings[k].turned[1]
                                   ? ""
                                   : " A token is `width` doubles: width * sizeof(double) bytes, and the next one "
                                     "begins `width` numbers behind it.");
    return false;
}

/* What lies at a place in `come` when the expert of that rank has seen it; false: nothing does. */
static bool come_at(const check_case *c, int rank, size_t place, double made[WIDTH])
{
    for (int q = 0; q < c->ranks; q++)
        for (size_t i = 0; i < tokens_of(c, q); i++) {
            if (expert_of(c, q, i) != rank || stays(c, q, i) || place--) continue;
            token_of(c, q, i, made);
            apply_one(c, rank, made);
            return true;
        }
    return false;
}

/* Does each token that should go have what lies at its place in `come`, and is that another one? */
static bool say_from_come(const check_case *c)
{
    bool other = false;
    for (int rank = 0; rank < c->ranks; rank++)
        for (size_t i = 0; i < tokens_of(c, rank); i++) {
            double made[WIDTH];
            if (stays(c, rank, i)) continue;
            if (!come_at(c, rank, place_of(c, rank, i), made) || !has(c, rank, i, made)) return false;
            other |= !has_of(c, rank, i, expert_of(c, rank, i), rank, i);
        }
    return other &&
           !check_fail(
               c, "from_come",
               "In y each token is what lies at place[i] of `come`, where the tokens of all ranks are that came "
               "to this rank's expert. What has been made of this rank's own tokens comes back to `sorted`.");
}

/* Adds which count, or which beginning of a part, is wrong. */
static bool explain_trips(const check_case *c)
{
    token_trips t = {c, moved, wanted, capacity_of(c)};
    return token_trips_explain(&t);
}

static void ended(const check_case *c)
{
    explain_trips(c);
}

static void explain(const check_case *c)
{
    int rank;
    size_t first = ways_first(&result, c, &rank), token = first / WIDTH, right = 0;
    if (say_moved(c) || say_from_come(c)) return;
    if (say_untouched(c, rank, token) || say_other(c, rank, token)) {
        explain_trips(c);
        return;
    }
    if (say_capacity(c, rank, token)) {
        double called;
        int expert = expert_of(c, rank, token);
        size_t come = come_to(c, expert, &called);
        if (!explain_trips(c) && called < (double)come && !*which_stayed(c))
            check_because(c, "called",
                          "Expert %d was called for %.0f tokens; %zu have come to it, and its rank has %zu.", expert,
                          called, come, tokens_of(c, expert));
        return;
    }
    double want[WIDTH];
    token_of(c, rank, token, want);
    if (!stays(c, rank, token)) apply_one(c, expert_of(c, rank, token), want);
    while (right < WIDTH && ways_near(check_element(c, rank, "y", token * WIDTH + right), want[right])) right++;
    check_fail(
        c, "values",
        "In y token %zu of rank %d is neither what expert %d makes of it nor what any other makes of any token.%s",
        token, rank, expert_of(c, rank, token),
        right ? " Its first numbers are right: is it all of its numbers that travel, width * sizeof(double) bytes?"
              : "");
    explain_trips(c);
}

/* ---- What was done for it ---- */

static bool applied(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        double all;
        size_t calls = check_elements(c, rank, "counts"), come = come_to(c, rank, &all);
        if (all != (double)come) {
            check_fail(c, "applied", "Rank %d's expert was called for %.0f tokens together; %zu are for it.%s", rank,
                       all, come,
                       all > (double)come ? " Room that is not used is no token: only so many go as there are." : "");
            explain_trips(c);
            return false;
        }
        if (calls > 1)
            return check_fail(c, "calls",
                              "Rank %d's expert was called %zu times. All that has come lies in one buffer: one call, "
                              "for %zu tokens. Each call takes a while, however few tokens it is for.",
                              rank, calls, come);
    }
    return true;
}

/* To each other rank a number, tokens, and tokens back. */
static bool contract(const check_case *c)
{
    const size_t token = WIDTH * sizeof(double);
    for (int rank = 0; rank < c->ranks; rank++)
        for (int peer = 0; peer < c->ranks; peer++) {
            p2p_traffic sent = check_traffic(c, rank, peer);
            size_t go = moved(c, rank, peer), back = moved(c, peer, rank);
            if (rank == peer) continue;
            if (sent.messages_sent > TRIPS)
                return check_fail(c, "messages",
                                  "Rank %d sent %llu messages to rank %d; %d are enough: how many tokens, all tokens, "
                                  "and all tokens back.",
                                  rank, (unsigned long long)sent.messages_sent, peer, TRIPS);
            if (sent.bytes_sent > sizeof(int64_t) + (go + back) * token)
                return check_fail(c, "bytes",
                                  "Rank %d sent %llu bytes to rank %d. A number has %zu, %zu tokens have %zu, and %zu "
                                  "on their way back %zu.",
                                  rank, (unsigned long long)sent.bytes_sent, peer, sizeof(int64_t), go, go * token,
                                  back, back * token);
        }
    return true;
}

static bool unchanged(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        for (size_t i = 0; i < tokens_of(c, rank) * WIDTH; i++) {
            double x[WIDTH];
            token_of(c, rank, i / WIDTH, x);
            if (check_element(c, rank, "x", i) != x[i % WIDTH])
                return check_fail(c, "x", "On rank %d x has changed, from token %zu on. It is only read.", rank,
                                  i / WIDTH);
        }
    return true;
}

static void seconds(const check_case *c)
{
    double others = c->ranks - 1, took = expected_seconds(c), computing = CALL_S + 2 * c->ranks * TOKEN_S;
    double bytes = sizeof(int64_t) + 4 * WIDTH * sizeof(double);
    double trips = others * (TRIPS * RING_LATENCY_S + bytes / RING_BANDWIDTH);
    if (took <= 1.2 * (trips + computing)) return;
    check_slow(c, "slow", took / (trips + computing),
               "It took %.0f us. The expert takes %.0f us, and %d trips with %.0f messages each %.0f us: %.0f us "
               "together. Yours took %.2g times as long: do all ranks send to the same one at the same time?",
               1e6 * took, 1e6 * computing, TRIPS, others, 1e6 * trips, 1e6 * (trips + computing),
               took / (trips + computing));
}

static void judge(const check_case *c)
{
    if (!ways_right(&result, c, "x"))
        explain(c);
    else if (unchanged(c) && applied(c) && contract(c) && c->network && c->variant == EVEN)
        seconds(c);
}

static const char *const files[] = {"experts.c", NULL};

const check_exercise check_32_experts = {.name = "32_experts",
                                         .idea = "tokens go to the rank of their expert, and come back",
                                         .call = "my_apply_experts",
                                         .files = files,
                                         .hands_on_errors = true,
                                         .library = CHECK_LIBRARY_ALL,
                                         .cases = cases,
                                         .run = run,
                                         .judge = judge,
                                         .judge_ended = ended};
