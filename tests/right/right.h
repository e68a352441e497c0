/* SPDX-License-Identifier: MIT */
/*
 * right: what the programs without mistakes share. Each takes a seed that decides only how long its ranks compute
 * between calls and in which order they go about things, never what they compute: so rank 0 prints the same checksum
 * for every seed, and a run that prints another one, or complains, is a bug in Pairwise.
 */
#ifndef PAIRWISE_TESTS_RIGHT_H
#define PAIRWISE_TESTS_RIGHT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "p2p/p2p.h"

typedef struct {
    p2p_comm *world;
    int rank, size;
    uint64_t random;   /* differs by seed and rank */
    uint64_t checksum; /* of what this rank has received, in any order */
} right_program;

static inline uint32_t right_random(right_program *p)
{
    p->random = p->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(p->random >> 33);
}

static inline void right_start(right_program *p, int argc, char **argv)
{
    p2p_init(&p->world);
    p->rank = p2p_rank(p->world);
    p->size = p2p_size(p->world);
    p->checksum = 0;
    p->random = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1) * 1000003u + (uint64_t)p->rank * 7919u;
    right_random(p);
}

/* Compute for up to 3 ms: mostly not at all, sometimes busily, sometimes asleep. */
static inline void right_compute(right_program *p)
{
    uint32_t choice = right_random(p) % 8;
    long us = (long)(right_random(p) % 3000);
    struct timespec pause = {0, us * 1000};
    double until = p2p_time(p->world) + (double)us * 1e-6;

    if (choice == 0) nanosleep(&pause, NULL);
    while (choice == 1 && p2p_time(p->world) < until) continue;
}

/* Does not depend on the order in which values are added. */
static inline void right_add(right_program *p, uint64_t value)
{
    value = (value + 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
    p->checksum += value ^ (value >> 31);
}

/* Rank 0 prints the sum of all ranks' checksums. */
static inline int right_finish(right_program *p)
{
    uint64_t other;

    if (p->rank > 0) p2p_send(p->world, &p->checksum, sizeof p->checksum, 0, 1000);
    for (int q = 1; p->rank == 0 && q < p->size; q++) {
        p2p_recv(p->world, &other, sizeof other, q, 1000, P2P_STATUS_IGNORE);
        p->checksum += other;
    }
    if (p->rank == 0) printf("checksum %016llx\n", (unsigned long long)p->checksum);
    return p2p_finalize(p->world) ? 1 : 0;
}

#endif
