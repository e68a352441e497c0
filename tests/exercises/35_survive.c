/* SPDX-License-Identifier: MIT */
/*
 * The test of exercise 35: ranks are killed in steps, between them, and while they come back; the parameters must be the
 * same, and the steps not begun again from the first. All numbers are exact: what differs was computed from something else.
 */
#include "exercises/exercises.h"
#include "tests/exercises/survive_talk.h"
#include "tests/exercises/ways.h"

#pragma weak my_survive

enum { STEPS = 5, MOST_CALLS = 64, MOST = 256 /* parameters */ };
static const double rate = 0.125, momentum = 0.5;

static const struct {
    int ranks, more; /* than four parameters a rank */
    const char *what;
    int deaths;
    check_death death[2]; /* rank, step, call */
} tried[] = {
    {3, 1, "rank 1 dies before step 2", 1, {{1, 2, 0, true}}},
    {3, 2, "rank 2 dies in step 3, before its second call", 1, {{2, 3, 2, false}}},
    {3, 0, "rank 0 dies in step 1, before its third call", 1, {{0, 1, 3, true}}},
    {3, 1, "rank 1 dies in step 0, before its first call", 1, {{1, 0, 1, false}}},
    {3, 2, "rank 2 dies before step 2, rank 1 soon after it", 2, {{2, 2, 0, false}, {1, CHECK_NEXT_STEP, 2, false}}},
    {3, 1, "rank 0 dies in the last step, before its third call", 1, {{0, 4, 3, true}}},
    {5, 1, "rank 4 dies in step 3, before its third call", 1, {{4, 3, 3, true}}},
    {5, 3, "rank 2 dies before step 2, and again soon", 2, {{2, 2, 0, false}, {2, -1, 2, false}}},
    {2, 1, "rank 0 dies before step 3", 1, {{0, 3, 0, false}}},
    {1, 1, "rank 0 dies before step 2", 1, {{0, 2, 0, false}}}};

static check_case case_of(int ranks, size_t more, const char *what)
{
    return (check_case){.count = 4 * (size_t)ranks + more, .dtype = DTYPE_F64, .what = what, .shows = CHECK_SHOW_COUNT};
}

static void cases(check_plan *plan)
{
    check_world(plan, 4, false, NULL);
    check_add(plan, case_of(4, 185, "no rank dies"));
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        check_case c = case_of(tried[i].ranks, (size_t)tried[i].more, tried[i].what);
        if (!i || tried[i].ranks != tried[i - 1].ranks)
            check_world_that_repairs(plan, tried[i].ranks, tried[i].ranks == 5);
        c.deaths = tried[i].deaths;
        c.death[0] = tried[i].death[0];
        c.death[1] = tried[i].death[1];
        check_add(plan, c);
    }
}

/* ---- Data ---- */

static double target_of(const check_case *c, int rank, int step, size_t i)
{
    return check_value(c, rank, (size_t)step * c->count + i);
}

static double gradient_of(const check_case *c, int rank, int step, size_t i, double parameter)
{
    return (parameter - target_of(c, rank, step, i)) / 4;
}

/* ---- In a rank ---- */

typedef struct {
    const check_case *c;
    p2p_comm *world;
    int32_t *calls; /* generation and step of each */
    size_t count;
} own;

static void gradient(const my_training *t, int step, const double *parameters, double *g)
{
    own *o = t->self;
    check_step(o->c, step);
    if (o->count < MOST_CALLS) {
        o->calls[2 * o->count] = p2p_generation(o->world);
        o->calls[2 * o->count++ + 1] = step;
    }
    for (size_t i = 0; i < t->count; i++) g[i] = gradient_of(o->c, p2p_rank(o->world), step, i, parameters[i]);
}

