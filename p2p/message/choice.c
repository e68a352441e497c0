/* SPDX-License-Identifier: MIT */
/*
 * With launch --explore: whatever the standard leaves open is shown to the launcher, which decides when no rank can do anything
 * but wait (p2p/job/choices.c). Then all that can have come has come, so the options do not depend on the machine.
 *
 *  - A message that comes is kept. Only when this rank waits do receives from one source take what is theirs (settle): what an
 *    earlier receive from any source may still take is not, and nothing of that sender that would overtake it.
 *  - A receive from any source is given a message by the launcher; so is a probe. So are p2p_wait_any and calls that poll told
 *    what they find.
 *  - Every send waits for its receive (config.strict), unless the launcher says that it is buffered: then it goes on with a copy.
 *
 * After a receive is decided, messages may come that it could have taken as well, had they been faster: the launcher is told.
 */
#include <stdlib.h>
#include <string.h>

#include "p2p/message/trace_rank.h"
#include "p2p/shared/control.h"
#include "p2p/shared/crc.h"

enum { QUESTIONS = 8 };

/* A receive from any source, or a probe, that has its message. */
typedef struct {
    uint32_t number, context;
    int tag;
    uint64_t known; /* ranks whose first message it could have taken, as the launcher knows */
} decided;

struct p2p_choices {
    uint32_t numbers; /* given out */
    uint64_t obeyed;
    const p2p_asked *asked; /* by the call under way; NULL: nothing */
    uint32_t number;        /* of that */
    int option;             /* decided; -1: not yet */
    bool acted;             /* since the last one that was decided: others may have moved */
    struct {
        uint64_t question;
        int polls;
    } idle[QUESTIONS]; /* while this rank has only looked: those for which nothing was there */
    decided *decided;
    size_t count, room;
    p2p_request copies; /* sends that have been buffered */
};

bool p2p__choices_create(p2p_engine *engine)
{
    engine->choices = calloc(1, sizeof *engine->choices);
    return engine->choices;
}

void p2p__choices_free(p2p_engine *engine)
{
    p2p_choices *c = engine->choices;
    if (!c) return;
    while (c->copies) {
        p2p_request copy = c->copies;
        c->copies = copy->all_next;
        free(copy->buf);
        free(copy);
    }
    free(c->decided);
    free(c);
}

uint32_t p2p__choice_number(p2p_engine *engine)
{
    return ++engine->choices->numbers;
}

void p2p__choice_of_send(p2p_request send, bool wait_for_match)
{
    p2p_engine *engine = send->comm->engine;
    const int32_t to[] = {send->peer, send->tag};
    uint64_t sum = p2p__crc32c(p2p__crc32c(0, to, sizeof to), send->buf, send->bytes);
    engine->row->choices.sent = engine->row->choices.sent * UINT64_C(0x100000001b3) + sum + 1;
    if (!wait_for_match) send->choice = p2p__choice_number(engine);
}

/* ---- Messages ---- */

static bool matches(const struct p2p_operation *receive, const wire_header *header)
{
    return receive->context == header->context && p2p__tag_matches(receive->tag, header->tag);
}

/* The first of these receives, posted before that time, that this message matches. */
static p2p_request first_of(const p2p_request_list *list, const wire_header *header, uint64_t before)
{
    for (p2p_request at = list->head; at && at->id < before; at = at->next)
        if (matches(at, header)) return at;
    return NULL;
}

/* The first message of a rank that would do; *held: a receive posted before that time may take it. */
static p2p_unexpected *first_message(p2p_engine *engine, int source, const struct p2p_operation *like, uint64_t before,
                                     bool *held)
{
    p2p_peer *peer = &engine->peers[source];
    p2p_unexpected *at = peer->unexpected;
    while (at && !matches(like, &at->header)) at = at->next;
    *held = at && (first_of(&engine->posted_any, &at->header, before) || first_of(&peer->posted, &at->header, before));
    return at;
}

