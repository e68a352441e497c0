/* SPDX-License-Identifier: MIT */
/* Errors: every public call comes in through enter and goes out through leave; what an error says and does is here. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "p2p/message/trace_rank.h"
#include "p2p/shared/control.h"
#include "p2p/shared/words.h"

const char *p2p_strerror(p2p_err err)
{
    switch (err) {
#define ERROR_TEXT(name, value, text) \
    case name: return text;
        P2P_ERROR_LIST(ERROR_TEXT)
#undef ERROR_TEXT
    }
    return "unknown error";
}

const char *p2p_error_message(const p2p_comm *comm)
{
    return comm ? comm->message : "";
}

p2p_err p2p__fail(p2p_comm *comm, p2p_err err, int class, int argument, const char *advice, const char *format, ...)
{
    p2p_blame blame = {.advice = advice, .what = {.class = class, .argument = argument}};
    va_list args;
    va_start(args, format);
    vsnprintf(blame.cause, sizeof blame.cause, format, args);
    va_end(args);
    comm->blame = blame;
    if (comm->engine) comm->engine->drafts = 0;
    return err;
}

p2p_err p2p__fail_again(p2p_comm *comm, p2p_err err)
{
    comm->blame = comm->engine->poison;
    comm->engine->drafts = 0;
    return err;
}

void p2p__give_up(p2p_engine *engine, p2p_err err)
{
    if (!atomic_load(&engine->row->gave_up)) atomic_store(&engine->row->gave_up, err);
    atomic_store(&engine->scoreboard->shared->any_gave_up, 1);
    atomic_thread_fence(memory_order_seq_cst);
}

p2p_err p2p__poison(p2p_comm *comm, p2p_err err)
{
    p2p_engine *engine = comm->engine;
    if (engine->poisoned) return err;
    engine->poisoned = err;
    engine->poison = comm->blame;
    p2p__give_up(engine, err);
    return err;
}

/* "rank 0: MPI_Finalize() at prog.c:9: " and the cause, in the words of the program's calls. */
static void put_message(p2p_comm *comm, const scoreboard_call *call, int rank)
{
    p2p_words where = {.used = 0};
    p2p__add_call(&where, "", call);
    snprintf(comm->message, sizeof comm->message, "rank %d: %.499s: %s", rank, where.text, comm->blame.cause);
    p2p__words_of(call->name, comm->message, sizeof comm->message);
}

static void put_advice(p2p_comm *comm, const scoreboard_call *call)
{
    size_t used = strlen(comm->message);
    if (comm->blame.advice)
        snprintf(comm->message + used, sizeof comm->message - used, P2P_TRY "%s", comm->blame.advice);
    p2p__words_of(call->name, comm->message, sizeof comm->message);
}

void p2p__note(p2p_comm *comm)
{
    p2p_engine *engine = comm->engine;
    const scoreboard_call *call = &engine->row->call;
    put_message(comm, call, engine->rank);
    char own[32]; /* the supervisor says which ranks */
    const size_t named = (size_t)snprintf(own, sizeof own, "rank %d: ", engine->rank);
    p2p__publish(engine->row, engine->rank, &comm->blame, call, comm->message + named, engine->drafts);
    put_advice(comm, call);
    if (engine->control < 0) fprintf(stderr, "pairwise: note: %s\n", comm->message);
    comm->blame.cause[0] = '\0';
    engine->drafts = 0;
}

/* Tells the supervisor, and ends the process if the communicator's errors are fatal. The supervisor reports a failure
 * of the job once, for all: a rank that is told of it is silent. */
static p2p_err raise_error(p2p_comm *comm, const scoreboard_call *call, p2p_engine *engine, p2p_err err)
{
    put_message(comm, call, engine ? engine->rank : comm->rank);
    bool fatal = comm->errors == P2P_ERRORS_FATAL, told = engine && engine->failed;
    if (!comm->blame.what.class) comm->blame.what = p2p__diagnosis_of(err);
    if ((fatal || err == P2P_ERR_LEAK) && !told && comm->row) {
        int own = comm->engine ? comm->engine->rank : comm->rank, drafts = comm->engine ? comm->engine->drafts : 0;
        p2p__publish(comm->row, own, &comm->blame, call, comm->message, drafts);
    }
    put_advice(comm, call);
    if (!fatal) return err;
    fflush(stdout);
    if (!told) fprintf(stderr, "pairwise: %s\n", comm->message);
    fflush(stderr);
    if (engine && engine->control >= 0 && !told) p2p__control_tell(engine->control, CONTROL_FATAL, engine->rank, 1);
    _exit(1);
}

