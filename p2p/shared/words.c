/* SPDX-License-Identifier: MIT */
/* The words: what calls, deaths and the scoreboard look like to a person. Decides nothing: see diagnosis.h. */
#include "p2p/shared/words.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "p2p/shared/scoreboard.h"

#define AWAITED_SHOWN 3
#define LEFT_SHOWN 5

void p2p__add(p2p_words *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int more = vsnprintf(w->text + w->used, sizeof w->text - w->used, format, args);
    va_end(args);
    if (more > 0) w->used += (size_t)more;
    if (w->used >= sizeof w->text) w->used = sizeof w->text - 1;
}

void p2p__add_advice(p2p_words *w, const char *advice)
{
    if (!advice) return;
    p2p__copy_text(w->advice, sizeof w->advice, advice);
    p2p__add(w, P2P_TRY "%s", advice);
}

void p2p__add_rank(p2p_words *w, const p2p_place *place)
{
    p2p__add(w, "rank %d", place->rank);
    if (place->host > 0) p2p__add(w, " on " P2P_HOST, place->host - 1, place->host_name);
}

/* ---- Calls ---- */

static unsigned long long ull(uint64_t number)
{
    return number;
}

static void add_tag(p2p_words *w, int tag)
{
    if (tag < 0)
        p2p__add(w, ", any tag");
    else
        p2p__add(w, ", tag %d", tag);
}

static void add_peer(p2p_words *w, const char *role, int peer, int world_peer, int tag)
{
    if (peer < 0)
        p2p__add(w, "any %s", role);
    else
        p2p__add(w, "%s %d", role, peer);
    if (peer >= 0 && peer != world_peer) p2p__add(w, ", which is rank %d of the world", world_peer);
    add_tag(w, tag);
}

static void add_file(p2p_words *w, const char *before, const scoreboard_call *call)
{
    if (call->file[0]) p2p__add(w, "%s%s:%d", before, call->file, call->line);
}

void p2p__add_ranks(p2p_words *w, const char *before, const p2p_rank_set *set, int size)
{
    const char *comma = before;
    for (int i = 0; i < size; i++) {
        int last = i;
        if (!p2p__set_has(set, i)) continue;
        while (last + 1 < size && p2p__set_has(set, last + 1)) last++;
        p2p__add(w, last > i ? "%s%d-%d" : "%s%d", comma, i, last);
        comma = ",";
        i = last;
    }
}

void p2p__add_arguments(p2p_words *w, const char *before, const scoreboard_call *shown)
{
    const scoreboard_call call = p2p__call_copy(shown);
    const scoreboard_what *what = &call.what;
    p2p__add(w, "%s%s(", before, call.name);
    switch ((enum scoreboard_shape)call.shape) {
    case SHAPE_WAIT: p2p__add(w, "%llu request%s", ull(call.bytes), call.bytes == 1 ? "" : "s"); break;
    case SHAPE_COLLECTIVE:
        p2p__add(w, "#%llu", ull(call.number));
        if (what->algorithm[0]) p2p__add(w, ", %s", what->algorithm);
        if (what->count != UINT64_MAX) p2p__add(w, ", count %llu", ull(what->count));
        if (what->dtype[0]) p2p__add(w, ", %s", what->dtype);
        if (what->op[0]) p2p__add(w, ", %s", what->op);
        if (what->root >= 0) p2p__add(w, ", root %d", what->root);
        break;
    case SHAPE_RECV: add_peer(w, "source", call.peer, call.world_peer, call.tag); break;
    case SHAPE_SEND:
    case SHAPE_SENDRECV:
        add_peer(w, "dest", call.peer, call.world_peer, call.tag);
        p2p__add(w, ", %llu bytes", ull(call.bytes));
        if (call.shape == SHAPE_SEND) break;
        p2p__add(w, "; ");
        add_peer(w, "source", call.from, call.world_from, call.from_tag);
        break;
    case SHAPE_PLAIN:
    default: break;
    }
    p2p__add(w, ")");
}

