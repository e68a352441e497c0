/* SPDX-License-Identifier: MIT */
/*
 * The shm world: a message that its sender writes straight to where a receive waits for it.
 *
 *      receiver                                          sender
 *        nothing to read: shows where the next goes
 *        polls the queue                                   claims it, process_vm_writev, a record that says so
 *        hides it again
 *
 * Each line of a message in the queue goes from one core to the other twice, empty and full; here the sender's core keeps
 * what it writes until the receiver reads it. That pays where the cores share no near cache, which the receiver sees by the
 * time that copies out of the queue took, the least of the last few, since one may have been interrupted; now and then it
 * shows nothing, to see that again. The sender waits for nobody: where no receive is shown, or another one, the message goes
 * through the queue. The receiver shows one only while it polls with a core of its own, and with nothing left to read: `at`
 * tells the sender that all it sent before has been received.
 * Between a claim and the record the receiver waits for the sender. So with PAIRWISE_TIMEOUT nothing is shown: a sender may
 * be stopped there.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "p2p/shared/clock.h"
#include "p2p/world/cma.h"
#include "p2p/world/world_shm.h"

#define LOOKS_AGAIN 64 /* receives */

enum { IS_HIDDEN, IS_SHOWN, IS_CLAIMED, STATES = 4 };

static pid_t pid_of(const p2p_endpoint *self, const p2p_link *peer)
{
    return atomic_load(&self->scoreboard->rows[peer->rank].pid);
}

/* ---- The receiver ---- */

void p2p__shm_copy_took(link_end *link, unsigned kib_ns)
{
    link->kib_ns = (unsigned)p2p__shm_least(&link->copies, kib_ns);
}

bool p2p__shm_show(const p2p_endpoint *self, p2p_link *peer, const p2p_shown *receive)
{
    link_end *link = peer->state;
    if (receive->room <= FAST_PATH_MOST || link->kib_ns < SHM_SLOW_KIB_NS || ++link->could_show % LOOKS_AGAIN == 0)
        return false;
    if (!link->rings || !p2p__is_local(self->scoreboard, peer->rank)) return false;
    shm_receive *shown = link->shown;
    atomic_store_explicit(&shown->at, link->in.at, memory_order_relaxed);
    atomic_store_explicit(&shown->to, (uintptr_t)receive->buf, memory_order_relaxed);
    atomic_store_explicit(&shown->room, receive->room, memory_order_relaxed);
    atomic_store_explicit(&shown->context, receive->context, memory_order_relaxed);
    atomic_store_explicit(&shown->tag, receive->tag, memory_order_relaxed);
    link->writer = pid_of(self, peer);
    link->shows += STATES;
    atomic_store_explicit(&shown->state, link->shows + IS_SHOWN, memory_order_release);
    return true;
}

/* Only a sender that is gone writes no more. One that this rank may not send signals to is there (EPERM); one that has
 * its rank since a repair is another one. */
static bool is_gone(const link_end *link)
{
    return kill(link->writer, 0) != 0 && errno == ESRCH;
}

/* What is neither shown nor claimed has been overwritten by a rank: nobody answers for it. */
bool p2p__shm_hide(p2p_endpoint *self, p2p_link *peer)
{
    link_end *link = peer->state;
    _Atomic uint64_t *state = &link->shown->state;
    uint64_t seen = link->shows + IS_SHOWN;
    const uint64_t claimed = link->shows + IS_CLAIMED;
    if (atomic_compare_exchange_strong(state, &seen, link->shows)) return p2p__queue_waiting(&link->in);
    p2p_backoff backoff = p2p__backoff_short(CHUNK_POLLS, 0);
    while (seen == claimed && !p2p__queue_waiting(&link->in)) {
        if (!p2p__backoff_goes_on(self->spin, &backoff)) {
            p2p__pause(CHUNK_PAUSE_NS);
            if (is_gone(link)) break;
            backoff = p2p__backoff_short(CHUNK_POLLS, 0);
        }
        seen = atomic_load_explicit(state, memory_order_acquire);
    }
    bool is_waiting = p2p__queue_waiting(&link->in);
    seen = atomic_load_explicit(state, memory_order_relaxed); /* a sender that could not says so first */
    link->is_written = is_waiting && seen == claimed;
    atomic_store_explicit(state, link->shows, memory_order_relaxed);
    return is_waiting;
}

/* ---- The sender ---- */

/* The receiver does not sleep: it waits for whoever has claimed. */
static void publish(p2p_endpoint *self, p2p_link *peer, const p2p_short *message)
{
    shm_writer *out = &((link_end *)peer->state)->out;
    const shm_short b = p2p__shm_short_of(self, peer, message);
    memcpy(p2p__queue_begin(out, sizeof b), &b, sizeof b);
    p2p__queue_publish(out, sizeof b, QUEUE_SHOWN);
}

bool p2p__shm_write_to_shown(p2p_endpoint *self, p2p_link *peer, const p2p_short *message)
{
    link_end *link = peer->state;
    shm_world *w = self->state;
    shm_receive *shown = link->peer_shown;
    if (w->may_not_write) return false;
    uint64_t state = atomic_load_explicit(&shown->state, memory_order_acquire);
    if (state % STATES != IS_SHOWN || atomic_load_explicit(&shown->at, memory_order_relaxed) != link->out.at ||
        atomic_load_explicit(&shown->context, memory_order_relaxed) != message->context ||
        atomic_load_explicit(&shown->tag, memory_order_relaxed) != message->tag ||
        atomic_load_explicit(&shown->room, memory_order_relaxed) < message->bytes ||
        !p2p__queue_room(&link->out, sizeof(shm_short))) /* there is: all has been read. Now the writer knows */
        return false;
    uint64_t to = atomic_load_explicit(&shown->to, memory_order_relaxed);
    if (!atomic_compare_exchange_strong(&shown->state, &state, state + IS_CLAIMED - IS_SHOWN)) return false;
    void *from = (void *)(uintptr_t)message->payload;
    bool is_written = p2p__cma_write(pid_of(self, peer), from, to, message->bytes);
    if (!is_written && (errno == EPERM || errno == ENOSYS)) w->may_not_write = true;
    if (is_written)
        publish(self, peer, message);
    else
        atomic_store_explicit(&shown->state, state - IS_SHOWN, memory_order_release);
    return is_written;
}
