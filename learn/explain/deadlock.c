/* SPDX-License-Identifier: MIT */
/*
 * The supervisor's diagnosis of a deadlock, as the learner should see it. Between cases the ranks meet in calls of the
 * checker: a rank that waits there has returned from the learner's function.
 */
#include <string.h>

#include "learn/explain/autopsy.h"

typedef struct {
    const learn_remains *r;
    const json_t *finding;
    bool own; /* the place before this one is in the learner's code */
    bool returned[CHECK_MAX_RANKS];
    bool others;      /* calls that do not both send and receive */
    bool on_returned; /* and one of those is what the others wait for, not merely behind them */
    bool any_source;
    learn_text shown;
    int waiting, awaited; /* the first rank that waits for just one other, and that one; else -1 */
    bool sending;         /* it waits until what it sends is received */
} diagnosis;

/* " for ranks 1 and 2" */
static void add_awaited(learn_text *t, const json_t *place)
{
    const json_t *all = json_object_get(place, "waits_for"), *any = json_object_get(place, "waits_for_any");
    const json_t *ranks = all ? all : any;
    size_t count = json_array_size(ranks);
    for (size_t i = 0; i < count; i++)
        learn_add(t, "%s%d",
                  !i              ? count > 1 ? " for ranks " : " for rank "
                  : i + 1 < count ? ", "
                  : any           ? " or "
                                  : " and ",
                  (int)json_integer_value(json_array_get(ranks, i)));
}

static void add_place(diagnosis *d, const json_t *place, learn_result *result)
{
    int rank = learn_field_number(place, "rank");
    const char *call = learn_field(place, "call");
    const json_t *ranks = json_object_get(place, "waits_for");
    bool waits = learn_field_is(place, "role", "waits"), finished = learn_field_is(place, "role", "finished");
    if (learn_field_is(place, "role", "message")) return;
    if (learn_field_is(place, "role", "pending")) {
        if (d->own) learn_add(&d->shown, "%15s%s\n", "", learn_field(place, "text"));
        return;
    }
    d->own = !learn_is_checkers(place);
    if (!d->own) {
        d->returned[rank] = true;
        d->on_returned |= waits || finished;
        return;
    }
    /* Where a test itself plays a part, its line says nothing to a learner. */
    bool tests = learn_has_prefix(learn_field(place, "file"), "tests/exercises/");
    learn_add(&d->shown, "rank %-8d%s %s", rank, finished ? "has finished, in" : "waits in",
              tests ? "the test's " : "");
    learn_add_call(&d->shown, place, !tests);
    add_awaited(&d->shown, place);
    learn_add(&d->shown, "\n");
    d->others |= strcmp(call, "p2p_sendrecv") != 0 && !learn_has_prefix(call, "p2p_wait");
    d->any_source |= json_is_null(json_object_get(place, "peer")) || json_is_null(json_object_get(place, "source"));
    if (!result->line) learn_note_place(result, d->r->w->e, place);
    bool receives = strcmp(call, "p2p_recv") == 0 || strcmp(call, "p2p_sendrecv") == 0;
    bool sends = strcmp(call, "p2p_send") == 0 || strcmp(call, "p2p_ssend") == 0;
    if (finished || d->waiting >= 0 || !(receives || sends) || json_array_size(ranks) != 1) return;
    d->waiting = rank;
    d->awaited = (int)json_integer_value(json_array_get(ranks, 0));
    d->sending = sends;
}

/* What a rank that has returned sent to whom (or received from whom), by its counters. */
static void add_counts(const diagnosis *d, learn_text *t)
{
    const check_record *r = d->r->c && d->waiting >= 0 && d->returned[d->awaited]
                                ? learn_record(d->r->w, d->awaited, NULL, d->r->c->number, CHECK_TRAFFIC, NULL)
                                : NULL;
    if (!r) return;
    const p2p_traffic *by_peer = (const p2p_traffic *)(const void *)(r + 1);
    const char *verb = d->sending ? "received" : "sent", *way = d->sending ? "from" : "to",
               *more = d->sending ? "sends" : "waits for";
    unsigned long long all = 0, with[CHECK_MAX_RANKS] = {0};
    bool some[CHECK_MAX_RANKS] = {false};
    for (int i = 0; i < d->r->w->plan->ranks; i++) {
        with[i] = d->sending ? by_peer[i].messages_received : by_peer[i].messages_sent;
        some[i] = with[i] > 0;
        all += with[i];
    }
    learn_add(t, " Rank %d %s %llu message%s", d->awaited, verb, all, all == 1 ? "" : "s");
    if (all && with[d->waiting] == all) {
        learn_add(t, ", %s rank %d, which %s one more.", way, d->waiting, more);
    } else if (with[d->waiting]) {
        learn_add(t, ", %llu of them %s rank %d, which %s one more.", with[d->waiting], way, d->waiting, more);
    } else if (all) {
        learn_add(t, ", %s ", way);
        learn_add_ranks(t, some, d->r->w->plan->ranks);
        learn_add(t, ", and none %s rank %d.", way, d->waiting);
    } else {
        learn_add(t, ".");
    }
}

