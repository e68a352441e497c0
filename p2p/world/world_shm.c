/* SPDX-License-Identifier: MIT */
/*
 * The shm world: each pair of ranks that sends has two queues in shared memory (shm_queue.h), one in each direction, and
 * a Unix stream socketpair, all from the supervisor when they are first needed. Frames go through the queues
 * (shm_records.c). Over the socketpair go only single bytes that wake the peer, and its end of file, which
 * shows a death.
 *
 *      sender                                     receiver
 *        write the record                           set `asleep` (in its scoreboard row)
 *        is the receiver asleep? then one byte      read all queues once more
 *                                                   ppoll
 *
 * Each side writes first and reads afterwards, so a receiver never sleeps over a record. The same holds for a sender
 * that waits for room in a full queue. A frame whose payload is longer than the queue goes in parts, read while it is
 * written. The payload of a message that waits for its receive is copied straight from memory to memory
 * (shm_one_copy.c), unless the queue is faster just now (shm_ways.c). Where the system forbids that (seccomp, Yama), as the launcher or a first try has found out, all
 * goes through the queues. A message out of p2p_alloc memory needs neither (alloc.c).
 */
#include "p2p/world/world_shm.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "p2p/shared/control.h"
#include "p2p/shared/memory.h"
#include "p2p/world/cma.h"

#define QUEUES_OF_A_RANK ((size_t)1 << 20) /* about what the rings of one rank to all others take in all */

/* ---- Opening and closing ---- */

size_t p2p__shm_ring_size(const p2p_config *config, int size)
{
    size_t wanted = config->sndbuf ? config->sndbuf : QUEUES_OF_A_RANK / (size_t)size, bytes = QUEUE_SMALLEST;
    while (bytes < wanted && bytes < QUEUE_LARGEST) bytes *= 2;
    return bytes;
}

size_t p2p__shm_link_memory(const p2p_config *config, int size)
{
    return p2p__memory_round(2 * (p2p__queue_bytes(p2p__shm_ring_size(config, size)) + sizeof(shm_more)));
}

static void open_world(p2p_endpoint *self)
{
    shm_world *w = self->state;
    w->ring_size = self->link_room = p2p__shm_ring_size(self->config, self->size);
    w->may_not_read = !self->scoreboard->may_read;
    p2p__cma_allow();
}

static void close_world(p2p_endpoint *self)
{
    const link_end *links = self->links;
    for (int i = 0; links && i < self->size; i++)
        if (links[i].rings) munmap(links[i].rings, p2p__shm_link_memory(self->config, self->size));
}

/* ---- Waking ---- */

void p2p__shm_wake(p2p_endpoint *self, p2p_link *peer)
{
    _Atomic uint32_t *asleep = &self->scoreboard->rows[peer->rank].asleep;
    if (!atomic_load_explicit(asleep, memory_order_relaxed)) return;
    if (peer->fd < 0 || !atomic_exchange(asleep, 0)) return;
    ssize_t sent = TEMP_FAILURE_RETRY(send(peer->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL));
    if (sent > 0 || errno == EAGAIN) return;           /* no room: there are bytes enough to wake it */
    if (errno == EPIPE || errno == ECONNRESET) return; /* there is no rank left to wake */
    atomic_fetch_add(&self->scoreboard->rows[peer->rank].nudges, 1);
    p2p__control_tell(self->control, CONTROL_WAKE, peer->rank, 0);
}

void p2p__shm_wake_after(p2p_endpoint *self, p2p_link *peer)
{
    atomic_thread_fence(memory_order_seq_cst); /* it looks for what was just written after saying that it sleeps */
    p2p__shm_wake(self, peer);
}

static p2p_err link_opened(p2p_endpoint *self, p2p_link *peer, int place)
{
    shm_world *w = self->state;
    link_end *link = peer->state;
    bool lower = self->rank < peer->rank; /* of the two queues, and of all else, the first is written by it */
    link->rings = p2p__memory_map(self->memory_fd, (memory_place)place * MEMORY_UNIT,
                                  p2p__shm_link_memory(self->config, self->size));
    if (!link->rings)
        return p2p__broken(self, P2P_ERR_NOMEM, "the memory of the link to rank %d cannot be mapped: %s", peer->rank,
                           strerror(errno));
    char *first = link->rings, *second = first + p2p__queue_bytes(w->ring_size);
    p2p__queue_open(lower ? first : second, w->ring_size, &link->out, NULL);
    p2p__queue_open(lower ? second : first, w->ring_size, NULL, &link->in);
    shm_more *both = (shm_more *)(void *)(second + p2p__queue_bytes(w->ring_size)), *own = &both[!lower];
    shm_more *others = &both[lower];
    link->given = &own->offer;
    link->taken = &others->offer;
    link->shown = &own->receive;
    link->peer_shown = &others->receive;
    w->open[w->open_count++] = peer;
    p2p__shm_flush(self, peer);
    return P2P_OK;
}

