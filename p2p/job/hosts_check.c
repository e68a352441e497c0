/* SPDX-License-Identifier: MIT */
/*
 * What another launcher sends is checked here before any of it is obeyed: a rank is one of the host that speaks of it, or one
 * of this host; a list is as long as it says; texts end; numbers that are places are in range. So nothing that arrives can
 * make this launcher read or write where it should not. Texts and calls of ranks are copied where they are used, as those
 * of ranks here.
 */
#include <limits.h>
#include <string.h>

#include "p2p/group/internal.h"
#include "p2p/job/hosts.h"
#include "p2p/world/world.h"

#define GRACE_MOST_NS UINT64_C(1000000000) /* p2p__job_fail leaves no more */

enum whose { ANY, THEIRS, OURS };
enum way { NEVER, TO_ALL, FROM_JUDGE, TO_JUDGE };
enum scope { JOB, GENERATION };

/* Of which ranks a and b are; bytes: the fixed part, then a list. */
typedef struct {
    enum way way;
    enum scope scope; /* of a generation: obeyed by hosts that are in the same one */
    enum whose a, b;
    size_t least, each;
} kind;

static const kind kinds[] = {
    [RECORD_BYTES] = {TO_ALL, GENERATION, THEIRS, OURS, 0, 1},
    [RECORD_MEMORY] = {TO_ALL, GENERATION, THEIRS, OURS, 0, 1},
    [RECORD_FOLLOWS] = {TO_ALL, JOB, THEIRS, OURS, sizeof(uint64_t), 0},
    [RECORD_CALL] = {TO_ALL, GENERATION, THEIRS, OURS, sizeof(scoreboard_call), 0},
    [RECORD_WINDOW] = {TO_ALL, GENERATION, THEIRS, OURS, 0, 0},
    [RECORD_FREED] = {TO_ALL, GENERATION, ANY, ANY, 0, 0},
    [RECORD_NOLINK] = {TO_ALL, GENERATION, THEIRS, OURS, sizeof(control_message), 0},
    [RECORD_LINE] = {TO_ALL, GENERATION, THEIRS, ANY, offsetof(record_line, words), sizeof(scoreboard_call)},
    [RECORD_PAYLOAD] = {TO_ALL, GENERATION, THEIRS, ANY, offsetof(record_payload, bytes), 1},
    [RECORD_JOINED] = {TO_ALL, GENERATION, THEIRS, ANY, 0, 0},
    [RECORD_GAVE_UP] = {TO_ALL, GENERATION, THEIRS, ANY, 0, 0},
    [RECORD_GOODBYE] = {TO_ALL, GENERATION, THEIRS, ANY, 0, sizeof(record_count)},
    [RECORD_ENDED] = {TO_ALL, GENERATION, THEIRS, ANY, sizeof(record_end), sizeof(record_count)},
    [RECORD_STOPPED] = {TO_ALL, GENERATION, THEIRS, ANY, 0, 0},
    [RECORD_FLUSH] = {TO_ALL, GENERATION, ANY, ANY, 0, 0},
    [RECORD_INTERRUPT] = {TO_ALL, JOB, ANY, ANY, 0, 0},
    [RECORD_DONE] = {TO_ALL, JOB, ANY, ANY, 0, 0},
    [RECORD_ALIVE] = {TO_ALL, JOB, ANY, ANY, 0, 0},
    [RECORD_REPAIR] = {TO_ALL, GENERATION, THEIRS, ANY, sizeof(scoreboard_call), 0},
    [RECORD_GENERATION] = {TO_ALL, JOB, ANY, ANY, sizeof(record_generation), 0},
    [RECORD_FAILED] = {TO_ALL, JOB, ANY, ANY, sizeof(record_failure), 0},
    [RECORD_BROKEN] = {FROM_JUDGE, GENERATION, ANY, ANY, sizeof(record_failure), 0},
    [RECORD_KILL] = {FROM_JUDGE, JOB, ANY, ANY, 0, 0},
    [RECORD_LOOK] = {FROM_JUDGE, JOB, ANY, ANY, 0, 0},
    [RECORD_CONFIRM] = {FROM_JUDGE, GENERATION, ANY, ANY, 0, sizeof(record_still)},
    [RECORD_MOVED] = {TO_JUDGE, GENERATION, THEIRS, ANY, 0, 0},
    [RECORD_ROW] = {TO_JUDGE, GENERATION, THEIRS, ANY, sizeof(record_row), sizeof(record_count)},
    [RECORD_DIFFERENCE] = {TO_JUDGE, GENERATION, ANY, ANY, sizeof(record_difference), 0},
    [RECORD_EVENT] = {TO_JUDGE, GENERATION, THEIRS, ANY, sizeof(record_event), sizeof(scoreboard_found)},
    [RECORD_CONFIRMED] = {TO_JUDGE, GENERATION, ANY, ANY, 0, 0},
    [RECORD_LOOKED] = {TO_JUDGE, JOB, ANY, ANY, 0, 0},
    [RECORD_FINDING] = {TO_JUDGE, JOB, ANY, ANY, sizeof(record_finding), 0},
    [RECORD_SAY] = {TO_JUDGE, JOB, ANY, ANY, 1, 1},
    [RECORD_NOTES] = {TO_JUDGE, JOB, THEIRS, ANY, 0, 1},
    [RECORD_TIME] = {TO_ALL, JOB, ANY, ANY, 0, sizeof(uint64_t)},
    [RECORD_PRINT] = {TO_JUDGE, JOB, ANY, ANY, 0, 1},
};

