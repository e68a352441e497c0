/* SPDX-License-Identifier: MIT */
/* The words: what calls, deadlocks, deaths and the scoreboard look like to a person. Decides nothing: see diagnosis.h. */
#include "p2p/shared/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "p2p/shared/process.h"
#include "p2p/shared/scoreboard.h"

#define WAITERS_SHOWN 8

void p2p__add(p2p_words *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int more = vsnprintf(w->text + w->used, sizeof w->text - w->used, format, args);
    va_end(args);
    if (more > 0) w->used += (size_t)more;
    if (w->used >= sizeof w->text) w->used = sizeof w->text - 1;
}

/* ---- Calls ---- */

/* snprintf at the end of what is there already. */
__attribute__((format(printf, 3, 4))) static void append(char *text, size_t bytes, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, bytes - used, format, args);
    va_end(args);
}

static void append_what(char *text, size_t bytes, const scoreboard_what *what)
{
    if (what->algorithm[0]) append(text, bytes, ", %s", what->algorithm);
    if (what->count != UINT64_MAX) append(text, bytes, ", count %llu", (unsigned long long)what->count);
    if (what->dtype[0]) append(text, bytes, ", %s", what->dtype);
    if (what->op[0]) append(text, bytes, ", %s", what->op);
    if (what->root >= 0) append(text, bytes, ", root %d", what->root);
}

static void append_peer(char *text, size_t bytes, const char *role, int peer, int world_peer, int tag)
{
    if (peer < 0)
        append(text, bytes, "any %s", role);
    else if (peer == world_peer)
        append(text, bytes, "%s %d", role, peer);
    else
        append(text, bytes, "%s %d, which is rank %d of the world", role, peer, world_peer);
    if (tag < 0)
        append(text, bytes, ", any tag");
    else
        append(text, bytes, ", tag %d", tag);
}

static void append_arguments(char *text, size_t bytes, const scoreboard_call *call)
{
    unsigned long long amount = call->bytes;
    switch ((enum scoreboard_shape)call->shape) {
    case SHAPE_PLAIN: return;
    case SHAPE_WAIT: append(text, bytes, "%llu request%s", amount, amount == 1 ? "" : "s"); return;
    case SHAPE_COLLECTIVE:
        append(text, bytes, "#%llu", (unsigned long long)call->number);
        append_what(text, bytes, &call->what);
        return;
    case SHAPE_RECV: append_peer(text, bytes, "source", call->peer, call->world_peer, call->tag); return;
    case SHAPE_SEND:
    case SHAPE_SENDRECV: append_peer(text, bytes, "dest", call->peer, call->world_peer, call->tag); break;
    default: return;
    }
    append(text, bytes, ", %llu bytes", amount);
    if (call->shape != SHAPE_SENDRECV) return;
    append(text, bytes, "; ");
    append_peer(text, bytes, "source", call->from, call->world_from, call->from_tag);
}

void p2p__call_text(const scoreboard_call *shown, char *text, size_t bytes)
{
    scoreboard_call call = p2p__call_copy(shown);
    snprintf(text, bytes, "%s(", call.name);
    append_arguments(text, bytes, &call);
    append(text, bytes, ")");
    if (call.file[0]) append(text, bytes, " at %s:%d", call.file, call.line);
}

void p2p__last_call_text(const scoreboard_call *call, char *text, size_t bytes)
{
    if (!call->name[0]) {
        snprintf(text, bytes, "it has made no Pairwise call");
        return;
    }
    snprintf(text, bytes, "its last call was ");
    size_t used = strlen(text);
    p2p__call_text(call, text + used, bytes - used);
}

static void add_call(p2p_words *w, const char *before, const scoreboard_call *call)
{
    char text[500];
    p2p__call_text(call, text, sizeof text);
    p2p__add(w, "%s%s", before, text);
}

/* ---- Ranks ---- */

