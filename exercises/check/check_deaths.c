/* SPDX-License-Identifier: MIT */
/*
 * A rank that is killed by the test, in a world that repairs itself. Where it stands is in memory that outlives its process
 * (p2p_keep): the next one goes on with the same case, and is not killed there again.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "exercises/check/check_internal.h"

enum { TOLD = 30000, WAIT_MS = 200 }; /* a tag; how long to wait */

typedef struct {
    int32_t number;     /* of the case */
    int32_t generation; /* in which it began */
} standing;

static struct {
    p2p_comm *world;
    const check_case *c;
    standing *kept;
    int generation, step, calls;
} here;

int check_deaths_open(p2p_comm *world)
{
    void *kept = NULL;
    bool found = false;
    here.world = world;
    if (p2p_keep(world, "check", sizeof *here.kept, &kept, &found) != P2P_OK) return 0;
    here.kept = kept;
    return found ? here.kept->number : 0;
}

void check_deaths_begin(p2p_comm *world, const check_case *c)
{
    here.generation = p2p_generation(world);
    here.step = -1;
    here.calls = 0;
    if (here.kept && (here.kept->number != c->number || !here.generation))
        *here.kept = (standing){c->number, here.generation};
    here.c = c;
}

/* The one that comes next, in this generation of the world; NULL: none. */
static const check_death *next_death(void)
{
    if (!here.c || !here.kept) return NULL;
    int generation = p2p_generation(here.world), done = generation - here.kept->generation;
    if (generation != here.generation) {
        here.generation = generation;
        here.step = -1;
        here.calls = 0;
    }
    return done < here.c->deaths ? &here.c->death[done] : NULL;
}

/* The others have come as far as they can once all are past that call but the next one, which waits for this rank; with
 * strict also but the one before, whose message this rank does not take. */
static void wait_for_others(void)
{
    int told = 0;
    double until = p2p_time(here.world) + WAIT_MS * 1e-3;
    while (told < p2p_size(here.world) - 2 - here.c->strict && p2p_time(here.world) < until) {
        bool there = false;
        p2p_status from;
        if ((p2p_iprobe)(here.world, P2P_ANY_SOURCE, TOLD, &there, &from)) return;
        if (there && (p2p_recv)(here.world, NULL, 0, from.source, TOLD, NULL) == P2P_OK) told++;
    }
}

static void die_if_due(const check_death *d)
{
    bool due = d->step == CHECK_NEXT_STEP ? here.step >= 0 && here.calls >= d->call
                                          : here.step > d->step || (here.step == d->step && here.calls >= d->call);
    if (d->rank != p2p_rank(here.world) || !due) return;
    if (d->late) wait_for_others();
    kill(getpid(), SIGKILL);
    pause();
}

static void tell(const check_death *d)
{
    if (d->rank != p2p_rank(here.world)) (p2p_send)(here.world, NULL, 0, d->rank, TOLD);
}

void check_step(const check_case *c, int step)
{
    const check_death *d = next_death();
    (void)c;
    here.step = step;
    here.calls = 0;
    if (!d) return;
    die_if_due(d);
    if (d->late && step == d->step + 1) tell(d);
}

void check_deaths_call(const char *file)
{
    const char *own = check_the_exercise.files[0];
    if (!here.c || !file) return;
    size_t length = strlen(file), ending = strlen(own);
    if (length < ending || strcmp(file + length - ending, own) != 0) return;
    const check_death *d = next_death();
    here.calls++;
    if (!d) return;
    die_if_due(d);
    if (d->late && here.step == d->step && here.calls == d->call + 1) tell(d);
}
