/* SPDX-License-Identifier: MIT */
/*
 * The socket world: each pair of ranks that talks has one Unix stream socketpair, opened through the supervisor when it
 * is first used. Plain sendmsg, recvmsg and ppoll.
 *
 * Reading takes as much as there is into a small buffer, so that many short messages cost one call; the payload of a
 * longer one goes straight to where it belongs, with what follows it landing in the small buffer again.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "p2p/shared/clock.h"
#include "p2p/shared/copy.h"
#include "p2p/world/world.h"

#define STAGING_BYTES 8192
#define READS_A_TURN 16
#define FIRST_RETRY_NS UINT64_C(100000)
#define LAST_RETRY_NS UINT64_C(50000000)
#define RETRY_LIMIT_NS UINT64_C(10000000000)

typedef struct {
    wire_header partial; /* of a header that has come in part */
    size_t have;
    bool in_payload;
    uint64_t retry_at, retry_pause, retry_since; /* after ENOBUFS; 0: not waiting */
} link_end;

typedef struct {
    size_t retrying;
    p2p_link *stalled; /* what it sent is in staging, unread, because there was no memory */
    size_t stalled_from, stalled_to;
    char staging[STAGING_BYTES];
} socket_world;

/* ---- Writing ---- */

static p2p_err cannot_write(p2p_endpoint *self, p2p_link *peer)
{
    socket_world *w = self->state;
    link_end *link = peer->state;
    if (errno == EAGAIN || errno == EPIPE || errno == ECONNRESET) {
        /* Where the link has ended, reading will find that, after what is still to be read. */
        self->sockets.polled[peer->slot].events = errno == EAGAIN ? POLLIN | POLLOUT : POLLIN;
        return P2P_OK;
    }
    if (errno == EFAULT) return p2p__bad_memory(self, peer->rank);
    uint64_t now = p2p__now(), limit = self->config->timeout_ns ? self->config->timeout_ns : RETRY_LIMIT_NS;
    if (!link->retry_since) link->retry_since = now;
    if ((errno != ENOBUFS && errno != ENOMEM) || now - link->retry_since > limit)
        return p2p__broken(self, P2P_ERR_SYS, "sending to rank %d fails: %s", peer->rank, strerror(errno));
    link->retry_pause = link->retry_pause ? 2 * link->retry_pause : FIRST_RETRY_NS;
    if (link->retry_pause > LAST_RETRY_NS) link->retry_pause = LAST_RETRY_NS;
    link->retry_at = now + link->retry_pause;
    w->retrying++;
    self->sockets.polled[peer->slot].events = POLLIN;
    return P2P_OK;
}

static p2p_err flush(p2p_endpoint *self, p2p_link *peer)
{
    socket_world *w = self->state;
    link_end *link = peer->state;
    if (link->retry_at) {
        link->retry_at = 0;
        w->retrying--;
    }
    while (peer->head && peer->fd >= 0) {
        p2p_packet *packet = peer->head;
        size_t header_done = packet->done < sizeof packet->header ? packet->done : sizeof packet->header;
        size_t header_left = sizeof packet->header - header_done, payload_done = packet->done - header_done;
        struct iovec parts[2] = {
            {(char *)&packet->header + header_done, header_left},
            {(void *)((uintptr_t)packet->payload + payload_done), packet->payload_bytes - payload_done}};
        bool skips = !header_left, has_payload = parts[1].iov_len > 0;
        struct msghdr message = {.msg_iov = &parts[skips], .msg_iovlen = (size_t)!skips + has_payload};
        ssize_t sent = TEMP_FAILURE_RETRY(sendmsg(peer->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL));
        if (sent < 0) return cannot_write(self, peer);
        link->retry_since = link->retry_pause = 0;
        packet->done += (size_t)sent;
        if (packet->done == sizeof packet->header + packet->payload_bytes) p2p__link_sent(self, peer);
    }
    if (peer->fd >= 0) self->sockets.polled[peer->slot].events = POLLIN;
    return P2P_OK;
}

static p2p_err post(p2p_endpoint *self, p2p_link *peer, p2p_packet *packet)
{
    bool first = p2p__link_queue(self, peer, packet);
    if (peer->fd >= 0) return first ? flush(self, peer) : P2P_OK;
    p2p__link_ask(self, peer);
    return P2P_OK;
}