static bool is_of(const p2p_job *job, int rank, enum whose whose, int from)
{
    if (whose == ANY) return true;
    return rank >= 0 && rank < job->size && job->hosts->host_of[rank] == (whose == OURS ? job->hosts->own : from);
}

static bool counts_are_sound(const p2p_job *job, const char *bytes, size_t count)
{
    const record_count *counts = (const void *)bytes;
    for (size_t i = 0; i < count; i++)
        if (counts[i].rank < 0 || counts[i].rank >= job->size) return false;
    return true;
}

static bool is_state(int state)
{
    return state == p2p__state_of(state);
}

static bool event_is_sound(const record_event *event, size_t found)
{
    int type = event->message.type;
    return event->found_count >= 0 && (size_t)event->found_count == found && found <= SCOREBOARD_FOUND &&
           (!type || type == CONTROL_ABORT || type == CONTROL_FATAL || type == CONTROL_MISMATCH ||
            type == CONTROL_NOEXEC);
}

static bool finding_is_sound(const p2p_job *job, const record_finding *f)
{
    const p2p_diagnosis *what = &f->what;
    bool sound = f->count >= 0 && f->count <= SCOREBOARD_PLACES && what->class >= 0 && what->class < CLASS_COUNT &&
                 what->reason >= 0 && what->reason < REASON_COUNT && what->argument >= 0 &&
                 what->argument < ARGUMENT_COUNT;
    for (int i = 0; sound && i < f->count; i++)
        sound = f->places[i].rank >= 0 && f->places[i].rank < job->size && f->places[i].role >= 0 &&
                f->places[i].role < ROLE_COUNT && is_state(f->places[i].state);
    return sound && memchr(f->text, 0, sizeof f->text) && memchr(f->advice, 0, sizeof f->advice);
}

/* Launchers go on one generation at a time, the others soon after the first. */
static bool generation_is_sound(const p2p_job *job, int from, const record_generation *g)
{
    const far_host *hosts = job->hosts->hosts;
    int members = 0;
    for (int i = 0; i < job->size; i++) members += !p2p__set_has(&g->gone, i);
    return job->plan->options.repair && g->number == hosts[from].generation + 1 &&
           g->number <= hosts[job->hosts->own].generation + 1 && g->members == members && members > 0;
}

