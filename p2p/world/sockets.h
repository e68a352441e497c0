/* SPDX-License-Identifier: MIT */
/* sockets: the descriptors a rank sleeps on: the supervisor's, and its end of every open link. */
#ifndef PAIRWISE_P2P_SOCKETS_H
#define PAIRWISE_P2P_SOCKETS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    struct pollfd *polled; /* [0] is the supervisor's, -1 if there is none */
    int *rank_of;          /* of a slot: whose link it is */
    size_t *slot_of;       /* of a rank; 0: no link is open */
    size_t slots;
} p2p_sockets;

/* False if there is no memory; p2p__sockets_close_all is right all the same. */
bool p2p__sockets_init(p2p_sockets *s, int ranks, int control);
void p2p__sockets_close_all(p2p_sockets *s);

/* The link to a rank: it is open, and so is watched; what to watch for (POLLIN, POLLOUT); it is closed, if it was open. */
void p2p__sockets_add(p2p_sockets *s, int rank, int fd);
void p2p__sockets_watch(p2p_sockets *s, int rank, short events);
void p2p__sockets_close(p2p_sockets *s, int rank);

/* Sleep until one of them has something, or until a time (ns, p2p__now; 0: do not sleep; UINT64_MAX: no limit). How
 * many are ready: 0 when the time has come, -1 and errno on failure. */
int p2p__sockets_sleep(p2p_sockets *s, uint64_t until);

#endif
