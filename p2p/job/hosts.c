/* SPDX-License-Identifier: MIT */
/* The launchers of several hosts: records between them, and the end. */
#include "p2p/job/hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "p2p/group/internal.h"
#include "p2p/shared/words.h"

#define ALIVE_NS UINT64_C(1000000000)
#define LAST_NS UINT64_C(1500000000) /* after an interruption, for the others to be done */
#define EAGER_NS UINT64_C(1000000)   /* far more than a round trip: a launcher that sleeps adds 60 us to each */
#define PAUSE_PART 32
#define PAUSE_MOST_NS UINT64_C(10000000)
#define PRINT_AT_ONCE ((size_t)16 << 10)
#define WAIT_NS UINT64_C(200000)
#define BYTES_LEAST ((size_t)4096)

/* ---- The job ---- */

bool p2p__hosts_begin(p2p_job *job)
{
    p2p_cluster *hosts = job->hosts;
    size_t ranks = (size_t)hosts->ranks;
    hosts->hosts = calloc((size_t)hosts->count, sizeof *hosts->hosts);
    hosts->host_of = calloc((size_t)job->size, sizeof *hosts->host_of);
    hosts->shown = calloc(ranks, sizeof *hosts->shown);
    hosts->seen = calloc(ranks, sizeof *hosts->seen);
    hosts->came = calloc(ranks, sizeof *hosts->came);
    if (!hosts->hosts || !hosts->host_of || !hosts->shown || !hosts->seen || !hosts->came || !p2p__far_links_init(job))
        return false;
    hosts->ticked = p2p__now();
    hosts->spill.share = SPILL_MOST / (size_t)hosts->count;
    for (int h = 0; h < hosts->count; h++) {
        hosts->hosts[h].heard = hosts->hosts[h].told = p2p__now();
        for (int rank = hosts->map.first[h]; rank < hosts->map.first[h + 1]; rank++) {
            hosts->host_of[rank] = (uint16_t)h;
            job->watch.ended[rank] = h == hosts->own; /* not started yet */
            atomic_store(&job->scoreboard->rows[rank].letter, 'S');
        }
    }
    p2p__hosts_place(job);
    return true;
}

void p2p__hosts_place(p2p_job *job)
{
    const p2p_cluster *hosts = job->hosts;
    p2p__scoreboard_place(job->scoreboard, &hosts->map);
    for (int rank = 0; rank < job->size; rank++)
        snprintf(job->scoreboard->rows[rank].host, P2P_HOST_NAME, "%s", hosts->greetings[hosts->host_of[rank]].name);
}

void p2p__hosts_end(p2p_cluster *hosts, bool well, int status)
{
    if (!hosts) return;
    hosts->carrier->close(well, status);
    p2p__far_links_free(hosts);
    for (int h = 0; hosts->hosts && h < hosts->count; h++) free(hosts->hosts[h].bytes);
    if (hosts->spill.fd >= 0) close(hosts->spill.fd);
    p2p__memory_shut(&hosts->window);
    for (size_t i = 0; i < hosts->left_count; i++) p2p__memory_shut(&hosts->left[i]);
    free(hosts->left);
    free(hosts->hosts);
    free(hosts->host_of);
    free(hosts->shown);
    free(hosts->seen);
    free(hosts->came);
    free(hosts->greetings);
    free(hosts);
}

/* ---- Records that leave ---- */

static void send_filled(p2p_cluster *hosts, int host)
{
    far_host *to = &hosts->hosts[host];
    if (!to->filled) return;
    hosts->carrier->send(host, to->filled);
    to->slot = NULL;
    to->filled = 0;
    to->told = p2p__now();
}

/* False: of the bytes that go from where they lie, some wait. */
static bool send_leaving(p2p_cluster *hosts, int host)
{
    far_host *to = &hosts->hosts[host];
    while (to->leaving.bytes && hosts->carrier->slot(host)) {
        size_t part = to->leaving.bytes < CARRIER_SLOT ? to->leaving.bytes : CARRIER_SLOT;
        hosts->carrier->send_from(host, to->leaving.at, part);
        to->leaving.at += part;
        to->leaving.bytes -= part;
        to->told = p2p__now();
    }
    return !to->leaving.bytes;
}

