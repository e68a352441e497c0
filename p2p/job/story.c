/* SPDX-License-Identifier: MIT */
/* What launch --explore says: the story of an order that is wrong, or that none is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "p2p/job/orders.h"
#include "p2p/shared/cli.h"
#include "p2p/shared/words.h"

enum { STEPS_TOLD = 24, LINES_TOLD = 12 };

/* "took the message of rank 2; there as well: of ranks 1,3" */
static void tell_taken(p2p_words *w, const p2p_fork *fork)
{
    const p2p_step *t = &fork->steps[fork->taken];
    p2p_rank_set others = {{0}};
    int others_count = 0;
    for (int i = 0; i < fork->count; i++) {
        const p2p_step *step = &fork->steps[i];
        if (i == fork->taken || step->rank != t->rank || step->number != t->number) continue;
        if (step->option != CHOICE_NOTHING) p2p__set_add(&others, step->option);
        others_count += step->option != CHOICE_NOTHING;
    }
    if (t->kind == CHOICE_SEND) {
        p2p__add(w, " did not wait for its receive: it was buffered");
    } else if (t->option == CHOICE_NOTHING) {
        p2p__add(w, " found nothing%s", others_count ? ", though something had come" : "");
    } else if (t->kind == CHOICE_WAIT) {
        p2p__add(w, " gave request %d", t->option);
        if (others_count) p2p__add_ranks(w, "; ended as well: ", &others, CHOICE_OPTIONS);
    } else if (t->kind == CHOICE_RECEIVE || t->kind == CHOICE_PROBE) {
        p2p__add(w, " %s the message of rank %d", t->kind == CHOICE_PROBE ? "saw" : "took", t->option);
        if (others_count)
            p2p__add_ranks(w, others_count > 1 ? "; there as well: of ranks " : "; there as well: of rank ", &others,
                           CHOICE_OPTIONS);
    } else {
        p2p__add(w, " found what had come");
    }
}

static bool is_choice(const p2p_fork *fork)
{
    const p2p_step *t = &fork->steps[fork->taken];
    int options = 0;
    for (int i = 0; i < fork->count; i++)
        options += fork->steps[i].rank == t->rank && fork->steps[i].number == t->number;
    return options > 1 || t->kind == CHOICE_SEND;
}

/* Where this run parts from the one before. */
static bool parts_at(const p2p_orders *o, size_t i)
{
    return o->mode == ORDERS_ALL && i + 1 == o->planned;
}

/* The choices of this run, the last ones if they are many. */
static void tell_steps(const p2p_orders *o)
{
    size_t choices = 0, skip = 0, told = 0;
    for (size_t i = 0; i < o->at; i++) choices += is_choice(&o->forks[i]) || parts_at(o, i);
    if (choices > STEPS_TOLD) skip = choices - STEPS_TOLD;
    if (skip) printf("  (%zu choices before)\n", skip);
    for (size_t i = 0; i < o->at; i++) {
        p2p_words w = {.used = 0};
        const p2p_fork *fork = &o->forks[i];
        if ((!is_choice(fork) && !parts_at(o, i)) || told++ < skip) continue;
        p2p__add(&w, "  %zu. rank %d: ", told, fork->steps[fork->taken].rank);
        p2p__add_call(&w, "", &fork->call);
        tell_taken(&w, fork);
        if (parts_at(o, i)) p2p__add(&w, " (the run before parts here)");
        p2p__words_of(fork->call.name, w.text, sizeof w.text);
        puts(w.text);
    }
}

