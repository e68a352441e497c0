/* SPDX-License-Identifier: MIT */
/*
 * All orders of a program, each once: a depth-first search over its forks, run again from the beginning for each.
 *
 * Two steps of different choices commute, so orders in which only their turn differs are one (a trace: Mazurkiewicz 1977). Of a
 * fork therefore only one choice is tried, with all its options; another one goes first only if that can change something, which
 * is known afterwards: a message came too late for a choice, and not because of it (a race: Flanagan and Godefroid 2005; for
 * messages, Lei and Carver 2006). What has been run stays asleep behind a step that commutes with it (sleep sets: Godefroid
 * 1996). That choices are decided only when all ranks wait is from POE (Vakkalanka, Gopalakrishnan and Kirby 2008).
 *
 *      fork 0: rank 0 receives from any: 1, 2, 3       run 1: 1   run 3: 2   run 5: 3
 *      fork 1: rank 0 receives from any: the others         2          1          1
 *                                                      run 2: 3   run 4: 3   run 6: 2
 */
#include "p2p/job/orders.h"

#include <stdlib.h>
#include <string.h>

#include "p2p/shared/file.h"

void p2p__orders_settings(p2p_config *config)
{
    config->explore = config->strict = true;
    config->direct = 0;
    config->wait = WAIT_SLEEP;
    config->timeout_ns = 0;
}

/* ---- Steps ---- */

static bool same_choice(const p2p_step *a, const p2p_step *b)
{
    return a->rank == b->rank && a->number == b->number;
}

static bool same_step(const p2p_step *a, const p2p_step *b)
{
    return same_choice(a, b) && a->option == b->option && a->kind == b->kind;
}

static int find_step(const p2p_fork *fork, const p2p_step *step)
{
    for (int i = 0; i < fork->count; i++)
        if (same_step(&fork->steps[i], step)) return i;
    return -1;
}

static const p2p_step *taken(const p2p_orders *o, size_t at)
{
    return &o->forks[at].steps[o->forks[at].taken];
}

/* ---- A run ---- */

static void forget_from(p2p_orders *o, size_t from)
{
    while (o->count > from) {
        o->count--;
        free(o->forks[o->count].steps);
        free(o->forks[o->count].marks);
    }
}

void p2p__orders_begin(p2p_orders *o)
{
    if (o->mode != ORDERS_ALL) forget_from(o, 0);
    o->planned = o->count;
    o->at = o->late_count = o->pick = 0;
    o->idle = 0;
    o->hurry = false;
    o->pruned = o->diverged = o->unfit = false;
}

void p2p__orders_late(p2p_orders *o, int rank, uint32_t number)
{
    if (o->late_count == o->late_room) {
        size_t room = o->late_room ? 2 * o->late_room : 256;
        p2p_late *more = realloc(o->lates, room * sizeof *more);
        if (!more) {
            o->no_memory = true;
            return;
        }
        o->lates = more;
        o->late_room = room;
    }
    o->lates[o->late_count++] = (p2p_late){rank, number, o->at};
}

static p2p_fork *add_fork(p2p_orders *o, const p2p_step *steps, int count)
{
    if (o->count == o->room) {
        size_t room = o->room ? 2 * o->room : 64;
        p2p_fork *more = realloc(o->forks, room * sizeof *more);
        if (!more) return NULL;
        o->forks = more;
        o->room = room;
    }
    p2p_fork *fork = &o->forks[o->count];
    *fork =
        (p2p_fork){.steps = malloc((size_t)count * sizeof *steps), .marks = calloc((size_t)count, 1), .count = count};
    if (!fork->steps || !fork->marks) {
        free(fork->steps);
        free(fork->marks);
        return NULL;
    }
    memcpy(fork->steps, steps, (size_t)count * sizeof *steps);
    o->count++;
    return fork;
}

/* What has been run from the fork before, or slept there, is asleep here if what was taken there has not changed it. */
static void fall_asleep(p2p_orders *o, p2p_fork *fork)
{
    if (o->at == 0) return;
    const p2p_fork *before = &o->forks[o->at - 1];
    for (int i = 0; i < before->count; i++) {
        int here = find_step(fork, &before->steps[i]);
        if (here >= 0 && before->marks[i] & (FORK_DONE | FORK_ASLEEP) && i != before->taken &&
            !same_choice(&before->steps[i], &before->steps[before->taken]))
            fork->marks[here] |= FORK_ASLEEP;
    }
}

/* The first one that does not sleep, and is not only a send. */
static int first_awake(const p2p_fork *fork)
{
    for (int i = 0; i < fork->count; i++)
        if (!(fork->marks[i] & FORK_ASLEEP) && fork->steps[i].kind != CHOICE_SEND) return i;
    return -1;
}