/* "rank 3", "ranks 1 and 2", "ranks 0, 1 or 5" */
static void add_ranks(p2p_words *w, const int *ranks, int count, const char *last)
{
    p2p__add(w, "rank%s ", count == 1 ? "" : "s");
    for (int i = 0; i < count; i++) {
        if (i == WAITERS_SHOWN && count > WAITERS_SHOWN + 1) {
            p2p__add(w, " %s %d more", last, count - i);
            return;
        }
        if (i > 0 && i == count - 1)
            p2p__add(w, " %s ", last);
        else if (i > 0)
            p2p__add(w, ", ");
        p2p__add(w, "%d", ranks[i]);
    }
}

/* ---- Deadlock ---- */

static void add_item(p2p_words *w, const scoreboard_call *item)
{
    if (item->shape == SHAPE_COLLECTIVE) {
        p2p__add(w, "\n    %s #%llu", item->name, (unsigned long long)item->number);
    } else {
        p2p__add(w, "\n    %s", item->shape == SHAPE_SEND ? "send to" : "receive from");
        if (item->peer >= 0)
            p2p__add(w, " %d", item->peer);
        else
            p2p__add(w, " any");
        if (item->tag >= 0) p2p__add(w, ", tag %d", item->tag);
        p2p__add(w, ", %llu bytes", (unsigned long long)item->bytes);
    }
    if (item->line) p2p__add(w, ", posted on line %d", item->line);
}

static void add_items(p2p_words *w, const p2p_finding *f, const p2p_place *of)
{
    int shown = 0;
    for (const p2p_place *at = of + 1; at < f->places + f->count && at->role == ROLE_PENDING; at++, shown++)
        add_item(w, &at->call);
    if (of->pending > shown) p2p__add(w, "\n    and %d more", of->pending - shown);
}

static void add_awaited(p2p_words *w, const p2p_place *place)
{
    int ranks[P2P_MAX_RANKS], count = p2p__set_list(&place->awaited, P2P_MAX_RANKS, ranks);
    if (!count) return;
    p2p__add(w, " for ");
    add_ranks(w, ranks, count, place->any ? "or" : "and");
}

static int count_role(const p2p_finding *f, int role)
{
    int count = 0;
    for (size_t at = 0; p2p__finding_next(f, role, &at);) count++;
    return count;
}

static void add_headline(p2p_words *w, const p2p_finding *f)
{
    int ranks[P2P_MAX_RANKS], count = 0;
    const p2p_place *place;
    for (size_t at = 0; count < P2P_MAX_RANKS && (place = p2p__finding_next(f, ROLE_WAITS, &at));)
        ranks[count++] = place->rank;
    p2p__add(w, "deadlock: ");
    add_ranks(w, ranks, count, "and");
    if (f->what.is_cycle && count > 1)
        p2p__add(w, " wait for each other");
    else
        p2p__add(w, " waits for something that can never come");
}

static void add_waiting(p2p_words *w, const p2p_finding *f)
{
    int shown = 0, count = count_role(f, ROLE_WAITS);
    const p2p_place *place;
    for (size_t at = 0; shown < WAITERS_SHOWN && (place = p2p__finding_next(f, ROLE_WAITS, &at)); shown++) {
        p2p__add(w, "\n  rank %d waits in ", place->rank);
        add_call(w, "", &place->call);
        add_awaited(w, place);
        add_items(w, f, place);
    }
    if (count > shown) p2p__add(w, "\n  and %d more", count - shown);
}

static void add_finished(p2p_words *w, const p2p_finding *f)
{
    int shown = 0;
    const p2p_place *place;
    for (size_t at = 0; shown < WAITERS_SHOWN && (place = p2p__finding_next(f, ROLE_FINISHED, &at)); shown++) {
        p2p__add(w, "\n  rank %d ", place->rank);
        if (place->state == SCOREBOARD_ABSENT)
            p2p__add(w, "has ended without calling p2p_init");
        else
            add_call(w, "is in ", &place->call);
    }
}

