/* SPDX-License-Identifier: MIT */
/*
 * launch --metrics: a file for Prometheus, written as a whole every second and at the end (Prometheus, "Exposition formats",
 * text format 0.0.4). Where ranks are on several hosts each launcher looks after its own, and host 0 writes the file.
 *
 * What ranks have written is believed to be numbers, and nothing else: a name that could not stand in the file, or stands
 * there already, is left out. No sample is of a pair of ranks.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "p2p/job/hosts.h"
#include "p2p/shared/file.h"
#include "p2p/trace/notes.h"

#define EVERY_NS UINT64_C(1000000000)
#define SHARE 20 /* of the time that it takes to write the file: no more often than that */

enum { FAMILIES = 64 };

/* ---- Names ---- */

/* As much of a shared name as may stand in the file; "": nothing of it may. */
static void copy_name(char to[NOTES_NAME], const char *shared)
{
    memcpy(to, shared, NOTES_NAME);
    to[NOTES_NAME - 1] = 0;
    bool good = !isdigit((unsigned char)to[0]);
    for (const char *at = to; *at; at++) good = good && (isalnum((unsigned char)*at) || *at == '_');
    if (!good) to[0] = 0;
}

/* The operation's name; "" if it has none, or one before it has the same. */
static void operation_name(const notes_metrics *notes, uint32_t index, char to[NOTES_NAME])
{
    char other[NOTES_NAME];
    copy_name(to, notes->operation[index].name);
    for (uint32_t i = 0; i < index && to[0]; i++) {
        copy_name(other, notes->operation[i].name);
        if (strcmp(other, to) == 0) to[0] = 0;
    }
}

static uint32_t gauges_of(const notes_metrics *notes)
{
    uint32_t count = atomic_load_explicit(&notes->gauges, memory_order_acquire);
    return count < NOTES_GAUGES ? count : NOTES_GAUGES;
}

/* No job has more than the most of anything: sums of some stay in range. */
static unsigned long long count_at(const _Atomic uint64_t *shared)
{
    const uint64_t most = UINT64_C(1) << 50;
    uint64_t count = atomic_load(shared);
    return count < most ? count : most;
}

/* ---- Families: samples of one name stand together ---- */

static void put_family(FILE *file, const char *name, const char *type, const char *help)
{
    fprintf(file, "# HELP pairwise_%s %s\n# TYPE pairwise_%s %s\n", name, help, name, type);
}

static void put_ranks(FILE *file, p2p_job *job)
{
    put_family(file, "ranks", "gauge", "Ranks of the job.");
    fprintf(file, "pairwise_ranks %d\n", job->size);
    put_family(file, "rank_alive", "gauge", "1 while the process of the rank has not ended.");
    for (int rank = 0; rank < job->size; rank++)
        fprintf(file, "pairwise_rank_alive{rank=\"%d\"} %d\n", rank, !job->watch.ended[rank]);
    put_family(file, "messages_waiting", "gauge", "Messages to the rank that no receive has taken yet.");
    for (int rank = 0; rank < job->size; rank++) {
        const notes_metrics *notes = p2p__notes_metrics(job->scoreboard, rank);
        fprintf(file, "pairwise_messages_waiting{rank=\"%d\"} %llu\n", rank,
                count_at(&notes->kept) + count_at(&notes->on_way));
    }
}

/* Each operation of each rank has this many calls, or bytes. */
static void put_counters(FILE *file, const p2p_job *job, const char *name, const char *help, size_t offset)
{
    char operation[NOTES_NAME];
    put_family(file, name, "counter", help);
    for (int rank = 0; rank < job->size; rank++) {
        const notes_metrics *notes = p2p__notes_metrics(job->scoreboard, rank);
        for (uint32_t i = 0, count = p2p__notes_operations(notes); i < count; i++) {
            const char *at = (const char *)&notes->operation[i] + offset;
            operation_name(notes, i, operation);
            if (operation[0])
                fprintf(file, "pairwise_%s{rank=\"%d\",operation=\"%s\"} %llu\n", name, rank, operation,
                        count_at((const void *)at));
        }
    }
}

static void put_duration(FILE *file, int rank, const char *operation, const notes_operation *notes)
{
    unsigned long long sum = 0;
    for (int i = 0; i < NOTES_BUCKETS; i++) {
        char limit[32] = "+Inf";
        if (i < NOTES_BUCKETS - 1) snprintf(limit, sizeof limit, "%.9g", (double)p2p__notes_limit(i) * 1e-9);
        sum += count_at(&notes->took[i]);
        fprintf(file, "pairwise_call_duration_seconds_bucket{rank=\"%d\",operation=\"%s\",le=\"%s\"} %llu\n", rank,
                operation, limit, sum);
    }
    fprintf(file, "pairwise_call_duration_seconds_sum{rank=\"%d\",operation=\"%s\"} %.9g\n", rank, operation,
            (double)count_at(&notes->ns) * 1e-9);
    fprintf(file, "pairwise_call_duration_seconds_count{rank=\"%d\",operation=\"%s\"} %llu\n", rank, operation, sum);
}

