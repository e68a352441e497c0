/* SPDX-License-Identifier: MIT */
/* The engine of a rank: what it owns, what frames that arrive do, and what the supervisor tells it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "p2p/message/trace_rank.h"
#include "p2p/shared/control.h"
#include "p2p/shared/copy.h"
#include "p2p/shared/crc.h"

/* From how many bytes on one copy between processes may beat two through a queue, by parts. Where every rank has a core,
 * the two copies go on at the same time, and what lies between them stays in caches: then ranks find out themselves which is
 * faster from there on (world/shm_ways.c). Ranks
 * that share a core take turns, and each turn costs; so it does if the queue has been made small. */
#define DIRECT_FROM ((size_t)16 << 10)
#if __has_include("tuned_direct.inc")
#include "tuned_direct.inc" /* `make tune`, in the folder of the build */
#else
#define DIRECT_FROM_ALONE ((size_t)128 << 10)
#endif

/* ---- Making and ending ---- */

/* What the world sees of this rank and its peers, and the world's own state; false if there is no memory for them. */
static bool open_world(p2p_engine *engine)
{
    const p2p_config *config = &engine->config;
    engine->end = (p2p_endpoint){.engine = engine,
                                 .rank = engine->rank,
                                 .size = engine->size,
                                 .control = engine->control,
                                 .memory_fd = engine->memory_fd,
                                 .scoreboard = engine->scoreboard,
                                 .row = engine->row,
                                 .config = config,
                                 .short_headers = !engine->sealed && !config->network.on && !config->trace_room,
                                 .spin = &engine->spin};
    engine->fast_path = engine->end.short_headers && engine->world->send_now && !config->strict;
    engine->shows_receives = engine->fast_path && engine->world->show && config->direct &&
                             engine->scoreboard->may_read && !config->timeout_ns && !p2p__memory_is_watched();
    engine->peers = calloc((size_t)engine->size, sizeof *engine->peers);
    if (!engine->peers) return false;
    for (int i = 0; i < engine->size; i++) {
        p2p_peer *peer = &engine->peers[i];
        peer->link = (p2p_link){.peer = peer, .rank = i, .waiting_sends = &peer->awaits_clear.head};
        peer->credit = engine->share;
        peer->unexpected_tail = &peer->unexpected;
    }
    return p2p__world_open(engine->world, &engine->end);
}

p2p_err p2p__engine_create(int rank, int control, int memory_fd, scoreboard *b, p2p_engine **out)
{
    p2p_engine *engine = calloc(1, sizeof *engine);
    if (!engine) {
        if (memory_fd >= 0) close(memory_fd);
        return P2P_ERR_NOMEM;
    }
    *engine = (p2p_engine){.rank = rank,
                           .size = b->size,
                           .control = control,
                           .memory_fd = memory_fd,
                           .scoreboard = b,
                           .row = &b->rows[rank],
                           .config = b->config,
                           .clock = &engine->own_clock,
                           .world = p2p__world_find(b->config.world),
                           .share = b->config.unexpected_max / (uint64_t)b->size,
                           .next_id = 1,
                           .spread.look_after = SPREAD_FIRST};
    enum p2p_wait_policy policy = (enum p2p_wait_policy)b->config.wait;
    int cores = p2p__cores() / b->hosts.beside, ranks = p2p__local_count(b);
    if (b->hosts.count > 1) ranks++; /* the launcher carries what goes to other hosts */
    if (cores < 1) cores = 1;
    bool cheap_polls = engine->world->link_memory;
    p2p__spin_init(&engine->spin, policy, ranks, cores, cheap_polls);
    if (policy == WAIT_AUTO ? cheap_polls && ranks > 1 : ranks <= cores) p2p__cores_go_home(p2p__number_here(b, rank));
    bool small_queue = b->config.sndbuf && b->config.sndbuf < DIRECT_FROM;
    if (b->config.direct == CONFIG_BY_CORES)
        engine->config.direct = engine->spin.longest && !small_queue ? DIRECT_FROM_ALONE : DIRECT_FROM;
    engine->sealed = engine->world->sealed || b->config.crc;
    /* A page that the kernel wipes in a forked child: the cheapest way to know that this is still the process that
     * began. */
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *mark = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mark != MAP_FAILED) {
        madvise(mark, page, MADV_WIPEONFORK);
        *mark = 1;
        engine->this_process = mark;
    }
    if (!engine->this_process || !open_world(engine)) {
        p2p__engine_destroy(engine);
        return P2P_ERR_NOMEM;
    }
    if (b->config.explore && !p2p__choices_create(engine)) {
        p2p__engine_destroy(engine);
        return P2P_ERR_NOMEM;
    }
    engine->trace = p2p__trace_create(engine);
    p2p__notes_create(engine);
    engine->observed = engine->trace || engine->notes;
    engine->observed_end = engine->trace || b->config.record;
    atomic_store(&engine->row->pid, getpid());
    atomic_store(&engine->row->state, SCOREBOARD_RUNNING);
    *out = engine;
    return P2P_OK;
}