/* Where so many bytes go in a slot; NULL: there is none. */
static char *find_room(p2p_cluster *hosts, int host, size_t bytes)
{
    far_host *to = &hosts->hosts[host];
    if (!send_leaving(hosts, host)) return NULL;
    if (to->filled + bytes > CARRIER_SLOT) send_filled(hosts, host);
    if (!to->slot) to->slot = hosts->carrier->slot(host);
    return to->slot ? to->slot + to->filled : NULL;
}

static void write_record(char *at, const record *r, const void *bytes)
{
    memcpy(at, r, sizeof *r);
    if (r->bytes) memcpy(at + sizeof *r, bytes, r->bytes);
}

/* What waits for a slot keeps its order. */
static bool keep(far_host *to, const record *r, const void *bytes)
{
    size_t total = sizeof *r + p2p__record_room(r->bytes);
    if (to->from == to->to) to->from = to->to = 0;
    if (to->to + total > to->room && to->from) { /* what has gone makes room */
        memmove(to->bytes, to->bytes + to->from, to->to - to->from);
        to->to -= to->from;
        to->from = 0;
    }
    if (to->to + total > to->room) {
        size_t room = 2 * to->room > to->to + total ? 2 * to->room : to->to + total;
        char *grown = realloc(to->bytes, room);
        if (!grown) return false;
        to->bytes = grown;
        to->room = room;
    }
    write_record(to->bytes + to->to, r, bytes);
    to->to += total;
    return true;
}

static void send_kept(p2p_cluster *hosts, int host)
{
    far_host *to = &hosts->hosts[host];
    while (to->from < to->to) {
        record r;
        memcpy(&r, to->bytes + to->from, sizeof r);
        size_t total = sizeof r + p2p__record_room(r.bytes);
        char *at = find_room(hosts, host, total);
        if (!at) return;
        memcpy(at, to->bytes + to->from, total);
        to->filled += total;
        to->from += total;
    }
}

void p2p__record_put(p2p_job *job, int host, const record *r, const void *bytes)
{
    p2p_cluster *hosts = job->hosts;
    far_host *to = &hosts->hosts[host];
    size_t total = sizeof *r + p2p__record_room(r->bytes);
    if (r->type != RECORD_ALIVE) hosts->moved_at = p2p__now();
    char *at = to->from == to->to ? find_room(hosts, host, total) : NULL;
    if (at) {
        write_record(at, r, bytes);
        to->filled += total;
    } else if (!keep(to, r, bytes)) {
        p2p__say(job, "no memory for what " P2P_HOST " must be told", host, hosts->greetings[host].name);
    }
}

void p2p__record_put_all(p2p_job *job, const record *r, const void *bytes)
{
    for (int h = 0; h < job->hosts->count; h++)
        if (h != job->hosts->own) p2p__record_put(job, h, r, bytes);
}

char *p2p__record_begin(p2p_job *job, int host, size_t *most)
{
    far_host *to = &job->hosts->hosts[host];
    size_t least = *most < BYTES_LEAST ? *most : BYTES_LEAST;
    char *at = to->from == to->to ? find_room(job->hosts, host, sizeof(record) + p2p__record_room(least)) : NULL;
    if (!at) return NULL;
    size_t room = CARRIER_SLOT - to->filled - sizeof(record);
    if (*most > room) *most = room;
    return at + sizeof(record);
}

void p2p__record_end(p2p_job *job, int host, const record *r)
{
    far_host *to = &job->hosts->hosts[host];
    memcpy(to->slot + to->filled, r, sizeof *r);
    to->filled += sizeof *r + p2p__record_room(r->bytes);
}

bool p2p__record_follows(p2p_job *job, int host, const record *r, const void *at, size_t bytes)
{
    p2p_cluster *hosts = job->hosts;
    far_host *to = &hosts->hosts[host];
    const uint64_t count = bytes;
    if (to->from < to->to || !find_room(hosts, host, sizeof *r + sizeof count)) return false;
    p2p__record_put(job, host, r, &count);
    send_filled(hosts, host);
    to->leaving.at = at;
    to->leaving.bytes = bytes;
    send_leaving(hosts, host);
    return true;
}

bool p2p__record_has_followed(p2p_job *job, int host)
{
    return send_leaving(job->hosts, host) && job->hosts->carrier->has_left(host);
}

/* ---- Records that arrive ---- */

static void keep_print(p2p_job *job, int from, const record *r, const char *bytes)
{
    if (p2p__spill_keep(&job->hosts->spill, from, &job->hosts->hosts[from].kept, bytes, r->bytes) == 0) return;
    p2p__say(job, "what the ranks of " P2P_HOST " print cannot be kept: the rest is dropped", from,
             job->hosts->greetings[from].name);
    if (!job->exit_status) job->exit_status = 1;
}