void p2p__add_call(p2p_words *w, const char *before, const scoreboard_call *shown)
{
    scoreboard_call call = p2p__call_copy(shown);
    p2p__add_arguments(w, before, &call);
    add_file(w, " at ", &call);
}

static void add_last_call(p2p_words *w, const scoreboard_call *call)
{
    if (call->name[0])
        p2p__add_call(w, "its last call was ", call);
    else
        p2p__add(w, "it has made no Pairwise call");
}

void p2p__add_operation(p2p_words *w, const char *send, const char *receive, const scoreboard_call *call)
{
    p2p__add(w, "%s ", call->shape == SHAPE_SEND ? send : receive);
    if (call->peer < 0)
        p2p__add(w, "any");
    else
        p2p__add(w, "%d", call->peer);
    add_tag(w, call->tag);
    p2p__add(w, ", %llu bytes", ull(call->bytes));
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

void p2p__words_death(p2p_words *w, const p2p_finding *f, bool meanwhile)
{
    const p2p_place *place = p2p__finding_first(f, ROLE_LAST);
    int shown = 0;
    p2p__add_rank(w, place);
    p2p__add(w, " ");
    p2p__words_end(w, &f->what);
    p2p__add(w, "; ");
    add_last_call(w, &place->call);
    for (size_t at = 0; meanwhile && shown < WAITERS_SHOWN && (place = p2p__finding_next(f, ROLE_MEANWHILE, &at));
         shown++) {
        p2p__add(w, "\n  meanwhile ");
        p2p__add_rank(w, place);
        p2p__add_call(w, " waited: ", &place->call);
    }
}

static const char *signal_advice(int number)
{
    switch (number) {
    case SIGSEGV:
    case SIGBUS: return "compile it with -g -fsanitize=address, which names the line that uses what is no memory";
    case SIGABRT:
        return "what it printed before says why; of damaged memory, -g -fsanitize=address names the line that damaged "
               "it";
    case SIGFPE: return "which whole number is divided by 0? often one that depends on the number of ranks";
    case SIGKILL: return "has the system ended it, for a limit on memory or time?";
    default: return "who has sent that signal?";
    }
}

const char *p2p__death_advice(const p2p_diagnosis *end)
{
    if (end->reason == REASON_GAVE_UP) return "look at the error that its call has returned";
    if (end->reason == REASON_NEVER_FINALIZED) return "p2p_finalize on every way out of main";
    if (end->reason == REASON_EXIT && end->early) return "p2p_finalize before it ends, or p2p_abort to end all ranks";
    if (end->reason == REASON_EXIT) return "what it printed before says why it ended so";
    return end->starved ? "fewer ranks, or less data: the system has ended it" : signal_advice(end->status);
}

/* ---- Collectives that differ ---- */

static void add_fields(p2p_words *w, const p2p_place *of, const p2p_place *other)
{
    const scoreboard_what *a = &of->call.what, *b = &other->call.what;
    const struct {
        const char *name, *mine, *others;
    } texts[] = {{"dtype", a->dtype, b->dtype}, {"op", a->op, b->op}, {"algorithm", a->algorithm, b->algorithm}};
    const char *between = "";
    p2p__add_rank(w, of);
    p2p__add(w, " has");
    if (a->count != b->count) p2p__add(w, " count %llu", ull(a->count)), between = ",";
    if (a->root != b->root) p2p__add(w, "%s root %d", between, a->root), between = ",";
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(texts[i].mine, texts[i].others) == 0) continue;
        p2p__add(w, "%s %s %s", between, texts[i].name, texts[i].mine);
        between = ",";
    }
    add_file(w, " at ", &of->call);
}

