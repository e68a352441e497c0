/* SPDX-License-Identifier: MIT */
/*
 * What ranks show each other, from host to host.
 *
 * A line of a collective goes to all hosts as soon as its rank has written it; the launcher there wakes ranks that sleep
 * until it comes. A row goes to host 0 when its rank stands still, which is all that deadlock detection asks of it: read
 * between two equal, even activities, after all lines that the rank had written before.
 *
 * A deadlock that host 0 sees in such rows is a suspicion: rows were read at different moments. So every host is asked
 * whether its ranks still stand as they did. If all say so, then between the last reading and the first question all of
 * it was true at once.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "p2p/group/internal.h"
#include "p2p/job/hosts.h"
#include "p2p/shared/words.h"

enum { LINE_TRIES = 100 };

#define LOOK_NS UINT64_C(300000000)

/* ---- Lines ---- */

static const scoreboard_call *words_of(const scoreboard_row *row, uint32_t context, uint64_t number, size_t *place)
{
    for (*place = 0; *place < SCOREBOARD_WORDS; ++*place)
        if (row->words[*place].context == context && row->words[*place].in_lines == number) return &row->words[*place];
    return NULL;
}

/* What goes with a line, and does not fit into it. False: a rank says that it lies where it cannot. */
static bool pass_on_payload(p2p_job *job, int rank, const scoreboard_passed *line)
{
    record_payload payload = {.ranks = line->ranks};
    memory_place first = p2p__scratch_known(job->scoreboard, line->context);
    if (!first || !p2p__scratch_holds(line->ranks, line->offset, line->bytes)) return false;
    if (!p2p__far_memory_read(job, first + line->offset, payload.bytes, line->bytes)) return false;
    const record r = {.type = RECORD_PAYLOAD,
                      .bytes = (uint32_t)(offsetof(record_payload, bytes) + line->bytes),
                      .a = rank,
                      .b = (int32_t)line->context,
                      .number = line->offset};
    p2p__record_put_all(job, &r, &payload);
    return true;
}

/* As its rank has written it. False: that of a later collective is there, or being written. All ranks have come to those between
 * then, and it is passed on when its turn comes, behind what goes with it. */
static bool copy_line(scoreboard_line *to, const scoreboard_line *from, uint64_t number)
{
    for (int tries = 0; tries < LINE_TRIES; tries++) {
        uint64_t at = atomic_load_explicit(&from->at, memory_order_acquire);
        if (at >> 24 != number) return false;
        memcpy(to, from, sizeof *to);
        atomic_store_explicit(&to->at, at, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&from->at, memory_order_relaxed) == at) return true;
    }
    return false;
}

static void pass_on(p2p_job *job, int rank, const scoreboard_passed *line)
{
    const uint32_t context = line->context;
    record_line text;
    size_t place;
    if (line->bytes && !pass_on_payload(job, rank, line)) {
        p2p__overwritten(job);
        return;
    }
    memset(&text, 0, sizeof text);
    const scoreboard_line *own = &p2p__scoreboard_lines(job->scoreboard, context, line->number)[rank];
    if (!copy_line(&text.line, own, line->number)) return;
    const scoreboard_call *words = words_of(&job->scoreboard->rows[rank], context, line->number, &place);
    if (words) text.words = p2p__call_copy(words);
    const record r = {.type = RECORD_LINE,
                      .bytes = (uint32_t)(offsetof(record_line, words) + (words ? sizeof text.words : 0)),
                      .a = rank,
                      .b = (int32_t)context,
                      .number = place};
    p2p__record_put_all(job, &r, &text);
}

/* Has the rank written lines that were not passed on? Neither a message that it has sent since, nor a row that says that it
 * waits, must come before them. */
bool p2p__lines_left(const p2p_job *job, int rank)
{
    const scoreboard_came *came = &job->scoreboard->rows[rank].came;
    return atomic_load_explicit(&came->count, memory_order_acquire) != job->hosts->came[rank - job->first];
}