/* ---- Progress ---- */

/* One record only: it may be what is waited for, and a look at the line behind it may take as long as it took. And what
 * there is room for leaves. */
static p2p_err try_peer(p2p_endpoint *self, p2p_link *peer)
{
    const link_end *link = peer->state;
    if (!link->rings) return P2P_OK;
    if (peer->head) p2p__shm_flush(self, peer);
    if (*peer->waiting_sends) p2p__shm_help(self, peer);
    return p2p__shm_read(self, peer, 1);
}

/* Everything that can be seen without asking the system. */
static p2p_err look_around(p2p_endpoint *self)
{
    shm_world *w = self->state;
    uint32_t told = atomic_load_explicit(&self->row->told, memory_order_acquire);
    p2p_err err = P2P_OK;
    if (self->control >= 0 && told != w->told) {
        w->told = told;
        err = p2p__control_serve(self);
    }
    for (size_t i = 0; !err && i < w->open_count; i++) {
        if (*w->open[i]->waiting_sends) p2p__shm_help(self, w->open[i]);
        err = p2p__shm_read(self, w->open[i], RECORDS_A_TURN);
    }
    for (size_t i = 0; !err && i < w->open_count && self->queued; i++)
        if (w->open[i]->head) p2p__shm_flush(self, w->open[i]);
    return err;
}

static p2p_err sleep_until(p2p_endpoint *self, uint64_t deadline)
{
    p2p_sockets *s = &self->sockets;
    char bytes[256]; /* those that woke this rank mean nothing more */
    int ready = p2p__sockets_sleep(s, deadline);
    if (ready < 0) return p2p__broken(self, P2P_ERR_SYS, "ppoll fails: %s", strerror(errno));
    p2p_err err = self->control >= 0 && s->polled[0].revents ? p2p__control_serve(self) : P2P_OK;
    for (size_t slot = s->slots; !err && slot-- > 1;) {
        if (slot >= s->slots || !s->polled[slot].revents) continue; /* a link may have been closed */
        ssize_t got = TEMP_FAILURE_RETRY(recv(s->polled[slot].fd, bytes, sizeof bytes, MSG_DONTWAIT));
        if (got > 0 || (got < 0 && (errno == EAGAIN || errno == ENOMEM || errno == ENOBUFS))) continue;
        p2p_link *peer = p2p__link_to(self, s->rank_of[slot]);
        p2p__link_close(self, peer); /* what the peer wrote before is still in its queue */
        p2p__peer_lost(self, peer);
    }
    if (err) return err;
    uint64_t before = self->moved;
    err = look_around(self);
    return !err && !ready && self->moved == before ? P2P_ERR_TIMEOUT : err;
}

static p2p_err progress(p2p_endpoint *self, uint64_t deadline)
{
    uint64_t before = self->moved;
    p2p_err err = look_around(self);
    if (err || !deadline || self->moved != before) return err;
    atomic_store_explicit(&self->row->asleep, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* and only then: is there really nothing? */
    err = look_around(self);
    if (!err && self->moved == before) err = sleep_until(self, deadline);
    atomic_store_explicit(&self->row->asleep, 0, memory_order_relaxed);
    return err;
}

const p2p_world p2p__world_shm = {
    .name = "shm",
    .state_bytes = sizeof(shm_world),
    .link_bytes = sizeof(link_end),
    .open = open_world,
    .close = close_world,
    .post = p2p__shm_post,
    .try_peer = try_peer,
    .progress = progress,
    .link = link_opened,
    .link_memory = p2p__shm_link_memory,
    .send_now = p2p__shm_send_now,
    .is_waiting = p2p__shm_is_waiting,
    .look = p2p__shm_look,
    .take = p2p__shm_take,
    .show = p2p__shm_show,
    .hide = p2p__shm_hide,
    .read = p2p__shm_one_copy,
};