const char *p2p__words_mismatch(p2p_words *w, const p2p_finding *f)
{
    const p2p_place *a = f->count == 2 ? &f->places[0] : &f->spare, *b = f->count == 2 ? &f->places[1] : &f->spare;
    unsigned long long number = a->call.number;
    p2p__add(w, "mismatch: ");
    if (!a->call.name[0] && !b->call.name[0]) {
        p2p__add(w, "ranks %d and %d mean different things by collective #%llu", a->rank, b->rank, number);
        return NULL;
    }
    if (strcmp(a->call.name, b->call.name) != 0) {
        p2p__add_rank(w, a);
        p2p__add(w, " is in %s #%llu", a->call.name, number);
        add_file(w, " at ", &a->call);
        p2p__add(w, ", ");
        p2p__add_rank(w, b);
        p2p__add(w, " in %s #%llu", b->call.name, number);
        add_file(w, " at ", &b->call);
        return "every rank must make the same collective calls in the same order";
    }
    p2p__add(w, "%s #%llu: ", a->call.name, number);
    add_fields(w, a, b);
    p2p__add(w, ", ");
    add_fields(w, b, a);
    return "give every rank the same arguments; no buffer has been changed";
}

/* What can be left at the end, and what gives it back. */
static const struct {
    int class, reason;
    const char *one, *many, *advice;
} lefts[] = {
    {CLASS_LOST_MESSAGE, REASON_NONE, "unreceived message", "unreceived messages", "receive what is sent (p2p_recv)"},
    {CLASS_REQUEST_LEAK, REASON_NONE, "request never waited for", "requests never waited for",
     "wait for every request (p2p_wait)"},
    {CLASS_REQUEST_LEAK, REASON_PERSISTENT, "persistent request never freed", "persistent requests never freed",
     "MPI_Request_free, when it is not started any more"},
    {CLASS_RESOURCE_LEAK, REASON_COMMUNICATOR, "communicator never freed", "communicators never freed",
     "free what p2p_split and p2p_dup make (p2p_free) before p2p_finalize; a destructor that runs later is too late"},
    {CLASS_RESOURCE_LEAK, REASON_MEMORY, "buffer never released", "buffers never released",
     "release what p2p_alloc gives (p2p_release)"},
    {CLASS_RESOURCE_LEAK, REASON_TYPE, "type never freed", "types never freed", "MPI_Type_free"},
    {CLASS_RESOURCE_LEAK, REASON_OPERATOR, "operator never freed", "operators never freed", "MPI_Op_free"},
    {CLASS_RESOURCE_LEAK, REASON_GROUP, "group never freed", "groups never freed", "MPI_Group_free"},
    {CLASS_RESOURCE_LEAK, REASON_BUFFER, "buffer never detached", "buffers never detached", "MPI_Buffer_detach"}};

const char *p2p__words_left(p2p_words *w, const p2p_finding *f)
{
    uint64_t shown = 0, count = f->what.count;
    size_t kind = 0;
    while (f->what.class != lefts[kind].class || f->what.reason != lefts[kind].reason) kind++;
    p2p__add(w, "%s%llu %s", w->used ? "; " : "", ull(count), count == 1 ? lefts[kind].one : lefts[kind].many);
    if (f->what.reason == REASON_COMMUNICATOR) { /* the first that was made, which is the last in the list */
        if (f->count > 1) add_file(w, ": made at ", &f->places[f->count - 1].call);
        return lefts[kind].advice;
    }
    for (size_t i = 1; i < f->count && shown < LEFT_SHOWN; i++) {
        const p2p_place *place = &f->places[i];
        const scoreboard_call *call = &place->call;
        if (place->role == ROLE_OTHER) { /* where the message before it was sent */
            add_file(w, " at ", call);
            continue;
        }
        p2p__add(w, "%s", shown++ ? ";" : ":");
        if (place->role == ROLE_MESSAGE)
            p2p__add(w, " from %d, tag %d, %llu bytes", call->peer, call->tag, ull(call->bytes));
        else if (place->role != ROLE_PENDING && call->bytes)
            p2p__add(w, " %llu bytes", ull(call->bytes));
        else if (place->role != ROLE_PENDING)
            p2p__add(w, " %s", call->name);
        else if (call->shape == SHAPE_COLLECTIVE)
            p2p__add(w, " collective");
        else
            p2p__add_operation(w, " isend to", " irecv from", call);
        if (place->role != ROLE_MESSAGE) add_file(w, place->role == ROLE_PENDING ? " at " : " from ", call);
    }
    if (shown < count) p2p__add(w, "; ...");
    return lefts[kind].advice;
}

