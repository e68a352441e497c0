/* SPDX-License-Identifier: MIT */
/*
 * A case in every order that its messages may come in: launch --explore looks for one that comes out differently
 * (docs/orders.md), or ends in an error. That one is then run as any other world is, and judged.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "learn/check/build.h"
#include "learn/explain/autopsy.h"

enum { MOST_ORDERS = 2000, SEARCH_SECONDS = 60, CHOICES_SHOWN = 4, NOT_FINISHED = 3 /* a status */ };

/* ---- The launcher's report ---- */

typedef struct {
    int fd;
    learn_text text;
} report;

static size_t polled(void *arg, struct pollfd *polled)
{
    *polled = (struct pollfd){.fd = ((report *)arg)->fd, .events = POLLIN};
    return 1;
}

static void serve(void *arg)
{
    static char part[65536];
    report *r = arg;
    ssize_t got;
    while (r->fd >= 0 && ((got = recv(r->fd, part, sizeof part, MSG_DONTWAIT)) > 0 || (got < 0 && errno == EINTR)))
        if (got > 0) learn_add_bytes(&r->text, part, (size_t)got);
}

/* ---- The search ---- */

/* At most so many orders; what the launcher prints is the schedule of the one that is wrong, or of the first. */
static int search(const learn_world *w, const check_plan *plan, const check_case *c, int most, report *r,
                  learn_spawned *done)
{
    int ends[2];
    learn_tool line = {.count = 0};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    r->fd = ends[0];
    learn_tool_add(&line, "%s/launch", learn_build());
    learn_tool_add(&line, "-n%d", c->ranks);
    learn_tool_add_words(&line, "--world=socket --quiet");
    learn_tool_add(&line, "--explore=%d", most);
    learn_tool_add(&line, "--report-to=%d", CHECK_FD);
    learn_tool_add(&line, "--timeout=%g", learn_world_seconds(w->options));
    learn_add_rank(&line, w->options, w->program, true);
    OWNED char *variable = learn_format(CHECK_VARIABLE "=" CHECK_VARIABLE_FORMAT, (size_t)c->world,
                                        (unsigned long long)plan->seed, 0ULL, 0L, c->number, CHECK_ALL_ORDERS);
    const learn_beside beside = {polled, serve, r};
    learn_spawn(&(learn_command_line){.argv = (const char *const *)line.words,
                                      .given = &ends[1],
                                      .given_count = 1,
                                      .beside = &beside,
                                      .seconds = SEARCH_SECONDS,
                                      .options = w->options,
                                      .step = LEARN_RUN,
                                      .variable = variable},
                done);
    close(ends[1]);
    serve(r);
    close(ends[0]);
    learn_tool_free(&line);
    return done->status;
}

/* The last line that was printed, if it is one. */
static char *schedule_of(const learn_spawned *done)
{
    const char *text = learn_string(&done->out), *last = text;
    for (const char *at = text; *at; at = learn_next_line(at)) last = at;
    return *last ? learn_format("%.*s", (int)strcspn(last, "\n"), last) : NULL;
}

/* What parts it from the orders that are right: the learner's own choices. */
static char *story_of(const report *r, learn_result *result, const learn_exercise *e)
{
    OWNED_TEXT story = {0};
    json_t *all = json_loads(learn_string(&r->text), 0, NULL);
    const json_t *finding, *place, *findings = json_object_get(all, "findings");
    int told = 0;
    for (size_t i = 0; (finding = json_array_get(findings, i)); i++) {
        if (!learn_field_is(finding, "class", "message_race")) continue;
        for (size_t k = 0; (place = json_array_get(json_object_get(finding, "places"), k)); k++) {
            if (learn_is_checkers(place) || !*learn_field(place, "chose") || told == CHOICES_SHOWN) continue;
            if (!told++) learn_note_place(result, e, place);
            learn_add(&story, "%sRank %d: ", told > 1 ? " " : "", learn_field_number(place, "rank"));
            learn_add_call(&story, place, true);
            learn_add(&story, " %s.", learn_field(place, "chose"));
        }
    }
    json_decref(all);
    return learn_copy(learn_string(&story));
}

bool learn_find_order(const learn_world *w, const check_plan *plan, const check_case *c, learn_order *order,
                      learn_result *result)
{
    report r = {.fd = -1}, first = {.fd = -1};
    learn_spawned done, again;
    int status = search(w, plan, c, MOST_ORDERS, &r, &done);
    bool wrong = status == 1;
    if (status != 0 && status != 1 && status != NOT_FINISHED)
        learn_fail(result, "checker", "", "The orders of its messages cannot be tried: %s", learn_string(&done.err));
    order->schedules[0] = wrong ? schedule_of(&done) : NULL;
    learn_spawned_free(&done);
    wrong = order->schedules[0];
    if (wrong) {
        order->story = story_of(&r, result, w->e);
        search(w, plan, c, 1, &first, &again);
        order->schedules[1] = schedule_of(&again);
        learn_spawned_free(&again);
    }
    learn_text_free(&r.text);
    learn_text_free(&first.text);
    return wrong;
}

void learn_order_free(learn_order *order)
{
    free(order->schedules[0]);
    free(order->schedules[1]);
    free(order->story);
}
