/* SPDX-License-Identifier: MIT */
/*
 * Choices of ranks, decided one at a time (launch --explore, --schedule). A choice is open until no rank can do anything but
 * wait: then all that can have come has come, and what may be next does not depend on the machine. That moment is found as that
 * for the ports of a virtual network is (ports.c). If nothing may be next, whoever waits does so for ever.
 */
#include <stdlib.h>

#include "p2p/job/orders.h"

/* Looks in vain, one after the other, with nothing else between: each poll that is open has had so many turns. Before ROUNDS_HURRY
 * a rank may still do something else after them, which ends the row. */
enum { STEPS = 4096, ROUNDS_HURRY = 50, ROUNDS_MOST = 100, IDLE_POLLS_MOST = 5000 };

/* First what is received, then what calls are told, then that polls see nothing, last that sends are buffered; by rank, number
 * and option. */
static int class_of(const p2p_step *step)
{
    if (step->kind == CHOICE_SEND) return 3;
    if (step->kind == CHOICE_POLL && step->option == CHOICE_NOTHING) return 2;
    return step->kind == CHOICE_WAIT || step->kind == CHOICE_POLL;
}

static int compare(const void *a, const void *b)
{
    const p2p_step *x = a, *y = b;
    if (class_of(x) != class_of(y)) return class_of(x) - class_of(y);
    if (class_of(x) == 2 && x->number != y->number) return x->number < y->number ? -1 : 1; /* by turns */
    if (x->rank != y->rank) return x->rank - y->rank;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return x->option - y->option;
}

static int add_steps(p2p_step *steps, int count, int rank, const scoreboard_choice *choice)
{
    const scoreboard_choice c = *choice;
    if (c.kind < 0 || c.kind >= CHOICE_KINDS) return count;
    for (int i = 0; i < CHOICE_OPTIONS && count < STEPS; i++)
        if (c.options >> i & 1) steps[count++] = (p2p_step){rank, c.kind, i, c.number, c.blocks != 0, c.held != 0};
    return count;
}

static int list_steps(const p2p_job *job, p2p_step *steps)
{
    int count = 0;
    for (int i = 0; i < job->size; i++) {
        const scoreboard_choices *open = &job->scoreboard->rows[i].choices;
        for (int k = 0; k < open->count && k < SCOREBOARD_CHOICES && !p2p__is_over(&job->watch, i); k++)
            count = add_steps(steps, count, i, &open->open[k]);
    }
    qsort(steps, (size_t)count, sizeof *steps, compare);
    return count;
}

static const scoreboard_call *call_of(const p2p_job *job, const p2p_step *step)
{
    const scoreboard_choices *open = &job->scoreboard->rows[step->rank].choices;
    for (int k = 0; k < open->count && k < SCOREBOARD_CHOICES; k++)
        if (open->open[k].number == step->number) return &open->open[k].call;
    return &job->scoreboard->rows[step->rank].call;
}

static void decide(p2p_job *job, const p2p_step *step)
{
    scoreboard_row *row = &job->scoreboard->rows[step->rank];
    row->choices.number = step->number;
    row->choices.option = step->option;
    row->choices.hurry = job->plan->orders->hurry;
    atomic_fetch_add_explicit(&row->choices.answers, 1, memory_order_release);
    atomic_fetch_add(&row->nudges, 1);
    job->ranks[step->rank].nudges_owed++;
    p2p__nudge(job, step->rank);
}

static bool is_quiet(p2p_job *job)
{
    p2p_rank_set asking;
    if (!p2p__watch_is_quiet(&job->watch, &asking)) return false;
    for (int i = 0; i < job->size; i++) p2p__listen(job, &job->ranks[i], P2P_ALL_MESSAGES);
    return p2p__watch_is_quiet(&job->watch, &asking);
}

/* Nothing may be next: two pictures that are the same show who waits for ever. */
static void judge(p2p_job *job)
{
    p2p_rank_set stuck, can_act;
    for (int i = 0; i < 2; i++)
        if (p2p__watch_look(&job->watch, &stuck, &can_act)) {
            p2p__report_deadlock(job, &stuck, &can_act);
            return;
        }
}

/* Something else may be next, but the search has seen that in other runs: for polls that find nothing without it, it would have
 * no end. And if nothing else may be next at all, they wait for ever. */
static bool is_in_vain(p2p_job *job, const p2p_step *steps, int count)
{
    p2p_orders *orders = job->plan->orders;
    int polls = 0;
    for (int i = 0; i < count; i++) polls += class_of(&steps[i]) == 2;
    orders->hurry = orders->idle > ROUNDS_HURRY * polls;
    if (orders->idle <= ROUNDS_MOST * polls) return false;
    if (p2p__orders_sleeps(orders)) {
        orders->pruned = orders->bounded = true;
        p2p__kill_after(job, 0);
        return true;
    }
    if (orders->idle <= IDLE_POLLS_MOST || class_of(&steps[0]) < 2) return false;
    p2p__fail_polling(job);
    return true;
}

void p2p__choices_look(p2p_job *job)
{
    static p2p_step steps[STEPS];
    p2p_orders *orders = job->plan->orders;
    if (job->failed || job->interrupted || job->killed || job->kill_at || !is_quiet(job) || job->failed) return;
    p2p__see(&job->watch);
    int count = list_steps(job, steps), next = p2p__orders_choose(orders, steps, count);
    orders->idle = next >= 0 && class_of(&steps[next]) == 2 ? orders->idle + 1 : 0;
    if (next == ORDERS_PRUNE || orders->unfit || orders->diverged || orders->no_memory) {
        p2p__kill_after(job, 0);
    } else if (next == ORDERS_STUCK) {
        judge(job);
    } else if (!is_in_vain(job, steps, count)) {
        orders->forks[orders->at - 1].call = p2p__call_copy(call_of(job, &steps[next]));
        decide(job, &steps[next]);
    }
}
