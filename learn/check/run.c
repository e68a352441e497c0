/* SPDX-License-Identifier: MIT */
/*
 * One world: the learner's program as its ranks, under build/launch, and what they wrote into the sockets they were given.
 * What is read there is checked like anything that comes from strangers: the learner's code may have written it.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "learn/check/build.h"

/* When its time is over, a rank says where it is; then the launcher ends the job; then we do. */
static const double default_seconds = 10, words_seconds = 2, grace_seconds = 5;

/* ---- Reports ---- */

static void read_reports(learn_reports *r)
{
    char part[65536];
    ssize_t got;
    while ((got = recv(r->fd, part, sizeof part, MSG_DONTWAIT)) > 0) {
        if (r->text.used + (size_t)got > CHECK_AREA) r->full = true;
        if (!r->full) learn_add_bytes(&r->text, part, (size_t)got);
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(r->fd);
        r->fd = -1;
    }
}

/* Is there a whole record at this place? */
static const check_record *record_at(const learn_world *w, int rank, size_t at)
{
    const learn_text *text = &w->reports[rank].text;
    const check_record *r = (const check_record *)(const void *)(text->text + at);
    size_t room = text->used - at;
    if (room < sizeof *r || r->bytes > room - sizeof *r || check_record_size(r->bytes) > room) return NULL;
    if (!memchr(r->name, '\0', sizeof r->name) || r->number < -1) return NULL;
    if (r->kind == CHECK_REPORT && (r->value < 0 || r->value >= DTYPE_COUNT || r->count > CHECK_AREA ||
                                    r->bytes != r->count * dtype_size((enum dtype)r->value)))
        return NULL;
    if (r->kind == CHECK_NUMBER && r->bytes != sizeof(double)) return NULL;
    if (r->kind == CHECK_TRAFFIC && r->bytes != (size_t)w->plan->ranks * sizeof(p2p_traffic)) return NULL;
    if ((r->kind == CHECK_LEAK || r->kind == CHECK_RETURNED) && (!r->bytes || ((const char *)(r + 1))[r->bytes - 1]))
        return NULL;
    return r;
}

static void check_reports(learn_world *w, int rank)
{
    learn_reports *reports = &w->reports[rank];
    size_t at = 0;
    for (const check_record *r; at < reports->text.used && (r = record_at(w, rank, at));) {
        reports->all_done |= r->kind == CHECK_ALL_DONE;
        at += check_record_size(r->bytes);
    }
    reports->garbled = at < reports->text.used;
    reports->text.used = at;
}

static const check_record *search(const learn_world *w, int rank, size_t at, int number, enum check_kind kind,
                                  const char *name)
{
    const learn_text *text = &w->reports[rank].text;
    while (at < text->used) {
        const check_record *r = (const check_record *)(const void *)(text->text + at);
        if (r->number == number && r->kind == kind && (!name || strcmp(r->name, name) == 0)) return r;
        at += check_record_size(r->bytes);
    }
    return NULL;
}

const check_record *learn_record(const learn_world *w, int rank, int number, enum check_kind kind, const char *name)
{
    return search(w, rank, 0, number, kind, name);
}

const check_record *learn_next_record(const learn_world *w, int rank, const check_record *r, enum check_kind kind)
{
    size_t at = (size_t)((const char *)r - w->reports[rank].text.text) + check_record_size(r->bytes);
    return search(w, rank, at, r->number, kind, NULL);
}

bool learn_case_ended(const learn_world *w, int number)
{
    for (int rank = 0; rank < w->plan->ranks; rank++)
        if (!learn_record(w, rank, number, CHECK_ENDED, NULL)) return false;
    return true;
}

/* ---- Running ---- */

typedef struct {
    const char *words[24];
    size_t count;
    char launcher[LEARN_PATH], guard[LEARN_PATH], ranks[16], limit[32], relay[16], report[16], debug[16];
} launch_line;

static void add(launch_line *l, const char *word)
{
    l->words[l->count++] = word;
}

