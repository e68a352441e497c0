/* SPDX-License-Identifier: MIT */
/*
 * The judge's side of check.h: what a test asks about a case that every rank has been through. One case is judged at a
 * time; what is known of it hangs off `judged`, since the functions of check.h have no other handle on it.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "learn/check/build.h"
#include "learn/explain/autopsy.h"

static struct {
    learn_world *world;
    learn_result *result;
    bool generic; /* the failure that is noted has words that fit any exercise: better ones may take their place */
} judged;

void learn_fail(learn_result *result, const char *key, const char *shown, const char *format, ...)
{
    va_list args;
    if (result->state == LEARN_FAILED) return;
    result->state = LEARN_FAILED;
    result->share = 0;
    snprintf(result->key, sizeof result->key, "%s", key);
    learn_replace(&result->shown, learn_copy(shown));
    free(result->broke);
    va_start(args, format);
    if (vasprintf(&result->broke, format, args) < 0) result->broke = learn_copy("");
    va_end(args);
}

void learn_set_advice(learn_result *result, const char *advice)
{
    learn_replace(&result->advice, learn_copy(advice));
}

void learn_judge_fail(const char *key, const char *shown, const char *broke)
{
    bool unset = strcmp(key, "unset") == 0;
    judged.generic = judged.result->state != LEARN_FAILED && !unset;
    learn_fail(judged.result, key, shown, "%s", broke);
    if (unset)
        learn_set_advice(judged.result,
                         "A variable holds anything until it is set. Is it set on every rank, and on every "
                         "way that leads to where it is used?");
    if (strcmp(key, "unfilled") == 0)
        learn_set_advice(judged.result,
                         "What comes from malloc holds anything until it is written to. Is it read before a "
                         "message has come into it, or before p2p_wait says so? Does a sum begin with it?");
}

bool check_fail(const check_case *c, const char *key, const char *format, ...)
{
    char text[4000];
    va_list args;
    (void)c;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (judged.generic) { /* the table stays */
        snprintf(judged.result->key, sizeof judged.result->key, "%s", key);
        learn_replace(&judged.result->broke, learn_copy(text));
        judged.generic = false;
    }
    learn_fail(judged.result, key, "", "%s", text);
    return false;
}

bool check_slow(const check_case *c, const char *key, double times, const char *format, ...)
{
    learn_slowness *slow = &judged.result->slow;
    va_list args;
    slow->times = fmax(slow->times, times);
    if (slow->words) return false;
    snprintf(slow->key, sizeof slow->key, "%s", key);
    slow->place.number = c->number;
    va_start(args, format);
    if (vasprintf(&slow->words, format, args) < 0) slow->words = learn_copy("");
    va_end(args);
    return false;
}

void learn_add_to_failure(learn_result *result, const char *words)
{
    learn_replace(&result->broke, learn_format("%s %s", result->broke, words));
}

void check_also(const check_case *c, const char *format, ...)
{
    char text[1000];
    va_list args;
    (void)c;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (judged.result->state == LEARN_FAILED) learn_add_to_failure(judged.result, text);
}

void check_because(const check_case *c, const char *key, const char *format, ...)
{
    char text[2000];
    va_list args;
    (void)c;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (judged.result->state != LEARN_FAILED) return;
    learn_add_to_failure(judged.result, text);
    snprintf(judged.result->key, sizeof judged.result->key, "%s", key);
}

/* ---- What was reported ---- */

static const check_record *made_by(const check_case *c, int rank, enum check_kind kind, const char *name)
{
    return rank >= 0 && rank < c->ranks ? learn_record(judged.world, rank, NULL, c->number, kind, name) : NULL;
}

const void *check_data(const check_case *c, int rank, const char *name)
{
    const check_record *r = made_by(c, rank, CHECK_REPORT, name);
    return r ? r + 1 : NULL;
}

enum dtype check_dtype(const check_case *c, int rank, const char *name)
{
    const check_record *r = made_by(c, rank, CHECK_REPORT, name);
    return r ? (enum dtype)r->value : DTYPE_U8;
}

size_t check_elements(const check_case *c, int rank, const char *name)
{
    const check_record *r = made_by(c, rank, CHECK_REPORT, name);
    return r ? (size_t)r->count : 0;
}

double check_element(const check_case *c, int rank, const char *name, size_t index)
{
    const check_record *r = made_by(c, rank, CHECK_REPORT, name);
    return r && index < r->count ? check_get(r + 1, index, (enum dtype)r->value) : NAN;
}

double check_seconds(const check_case *c, int rank)
{
    return check_number_of(c, rank, CHECK_SECONDS);
}

double check_number_of(const check_case *c, int rank, const char *name)
{
    double value = NAN;
    const check_record *r = made_by(c, rank, CHECK_NUMBER, name);
    if (r) memcpy(&value, r + 1, sizeof value);
    return value;
}

