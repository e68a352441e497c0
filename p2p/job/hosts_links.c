/* SPDX-License-Identifier: MIT */
/*
 * Links between a rank here and a rank of another host. A rank has one end of a socketpair, as for any link; its launcher
 * has the other, and passes on what comes:
 *
 *      rank a ═══ launcher of a ─── RECORD_BYTES ───> launcher of b ═══ rank b
 *                               <── RECORD_WINDOW ───
 *
 * No launcher keeps more than a window of a link's bytes: what its rank has not taken. With each record goes how many
 * frames the sender has counted, and the receiver's launcher shows that before it passes the bytes on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "p2p/job/hosts.h"
#include "p2p/shared/words.h"

#define WINDOW ((uint64_t)2 << 20)
#define ONE_TURN 8 /* records of a link */

far_link *p2p__far_find(p2p_job *job, int here, int there)
{
    far_link **at = &job->hosts->links[(size_t)(here - job->first) * (size_t)job->size + (size_t)there];
    bool is_new = !*at;
    if (is_new) *at = calloc(1, sizeof **at);
    if (is_new && *at) **at = (far_link){.here = here, .there = there, .fd = -1, .window = WINDOW};
    return *at;
}

bool p2p__far_links_init(p2p_job *job)
{
    job->hosts->links = calloc((size_t)job->count * (size_t)job->size, sizeof *job->hosts->links);
    return job->hosts->links;
}

static void free_link(far_link *link)
{
    if (link->fd >= 0) close(link->fd);
    p2p__far_unmap(link);
    free(link->queue);
    free(link->told);
    free(link);
}

void p2p__far_links_forget(p2p_cluster *hosts)
{
    size_t count = hosts->links ? (size_t)hosts->ranks * hosts->map.first[hosts->count] : 0;
    for (size_t i = 0; i < count; i++) {
        if (hosts->links[i]) free_link(hosts->links[i]);
        hosts->links[i] = NULL;
    }
    hosts->open_count = 0;
}

void p2p__far_links_free(p2p_cluster *hosts)
{
    p2p__far_links_forget(hosts);
    free(hosts->links);
    free(hosts->open);
}

/* ---- To the rank here ---- */

static void passed_on(p2p_job *job, far_link *link, size_t bytes)
{
    link->owed += bytes;
    if (link->owed < WINDOW / 4) return;
    p2p__record_put(job, job->hosts->host_of[link->there],
                    &(record){.type = RECORD_WINDOW, .a = link->here, .b = link->there, .number = link->owed}, NULL);
    link->owed = 0;
}

void p2p__far_shut(p2p_job *job, far_link *link)
{
    p2p_cluster *hosts = job->hosts;
    size_t i = 0;
    if (link->fd < 0) return;
    close(link->fd);
    link->fd = -1;
    link->closed = true;
    p2p__far_unmap(link);
    while (hosts->open[i] != link) i++;
    hosts->open[i] = hosts->open[--hosts->open_count];
    passed_on(job, link, link->to - link->from);
    link->from = link->to = 0;
}

/* As much as the rank takes without waiting; how much that was. */
static size_t write_some(p2p_job *job, far_link *link, char *bytes, size_t count)
{
    size_t done = link->rings ? p2p__far_write_records(job, link, bytes, count) : 0;
    while (!link->rings && link->fd >= 0 && done < count) {
        ssize_t sent = TEMP_FAILURE_RETRY(send(link->fd, bytes + done, count - done, MSG_DONTWAIT | MSG_NOSIGNAL));
        if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) { /* it has ended: nothing more is for it */
            p2p__far_shut(job, link);
            return count;
        }
        if (sent <= 0) break;
        done += (size_t)sent;
    }
    if (done) passed_on(job, link, done);
    return done;
}

static bool queue_up(far_link *link, const char *bytes, size_t count)
{
    if (link->from == link->to) link->from = link->to = 0;
    if (link->to + count > link->room && link->from) { /* what the rank has taken makes room */
        memmove(link->queue, link->queue + link->from, link->to - link->from);
        link->to -= link->from;
        link->from = 0;
    }
    if (link->to + count > link->room) {
        size_t room = 2 * link->room > link->to + count ? 2 * link->room : link->to + count;
        char *grown = realloc(link->queue, room);
        if (!grown) return false;
        link->queue = grown;
        link->room = room;
    }
    memcpy(link->queue + link->to, bytes, count);
    link->to += count;
    return true;
}

