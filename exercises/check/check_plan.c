/* SPDX-License-Identifier: MIT */
/* The plan: which worlds, and which cases in each. Both sides make it, by the same calls, so it need not be sent. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/check/check_internal.h"

static void *grown(void *list, size_t count, size_t *room, size_t each)
{
    if (count < *room) return list;
    *room = 2 * *room + 16;
    list = realloc(list, *room * each);
    if (list) return list;
    fputs("check: out of memory\n", stderr);
    exit(1);
}

void check_world(check_plan *plan, int ranks, bool strict, const char *network)
{
    plan->worlds = grown(plan->worlds, plan->world_count, &plan->world_room, sizeof *plan->worlds);
    plan->worlds[plan->world_count++] =
        (check_world_plan){.ranks = ranks, .strict = strict, .network = network, .first = plan->case_count, .count = 0};
}

void check_world_that_repairs(check_plan *plan, int ranks, bool strict)
{
    check_world(plan, ranks, strict, NULL);
    plan->worlds[plan->world_count - 1].repairs = true;
}

void check_every_order(check_plan *plan)
{
    plan->worlds[plan->world_count - 1].orders = true;
}

/* splitmix64's last step: nearby numbers become unlike ones. */
static uint64_t scramble(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

void check_add(check_plan *plan, check_case c)
{
    if (!plan->world_count) check_world(plan, 1, false, NULL);
    check_world_plan *world = &plan->worlds[plan->world_count - 1];
    c.ranks = world->ranks;
    c.strict = world->strict;
    c.network = world->network;
    c.secret = plan->secret;
    c.world = (int)plan->world_count - 1;
    c.number = (int)world->count;
    c.seed = scramble(plan->seed ^ scramble((uint64_t)plan->world_count << 32 | world->count));
    plan->cases = grown(plan->cases, plan->case_count, &plan->case_room, sizeof *plan->cases);
    plan->cases[plan->case_count++] = c;
    world->count++;
}

void check_matrix(check_plan *plan, void (*add)(check_plan *plan, int ranks))
{
    static const int sizes[] = {1, 2, 3, 4, 5, 8};
    for (int strict = 0; strict < 2; strict++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            check_world(plan, sizes[i], strict, NULL);
            add(plan, sizes[i]);
        }
}

/* Worlds were made without cases: a program with a main of its own is run as it is. */
static void add_missing(check_plan *plan)
{
    check_plan old = *plan;
    *plan = (check_plan){.seed = old.seed, .secret = old.secret};
    for (size_t w = 0; w < old.world_count; w++) {
        const check_world_plan *world = &old.worlds[w];
        check_world(plan, world->ranks, world->strict, world->network);
        for (size_t i = 0; i < world->count; i++) check_add(plan, old.cases[world->first + i]);
        if (!world->count) check_add(plan, (check_case){.count = 0});
    }
    check_plan_free(&old);
}

/* Is this the case to be tried again with calls that fail: of its function the last in the world that has data? */
static bool is_tried_again(const check_plan *plan, const check_world_plan *world, size_t i)
{
    const check_case *c = &plan->cases[world->first + i];
    for (size_t k = 0; k < world->count; k++) {
        const check_case *other = &plan->cases[world->first + k];
        bool same = c->call == other->call || (c->call && other->call && strcmp(c->call, other->call) == 0);
        if (same && k != i && (k > i ? other->count || !c->count : other->count && !c->count)) return false;
    }
    return true;
}

/* All of them, and then each alone: code that asks the first only, or forgets an error when the next call goes well, is
 * found. */
static void add_failing(check_plan *plan)
{
    static const struct {
        int call;
        const char *what;
    } failing[] = {{CHECK_EVERY_CALL, "every Pairwise call in it fails"},
                   {1, "the first Pairwise call in it fails"},
                   {2, "the second Pairwise call in it fails"},
                   {3, "the third Pairwise call in it fails"},
                   {4, "the fourth Pairwise call in it fails"},
                   {CHECK_LATER_CALLS, "a later Pairwise call in it fails"}};
    check_world_plan last = plan->worlds[plan->world_count - 1];
    for (size_t i = 0; i < last.count; i++) {
        check_case c = plan->cases[last.first + i];
        if (!is_tried_again(plan, &last, i)) continue;
        for (size_t k = 0; k < sizeof failing / sizeof *failing; k++) {
            c.fails = failing[k].call;
            c.what = failing[k].what;
            check_add(plan, c);
        }
    }
}

void check_plan_make(check_plan *plan, const check_exercise *exercise, uint64_t seed, uint64_t secret)
{
    *plan = (check_plan){.seed = seed, .secret = secret};
    exercise->cases(plan);
    if (!exercise->run) add_missing(plan);
    if (exercise->hands_on_errors) add_failing(plan);
}

void check_plan_free(check_plan *plan)
{
    free(plan->worlds);
    free(plan->cases);
    *plan = (check_plan){.seed = 0};
}