/* Each waits for a message, and some were sent: it is not from the beginning that none is. */
static bool add_sent(const diagnosis *d, learn_text *t)
{
    const learn_world *w = d->r->w;
    const check_record *r = d->r->c && d->waiting >= 0 && !d->sending
                                ? learn_record(w, d->waiting, NULL, d->r->c->number, CHECK_BEGAN, NULL)
                                : NULL;
    if (!r) return false;
    const int ends[] = {d->awaited, d->waiting, d->awaited};
    unsigned long long sent[2];
    for (int i = 0; i < 2; i++) sent[i] = learn_relay_sent(w->relay, (uint32_t)r->value, ends[i], ends[i + 1]).messages;
    if (!sent[0] && !sent[1]) return false;
    learn_add(t, "each waits for a message that was not sent");
    for (int i = 0; i < 2; i++) {
        learn_add(t, "%s rank %d has sent rank %d ", i ? ", and" : ":", ends[i], ends[i + 1]);
        if (sent[i])
            learn_add(t, "%llu message%s in all", sent[i], sent[i] == 1 ? "" : "s");
        else
            learn_add(t, "nothing");
    }
    return true;
}

/* Each of a cycle receives before it sends. */
static bool all_receive(const json_t *finding)
{
    return learn_field_is(finding, "class", "deadlock") && learn_field_is(finding, "reason", "cycle") &&
           json_is_true(json_object_get(finding, "all_receive"));
}

/* The kind of deadlock, as far as it is known: hints for it are shown where it is this one, and no other. some: messages were
 * sent, so it is not that each receives before it sends. */
static const char *kind_of(const diagnosis *d, bool returned, bool some)
{
    static const char *const kinds[][3] = {{"deadlock", "tag", "deadlock.tag"},
                                           {"deadlock", "source", "deadlock.source"},
                                           {"deadlock", "self", "deadlock.self"},
                                           {"buffering", "self", "deadlock.self"},
                                           {"buffering", "cycle", "deadlock.sends"}};
    if (returned) return d->sending ? "deadlock.unreceived" : "deadlock.returned";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (learn_field_is(d->finding, "class", kinds[i][0]) && learn_field_is(d->finding, "reason", kinds[i][1]))
            return kinds[i][2];
    return all_receive(d->finding) && !some ? "deadlock.receives" : "deadlock";
}

/* Our words where the supervisor's are about the checker's own calls. */
static void say_mistake(const diagnosis *d, learn_result *result)
{
    const char *text = learn_field(d->finding, "text"), *mistake = learn_field(d->finding, "mistake");
    const check_case *c = d->r->c;
    OWNED_TEXT broke = {0}, sent = {0};
    /* A message that would do but for one thing: if it lies at a rank that has returned, the checker's own call is what it does
     * not do for. */
    const json_t *near = learn_place_with(d->finding, "message");
    bool returned = d->on_returned && (!near || d->returned[learn_field_number(near, "rank")]);
    bool receive = all_receive(d->finding), some = receive && !d->on_returned && add_sent(d, &sent);
    if (some)
        mistake = learn_string(&sent);
    else if (!d->others && receive)
        mistake = "each waits for a message that no rank has sent to it: a send is missing, comes too late, or goes to "
                  "another rank";
    if (returned)
        learn_add(&broke, "A deadlock: a rank waits for another that has returned from %s and %s any more.",
                  learn_call_of(d->r->w->e, c), d->sending ? "receives nothing" : "sends nothing");
    else if (d->on_returned)
        learn_add(&broke, "A deadlock, because of a %s.", mistake);
    else
        learn_add(&broke, "A %.*s. The mistake: %s.", (int)strcspn(text, "\n"), text, mistake);
    if (d->any_source && !d->r->w->e->check->any_source) learn_add(&broke, " Here " LEARN_ANY_SOURCE);
    if (returned) {
        add_counts(d, &broke);
        if (c && (c->shows & CHECK_SHOW_ROOT) && d->waiting >= 0 && d->awaited != c->root)
            learn_add(&broke, d->waiting == c->root ? " Rank %d, which waits, is the root." : " The root is rank %d.",
                      c->root);
        learn_add(&broke, " Is a send missing, or a receive too many?");
    }
    learn_set_advice(result, d->on_returned ? "" : learn_field(d->finding, "try"));
    learn_fail(result, kind_of(d, returned, some), learn_string(&d->shown), "%s", learn_string(&broke));
}

bool learn_say_deadlock(const learn_remains *r, learn_result *result)
{
    const json_t *finding, *place;
    size_t at = 0;
    while ((finding = json_array_get(r->w->findings, at)) && !learn_place_with(finding, "waits")) at++;
    if (!finding) return false;
    diagnosis d = {.r = r, .finding = finding, .waiting = -1, .awaited = -1};
    for (size_t i = 0; (place = json_array_get(json_object_get(finding, "places"), i)); i++)
        add_place(&d, place, result);
    int count = 0, size = r->w->plan->ranks;
    for (int i = 0; i < size; i++) count += d.returned[i];
    if (count) {
        learn_add_ranks(&d.shown, d.returned, size);
        learn_add(&d.shown, " %s returned from %s\n", count == 1 ? "has" : "have", learn_call_of(r->w->e, r->c));
    }
    say_mistake(&d, result);
    learn_text_free(&d.shown);
    return true;
}
