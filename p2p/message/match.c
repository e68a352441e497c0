/* SPDX-License-Identifier: MIT */
/*
 * Matching: which receive gets which message.
 *
 * Receives that no message has met wait in lists: one for each source, and one for any source. Messages that no receive
 * has asked for wait in a list for each source. All lists are in order, and both sides are numbered (posting order,
 * arrival order), so that the oldest match over several lists is found by looking at the head parts only.
 */
#include <stdlib.h>
#include <string.h>

#include "p2p/message/trace_rank.h"

void p2p__list_add(p2p_request_list *list, p2p_request request)
{
    request->next = NULL;
    if (list->tail)
        list->tail->next = request;
    else
        list->head = request;
    list->tail = request;
}

void p2p__list_remove(p2p_request_list *list, p2p_request request)
{
    p2p_request before = NULL;
    for (p2p_request at = list->head; at && at != request; at = at->next) before = at;
    if (before)
        before->next = request->next;
    else
        list->head = request->next;
    if (list->tail == request) list->tail = before;
    request->next = NULL;
    request->posted = false;
}

p2p_request p2p__list_find(p2p_request_list *list, uint64_t id)
{
    p2p_request at = list->head;
    while (at && at->id != id) at = at->next;
    return at;
}

static p2p_request first_match(p2p_request_list *list, const wire_header *header)
{
    for (p2p_request at = list->head; at; at = at->next)
        if (at->context == header->context && p2p__tag_matches(at->tag, header->tag)) return at;
    return NULL;
}

p2p_request p2p__match_posted(p2p_engine *engine, const wire_header *header)
{
    p2p_request_list *here = &engine->peers[header->source].posted, *any = &engine->posted_any;
    p2p_request from_here = first_match(here, header), from_any = first_match(any, header);
    bool take_any = from_any && (!from_here || from_any->id < from_here->id);
    p2p_request found = take_any ? from_any : from_here;
    if (found) p2p__list_remove(take_any ? any : here, found);
    return found;
}

static p2p_unexpected *first_unexpected(p2p_peer *peer, uint32_t context, int tag)
{
    for (p2p_unexpected *at = peer->unexpected; at; at = at->next)
        if (at->header.context == context && p2p__tag_matches(tag, at->header.tag)) return at;
    return NULL;
}

p2p_unexpected *p2p__match_unexpected(p2p_engine *engine, uint32_t context, int source, int tag)
{
    if (!engine->unexpected_count || engine->choices) return NULL;
    if (source >= 0) return first_unexpected(&engine->peers[source], context, tag);
    p2p_unexpected *oldest = NULL;
    for (int i = 0; i < engine->size; i++) {
        p2p_unexpected *found = first_unexpected(&engine->peers[i], context, tag);
        if (found && (!oldest || found->order < oldest->order)) oldest = found;
    }
    return oldest;
}

p2p_unexpected *p2p__unexpected_add(p2p_engine *engine, p2p_peer *peer, const wire_header *header, size_t data_bytes)
{
    p2p_unexpected *message = malloc(sizeof *message + data_bytes);
    if (!message) return NULL;
    memset(message, 0, sizeof *message);
    message->header = *header;
    message->order = engine->next_order++;
    message->generation = engine->scoreboard->generation.number;
    *peer->unexpected_tail = message;
    peer->unexpected_tail = &message->next;
    engine->unexpected_count++;
    if (engine->notes) p2p__note_kept(engine);
    return message;
}

void p2p__unexpected_remove(p2p_engine *engine, p2p_unexpected *message)
{
    p2p_peer *peer = &engine->peers[message->header.source];
    p2p_unexpected **at = &peer->unexpected;
    while (*at != message) at = &(*at)->next;
    *at = message->next;
    if (!*at) peer->unexpected_tail = at;
    message->next = NULL;
    engine->unexpected_count--;
    if (engine->notes) p2p__note_kept(engine);
}
