/* SPDX-License-Identifier: MIT */
/*
 * Repair on several hosts. Host 0 decides when a generation is broken, and when the next one begins (generation.c). Each launcher
 * that begins it says so to all others before anything else of it, so what it has sent before is known to be of the one that was:
 *
 *      host 0    "generation 3"  ────>  host 1    "generation 3"  ────>  host 0, host 2
 *                                ────>  host 2    that has heard of it from host 1, perhaps, before it hears of it from host 0
 *
 * A launcher that hears of it first from another one begins it then. What comes from a host that is not in the same generation
 * is for nobody, but for what is of the job as a whole (hosts_check.c).
 */
#include <stdlib.h>
#include <string.h>

#include "p2p/job/hosts.h"

/* ---- Those that are left ---- */

void p2p__far_repair(p2p_job *job, int rank, const control_message *message)
{
    const scoreboard_call call = p2p__call_copy(&job->scoreboard->rows[rank].call);
    const record r = {
        .type = RECORD_REPAIR, .bytes = sizeof call, .a = rank, .b = message->value, .number = (uint64_t)message->rank};
    if (message->rank == job->scoreboard->generation.number) p2p__record_put_all(job, &r, &call);
}

void p2p__repair_arrived(p2p_job *job, const record *r, const char *bytes)
{
    memcpy(&job->scoreboard->rows[r->a].call, bytes, sizeof(scoreboard_call));
    p2p__generation_come(job, &job->ranks[r->a], &(control_message){CONTROL_REPAIR, (int32_t)r->number, r->b});
}

/* ---- The next generation ---- */

static bool all_have_followed(p2p_job *job)
{
    bool all = true;
    for (int h = 0; h < job->hosts->count; h++)
        if (h != job->hosts->own) all = p2p__record_has_followed(job, h) && all;
    return all;
}

/* What ranks have from p2p_alloc lies in the memory of a generation, and some of it may be leaving from there. */
static void leave_memory(p2p_cluster *hosts)
{
    memory_window *left = hosts->window.at ? realloc(hosts->left, (hosts->left_count + 1) * sizeof *left) : NULL;
    if (left) {
        hosts->left = left;
        left[hosts->left_count++] = hosts->window;
    }
    hosts->window = (memory_window){.at = NULL}; /* where there is no memory to note it, it stays mapped */
}

void p2p__far_forget_memory(p2p_job *job)
{
    p2p_cluster *hosts = job->hosts;
    if (!hosts->left_count || !all_have_followed(job)) return;
    for (size_t i = 0; i < hosts->left_count; i++) p2p__memory_shut(&hosts->left[i]);
    hosts->left_count = 0;
}

static void forget(p2p_job *job)
{
    p2p_cluster *hosts = job->hosts;
    size_t ranks = (size_t)hosts->ranks;
    memset(hosts->shown, 0, ranks * sizeof *hosts->shown);
    memset(hosts->seen, 0, ranks * sizeof *hosts->seen);
    memset(hosts->came, 0, ranks * sizeof *hosts->came);
    hosts->hosts[hosts->own].generation = job->scoreboard->generation.number;
    hosts->question.number = 0;
    hosts->failing = 0;
    hosts->differ = hosts->asleep = false;
    for (int h = 0; h < hosts->count; h++) hosts->hosts[h].flushed = hosts->hosts[h].gone;
    p2p__far_links_forget(hosts);
    leave_memory(hosts);
    for (int i = 0; i < job->size; i++)
        if (!job->ranks[i].left) atomic_store(&job->scoreboard->rows[i].letter, 'S');
    p2p__hosts_place(job);
}

/* A rank here that has ended and is not started again: whoever was told that in the generation before may not have heard it. */
static void tell_ended(p2p_job *job, int rank)
{
    p2p_rank_process *process = &job->ranks[rank];
    p2p_end end = process->end;
    if (!job->watch.ended[rank] || process->left) return;
    end.state = SCOREBOARD_ABSENT;
    p2p__far_ended(job, process, &end);
}

void p2p__far_generation(p2p_job *job, const p2p_next_generation *next)
{
    const record_generation text = {next->scoreboard.number, next->scoreboard.members, next->scoreboard.gone,
                                    next->dead};
    p2p__record_put_all(job, &(record){.type = RECORD_GENERATION, .bytes = sizeof text}, &text);
    forget(job);
    for (int rank = job->first; rank < job->first + job->count; rank++)
        if (!p2p__set_has(&next->dead, rank)) tell_ended(job, rank);
}

void p2p__generation_arrived(p2p_job *job, int from, const record_generation *text)
{
    job->hosts->hosts[from].generation = text->number;
    if (text->number <= job->hosts->hosts[job->hosts->own].generation) return;
    const p2p_next_generation next = {
        .scoreboard = {.number = text->number, .members = text->members, .gone = text->gone, .repairs = true},
        .dead = text->dead};
    p2p__check_scoreboard(job); /* what a dead rank has written over, others may have read */
    p2p__generation_begin(job, &next);
}