static void context_freed(p2p_job *job, uint32_t index, uint64_t collectives)
{
    scoreboard *b = job->scoreboard;
    if (!p2p__context_left(b, index, collectives)) return;
    p2p__scratch_clear(b, job->scoreboard_fd, &job->gaps, 2 * index, true);
    atomic_store(&b->shared->context_users[index], 0);
}

static void obey(p2p_job *job, int from, const record *r, const char *bytes)
{
    p2p_cluster *hosts = job->hosts;
    switch ((enum record_type)r->type) {
    case RECORD_BYTES: p2p__far_bytes(job, r, bytes); break;
    case RECORD_CALL: memcpy(&job->scoreboard->rows[r->a].sent[r->number], bytes, sizeof(scoreboard_call)); break;
    case RECORD_MEMORY: p2p__far_memory(job, r, bytes); break;
    case RECORD_FOLLOWS:
        hosts->hosts[from].follows = *r;
        hosts->hosts[from].follows.bytes = (uint32_t) * (const uint64_t *)(const void *)bytes;
        break;
    case RECORD_WINDOW: p2p__far_window(job, r); break;
    case RECORD_FREED: context_freed(job, (uint32_t)r->a, r->number); break;
    case RECORD_NOLINK:
        p2p__far_forget(job, r->b, r->a);
        p2p__tell_rank(job, r->b, *(const control_message *)(const void *)bytes, -1);
        break;
    case RECORD_LINE: p2p__line_arrived(job, r, bytes); break;
    case RECORD_PAYLOAD: p2p__payload_arrived(job, r, (const void *)bytes); break;
    case RECORD_JOINED:
    case RECORD_MOVED: p2p__rank_moved(job, r); break;
    case RECORD_GAVE_UP: p2p__rank_gave_up(job, r->a, r->b); break;
    case RECORD_GOODBYE:
        p2p__counts_arrived(job, r->a, (const void *)bytes, r->bytes / sizeof(record_count));
        atomic_store(&job->scoreboard->rows[r->a].state, SCOREBOARD_FINALIZING);
        job->ranks[r->a].goodbye = true;
        job->ranks[r->a].returned = r->b;
        p2p__check_all_done(job);
        break;
    case RECORD_STOPPED: atomic_store(&job->scoreboard->rows[r->a].letter, r->b); break;
    case RECORD_ENDED: p2p__end_arrived(job, r, bytes); break;
    case RECORD_FLUSH: p2p__flush_arrived(job, from); break;
    case RECORD_INTERRUPT:
        if (!job->interrupted) p2p__interrupt(job, r->a);
        break;
    case RECORD_DONE: hosts->hosts[from].done = true; break;
    case RECORD_ALIVE: break;
    case RECORD_REPAIR: p2p__repair_arrived(job, r, bytes); break;
    case RECORD_GENERATION: p2p__generation_arrived(job, from, (const void *)bytes); break;
    case RECORD_FAILED:
    case RECORD_BROKEN: p2p__failure_arrived(job, r, (const void *)bytes); break;
    case RECORD_KILL: p2p__kill_after(job, r->number); break;
    case RECORD_CONFIRM: p2p__hosts_asked(job, r, (const void *)bytes, from); break;
    case RECORD_LOOK: p2p__hosts_show(job); break;
    case RECORD_LOOKED: hosts->hosts[from].looked = true; break;
    case RECORD_ROW: p2p__row_arrived(job, r, bytes); break;
    case RECORD_DIFFERENCE: p2p__difference_arrived(job, (const void *)bytes); break;
    case RECORD_EVENT: p2p__event_arrived(job, r, bytes); break;
    case RECORD_CONFIRMED: p2p__hosts_answered(job, r); break;
    case RECORD_NOTES: p2p__notes_arrived(job, from, r, bytes); break;
    case RECORD_TIME: p2p__clock_arrived(job, from, r, bytes); break;
    case RECORD_FINDING: p2p__finding_arrived(job, (const void *)bytes); break;
    case RECORD_SAY:
        if (!job->failed) p2p__say(job, "%s", bytes);
        break;
    case RECORD_PRINT: keep_print(job, from, r, bytes); break;
    }
}

