/* SPDX-License-Identifier: MIT */
/*
 * predict: for launch --explain, what a collective should take.
 *
 * Each algorithm is written down once more, as what rank r does in its step s (predict_steps.c): to whom it sends, from whom
 * it receives, how much it combines then. That is walked from the moment at which each rank has come (predict.c), with
 * what a message and a combination cost, a core for each rank, and the ports of p2p/shared/network.h: so hosts with
 * different numbers of ranks, blocks of different lengths and ranks that come late are what they are, not averages.
 */
#ifndef PAIRWISE_RING_PREDICT_H
#define PAIRWISE_RING_PREDICT_H

#include "ring/frame.h"

enum { PREDICT_NO_RANK = -1, PREDICT_PARTS = 4 };

typedef struct predict__plan predict__plan;

typedef struct {
    int to, from;    /* PREDICT_NO_RANK: nothing is sent, received */
    double bytes;    /* of what is sent */
    double combined; /* bytes, when what this step waits for has ended */
    bool goes_on;    /* without waiting for what it sends */
    bool waits;      /* for all that has been sent so */
} predict__step;

/* What rank r does in its step s, from 0 on; false: no more. */
typedef bool predict__steps(const predict__plan *plan, int r, int s, predict__step *step);

/* One way in which an operation is done, under the name of the call that always does it so, and under the plain name of
 * the operation, that has chosen it. */
typedef struct {
    const char *operation, *plain, *algorithm, *why;
    bool chunks;                              /* its blocks are the chunks of one buffer */
    bool longest;                             /* no rank knows all lengths: the longest one it knows stands for all */
    predict__steps *parts[PREDICT_PARTS];     /* one after the other; or, without messages: */
    double (*shared)(const predict__plan *p); /* seconds, from when all have come */
} predict__row;

/* The row of a call; NULL: there is none. `shared`: its ranks share memory. */
const predict__row *predict__find(const char *operation, const char *algorithm, bool shared);

struct predict__plan {
    const predict__row *row;
    int n, root;
    bool own_ports;    /* of the ranks: its messages have some of their own */
    bool knows_blocks; /* this rank does, all of them; false: it has to be told */
    size_t count, element;
    double bytes; /* the whole buffer */
    p2p_costs costs;
    /* Where the ranks are; from predict__walk: */
    int hosts, least;  /* and ranks on the host that has the fewest */
    const int *host;   /* [n]: of each rank */
    const int *number; /* [n]: of each rank, among those of its host */
    const int *ranks;  /* [n]: all ranks, host by host */
    const int *first;  /* [hosts + 1]: of `ranks` */
    double block[];    /* [n]: bytes of each block */
};

/* at[q] is when rank q comes, and becomes when it leaves, in seconds. Unchanged if there is no memory. The walk begins with the
 * ports as the last one of the communicator left them. For p2p_layer_predict: plan is a predict__plan. */
void predict__walk(p2p_comm *comm, void *plan, const double own[], double at[]);

#endif