void p2p__lines_of(p2p_job *job, int rank)
{
    scoreboard_came *came = &job->scoreboard->rows[rank].came;
    uint32_t *passed = &job->hosts->came[rank - job->first],
             count = atomic_load_explicit(&came->count, memory_order_acquire);
    if (count == *passed) return;
    if (count - *passed > SCOREBOARD_CAME) { /* more than a rank writes before they are passed on */
        p2p__overwritten(job);
        *passed = count;
    }
    for (; *passed != count; ++*passed) {
        const scoreboard_passed line = came->lines[*passed % SCOREBOARD_CAME]; /* as it was once */
        pass_on(job, rank, &line);
    }
    atomic_store_explicit(&came->passed, count, memory_order_release);
}

bool p2p__lines_serve(p2p_job *job)
{
    bool any = false;
    for (int rank = job->first; rank < job->first + job->count; rank++) {
        any |= p2p__lines_left(job, rank);
        p2p__lines_of(job, rank);
    }
    return any;
}

/* Those that sleep until the others have come: they look for themselves. */
static void wake(p2p_job *job, scoreboard_gate *gate)
{
    if (atomic_load(&gate->dozing)) {
        atomic_fetch_add(&gate->bell, 1);
        syscall(SYS_futex, &gate->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    }
    for (int rank = job->first; rank < job->first + job->count; rank++) {
        uint64_t bit = UINT64_C(1) << (rank % 64);
        if (!(atomic_load(&gate->asleep[rank / 64]) & bit)) continue;
        if (!(atomic_fetch_and(&gate->asleep[rank / 64], ~bit) & bit)) continue;
        atomic_fetch_add(&job->scoreboard->rows[rank].nudges, 1);
        job->ranks[rank].nudges_owed++;
        p2p__nudge(job, rank);
    }
}

/* Of two ranks that come at the same time and differ, neither may see the other's line in time. So it is compared here,
 * before anything that its rank has sent since is passed on. */
static void compare(p2p_job *job, const record *r, uint64_t number, uint64_t what)
{
    const scoreboard_line *lines = p2p__scoreboard_lines(job->scoreboard, (uint32_t)r->b, number);
    record_difference d;
    for (int rank = job->first; what && !job->hosts->differ && rank < job->first + job->count; rank++) {
        uint64_t at = atomic_load(&lines[rank].at), other = atomic_load(&lines[rank].what);
        if (at >> 24 != number || at < p2p__line_at(number, 1) || !other || other == what) continue;
        if (atomic_load(&lines[rank].at) >> 24 != number) continue; /* that was what a later one is */
        int low = rank < r->a ? rank : r->a, high = rank < r->a ? r->a : rank;
        size_t place = r->number < SCOREBOARD_WORDS ? (size_t)r->number : 0;
        memset(&d, 0, sizeof d);
        d.number = number;
        d.ranks[0] = low;
        d.ranks[1] = high;
        d.words[0] = p2p__call_copy(&job->scoreboard->rows[low].words[place]);
        d.words[1] = p2p__call_copy(&job->scoreboard->rows[high].words[place]);
        job->hosts->differ = true;
        if (p2p__judges(job))
            p2p__difference_arrived(job, &d);
        else
            p2p__record_put(job, 0, &(record){.type = RECORD_DIFFERENCE, .bytes = sizeof d, .b = r->b}, &d);
    }
}

void p2p__difference_arrived(p2p_job *job, const record_difference *d)
{
    p2p_words w = {.used = 0};
    p2p_finding difference = {.count = 0};
    const scoreboard_call calls[] = {p2p__call_copy(&d->words[0]), p2p__call_copy(&d->words[1])};
    if (job->failed) return;
    p2p__add_advice(&w, p2p__difference(job->scoreboard, d->ranks, calls, d->number, &difference, &w));
    p2p_finding *f = p2p__report_add(&job->report, CLASS_NONE, REASON_NONE, -1);
    difference.next = f->next;
    *f = difference;
    p2p__report_tell(job, f, &w);
    p2p__job_fail(job, P2P_ERR_MISMATCH, d->ranks[0], 1, w.text);
}

void p2p__payload_arrived(p2p_job *job, const record *r, const record_payload *payload)
{
    size_t bytes = r->bytes - offsetof(record_payload, bytes);
    uint32_t context = (uint32_t)r->b;
    int fd = job->scoreboard_fd;
    p2p_words w = {.used = 0};
    memory_place place = p2p__scratch_place(job->scoreboard, fd, &job->gaps, context, (int)payload->ranks, true);
    if (!place && errno == ESTALE) return; /* no rank here is, or was, in it */
    bool written = place && pwrite(fd, payload->bytes, bytes, (off_t)(place + r->number)) == (ssize_t)bytes;
    if (place) p2p__scratch_leave(job->scoreboard, context);
    if (written) return;
    p2p__add(&w, "no memory for what rank %d shows the ranks here: %s", r->a, strerror(errno));
    p2p__report_fail(job, CLASS_REFUSED, REASON_MEMORY, job->first, &w);
}

void p2p__line_arrived(p2p_job *job, const record *r, const char *bytes)
{
    record_line text;
    bool has_words = r->bytes > offsetof(record_line, words);
    memcpy(&text, bytes, r->bytes);
    uint64_t at = atomic_load(&text.line.at), number = at >> 24;
    uint32_t context = (uint32_t)r->b;
    scoreboard_line *line = &p2p__scoreboard_lines(job->scoreboard, context, number)[r->a];
    if (has_words && r->number < SCOREBOARD_WORDS) job->scoreboard->rows[r->a].words[r->number] = text.words;
    atomic_store_explicit(&line->at, p2p__line_at(number, 0), memory_order_relaxed); /* as its rank has written it */
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&line->what, atomic_load(&text.line.what), memory_order_relaxed);
    memcpy(line->payload, text.line.payload, sizeof line->payload);
    atomic_store_explicit(&line->at, at, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst); /* a rank says that it sleeps, and then looks once more */
    compare(job, r, number, atomic_load(&text.line.what));
    if (!job->hosts->differ) wake(job, job->scoreboard->gates + p2p__scoreboard_slot(context, number));
}