p2p_traffic check_traffic(const check_case *c, int rank, int peer)
{
    p2p_traffic none = {0};
    const check_record *r = peer >= 0 && peer < c->ranks ? made_by(c, rank, CHECK_TRAFFIC, NULL) : NULL;
    if (!r) return none;
    p2p_traffic traffic = ((const p2p_traffic *)(const void *)(r + 1))[peer];
    if (rank == peer || judged.world->schedule)
        return traffic; /* that goes nowhere, or was not counted: it is for the rank to say */
    learn_sent sent = learn_relay_sent(judged.world->relay, (uint32_t)r->value, rank, peer);
    traffic.messages_sent = sent.messages;
    traffic.bytes_sent = sent.bytes;
    return traffic;
}

p2p_traffic check_sent(const check_case *c, int rank)
{
    p2p_traffic sum = {0};
    for (int peer = 0; peer < c->ranks; peer++) {
        if (peer == rank) continue;
        p2p_traffic t = check_traffic(c, rank, peer);
        sum.messages_sent += t.messages_sent;
        sum.bytes_sent += t.bytes_sent;
        sum.messages_received += t.messages_received;
        sum.bytes_received += t.bytes_received;
    }
    return sum;
}

bool check_in_other_order(const check_case *c)
{
    (void)c;
    return judged.world->schedule != NULL;
}

const char *check_output(const check_case *c, int rank)
{
    return rank >= 0 && rank < c->ranks ? learn_string(&judged.world->outputs[rank]) : "";
}

int check_line_of(const check_case *c, double place)
{
    const learn_world *w = judged.world;
    const char *file = w->e->check->files[0];
    (void)c;
    int line = place > 0 && place < 4e9 ? learn_line_of((unsigned long)place, file, w->program, w->options) : 0;
    if (line) learn_note_line(judged.result, w->e, file, line);
    return line;
}

/* ---- What must hold for every exercise ---- */

const char *learn_call_of(const learn_exercise *e, const check_case *c)
{
    return c && c->call ? c->call : e->check->call;
}

/* P2P_ERR_RANK, as it is spelled in the program. */
static const char *error_name(p2p_err err)
{
    switch (err) {
#define ERROR_NAME(name, value, text) \
    case name: return #name;
        P2P_ERROR_LIST(ERROR_NAME)
#undef ERROR_NAME
    }
    return "a number that is no error of Pairwise";
}

/* What is there to be done when a rank was killed, as the error says; its key. */
static const char *after_death(p2p_err err, bool twice, const char **key)
{
    *key = err == P2P_ERR_MISMATCH ? "mismatch" : err == P2P_ERR_DEADLOCK ? "deadlock" : "not_repaired";
    if (err == P2P_ERR_MISMATCH)
        return "its new process begins the function, the others are in the middle of it, and the next collective that "
               "they call has to be the same one.";
    if (err == P2P_ERR_DEADLOCK)
        return "what a rank waits for and what the others do behind the repair does not fit together.";
    if (err != P2P_ERR_PEER_DEAD || !twice)
        return "the others are to repair the world, and to go on with its new process.";
    *key = "not_repaired.again";
    return "the others are to repair the world, and to go on with its new process. That is not the only death here: "
           "any call may return P2P_ERR_PEER_DEAD, those behind a repair as well, and each time it leads to a repair.";
}

/* In a case in which ranks were killed. */
static void note_deaths(const check_case *c, p2p_err err, learn_result *result)
{
    const char *key;
    if (!c->deaths || err == P2P_ERR_TODO) return;
    const char *what = after_death(err, c->deaths > 1, &key);
    OWNED char *words = learn_format("In this case rank %d was killed by the test: %s", c->death[0].rank, what);
    learn_add_to_failure(result, words);
    snprintf(result->key, sizeof result->key, "%s", key);
}

bool learn_all_returned_ok(const learn_world *w, const check_case *c, learn_result *result)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        const check_record *r = NULL;
        while ((r = learn_record(w, rank, r, c->number, CHECK_RETURNED, NULL)) && r->value == P2P_OK) continue;
        if (!r) continue;
        p2p_err err = (p2p_err)r->value;
        if (err == P2P_ERR_TODO)
            learn_fail(result, "todo", "", "%s is not written yet: it returns P2P_ERR_TODO.", learn_call_of(w->e, c));
        else
            learn_fail(result, err == P2P_ERR_NOMEM ? "returned.memory" : "returned", "",
                       "On rank %d it returned %s (%d): %s.", rank, error_name(err), (int)err, p2p_strerror(err));
        note_deaths(c, err, result);
        return false;
    }
    return true;
}

