/* SPDX-License-Identifier: MIT */
/*
 * The same links in the shm world: two queues in shared memory, of which the launcher is the other end, as a rank would be
 * (world_shm.c). Records of a queue cross as they are, several in one RECORD_BYTES:
 *
 *      kind, length | content, padded to 8 | kind, length | content ...
 *
 * The socket only wakes: the rank, if its row says that it sleeps; the launcher, if the row of the rank elsewhere says so.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "p2p/job/hosts.h"
#include "p2p/shared/copy.h"
#include "p2p/shared/wire.h"
#include "p2p/shared/words.h"
#include "p2p/world/cma.h"

typedef struct {
    uint32_t kind, bytes;
} queue_record;

bool p2p__far_map(p2p_job *job, far_link *link, int place)
{
    const p2p_config *config = &job->plan->config;
    size_t room = p2p__shm_ring_size(config, job->size), bytes = p2p__shm_link_memory(config, job->size);
    char *first = p2p__memory_map(job->scoreboard_fd, (memory_place)place * MEMORY_UNIT, bytes);
    if (!first) return false;
    char *second = first + p2p__queue_bytes(room);
    bool lower = link->there < link->here; /* this end stands for the rank elsewhere */
    p2p__queue_open(lower ? first : second, room, &link->out, NULL);
    p2p__queue_open(lower ? second : first, room, NULL, &link->in);
    link->rings = first;
    link->rings_bytes = bytes;
    return true;
}

void p2p__far_unmap(far_link *link)
{
    if (link->rings) munmap(link->rings, link->rings_bytes);
    link->rings = NULL;
}

/* ---- Waking ---- */

static void wake(p2p_job *job, const far_link *link)
{
    _Atomic uint32_t *asleep = &job->scoreboard->rows[link->here].asleep;
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load(asleep) || link->fd < 0 || !atomic_exchange(asleep, 0)) return;
    TEMP_FAILURE_RETRY(send(link->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL));
}

void p2p__far_asleep(p2p_job *job, bool asleep)
{
    p2p_cluster *hosts = job->hosts;
    if (hosts->asleep == asleep) return;
    hosts->asleep = asleep;
    atomic_store_explicit(&job->scoreboard->shared->launcher_asleep, asleep, memory_order_relaxed);
    for (size_t i = 0; i < hosts->open_count; i++)
        atomic_store_explicit(&job->scoreboard->rows[hosts->open[i]->there].asleep, asleep, memory_order_relaxed);
    if (asleep) atomic_thread_fence(memory_order_seq_cst);
}

/* ---- To the rank here ---- */

/* The least of it that can be written at once: of a short one its head, and no more than the queue says when there is room for. */
static size_t least_of(const far_link *link, const queue_record *r)
{
    size_t half = link->out.size / 2 * QUEUE_LINE - QUEUE_HEAD;
    if (r->kind == QUEUE_SHORT) return r->bytes < half ? r->bytes : half;
    return r->kind == QUEUE_FRAME ? sizeof(wire_header) : 1;
}

static bool is_sound(unsigned kind, size_t bytes)
{
    return kind >= QUEUE_SHORT && kind <= QUEUE_MORE && bytes <= QUEUE_LARGEST &&
           (kind != QUEUE_FRAME || bytes >= sizeof(wire_header));
}

bool p2p__far_records_are_sound(const char *bytes, size_t count)
{
    while (count) {
        queue_record r = {.kind = 0};
        if (count >= sizeof r) memcpy(&r, bytes, sizeof r);
        size_t all = sizeof r + p2p__record_room(r.bytes);
        if (!is_sound(r.kind, r.bytes) || all > count) return false;
        bytes += all;
        count -= all;
    }
    return true;
}

/* As much of a record as there is room for; how much of its content that was. */
static size_t write_record(far_link *link, const queue_record *r, const char *content)
{
    p2p__queue_rewind(&link->out, r->bytes);
    size_t room = p2p__queue_room(&link->out, least_of(link, r)), bytes = r->bytes < room ? r->bytes : room;
    if (!room) return 0;
    p2p__copy(p2p__queue_begin(&link->out, bytes), content, bytes);
    p2p__queue_publish(&link->out, bytes, r->kind);
    return bytes;
}

/* Of what came from the other host; how much of it is in the queue now. What is left of a record becomes one. */
size_t p2p__far_write_records(p2p_job *job, far_link *link, char *bytes, size_t count)
{
    size_t done = 0;
    bool full = false;
    while (!full && done + sizeof(queue_record) <= count) {
        queue_record r;
        memcpy(&r, bytes + done, sizeof r);
        size_t all = sizeof r + p2p__record_room(r.bytes), written = write_record(link, &r, bytes + done + sizeof r);
        full = written < r.bytes;
        if (!full) done += all;
        if (!full || !written) continue;
        /* the rest moves to the end of its place, with a head of its own */
        queue_record rest = {QUEUE_MORE, r.bytes - (uint32_t)written};
        size_t begin = done + all - p2p__record_room(rest.bytes) - sizeof rest;
        memmove(bytes + begin + sizeof rest, bytes + done + sizeof r + written, rest.bytes);
        memcpy(bytes + begin, &rest, sizeof rest);
        done = begin;
    }
    wake(job, link);
    return done;
}