/* `count`: of the list behind the fixed part. */
static bool content_is_sound(const p2p_job *job, int from, const record *r, const char *bytes, size_t count)
{
    const char *list = bytes + kinds[r->type].least;
    const void *at = bytes;
    bool queues = p2p__world_find(job->plan->config.world)->link_memory;
    switch ((enum record_type)r->type) {
    case RECORD_BYTES: return !queues || p2p__far_records_are_sound(bytes, count);
    case RECORD_MEMORY: return queues;
    case RECORD_FOLLOWS: return queues && *(const uint64_t *)at > 0 && *(const uint64_t *)at <= FAR_FOLLOWS_MOST;
    case RECORD_CALL: return r->number < SCOREBOARD_SENT;
    case RECORD_FREED: return r->a >= 1 && r->a < SCOREBOARD_CONTEXTS;
    case RECORD_NOLINK: {
        const control_message *message = at;
        return message->type == CONTROL_NOLINK || message->type == CONTROL_NOMEMORY;
    }
    case RECORD_LINE: return count <= 1;
    case RECORD_PAYLOAD: {
        size_t ranks = ((const record_payload *)at)->ranks;
        return queues && ranks <= (size_t)job->size && p2p__scratch_holds(ranks, r->number, count);
    }
    case RECORD_GOODBYE: return counts_are_sound(job, list, count);
    case RECORD_ENDED: return is_state(((const record_end *)at)->end.state) && counts_are_sound(job, list, count);
    case RECORD_ROW: return is_state(((const record_row *)at)->state) && counts_are_sound(job, list, count);
    case RECORD_INTERRUPT: return r->a >= 1 && r->a <= SIGRTMAX;
    case RECORD_REPAIR: return r->b >= REPAIR_WHOLE && r->b <= REPAIR_LATE && r->number <= INT_MAX;
    case RECORD_GENERATION: return generation_is_sound(job, from, at);
    case RECORD_BROKEN:
        if (!job->plan->options.repair) return false;
        /* fall through */
    case RECORD_FAILED: {
        const record_failure *f = at;
        return f->rank >= -1 && f->rank < job->size && f->grace_ns <= GRACE_MOST_NS &&
               memchr(f->text, 0, sizeof f->text);
    }
    case RECORD_KILL: return r->number <= INT64_MAX;
    case RECORD_CONFIRM:
        for (size_t i = 0; i < count; i++)
            if (!is_of(job, ((const record_still *)at)[i].rank, OURS, from)) return false;
        return true;
    case RECORD_DIFFERENCE: {
        const record_difference *d = at;
        return d->ranks[0] >= 0 && d->ranks[0] < d->ranks[1] && d->ranks[1] < job->size;
    }
    case RECORD_EVENT: return event_is_sound(at, count);
    case RECORD_FINDING: return finding_is_sound(job, at);
    case RECORD_SAY: return !bytes[r->bytes - 1];
    case RECORD_TIME: return count == (p2p__judges(job) ? 1 : 0);
    default: return true;
    }
}

bool p2p__record_is_sound(const p2p_job *job, int from, const record *r, const char *bytes)
{
    if (r->type >= sizeof kinds / sizeof *kinds) return false;
    const kind *k = &kinds[r->type];
    size_t count = k->each && r->bytes >= k->least ? (r->bytes - k->least) / k->each : 0;
    bool goes = k->way == TO_ALL || (k->way == TO_JUDGE && p2p__judges(job)) || (k->way == FROM_JUDGE && from == 0);
    return goes && r->bytes == k->least + count * k->each && is_of(job, r->a, k->a, from) &&
           is_of(job, r->b, k->b, from) && content_is_sound(job, from, r, bytes, count);
}

bool p2p__record_is_of_job(const record *r)
{
    return kinds[r->type].scope == JOB;
}