static void run(p2p_comm *comm, const check_case *c)
{
    double *parameters = check_buffer(c, -1, c->count, DTYPE_F64);
    own o = {c, comm, check_buffer(c, -1, 2 * MOST_CALLS, DTYPE_I32), 0};
    const my_training training = {c->count, STEPS, rate, momentum, gradient, &o};
    for (size_t i = 0; i < c->count; i++) parameters[i] = check_common(c, i);
    check_report(c, "before", parameters, c->count, DTYPE_F64);
    survive_talk_begin(&comm);
    p2p_err err = my_survive(&comm, &training, parameters);
    survive_talk_end(c);
    check_returned(c, err);
    check_number(c, "returned", err);
    check_report(c, "parameters", parameters, c->count, DTYPE_F64);
    check_report(c, "calls", o.calls, 2 * o.count, DTYPE_I32);
}

/* ---- In learn: who took which step, in which generation of the world ---- */

static int call_of(const check_case *c, int rank, size_t k, bool step)
{
    return (int)check_element(c, rank, "calls", 2 * k + step);
}

static size_t calls_of(const check_case *c, int rank)
{
    return check_elements(c, rank, "calls") / 2;
}

/* The first step that a rank began in each generation; -1 if it began none there. */
static int first_in(const check_case *c, int rank, int generation)
{
    for (size_t k = 0; k < calls_of(c, rank); k++)
        if (call_of(c, rank, k, false) == generation) return call_of(c, rank, k, true);
    return -1;
}

/* The step that all went on from after a death. */
static int step_after(const check_case *c, int death)
{
    int base = call_of(c, 0, 0, false), step = -1;
    for (int rank = 0; rank < c->ranks; rank++)
        if (call_of(c, rank, 0, false) < base) base = call_of(c, rank, 0, false);
    for (int rank = 0; rank < c->ranks && step < 0; rank++) step = first_in(c, rank, base + death + 1);
    return step;
}

/* ---- In learn: values ---- */

enum { RIGHT, LOST, OLD, NEIGHBOURS, RIGHTS, STALE, FIRST_AGAIN, LOST_LATER, OTHERS_LATER, AHEAD, WAYS };

static const struct {
    const char *key, *words;
} ways[WAYS] = {
    [LOST] = {"lost", "it began with zeros in its new process, though it is what only this rank had: its neighbour has "
                      "a copy."},
    [OLD] = {"old", "it is that of the step before: was the copy made before the step, or not in each step?"},
    [NEIGHBOURS] = {"whose",
                    "it is another rank's, that of the rank to its left: each rank has its own velocity and the "
                    "copy of that rank's, and needs back both."},
    [RIGHTS] = {"whose",
                "it is that of the rank to its right: what is to be sent is that rank's copy of it, s->copy, and "
                "not its own."},
    [STALE] = {"stale",
               "it is that of the step before, and so are its parameters: the other of the two states was given "
               "back."},
    [AHEAD] = {"ahead", "those that were a step further took it again from what they had behind it: only the number "
                        "of their step went back, and not their state."},
    [FIRST_AGAIN] = {"parameters", "its parameters were those of the beginning, and its gradient was computed from "
                                   "them: they have to come from another rank."},
    [LOST_LATER] = {"copy",
                    "the first death was made good, but the rank that was new then has not got the copy that it "
                    "keeps for the rank to its left, which was the next to die."},
    [OTHERS_LATER] = {
        "copy", "the first death was made good, but the rank that was new then has got another rank's as its copy "
                "for the rank to its left, which was the next to die: that one is to send its own velocity, and "
                "not the copy that it keeps itself."}};

static size_t count_all(const check_case *c, int rank)
{
    (void)rank;
    return c->count;
}

/* Had a rank begun a later step than this before the first death? */
static bool was_ahead(const check_case *c, int rank, int step)
{
    int base = call_of(c, rank, 0, false);
    bool ahead = false;
    for (size_t k = 0; k < calls_of(c, rank); k++)
        ahead |= call_of(c, rank, k, false) == base && call_of(c, rank, k, true) > step;
    return ahead && rank != c->death[0].rank;
}

