/* SPDX-License-Identifier: MIT */
/* Ranks that die as soon as they are started: to start them again and again would not help. */
#include <string.h>

#include "p2p/job/launch.h"

#define AT_ONCE_NS UINT64_C(1000000000)
#define AT_ONCE_MOST 3
#define AS_LONG_NS UINT64_C(10000000)

/* Where a rank has died: its last call, the messages that it had sent, and how it ended. What kills ranks from outside does
 * not find them at the same place again and again. */
static uint64_t place_of_end(p2p_job *job, const p2p_rank_process *process)
{
    const scoreboard_call call = p2p__call_copy(&job->scoreboard->rows[process->rank].call);
    const _Atomic uint64_t *sent = p2p__scoreboard_sent(job->scoreboard, process->rank);
    uint64_t place = (uint64_t)process->status + 1;
    for (const char *at = call.name; *at; at++) place = 31 * place + (unsigned char)*at;
    for (const char *at = call.file; *at; at++) place = 31 * place + (unsigned char)*at;
    place = 31 * (31 * place + (uint64_t)call.line) + call.number;
    for (int i = 0; i < job->size; i++) place = 31 * place + atomic_load(&sent[i]);
    return place;
}

static bool much_alike(uint64_t one, uint64_t other)
{
    uint64_t most = one > other ? one : other, least = one > other ? other : one;
    return most - least <= AS_LONG_NS + most / 8;
}

/* Does it die as soon as it is started, again and again? A signal that comes from outside, while it starts, comes after
 * another time of computing. */
bool p2p__dies_at_once(p2p_job *job, p2p_rank_process *process, const p2p_end *end, const p2p_diagnosis *how,
                       p2p_words *why)
{
    uint64_t place = place_of_end(job, process);
    bool at_once = process->replaced && p2p__now() - process->started < AT_ONCE_NS;
    bool same = place == process->place &&
                (how->reason != REASON_SIGNAL || much_alike(end->computed, process->computed_before));
    process->at_once = !at_once ? 0 : same ? process->at_once + 1 : 1;
    process->place = place;
    process->computed_before = end->computed;
    if (process->at_once < AT_ONCE_MOST) return false;
    p2p__stream_end(&process->out);
    p2p__stream_end(&process->err);
    p2p__add(why, "rank %d has died at once %d times in a row, and is not started again: it ", process->rank,
             process->at_once);
    p2p__words_end(why, how);
    if (process->said[0]) p2p__add(why, "; the last it said was: %s", process->said);
    return true;
}
