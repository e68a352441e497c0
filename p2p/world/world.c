/* SPDX-License-Identifier: MIT */
#include "p2p/world/world.h"

#include <string.h>

#include "p2p/shared/control.h"

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

bool p2p__link_queue(p2p_link *peer, p2p_packet *packet)
{
    bool first = !peer->head;
    if (first)
        peer->head = packet;
    else
        peer->tail->next = packet;
    peer->tail = packet;
    return first;
}

void p2p__link_sent(p2p_endpoint *self, p2p_link *peer)
{
    p2p_packet *packet = peer->head;
    peer->head = packet->next;
    if (!peer->head) peer->tail = NULL;
    p2p__left(self, peer, packet);
}

void p2p__link_ask(const p2p_endpoint *self, p2p_link *peer)
{
    if (peer->asked || peer->gone) return;
    peer->asked = true;
    p2p__control_tell(self->control, CONTROL_WANT, peer->rank, 0);
}

void p2p__link_close(p2p_sockets *sockets, p2p_link *peer)
{
    p2p__sockets_close(sockets, peer->rank);
    peer->fd = -1;
    peer->gone = true;
}

p2p_packet *p2p__link_take_all(p2p_link *peer)
{
    p2p_packet *queued = peer->head;
    peer->head = peer->tail = NULL;
    return queued;
}