/* Number i behind this step, taken by all from p and v; then taken again by those that were ahead, from what came of it. */
static void step_from_ahead(const check_case *c, int step, size_t i, double *p, double *v)
{
    double sum = 0, first = 0;
    for (int q = 0; q < c->ranks; q++) first += gradient_of(c, q, step, i, *p);
    double v_after = momentum * *v + first, p_after = *p - rate * v_after;
    for (int q = 0; q < c->ranks; q++) sum += gradient_of(c, q, step, i, was_ahead(c, q, step) ? p_after : *p);
    bool ahead = was_ahead(c, ring_owner(c->count, c->ranks, i), step);
    *v = momentum * (ahead ? v_after : *v) + sum;
    *p = (ahead ? p_after : *p) - rate * *v;
}

/* Of chunk q, when rank q's new process goes on before step `step`. */
static void spoil(const check_case *c, int way, int q, double *v, const double *before)
{
    size_t first = ring_begin(c->count, c->ranks, q), length = ring_length(c->count, c->ranks, q);
    int left = (q + (way == RIGHTS ? 1 : c->ranks - 1)) % c->ranks;
    size_t others = ring_begin(c->count, c->ranks, left), most = ring_length(c->count, c->ranks, left);
    double theirs[MOST];
    for (size_t i = 0; i < length; i++) theirs[i] = i < most ? v[others + i] : 0;
    for (size_t i = 0; i < length; i++) {
        if (way == LOST || way == LOST_LATER) v[first + i] = 0;
        if (way == OLD || way == STALE) v[first + i] = before[first + i];
        if (way == NEIGHBOURS || way == RIGHTS || way == OTHERS_LATER) v[first + i] = theirs[i];
    }
}

/* All ranks have the same parameters, but a new one where it has others (`theirs`). */
static void compute(const check_case *c, int way, int rank, double *p)
{
    double v[MOST] = {0}, before[MOST] = {0}, last[MOST] = {0}, theirs[MOST] = {0};
    (void)rank;
    for (size_t i = 0; i < c->count; i++) p[i] = last[i] = check_common(c, i);
    for (int step = 0; step < STEPS; step++) {
        int other = -1;
        for (int d = way == LOST_LATER || way == OTHERS_LATER; d < c->deaths; d++)
            if (way && step_after(c, d) == step) {
                spoil(c, way, c->death[d].rank, v, before);
                other = way == FIRST_AGAIN || way == STALE ? c->death[d].rank : -1;
            }
        if (way == AHEAD && c->deaths && step_after(c, 0) == step) {
            for (size_t i = 0; i < c->count; i++) step_from_ahead(c, step, i, &p[i], &v[i]);
            continue;
        }
        for (size_t i = 0; i < c->count; i++) {
            double sum = 0;
            theirs[i] = way == STALE ? last[i] : check_common(c, i);
            for (int q = 0; q < c->ranks; q++) sum += gradient_of(c, q, step, i, q == other ? theirs[i] : p[i]);
            before[i] = v[i];
            v[i] = momentum * v[i] + sum;
        }
        for (size_t i = 0; i < c->count; i++) {
            bool its = other >= 0 && i >= ring_begin(c->count, c->ranks, other) &&
                       i < ring_begin(c->count, c->ranks, other) + ring_length(c->count, c->ranks, other);
            last[i] = p[i];
            p[i] = (its ? theirs[i] : p[i]) - rate * v[i];
        }
    }
}

static const ways_result parameters = {"parameters", count_all, WAYS, compute};

static void explain(const check_case *c)
{
    int way = ways_find(&parameters, c);
    if (way < 0) return;
    const check_death *d = &c->death[way == LOST_LATER || way == OTHERS_LATER];
    check_fail(c, ways[way].key, "Rank %d was killed. %s: %s", d->rank,
               way == FIRST_AGAIN    ? "When it went on"
               : way == AHEAD        ? "All went on with the same step"
               : way == LOST_LATER   ? "Its velocity began with zeros"
               : way == OTHERS_LATER ? "Its velocity began with another rank's"
                                     : "The parameters are what comes out with another velocity of its chunk",
               ways[way].words);
}

/* ---- Steps ---- */