static p2p_err link_opened(p2p_endpoint *self, p2p_link *peer, int place)
{
    (void)place;
    int bytes = (int)self->config->sndbuf;
    if (bytes) setsockopt(peer->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    return flush(self, peer);
}

/* ---- Reading ---- */

/* So many bytes of a payload have arrived: was that the end of it? */
static p2p_err advance(p2p_endpoint *self, p2p_link *peer, size_t bytes)
{
    link_end *link = peer->state;
    peer->in_got += bytes;
    link->in_payload = peer->in_got < p2p__wire_payload(&peer->in);
    return link->in_payload ? P2P_OK : p2p__delivered(self, peer);
}

/* Go through staging[from, to). On P2P_ERR_NOMEM the rest stays there, and nothing else is read until it has gone. */
static p2p_err parse(p2p_endpoint *self, p2p_link *peer, size_t from, size_t to)
{
    socket_world *w = self->state;
    link_end *link = peer->state;
    p2p_err err = P2P_OK;
    while (!err && from < to) {
        wire_header header;
        size_t used = sizeof header;
        if (link->in_payload) {
            uint64_t wanted = p2p__wire_payload(&peer->in) - peer->in_got;
            used = to - from < wanted ? to - from : (size_t)wanted;
            if (peer->in_dest) p2p__copy(peer->in_dest + peer->in_got, w->staging + from, used);
            err = advance(self, peer, used);
        } else if (to - from < used) {
            break;
        } else {
            memcpy(&header, w->staging + from, used);
            err = p2p__arrived(self, peer, &header);
            if (!err) err = advance(self, peer, 0);
        }
        if (err != P2P_ERR_NOMEM) from += used;
    }
    w->stalled = err == P2P_ERR_NOMEM ? peer : NULL;
    w->stalled_from = from;
    w->stalled_to = to;
    if (err) return err;
    link->have = to - from;
    memcpy(&link->partial, w->staging + from, link->have);
    return P2P_OK;
}

static p2p_err unstall(p2p_endpoint *self)
{
    socket_world *w = self->state;
    return w->stalled ? parse(self, w->stalled, w->stalled_from, w->stalled_to) : P2P_OK;
}

/* One recvmsg and what it brought. *more: there may be more. */
static p2p_err read_some(p2p_endpoint *self, p2p_link *peer, bool *more)
{
    socket_world *w = self->state;
    link_end *link = peer->state;
    size_t direct = link->in_payload && peer->in_dest ? (size_t)(peer->in.bytes - peer->in_got) : 0;
    size_t kept = link->in_payload ? 0 : link->have;
    memcpy(w->staging, &link->partial, kept);
    struct iovec parts[2] = {{w->staging + kept, STAGING_BYTES - kept}};
    int count = 1;
    if (direct) {
        parts[1] = parts[0];
        parts[0] = (struct iovec){peer->in_dest + peer->in_got, direct};
        count = 2;
    }
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)count};
    ssize_t result = TEMP_FAILURE_RETRY(recvmsg(peer->fd, &message, MSG_DONTWAIT));
    if (result < 0 && (errno == EAGAIN || errno == ENOMEM || errno == ENOBUFS)) return P2P_OK;
    if (result < 0 && errno == EFAULT) return p2p__bad_memory(self, peer->rank);
    if (result <= 0) {
        p2p__link_close(self, peer);
        p2p__peer_lost(self, peer);
        return P2P_OK;
    }
    self->moved++;
    size_t got = (size_t)result, taken = got < direct ? got : direct;
    *more = got == direct + STAGING_BYTES - kept;
    if (!link->in_payload) link->have = 0;
    p2p_err err = taken ? advance(self, peer, taken) : P2P_OK;
    return err ? err : parse(self, peer, 0, kept + got - taken);
}

static p2p_err read_link(p2p_endpoint *self, p2p_link *peer)
{
    p2p_err err = unstall(self);
    bool more = true;
    for (int i = 0; !err && more && i < READS_A_TURN && peer->fd >= 0; i++) {
        more = false;
        err = read_some(self, peer, &more);
    }
    return err;
}

/* ---- Progress ---- */

static p2p_err try_peer(p2p_endpoint *self, p2p_link *peer)
{
    return peer->fd >= 0 ? read_link(self, peer) : P2P_OK;
}

static p2p_err progress(p2p_endpoint *self, uint64_t deadline)
{
    socket_world *w = self->state;
    p2p_sockets *s = &self->sockets;
    const link_end *links = self->links;
    p2p_err err = unstall(self);
    if (err) return err;
    uint64_t until = deadline;
    for (int i = 0; w->retrying && i < self->size; i++)
        if (links[i].retry_at && links[i].retry_at < until) until = links[i].retry_at;
    int ready = p2p__sockets_sleep(s, until);
    if (ready < 0) return p2p__broken(self, P2P_ERR_SYS, "ppoll fails: %s", strerror(errno));
    uint64_t now = w->retrying ? p2p__now() : 0;
    for (int i = 0; !err && w->retrying && i < self->size; i++)
        if (links[i].retry_at && links[i].retry_at <= now) err = flush(self, p2p__link_to(self, i));
    if (err || !ready) return err ? err : deadline && until == deadline ? P2P_ERR_TIMEOUT : P2P_OK;

    if (self->control >= 0 && s->polled[0].revents) err = p2p__control_serve(self);
    for (size_t slot = s->slots; !err && slot-- > 1;) {
        short events = slot < s->slots ? s->polled[slot].revents : 0; /* a link may have been closed */
        if (!events) continue;
        p2p_link *peer = p2p__link_to(self, s->rank_of[slot]);
        s->polled[slot].revents = 0;
        if (events & POLLOUT) err = flush(self, peer);
        if (!err && (events & (POLLIN | POLLHUP | POLLERR))) err = read_link(self, peer);
    }
    return err;
}

const p2p_world p2p__world_socket = {
    .name = "socket",
    .sealed = true,
    .state_bytes = sizeof(socket_world),
    .link_bytes = sizeof(link_end),
    .post = post,
    .try_peer = try_peer,
    .progress = progress,
    .link = link_opened,
};