/* ---- From the rank here ---- */

/* The PAYLOAD that is the next record, if launchers copy its message. */
static bool in_memory(const far_link *link, wire_header *header)
{
    size_t bytes;
    unsigned kind;
    const unsigned char *at = p2p__queue_waiting(&link->in) ? p2p__queue_look(&link->in, &bytes, &kind) : NULL;
    if (!at || kind != QUEUE_FRAME || bytes < sizeof *header) return false;
    memcpy(header, at, sizeof *header);
    return p2p__wire_in_memory(header);
}

/* A rank may be a child of the process that was started (--wrap), and says so in its row; where it may say anything, so no
 * process of another group is taken for it: not this launcher either. */
static pid_t process_of(const p2p_job *job, int rank)
{
    pid_t pid = atomic_load(&job->scoreboard->rows[rank].pid), started = job->ranks[rank].pid;
    return pid > 0 && getpgid(pid) == started ? pid : started;
}

/* Of the memory that ranks here share, as this launcher sees it. NULL: its view does not reach there, or there is nothing. */
static const char *seen(p2p_job *job, uint64_t place, size_t bytes)
{
    memory_window *window = &job->hosts->window;
    if (!window->at) *window = p2p__memory_window(job->scoreboard_fd);
    return p2p__memory_seen(window, job->scoreboard_fd, place, bytes);
}

bool p2p__far_memory_read(p2p_job *job, uint64_t place, void *to, size_t bytes)
{
    const char *at = seen(job, place, bytes);
    errno = ENOMEM;
    if (!at) return pread(job->scoreboard_fd, to, bytes, (off_t)place) == (ssize_t)bytes;
    p2p__copy(to, at, bytes);
    return true;
}

/* What is left of a message out of p2p_alloc. NULL: it lies elsewhere, or is not seen. */
static const char *seen_here(p2p_job *job, const far_link *link, const wire_header *header)
{
    if (header->flags & WIRE_FLAG_READABLE) return NULL;
    return seen(job, header->sender_id + link->copied, header->bytes - link->copied);
}

static bool copy_out(p2p_job *job, const far_link *link, const wire_header *header, char *to, size_t bytes)
{
    uint64_t from = header->sender_id + link->copied;
    if (header->flags & WIRE_FLAG_READABLE) return p2p__cma_read(process_of(job, link->here), to, from, bytes);
    return p2p__far_memory_read(job, from, to, bytes);
}

static bool has_given_up(const p2p_job *job, int rank)
{
    return atomic_load(&job->scoreboard->rows[rank].gave_up);
}

/* A rank that has ended is reported as that; one that has given up has its buffer back, and may have freed it. */
static void cannot_reach(p2p_job *job, int rank, const char *what)
{
    p2p_words w = {.used = 0};
    if (errno == ESRCH || job->failed || has_given_up(job, rank)) return;
    p2p__add(&w, "%s rank %d cannot be reached in its memory: %s", what, rank, strerror(errno));
    p2p__add_advice(&w, "keep the buffer until the request has ended; or, to do without: PAIRWISE_DIRECT=0");
    p2p__report_fail(job, CLASS_REFUSED, REASON_MEMORY, rank, &w);
}

static record record_of(const far_link *link, const wire_header *header, enum record_type type, size_t bytes)
{
    return (record){.type = type,
                    .bytes = (uint32_t)bytes,
                    .a = link->here,
                    .b = link->there,
                    .number = header->clock + link->copied};
}

/* A part of the message goes from where it lies; how much that is. Its rank has it back when the PAYLOAD is answered: later. */
static size_t send_part(p2p_job *job, const far_link *link, const wire_header *header, const char *at)
{
    size_t left = (size_t)(header->bytes - link->copied), part = left < FAR_FOLLOWS_MOST ? left : FAR_FOLLOWS_MOST;
    const record r = record_of(link, header, RECORD_FOLLOWS, sizeof(uint64_t));
    return p2p__record_follows(job, job->hosts->host_of[link->there], &r, at, part) ? part : 0;
}

/* A part of the message is copied into a slot; how much that is. */
static size_t copy_part(p2p_job *job, far_link *link, const wire_header *header)
{
    int host = job->hosts->host_of[link->there];
    size_t most = (size_t)(header->bytes - link->copied);
    char *to = p2p__record_begin(job, host, &most);
    if (!to) return 0;
    if (!copy_out(job, link, header, to, most)) {
        if (has_given_up(job, link->here)) return (size_t)(header->bytes - link->copied); /* its PAYLOAD gets DROP */
        cannot_reach(job, link->here, "the message of");
        p2p__far_shut(job, link);
        return 0;
    }
    const record r = record_of(link, header, RECORD_MEMORY, most);
    p2p__record_end(job, host, &r);
    return most;
}