static void write_queued(p2p_job *job, far_link *link)
{
    if (job->hosts->differ) return;
    link->from += write_some(job, link, link->queue + link->from, link->to - link->from);
    if (link->fd < 0) link->from = link->to = 0;
}

void p2p__far_forget(p2p_job *job, int here, int there)
{
    far_link *link = p2p__far_find(job, here, there);
    if (link) p2p__far_shut(job, link);
    if (link) link->closed = true;
    atomic_store(&p2p__scoreboard_sent(job->scoreboard, there)[here], 0);
}

void p2p__far_bytes(p2p_job *job, const record *r, const char *bytes)
{
    far_link *link = p2p__far_find(job, r->b, r->a);
    _Atomic uint64_t *sent = &p2p__scoreboard_sent(job->scoreboard, r->a)[r->b];
    if (link && link->closed) {
        passed_on(job, link, r->bytes);
        return;
    }
    if (r->number > atomic_load(sent)) atomic_store(sent, r->number);
    if (job->watch.ended[r->b]) return;
    if (link && !link->asked) {
        link->asked = true;
        p2p__link_want(job, r->b, r->a);
    }
    if (link && link->unwritten) p2p__far_drop(job, link, (char *)(uintptr_t)bytes, r->bytes);
    bool passes = link && link->from == link->to && !job->hosts->differ; /* or a rank would see what it must not */
    size_t done = passes ? write_some(job, link, (char *)(uintptr_t)bytes, r->bytes) : 0;
    if (done == r->bytes || (link && queue_up(link, bytes + done, r->bytes - done))) return;
    p2p_words w = {.used = 0};
    p2p__add(&w, "no memory for what rank %d has not read yet", r->b);
    p2p__report_fail(job, CLASS_REFUSED, REASON_MEMORY, r->b, &w);
}

/* ---- From the rank here ---- */

/* The next of the calls that have sent to the rank there, from *place on, that its host does not know; NULL: none. */
static const scoreboard_call *next_call(const p2p_job *job, far_link *link, size_t *place)
{
    const scoreboard_call *sent = job->scoreboard->rows[link->here].sent;
    if (!job->plan->config.reports) return NULL;
    if (!link->told) link->told = calloc(SCOREBOARD_SENT, sizeof *link->told);
    for (; link->told && *place < SCOREBOARD_SENT; ++*place) {
        const void *now = &sent[*place], *told = &link->told[*place]; /* a copy of all its bytes */
        if (sent[*place].line > 0 && sent[*place].world_peer == link->there && memcmp(now, told, sizeof *sent) != 0)
            return now;
    }
    return NULL;
}

static void put_calls(p2p_job *job, far_link *link)
{
    const scoreboard_call *call;
    for (size_t i = 0; (call = next_call(job, link, &i)); i++) {
        memcpy(&link->told[i], call, sizeof *call);
        p2p__record_put(
            job, job->hosts->host_of[link->there],
            &(record){.type = RECORD_CALL, .bytes = sizeof *call, .a = link->here, .b = link->there, .number = i},
            &link->told[i]);
    }
}

/* The rank has written lines before it sent this, or calls that are reported: they go first. */
static void put_after_lines(p2p_job *job, far_link *link, const record *r, const char *at)
{
    char bytes[CARRIER_SLOT];
    memcpy(bytes, at, r->bytes);
    put_calls(job, link);
    p2p__lines_of(job, r->a);
    p2p__record_put(job, job->hosts->host_of[r->b], r, bytes);
}

/* One record; false: there is nothing, or no room, or no window. `all`: there is room for it in any case. */
static bool read_some(p2p_job *job, far_link *link, uint64_t window, bool all)
{
    static _Alignas(8) char aside[CARRIER_SLOT];
    int host = job->hosts->host_of[link->there];
    if (link->rings && p2p__far_copy(job, link, all)) return false;
    size_t most = window < CARRIER_SLOT ? (size_t)window : CARRIER_SLOT;
    bool enough = link->rings ? most >= SHM_RECORD_MOST : most > 0;
    char *slot = enough && !all ? p2p__record_begin(job, host, &most) : NULL, *at = all ? aside : slot;
    if (!at) return false;
    if (all) most = sizeof aside - sizeof(record);
    ssize_t got = link->rings ? (ssize_t)p2p__far_read_records(job, link, at, most)
                              : TEMP_FAILURE_RETRY(recv(link->fd, at, most, MSG_DONTWAIT));
    if (!got && link->rings) return false;
    if (got < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM)) return false;
    if (got <= 0) {
        p2p__far_shut(job, link);
        return false;
    }
    uint64_t sent = atomic_load(&p2p__scoreboard_sent(job->scoreboard, link->here)[link->there]);
    const record r = {.type = RECORD_BYTES, .bytes = (uint32_t)got, .a = link->here, .b = link->there, .number = sent};
    if (slot && !p2p__lines_left(job, r.a) && !next_call(job, link, &(size_t){0}))
        p2p__record_end(job, host, &r);
    else
        put_after_lines(job, link, &r, at);
    link->window -= (uint64_t)got < link->window ? (uint64_t)got : link->window;
    job->hosts->moved_at = p2p__now();
    return all || (size_t)got == most;
}

