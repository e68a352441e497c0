/* SPDX-License-Identifier: MIT */
/*
 * The shm world: each pair of ranks that talks has two rings in shared memory (shm_ring.h), one in each direction, and
 * a Unix stream socketpair, both given out by the supervisor when they are first needed. Frames go through the rings.
 * Over the socketpair nothing travels but single bytes that say "wake up", and its end of file, which tells of death.
 *
 *      sender                                     receiver
 *        write the record                           say that it is going to sleep (board row: asleep)
 *        is the receiver asleep? then one byte      look into all rings once more
 *                                                   ppoll
 *
 * Each side speaks first and looks afterwards, so a receiver never sleeps over a record. The same holds for a sender that
 * waits for room in a full ring. A frame whose payload is longer than the ring goes in parts, read while it is written.
 * The payload of a message that waits for its receive may also be read straight from the sender's memory (pull.h):
 * the seam's `read`.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "p2p/control.h"
#include "p2p/internal.h"
#include "p2p/memory.h"
#include "p2p/pull.h"
#include "p2p/shm_ring.h"

#define RINGS_OF_A_RANK ((size_t)1 << 20) /* about what the rings of one rank to all others take in all */
#define PART_BYTES ((size_t)8 << 10) /* written before the reader may see it: small enough for both to work at once */
#define RECORDS_A_TURN 64

/* What a RING_BRIEF says of its message. */
typedef struct {
    uint32_t context;
    int32_t tag;
    uint32_t bytes, sequence;
} brief;

/* A payload that does not fit behind it into one line begins with the next one: copies of whole lines are faster. */
static size_t brief_size(size_t payload)
{
    size_t in_line = RING_LINE - RING_HEAD;
    return payload <= in_line - sizeof(brief) ? sizeof(brief) : in_line;
}

typedef struct {
    int fd; /* -1: not open */
    bool asked, gone;
    size_t slot;             /* in the poll set */
    p2p_packet *head, *tail; /* on their way out */
    void *rings;             /* mapped; NULL: no link yet */
    shm_writer out;
    shm_reader in;
    bool in_payload;
} link_end;

typedef struct {
    link_end *links;       /* [size] */
    struct pollfd *polled; /* [0] is the supervisor */
    int *rank_of;          /* of a slot */
    size_t slots;
    p2p_peer **open; /* with rings */
    size_t open_count, ring_size;
    size_t queued; /* links with packets that have not left */
    uint32_t told; /* messages of the supervisor that have been read */
} shm_world;

/* ---- Opening and closing ---- */

static size_t ring_size(const p2p_config *config, int size)
{
    size_t wanted = config->sndbuf ? (size_t)config->sndbuf : RINGS_OF_A_RANK / (size_t)size, bytes = RING_SMALLEST;
    while (bytes < wanted && bytes < RING_LARGEST) bytes *= 2;
    return bytes;
}

static size_t link_memory(const p2p_config *config, int size)
{
    return p2p__memory_round(2 * p2p__ring_bytes(ring_size(config, size)));
}

static void close_world(p2p_engine *engine)
{
    shm_world *w = engine->world_state;
    for (int i = 0; w->links && i < engine->size; i++) {
        if (w->links[i].fd >= 0) close(w->links[i].fd);
        if (w->links[i].rings) munmap(w->links[i].rings, link_memory(&engine->config, engine->size));
    }
    free(w->links);
    free(w->polled);
    free(w->rank_of);
    free(w->open);
    free(w);
    engine->world_state = NULL;
}

static p2p_err open_world(p2p_engine *engine)
{
    shm_world *w = calloc(1, sizeof *w);
    if (!w) return P2P_ERR_NOMEM;
    size_t size = (size_t)engine->size;
    engine->world_state = w;
    w->links = calloc(size, sizeof *w->links);
    w->polled = calloc(size + 1, sizeof *w->polled);
    w->rank_of = calloc(size + 1, sizeof *w->rank_of);
    w->open = calloc(size, sizeof *w->open);
    if (!w->links || !w->polled || !w->rank_of || !w->open) {
        close_world(engine);
        return P2P_ERR_NOMEM;
    }
    for (size_t i = 0; i < size; i++) {
        w->links[i].fd = -1;
        engine->peers[i].link = &w->links[i];
    }
    w->polled[0] = (struct pollfd){.fd = engine->control, .events = POLLIN};
    w->slots = 1;
    w->ring_size = ring_size(&engine->config, engine->size);
    p2p__pull_allow();
    return P2P_OK;
}

