/* SPDX-License-Identifier: MIT */
/* The shm world: frames that leave, record by record. */
#include <string.h>
#include <sys/param.h>

#include "p2p/world/world_shm.h"

#define PART_BYTES ((size_t)2 << 10) /* written before the reader may see it: small enough for both to work at once */
#define FAST_PATH_MOST ((size_t)8 << 10)

/* As p2p__queue_room. Looking for room may have left a pad there, which the reader has to take away. */
static size_t find_room(p2p_endpoint *self, p2p_link *peer, size_t least)
{
    shm_writer *out = &((link_end *)peer->state)->out;
    p2p__queue_rewind(out);
    size_t room = p2p__queue_room(out, least);
    if (!room) p2p__shm_wake_after(self, peer);
    return room;
}

/* One record of the first packet; false if there is no room. packet->done counts the header as sizeof(wire_header). */
static bool write_record(p2p_endpoint *self, p2p_link *peer)
{
    shm_writer *out = &((link_end *)peer->state)->out;
    p2p_packet *packet = peer->head;
    const wire_header *from = &packet->header;
    bool first = packet->done == 0, is_short = first && from->type == WIRE_EAGER && self->short_headers;
    size_t header = is_short ? p2p__short_size(packet->payload_bytes) : first ? sizeof *from : 0;
    size_t room = MIN(find_room(self, peer, first ? header : 1), header + PART_BYTES);
    if (!room) return false;
    size_t sent = first ? 0 : packet->done - sizeof *from;
    size_t part = MIN(packet->payload_bytes - sent, room - header);
    unsigned char *place = p2p__queue_begin(out, header + part);
    if (part) memcpy(place + header, (const char *)packet->payload + sent, part);
    if (is_short)
        memcpy(place, &(shm_short){from->context, from->tag, (uint32_t)from->bytes, from->sequence}, sizeof(shm_short));
    else
        memcpy(place, from, header);
    p2p__queue_publish(out, header + part, is_short ? QUEUE_SHORT : first ? QUEUE_FRAME : QUEUE_MORE);
    packet->done = sizeof *from + sent + part;
    return true;
}

void p2p__shm_flush(p2p_endpoint *self, p2p_link *peer)
{
    while (peer->head && write_record(self, peer)) {
        p2p__shm_wake_after(self, peer);
        self->moved++;
        const p2p_packet *packet = peer->head;
        if (packet->done == sizeof packet->header + packet->payload_bytes) p2p__link_sent(self, peer);
    }
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

/* ---- The fast path ---- */

bool p2p__shm_send_now(p2p_endpoint *self, p2p_link *peer, const p2p_short *message)
{
    const shm_world *w = self->state;
    link_end *link = peer->state;
    size_t size = p2p__short_size(message->bytes), bytes = size + message->bytes;
    if (!link->rings || peer->head || bytes > FAST_PATH_MOST || bytes > w->ring_size / 2) return false;
    if (!find_room(self, peer, bytes)) return false;
    const shm_short b = {message->context, message->tag, (uint32_t)message->bytes, p2p__frame_leaves(self, peer)};
    unsigned char *place = p2p__queue_begin(&link->out, bytes);
    if (message->bytes) memcpy(place + size, message->payload, message->bytes);
    memcpy(place, &b, sizeof b);
    p2p__queue_publish(&link->out, bytes, QUEUE_SHORT);
    p2p__shm_wake_after(self, peer);
    return true;
}