void p2p__engine_destroy(p2p_engine *engine)
{
    p2p__world_close(engine->world, &engine->end);
    for (int i = 0; engine->peers && i < engine->size; i++) {
        p2p_peer *peer = &engine->peers[i];
        if (peer->in_unexpected && peer->in_unexpected->claimed) free(peer->in_unexpected);
        for (p2p_unexpected *message = peer->unexpected, *next; message; message = next) {
            next = message->next;
            free(message);
        }
    }
    p2p__choices_free(engine);
    p2p__blocks_free(engine);
    p2p__kept_free(engine);
    while (engine->lost) p2p__request_free(engine->lost);
    if (engine->control >= 0) close(engine->control);
    if (engine->memory_fd >= 0) close(engine->memory_fd);
    if (engine->this_process) munmap((void *)(uintptr_t)engine->this_process, (size_t)sysconf(_SC_PAGESIZE));
    free(engine->trace);
    free(engine->explained);
    free(engine->notes);
    free(engine->peers);
    free(engine);
}

p2p_link *p2p__link_to(p2p_endpoint *self, int rank)
{
    return &self->engine->peers[rank].link;
}

/* ---- Frames that leave ---- */

p2p_err p2p__post(p2p_engine *engine, p2p_peer *peer, p2p_packet *packet)
{
    packet->next = NULL;
    packet->done = 0;
    packet->header.source = (uint32_t)engine->rank;
    packet->header.sequence = p2p__frame_leaves(&engine->end, &peer->link);
    if (engine->sealed) p2p__wire_seal(&packet->header);
    return engine->world->post(&engine->end, &peer->link, packet);
}

void p2p__left(p2p_endpoint *self, p2p_link *link, p2p_packet *packet)
{
    p2p_engine *engine = self->engine;
    p2p_peer *peer = link->peer;
    switch ((enum wire_type)packet->header.type) {
    case WIRE_EAGER: p2p__complete(packet->owner, P2P_OK); break;
    case WIRE_PAYLOAD:
        if (!p2p__wire_in_memory(&packet->header)) p2p__complete(packet->owner, P2P_OK);
        break;
    case WIRE_REQUEST: break; /* the receiver's CLEAR comes next */
    case WIRE_CLEAR:          /* a receive that has all it will get */
        if (packet->header.flags & WIRE_FLAG_DROP) p2p__complete(packet->owner, packet->owner->err);
        break;
    case WIRE_CREDIT: peer->credit_busy = false; p2p__consumed(engine, peer, 0);
    }
}

bool p2p__waiting_send(p2p_link *link, uint64_t id, void **from, size_t *bytes)
{
    const struct p2p_operation *send = p2p__list_find(&link->peer->awaits_clear, id);
    if (!send) return false;
    *from = send->buf;
    *bytes = send->bytes;
    return true;
}

/* ---- Frames that arrive ---- */

p2p_err p2p__broken(p2p_endpoint *self, p2p_err err, const char *format, ...)
{
    p2p_engine *engine = self->engine;
    va_list args;
    engine->poisoned = err;
    engine->poison = (p2p_blame){.what = p2p__diagnosis_of(err)};
    engine->poison.what.reason = REASON_LINK;
    va_start(args, format);
    vsnprintf(engine->poison.cause, sizeof engine->poison.cause, format, args);
    va_end(args);
    p2p__give_up(engine, err);
    return err;
}

