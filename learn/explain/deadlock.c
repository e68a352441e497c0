/* SPDX-License-Identifier: MIT */
/*
 * The supervisor's diagnosis of a deadlock, as the learner should see it. Between cases the ranks meet in calls of the
 * checker; there, "rank 0 waits in p2p_split at check_rank.c" means that the learner's function has returned on rank 0.
 */
#include <stdlib.h>
#include <string.h>

#include "learn/explain/autopsy.h"

typedef struct {
    const learn_remains *r;
    bool own; /* a rank that waits in the learner's code was shown */
    bool returned[CHECK_MAX_RANKS];
    bool others;      /* calls that do not both send and receive */
    bool on_returned; /* and one of those is what the others wait for, not merely behind them */
    learn_text shown;
    int waiting, awaited; /* the first rank that waits for just one other, and that one; else -1 */
    bool sending;         /* it waits until what it sends is received */
} diagnosis;

static const char *call_of(const diagnosis *d)
{
    const check_case *c = d->r->c;
    return c && c->call ? c->call : d->r->w->e->check->call;
}

/* Where a test itself plays a part, its line says nothing to a learner. */
static void show_call(diagnosis *d, int rank, const char *call)
{
    const char *place = strstr(call, " at tests/exercises/"),
               *tail = place ? strchr(place + strlen(" at "), ' ') : NULL;
    if (place)
        learn_add(&d->shown, "rank %-8dwaits in the test's %.*s%s\n", rank, (int)(place - call), call,
                  tail ? tail : "");
    else
        learn_add(&d->shown, "rank %-8dwaits in %s\n", rank, call);
}

static void note_awaited(diagnosis *d, int rank, const char *in)
{
    const char *who = strstr(in, " for rank ");
    bool receives = strncmp(in, " in p2p_recv(", 13) == 0 || strncmp(in, " in p2p_sendrecv(", 17) == 0;
    bool sends = strncmp(in, " in p2p_send(", 13) == 0 || strncmp(in, " in p2p_ssend(", 14) == 0;
    int awaited;
    if (d->waiting >= 0 || !(receives || sends) || !who || sscanf(who, " for rank %d", &awaited) != 1) return;
    if (awaited < 0 || awaited >= d->r->w->plan->ranks) return;
    d->waiting = rank;
    d->awaited = awaited;
    d->sending = sends;
}

/* "rank 1 waits in p2p_recv(source 0, tag 1) at broadcast.c:17 for rank 0", after "  " or "  behind them: " */
static bool add_rank(diagnosis *d, const char *text, learn_result *result)
{
    const char *begin = strstr(text, "rank "), *in = begin ? strstr(begin, " in ") : NULL;
    int rank;
    if (!in || sscanf(begin, "rank %d", &rank) != 1 || rank < 0 || rank >= CHECK_MAX_RANKS) return false;
    if (strstr(text, "check_rank.c:")) {
        d->returned[rank] = true;
        d->on_returned |= strncmp(text, "  rank ", 7) == 0;
        return true;
    }
    show_call(d, rank, in + strlen(" in "));
    d->others |= strncmp(in, " in p2p_sendrecv(", 17) != 0 && strncmp(in, " in p2p_wait", 12) != 0;
    if (!result->line) learn_note_place(result, d->r->w->e, in);
    note_awaited(d, rank, in);
    d->own = true;
    return true;
}

/* What is pending in a wait: "    receive from 0, tag 1, 20 bytes, posted on line 12" */
static bool add_line(diagnosis *d, const char *text, learn_result *result)
{
    if (strncmp(text, "    ", 4) == 0) {
        if (d->own) learn_add(&d->shown, "             %s\n", text + 2);
        return true;
    }
    return add_rank(d, text, result);
}

static void add_returned(diagnosis *d)
{
    learn_text ranks = {0};
    int count = 0, size = d->r->w->plan->ranks;
    for (int i = 0; i < size; i++) count += d->returned[i];
    if (!count) return;
    learn_add_ranks(&ranks, d->returned, size);
    learn_add(&d->shown, "%s %s returned from %s\n", learn_string(&ranks), count == 1 ? "has" : "have", call_of(d));
    learn_text_free(&ranks);
}

/* A message lies there that would do but for one thing. If it lies at a rank that has returned, the checker's own call is
 * what it does not do for. */
static bool is_near_miss(const diagnosis *d, const char *mistake)
{
    const char *has = mistake ? strstr(mistake, "mismatch: rank ") : NULL;
    int rank;
    if (!has || sscanf(has, "mismatch: rank %d", &rank) != 1 || rank < 0 || rank >= CHECK_MAX_RANKS) return false;
    return !d->returned[rank];
}

