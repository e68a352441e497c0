/* SPDX-License-Identifier: MIT */
/* launch --record: the last calls of each rank as JSON (docs/observe.md), written when all have ended, whether or not the job
 * has failed. Of one that has, the first call in which ranks diverged is named, in the file and to people. */
#include "p2p/job/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "p2p/job/launch.h"
#include "p2p/shared/file.h"
#include "p2p/shared/json.h"

/* ---- Where they diverged ---- */

static void describe(p2p_words *w, const p2p_divergence *d, int size)
{
    if (d->is_line)
        p2p__add(w, "the first call that is not on one line on all ranks, after the last collective of all");
    else
        p2p__add(w, "ranks diverged in collective #%llu", (unsigned long long)d->number);
    if (!d->is_line && d->context / 2) p2p__add(w, " of communicator %u", d->context / 2);
    for (int i = 0; i < d->count; i++) {
        int ranks[P2P_MAX_RANKS], count = p2p__set_list(&d->groups[i].ranks, size, ranks);
        p2p__add_ranks(w, count == 1 ? "\n  rank " : "\n  ranks ", &d->groups[i].ranks, size);
        p2p__add_call(w, d->groups[i].instead ? ": not there; its next call was " : ": ", &d->groups[i].call);
    }
}

static void put_divergence(FILE *file, const p2p_divergence *d, int size)
{
    p2p_words w = {.used = 0};
    describe(&w, d, size);
    fputs("{\"text\":", file);
    p2p__json_text(file, w.text);
    if (!d->is_line) p2p__json_number(file, "number", d->number);
    if (!d->is_line) p2p__json_number(file, "communicator", d->context / 2);
    fputs(",\"groups\":[", file);
    for (int i = 0; i < d->count; i++) {
        fprintf(file, "%s{\"instead\":%s", i ? ",\n   " : "", d->groups[i].instead ? "true" : "false");
        p2p__json_ranks(file, "ranks", &d->groups[i].ranks, size);
        p2p__report_call(file, size, &d->groups[i].call);
        putc('}', file);
    }
    fputs("]}", file);
}

/* ---- The file ---- */

static double us_since(uint64_t began, uint64_t time)
{
    return time > began ? (double)(time - began) * 1e-3 : 0;
}

static void put_call(FILE *file, const p2p_job *job, const kept_calls *kept, uint64_t number)
{
    const notes_call call = *p2p__kept_call(kept, number);
    const scoreboard_call shown = p2p__kept_as_shown(kept, number);
    fprintf(file, "{\"start_us\":%.3f", us_since(job->began, call.start));
    if (call.end) fprintf(file, ",\"us\":%.3f", us_since(call.start, call.end));
    if (call.err) p2p__json_field(file, "error", p2p_strerror((p2p_err)call.err));
    if (shown.context / 2) p2p__json_number(file, "communicator", shown.context / 2);
    p2p__report_call(file, job->size, &shown);
    putc('}', file);
}

static void put_record(FILE *file, const p2p_job *job, const p2p_divergence *d)
{
    fprintf(file, "{\"version\":1,\"ranks\":%d,\"status\":%d,\"diverged\":", job->size, job->exit_status);
    if (d->count)
        put_divergence(file, d, job->size);
    else
        fputs("null", file);
    fputs(",\n\"calls\":[", file);
    for (int rank = 0; rank < job->size; rank++) {
        const kept_calls kept = p2p__kept_calls(job->scoreboard, rank);
        fprintf(file, "%s\n {\"rank\":%d", rank ? "," : "", rank);
        p2p__json_number(file, "made", kept.made);
        fputs(",\"last\":[", file);
        for (uint64_t i = kept.first; i < kept.made; i++) {
            fputs(i == kept.first ? "\n  " : ",\n  ", file);
            put_call(file, job, &kept, i);
        }
        fputs("]}", file);
    }
    fputs("]}\n", file);
}

bool p2p__record_write(p2p_job *job)
{
    static p2p_divergence d; /* too large for a stack */
    const char *path = job->plan->options.record;
    p2p_file file;
    p2p_words w = {.used = 0};
    if (!path || !p2p__judges(job)) return true;
    d.count = 0;
    if (job->exit_status && !job->interrupted && p2p__find_divergence(job->scoreboard, &d)) describe(&w, &d, job->size);
    if (w.used) fprintf(stderr, "pairwise: record: %s\n", w.text);
    bool written = p2p__file_begin(&file, path);
    if (written) {
        put_record(file.stream, job, &d);
        written = p2p__file_end(&file, true);
    }
    if (!written) fprintf(stderr, "pairwise: the record cannot be written to \"%s\": %s\n", path, strerror(errno));
    return written;
}