p2p_err p2p__arrived(p2p_endpoint *self, p2p_link *link, const wire_header *arrived)
{
    p2p_engine *engine = self->engine;
    p2p_peer *peer = link->peer;
    const wire_header *header = &link->in;
    p2p_request found;
    char why[400];
    if (!p2p__wire_check(arrived, engine->sealed, link->rank, link->frames_in, engine->config.eager, why, sizeof why))
        return p2p__broken(self, P2P_ERR_PROTO, "%s", why);
    link->in = *arrived;
    link->in_dest = NULL;
    link->in_got = 0;
    peer->in_request = NULL;
    peer->in_unexpected = NULL;
    switch ((enum wire_type)header->type) {
    case WIRE_EAGER:
        found = peer->in_request = p2p__match_posted(engine, header);
        if (!found) peer->in_unexpected = p2p__unexpected_add(engine, peer, header, (size_t)header->bytes);
        if (!found && !peer->in_unexpected) return P2P_ERR_NOMEM;
        if (!found)
            link->in_dest = peer->in_unexpected->data;
        else if (p2p__accept(found, header))
            link->in_dest = found->buf;
        return P2P_OK;
    case WIRE_REQUEST:
        if (engine->choices) p2p__choice_arrived(engine, header);
        found = engine->choices ? NULL : p2p__match_posted(engine, header);
        if (found) return p2p__answer(engine, found, header);
        return p2p__unexpected_add(engine, peer, header, 0) ? P2P_OK : P2P_ERR_NOMEM;
    case WIRE_CLEAR:
        found = p2p__list_find(&peer->awaits_clear, header->sender_id);
        if (found) return p2p__got_clear(engine, peer, found, header);
        return p2p__broken(self, P2P_ERR_PROTO, "rank %d answers a send that was never announced to it", link->rank);
    case WIRE_PAYLOAD:
        found = p2p__list_find(&peer->awaits_payload, header->receiver_id);
        if (!found || found->status.bytes != header->bytes)
            return p2p__broken(self, P2P_ERR_PROTO, "rank %d sends a payload of %llu bytes that was not asked for",
                               link->rank, (unsigned long long)header->bytes);
        p2p__list_remove(&peer->awaits_payload, found);
        if (p2p__wire_in_memory(header)) return p2p__got_memory(engine, peer, found, header);
        if (found->guarded) p2p__before_receive(found);
        peer->in_request = found;
        link->in_dest = found->buf;
        return P2P_OK;
    case WIRE_CREDIT: peer->credit += header->bytes; return P2P_OK;
    }
    return P2P_ERR_PROTO;
}

p2p_err p2p__damaged(p2p_engine *engine, const p2p_peer *peer, const wire_header *header)
{
    return p2p__broken(&engine->end, P2P_ERR_PROTO,
                       "a message of %llu bytes with tag %d from rank %d was damaged on the way: "
                       "its CRC32C is wrong",
                       (unsigned long long)header->bytes, header->tag, peer->link.rank);
}

void p2p__frame_received(p2p_engine *engine, p2p_peer *peer)
{
    engine->end.moved++;
    peer->link.frames_in++;
    if (peer->received_dirty) return;
    peer->received_dirty = true;
    peer->next_dirty = engine->dirty;
    engine->dirty = peer;
}

p2p_err p2p__delivered(p2p_endpoint *self, p2p_link *link)
{
    p2p_engine *engine = self->engine;
    p2p_peer *peer = link->peer;
    const wire_header *in = &link->in;
    p2p_unexpected *message = peer->in_unexpected;
    p2p_request receive = message ? message->claimed : peer->in_request;
    p2p__frame_received(engine, peer);
    if ((in->flags & WIRE_FLAG_CRC) && link->in_dest &&
        p2p__crc32c(0, link->in_dest, (size_t)in->bytes) != in->payload_crc)
        return p2p__damaged(engine, peer, in);
    peer->in_request = NULL;
    peer->in_unexpected = NULL;
    if (message) message->complete = true;
    if (message && receive && receive->guarded) p2p__before_receive(receive);
    if (message && receive && !receive->err) p2p__copy(receive->buf, message->data, (size_t)in->bytes);
    if (receive) p2p__complete(receive, receive->err);
    if (message && receive) free(message);
    if (in->type != WIRE_EAGER || (message && !receive)) return P2P_OK;
    return p2p__consumed(engine, peer, (size_t)p2p__eager_cost((size_t)in->bytes));
}

/* ---- The supervisor ---- */

void p2p__peer_lost(p2p_endpoint *self, const p2p_link *link)
{
    p2p_engine *engine = self->engine;
    const p2p_peer *peer = link->peer;
    int state = atomic_load(&engine->scoreboard->rows[peer->link.rank].state);
    if (state >= SCOREBOARD_FINALIZING || engine->lost_since) return;
    engine->lost_since = p2p__now();
    engine->lost_peer = peer->link.rank;
}