p2p_unexpected *p2p__choice_message(p2p_engine *engine, int source, uint32_t context, int tag)
{
    const struct p2p_operation like = {.context = context, .tag = tag};
    bool held;
    p2p_unexpected *found = first_message(engine, source, &like, UINT64_MAX, &held);
    return held ? NULL : found;
}

uint64_t p2p__choice_sources(p2p_engine *engine, const struct p2p_operation *like, uint64_t *held)
{
    uint64_t sources = 0;
    *held = 0;
    for (int i = 0; i < engine->size && i < CHOICE_NOTHING; i++) {
        bool is_held;
        if (!first_message(engine, i, like, like->posted ? like->id : UINT64_MAX, &is_held)) continue;
        *(is_held ? held : &sources) |= UINT64_C(1) << i;
    }
    return sources;
}

void p2p__choice_arrived(p2p_engine *engine, const wire_header *header)
{
    p2p_choices *c = engine->choices;
    uint64_t source = UINT64_C(1) << header->source % CHOICE_OPTIONS;
    for (size_t i = 0; i < c->count; i++) {
        decided *d = &c->decided[i];
        if (d->known & source || d->context != header->context || !p2p__tag_matches(d->tag, header->tag)) continue;
        d->known |= source;
        p2p__control_tell(engine->control, CONTROL_LATE, (int)header->source, (int)d->number);
    }
}

/* The receive from one source that has to get this message of its; NULL if there is none, or that is not yet sure. */
static p2p_request owner_of(p2p_engine *engine, const p2p_peer *peer, const p2p_unexpected *message)
{
    p2p_request mine = first_of(&peer->posted, &message->header, UINT64_MAX);
    if (!mine || first_of(&engine->posted_any, &message->header, mine->id)) return NULL;
    for (const p2p_unexpected *at = peer->unexpected; at != message; at = at->next)
        if (matches(mine, &at->header)) return NULL; /* which is held, and must not be overtaken */
    return mine;
}

p2p_err p2p__choice_settle(p2p_engine *engine)
{
    for (int i = 0; i < engine->size; i++) {
        p2p_peer *peer = &engine->peers[i];
        for (p2p_unexpected *at = peer->unexpected, *next; at; at = next) {
            p2p_request receive = owner_of(engine, peer, at);
            next = at->next;
            if (!receive) continue;
            p2p__list_remove(&peer->posted, receive);
            p2p__unexpected_remove(engine, at);
            p2p_err err = p2p__receive_found(receive, at);
            if (err) return err;
        }
    }
    return P2P_OK;
}

/* ---- What is shown ---- */

static void show(p2p_engine *engine, int kind, uint32_t number, bool blocks, uint64_t options, uint64_t held,
                 const scoreboard_call *call)
{
    scoreboard_choices *shown = &engine->row->choices;
    if (!options || shown->count == SCOREBOARD_CHOICES) return;
    shown->open[shown->count++] = (scoreboard_choice){kind, number, blocks, options, held, *call};
}

/* A poll finds nothing, or, if something is there, may: but not for ever (polls.c). */
static uint64_t options_of_call(p2p_engine *engine, uint64_t *held)
{
    const p2p_asked *asked = engine->choices->asked;
    const uint64_t nothing = UINT64_C(1) << CHOICE_NOTHING;
    *held = 0;
    uint64_t options = asked->options(engine, asked->arg, held);
    if (asked->kind != CHOICE_POLL) return options;
    if (!options || p2p__poll_goes_on(engine, asked)) return nothing;
    return options | (p2p__poll_may_overlook(engine, asked) ? nothing : 0);
}

/* How often this question has been asked since this rank has done anything else, and nothing was there. NULL: there are too many
 * questions. */
static int *idle_polls(p2p_choices *c, const p2p_asked *asked)
{
    for (int i = 0; i < QUESTIONS; i++) {
        if (!c->idle[i].polls) c->idle[i].question = asked->question;
        if (c->idle[i].question == asked->question) return &c->idle[i].polls;
    }
    return NULL;
}

