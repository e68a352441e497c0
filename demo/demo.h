/* SPDX-License-Identifier: MIT */
/*
 * demo: what the demos share. Each runs a real program with --trace, and shows what the trace says.
 *
 *      main.c                     which demo, how fast
 *      run.c                      the program, its trace, its page
 *      rounds.c                   a collective of a trace, in steps
 *      screen.c                   the terminal
 *      ring.c naive.c race.c deadlock.c train.c
 */
#ifndef PAIRWISE_DEMO_DEMO_H
#define PAIRWISE_DEMO_DEMO_H

#include "demo/screen.h"
#include "replay/trace.h"

typedef struct {
    const char *name;
    int ranks; /* 0: as many as the demo is made for */
    bool live; /* on a terminal */
    char build[3000], folder[3100];
} demo;

/* Each returns the program's exit status. */
int demo_ring(demo *d);
int demo_naive(demo *d);
int demo_race(demo *d);
int demo_deadlock(demo *d);
int demo_train(demo *d);

/* How many ranks: what was asked for, if the demo can show it; ends the program with status 2 and a message if not. */
int demo_ranks(const demo *d, int usual, int low, int high);

/* ---- run.c ---- */

/* Run a program and wait for it: words are its name and arguments, and a NULL; "{build}/x" is program x of this build,
 * "{trace}" the name of this demo's trace. Its output goes to *output, to be freed, or NULL. Returns its exit
 * status. */
int demo_run(const demo *d, const char *const words[], char **output);

/* The same; it must end with this status and leave a trace, which is read. False, and a message, if not. */
bool demo_record(const demo *d, const char *const words[], int expected_status, replay_trace *trace, char **output);

/* Make the page of the trace that demo_record left, and say where it is. */
void demo_page(const demo *d, const char *title);

/* A line for people; away from a terminal, or when the screen has been given back. */
void demo_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "256 KiB" in text; returns text. */
const char *demo_bytes(double bytes, char text[32]);
const char *demo_time(double ns, char text[32]);

static inline double demo_least(double a, double b)
{
    return a < b ? a : b;
}

static inline double demo_most(double a, double b)
{
    return a > b ? a : b;
}

/* ---- rounds.c ---- */

/* A message of a collective, and the step it takes: see replay/page/steps.js. */
typedef struct {
    const replay_message *message;
    int round, arrival;
} demo_step;

typedef struct {
    const replay_slice *slice; /* of the collective, on one rank */
    demo_step *steps;          /* by arrival */
    size_t count;
    int last; /* the largest arrival */
    double from, to;
    double element, bytes; /* of the whole buffer */
} demo_part;

/* The quickest collective of this name. False if there is none, or no memory. Free it with demo_part_free. */
bool demo_find_part(const replay_trace *trace, const char *name, demo_part *part);
void demo_part_free(demo_part *part);

/* "ring/reduce_scatter.c:55", where a message was sent. */
const char *demo_place(const replay_trace *trace, const demo_step *step, char *text, size_t bytes);

#endif