/* Has a rank returned this error? Which one. */
static int who_returned(const check_case *c, p2p_err err)
{
    for (int rank = 0; rank < c->ranks; rank++)
        if (check_number_of(c, rank, "returned") == (double)err) return rank;
    return -1;
}

/* No rank has come beyond the first step, and all are as they were launched. */
static bool is_before_all(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        if (calls_of(c, rank) != 1 || call_of(c, rank, 0, true) != 0 ||
            call_of(c, rank, 0, false) != call_of(c, 0, 0, false))
            return false;
    return true;
}

/* Did ranks wait for each other before any has died? */
static bool exchanges(const check_case *c)
{
    int rank = who_returned(c, P2P_ERR_DEADLOCK);
    if (rank < 0 || !is_before_all(c)) return true;
    return check_fail(c, "exchange",
                      "On rank %d it returned P2P_ERR_DEADLOCK in the first step, before any rank was killed. What is "
                      "yours in a step is exchange_copies: there all ranks wait for one another. In a strict world a "
                      "send waits for its receive, and who sends first does not come to its own.",
                      rank);
}

/* A rank whose receive had too little room returns that; the others then find it gone, or wait for it. */
static bool talk(const check_case *c)
{
    char returned[60];
    int too_long = who_returned(c, P2P_ERR_TRUNCATE), waits = who_returned(c, P2P_ERR_DEADLOCK), generation = -1;
    snprintf(returned, sizeof returned, "On rank %d it returned %s.", too_long >= 0 ? too_long : waits,
             too_long >= 0 ? "P2P_ERR_TRUNCATE" : "P2P_ERR_DEADLOCK");
    if (!c->deaths) return too_long < 0 || !survive_talk_lengths(c, returned);
    if (too_long < 0 && waits < 0) return true;
    for (int rank = 0; rank < c->ranks; rank++)
        for (size_t k = 0; k < survive_talk_made(c, rank); k++) {
            int its = survive_talk_fact(c, rank, k, 0);
            generation = its > generation ? its : generation;
        }
    for (int d = c->deaths - 1; d >= 0; d--)
        if (survive_talk_given(c, c->death[d].rank, generation, returned)) return false;
    return true;
}

/* A rank goes on with a step that is none. */
static void fail_no_step(const check_case *c, int rank, int step)
{
    bool is_new = false;
    for (int d = 0; d < c->deaths; d++) is_new |= c->death[d].rank == rank;
    if (is_new)
        check_fail(c, "no_step",
                   "After rank %d was killed rank %d went on with step %d, which is none: a new process is in the step "
                   "that all have agreed on once it has been given that state.",
                   c->death[0].rank, rank, step);
    else
        check_fail(c, "no_state",
                   "After rank %d was killed rank %d, which lived on, went on with step %d, which is none. It was "
                   "further than others and has gone back to its other state, that of the step before: was that "
                   "marked as none, as if it were the one that was begun?",
                   c->death[0].rank, rank, step);
}

/* After each repair all ranks go on with the same step. */
static void judge_first(const check_case *c)
{
    if (!exchanges(c) || !talk(c)) return;
    for (int rank = 0; rank < c->ranks; rank++)
        for (size_t k = 0; k < calls_of(c, rank); k++) {
            int generation = call_of(c, rank, k, false), step = first_in(c, rank, generation);
            for (int other = 0; other < rank; other++) {
                int theirs = first_in(c, other, generation);
                if (theirs < 0 || theirs == step) continue;
                if (step < 0) {
                    fail_no_step(c, rank, step);
                    return;
                }
                check_fail(c, "apart",
                           "After rank %d was killed rank %d went on with step %d, and rank %d with step %d. Some had "
                           "come further than others: they have to agree on the step that all of them can go on from, "
                           "the lowest, and those that are further go back to it.",
                           c->death[0].rank, other, theirs, rank, step);
                return;
            }
        }
}