/* Nothing is there, as at the polls before: what could have come before this one could have come before the first of them, and
 * been overlooked. */
static bool is_repeated(p2p_engine *engine, uint64_t options)
{
    p2p_choices *c = engine->choices;
    const int *polls = options == UINT64_C(1) << CHOICE_NOTHING && !c->acted ? idle_polls(c, c->asked) : NULL;
    return polls && *polls > engine->config.looks;
}

/* Those on the caller's stack have no name of their own. */
static void show_operation(p2p_engine *engine, int kind, p2p_request request, uint64_t options, uint64_t held)
{
    const scoreboard_call call = request->name ? p2p__call_of(request) : engine->row->call;
    show(engine, kind, request->choice, !request->name, options, held, &call);
}

void p2p__choices_show(p2p_engine *engine)
{
    const p2p_choices *c = engine->choices;
    uint64_t held;
    engine->row->choices.count = 0;
    if (c->asked && c->option < 0) {
        uint64_t options = options_of_call(engine, &held);
        if (is_repeated(engine, options)) held = 0;
        show(engine, c->asked->kind, c->number, true, options, held, &engine->row->call);
    }
    for (p2p_request at = engine->posted_any.head; at; at = at->next) {
        uint64_t sources = p2p__choice_sources(engine, at, &held);
        show_operation(engine, CHOICE_RECEIVE, at, sources, held);
    }
    for (int i = 0; i < engine->size; i++)
        for (p2p_request at = engine->peers[i].awaits_clear.head; at; at = at->next)
            if (at->choice) show_operation(engine, CHOICE_SEND, at, 1, 0);
    for (p2p_unexpected *at = engine->peers[engine->rank].unexpected; at; at = at->next)
        if (at->sender && at->sender->choice) show_operation(engine, CHOICE_SEND, at->sender, 1, 0);
}

/* ---- What is decided ---- */

void p2p__choice_note(p2p_engine *engine, uint32_t number, const struct p2p_operation *like, uint64_t known)
{
    p2p_choices *c = engine->choices;
    if (c->count == c->room) {
        size_t room = c->room ? 2 * c->room : 64;
        decided *more = realloc(c->decided, room * sizeof *more);
        if (!more) return; /* fewer orders */
        c->decided = more;
        c->room = room;
    }
    c->decided[c->count++] = (decided){number, like->context, like->tag, known};
}

static p2p_err decide_receive(p2p_engine *engine, p2p_request receive, int source)
{
    bool is_held;
    uint64_t held, sources = p2p__choice_sources(engine, receive, &held);
    p2p_unexpected *message = first_message(engine, source, receive, receive->id, &is_held);
    if (!message || is_held) return P2P_OK;
    p2p__choice_note(engine, receive->choice, receive, sources | held);
    p2p__list_remove(&engine->posted_any, receive);
    p2p__unexpected_remove(engine, message);
    return p2p__receive_found(receive, message);
}

/* The program has its buffer back; what is sent is a copy, of nobody's communicator. */
static p2p_err buffer(p2p_engine *engine, p2p_request send, p2p_unexpected *to_self)
{
    p2p_request copy = malloc(sizeof *copy);
    void *bytes = malloc(send->bytes + 1);
    if (!copy || !bytes) {
        free(copy);
        free(bytes);
        return P2P_ERR_NOMEM;
    }
    if (send->bytes) memcpy(bytes, send->buf, send->bytes);
    *copy = *send;
    copy->buf = bytes;
    copy->comm = engine->comms;
    copy->choice = 0;
    copy->guarded = false;
    copy->all_next = engine->choices->copies;
    engine->choices->copies = copy;
    if (to_self) {
        to_self->sender = copy;
    } else {
        p2p_request_list *list = &engine->peers[send->peer].awaits_clear;
        p2p__list_remove(list, send);
        p2p__list_add(list, copy);
    }
    p2p__complete(send, P2P_OK);
    return P2P_OK;
}