void p2p__far_window(p2p_job *job, const record *r)
{
    far_link *link = p2p__far_find(job, r->b, r->a);
    if (link) link->window += r->number;
}

bool p2p__far_open(p2p_job *job, int here, int there, int fd, int place)
{
    p2p_cluster *hosts = job->hosts;
    far_link *link = p2p__far_find(job, here, there);
    if (link && hosts->open_count == hosts->open_room) {
        size_t room = hosts->open_room ? 2 * hosts->open_room : 64, polled = job->polled_room + room - hosts->open_room;
        far_link **open = realloc(hosts->open, room * sizeof(far_link *));
        struct pollfd *grown = open ? realloc(job->polled, polled * sizeof *grown) : NULL;
        if (open) hosts->open = open;
        if (grown) {
            job->polled = grown;
            job->polled_room = polled;
            hosts->open_room = room;
        }
    }
    if (!link || hosts->open_count == hosts->open_room || (place && !p2p__far_map(job, link, place))) {
        close(fd);
        return false;
    }
    link->asked = true;
    link->fd = fd;
    hosts->open[hosts->open_count++] = link;
    if (link->from < link->to) write_queued(job, link);
    return true;
}

/* ---- The loop ---- */

nfds_t p2p__far_fill(p2p_job *job, struct pollfd *polled, nfds_t count)
{
    p2p_cluster *hosts = job->hosts;
    for (int h = 0; hosts->carrier->descriptor && h < hosts->count; h++)
        polled[count++] = (struct pollfd){.fd = hosts->carrier->descriptor(h),
                                          .events = hosts->carrier->slot(h) ? POLLIN : POLLIN | POLLOUT};
    for (size_t i = 0; i < hosts->open_count; i++) {
        far_link *link = hosts->open[i];
        bool reads = link->rings || link->window > 0;
        bool writes = !link->rings && link->from < link->to && !hosts->differ;
        link->polled = count;
        polled[count++] = (struct pollfd){.fd = reads || writes ? link->fd : -1,
                                          .events = (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0))};
    }
    return count;
}

/* Bytes that woke this launcher mean nothing more; false: the rank has ended. */
static bool take_wakes(const far_link *link)
{
    char bytes[256];
    ssize_t got = TEMP_FAILURE_RETRY(recv(link->fd, bytes, sizeof bytes, MSG_DONTWAIT));
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM));
}

/* A link that a rank asks for meanwhile may move the polled. */
void p2p__far_serve(p2p_job *job)
{
    p2p_cluster *hosts = job->hosts;
    p2p__lines_serve(job);
    for (size_t i = hosts->open_count; i-- > 0;) {
        far_link *link = hosts->open[i];
        short events = link->polled ? job->polled[link->polled].revents : 0;
        bool readable = events & (POLLIN | POLLHUP | POLLERR), ended = false;
        link->polled = 0; /* one that is opened, or moved, meanwhile was not polled */
        if (link->rings && readable) ended = !take_wakes(link);
        if ((events & POLLOUT) || (link->rings && link->from < link->to)) write_queued(job, link);
        for (int turn = 0; (readable || link->rings) && (ended || turn < ONE_TURN) && link->fd >= 0; turn++)
            if (!read_some(job, link, ended ? CARRIER_SLOT : link->window, ended)) break;
        if (ended && link->fd >= 0) p2p__far_shut(job, link);
    }
}

void p2p__far_drain(p2p_job *job, int rank)
{
    p2p_cluster *hosts = job->hosts;
    for (size_t i = hosts->open_count; i-- > 0;) {
        far_link *link = hosts->open[i];
        while (link->here == rank && link->fd >= 0 && read_some(job, link, CARRIER_SLOT, true)) continue;
    }
}