/* ---- Waking ---- */

/* After something has been written or taken that the peer may be waiting for. */
static void wake(p2p_engine *engine, p2p_peer *peer)
{
    const link_end *link = peer->link;
    _Atomic uint32_t *asleep = &engine->board->rows[peer->rank].asleep;
    if (!atomic_load_explicit(asleep, memory_order_relaxed)) return;
    if (link->fd < 0 || !atomic_exchange(asleep, 0)) return;
    ssize_t sent;
    do sent = send(link->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent > 0 || errno == EAGAIN) return;           /* no room: there are bytes enough to wake it */
    if (errno == EPIPE || errno == ECONNRESET) return; /* nobody is left to wake */
    atomic_fetch_add(&engine->board->rows[peer->rank].nudges, 1);
    p2p__control_tell(engine, CONTROL_WAKE, peer->rank, 0);
}

static void wake_after(p2p_engine *engine, p2p_peer *peer)
{
    atomic_thread_fence(memory_order_seq_cst); /* it looks for what was just written after saying that it sleeps */
    wake(engine, peer);
}

/* ---- Writing ---- */

static size_t header_size(const p2p_engine *engine, const p2p_packet *packet)
{
    bool is_brief = packet->header.type == WIRE_EAGER && engine->brief;
    return is_brief ? brief_size(packet->payload_bytes) : sizeof(wire_header);
}

