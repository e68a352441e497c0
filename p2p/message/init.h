/* SPDX-License-Identifier: MIT */
#ifndef PAIRWISE_P2P_INIT_H
#define PAIRWISE_P2P_INIT_H

#include "p2p/message/internal.h"

/* How a program that build/launch started finds its place: "rank,control descriptor,scoreboard descriptor". */
#define P2P_JOB_VARIABLE "PAIRWISE_JOB"

/* The line noted by p2p__here since the last call; *file is NULL if none. Forgets it. */
void p2p__take_line(const char **file, int *line);

/* Is this process a rank already (or was it), or started by a launcher? */
bool p2p__inside_job(void);

/* Become rank `rank`: the world communicator, ready to use. On failure says why. */
p2p_err p2p__become_rank(int rank, int control, int memory_fd, scoreboard *b, p2p_comm **world, char *why,
                         size_t why_bytes);

/* ---- comm.c ---- */

/* A communicator over `size` world ranks, taking ownership of nothing; NULL when out of memory. */
p2p_comm *p2p__comm_new(p2p_engine *engine, uint32_t context, int rank, int size, const int *world_rank);

/* Forget its engine and its tables; the handle itself stays, and answers that it is gone. */
void p2p__comm_bury(p2p_comm *comm);

#endif
