/* SPDX-License-Identifier: MIT */
/*
 * orders: a job whose choices the launcher makes (launch --explore, --schedule, --seed). choices.c decides within a run, as
 * orders.c says: it keeps the forks of the run, and finds the next run. schedule.c writes the forks down; explore.c runs, and
 * says what came out.
 */
#ifndef PAIRWISE_P2P_ORDERS_H
#define PAIRWISE_P2P_ORDERS_H

#include "p2p/job/launch.h"

#define P2P_ORDERS_RANKS (CHOICE_NOTHING) /* most; a rank is a bit of a choice's options */

/* What may be next: this rank's choice `number` is decided so. */
typedef struct {
    int rank, kind, option; /* enum choice_kind */
    uint32_t number;
    bool blocks, held; /* scoreboard_choice */
} p2p_step;

enum { FORK_WANTED = 1, FORK_DONE = 2, FORK_ASLEEP = 4 };

/* Where the job was quiet: everything that could be next, in the order that choices.c gives them, and what was taken. */
typedef struct {
    p2p_step *steps;
    unsigned char *marks; /* FORK_... of each: to be run; run; the same as one that has been run before */
    int count, taken;
    scoreboard_call call; /* of what was taken */
} p2p_fork;

typedef struct {
    int rank;
    uint32_t number;
    size_t at; /* forks before it */
} p2p_late;

enum { ORDERS_LOOKS = 2 }; /* p2p_orders.looks of an order at random */

enum orders_mode { ORDERS_ALL, ORDERS_RANDOM, ORDERS_ONE };

struct p2p_orders {
    int mode;
    p2p_fork *forks; /* of this run, and as far as planned of the next */
    size_t count, room, planned, at;
    p2p_late *lates;
    size_t late_count, late_room;
    uint64_t random;
    unsigned *picks; /* ORDERS_ONE: of a schedule */
    size_t pick_count, pick;
    int idle;      /* polls that found nothing, one after the other */
    bool hurry;    /* those that could see something have to */
    int looks;     /* polls may overlook what has come so often, each of them a choice (p2p/message/polls.c) */
    bool bounded;  /* of all runs with so many: polls could have looked in vain more often, or less */
    bool pruned;   /* this run: is like another one */
    bool diverged; /* is not what was planned */
    bool unfit;    /* is not what the schedule says */
    bool no_memory;
    bool interrupted;
    bool joined;   /* a rank has called p2p_init */
    uint64_t sent; /* a hash of what ranks sent */
    p2p_report report;
};

enum { ORDERS_STUCK = -1, ORDERS_PRUNE = -2 };

/* ---- orders.c ---- */

void p2p__orders_settings(p2p_config *config);
void p2p__orders_begin(p2p_orders *orders); /* a run */
/* Which of these is next; ORDERS_STUCK: none but that a send is buffered; ORDERS_PRUNE: this run need not go on. */
int p2p__orders_choose(p2p_orders *orders, const p2p_step *steps, int count);
/* Is something asleep where a choice was taken last, but that a send is buffered? */
bool p2p__orders_sleeps(const p2p_orders *orders);
void p2p__orders_ended(p2p_orders *orders, p2p_job *job);
/* Plan the next run; false: there is none. */
bool p2p__orders_next(p2p_orders *orders);
/* All runs again, with one look more. */
void p2p__orders_deepen(p2p_orders *orders);
/* After p2p__orders_next: so many runs are planned already, at least. */
size_t p2p__orders_open(const p2p_orders *orders);
/* The same for two runs in which each rank's choices were decided alike. */
uint64_t p2p__orders_hash(const p2p_orders *orders);
void p2p__orders_free(p2p_orders *orders);

/* ---- schedule.c ---- */

/* Of this program with these arguments. free() it; NULL: no memory. */
char *p2p__schedule_write(const p2p_orders *orders, int ranks, char *const program[]);
bool p2p__schedule_read(p2p_orders *orders, const char *text, int ranks, char *const program[], char *why,
                        size_t why_bytes);

/* ---- explore.c ---- */

typedef struct {
    bool all, quiet;   /* --explore; only the last line */
    uint64_t runs, ns; /* bounds; 0: none */
    uint64_t seed;     /* with `random` */
    bool random;
    const char *schedule; /* --schedule; NULL: none */
} p2p_explore_options;

/* What a run printed, and did. */
typedef struct {
    int status;
    char *out, *err;
    size_t out_bytes, err_bytes;
    uint64_t sent;
} p2p_outcome;

typedef struct {
    p2p_plan *plan;
    const p2p_explore_options *options;
    char *const *program;
    p2p_orders orders;
    p2p_outcome first, last;
    uint64_t started, told_at;
    uint64_t tries;          /* runs, also those that went no further than to where they were like another one */
    uint64_t runs, distinct; /* ended as a program does; those that are like none before in this search */
    uint64_t *seen;
    size_t seen_room;
    double limit_s, first_s; /* --timeout, of each run; 0: none. What the first one took */
    uint64_t finished;    /* searches: each has gone through all orders, with more looks in vain than the one before */
    uint64_t first_tries; /* of the first of them */
    uint64_t orders_finished; /* of the last of them but the one under way */
    bool sent_differs, unsteady;
    bool wrong, cut; /* `cut`: the time was over in the middle of the last run */
} p2p_exploration;

/* Run the program as the options say; an exit status. */
int p2p__explore(p2p_plan *plan, const p2p_explore_options *options, char *const program[]);

/* ---- story.c ---- */

/* The order that was run last is wrong, and why; a finding of it too. */
void p2p__tell_wrong(p2p_exploration *x);
/* None is; `all`: there is no other one. */
void p2p__tell_right(p2p_exploration *x, bool all);

#endif