static unsigned put_header(const wire_header *header, size_t bytes, unsigned char *at)
{
    if (bytes == sizeof *header) {
        memcpy(at, header, sizeof *header);
        return RING_FRAME;
    }
    const brief b = {header->context, header->tag, (uint32_t)header->bytes, header->sequence};
    memcpy(at, &b, sizeof b);
    return RING_BRIEF;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* One record of the first packet; false if there is no room. packet->done counts the header as sizeof(wire_header). */
static bool write_record(p2p_engine *engine, link_end *link)
{
    p2p_packet *packet = link->head;
    bool first = packet->done == 0;
    size_t header = first ? header_size(engine, packet) : 0;
    size_t room = smaller(p2p__ring_room(&link->out, first ? header : 1), header + PART_BYTES);
    if (!room) return false;
    size_t sent = first ? 0 : packet->done - sizeof packet->header;
    size_t part = smaller(packet->payload_bytes - sent, room - header);
    unsigned char *place = p2p__ring_begin(&link->out, header + part);
    if (part) memcpy(place + header, (const char *)packet->payload + sent, part);
    unsigned kind = first ? put_header(&packet->header, header, place) : RING_MORE;
    p2p__ring_publish(&link->out, header + part, kind);
    packet->done = sizeof packet->header + sent + part;
    return true;
}

static void packet_left(p2p_engine *engine, p2p_peer *peer)
{
    shm_world *w = engine->world_state;
    link_end *link = peer->link;
    p2p_packet *packet = link->head;
    link->head = packet->next;
    if (!link->head) link->tail = NULL;
    if (!link->head) w->queued--;
    p2p__left(engine, peer, packet);
}

static void flush(p2p_engine *engine, p2p_peer *peer)
{
    link_end *link = peer->link;
    while (link->head && write_record(engine, link)) {
        wake_after(engine, peer);
        engine->moved++;
        const p2p_packet *packet = link->head;
        if (packet->done == sizeof packet->header + packet->payload_bytes) packet_left(engine, peer);
    }
}

static p2p_err post(p2p_engine *engine, p2p_peer *peer, p2p_packet *packet)
{
    shm_world *w = engine->world_state;
    link_end *link = peer->link;
    bool first = !link->head;
    if (first)
        link->head = packet;
    else
        link->tail->next = packet;
    link->tail = packet;
    if (!first) return P2P_OK;
    w->queued++;
    if (link->rings) flush(engine, peer);
    if (link->rings || link->asked || link->gone) return P2P_OK;
    link->asked = true;
    return p2p__control_tell(engine, CONTROL_WANT, peer->rank, 0);
}

/* ---- Links ---- */

static void drop_slot(shm_world *w, size_t slot)
{
    size_t last = --w->slots;
    w->polled[slot] = w->polled[last];
    w->rank_of[slot] = w->rank_of[last];
    if (slot != last) w->links[w->rank_of[slot]].slot = slot;
}

static void close_link(p2p_engine *engine, link_end *link)
{
    drop_slot(engine->world_state, link->slot);
    close(link->fd);
    link->fd = -1;
    link->gone = true;
}

/* End of file. Of a rank that has said goodbye it is expected; of another, the supervisor will say why in a moment. What
 * it wrote before is still in its ring. */
static void lose(p2p_engine *engine, p2p_peer *peer)
{
    close_link(engine, peer->link);
    int state = atomic_load(&engine->board->rows[peer->rank].state);
    if (state >= BOARD_FINALIZING || engine->lost_since) return;
    engine->lost_since = p2p__now();
    engine->lost_peer = peer->rank;
}

/* Of the two rings, the first is written by the lower rank. */
static void open_rings(p2p_engine *engine, p2p_peer *peer)
{
    const shm_world *w = engine->world_state;
    link_end *link = peer->link;
    bool lower = engine->rank < peer->rank;
    char *first = link->rings, *second = first + p2p__ring_bytes(w->ring_size);
    p2p__ring_open(lower ? first : second, w->ring_size, &link->out, NULL);
    p2p__ring_open(lower ? second : first, w->ring_size, NULL, &link->in);
}

static p2p_err link_opened(p2p_engine *engine, p2p_peer *peer, int fd, int place)
{
    shm_world *w = engine->world_state;
    link_end *link = peer->link;
    link->asked = true;
    link->fd = fd;
    link->slot = w->slots++;
    w->rank_of[link->slot] = peer->rank;
    w->polled[link->slot] = (struct pollfd){.fd = fd, .events = POLLIN};
    link->rings = p2p__memory_map(engine->memory_fd, (memory_place)place * MEMORY_UNIT,
                                  link_memory(&engine->config, engine->size));
    if (!link->rings)
        return p2p__broken(engine, P2P_ERR_NOMEM, "the memory of the link to rank %d cannot be mapped: %s", peer->rank,
                           strerror(errno));
    open_rings(engine, peer);
    w->open[w->open_count++] = peer;
    flush(engine, peer);
    return P2P_OK;
}

static p2p_packet *abandon(p2p_engine *engine, p2p_peer *peer)
{
    shm_world *w = engine->world_state;
    link_end *link = peer->link;
    p2p_packet *queued = link->head;
    if (queued) w->queued--;
    if (link->fd >= 0) close_link(engine, link);
    link->gone = true;
    link->head = link->tail = NULL;
    return queued;
}

/* ---- Reading ---- */

/* The record's first line is shown: its head of 8 bytes, and what follows. */
static p2p_err nonsense(p2p_engine *engine, const p2p_peer *peer, const char *what)
{
    const shm_reader *in = &((const link_end *)peer->link)->in;
    const unsigned char *at = (const unsigned char *)p2p__ring_head(in->ring, in->size, in->at);
    char line[3 * RING_LINE + 1] = "";
    for (size_t i = 0; i < RING_LINE; i++)
        snprintf(line + strlen(line), sizeof line - strlen(line), "%s%02x", i % 4 ? "" : " ", at[i]);
    return p2p__broken(engine, P2P_ERR_PROTO, "the bytes from rank %d are not a valid record: %s:%s", peer->rank, what,
                       line);
}

/* The end of what has arrived of this frame's payload? */
static p2p_err advance(p2p_engine *engine, p2p_peer *peer, const unsigned char *from, size_t bytes)
{
    link_end *link = peer->link;
    uint64_t left = p2p__wire_payload(&peer->in) - peer->in_got;
    if (bytes > left) return nonsense(engine, peer, "it is longer than its frame");
    if (bytes && peer->in_dest) memcpy(peer->in_dest + peer->in_got, from, bytes);
    peer->in_got += bytes;
    link->in_payload = bytes < left;
    return link->in_payload ? P2P_OK : p2p__delivered(engine, peer);
}

static p2p_err begin_brief(p2p_engine *engine, p2p_peer *peer, const unsigned char *at, size_t bytes)
{
    brief b;
    if (bytes < sizeof b) return nonsense(engine, peer, "it is too short for a header");
    memcpy(&b, at, sizeof b);
    size_t size = brief_size(b.bytes);
    if (bytes < size) return nonsense(engine, peer, "it is too short for a header");
    const wire_header header = {.type = WIRE_EAGER,
                                .context = b.context,
                                .tag = b.tag,
                                .bytes = b.bytes,
                                .sequence = b.sequence,
                                .source = (uint32_t)peer->rank};
    p2p_err err = p2p__arrived(engine, peer, &header);
    return err ? err : advance(engine, peer, at + size, bytes - size);
}

static p2p_err begin_frame(p2p_engine *engine, p2p_peer *peer, const unsigned char *at, size_t bytes)
{
    wire_header header;
    if (bytes < sizeof header) return nonsense(engine, peer, "it is too short for a header");
    memcpy(&header, at, sizeof header);
    p2p_err err = p2p__arrived(engine, peer, &header);
    return err ? err : advance(engine, peer, at + sizeof header, bytes - sizeof header);
}

static p2p_err read_record(p2p_engine *engine, p2p_peer *peer, size_t *bytes)
{
    const link_end *link = peer->link;
    unsigned kind;
    const unsigned char *at = p2p__ring_look(&link->in, bytes, &kind);
    if (!at || kind < RING_PAD || kind > RING_MORE)
        return nonsense(engine, peer, "its length or its kind is impossible");
    if (kind == RING_PAD) return P2P_OK;
    if (link->in_payload != (kind == RING_MORE)) return nonsense(engine, peer, "it is out of place");
    if (kind == RING_BRIEF) return begin_brief(engine, peer, at, *bytes);
    return kind == RING_FRAME ? begin_frame(engine, peer, at, *bytes) : advance(engine, peer, at, *bytes);
}

/* Up to so many records. On P2P_ERR_NOMEM the record stays where it is. */
static p2p_err read_link(p2p_engine *engine, p2p_peer *peer, int most)
{
    link_end *link = peer->link;
    for (int i = 0; i < most && p2p__ring_waiting(&link->in); i++) {
        size_t bytes;
        p2p_err err = read_record(engine, peer, &bytes);
        if (err) return err;
        engine->moved++;
        if (p2p__ring_take(&link->in, bytes)) wake(engine, peer);
    }
    return P2P_OK;
}

/* ---- Progress ---- */

/* One record only: it may be what is waited for, and a look at the line behind it may take as long as it took. */
static p2p_err try_peer(p2p_engine *engine, p2p_peer *peer)
{
    const link_end *link = peer->link;
    return link->rings ? read_link(engine, peer, 1) : P2P_OK;
}

static void flush_all(p2p_engine *engine)
{
    const shm_world *w = engine->world_state;
    for (size_t i = 0; i < w->open_count && w->queued; i++)
        if (w->links[w->open[i]->rank].head) flush(engine, w->open[i]);
}

static p2p_err hear_supervisor(p2p_engine *engine)
{
    shm_world *w = engine->world_state;
    uint32_t told = atomic_load_explicit(&engine->row->told, memory_order_acquire);
    if (engine->control < 0 || told == w->told) return P2P_OK;
    w->told = told;
    return p2p__control_serve(engine);
}

/* Everything that can be seen without asking the system. */
static p2p_err look_around(p2p_engine *engine)
{
    const shm_world *w = engine->world_state;
    p2p_err err = hear_supervisor(engine);
    for (size_t i = 0; !err && i < w->open_count; i++) err = read_link(engine, w->open[i], RECORDS_A_TURN);
    if (!err && w->queued) flush_all(engine);
    return err;
}

static int poll_until(shm_world *w, uint64_t until)
{
    for (;;) {
        struct timespec left = {0, 0};
        uint64_t now = until != UINT64_MAX ? p2p__now() : 0;
        if (until > now) {
            left.tv_sec = (time_t)((until - now) / UINT64_C(1000000000));
            left.tv_nsec = (long)((until - now) % UINT64_C(1000000000));
        }
        int ready = ppoll(w->polled, (nfds_t)w->slots, until == UINT64_MAX ? NULL : &left, NULL);
        if (ready >= 0 || (errno != EINTR && errno != ENOMEM)) return ready;
    }
}

/* Bytes that woke this rank mean nothing more. */
static void drain(p2p_engine *engine, size_t slot)
{
    shm_world *w = engine->world_state;
    p2p_peer *peer = &engine->peers[w->rank_of[slot]];
    char bytes[256];
    ssize_t got;
    do got = recv(w->polled[slot].fd, bytes, sizeof bytes, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != ENOMEM && errno != ENOBUFS)) lose(engine, peer);
}