/* All options of what is taken; and what may change them, where no message would tell that it came too late. */
static void want_options(p2p_fork *fork)
{
    const p2p_step *t = &fork->steps[fork->taken];
    bool told = t->held && (t->kind == CHOICE_WAIT || t->kind == CHOICE_POLL);
    for (int i = 0; i < fork->count; i++) {
        const p2p_step *step = &fork->steps[i];
        if (told || same_choice(step, t) || (t->held && step->rank == t->rank)) fork->marks[i] |= FORK_WANTED;
    }
}

static uint64_t next_random(p2p_orders *o)
{
    uint64_t z = o->random += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 (Steele, Lea and Flood 2014) */
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Of a fork that no plan knows. */
static int take_new(p2p_orders *o, p2p_fork *fork)
{
    if (o->mode == ORDERS_RANDOM) return (int)(next_random(o) % (uint64_t)fork->count);
    if (o->mode == ORDERS_ALL) return first_awake(fork);
    unsigned pick = fork->count > 1 && o->pick < o->pick_count ? o->picks[o->pick++] : 0;
    o->unfit = pick >= (unsigned)fork->count;
    return o->unfit ? 0 : (int)pick;
}

int p2p__orders_choose(p2p_orders *o, const p2p_step *steps, int count)
{
    if (!count || steps[0].kind == CHOICE_SEND) return ORDERS_STUCK; /* sends come last */
    if (o->at < o->planned) {
        const p2p_fork *fork = &o->forks[o->at];
        o->diverged = fork->count != count;
        for (int i = 0; i < count && !o->diverged; i++) o->diverged = !same_step(&fork->steps[i], &steps[i]);
        o->at++;
        return fork->taken;
    }
    p2p_fork *fork = add_fork(o, steps, count);
    if (!fork) {
        o->no_memory = true;
        return ORDERS_PRUNE;
    }
    if (o->mode == ORDERS_ALL) fall_asleep(o, fork);
    fork->taken = take_new(o, fork);
    o->at++;
    if (fork->taken < 0) {
        fork->taken = 0;
        o->pruned = true;
        return ORDERS_PRUNE;
    }
    want_options(fork);
    return fork->taken;
}

bool p2p__orders_sleeps(const p2p_orders *o)
{
    const p2p_fork *fork = &o->forks[o->at - 1];
    bool sleeps = false;
    for (int i = 0; i < fork->count; i++)
        sleeps = sleeps || (fork->marks[i] & FORK_ASLEEP && fork->steps[i].kind != CHOICE_SEND);
    return sleeps;
}

void p2p__orders_ended(p2p_orders *o, p2p_job *job)
{
    o->interrupted = job->interrupted;
    o->diverged = o->diverged || o->at < o->planned;
    o->sent = 0;
    for (int i = 0; job->scoreboard && i < job->size; i++) {
        const scoreboard_row *row = &job->scoreboard->rows[i];
        o->sent = o->sent * UINT64_C(0x100000001b3) + row->choices.sent;
        o->bounded = o->bounded || row->choices.bounded;
        o->joined = o->joined || atomic_load(&row->state) != SCOREBOARD_ABSENT;
    }
    if (!job->plan->sinks) return; /* the only run */
    p2p__report_free(&o->report);
    o->report = job->report;
    job->report = (p2p_report){.first = NULL};
}

uint64_t p2p__orders_hash(const p2p_orders *o)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < o->at; i++) {
        const p2p_step *t = taken(o, i);
        p2p_orders one = {.random = (uint64_t)t->rank << 48 ^ (uint64_t)t->number << 8 ^ (uint64_t)t->option};
        if (t->kind != CHOICE_SEND) sum += next_random(&one);
    }
    return sum;
}

/* ---- What happened before what ---- */

typedef struct {
    size_t words;
    uint64_t *bits; /* row j: the steps without which step j could not have been */
} past;

static bool is_before(const past *p, size_t i, size_t j)
{
    return p->bits[j * p->words + i / 64] >> i % 64 & 1;
}

static void put_before(past *p, size_t i, size_t j)
{
    p->bits[j * p->words + i / 64] |= UINT64_C(1) << i % 64;
    for (size_t w = 0; w < p->words; w++) p->bits[j * p->words + w] |= p->bits[i * p->words + w];
}

