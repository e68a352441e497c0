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

/* While ranks compute and other programs keep the machine busy: so many times as long (--patience). */
enum { PATIENCE = 10 };

/* ---- Reports ---- */

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

const check_record *learn_record(const learn_world *w, int rank, const check_record *behind, int number,
                                 enum check_kind kind, const char *name)
{
    const learn_text *text = &w->reports[rank].text;
    size_t at = behind ? (size_t)((const char *)behind - text->text) + check_record_size(behind->bytes) : 0;
    while (at < text->used) {
        const check_record *r = (const check_record *)(const void *)(text->text + at);
        if (r->number == number && r->kind == kind && (!name || strcmp(r->name, name) == 0)) return r;
        at += check_record_size(r->bytes);
    }
    return NULL;
}

/* ---- Running ---- */

void learn_add_rank(learn_tool *l, const learn_options *o, const char *program, bool guarded)
{
    int folder = (int)(basename(program) - program);
    bool unread = o && o->confine;
    if (unread && guarded)
        learn_tool_add(l, "%.*s" LEARN_UNREAD "/guard", folder, program);
    else if (guarded)
        learn_tool_add(l, "%s/course/obj/guard", learn_build());
    learn_tool_add(l, "%.*s%s%s", folder, program, unread ? LEARN_UNREAD "/" : "", program + folder);
    if (o && o->mutant) learn_tool_add(l, "%s", o->mutant);
}