static p2p_err sleep_until(p2p_engine *engine, uint64_t deadline)
{
    shm_world *w = engine->world_state;
    int ready = poll_until(w, deadline);
    if (ready < 0) return p2p__broken(engine, P2P_ERR_SYS, "ppoll fails: %s", strerror(errno));
    p2p_err err = engine->control >= 0 && w->polled[0].revents ? p2p__control_serve(engine) : P2P_OK;
    for (size_t slot = w->slots; !err && slot-- > 1;)
        if (slot < w->slots && w->polled[slot].revents) drain(engine, slot);
    if (err) return err;
    uint64_t before = engine->moved;
    err = look_around(engine);
    return !err && !ready && engine->moved == before ? P2P_ERR_TIMEOUT : err;
}

static p2p_err progress(p2p_engine *engine, uint64_t deadline)
{
    uint64_t before = engine->moved;
    p2p_err err = look_around(engine);
    if (err || !deadline || engine->moved != before) return err;
    atomic_store_explicit(&engine->row->asleep, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* and only then: is there really nothing? */
    err = look_around(engine);
    if (!err && engine->moved == before) err = sleep_until(engine, deadline);
    atomic_store_explicit(&engine->row->asleep, 0, memory_order_relaxed);
    return err;
}

/* ---- The express lane ---- */

static bool send_now(p2p_engine *engine, p2p_peer *peer, const p2p_brief *message)
{
    link_end *link = peer->link;
    size_t size = brief_size(message->bytes), bytes = size + message->bytes;
    if (!link->rings || link->head || message->bytes > PART_BYTES || !p2p__ring_room(&link->out, bytes)) return false;
    const brief b = {message->context, message->tag, (uint32_t)message->bytes, p2p__frame_leaves(engine, peer)};
    unsigned char *place = p2p__ring_begin(&link->out, bytes);
    if (message->bytes) memcpy(place + size, message->payload, message->bytes);
    memcpy(place, &b, sizeof b);
    p2p__ring_publish(&link->out, bytes, RING_BRIEF);
    wake_after(engine, peer);
    return true;
}

static bool is_waiting(const p2p_engine *engine, const p2p_peer *peer)
{
    const link_end *link = peer->link;
    (void)engine;
    return link->rings && p2p__ring_waiting(&link->in);
}

static bool look(const p2p_engine *engine, const p2p_peer *peer, p2p_brief *message)
{
    const link_end *link = peer->link;
    size_t bytes;
    unsigned kind;
    brief b;
    (void)engine;
    const unsigned char *at = p2p__ring_look(&link->in, &bytes, &kind);
    if (!at || kind != RING_BRIEF || bytes < sizeof b) return false;
    memcpy(&b, at, sizeof b);
    size_t size = brief_size(b.bytes);
    *message = (p2p_brief){b.context, b.tag, b.bytes, at + size};
    return bytes == size + b.bytes && b.sequence == peer->frames_in;
}

static void take(p2p_engine *engine, p2p_peer *peer)
{
    link_end *link = peer->link;
    size_t bytes;
    unsigned kind;
    p2p__ring_look(&link->in, &bytes, &kind);
    if (p2p__ring_take(&link->in, bytes)) wake(engine, peer);
}

/* ---- Reading another rank's memory ---- */

static bool read_memory(p2p_engine *engine, const p2p_peer *peer, void *to, uint64_t from, size_t bytes)
{
    return p2p__pull((pid_t)atomic_load(&engine->board->rows[peer->rank].pid), to, from, bytes);
}

const p2p_world p2p__world_shm = {
    .name = "shm",
    .open = open_world,
    .close = close_world,
    .post = post,
    .try_peer = try_peer,
    .progress = progress,
    .link = link_opened,
    .link_memory = link_memory,
    .abandon = abandon,
    .send_now = send_now,
    .is_waiting = is_waiting,
    .look = look,
    .take = take,
    .read = read_memory,
};