/* Nobody goes back further than to the step before the one in which a rank died. */
static bool not_from_the_first(const check_case *c)
{
    for (int d = 0; d < c->deaths && c->ranks > 1; d++) {
        int from = step_after(c, d);
        if (from < 0 || from >= c->death[d].step - 1) continue;
        return check_fail(c, "again",
                          "Rank %d was killed in step %d, and all went on with step %d, though the others have their "
                          "state: does a new process, which is in no step, count as one that is in the first?",
                          c->death[d].rank, c->death[d].step, from);
    }
    return true;
}

/* None is left out, and no more than two for each death are taken again. */
static bool steps(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t count = calls_of(c, rank), most = STEPS + 2 * (size_t)c->deaths;
        if (c->ranks > 1 && count > most)
            return check_fail(c, "again",
                              "Rank %d computed %zu gradients. There are %d steps, and for each death two may be taken "
                              "again, together %zu: were all begun from the first? The others still have their state.",
                              rank, count, STEPS, most);
        for (size_t k = 1; k < count; k++)
            if (call_of(c, rank, k, true) > call_of(c, rank, k - 1, true) + 1)
                return check_fail(c, "skipped", "Rank %d went on with step %d after step %d: one was left out.", rank,
                                  call_of(c, rank, k, true), call_of(c, rank, k - 1, true));
    }
    return true;
}

/* ---- What is sent where no rank dies ---- */

static void contract(const check_case *c)
{
    double n = c->ranks, buffer = (double)(c->count * sizeof(double)), slack = 4 * n * sizeof(double);
    for (int rank = 0; rank < c->ranks && !c->deaths; rank++) {
        double bytes = (double)check_sent(c, rank).bytes_sent, most = STEPS * (2 * (n - 1) / n + 1 / n) * buffer;
        if (bytes <= most + STEPS * slack) continue;
        check_fail(c, "bytes",
                   "Rank %d sent %.4g times the parameters' bytes in each step. Exercise 25 sends 2(n-1)/n = %.4g "
                   "times, and a copy of the velocity's chunk is 1/n = %.4g more.",
                   rank, bytes / buffer / STEPS, 2 * (n - 1) / n, 1 / n);
        return;
    }
}

/* The copies of velocity go where all else goes. */
static bool to_the_right(const check_case *c)
{
    for (int rank = 0; rank < c->ranks && !c->deaths; rank++) {
        int left = (rank + c->ranks - 1) % c->ranks;
        unsigned long long bytes = check_traffic(c, rank, left).bytes_sent;
        if (c->ranks < 3 || !bytes) continue;
        return check_fail(c, "to_the_left",
                          "Rank %d sent %llu bytes to rank %d, the one to its left. A copy of the velocity goes to the "
                          "right, and the left one's comes: after a death give_back and find look for it there.",
                          rank, bytes, left);
    }
    return true;
}

/* To nine digits the parameters are right, and no sum is rounded: the same bits come out, in whatever order it is added up. */
static bool right_bits(const check_case *c)
{
    double *numbers = ways_computed(&parameters, c, RIGHT, 0);
    for (int rank = 0; rank < c->ranks; rank++) ways_judged.right[rank] = numbers;
    bool right = check_values(c, "bits.other", "parameters", NULL, NULL, ways_want);
    free(numbers);
    return right ||
           check_fail(c, "bits.other",
                      "Nine digits are right, but not every bit: parameters and velocity are to go on from the very "
                      "bits that they had. Were they computed again, or in another way, or are they kept as a float?");
}

static void judge(const check_case *c)
{
    if (!not_from_the_first(c)) return;
    if (!ways_right(&parameters, c, "before"))
        explain(c);
    else if (steps(c) && check_same_bits(c, "bits", "parameters") && right_bits(c) && to_the_right(c))
        contract(c);
}

static const char *const files[] = {"survive.c", NULL};

const check_exercise check_35_survive = {.name = "35_survive",
                                         .idea = "a rank dies in the middle, and nothing is lost",
                                         .call = "my_survive",
                                         .files = files,
                                         .library = CHECK_LIBRARY_ALL,
                                         .cases = cases,
                                         .run = run,
                                         .judge_first = judge_first,
                                         .judge = judge};