/* ---- Counters ---- */

size_t p2p__counts_of(p2p_job *job, int rank, record_count *counts)
{
    const _Atomic uint64_t *sent = p2p__scoreboard_sent(job->scoreboard, rank),
                           *received = p2p__scoreboard_received(job->scoreboard, rank);
    size_t count = 0;
    for (int i = 0; i < job->size; i++) {
        record_count c = {atomic_load(&sent[i]), atomic_load(&received[i]), i, 0};
        if (c.sent || c.received) counts[count++] = c;
    }
    return count;
}

void p2p__counts_arrived(p2p_job *job, int rank, const record_count *counts, size_t count)
{
    _Atomic uint64_t *sent = p2p__scoreboard_sent(job->scoreboard, rank),
                     *received = p2p__scoreboard_received(job->scoreboard, rank);
    for (size_t i = 0; i < count; i++) {
        atomic_store(&sent[counts[i].rank], counts[i].sent);
        atomic_store(&received[counts[i].rank], counts[i].received);
    }
}

/* ---- Rows ---- */

typedef struct {
    record_row row;
    record_count counts[P2P_MAX_RANKS];
} row_text;

/* Copied while its rank has not changed it; false if it has. */
static bool copy_row(p2p_job *job, int rank, row_text *text, size_t *count)
{
    const scoreboard_row *row = &job->scoreboard->rows[rank];
    uint64_t before = atomic_load_explicit(&row->activity, memory_order_acquire);
    memset(&text->row, 0, sizeof text->row);
    text->row.activity = before;
    text->row.polls = atomic_load(&row->polls);
    text->row.nudges = atomic_load(&row->nudges) - atomic_load(&row->nudges_seen);
    text->row.state = p2p__state_of(atomic_load(&row->state));
    text->row.gave_up = atomic_load(&row->gave_up);
    text->row.call = p2p__call_copy(&row->call);
    text->row.wait = row->wait;
    *count = p2p__counts_of(job, rank, text->counts);
    atomic_thread_fence(memory_order_acquire);
    return before % 2 == 0 && atomic_load_explicit(&row->activity, memory_order_relaxed) == before;
}

