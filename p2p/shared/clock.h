/* SPDX-License-Identifier: MIT */
/* clock: the machine's own time. Virtual time is in network.h. */
#ifndef PAIRWISE_P2P_CLOCK_H
#define PAIRWISE_P2P_CLOCK_H

#include <stdint.h>

uint64_t p2p__now(void);      /* ns, CLOCK_MONOTONIC: the same for every process of the machine */
void p2p__pause(uint64_t ns); /* sleep; a signal may end it early */

#endif