/* " at broadcast.c:17": where the call of a record was made, if it says so, which is noted in the result as well. */
static char *place_of(const check_record *r, const learn_world *w, learn_result *result)
{
    learn_note_line(result, w->e, r->name, (int)r->count);
    return *r->name ? learn_format(" at %s:%d", r->name, (int)r->count) : learn_copy("");
}

static bool all_waited_for(const learn_world *w, const check_case *c, learn_result *result)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        const check_record *r = learn_record(w, rank, NULL, c->number, CHECK_LEAK, NULL);
        if (!r) continue;
        const char *call = (const char *)(r + 1);
        OWNED char *where = place_of(r, w, result);
        learn_fail(result, "waiting", "",
                   "Rank %d returned while a request of its own was still under way%s%s%s. Every %.*s needs a p2p_wait "
                   "before its buffer may be touched, and before %s returns.",
                   rank, *call ? ": " : "", call, where, *call ? (int)strcspn(call, "(") : 7, *call ? call : "request",
                   learn_call_of(w->e, c));
        return false;
    }
    return true;
}

/* Messages that were sent and never received, from whom to whom: a failure, or more to say about the one that is noted. */
static void note_lost(const check_case *c, learn_result *result)
{
    for (int pair = 0; pair < c->ranks * c->ranks; pair++) {
        int from = pair / c->ranks, to = pair % c->ranks;
        unsigned long long sent = check_traffic(c, from, to).messages_sent,
                           got = check_traffic(c, to, from).messages_received;
        if (sent == got) continue;
        unsigned long long others = check_sent(c, to).messages_received - got;
        OWNED char *more = others ? learn_format(" from it, and %llu from others", others) : learn_copy("");
        OWNED char *words = learn_format("Rank %d sent %llu message%s to rank %d, which received %llu%s: each must be "
                                         "received once.",
                                         from, sent, sent == 1 ? "" : "s", to, got, more);
        if (result->state == LEARN_FAILED)
            learn_add_to_failure(result, words);
        else
            learn_fail(result, "leak", "", "%s", words);
        return;
    }
}

/* In a case that fails on purpose: a rank whose calls failed must return an error too. */
static bool errors_returned(const learn_world *w, const check_case *c, learn_result *result)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        const check_record *r = NULL;
        do {
            r = learn_record(w, rank, r, c->number, CHECK_RETURNED, NULL);
        } while (r && (r->value || !*(const char *)(r + 1)));
        if (!r) continue;
        OWNED char *where = place_of(r, w, result);
        const char *ran = learn_call_of(w->e, c);
        if (!result->line && *where)
            learn_replace(
                &where,
                learn_format(" in a function of %s, which your code calls and which handed the error on", r->name));
        learn_set_advice(result,
                         "Every call that can fail says whether it went well: p2p_err err = p2p_send(...); if (err) "
                         "return err; and what the last call returned may be returned as it is.");
        learn_fail(result, "swallowed", "",
                   "%s failed on rank %d%s, with %s (%s), and %s returned P2P_OK all the same: the caller goes "
                   "on with data that never came.",
                   (const char *)(r + 1), rank, where, error_name(CHECK_FAILS_WITH), p2p_strerror(CHECK_FAILS_WITH),
                   strchr(ran, ',') ? "the function that it is in" : ran);
        return false;
    }
    return true;
}

void learn_judge_ended(learn_world *w, const check_case *c, learn_result *result)
{
    judged.world = w;
    judged.result = result;
    judged.generic = false;
    if (w->e->check->judge_ended && !c->fails && result->state == LEARN_FAILED) w->e->check->judge_ended(c);
}

bool learn_judge(learn_world *w, const check_case *c, learn_result *result)
{
    const check_exercise *e = w->e->check;
    judged.world = w;
    judged.result = result;
    judged.generic = false;
    if (c->fails) {
        if (!errors_returned(w, c, result) || !learn_all_freed(w, c, result)) return false;
        if (e->judge_failing) e->judge_failing(c);
        return result->state != LEARN_FAILED;
    }
    if (e->judge_first) e->judge_first(c);
    if (result->state != LEARN_FAILED && learn_all_returned_ok(w, c, result) && all_waited_for(w, c, result)) {
        e->judge(c);
        if (!w->plan->repairs) note_lost(c, result);
    }
    if (result->state != LEARN_FAILED) return learn_all_freed(w, c, result);
    /* A rank received from any source, in an exercise in which it is known from whom they come. */
    for (int rank = 0; rank < c->ranks && !e->any_source; rank++) {
        if (isnan(check_number_of(c, rank, CHECK_ANY_SOURCE))) continue;
        OWNED char *words = learn_format("On rank %d " LEARN_ANY_SOURCE, rank);
        learn_add_to_failure(result, words);
        break;
    }
    return false;
}