/* A row that stands still; or as well as it can be seen. */
static void show_row(p2p_job *job, int rank, bool moving)
{
    static row_text text; /* too large for a stack */
    size_t count;
    if (!copy_row(job, rank, &text, &count) && !moving) return;
    if (!moving) job->hosts->shown[rank - job->first] = text.row.activity + 1;
    const record r = {
        .type = RECORD_ROW, .bytes = (uint32_t)(sizeof text.row + count * sizeof *text.counts), .a = rank};
    p2p__record_put(job, 0, &r, &text);
}

void p2p__rank_gave_up(p2p_job *job, int rank, int err)
{
    atomic_store(&job->scoreboard->rows[rank].gave_up, err);
    if (err) atomic_store(&job->scoreboard->shared->any_gave_up, 1);
}

/* Rows that stand still go to host 0; that a rank has begun to use Pairwise, or takes no more part, to all. */
void p2p__rows_tick(p2p_job *job)
{
    p2p_cluster *hosts = job->hosts;
    p2p__lines_serve(job);
    for (int i = 0; i < job->count; i++) {
        const scoreboard_row *row = &job->scoreboard->rows[job->first + i];
        uint64_t activity = atomic_load(&row->activity), *seen = &hosts->seen[i];
        int state = atomic_load(&row->state);
        if (state == SCOREBOARD_ABSENT) continue;
        if (!*seen) p2p__record_put_all(job, &(record){.type = RECORD_JOINED, .a = job->first + i}, NULL);
        int gave_up = atomic_load(&row->gave_up), *told = &job->ranks[job->first + i].gave_up;
        if (gave_up != *told) {
            p2p__lines_of(job, job->first + i); /* it wrote them before */
            p2p__record_put_all(job, &(record){.type = RECORD_GAVE_UP, .a = job->first + i, .b = gave_up}, NULL);
        }
        *told = gave_up;
        bool still = activity + 1 == *seen && activity % 2 == 0 && !job->watch.ended[job->first + i];
        *seen = activity + 1; /* 0: not joined */
        if (!hosts->own || (hosts->shown[i] == activity + 1 && state != SCOREBOARD_POLLING)) continue;
        if (still)
            show_row(job, job->first + i, false);
        else if (hosts->shown[i])
            p2p__record_put(job, 0, &(record){.type = RECORD_MOVED, .a = job->first + i}, NULL);
        if (!still) hosts->shown[i] = 0;
    }
}

bool p2p__hosts_look(p2p_job *job)
{
    p2p_cluster *hosts = job->hosts;
    bool all = true;
    if (!hosts->look_until) {
        hosts->look_until = p2p__now() + LOOK_NS;
        p2p__record_put_all(job, &(record){.type = RECORD_LOOK}, NULL);
    }
    for (int h = 1; h < hosts->count; h++) all = all && (hosts->hosts[h].looked || hosts->hosts[h].done);
    return all || p2p__now() >= hosts->look_until;
}

void p2p__hosts_looked(p2p_cluster *hosts)
{
    hosts->look_until = 0;
    for (int h = 0; h < hosts->count; h++) hosts->hosts[h].looked = false;
}

void p2p__hosts_show(p2p_job *job)
{
    for (int rank = job->first; rank < job->first + job->count; rank++)
        if (!job->watch.ended[rank] && atomic_load(&job->scoreboard->rows[rank].state) != SCOREBOARD_ABSENT)
            show_row(job, rank, true);
    p2p__record_put(job, 0, &(record){.type = RECORD_LOOKED}, NULL);
}

