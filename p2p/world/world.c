/* SPDX-License-Identifier: MIT */
#include "p2p/world/world.h"

#include <string.h>

static const p2p_world *const worlds[] = {&p2p__world_socket, &p2p__world_shm};

uint32_t p2p__frame_leaves(const p2p_endpoint *self, p2p_link *peer)
{
    _Atomic uint64_t *sent = &p2p__scoreboard_sent(self->scoreboard, self->rank)[peer->rank];
    p2p__row_open(self->row);
    atomic_store_explicit(sent, peer->frames_out + 1, memory_order_relaxed);
    p2p__row_shut(self->row);
    return peer->frames_out++;
}

const p2p_world *p2p__world_find(const char *name)
{
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        if (strcmp(worlds[i]->name, name) == 0) return worlds[i];
    return NULL;
}