static void put_durations(FILE *file, const p2p_job *job)
{
    char operation[NOTES_NAME];
    put_family(file, "call_duration_seconds", "histogram",
               "How long calls took; beyond the first thousand, of those that did not sleep a sample.");
    for (int rank = 0; rank < job->size; rank++) {
        const notes_metrics *notes = p2p__notes_metrics(job->scoreboard, rank);
        for (uint32_t i = 0, count = p2p__notes_operations(notes); i < count; i++) {
            operation_name(notes, i, operation);
            if (operation[0]) put_duration(file, rank, operation, &notes->operation[i]);
        }
    }
}

/* A number of the program, of all ranks that have one of this name: the first of it, if a rank has several. */
static void put_gauge(FILE *file, const p2p_job *job, const char *name)
{
    char family[NOTES_NAME + 8], own[NOTES_NAME];
    snprintf(family, sizeof family, "program_%s", name);
    put_family(file, family, "gauge", "A number of the program.");
    for (int rank = 0; rank < job->size; rank++) {
        const notes_metrics *notes = p2p__notes_metrics(job->scoreboard, rank);
        for (uint32_t i = 0, count = gauges_of(notes); i < count; i++) {
            copy_name(own, notes->gauge[i].name);
            if (strcmp(own, name) != 0) continue;
            uint64_t bits = atomic_load(&notes->gauge[i].bits);
            double value;
            memcpy(&value, &bits, sizeof value);
            fprintf(file, "pairwise_%s{rank=\"%d\"} ", family, rank);
            if (value != value)
                fputs("NaN\n", file);
            else if (value - value != 0)
                fputs(value > 0 ? "+Inf\n" : "-Inf\n", file);
            else
                fprintf(file, "%.17g\n", value);
            break;
        }
    }
}

static void put_gauges(FILE *file, const p2p_job *job)
{
    char names[FAMILIES][NOTES_NAME], name[NOTES_NAME];
    int known = 0;
    for (int rank = 0; rank < job->size; rank++) {
        const notes_metrics *notes = p2p__notes_metrics(job->scoreboard, rank);
        for (uint32_t i = 0, count = gauges_of(notes); i < count; i++) {
            int same = 0;
            copy_name(name, notes->gauge[i].name);
            while (same < known && strcmp(names[same], name) != 0) same++;
            if (!name[0] || same < known || known == FAMILIES) continue;
            memcpy(names[known++], name, sizeof name);
            put_gauge(file, job, name);
        }
    }
}

/* ---- The file ---- */

static bool write_file(p2p_job *job)
{
    p2p_file file;
    if (!p2p__file_begin(&file, job->plan->options.metrics)) return false;
    put_ranks(file.stream, job);
    put_counters(file.stream, job, "calls_total", "Calls of the program.", offsetof(notes_operation, calls));
    put_counters(file.stream, job, "call_errors_total", "Calls that returned an error, or ended the job with one.",
                 offsetof(notes_operation, errors));
    put_counters(file.stream, job, "sent_bytes_total", "Bytes of messages that were sent in these calls.",
                 offsetof(notes_operation, bytes_sent));
    put_counters(file.stream, job, "received_bytes_total", "Bytes of messages that were received in these calls.",
                 offsetof(notes_operation, bytes_received));
    put_durations(file.stream, job);
    put_gauges(file.stream, job);
    return p2p__file_end(&file, true);
}

/* Packets that were sent to the ranks of this host, and that these have not read. */
static void count_on_way(p2p_job *job)
{
    scoreboard *b = job->scoreboard;
    for (int rank = job->first; rank < job->first + job->count; rank++) {
        uint64_t on_way = 0;
        for (int from = 0; from < job->size; from++) {
            uint64_t sent = atomic_load(&p2p__scoreboard_sent(b, from)[rank]),
                     received = atomic_load(&p2p__scoreboard_received(b, rank)[from]);
            if (sent > received && !job->watch.ended[rank]) on_way += sent - received;
        }
        atomic_store(&p2p__notes_metrics(b, rank)->on_way, on_way);
    }
}

bool p2p__metrics_write(p2p_job *job)
{
    if (!job->plan->config.metrics) return true;
    uint64_t began = p2p__now();
    count_on_way(job);
    if (job->hosts) p2p__notes_send(job, false);
    bool written = !p2p__judges(job) || write_file(job);
    int cause = errno;
    if (!written && !job->metrics_failed)
        p2p__say(job, "the metrics cannot be written to \"%s\": %s", job->plan->options.metrics, strerror(cause));
    job->metrics_failed |= !written;
    uint64_t now = p2p__now(), pause = SHARE * (now - began);
    job->metrics_at = now + (pause > EVERY_NS ? pause : EVERY_NS);
    return written;
}