/* What a rank that has returned sent to whom (or received from whom), by its counters. */
static void add_counts(const diagnosis *d, learn_text *t)
{
    const check_record *r = d->r->c && d->waiting >= 0 && d->returned[d->awaited]
                                ? learn_record(d->r->w, d->awaited, d->r->c->number, CHECK_TRAFFIC, NULL)
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

static void add_number_sent(learn_text *t, int from, int to, unsigned long long messages)
{
    learn_add(t, "rank %d has sent rank %d ", from, to);
    if (messages)
        learn_add(t, "%llu message%s in all", messages, messages == 1 ? "" : "s");
    else
        learn_add(t, "nothing");
}

/* Who is the root, if that is neither the rank that sends no more nor known by its wait. */
static void add_root(const diagnosis *d, learn_text *t)
{
    const check_case *c = d->r->c;
    if (!c || !(c->shows & CHECK_SHOW_ROOT) || d->waiting < 0 || d->awaited == c->root) return;
    learn_add(t, d->waiting == c->root ? " Rank %d, which waits, is the root." : " The root is rank %d.", c->root);
}

/* Each waits for a message, and somebody has sent some: so it is not at once that nobody sends. */
static bool add_sent(const diagnosis *d, learn_text *t)
{
    const learn_world *w = d->r->w;
    const check_record *r = d->r->c && d->waiting >= 0 && !d->sending
                                ? learn_record(w, d->waiting, d->r->c->number, CHECK_BEGAN, NULL)
                                : NULL;
    if (!r) return false;
    unsigned long long there = learn_relay_sent(w->relay, (uint32_t)r->value, d->waiting, d->awaited).messages,
                       back = learn_relay_sent(w->relay, (uint32_t)r->value, d->awaited, d->waiting).messages;
    if (!there && !back) return false;
    learn_add(t, "each waits for a message that was not sent: ");
    add_number_sent(t, d->awaited, d->waiting, back);
    learn_add(t, ", and ");
    add_number_sent(t, d->waiting, d->awaited, there);
    return true;
}

/* some: messages were sent, so the last kind is not it.
 * The kind of deadlock, as far as it is known: hints for it are shown where it is this one, and no other. */
static const char *kind_of(const diagnosis *d, const char *mistake, bool near, bool some)
{
    static const char *const kinds[][2] = {{"tag mismatch", "deadlock.tag"},
                                           {"source mismatch", "deadlock.source"},
                                           {"a send to oneself", "deadlock.self"},
                                           {"a rank waits for a message from itself", "deadlock.self"},
                                           {"sends that need buffering", "deadlock.sends"},
                                           {"each receives before it sends", "deadlock.receives"}};
    size_t i = 0, count = sizeof kinds / sizeof *kinds;
    if (d->on_returned && !near) return d->sending ? "deadlock.unreceived" : "deadlock.returned";
    while (i < count - some && mistake && strncmp(mistake, kinds[i][0], strlen(kinds[i][0])) != 0) i++;
    return mistake && i < count - some ? kinds[i][1] : "deadlock";
}

/* Our words where the supervisor's are about the checker's own calls. */
static void say_mistake(const diagnosis *d, const char *mistake, const char *headline, learn_result *result)
{
    static const char receives[] = "each receives before it sends";
    bool near = is_near_miss(d, mistake);
    learn_text broke = {0}, sent = {0};
    bool some = mistake && strncmp(mistake, receives, sizeof receives - 1) == 0 && !d->on_returned &&
                add_sent(d, &sent);
    if (d->on_returned && near)
        learn_add(&broke, "A deadlock, because of a %s.", mistake);
    else if (d->on_returned)
        learn_add(&broke, "A deadlock: a rank waits for another that has returned from %s and %s any more.", call_of(d),
                  d->sending ? "receives nothing" : "sends nothing");
    else
        learn_add(&broke, "A deadlock: %s. The mistake: %s.", headline,
                  !mistake ? "see above"
                  : some   ? learn_string(&sent)
                  : !d->others && strncmp(mistake, receives, sizeof receives - 1) == 0
                      ? "each waits for a message that nobody has sent to it: a send is missing, comes too late, or "
                        "goes to another rank"
                      : mistake);
    if (strstr(learn_string(&d->shown), "any source") && !d->r->w->e->check->any_source)
        learn_add(&broke, " Here " LEARN_ANY_SOURCE);
    if (d->on_returned && !near) add_counts(d, &broke);
    if (d->on_returned && !near) add_root(d, &broke);
    if (d->on_returned && !near) learn_add(&broke, " Is a send missing, or a receive too many?");
    learn_fail(result, kind_of(d, mistake, near, some), learn_string(&d->shown), learn_string(&broke));
    learn_text_free(&broke);
    learn_text_free(&sent);
}

bool learn_say_deadlock(const learn_remains *r, learn_result *result)
{
    diagnosis d = {.r = r, .waiting = -1, .awaited = -1};
    size_t i = 0;
    const char *headline = learn_find_line(r, -1, "pairwise: deadlock: ", &i), *mistake = NULL;
    if (!headline) return false;
    for (i++; i < r->count; i++) {
        const char *text = r->lines[i].text;
        if (r->lines[i].rank >= 0) continue;
        if (strncmp(text, "  mistake: ", 11) == 0) mistake = text + 11;
        if (strncmp(text, "  try: ", 7) == 0) {
            free(result->advice);
            result->advice = learn_copy(d.on_returned ? "" : text + 7);
            break;
        }
        if (strncmp(text, "  ", 2) != 0) break;
        if (!mistake) add_line(&d, text, result);
    }
    add_returned(&d);
    say_mistake(&d, mistake, headline + strlen("pairwise: deadlock: "), result);
    learn_text_free(&d.shown);
    return true;
}