/* seconds, 0: no limit; debug: a rank for gdb, -1: none. */
static void make_line(launch_line *l, const learn_world *w, const char *program, double seconds, int debug,
                      const char *trace)
{
    snprintf(l->launcher, sizeof l->launcher, "%s/launch", learn_build());
    snprintf(l->ranks, sizeof l->ranks, "%d", w->plan->ranks);
    snprintf(l->limit, sizeof l->limit, "%g", seconds);
    snprintf(l->debug, sizeof l->debug, "%d", debug);
    snprintf(l->guard, sizeof l->guard, "%s/course/obj/guard", learn_build());
    snprintf(l->relay, sizeof l->relay, "%d", CHECK_FD + w->plan->ranks);
    snprintf(l->report, sizeof l->report, "%d", CHECK_FD + w->plan->ranks + 1);
    add(l, l->launcher);
    add(l, "-n");
    add(l, l->ranks);
    add(l, "--world");
    add(l, "socket");
    if (seconds > 0) {
        add(l, "--tag");
        add(l, "--timeout");
        add(l, l->limit);
        add(l, "--relay");
        add(l, l->relay);
        add(l, "--report-to");
        add(l, l->report);
    }
    if (debug >= 0) {
        add(l, "--debug");
        add(l, l->debug);
    }
    if (w->plan->strict) add(l, "--strict");
    if (w->plan->network) {
        add(l, "--network");
        add(l, w->plan->network);
    }
    if (trace) {
        add(l, "--trace");
        add(l, trace);
    }
    if (debug < 0) add(l, l->guard); /* a debugger needs what it forbids */
    add(l, program);
}

/* Only the launcher puts that there, and never more than once a line. */
int learn_rank_of_line(const char *line, const char **text)
{
    char *end;
    if (*line != '[') return -1;
    long rank = strtol(line + 1, &end, 10);
    if (end == line + 1 || end[0] != ']' || end[1] != ' ' || rank < 0 || rank >= CHECK_MAX_RANKS) return -1;
    *text = end + 2;
    return (int)rank;
}

static void share_out(learn_world *w)
{
    learn_text outputs[CHECK_MAX_RANKS] = {{0}};
    const char *at = learn_string(&w->job.out), *text;
    while (*at) {
        size_t length = strcspn(at, "\n");
        int rank = learn_rank_of_line(at, &text);
        if (rank >= 0 && text <= at + length) {
            learn_add_bytes(&outputs[rank], text, (size_t)(at + length - text));
            learn_add(&outputs[rank], "\n");
        }
        at += length + (at[length] == '\n');
    }
    for (int i = 0; i < CHECK_MAX_RANKS; i++) w->outputs[i] = outputs[i].text ? outputs[i].text : learn_copy("");
}

/* ---- Beside it: reports and messages ---- */

static size_t polled(void *arg, struct pollfd *polled)
{
    const learn_world *w = arg;
    size_t count = learn_relay_polled(w->relay, polled);
    for (int rank = 0; rank < w->plan->ranks; rank++)
        polled[count++] = (struct pollfd){.fd = w->reports[rank].fd, .events = POLLIN};
    polled[count++] = (struct pollfd){.fd = w->launcher.fd, .events = POLLIN};
    return count;
}

static void serve(void *arg)
{
    learn_world *w = arg;
    learn_relay_serve(w->relay);
    for (int rank = 0; rank < w->plan->ranks; rank++)
        if (w->reports[rank].fd >= 0) read_reports(&w->reports[rank]);
    if (w->launcher.fd >= 0) read_reports(&w->launcher);
}

static bool open_socket(learn_reports *r, int *given)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
    r->fd = ends[0];
    *given = ends[1];
    return true;
}

