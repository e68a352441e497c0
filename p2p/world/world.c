/* SPDX-License-Identifier: MIT */
#include "p2p/world/world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "p2p/shared/clock.h"
#include "p2p/shared/control.h"

const p2p_world *p2p__world_find(const char *name)
{
    static const p2p_world *const worlds[] = {&p2p__world_socket, &p2p__world_shm};
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        if (strcmp(worlds[i]->name, name) == 0) return worlds[i];
    return NULL;
}

bool p2p__world_open(const p2p_world *world, p2p_endpoint *self)
{
    size_t size = (size_t)self->size;
    p2p_sockets *s = &self->sockets;
    self->state = calloc(1, world->state_bytes);
    self->links = calloc(size, world->link_bytes);
    *s = (p2p_sockets){
        .polled = calloc(size + 1, sizeof *s->polled), .rank_of = calloc(size + 1, sizeof *s->rank_of), .slots = 1};
    if (!self->state || !self->links || !s->polled || !s->rank_of) return false;
    s->polled[0] = (struct pollfd){.fd = self->control, .events = POLLIN};
    for (size_t i = 0; i < size; i++) {
        p2p_link *peer = p2p__link_to(self, (int)i);
        peer->fd = -1;
        peer->state = (char *)self->links + i * world->link_bytes;
    }
    if (world->open) world->open(self);
    return true;
}

void p2p__world_close(const p2p_world *world, p2p_endpoint *self)
{
    p2p_sockets *s = &self->sockets;
    for (size_t slot = 1; s->polled && slot < s->slots; slot++) close(s->polled[slot].fd);
    if (world->close) world->close(self);
    free(s->polled);
    free(s->rank_of);
    free(self->links);
    free(self->state);
}

/* ---- Packets ---- */

uint32_t p2p__frame_leaves(const p2p_endpoint *self, p2p_link *peer)
{
    _Atomic uint64_t *sent = &p2p__scoreboard_sent(self->scoreboard, self->rank)[peer->rank];
    p2p__row_open(self->row);
    atomic_store_explicit(sent, peer->frames_out + 1, memory_order_relaxed);
    p2p__row_shut(self->row);
    return peer->frames_out++;
}

bool p2p__link_queue(p2p_endpoint *self, p2p_link *peer, p2p_packet *packet)
{
    bool first = !peer->head;
    if (first) {
        peer->head = packet;
        self->queued++;
    } else {
        peer->tail->next = packet;
    }
    peer->tail = packet;
    return first;
}

void p2p__link_sent(p2p_endpoint *self, p2p_link *peer)
{
    p2p_packet *packet = peer->head;
    peer->head = packet->next;
    if (!peer->head) self->queued--;
    p2p__left(self, peer, packet);
}

/* ---- Links ---- */

void p2p__link_ask(const p2p_endpoint *self, p2p_link *peer)
{
    if (peer->asked || peer->gone) return;
    peer->asked = true;
    p2p__control_tell(self->control, CONTROL_WANT, peer->rank, 0);
}

void p2p__link_opened(p2p_endpoint *self, p2p_link *peer, int fd)
{
    p2p_sockets *s = &self->sockets;
    size_t slot = peer->slot = s->slots++;
    peer->asked = true;
    peer->fd = fd;
    s->polled[slot] = (struct pollfd){.fd = fd, .events = POLLIN};
    s->rank_of[slot] = peer->rank;
}

void p2p__link_close(p2p_endpoint *self, p2p_link *peer)
{
    p2p_sockets *s = &self->sockets;
    size_t slot = peer->slot;
    peer->fd = -1;
    peer->gone = true;
    if (!slot) return;
    close(s->polled[slot].fd);
    size_t last = --s->slots; /* takes its place */
    s->polled[slot] = s->polled[last];
    s->rank_of[slot] = s->rank_of[last];
    p2p__link_to(self, s->rank_of[slot])->slot = slot;
    peer->slot = 0;
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