static int in_world(const p2p_comm *comm, int rank)
{
    return comm->world_rank && rank >= 0 && rank < comm->size ? comm->world_rank[rank] : rank;
}

/* All of it but name and file. */
static void fill_numbers(scoreboard_call *to, const p2p_comm *comm, const p2p_call *call, int line)
{
    to->line = line;
    to->shape = call->shape;
    to->context = comm->context;
    to->peer = call->peer;
    to->world_peer = in_world(comm, call->peer);
    to->tag = call->tag;
    to->from = call->from;
    to->world_from = in_world(comm, call->from);
    to->from_tag = call->from_tag;
    to->bytes = call->bytes;
}

/* A call on a communicator that is not usable, or on none. */
static p2p_err refuse(p2p_comm *comm, const p2p_call *call, const char *file, int line, const char *advice,
                      const char *cause)
{
    scoreboard_call shown = {.line = line};
    char text[200];
    p2p__copy_text(shown.name, sizeof shown.name, call->name);
    p2p__copy_text(shown.file, sizeof shown.file, file);
    if (comm) {
        fill_numbers(&shown, comm, call, line);
        if (shown.shape == SHAPE_COLLECTIVE) shown.shape = SHAPE_PLAIN; /* it has no number */
        p2p__fail(comm, P2P_ERR_STATE, CLASS_CALL_ORDER, P2P_ARGUMENT_NONE, advice, "%s", cause);
        return raise_error(comm, &shown, NULL, P2P_ERR_STATE);
    }
    if (!p2p__prints_errors()) return P2P_ERR_STATE;
    snprintf(text, sizeof text, "%s: %s", call->name, cause);
    fprintf(stderr, "pairwise: %s\n", text);
    p2p__tell_early(&shown, text);
    return P2P_ERR_STATE;
}

/* Programs call a few functions in turn, so their names are kept as they are shown: to measure and copy one takes as many
 * instructions as all else that a call begins with. */