/* No link to this peer can be had: every operation with it ends with P2P_ERR_SYS. */
static void make_unreachable(p2p_engine *engine, p2p_peer *peer, int lacking_rank, int limit)
{
    peer->unreachable = true;
    peer->lacking_rank = lacking_rank;
    peer->limit = limit;
    p2p_packet *packet = peer->link.head;
    if (packet) engine->end.queued--;
    peer->link.head = NULL;
    p2p__link_close(&engine->end, &peer->link);
    for (p2p_packet *next; packet; packet = next) {
        next = packet->next;
        if (packet->header.type == WIRE_EAGER) p2p__complete(packet->owner, P2P_ERR_SYS);
    }
    peer->link.frames_out = 0; /* the other side has never had its end, so nothing has been or will be received */
    p2p__row_open(engine->row);
    atomic_store_explicit(&p2p__scoreboard_sent(engine->scoreboard, engine->rank)[peer->link.rank], 0,
                          memory_order_relaxed);
    p2p__row_shut(engine->row);
    p2p_request_list *lists[] = {&peer->awaits_clear, &peer->posted};
    for (int i = 0; i < 2; i++)
        while (lists[i]->head) {
            p2p_request request = lists[i]->head;
            p2p__list_remove(lists[i], request);
            p2p__complete(request, P2P_ERR_SYS);
        }
}

p2p_err p2p__unreachable_error(p2p_comm *comm, const p2p_peer *peer)
{
    char who[40] = "the launcher";
    if (peer->no_memory) return p2p__fail(comm, CAUSE_NO_LINK_MEMORY, peer->link.rank, strerror(peer->no_memory));
    if (peer->lacking_rank >= 0) snprintf(who, sizeof who, "rank %d", peer->lacking_rank);
    return p2p__fail(comm, CAUSE_NO_LINK, peer->link.rank, who, peer->limit);
}

static p2p_err obey(p2p_engine *engine, const control_message *message, int fd, bool fd_lost)
{
    p2p_peer *peer = &engine->peers[message->rank];
    struct rlimit limit;
    switch (message->type) {
    case CONTROL_LINK:
        if (fd >= 0) {
            p2p__control_tell(engine->control, CONTROL_GOT, message->rank, 0);
            p2p__link_opened(&engine->end, &peer->link, fd);
            return engine->world->link(&engine->end, &peer->link, message->value);
        }
        if (!fd_lost)
            return p2p__broken(&engine->end, P2P_ERR_PROTO, "the launcher announced a link to rank %d and sent none",
                               message->rank);
        int most = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (int)limit.rlim_cur : 0; /* of this rank's descriptors */
        p2p__control_tell(engine->control, CONTROL_LOST, message->rank, most);
        make_unreachable(engine, peer, engine->rank, most);
        return P2P_OK;
    case CONTROL_NOMEMORY:
        peer->no_memory = message->value;
        make_unreachable(engine, peer, -1, 0);
        return P2P_OK;
    case CONTROL_NOLINK: /* a limit of the launcher's is sent as a negative number */
        make_unreachable(engine, peer, message->value < 0 ? -1 : message->rank, abs(message->value));
        return P2P_OK;
    case CONTROL_FAILED: engine->failed = p2p__scoreboard_failure(engine->scoreboard, NULL, 0); return P2P_OK;
    case CONTROL_NUDGE: engine->nudges_seen++; return P2P_OK;
    case CONTROL_ALL_DONE: engine->all_done = true; return P2P_OK;
    case CONTROL_KEPT:
        engine->kept_came = true;
        engine->kept_fd = fd;
        engine->kept_value = fd_lost ? -EMFILE : message->value;
        return P2P_OK;
    default:
        return p2p__broken(&engine->end, P2P_ERR_PROTO, "the launcher sent message %d, which is unknown",
                           message->type);
    }
}

p2p_err p2p__control_serve(p2p_endpoint *self)
{
    p2p_engine *engine = self->engine;
    control_message message;
    int fd, got;
    bool fd_lost;
    p2p_err err = P2P_OK;
    while (!err && (got = p2p__control_receive(engine->control, &message, &fd, &fd_lost)) != 0) {
        if (got < 0) _exit(1); /* the supervisor is gone, and the job with it */
        engine->end.moved++;
        err = obey(engine, &message, fd, fd_lost);
    }
    return err;
}