/* ---- What each rank is doing ---- */

/* What the system says of its process: "state S (sleeping)", "gone". */
static void add_process(p2p_words *w, char letter)
{
    static const char *const names[128] = {['R'] = "running",
                                           ['S'] = "sleeping",
                                           ['D'] = "in the kernel",
                                           ['T'] = "stopped",
                                           ['t'] = "stopped by a debugger",
                                           ['Z'] = "ended"};
    const char *name = names[letter & 127];
    if (letter)
        p2p__add(w, "state %c (%s)", letter, name ? name : "unknown");
    else
        p2p__add(w, "gone");
}

void p2p__words_timeout(p2p_words *w, const p2p_finding *f)
{
    const p2p_place *place;
    int shown = 0;
    p2p__add(w, "nothing came for %.1f s (PAIRWISE_TIMEOUT)", f->what.seconds);
    for (size_t at = 0; shown < AWAITED_SHOWN && (place = p2p__finding_next(f, ROLE_DOING, &at)); shown++) {
        p2p__add(w, "\n  ");
        p2p__add_rank(w, place);
        p2p__add(w, " is alive, no progress for %.1f s, ", f->what.seconds);
        add_process(w, place->process);
        p2p__add(w, "; ");
        if (place->state == SCOREBOARD_ABSENT)
            p2p__add(w, "it has not called p2p_init");
        else if (place->state == SCOREBOARD_BLOCKED)
            p2p__add_call(w, "it waits in ", &place->call);
        else if (place->state >= SCOREBOARD_FINALIZING)
            p2p__add_call(w, "it has finished, in ", &place->call);
        else
            add_last_call(w, &place->call);
    }
}

void p2p__words_polling(p2p_words *w, const p2p_finding *f)
{
    const p2p_place *place;
    if (f->what.seconds > 0)
        p2p__add(w, "deadlock: for %.1f s nothing has happened but polling:", f->what.seconds);
    else if (f->what.reason == REASON_POLLING)
        p2p__add(w, "deadlock: every rank polls or waits, and nothing is on its way:");
    else
        p2p__add(w, "note: for a second nothing has happened but polling:");
    for (size_t at = 0; w->used < sizeof w->text - 600 && (place = p2p__finding_next(f, ROLE_DOING, &at));) {
        p2p__add(w, "\n  ");
        p2p__add_rank(w, place);
        p2p__add_call(w, place->state == SCOREBOARD_POLLING ? " polls in " : " waits in ", &place->call);
    }
    p2p__add_advice(w, "is the message they look for ever sent?");
}

void p2p__words_doing(p2p_words *w, const p2p_finding *f, const p2p_place *place)
{
    p2p__add(w, "  ");
    p2p__add_rank(w, place);
    p2p__add(w, ", ");
    add_process(w, place->process);
    p2p__add(w, ", ");
    switch ((enum scoreboard_state)place->state) {
    case SCOREBOARD_ABSENT: p2p__add(w, "has not called p2p_init"); break;
    case SCOREBOARD_BLOCKED:
        p2p__add_call(w, "waits in ", &place->call);
        p2p__add_items(w, f, place);
        break;
    case SCOREBOARD_POLLING: p2p__add_call(w, "polls in ", &place->call); break;
    case SCOREBOARD_FINALIZING: p2p__add_call(w, "says goodbye in ", &place->call); break;
    case SCOREBOARD_RUNNING:
    case SCOREBOARD_FINISHED:
        p2p__add(w, "%s; ", place->state == SCOREBOARD_RUNNING ? "computes" : "has ended");
        add_last_call(w, &place->call);
    }
    p2p__add(w, "\n");
}
