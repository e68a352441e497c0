/* SPDX-License-Identifier: MIT */
/* The shm world: frames that leave, record by record, and records that arrive. */
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "p2p/shared/clock.h"
#include "p2p/shared/copy.h"
#include "p2p/world/world_shm.h"

/* Written before the reader may see it: as much of the queue as lets both work at once. Each record costs two trips of a line between
 * cores, so it is not shorter than that pays. */
#define PART_OF_QUEUE 8
#define PART_LEAST ((size_t)2 << 10)
#define PART_MOST ((size_t)8 << 10)
#define PART_OF_LONG_MOST \
    (SHM_RECORD_MOST - 2 * QUEUE_LINE) /* of a payload that was asked for, behind its first part */
#define TIMED_FROM ((size_t)4 << 10)

/* ---- Writing ---- */

/* As p2p__queue_room. Looking for room may have left a pad there, which the reader has to take away. */
static size_t find_room(p2p_endpoint *self, p2p_link *peer, size_t least)
{
    shm_writer *out = &((link_end *)peer->state)->out;
    size_t room = p2p__queue_room(out, least);
    if (!room) p2p__shm_wake_after(self, peer);
    return room;
}

/* One record of the first packet; false if there is no room. packet->done counts the header as sizeof(wire_header). */
static bool write_record(p2p_endpoint *self, p2p_link *peer)
{
    const shm_world *w = self->state;
    shm_writer *out = &((link_end *)peer->state)->out;
    p2p_packet *packet = peer->head;
    const wire_header *from = &packet->header;
    bool first = packet->done == 0, is_short = first && from->type == WIRE_EAGER && self->short_headers;
    size_t header = is_short ? p2p__short_size(packet->payload_bytes) : first ? sizeof *from : 0;
    if (first) p2p__queue_rewind(out, header + packet->payload_bytes);
    size_t room = find_room(self, peer, first ? header : 1);
    if (!room) return false;
    size_t sent = first ? 0 : packet->done - sizeof *from, left = packet->payload_bytes - sent;
    size_t most = from->type == WIRE_PAYLOAD && !first ? PART_OF_LONG_MOST : PART_MOST;
    size_t part = MIN(MAX(w->ring_size / PART_OF_QUEUE, PART_LEAST), most);
    if (left <= part + QUEUE_LINE)
        part = left;
    else if (first)
        part -= QUEUE_LINE - QUEUE_HEAD; /* so the next, and its place, are as far behind a line */
    part = MIN(part, room - header);
    unsigned char *place = p2p__queue_begin(out, header + part);
    if (part) p2p__copy(place + header, (const char *)packet->payload + sent, part);
    if (is_short)
        memcpy(place,
               &(shm_short){from->context, from->tag, (uint32_t)from->bytes, (uint16_t)from->sequence, from->kind},
               sizeof(shm_short));
    else
        memcpy(place, from, header);
    p2p__queue_publish(out, header + part, is_short ? QUEUE_SHORT : first ? QUEUE_FRAME : QUEUE_MORE);
    packet->done = sizeof *from + sent + part;
    return true;
}

void p2p__shm_flush(p2p_endpoint *self, p2p_link *peer)
{
    uint64_t before = self->moved;
    while (peer->head && write_record(self, peer)) {
        self->moved++;
        const p2p_packet *packet = peer->head;
        if (packet->done == sizeof packet->header + packet->payload_bytes) p2p__link_sent(self, peer);
    }
    if (self->moved != before) p2p__shm_wake_after(self, peer);
}

p2p_err p2p__shm_post(p2p_endpoint *self, p2p_link *peer, p2p_packet *packet)
{
    const link_end *link = peer->state;
    if (!p2p__link_queue(self, peer, packet)) return P2P_OK;
    if (link->rings)
        p2p__shm_flush(self, peer);
    else
        p2p__link_ask(self, peer);
    return P2P_OK;
}

/* ---- Reading ---- */

/* The record's first line is shown: its head of 8 bytes, and what follows. */
static p2p_err nonsense(p2p_endpoint *self, const p2p_link *peer, const char *what)
{
    const shm_reader *in = &((const link_end *)peer->state)->in;
    const unsigned char *at = (const unsigned char *)p2p__queue_head(in->ring, in->size, in->at);
    char line[3 * QUEUE_LINE + 1] = "";
    for (size_t i = 0; i < QUEUE_LINE; i++)
        snprintf(line + strlen(line), sizeof line - strlen(line), "%s%02x", i % 4 ? "" : " ", at[i]);
    return p2p__broken(self, P2P_ERR_PROTO, "the bytes from rank %d are not a valid record: %s:%s", peer->rank, what,
                       line);
}

/* Out of the queue. How long that takes of a first part says whether the lines come from another core's cache. */
static void copy_out(link_end *link, char *to, const unsigned char *from, size_t bytes)
{
    uint64_t before = !link->in_payload && bytes >= TIMED_FROM ? p2p__now() : 0;
    p2p__copy(to, from, bytes);
    if (before) p2p__shm_copy_took(link, (unsigned)((p2p__now() - before) * 1024 / bytes));
}

