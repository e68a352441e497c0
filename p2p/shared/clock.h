/* SPDX-License-Identifier: MIT */
/* clock: the machine's own time. Virtual time is in network.h. */
#ifndef PAIRWISE_P2P_CLOCK_H
#define PAIRWISE_P2P_CLOCK_H

#include <stdint.h>
#include <time.h>

/* ns, CLOCK_MONOTONIC: the same for every process of the machine. */
static inline uint64_t p2p__now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Sleep; a signal may end it early. */
static inline void p2p__pause(uint64_t ns)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)}, NULL);
}

#endif