static void show_name(p2p_engine *engine, const char *name)
{
    p2p_known_name *known = &engine->names[(uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (KNOWN_NAMES - 1)];
    if (known->name != name) p2p__copy_text(known->shown, sizeof known->shown, name);
    known->name = name;
    memcpy(engine->row->call.name, known->shown, sizeof known->shown);
}

/* An address that no other thread has. */
static const void *own_thread(void)
{
    static _Thread_local char thread;
    return &thread;
}

/* The open call is another thread's. Two that come at the same instant may both be let in: one that is inside for longer is
 * seen by the next that comes. */
static bool is_others(const p2p_engine *engine)
{
    return atomic_load_explicit(&engine->owner, memory_order_relaxed) != own_thread();
}

bool p2p__is_inside(const p2p_engine *engine)
{
    bool before_or_behind = engine->fresh || engine->buffers[0].bytes || engine->buffers[1].bytes;
    return *engine->this_process && !is_others(engine) && (engine->depth > 0 || before_or_behind);
}

static p2p_err refuse_thread(p2p_comm *comm, const p2p_call *call, const char *file, int line)
{
    p2p_engine *engine = comm->engine;
    const p2p_place other = {.role = ROLE_OTHER, .rank = engine->rank, .call = p2p__call_copy(&engine->row->call)};
    p2p_words inside = {.used = 0};
    scoreboard_call shown = {.line = line};
    p2p__copy_text(shown.name, sizeof shown.name, call->name);
    p2p__copy_text(shown.file, sizeof shown.file, file);
    fill_numbers(&shown, comm, call, line);
    if (shown.shape == SHAPE_COLLECTIVE) shown.shape = SHAPE_PLAIN;
    p2p__add_call(&inside, "", &other.call);
    p2p__fail(comm, CAUSE_TWO_THREADS, inside.text);
    comm->blame.other = other;
    return raise_error(comm, &shown, engine, P2P_ERR_STATE);
}

p2p_err p2p__enter(p2p_comm *comm, const p2p_call *call)
{
    const char *file;
    int line;
    p2p__take_line(&file, &line);
    if (!comm) return refuse(NULL, call, file, line, NULL, "there is no communicator: call p2p_init first");
    p2p_engine *engine = comm->engine;
    if (!engine) return refuse(comm, call, file, line, NULL, "this communicator has been finalized or freed");
    if (!*engine->this_process)
        return refuse(comm, call, file, line, NULL,
                      "a process forked by a rank is not a rank and cannot use its communicators");
    if (__builtin_expect(engine->depth > 0 && is_others(engine), 0)) return refuse_thread(comm, call, file, line);
    if (engine->depth++ == 0) {
        atomic_store_explicit(
            &engine->owner, own_thread(),
            memory_order_relaxed); /* every message comes here: texts are copied to the row only when they change */
        scoreboard_call *row = &engine->row->call;
        comm->blame.cause[0] = 0;
        if (call->name != engine->call_name) show_name(engine, call->name);
        if (file != engine->call_file) p2p__copy_text(row->file, sizeof row->file, file);
        fill_numbers(row, comm, call, line);
        engine->call_name = call->name;
        engine->call_file = file;
        engine->call_line = line;
    }
    if (__builtin_expect(engine->observed, 0)) p2p__observe(engine, comm, call, file, line);
    if (!engine->poisoned) return P2P_OK;
    p2p__fail_again(comm, engine->poisoned);
    return p2p__leave(comm, engine->poisoned);
}

p2p_err p2p__leave(p2p_comm *comm, p2p_err err)
{
    p2p_engine *engine = comm->engine;
    if (__builtin_expect(engine->observed_end, 0)) p2p__observe_end(engine, err);
    if (--engine->depth > 0) return err;
    p2p__show_running(engine);
    engine->buffers[0].bytes = engine->buffers[1].bytes = 0;
    if (!err) return P2P_OK;
    if (engine->operation) p2p__note_error(engine);
    if (!comm->blame.cause[0] && engine->poison.cause[0])
        p2p__fail_again(comm, err);
    else if (!comm->blame.cause[0])
        p2p__fail(comm, err, CLASS_NONE, P2P_ARGUMENT_NONE, NULL, "%s", p2p_strerror(err));
    return raise_error(comm, &engine->row->call, engine, err);
}

void p2p__leave_inner(p2p_comm *comm, p2p_err err)
{
    p2p_engine *engine = comm->engine;
    scoreboard_call *row = &engine->row->call;
    if (comm->errors != P2P_ERRORS_FATAL) return;
    show_name(engine, engine->inner.call.name);
    p2p__copy_text(row->file, sizeof row->file, engine->inner.file);
    fill_numbers(row, comm, &engine->inner.call, engine->inner.line);
    if (!comm->blame.cause[0]) p2p__fail(comm, err, CLASS_NONE, P2P_ARGUMENT_NONE, NULL, "%s", p2p_strerror(err));
    raise_error(comm, row, engine, err);
}

p2p_err p2p__check_message(p2p_comm *comm, bool receives, const void *buf, size_t bytes, int peer, int tag)
{
    bool any_peer = receives && peer == P2P_ANY_SOURCE, any_tag = receives && tag == P2P_ANY_TAG;
    if (!any_peer && (peer < 0 || peer >= comm->size))
        return p2p__fail(comm, CAUSE_NO_RANK, receives ? "source" : "dest", peer, comm->size);
    if (!any_tag && tag < 0) return p2p__fail(comm, CAUSE_NEGATIVE_TAG, tag);
    if (!buf && bytes) return p2p__fail(comm, CAUSE_NO_BUFFER, bytes);
    if (!comm->engine->buffers[receives].bytes) { /* else it is a message of that buffer's */
        comm->engine->buffers[receives].at = buf;
        comm->engine->buffers[receives].bytes = bytes;
    }
    if (bytes > PTRDIFF_MAX) return p2p__fail(comm, CAUSE_IMPOSSIBLE_SIZE, bytes);
    return !receives && p2p__job_failed(comm->engine) ? p2p__job_error(comm) : P2P_OK;
}