/* Step j waited for what made it possible: the step before it first was; and its rank for the choice before. */
static bool find_past(const p2p_orders *o, past *p)
{
    p->words = o->at / 64 + 1;
    p->bits = calloc((o->at + 1) * p->words, sizeof *p->bits);
    for (size_t j = 0; p->bits && j < o->at; j++) {
        const p2p_step *step = taken(o, j);
        size_t first = j, i = j;
        while (first > 0 && find_step(&o->forks[first - 1], step) >= 0) first--;
        if (first > 0) put_before(p, first - 1, j);
        while (i > 0 && !(taken(o, i - 1)->rank == step->rank && taken(o, i - 1)->blocks)) i--;
        if (i > 0 && taken(o, i - 1)->number < step->number) put_before(p, i - 1, j);
    }
    return p->bits;
}

/* ---- The next run ---- */

static void want_all(p2p_fork *fork)
{
    for (int i = 0; i < fork->count; i++) fork->marks[i] |= FORK_WANTED;
}

/* Step `cause` made a message come that the choice of fork k could have taken. If that need not be behind it: so that it comes
 * before, a step on its way has to go first. */
static void want_earlier(p2p_orders *o, const past *p, size_t k, size_t cause)
{
    p2p_fork *fork = &o->forks[k];
    int first = -1;
    for (size_t v = k + 1; v <= cause; v++) {
        bool on_the_way = (v == cause || is_before(p, v, cause)) && !is_before(p, k, v), initial = true;
        for (size_t w = k + 1; w < v && on_the_way; w++)
            if (is_before(p, w, v) && !is_before(p, k, w)) initial = false;
        if (!on_the_way || !initial) continue;
        int here = find_step(fork, taken(o, v));
        if (here < 0) {
            want_all(fork);
            return;
        }
        if (fork->marks[here] & FORK_WANTED) return;
        if (first < 0) first = here;
    }
    if (first >= 0) fork->marks[first] |= FORK_WANTED;
}

/* Step i ended sends that were waiting for their receives. What their ranks did then need not be behind it, nor behind fork k:
 * sends may be buffered, as soon as they wait. */
static void want_buffered(p2p_orders *o, size_t k, size_t i)
{
    const p2p_fork *fork = &o->forks[i];
    for (int s = fork->count - 1; s >= 0 && fork->steps[s].kind == CHOICE_SEND; s--) {
        bool ended = i + 1 == o->at || find_step(&o->forks[i + 1], &fork->steps[s]) < 0;
        size_t first = i;
        int here = s;
        for (int at; ended && first > k && (at = find_step(&o->forks[first - 1], &fork->steps[s])) >= 0; first--)
            here = at;
        if (ended && !(i == first && s == fork->taken)) o->forks[first].marks[here] |= FORK_WANTED;
    }
}

static void find_races(p2p_orders *o)
{
    past p;
    if (!o->late_count) return;
    if (!find_past(o, &p)) {
        o->no_memory = true;
        return;
    }
    for (size_t i = 0; i < o->late_count; i++) {
        const p2p_late *late = &o->lates[i];
        size_t k = 0, cause = late->at - 1;
        while (k < o->at && !(taken(o, k)->rank == late->rank && taken(o, k)->number == late->number)) k++;
        if (late->at <= k || k == o->at || cause >= o->at) continue;
        if (cause != k && !is_before(&p, k, cause)) want_earlier(o, &p, k, cause);
        for (size_t at = k; at <= cause; at++)
            if ((at == k || is_before(&p, k, at)) && (at == cause || is_before(&p, at, cause))) want_buffered(o, k, at);
    }
    free(p.bits);
}

bool p2p__orders_next(p2p_orders *o)
{
    if (o->mode == ORDERS_RANDOM) return true;
    find_races(o);
    for (; o->count > 0; forget_from(o, o->count - 1)) {
        p2p_fork *fork = &o->forks[o->count - 1];
        fork->marks[fork->taken] |= FORK_DONE;
        for (int i = 0; i < fork->count; i++)
            if (fork->marks[i] == FORK_WANTED) {
                fork->taken = i;
                return true;
            }
    }
    return false;
}

void p2p__orders_deepen(p2p_orders *o)
{
    forget_from(o, 0);
    o->bounded = false;
    o->looks++;
}

size_t p2p__orders_open(const p2p_orders *o)
{
    size_t open = o->count > 0; /* the one that is planned */
    for (size_t at = 0; at < o->count; at++)
        for (int i = 0; i < o->forks[at].count; i++)
            if (o->forks[at].marks[i] == FORK_WANTED && i != o->forks[at].taken) open++;
    return open;
}

void p2p__orders_free(p2p_orders *o)
{
    forget_from(o, 0);
    p2p__report_free(&o->report);
    free(o->forks);
    free(o->lates);
    free(o->picks);
}