void p2p__rank_moved(p2p_job *job, const record *r)
{
    scoreboard_row *row = &job->scoreboard->rows[r->a];
    int state = atomic_load(&row->state);
    bool joins = r->type == RECORD_JOINED && state == SCOREBOARD_ABSENT;
    p2p__row_open(row);
    if (joins || state == SCOREBOARD_BLOCKED || state == SCOREBOARD_POLLING)
        atomic_store(&row->state, SCOREBOARD_RUNNING);
    p2p__row_shut(row);
}

void p2p__row_arrived(p2p_job *job, const record *r, const char *bytes)
{
    scoreboard_row *row = &job->scoreboard->rows[r->a];
    const record_row *shown = (const void *)bytes;
    p2p__row_open(row);
    atomic_store(&row->state, shown->state);
    atomic_store(&row->polls, shown->polls);
    atomic_store(&row->nudges, shown->nudges);
    atomic_store(&row->gave_up, shown->gave_up);
    row->call = shown->call;
    row->wait = shown->wait;
    p2p__counts_arrived(job, r->a, (const void *)(bytes + sizeof *shown),
                        (r->bytes - sizeof *shown) / sizeof(record_count));
    atomic_store_explicit(&row->activity, shown->activity, memory_order_release);
}

/* ---- Confirming a deadlock ---- */

/* Ranks whose rows must still be what they were: all that do not run. */
static size_t still_ranks(p2p_job *job, int host, record_still *still)
{
    size_t count = 0;
    for (int rank = job->hosts->map.first[host]; rank < job->hosts->map.first[host + 1]; rank++)
        if (p2p__set_has(&job->hosts->question.still, rank))
            still[count++] = (record_still){rank, 0, job->hosts->question.activity[rank]};
    return count;
}

bool p2p__hosts_ask(p2p_job *job, const p2p_rank_set *stuck, const p2p_rank_set *can_act)
{
    p2p_cluster *hosts = job->hosts;
    host_question *q = &hosts->question;
    record_still still[P2P_MAX_RANKS];
    if (q->number) return false;
    *q = (host_question){.number = ++hosts->questions, .stuck = *stuck, .can_act = *can_act};
    for (int i = 0; i < job->size; i++) {
        q->activity[i] = job->watch.seen[i].activity;
        if (!job->watch.ended[i] && p2p__set_has(&job->watch.still, i)) p2p__set_add(&q->still, i);
    }
    for (int h = 1; h < hosts->count; h++) {
        size_t count = still_ranks(job, h, still);
        const record r = {.type = RECORD_CONFIRM, .bytes = (uint32_t)(count * sizeof *still), .number = q->number};
        if (!count) continue;
        q->waits_for++;
        p2p__record_put(job, h, &r, still);
    }
    if (!q->waits_for) q->number = 0;
    return !q->waits_for;
}

/* As it did at that activity, and nothing is there that it has not seen. */
static bool stands(const p2p_job *job, int rank, uint64_t activity)
{
    const scoreboard_row *row = &job->scoreboard->rows[rank];
    return atomic_load(&row->nudges) == atomic_load(&row->nudges_seen) && atomic_load(&row->activity) == activity;
}

void p2p__hosts_asked(p2p_job *job, const record *r, const record_still *still, int host)
{
    bool same = true;
    for (size_t i = 0; i < r->bytes / sizeof *still; i++) {
        same = same && !job->watch.ended[still[i].rank] && !p2p__lines_left(job, still[i].rank) &&
               stands(job, still[i].rank, still[i].activity);
    }
    p2p__record_put(job, host, &(record){.type = RECORD_CONFIRMED, .a = same, .number = r->number}, NULL);
}

void p2p__hosts_answered(p2p_job *job, const record *r)
{
    host_question *q = &job->hosts->question;
    bool same = true;
    if (!q->number || r->number != q->number) return;
    q->refuted |= !r->a;
    if (--q->waits_for) return;
    for (int i = 0; i < job->size; i++)
        if (p2p__set_has(&q->still, i)) same = same && stands(job, i, q->activity[i]);
    q->number = 0;
    if (q->refuted || !same || job->failed || job->interrupted) return;
    p2p__see(&job->watch);
    p2p__report_deadlock(job, &q->stuck, &q->can_act);
}