bool p2p__far_copy(p2p_job *job, far_link *link, bool ended)
{
    wire_header header;
    if (!in_memory(link, &header)) return false;
    if (link->copied >= header.bytes) return !ended && !p2p__record_has_followed(job, job->hosts->host_of[link->there]);
    if (!link->copied) p2p__lines_serve(job); /* what its rank wrote before goes first */
    const char *at = header.bytes - link->copied > CARRIER_SLOT ? seen_here(job, link, &header) : NULL;
    size_t part = at ? send_part(job, link, &header, at) : copy_part(job, link, &header);
    link->copied += part;
    if (part) job->hosts->moved_at = p2p__now();
    return link->copied < header.bytes;
}

static bool write_memory(p2p_job *job, const record *r, const char *bytes)
{
    if (p2p__cma_write(process_of(job, r->b), (void *)(uintptr_t)bytes, r->number, r->bytes)) return true;
    cannot_reach(job, r->b, "the receive of");
    return false;
}

/* Nothing is written for a rank that has its buffer back, nor where ranks mean something else. */
void p2p__far_memory(p2p_job *job, const record *r, const char *bytes)
{
    const scoreboard_row *row = &job->scoreboard->rows[r->b];
    bool may = !job->hosts->differ && !job->announced && !job->watch.ended[r->b] && !atomic_load(&row->gave_up);
    far_link *link = p2p__far_find(job, r->b, r->a);
    if (link && !(may && write_memory(job, r, bytes))) link->unwritten = true;
}

/* The message of this PAYLOAD is not where it should be. */
static void drop(const p2p_job *job, char *at, int why)
{
    wire_header header;
    memcpy(&header, at, sizeof header);
    header.flags |= WIRE_FLAG_DROP;
    header.tag = why;
    if (job->plan->config.crc) p2p__wire_seal(&header);
    memcpy(at, &header, sizeof header);
}

/* Of a message that was not written, or not all of it, the PAYLOAD is the next. */
void p2p__far_drop(const p2p_job *job, far_link *link, char *bytes, size_t count)
{
    while (link->unwritten && count) {
        queue_record r;
        wire_header header = {.flags = 0};
        memcpy(&r, bytes, sizeof r);
        if (r.kind == QUEUE_FRAME) memcpy(&header, bytes + sizeof r, sizeof header);
        if (p2p__wire_in_memory(&header)) {
            drop(job, bytes + sizeof r, P2P_ERR_PEER_DEAD);
            link->unwritten = false;
        }
        size_t all = sizeof r + p2p__record_room(r.bytes);
        bytes += all;
        count -= all;
    }
}

/* Its bytes are through; a sender that has its buffer back may have written to it meanwhile. */
static void end_copy(const p2p_job *job, far_link *link, char *at)
{
    int gave_up = atomic_load(&job->scoreboard->rows[link->here].gave_up);
    link->copied = 0;
    if (gave_up) drop(job, at, gave_up);
}

/* Records into this place; how many bytes of it they take. */
size_t p2p__far_read_records(p2p_job *job, far_link *link, char *to, size_t most)
{
    size_t used = 0, bytes;
    unsigned kind;
    wire_header header;
    while (p2p__queue_waiting(&link->in)) {
        bool copied = in_memory(link, &header);
        if (copied && link->copied < header.bytes) break;
        const unsigned char *at = p2p__queue_look(&link->in, &bytes, &kind);
        if (!at || (kind != QUEUE_PAD && !is_sound(kind, bytes))) {
            p2p_words w = {.used = 0};
            p2p__add(&w, "the bytes from rank %d to rank %d are not a valid record", link->here, link->there);
            p2p__report_fail(job, CLASS_CORRUPTION, REASON_LINK, link->here, &w);
            p2p__far_shut(job, link);
            break;
        }
        if (kind != QUEUE_PAD && used + sizeof(queue_record) + p2p__record_room(bytes) > most) break;
        if (kind != QUEUE_PAD) {
            memcpy(to + used, &(queue_record){kind, (uint32_t)bytes}, sizeof(queue_record));
            memcpy(to + used + sizeof(queue_record), at, bytes);
            if (copied && kind == QUEUE_FRAME) end_copy(job, link, to + used + sizeof(queue_record));
            used += sizeof(queue_record) + p2p__record_room(bytes);
        }
        if (p2p__queue_take(&link->in, bytes)) wake(job, link);
    }
    return used;
}

/* ---- Before sleeping ---- */

static bool has_room(far_link *link)
{
    queue_record r;
    memcpy(&r, link->queue + link->from, sizeof r);
    return p2p__queue_room(&link->out, least_of(link, &r)) > 0;
}

bool p2p__far_is_hot(const p2p_job *job)
{
    return job->hosts->open_count && job->hosts->open[0]->rings;
}

bool p2p__far_waiting(const p2p_job *job)
{
    const p2p_cluster *hosts = job->hosts;
    for (size_t i = 0; i < hosts->open_count; i++) {
        far_link *link = hosts->open[i];
        if (!link->rings) continue;
        if (link->window >= SHM_RECORD_MOST && p2p__queue_waiting(&link->in)) return true;
        if (link->from < link->to && !hosts->differ && has_room(link)) return true;
    }
    return false;
}
