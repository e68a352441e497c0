/* SPDX-License-Identifier: MIT */
/* What was found wrong in a job: told to people as it happens, and written for programs at the end (launch --report). */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "p2p/job/hosts.h"
#include "p2p/shared/file.h"
#include "p2p/shared/json.h"
#include "p2p/shared/process.h"

/* ---- For people ---- */

void p2p__say(p2p_job *job, const char *format, ...)
{
    char text[6200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!p2p__judges(job) && !job->hosts->lost && !job->hosts->done) { /* host 0 says it */
        p2p__record_put(job, 0, &(record){.type = RECORD_SAY, .bytes = (uint32_t)strlen(text) + 1}, text);
        return;
    }
    if (job->out.last == '\r' && isatty(job->out.fd) && isatty(job->err.fd)) {
        /* a rank has drawn a line that it means to draw again: what is said takes its place, or a new line */
        const char *terminal = getenv("TERM");
        bool dumb = !terminal || !*terminal || strcmp(terminal, "dumb") == 0;
        p2p__sink_add(&job->out, dumb ? "\n" : "\r\033[K", dumb ? 1 : 4);
        p2p__sink_flush(&job->out);
    }
    p2p__sink_add(&job->err, "pairwise: ", 10);
    p2p__sink_add(&job->err, text, strlen(text));
    p2p__sink_add(&job->err, "\n", 1);
}

/* ---- Findings ---- */

p2p_finding *p2p__report_add(p2p_report *report, int class, int reason, int rank)
{
    p2p_finding *finding = calloc(1, sizeof *finding), **last = &report->first;
    while (*last) last = &(*last)->next;
    if (finding) {
        *last = finding;
    } else {
        finding = &report->spare;
        p2p__finding_free(finding);
        *finding = (p2p_finding){.count = 0};
    }
    finding->what.class = class;
    finding->what.reason = reason;
    if (rank >= 0) p2p__set_add(&finding->what.ranks, rank);
    return finding;
}

/* With the names of the interface that its calls belong to. */
static void name_calls(const p2p_finding *finding, p2p_words *w)
{
    for (size_t i = 0; i < finding->count; i++) {
        p2p__words_of(finding->places[i].call.name, w->text, sizeof w->text);
        p2p__words_of(finding->places[i].call.name, w->advice, sizeof w->advice);
    }
}

void p2p__finding_say(p2p_finding *finding, const p2p_words *w)
{
    p2p_words named = *w;
    name_calls(finding, &named);
    finding->text = strdup(named.text);
    finding->advice = named.advice[0] ? strdup(named.advice) : NULL;
}

void p2p__report_tell(p2p_job *job, p2p_finding *finding, const p2p_words *w)
{
    p2p__finding_say(finding, w);
    const char *text = finding->text ? finding->text : w->text;
    if (p2p__judges(job) || job->hosts->lost || job->hosts->done)
        p2p__say(job, "%s", text);
    else
        p2p__far_finding(job, finding, w);
}

void p2p__report_refused(p2p_report *report, const p2p_cluster *hosts, const p2p_words *why)
{
    p2p_words w = {.used = 0};
    if (hosts) p2p__add(&w, P2P_HOST ": ", hosts->own, hosts->greetings[hosts->own].name);
    p2p__add(&w, "%s", why->text);
    memcpy(w.advice, why->advice, sizeof w.advice);
    p2p__finding_say(p2p__report_add(report, CLASS_REFUSED, REASON_NONE, -1), &w);
    fprintf(stderr, "pairwise: %s\n", w.text);
}

void p2p__report_fail(p2p_job *job, int class, int reason, int rank, const p2p_words *w)
{
    if (!job->failed) p2p__report_tell(job, p2p__report_add(&job->report, class, reason, rank), w);
    p2p__job_fail(job, P2P_ERR_PROTO, rank, 1, w->text);
}

void p2p__report_free(p2p_report *report)
{
    while (report->first) {
        p2p_finding *finding = report->first;
        report->first = finding->next;
        p2p__finding_free(finding);
        free(finding);
    }
    p2p__finding_free(&report->spare);
}

void p2p__report_deadlock(p2p_job *job, const p2p_rank_set *stuck, const p2p_rank_set *can_act)
{
    static const p2p_rank_set none = {{0}};
    p2p_words w = {.used = 0};
    p2p_finding *f = p2p__report_add(&job->report, CLASS_DEADLOCK, REASON_NONE, -1);
    p2p__diagnose(&job->watch, stuck, can_act, f);
    p2p__words_deadlock(&w, f);
    p2p__report_tell(job, f, &w);
    p2p__trace_deadlock(job, f);
    const p2p_place *first = f->count ? f->places : &f->spare;
    bool for_finished = !f->what.is_cycle && !p2p__set_within(&first->awaited, &none, P2P_MAX_RANKS);
    p2p__job_fail(job, for_finished ? P2P_ERR_PEER_DEAD : P2P_ERR_DEADLOCK, f->count ? first->rank : -1, 1, w.text);
}