/* seconds, 0: no limit; debug: a rank for gdb, -1: none. */
static void make_line(learn_tool *l, const learn_world *w, const char *program, double seconds, int debug,
                      const char *trace)
{
    learn_tool_add(l, "%s/launch", learn_build());
    learn_tool_add(l, "-n%d", w->plan->ranks);
    learn_tool_add(l, "--world=socket");
    if (seconds > 0) {
        learn_tool_add(l, "--tag");
        learn_tool_add(l, "--timeout=%g", seconds);
        learn_tool_add(l, "--patience=%d", PATIENCE);
        if (!w->plan->repairs && !w->schedule) learn_tool_add(l, "--relay=%d", CHECK_FD + w->plan->ranks);
        learn_tool_add(l, "--report-to=%d", CHECK_FD + w->plan->ranks + 1);
    }
    if (debug >= 0) learn_tool_add(l, "--debug=%d", debug);
    if (w->plan->repairs) learn_tool_add(l, "--repair=%d", CHECK_REPAIRS);
    if (w->schedule) learn_tool_add(l, "--schedule=%s", w->schedule);
    if (w->plan->strict) learn_tool_add(l, "--strict");
    if (w->plan->network) learn_tool_add(l, "--network=%s", w->plan->network);
    if (trace) learn_tool_add(l, "--trace=%s", trace);
    learn_add_rank(l, w->options, program, debug < 0); /* a debugger needs what the guard forbids */
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

/* ---- Beside it: reports and messages ---- */

static size_t polled(void *arg, struct pollfd *polled)
{
    const learn_world *w = arg;
    size_t count = learn_relay_polled(w->relay, polled);
    for (int i = 0; i <= w->plan->ranks; i++)
        polled[count++] = (struct pollfd){.fd = w->reports[i].fd, .events = POLLIN};
    return count;
}

static void serve(void *arg)
{
    static char part[65536];
    learn_world *w = arg;
    learn_relay_serve(w->relay);
    for (int i = 0; i <= w->plan->ranks; i++) {
        learn_reports *r = &w->reports[i];
        ssize_t got = 0;
        while (r->fd >= 0 && (got = recv(r->fd, part, sizeof part, MSG_DONTWAIT)) > 0) {
            if (r->text.used + (size_t)got > CHECK_AREA) r->full = true;
            if (!r->full) learn_add_bytes(&r->text, part, (size_t)got);
        }
        if (r->fd < 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) continue;
        close(r->fd);
        r->fd = -1;
    }
}

/* Sockets for reports, with each rank's key in it, the launcher's behind theirs; between them the one for links. `given` are the
 * other ends. */
static bool open_sockets(learn_world *w, const check_plan *plan, size_t number, int given[LEARN_GIVEN])
{
    int ranks = w->plan->ranks;
    for (int i = 0; i <= ranks; i++) {
        int ends[2];
        uint64_t key = learn_key(plan->secret, number, (uint64_t)i);
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
        w->reports[i].fd = ends[0];
        given[i < ranks ? i : ranks + 1] = ends[1];
        for (int k = 0; i < ranks && k <= (w->plan->repairs ? CHECK_REPAIRS : 0); k++)
            if (send(ends[0], &key, sizeof key, MSG_NOSIGNAL) != (ssize_t)sizeof key) return false;
    }
    w->relay = learn_relay_new(ranks, &given[ranks]);
    return w->relay;
}

double learn_world_seconds(const learn_options *options)
{
    return options->world_seconds > 0 ? options->world_seconds : default_seconds;
}

bool learn_machine_was_busy(const learn_world *w)
{
    return w->job.seconds >= PATIENCE * (learn_world_seconds(w->options) + words_seconds);
}

static void run(learn_world *w, const int *given, const char *program, const check_plan *plan, size_t number,
                const learn_options *o)
{
    learn_tool line = {.count = 0};
    double seconds = learn_world_seconds(o);
    unsigned long long delays = o->delays ? o->delay_seed * 1000003u + number * 7919u + 1 : 0;
    make_line(&line, w, program, seconds + words_seconds, -1, o->trace);
    OWNED char *variable = learn_format(
        CHECK_VARIABLE "=" CHECK_VARIABLE_FORMAT, number, (unsigned long long)plan->seed, delays,
        (long)(seconds * 1000), o->only ? o->only->number : -1, w->schedule ? CHECK_ONE_ORDER : CHECK_ANY_ORDER);
    const learn_beside beside = {polled, serve, w};
    learn_command_line spawned = {.argv = (const char *const *)line.words,
                                  .given = given,
                                  .given_count = (size_t)w->plan->ranks + 2,
                                  .beside = &beside,
                                  .seconds = PATIENCE * (seconds + words_seconds) + grace_seconds,
                                  .options = o,
                                  .step = LEARN_RUN,
                                  .variable = variable};
    learn_spawn(&spawned, &w->job);
    learn_tool_free(&line);
    learn_symbolize(&w->job.err, program, o);
    serve(w); /* what came last: no process is left that could write more */
    for (int rank = 0; rank < w->plan->ranks; rank++) {
        learn_reports *reports = &w->reports[rank];
        size_t at = 0;
        for (const check_record *r; at < reports->text.used && (r = record_at(w, rank, at));) {
            reports->all_done |= r->kind == CHECK_ALL_DONE;
            at += check_record_size(r->bytes);
        }
        reports->garbled = at < reports->text.used;
        reports->text.used = at;
    }
    json_t *report = json_loads(learn_string(&w->reports[w->plan->ranks].text), 0, NULL);
    w->findings = json_incref(json_object_get(report, "findings"));
    json_decref(report);
    for (const char *at = learn_string(&w->job.out), *text; *at; at = learn_next_line(at)) {
        size_t length = strcspn(at, "\n");
        int rank = learn_rank_of_line(at, &text);
        if (rank >= 0 && text <= at + length) learn_add(&w->outputs[rank], "%.*s\n", (int)(at + length - text), text);
    }
}

void learn_debug_world(learn_world *w, const char *program, const learn_place *place, int rank)
{
    learn_tool line = {.count = 0};
    make_line(&line, w, program, 0, rank, NULL);
    char *value = learn_format(CHECK_VARIABLE_FORMAT, place->world, 0ULL, 0ULL, 0L, place->number, CHECK_ANY_ORDER);
    setenv(CHECK_VARIABLE, value, 1);
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* the leak check cannot run under a debugger */
    execv(line.words[0], line.words);
}

bool learn_run_world(learn_world *w, const char *program, const check_plan *plan, size_t number,
                     const learn_options *options, learn_text *why)
{
    int given[LEARN_GIVEN];
    for (int i = 0; i <= CHECK_MAX_RANKS; i++) w->reports[i].fd = -1;
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
    for (int i = 0; i <= CHECK_MAX_RANKS; i++) {
        if (w->reports[i].fd >= 0) close(w->reports[i].fd);
        learn_text_free(&w->reports[i].text);
    }
    for (int i = 0; i < CHECK_MAX_RANKS; i++) learn_text_free(&w->outputs[i]);
    json_decref(w->findings);
    learn_relay_free(w->relay);
    learn_spawned_free(&w->job);
    *w = (learn_world){.e = NULL};
}