/* The job cannot go on without it, and nothing of it is believed any more. why: who it is, and what is known of it. */
static void lose_host(p2p_job *job, int host, p2p_words *why)
{
    p2p_cluster *hosts = job->hosts;
    far_host *to = &hosts->hosts[host];
    const uint16_t *first = &hosts->map.first[host];
    to->done = to->flushed = to->gone = hosts->lost = true;
    if (job->failed) return;
    if (first[1] - first[0] == 1)
        p2p__add(why, "; rank %d was there", first[0]);
    else
        p2p__add(why, "; ranks %d to %d were there", first[0], first[1] - 1);
    p2p_finding *f = p2p__report_add(&job->report, CLASS_HOST_LOST, REASON_NONE, -1);
    for (int rank = first[0]; rank < first[1]; rank++) p2p__set_add(&f->what.ranks, rank);
    p2p__report_tell(job, f, why);
    p2p__job_fail(job, P2P_ERR_PEER_DEAD, -1, 1, why->text);
}

static void distrust(p2p_job *job, int from)
{
    p2p_words w = {.used = 0};
    p2p__add(&w, "the launcher of " P2P_HOST " has sent what no launcher sends", from,
             job->hosts->greetings[from].name);
    lose_host(job, from, &w);
}

/* What is of a generation that its host, or this one, has left is for nobody. */
static bool is_current(const p2p_job *job, int from)
{
    return job->hosts->hosts[from].generation == job->hosts->hosts[job->hosts->own].generation;
}

/* A part of the message that a record has said would follow. False: it is more than that. */
static bool take_following(p2p_job *job, far_host *sender, const char *at, size_t bytes)
{
    record part = sender->follows;
    if (bytes > part.bytes) return false;
    part.bytes = (uint32_t)bytes;
    if (is_current(job, (int)(sender - job->hosts->hosts))) p2p__far_memory(job, &part, at);
    sender->follows.number += bytes;
    sender->follows.bytes -= part.bytes;
    job->hosts->moved_at = sender->heard;
    return true;
}

/* What one host has sent at a time. */
static void obey_all(p2p_job *job, int from, const char *at, size_t bytes)
{
    p2p_cluster *hosts = job->hosts;
    far_host *sender = &hosts->hosts[from];
    sender->heard = p2p__now();
    if (sender->follows.bytes) {
        if (!take_following(job, sender, at, bytes)) distrust(job, from);
        return;
    }
    for (size_t used = 0; used < bytes && !sender->gone;) {
        record r = {.type = 0};
        bool whole = bytes - used >= sizeof r;
        if (whole) memcpy(&r, at + used, sizeof r);
        whole = whole && p2p__record_room(r.bytes) <= bytes - used - sizeof r;
        if (!whole || !p2p__record_is_sound(job, from, &r, at + used + sizeof r)) {
            distrust(job, from);
            return;
        }
        if (r.type != RECORD_ALIVE) hosts->moved_at = sender->heard;
        if (is_current(job, from) || p2p__record_is_of_job(&r)) obey(job, from, &r, at + used + sizeof r);
        used += sizeof r + p2p__record_room(r.bytes);
    }
}

static void receive(p2p_job *job)
{
    p2p_cluster *hosts = job->hosts;
    int from;
    size_t bytes;
    if (hosts->receiving) return; /* the slot that it came in is still in use */
    hosts->receiving = true;
    for (const char *at; (at = hosts->carrier->arrived(&from, &bytes));) {
        if (!hosts->hosts[from].gone) obey_all(job, from, at, bytes);
        hosts->carrier->taken(from);
    }
    hosts->receiving = false;
}

void p2p__hosts_send(p2p_job *job)
{
    p2p_cluster *hosts = job->hosts;
    for (int h = 0; h < hosts->count; h++) {
        if (h == hosts->own || !send_leaving(hosts, h)) continue;
        send_kept(hosts, h);
        send_filled(hosts, h);
    }
}

void p2p__hosts_move(p2p_job *job)
{
    p2p__hosts_send(job);
    receive(job);
    p2p__hosts_send(job);
}

/* Those to which nothing has gone for a while. */
static void tell_alive(p2p_job *job)
{
    uint64_t now = p2p__now();
    for (int h = 0; h < job->hosts->count; h++) {
        far_host *to = &job->hosts->hosts[h];
        if (h == job->hosts->own || now - to->told <= ALIVE_NS) continue;
        p2p__record_put(job, h, &(record){.type = RECORD_ALIVE}, NULL);
        to->told = now;
    }
}

