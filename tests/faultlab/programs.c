/* SPDX-License-Identifier: MIT */
/* What `faultlab --rank NAME` does as a rank under build/launch. The world is ready; finalize follows. */
#include "lab.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static int hello(p2p_comm *world)
{
    printf("hello from rank %d of %d\n", p2p_rank(world), p2p_size(world));
    return lab_works(world);
}

int lab_was_run(p2p_comm *world)
{
    (void)world;
    lab_raise_flag(0);
    return 0;
}

int lab_idle(p2p_comm *world)
{
    int word = 0;
    lab_raise_flag(0);
    if (p2p_rank(world) == 1)
        for (;;) atomic_fetch_add(&lab->rank[1].count, 1);
    if (p2p_rank(world) == 2)
        for (;;) pause();
    NOTE(world, p2p_recv(world, &word, sizeof word, 1, 0, P2P_STATUS_IGNORE));
    return 0;
}

static void note_signal(int number)
{
    atomic_store(&lab->rank[lab_rank].count, number);
}

/* rank 0 hears a signal and goes on; rank 1 is deaf: both must be killed in the end */
static int deaf(p2p_comm *world)
{
    void (*handler)(int) = p2p_rank(world) == 1 ? SIG_IGN : note_signal;
    signal(SIGINT, handler);
    signal(SIGTERM, handler);
    lab_raise_flag(0);
    while (lab->flag[0]) pause();
    return 0;
}

/* print more than a pipe holds, work with the others, then end with a status of one's own */
static int chatter(p2p_comm *world)
{
    for (int line = 0; line < 5000; line++) printf("line %d of rank %d\n", line, p2p_rank(world));
    int failed = lab_works(world);
    lab_raise_flag(0);
    return failed;
}

static int chatter3(p2p_comm *world)
{
    int failed = chatter(world);
    return failed ? failed : 3;
}

/* the world is there already: a second p2p_init must say so */
static int init_twice(p2p_comm *world)
{
    p2p_comm *again = NULL;
    p2p_err err = p2p_init(&again);
    lab->rank[lab_rank].err = err;
    CHECK(err == P2P_ERR_STATE && !again, "a second p2p_init gave %d", (int)err);
    return lab_works(world);
}

const lab_program lab_programs[] = {
    {"hello", hello, NULL},
    {"idle", lab_idle, NULL},
    {"deaf", deaf, NULL},
    {"chatter", chatter, NULL},
    {"chatter3", chatter3, NULL},
    {"init-twice", init_twice, NULL},
    {"other-build", hello, lab_fake_build},
    {"early", lab_repairs, lab_end_early},
    {"two-die", lab_two_die, NULL},
    {NULL, NULL, NULL},
};