static void add_others(p2p_words *w, const p2p_finding *f)
{
    int shown = 0, count = count_role(f, ROLE_BEHIND) + count_role(f, ROLE_STUCK);
    const char *behind = count_role(f, ROLE_WAITS) > 1 ? "behind them" : "behind it";
    for (size_t i = 0; i < f->count && shown < WAITERS_SHOWN; i++) {
        const p2p_place *place = &f->places[i];
        if (place->role != ROLE_BEHIND && place->role != ROLE_STUCK) continue;
        p2p__add(w, "\n  %s: rank %d in ", place->role == ROLE_BEHIND ? behind : "stuck as well", place->rank);
        add_call(w, "", &place->call);
        add_awaited(w, place);
        shown++;
    }
    if (count > shown) p2p__add(w, "\n  and %d more", count - shown);
}

/* ---- The mistake behind it, and one thing to try ---- */

static bool is_split(const p2p_place *place)
{
    return place && strcmp(place->call.name, "p2p_split") == 0;
}

static const char *say_near_miss(p2p_words *w, const p2p_finding *f)
{
    size_t at = 0;
    const p2p_place *place = p2p__finding_next(f, ROLE_MESSAGE, &at);
    if (!place) place = &f->spare;
    const scoreboard_call *here = &place->call;
    unsigned long long amount = here->bytes;
    bool by_tag = f->what.class == CLASS_DEADLOCK;
    p2p__add(w, "%s mismatch: rank %d has a message with tag %d from rank %d waiting (%llu bytes), but ",
             by_tag ? "tag" : "communicator", place->rank, here->tag, here->peer, amount);
    if (by_tag)
        p2p__add(w, "wants tag %d", f->what.wanted_tag);
    else
        p2p__add(w, "it was sent in another communicator");
    return by_tag ? "make the tags equal, or receive with P2P_ANY_TAG and look at the status"
                  : "send and receive in the same communicator";
}

static const char *say_source(p2p_words *w, const p2p_finding *f)
{
    size_t at = 0;
    const p2p_place *place = p2p__finding_next(f, ROLE_MESSAGE, &at);
    if (!place) place = &f->spare;
    unsigned long long amount = place->call.bytes;
    p2p__add(w,
             "source mismatch: rank %d has a message with tag %d from rank %d waiting (%llu bytes), but wants one from "
             "rank %d",
             place->rank, place->call.tag, place->call.peer, amount, f->what.wanted_source);
    return "do both sides mean each other? Compare to whom each rank sends, and from whom it receives";
}

static const char *say_finished(p2p_words *w, const p2p_finding *f)
{
    size_t at = 0;
    const p2p_place *place = p2p__finding_next(f, ROLE_WAITS, &at);
    if (!place) place = &f->spare;
    int ranks[P2P_MAX_RANKS], count = p2p__set_list(&place->awaited, P2P_MAX_RANKS, ranks);
    if (!count) {
        p2p__add(w, "nobody is left to send: rank %d waits for any source, and there is no other rank", place->rank);
    } else if (place->any) {
        p2p__add(w, "nobody is left to send: all that rank %d could hear from, ", place->rank);
        add_ranks(w, ranks, count, "and");
        p2p__add(w, ", %s finished", count == 1 ? "has" : "have");
    } else {
        p2p__add(w, "waiting for a rank that has finished: ");
        add_ranks(w, ranks, count, "and");
        p2p__add(w, " sends and receives nothing more");
    }
    return is_split(place)
               ? "p2p_split is called by every rank of the communicator: does every rank call it?"
               : "compare how many messages are sent and received: is a send missing, or a receive too many?";
}