/* The end of what has arrived of this frame's payload? */
static p2p_err advance(p2p_endpoint *self, p2p_link *peer, const unsigned char *from, size_t bytes)
{
    link_end *link = peer->state;
    uint64_t left = p2p__wire_payload(&peer->in) - peer->in_got;
    if (bytes > left) return nonsense(self, peer, "it is longer than its frame");
    if (bytes && peer->in_dest) copy_out(link, peer->in_dest + peer->in_got, from, bytes);
    peer->in_got += bytes;
    link->in_payload = bytes < left;
    if (link->in_payload) return P2P_OK;
    if (peer->in.type == WIRE_PAYLOAD) p2p__shm_way_ended(link, peer->in_dest, (size_t)peer->in.bytes);
    return p2p__delivered(self, peer);
}

/* A pad; the beginning of a frame, its header, whole or short, and some of its payload; or more of one. */
static p2p_err read_record(p2p_endpoint *self, p2p_link *peer, size_t *bytes)
{
    const link_end *link = peer->state;
    wire_header header;
    shm_short b;
    unsigned kind;
    const unsigned char *at = p2p__queue_look(&link->in, bytes, &kind);
    if (!at || kind < QUEUE_PAD || kind > QUEUE_MORE)
        return nonsense(self, peer, "its length or its kind is impossible");
    if (kind == QUEUE_PAD) return P2P_OK;
    if (link->in_payload != (kind == QUEUE_MORE)) return nonsense(self, peer, "it is out of place");
    if (kind == QUEUE_MORE) return advance(self, peer, at, *bytes);
    size_t size = kind == QUEUE_SHORT ? sizeof b : sizeof header;
    if (*bytes >= size && kind == QUEUE_SHORT) {
        memcpy(&b, at, sizeof b);
        size = p2p__short_size(b.bytes);
        header = (wire_header){.type = WIRE_EAGER,
                               .context = b.context,
                               .tag = b.tag,
                               .bytes = b.bytes,
                               .sequence = (peer->frames_in & ~UINT32_C(0xffff)) | b.sequence,
                               .kind = b.kind,
                               .source = (uint32_t)peer->rank};
    } else if (*bytes >= size) {
        memcpy(&header, at, sizeof header);
    }
    if (*bytes < size) return nonsense(self, peer, "it is too short for a header");
    p2p_err err = p2p__arrived(self, peer, &header);
    return err ? err : advance(self, peer, at + size, *bytes - size);
}

p2p_err p2p__shm_read(p2p_endpoint *self, p2p_link *peer, int most)
{
    link_end *link = peer->state;
    for (int i = 0; i < (link->in_payload ? RECORDS_A_TURN : most) && p2p__queue_waiting(&link->in); i++) {
        size_t bytes;
        p2p_err err = read_record(self, peer, &bytes);
        if (err) return err;
        self->moved++;
        if (p2p__queue_take(&link->in, bytes)) p2p__shm_wake(self, peer);
    }
    return P2P_OK;
}

/* ---- The fast path ---- */

bool p2p__shm_send_now(p2p_endpoint *self, p2p_link *peer, const p2p_short *message)
{
    const shm_world *w = self->state;
    link_end *link = peer->state;
    size_t size = p2p__short_size(message->bytes), bytes = size + message->bytes;
    if (!link->rings || peer->head) return false;
    if (message->bytes > FAST_PATH_MOST) return p2p__shm_write_to_shown(self, peer, message);
    if (bytes > w->ring_size / 2) return false;
    p2p__queue_rewind(&link->out, bytes);
    if (!find_room(self, peer, bytes)) return false;
    const shm_short b = p2p__shm_short_of(self, peer, message);
    unsigned char *place = p2p__queue_begin(&link->out, bytes);
    if (message->bytes) p2p__copy(place + size, message->payload, message->bytes);
    memcpy(place, &b, sizeof b);
    p2p__queue_publish(&link->out, bytes, QUEUE_SHORT);
    p2p__shm_wake_after(self, peer);
    return true;
}

bool p2p__shm_is_waiting(const p2p_endpoint *self, const p2p_link *peer)
{
    link_end *link = peer->state;
    (void)self;
    if (!link->rings) return false;
    p2p__queue_expect(&link->in);
    if (p2p__queue_waiting(&link->in)) return true;
    p2p__queue_fetch(&link->out);
    return false;
}

bool p2p__shm_look(const p2p_endpoint *self, const p2p_link *peer, p2p_short *message)
{
    const link_end *link = peer->state;
    size_t bytes;
    unsigned kind;
    shm_short b;
    (void)self;
    const unsigned char *at = p2p__queue_look(&link->in, &bytes, &kind);
    bool is_written = kind == QUEUE_SHOWN && link->is_written;
    if (!at || (kind != QUEUE_SHORT && !is_written) || bytes < sizeof b) return false;
    memcpy(&b, at, sizeof b);
    size_t size = p2p__short_size(b.bytes);
    *message = (p2p_short){b.context, b.tag, b.bytes, is_written ? NULL : at + size, b.kind};
    return (is_written || bytes == size + b.bytes) && b.sequence == (uint16_t)peer->frames_in;
}

void p2p__shm_take(p2p_endpoint *self, p2p_link *peer)
{
    link_end *link = peer->state;
    size_t bytes;
    unsigned kind;
    p2p__queue_look(&link->in, &bytes, &kind);
    link->is_written = false;
    if (p2p__queue_take(&link->in, bytes)) p2p__shm_wake(self, peer);
}