void p2p__report_death(p2p_job *job, p2p_finding *f, int status)
{
    p2p_words death = {.used = 0}, meanwhile = {.used = 0};
    int rank = p2p__finding_first(f, ROLE_LAST)->rank;
    p2p__see(&job->watch);
    for (int i = 0; i < job->size; i++)
        if (i != rank && job->watch.seen[i].state == SCOREBOARD_BLOCKED && !job->watch.ended[i])
            p2p__finding_add(f, ROLE_MEANWHILE, i, &job->watch.seen[i].call);
    p2p__finding_hosts(job->scoreboard, f);
    p2p__words_death(&death, f, false);
    p2p__words_death(&meanwhile, f, true);
    p2p__add_advice(&meanwhile, p2p__death_advice(&f->what));
    p2p__report_tell(job, f, &meanwhile);
    p2p__job_fail(job, P2P_ERR_PEER_DEAD, rank, status, death.text);
}

/* What every rank is doing; or those that are not over. */
static void add_doing(p2p_job *job, p2p_finding *f, bool all)
{
    p2p__see(&job->watch);
    for (int i = 0; i < job->size; i++) {
        const p2p_sight *row = &job->watch.seen[i];
        if (!all && p2p__is_over(&job->watch, i)) continue;
        p2p_place *place = p2p__finding_add(f, ROLE_DOING, i, &row->call);
        place->state = job->watch.ended[i] ? SCOREBOARD_FINISHED : row->state;
        place->process = p2p__is_local(job->scoreboard, i) ? p2p__process_letter(job->ranks[i].pid)
                                                           : p2p__process_of(job->scoreboard, i);
        if (place->state == SCOREBOARD_BLOCKED) p2p__add_pending(f, place, row);
    }
    p2p__finding_hosts(job->scoreboard, f);
}

void p2p__report_polling(p2p_job *job)
{
    p2p_words w = {.used = 0};
    p2p_finding f = {.count = 0};
    add_doing(job, &f, false);
    p2p__words_polling(&w, &f);
    name_calls(&f, &w);
    p2p__say(job, "%s", w.text);
    p2p__finding_free(&f);
}

#define MPI_POLLING_NS UINT64_C(10000000000)

void p2p__check_polling(p2p_job *job)
{
    uint64_t limit = job->watch.scoreboard->config.polling_ns;
    if (!limit && p2p__is_mpi(job->watch.scoreboard->rows[0].call.name)) limit = MPI_POLLING_NS;
    if (limit && job->watch.polls_for >= limit) p2p__fail_polling(job);
}

void p2p__fail_polling(p2p_job *job)
{
    p2p_words w = {.used = 0};
    p2p_finding *f = p2p__report_add(&job->report, CLASS_DEADLOCK, REASON_POLLING, -1);
    f->what.seconds = (double)job->watch.polls_for * 1e-9;
    add_doing(job, f, false);
    for (size_t i = 0; i < f->count; i++)
        if (f->places[i].role == ROLE_DOING) p2p__set_add(&f->what.ranks, f->places[i].rank);
    p2p__words_polling(&w, f);
    p2p__report_tell(job, f, &w);
    p2p__job_fail(job, P2P_ERR_DEADLOCK, -1, 1, w.text);
}

void p2p__report_timeout(p2p_job *job, double seconds)
{
    p2p_words over = {.used = 0};
    p2p_finding *f = p2p__report_add(&job->report, CLASS_TIMEOUT, REASON_JOB, -1);
    const p2p_place *place;
    f->what.seconds = seconds;
    add_doing(job, f, true);
    p2p__add(&over, "the time limit of %g s is over", seconds);
    p2p__report_tell(job, f, &over);
    for (size_t at = 0; (place = p2p__finding_next(f, ROLE_DOING, &at));) {
        p2p_words w = {.used = 0};
        p2p__words_doing(&w, f, place);
        p2p__sink_add(&job->err, w.text, w.used);
    }
    p2p__job_fail(job, P2P_ERR_TIMEOUT, -1, 124, over.text);
}

/* ---- For programs ---- */

#define NAME(name, text) text,
#define NAME_OF(names, number) ((size_t)(number) < sizeof(names) / sizeof *(names) ? (names)[number] : "")

static const char *const classes[] = {P2P_CLASS_LIST(NAME)}, *const reasons[] = {P2P_REASON_LIST(NAME)};
static const char *const arguments[] = {P2P_ARGUMENT_LIST(NAME)}, *const roles[] = {P2P_ROLE_LIST(NAME)};

/* A rank or a tag; null: any. */
static void put_or_null(FILE *file, const char *key, int number, int below)
{
    if (number >= 0 && number < below)
        p2p__json_number(file, key, (uint64_t)number);
    else
        fprintf(file, ",\"%s\":null", key);
}