static const char *say_self(p2p_words *w, const p2p_diagnosis *what)
{
    if (what->class == CLASS_BUFFERING) {
        p2p__add(w, "a send to oneself that needs buffering: it waits for a receive that this rank never reaches");
        return "post the receive first (p2p_irecv), or use p2p_isend";
    }
    p2p__add(w, "a rank waits for a message from itself that it has not sent");
    return "send it first, with p2p_isend";
}

static const char *say_cycle(p2p_words *w, const p2p_diagnosis *what)
{
    if (what->class == CLASS_BUFFERING) {
        p2p__add(
            w,
            "sends that need buffering: each waits until its message is received, and nobody is receiving (a cycle)");
        return "let one side receive first, or p2p_sendrecv, or p2p_isend and then receive; up to 64 KiB a message may "
               "be buffered, and that hides this";
    }
    if (what->all_receive) {
        p2p__add(w, "each receives before it sends, so nobody ever sends (a cycle)");
        return "let one of them send first, or use p2p_sendrecv, or p2p_irecv before the send";
    }
    p2p__add(w, "each waits for another to act first (a cycle)");
    return "follow the lines above: which message should come first, and who should be receiving it?";
}

static const char *say_mistake(p2p_words *w, const p2p_finding *f)
{
    if (f->what.class == CLASS_COMMUNICATOR_MISMATCH) return say_near_miss(w, f);
    switch (f->what.reason) {
    case REASON_TAG: return say_near_miss(w, f);
    case REASON_SOURCE: return say_source(w, f);
    case REASON_FINISHED: return say_finished(w, f);
    case REASON_SELF: return say_self(w, &f->what);
    case REASON_SPLIT:
        p2p__add(w, "not every rank is in p2p_split");
        return "p2p_split is called by every rank of the communicator, with P2P_UNDEFINED by those that join no group";
    case REASON_COLLECTIVES:
        p2p__add(w, "the ranks are in different collectives");
        return "every rank must make the same collective calls in the same order";
    default: return say_cycle(w, &f->what);
    }
}

void p2p__words_deadlock(p2p_words *w, const p2p_finding *f)
{
    add_headline(w, f);
    add_waiting(w, f);
    add_finished(w, f);
    add_others(w, f);
    p2p__add(w, "\n  mistake: ");
    const char *advice = say_mistake(w, f);
    p2p__add(w, "\n  try: %s", advice);
}

/* ---- Death ---- */

void p2p__words_end(p2p_words *w, const p2p_diagnosis *end)
{
    switch (end->reason) {
    case REASON_GAVE_UP: p2p__add(w, "gave up after an error (exit status %d)", end->status); return;
    case REASON_NEVER_FINALIZED: p2p__add(w, "left without p2p_finalize (exit status 0)"); return;
    case REASON_EXIT:
        p2p__add(w, "exited with status %d%s", end->status, end->early ? ", without p2p_finalize" : "");
        return;
    default:
        p2p__add(w, "was killed by signal %d (%s)%s%s", end->status, strsignal(end->status),
                 end->dumped ? ", core dumped" : "", end->starved ? ", possibly out of memory" : "");
    }
}

void p2p__words_death(p2p_words *w, const p2p_finding *f)
{
    char call[500];
    size_t at = 0;
    const p2p_place *last = p2p__finding_next(f, ROLE_LAST, &at);
    if (!last) last = &f->spare;
    p2p__last_call_text(&last->call, call, sizeof call);
    p2p__add(w, "rank %d ", last->rank);
    p2p__words_end(w, &f->what);
    p2p__add(w, "; %s", call);
}

void p2p__words_meanwhile(p2p_words *w, const p2p_finding *f)
{
    const p2p_place *place;
    int shown = 0;
    for (size_t at = 0; shown < WAITERS_SHOWN && (place = p2p__finding_next(f, ROLE_MEANWHILE, &at)); shown++) {
        p2p__add(w, "\n  meanwhile rank %d waited: ", place->rank);
        add_call(w, "", &place->call);
    }
}

/* ---- Collectives that differ ---- */