void p2p__records_wait(p2p_job *job)
{
    const far_host *to = &job->hosts->hosts[0];
    uint64_t limit = job->plan->config.host_timeout_ns;
    p2p__hosts_move(job);
    while (to->to - to->from > CARRIER_SLOT && p2p__now() - to->heard < limit) {
        p2p__pause(WAIT_NS);
        tell_alive(job);
        p2p__hosts_move(job);
    }
}

/* ---- Output, rank by rank ---- */

void p2p__hosts_print(p2p_job *job, const char *bytes, size_t count)
{
    for (size_t done = 0, part; done < count; done += part) {
        part = count - done < PRINT_AT_ONCE ? count - done : PRINT_AT_ONCE;
        p2p__record_put(job, 0, &(record){.type = RECORD_PRINT, .bytes = (uint32_t)part}, bytes + done);
        p2p__records_wait(job);
    }
}

bool p2p__hosts_printed(p2p_job *job, int host)
{
    far_host *from = &job->hosts->hosts[host];
    char bytes[PRINT_AT_ONCE];
    size_t count = p2p__spill_take(&job->hosts->spill, host, &from->printed, from->kept, bytes, sizeof bytes);
    p2p__sink_add(&job->out, bytes, count);
    return count > 0;
}

/* ---- Time ---- */

static void check_silence(p2p_job *job, int host)
{
    p2p_cluster *hosts = job->hosts;
    p2p_words w = {.used = 0};
    uint64_t limit = job->plan->config.host_timeout_ns;
    const char *lost = hosts->carrier->lost(host), *name = hosts->greetings[host].name;
    if (hosts->hosts[host].done || (!lost && p2p__now() - hosts->hosts[host].heard < limit)) return;
    if (lost)
        p2p__add(&w, "the launcher of " P2P_HOST " %s", host, name, lost);
    else
        p2p__add(&w, "nothing has been heard of " P2P_HOST " for %g s: it is down, or its network", host, name,
                 (double)limit * 1e-9);
    lose_host(job, host, &w);
}

void p2p__hosts_tick(p2p_job *job)
{
    p2p_cluster *hosts = job->hosts;
    uint64_t now = p2p__now(), limit = job->plan->config.host_timeout_ns;
    bool was_stopped = now - hosts->ticked > limit / 2; /* and so has heard nothing itself */
    hosts->ticked = now;
    p2p__rows_tick(job);
    p2p__check_flushed(job);
    for (int h = 0; h < hosts->count; h++) {
        if (h == hosts->own) continue;
        if (was_stopped) hosts->hosts[h].heard = now;
        check_silence(job, h);
    }
    tell_alive(job);
    p2p__far_forget_memory(job);
    p2p__hosts_move(job);
}

/* Where nothing wakes a launcher it looks, the less often the longer nothing has come: what it adds to a wait is a small part of
 * it, and one that has nothing to do uses nearly nothing. */
uint64_t p2p__hosts_pause(const p2p_job *job)
{
    uint64_t quiet = p2p__now() - job->hosts->moved_at, pause = quiet / PAUSE_PART;
    if (job->hosts->carrier->descriptor) return UINT64_MAX;
    return quiet < EAGER_NS ? 0 : pause < PAUSE_MOST_NS ? pause : PAUSE_MOST_NS;
}

bool p2p__hosts_busy(p2p_job *job)
{
    p2p_cluster *hosts = job->hosts;
    if (!hosts) return false;
    if (!hosts->done && !job->alive) {
        if (!p2p__clocks_known(job)) return true;
        if (!p2p__judges(job)) p2p__metrics_write(job); /* what has changed since the last time */
        p2p__notes_send(job, true);
        hosts->done = true;
        hosts->done_at = p2p__now();
        p2p__record_put_all(job, &(record){.type = RECORD_DONE}, NULL);
        p2p__hosts_move(job);
    }
    if (hosts->done && (job->interrupted || hosts->lost) && p2p__now() - hosts->done_at > LAST_NS) {
        hosts->lost = true; /* it was not only this launcher that was meant */
        return false;
    }
    bool busy = !hosts->carrier->all_sent();
    for (int h = 0; h < hosts->count; h++)
        busy |= h != hosts->own && (!hosts->hosts[h].done || hosts->hosts[h].filled || hosts->hosts[h].leaving.bytes ||
                                    hosts->hosts[h].from < hosts->hosts[h].to);
    return busy;
}