/* Sockets for reports, with each rank's key in it, and those to the launcher. `given` are the other ends. */
static bool open_sockets(learn_world *w, const check_plan *plan, size_t number, int given[LEARN_GIVEN])
{
    int ranks = w->plan->ranks;
    for (int rank = 0; rank < ranks; rank++) {
        uint64_t key = learn_key(plan->secret, number, (uint64_t)rank);
        if (!open_socket(&w->reports[rank], &given[rank])) return false;
        if (send(w->reports[rank].fd, &key, sizeof key, MSG_NOSIGNAL) != (ssize_t)sizeof key) return false;
    }
    w->relay = learn_relay_new(ranks, &given[ranks]);
    return w->relay && open_socket(&w->launcher, &given[ranks + 1]);
}

static void run(learn_world *w, const int *given, const char *program, const check_plan *plan, size_t number,
                const learn_options *o)
{
    launch_line line = {.count = 0};
    char variable[200];
    double seconds = o->world_seconds > 0 ? o->world_seconds : default_seconds;
    unsigned long long delays = o->delays ? o->delay_seed * 1000003u + number * 7919u + 1 : 0;
    make_line(&line, w, program, seconds + words_seconds, -1, o->trace);
    snprintf(variable, sizeof variable, CHECK_VARIABLE "=%zu,%llu,%llu,%ld,%d", number, (unsigned long long)plan->seed,
             delays, (long)(seconds * 1000), o->only ? o->only->number : -1);
    const learn_beside beside = {polled, serve, w};
    learn_command_line spawned = {.argv = line.words,
                                  .given = given,
                                  .given_count = (size_t)w->plan->ranks + 2,
                                  .beside = &beside,
                                  .seconds = seconds + words_seconds + grace_seconds,
                                  .options = o,
                                  .step = LEARN_RUN,
                                  .variable = variable};
    learn_spawn(&spawned, &w->job);
    learn_symbolize(&w->job.err, program, o);
    serve(w); /* what came last: no process is left that could write more */
    for (int rank = 0; rank < w->plan->ranks; rank++) check_reports(w, rank);
    json_t *report = json_loads(learn_string(&w->launcher.text), 0, NULL);
    w->findings = json_incref(json_object_get(report, "findings"));
    json_decref(report);
    share_out(w);
}

void learn_debug_world(learn_world *w, const char *program, const learn_place *place, int rank)
{
    launch_line line = {.count = 0};
    char value[100];
    make_line(&line, w, program, 0, rank, NULL);
    snprintf(value, sizeof value, "%zu,0,0,0,%d", place->world, place->number);
    setenv(CHECK_VARIABLE, value, 1);
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* the leak check cannot run under a debugger */
    execv(line.words[0], (char *const *)line.words);
}

bool learn_run_world(learn_world *w, const char *program, const check_plan *plan, size_t number,
                     const learn_options *options, learn_text *why)
{
    int given[LEARN_GIVEN];
    for (int i = 0; i < CHECK_MAX_RANKS; i++) w->reports[i].fd = -1;
    w->launcher.fd = -1;
    for (int i = 0; i < LEARN_GIVEN; i++) given[i] = -1;
    if (w->plan->ranks < 1 || w->plan->ranks > CHECK_MAX_RANKS) {
        learn_add(why, "the test asks for %d ranks; at most %d are possible", w->plan->ranks, CHECK_MAX_RANKS);
        return false;
    }
    bool good = open_sockets(w, plan, number, given);
    if (good)
        run(w, given, program, plan, number, options);
    else
        learn_add(why, "no sockets for the reports of %d ranks: %s", w->plan->ranks, strerror(errno));
    for (int i = 0; i < LEARN_GIVEN; i++)
        if (given[i] >= 0) close(given[i]);
    return good;
}

void learn_world_free(learn_world *w)
{
    for (int i = 0; i < CHECK_MAX_RANKS; i++) {
        if (w->reports[i].fd >= 0) close(w->reports[i].fd);
        learn_text_free(&w->reports[i].text);
        free(w->outputs[i]);
    }
    if (w->launcher.fd >= 0) close(w->launcher.fd);
    learn_text_free(&w->launcher.text);
    json_decref(w->findings);
    learn_relay_free(w->relay);
    learn_spawned_free(&w->job);
    *w = (learn_world){.e = NULL};
}