static void add_file(p2p_words *w, const char *before, const scoreboard_call *call)
{
    if (call->file[0]) p2p__add(w, "%s%s:%d", before, call->file, call->line);
}

static void add_fields(p2p_words *w, int rank, const scoreboard_call *call, const scoreboard_call *other)
{
    const scoreboard_what *a = &call->what, *b = &other->what;
    const char *between = " ";
    p2p__add(w, "rank %d has", rank);
    if (a->count != b->count) p2p__add(w, "%scount %llu", between, (unsigned long long)a->count), between = ", ";
    if (strcmp(a->dtype, b->dtype) != 0) p2p__add(w, "%sdtype %s", between, a->dtype), between = ", ";
    if (strcmp(a->op, b->op) != 0) p2p__add(w, "%sop %s", between, a->op), between = ", ";
    if (a->root != b->root) p2p__add(w, "%sroot %d", between, a->root), between = ", ";
    if (strcmp(a->algorithm, b->algorithm) != 0) p2p__add(w, "%salgorithm %s", between, a->algorithm);
    add_file(w, " at ", call);
}

void p2p__words_mismatch(p2p_words *w, const p2p_finding *f)
{
    const p2p_place *a = f->count == 2 ? &f->places[0] : &f->spare, *b = f->count == 2 ? &f->places[1] : &f->spare;
    unsigned long long number = a->call.number;
    p2p__add(w, "mismatch: ");
    if (!a->call.name[0] && !b->call.name[0]) {
        p2p__add(w, "ranks %d and %d mean different things by collective #%llu", a->rank, b->rank, number);
    } else if (strcmp(a->call.name, b->call.name) != 0) {
        p2p__add(w, "rank %d is in %s #%llu", a->rank, a->call.name, number);
        add_file(w, " at ", &a->call);
        p2p__add(w, ", rank %d in %s #%llu", b->rank, b->call.name, number);
        add_file(w, " at ", &b->call);
        p2p__add(w, "\n  try: every rank must make the same collective calls in the same order");
    } else {
        p2p__add(w, "%s #%llu: ", a->call.name, number);
        add_fields(w, a->rank, &a->call, &b->call);
        p2p__add(w, ", ");
        add_fields(w, b->rank, &b->call, &a->call);
        p2p__add(w, "\n  try: give every rank the same arguments; no buffer has been changed");
    }
}

/* ---- What is left at the end ---- */

#define LEFT_SHOWN 5

static void add_left_request(p2p_words *w, const scoreboard_call *call)
{
    if (call->shape == SHAPE_COLLECTIVE) {
        p2p__add(w, " collective");
    } else {
        p2p__add(w, " %s", call->shape == SHAPE_SEND ? "isend to" : "irecv from");
        if (call->peer < 0)
            p2p__add(w, " any");
        else
            p2p__add(w, " %d", call->peer);
        if (call->tag < 0)
            p2p__add(w, ", any tag");
        else
            p2p__add(w, ", tag %d", call->tag);
        p2p__add(w, ", %llu bytes", (unsigned long long)call->bytes);
    }
    add_file(w, " at ", call);
}

static void add_left(p2p_words *w, const p2p_place *place)
{
    const scoreboard_call *call = &place->call;
    if (place->role == ROLE_MESSAGE) {
        p2p__add(w, " from %d, tag %d, %llu bytes", call->peer, call->tag, (unsigned long long)call->bytes);
    } else if (place->role == ROLE_PENDING) {
        add_left_request(w, call);
    } else {
        p2p__add(w, " %llu bytes", (unsigned long long)call->bytes);
        add_file(w, " from ", call);
    }
}

