/* SPDX-License-Identifier: MIT */
#include "p2p/world/sockets.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "p2p/shared/clock.h"

bool p2p__sockets_init(p2p_sockets *s, int ranks, int control)
{
    size_t size = (size_t)ranks;
    *s = (p2p_sockets){.polled = calloc(size + 1, sizeof *s->polled),
                       .rank_of = calloc(size + 1, sizeof *s->rank_of),
                       .slot_of = calloc(size, sizeof *s->slot_of),
                       .slots = 1};
    if (!s->polled || !s->rank_of || !s->slot_of) return false;
    s->polled[0] = (struct pollfd){.fd = control, .events = POLLIN};
    return true;
}

void p2p__sockets_close_all(p2p_sockets *s)
{
    for (size_t slot = 1; s->polled && slot < s->slots; slot++) close(s->polled[slot].fd);
    free(s->polled);
    free(s->rank_of);
    free(s->slot_of);
    *s = (p2p_sockets){.polled = NULL};
}

void p2p__sockets_add(p2p_sockets *s, int rank, int fd)
{
    size_t slot = s->slots++;
    s->polled[slot] = (struct pollfd){.fd = fd, .events = POLLIN};
    s->rank_of[slot] = rank;
    s->slot_of[rank] = slot;
}

void p2p__sockets_watch(p2p_sockets *s, int rank, short events)
{
    s->polled[s->slot_of[rank]].events = events;
}

/* The last slot takes its place. */
void p2p__sockets_close(p2p_sockets *s, int rank)
{
    size_t slot = s->slot_of[rank], last = s->slots - 1;
    if (!slot) return;
    close(s->polled[slot].fd);
    s->polled[slot] = s->polled[last];
    s->rank_of[slot] = s->rank_of[last];
    s->slot_of[s->rank_of[slot]] = slot;
    s->slot_of[rank] = 0;
    s->slots = last;
}

int p2p__sockets_sleep(p2p_sockets *s, uint64_t until)
{
    for (;;) {
        struct timespec left = {0, 0};
        uint64_t now = until && until != UINT64_MAX ? p2p__now() : 0;
        if (until > now) {
            left.tv_sec = (time_t)((until - now) / UINT64_C(1000000000));
            left.tv_nsec = (long)((until - now) % UINT64_C(1000000000));
        }
        int ready = ppoll(s->polled, (nfds_t)s->slots, until == UINT64_MAX ? NULL : &left, NULL);
        if (ready >= 0 || (errno != EINTR && errno != ENOMEM)) return ready;
    }
}