void p2p__report_call(FILE *file, int size, const scoreboard_call *call)
{
    const scoreboard_what *what = &call->what;
    p2p__json_field(file, "call", call->name);
    p2p__json_field(file, "file", call->file);
    if (call->line > 0) fprintf(file, ",\"line\":%d", call->line);
    switch (call->shape) {
    case SHAPE_SEND:
    case SHAPE_RECV:
    case SHAPE_SENDRECV:
        put_or_null(file, "peer", call->world_peer, size);
        put_or_null(file, "tag", call->tag, INT_MAX);
        p2p__json_number(file, "bytes", call->bytes);
        if (call->shape != SHAPE_SENDRECV) break;
        put_or_null(file, "source", call->world_from, size);
        put_or_null(file, "source_tag", call->from_tag, INT_MAX);
        break;
    case SHAPE_WAIT: p2p__json_number(file, "requests", call->bytes); break;
    case SHAPE_COLLECTIVE:
        p2p__json_number(file, "number", call->number);
        p2p__json_field(file, "algorithm", what->algorithm);
        if (what->count != UINT64_MAX) p2p__json_number(file, "count", what->count);
        p2p__json_field(file, "type", what->dtype);
        p2p__json_field(file, "operator", what->op);
        if (what->root >= 0) fprintf(file, ",\"root\":%d", what->root);
        break;
    default:
        if (call->bytes) p2p__json_number(file, "bytes", call->bytes);
    }
}

static void put_place(FILE *file, int size, const p2p_place *place)
{
    static const char *const states[] = {
        [SCOREBOARD_ABSENT] = "absent",   [SCOREBOARD_RUNNING] = "running",       [SCOREBOARD_BLOCKED] = "waits",
        [SCOREBOARD_POLLING] = "polling", [SCOREBOARD_FINALIZING] = "finalizing", [SCOREBOARD_FINISHED] = "finished"};
    p2p_words text = {.used = 0};
    fprintf(file, "{\"rank\":%d", place->rank);
    if (place->host > 0) fprintf(file, ",\"host\":%d", place->host - 1);
    p2p__json_field(file, "host_name", place->host_name);
    p2p__json_field(file, "role", NAME_OF(roles, place->role));
    if (place->role == ROLE_PENDING)
        p2p__add_item(&text, &place->call);
    else if (place->call.name[0])
        p2p__add_arguments(&text, "", &place->call);
    p2p__json_field(file, "text", text.text);
    p2p__report_call(file, size, &place->call);
    if (place->role == ROLE_DOING) p2p__json_field(file, "state", states[place->state]);
    p2p__json_field(file, "chose", place->chose);
    if (p2p__set_intersects(&place->awaited, &place->awaited, size))
        p2p__json_ranks(file, place->any ? "waits_for_any" : "waits_for", &place->awaited, size);
    putc('}', file);
}

static void put_finding(FILE *file, int size, const p2p_finding *f)
{
    const p2p_diagnosis *what = &f->what;
    p2p_words mistake = {.used = 0};
    fputs("{\"class\":", file);
    p2p__json_text(file, NAME_OF(classes, what->class));
    p2p__json_field(file, "reason", NAME_OF(reasons, what->reason));
    p2p__json_field(file, "argument", NAME_OF(arguments, what->argument));
    fputs(",\"text\":", file);
    p2p__json_text(file, f->text ? f->text : "");
    if (f->count && f->places[0].role == ROLE_WAITS) { /* behind a deadlock */
        p2p__words_mistake(&mistake, f);
        p2p__json_field(file, "mistake", mistake.text);
    }
    p2p__json_field(file, "try", f->advice ? f->advice : "");
    p2p__json_ranks(file, "ranks", &what->ranks, size);
    if (what->all_receive) fputs(",\"all_receive\":true", file);
    if (what->note) fputs(",\"note\":true", file);
    if (what->starved) fputs(",\"out_of_memory\":true", file);
    if (what->reason == REASON_SIGNAL) fprintf(file, ",\"signal\":%d", what->status);
    if (what->reason == REASON_EXIT || what->reason == REASON_ABORT || what->reason == REASON_GAVE_UP)
        fprintf(file, ",\"exit\":%d", what->status);
    fputs(",\"places\":[", file);
    for (size_t i = 0; i < f->count; i++) {
        if (i) fputs(",\n   ", file);
        put_place(file, size, &f->places[i]);
    }
    fputs("]}", file);
}

static void put_report(FILE *file, const p2p_report *report, const p2p_plan *plan, int status)
{
    fprintf(file, "{\"version\":1,\"ranks\":%d,\"status\":%d,\"findings\":[", plan->size, status);
    for (const p2p_finding *f = report->first; f; f = f->next) {
        fputs(f == report->first ? "\n  " : ",\n  ", file);
        put_finding(file, plan->size, f);
    }
    fputs("]}\n", file);
}

bool p2p__report_write(const p2p_report *report, const p2p_plan *plan, int status)
{
    p2p_file file;
    FILE *socket = plan->report_to >= 0 ? fdopen(plan->report_to, "w") : NULL;
    if (socket) {
        put_report(socket, report, plan, status);
        fclose(socket);
    }
    const char *path = plan->options.report;
    if (!path) return true;
    bool written = p2p__file_begin(&file, path);
    if (written) {
        put_report(file.stream, report, plan, status);
        written = p2p__file_end(&file, true);
    }
    if (!written) fprintf(stderr, "pairwise: the report cannot be written to \"%s\": %s\n", path, strerror(errno));
    return written;
}