void p2p__words_left(p2p_words *w, const p2p_finding *f)
{
    bool communicator = f->what.reason == REASON_COMMUNICATOR, one = f->what.count == 1;
    unsigned long long shown = 0, count = f->what.count;
    const char *kind = f->what.class == CLASS_LOST_MESSAGE ? one ? "unreceived message" : "unreceived messages"
                       : f->what.class == CLASS_REQUEST_LEAK
                           ? one ? "request never waited for" : "requests never waited for"
                       : communicator ? one ? "communicator never freed" : "communicators never freed"
                       : one          ? "buffer never released"
                                      : "buffers never released";
    p2p__add(w, "%s%llu %s", w->used ? "; " : "", count, kind);
    if (communicator) { /* the first that was made, which is the last in the list */
        if (f->count > 1) add_file(w, ": made at ", &f->places[f->count - 1].call);
        return;
    }
    for (size_t i = 1; i < f->count && shown < LEFT_SHOWN; i++) {
        p2p__add(w, "%s", shown++ ? ";" : ":");
        add_left(w, &f->places[i]);
    }
    if (shown < count) p2p__add(w, "; ...");
}

/* ---- What everybody is doing ---- */

#define AWAITED_SHOWN 3

static void add_awaited_doing(p2p_words *w, const p2p_place *place)
{
    char call[440];
    switch (place->state) {
    case SCOREBOARD_ABSENT: p2p__add(w, "it has not called p2p_init"); return;
    case SCOREBOARD_BLOCKED: add_call(w, "it waits in ", &place->call); return;
    case SCOREBOARD_FINALIZING:
    case SCOREBOARD_FINISHED: add_call(w, "it has finished, in ", &place->call); return;
    default: p2p__last_call_text(&place->call, call, sizeof call); p2p__add(w, "%s", call);
    }
}

void p2p__words_timeout(p2p_words *w, const p2p_finding *f)
{
    const p2p_place *place;
    char process[64];
    int shown = 0;
    p2p__add(w, "nothing came for %.1f s (PAIRWISE_TIMEOUT)", f->what.seconds);
    for (size_t at = 0; shown < AWAITED_SHOWN && (place = p2p__finding_next(f, ROLE_DOING, &at)); shown++) {
        p2p__process_words(place->process, process, sizeof process);
        p2p__add(w, "\n  rank %d is alive, no progress for %.1f s, %s; ", place->rank, f->what.seconds, process);
        add_awaited_doing(w, place);
    }
}

void p2p__words_polling(p2p_words *w, const p2p_finding *f)
{
    const p2p_place *place;
    p2p__add(w, "note: for a second nothing has happened but polling:");
    for (size_t at = 0; w->used < sizeof w->text - 600 && (place = p2p__finding_next(f, ROLE_DOING, &at));) {
        p2p__add(w, "\n  rank %d %s in ", place->rank, place->state == SCOREBOARD_POLLING ? "polls" : "waits");
        add_call(w, "", &place->call);
    }
    p2p__add(w, "\n  try: is the message they look for ever sent?");
}

void p2p__words_doing(p2p_words *w, const p2p_finding *f, const p2p_place *place)
{
    static const char *const waits[] = {[SCOREBOARD_BLOCKED] = "waits in ",
                                        [SCOREBOARD_POLLING] = "polls in ",
                                        [SCOREBOARD_FINALIZING] = "says goodbye in "};
    char process[64], call[440];
    p2p__process_words(place->process, process, sizeof process);
    p2p__add(w, "  rank %d, %s, ", place->rank, process);
    if (place->state == SCOREBOARD_RUNNING || place->state == SCOREBOARD_FINISHED) {
        p2p__last_call_text(&place->call, call, sizeof call);
        p2p__add(w, "%s%s", place->state == SCOREBOARD_RUNNING ? "computes; " : "has ended; ", call);
    } else if (place->state == SCOREBOARD_ABSENT) {
        p2p__add(w, "has not called p2p_init");
    } else {
        add_call(w, waits[place->state], &place->call);
    }
    if (place->state == SCOREBOARD_BLOCKED) add_items(w, f, place);
    p2p__add(w, "\n");
}