static p2p_err decide_send(p2p_engine *engine, uint32_t number)
{
    for (int i = 0; i < engine->size; i++)
        for (p2p_request at = engine->peers[i].awaits_clear.head; at; at = at->next)
            if (at->choice == number) return buffer(engine, at, NULL);
    for (p2p_unexpected *at = engine->peers[engine->rank].unexpected; at; at = at->next)
        if (at->sender && at->sender->choice == number) return buffer(engine, at->sender, at);
    return P2P_OK;
}

static void trace_choice(p2p_engine *engine, const scoreboard_choices *row)
{
    trace_event *wait = p2p__trace_top(engine->trace);
    for (int i = 0; wait && wait->kind == TRACE_WAIT && i < row->count; i++) {
        if (row->open[i].number != row->number || row->open[i].kind == CHOICE_SEND) continue;
        wait->flags |= TRACE_CHOSEN;
        wait->chunk = row->option;
        wait->offset = row->open[i].options;
    }
}

static void decide_call(p2p_engine *engine, int option)
{
    p2p_choices *c = engine->choices;
    uint64_t held, options = options_of_call(engine, &held);
    bool repeated = is_repeated(engine, options);
    if (c->acted) memset(c->idle, 0, sizeof c->idle);
    int *polls = options == UINT64_C(1) << CHOICE_NOTHING ? idle_polls(c, c->asked) : NULL;
    if (polls) ++*polls;
    c->acted = false;
    if (option == CHOICE_NOTHING) p2p__poll_overlook(engine, c->asked);
    c->option = option;
    if (repeated)
        engine->row->choices.bounded = true;
    else
        c->asked->decided(engine, c->asked->arg, c->number);
}

p2p_err p2p__choices_obey(p2p_engine *engine)
{
    p2p_choices *c = engine->choices;
    const scoreboard_choices *row = &engine->row->choices;
    if (atomic_load_explicit(&row->answers, memory_order_acquire) == c->obeyed) return P2P_OK;
    c->obeyed++;
    TRACE(engine, trace_choice(engine, row));
    if (row->hurry) p2p__polls_hurry(engine);
    if (c->asked && c->number == row->number) {
        decide_call(engine, row->option);
        return P2P_OK;
    }
    for (p2p_request at = engine->posted_any.head; at; at = at->next)
        if (at->choice == row->number) return decide_receive(engine, at, row->option);
    return decide_send(engine, row->number);
}

/* ---- The choice of a call ---- */

static bool is_decided(p2p_engine *engine, void *arg)
{
    (void)arg;
    return engine->choices->option >= 0;
}

/* Not for any rank: for the launcher, which waits for all. */
static void describe_asked(p2p_engine *engine, void *arg, scoreboard_wait *wait)
{
    const p2p_asked *asked = arg;
    if (asked->describe)
        asked->describe(engine, asked->arg, wait);
    else
        p2p__set_clear(&wait->any[wait->any_count++], engine->size);
}

void p2p__choice_acts(p2p_engine *engine)
{
    if (!engine->choices->asked) engine->choices->acted = true;
}

p2p_err p2p__choice_ask(p2p_comm *comm, const p2p_asked *asked, int *option)
{
    p2p_choices *c = comm->engine->choices;
    /* As long as this rank only looks, nothing moves: it need not ask. */
    if (asked->kind == CHOICE_POLL && !c->acted && p2p__poll_goes_on(comm->engine, asked)) {
        p2p__poll_overlook(comm->engine, asked);
        *option = CHOICE_NOTHING;
        return P2P_OK;
    }
    p2p_waiting waiting = {
        .ready = is_decided, .describe = describe_asked, .arg = (void *)(uintptr_t)asked, .state = SCOREBOARD_BLOCKED};
    c->asked = asked;
    c->number = p2p__choice_number(comm->engine);
    c->option = -1;
    p2p_err err = p2p__block(comm, &waiting);
    c->asked = NULL;
    *option = c->option;
    return err;
}