static void tell_text(const char *text)
{
    for (; *text; text += strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n'))
        printf("    %.*s\n", (int)strcspn(text, "\n"), text);
}

/* The lines of one text that are not at the same place in the other. */
static void tell_difference(const char *title, const char *text, const char *other)
{
    int told = 0;
    printf("%s\n", title);
    while (*text && told < LINES_TOLD) {
        size_t length = strcspn(text, "\n"), other_length = strcspn(other, "\n");
        if (length != other_length || memcmp(text, other, length) != 0) {
            printf("    %.*s\n", (int)length, text);
            told++;
        }
        text += length + (text[length] == '\n');
        other += other_length + (other[other_length] == '\n');
    }
}

static void add_place(const p2p_fork *fork, p2p_finding *f)
{
    int rank = fork->steps[fork->taken].rank;
    p2p_words w = {.used = 0};
    p2p__set_add(&f->what.ranks, rank);
    p2p_place *place = p2p__finding_add(f, ROLE_CALL, rank, &fork->call);
    tell_taken(&w, fork);
    snprintf(place->chose, sizeof place->chose, "%s", w.text + (w.text[0] == ' '));
}

/* For programs: the choices, first that which parts this run from the one before. */
static void add_race(p2p_exploration *x, int reason, const char *text)
{
    p2p_words w = {.used = 0};
    const p2p_orders *o = &x->orders;
    size_t first = 0;
    while (first < o->at && !is_choice(&o->forks[first])) first++;
    if (first == o->at) return;
    p2p_finding *f = p2p__report_add(&x->orders.report, CLASS_MESSAGE_RACE, reason, -1);
    for (size_t i = 0; i < o->at; i++)
        if (parts_at(o, i)) add_place(&o->forks[i], f);
    for (size_t i = 0; i < o->at; i++)
        if (!parts_at(o, i) && is_choice(&o->forks[i])) add_place(&o->forks[i], f);
    p2p__add(&w, "%s", text);
    p2p__finding_say(f, &w);
}

/* The schedule alone is the last line. */
static void tell_again(const p2p_exploration *x, bool with_command)
{
    char *schedule = p2p__schedule_write(&x->orders, x->plan->size, x->program);
    if (!schedule) return;
    if (with_command) {
        printf("to see it again: %slaunch --schedule %s -n %d", p2p__cli_prefix(), schedule, x->plan->size);
        for (int i = 0; x->program[i]; i++) printf(" %s", x->program[i]);
        printf("\n");
    }
    puts(schedule);
    free(schedule);
}

void p2p__tell_wrong(p2p_exploration *x)
{
    const p2p_outcome *o = x->runs == 1 ? &x->first : &x->last;
    bool differs = !o->status;
    if (x->runs == 1)
        add_race(x, REASON_FIRST, "the first order that was run is wrong; others were not");
    else
        add_race(x, REASON_NONE,
                 differs ? "what the program prints depends on which message comes first"
                         : "whether the program is right depends on which message comes first");
    if (!x->options->quiet) {
        if (x->runs == 1)
            printf("the first order that was run is wrong already:\n");
        else
            printf("order %llu of this program is wrong; those before it are right:\n",
                   (unsigned long long)(x->orders_finished + x->distinct));
        tell_steps(&x->orders);
        if (differs) {
            tell_difference("  then it printed", o->out, x->first.out);
            tell_difference("  and in the first order", x->first.out, o->out);
        } else {
            printf("  then it ended with status %d:\n", o->status);
            tell_text(o->err);
        }
    }
    tell_again(x, !x->options->quiet);
}

/* The last search was one with more looks in vain, and was not finished: the one before was. */
static bool stopped_deeper(const p2p_exploration *x)
{
    return !x->options->random && x->finished && x->finished == (uint64_t)x->orders.looks;
}

static void tell_bound(const p2p_exploration *x)
{
    const p2p_orders *o = &x->orders;
    bool deeper = stopped_deeper(x);
    int looks = deeper ? o->looks - 1 : o->looks;
    if (!deeper && !o->bounded) return;
    printf("polls are bounded: each sees what has come at once%s, or as late as can be\n",
           looks == 0   ? ""
           : looks == 1 ? ", after one look in vain"
           : looks == 2 ? ", after one or two looks in vain"
                        : ", after one to three looks in vain");
}

void p2p__tell_right(p2p_exploration *x, bool all)
{
    unsigned long long orders = stopped_deeper(x) ? x->orders_finished : x->distinct;
    size_t open = p2p__orders_open(&x->orders);
    if (x->options->quiet) { /* the order of the first run */
        x->orders.at = 0;
        tell_again(x, false);
        return;
    }
    if (x->options->random)
        printf("%llu runs in random order, %llu orders: none is wrong\n", (unsigned long long)x->runs, orders);
    else if (!all)
        printf("not finished: %llu of at least %llu orders are right\n", orders, orders + open);
    else if (orders == 1)
        printf("there is one order, and it is right: nothing in this program depends on what comes first\n");
    else
        printf("all %llu orders are right\n", orders);
    tell_bound(x);
    if (x->cut) {
        printf("in the next one the time was over; there\n");
        tell_text(x->last.err);
    }
    if (orders > 1 && x->unsteady)
        printf("what it prints was not compared: it is not the same twice in the same order\n");
    else if (orders > 1)
        printf("a benign message race: the output is the same in each%s\n",
               x->sent_differs ? ", though what ranks send each other is not" : "");
}
