/* SPDX-License-Identifier: MIT */
/*
 * Repair, in a rank. A generation of the job is a scoreboard, with the memory file that it lies in: a rank that goes on to
 * the next one makes a new engine on the new scoreboard, and takes with it only what is its own: the socket to the
 * supervisor, buffers, kept memory, what a layer has made. The handle of the world stays what it was.
 *
 *      rank                                supervisor (generation.c)
 *        CONTROL_REPAIR       ──────>        waits for all that are left
 *        says nothing more; what comes
 *        now is of the old generation
 *                             <──────      CONTROL_GENERATION, the new scoreboard
 *        new engine                          starts processes for the dead
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "p2p/message/internal.h"
#include "p2p/shared/control.h"

int p2p_generation(const p2p_comm *comm)
{
    return comm && comm->engine ? comm->engine->scoreboard->generation.number : 0;
}

/* ---- Waiting for the next generation ---- */

static bool is_in_repair(const scoreboard_row *row)
{
    const scoreboard_call call = p2p__call_copy(&row->call);
    return strcmp(call.name, "p2p_repair") == 0 || strcmp(call.name, "p2p_shrink") == 0;
}

/* For PAIRWISE_TIMEOUT: the ranks that have not come. */
static p2p_err took_too_long(p2p_comm *world)
{
    p2p_engine *engine = world->engine;
    scoreboard_wait wait = {.any_count = 0};
    for (int i = 0; i < engine->size; i++) {
        const scoreboard_row *row = &engine->scoreboard->rows[i];
        char letter = p2p__process_of(engine->scoreboard, i);
        if (letter && letter != 'Z' && !is_in_repair(row)) p2p__set_add(&wait.need, i);
    }
    return p2p__timeout_error(world, &wait);
}

static void show_waiting(p2p_engine *engine)
{
    p2p__row_open(engine->row);
    p2p__set_clear(&engine->row->wait.need, engine->size);
    engine->row->wait.any_count = 0;
    atomic_store(&engine->row->state, SCOREBOARD_BLOCKED);
    p2p__row_shut(engine->row);
}

/* The descriptor of the next scoreboard. All that comes before it is of this generation. */
static p2p_err await_generation(p2p_comm *world, int *scoreboard_fd)
{
    p2p_engine *engine = world->engine;
    struct pollfd polled = {.fd = engine->control, .events = POLLIN};
    uint64_t limit = engine->config.timeout_ns, until = limit ? p2p__now() + limit : UINT64_MAX, now;
    control_message message;
    int fd, got;
    bool lost;
    for (;;) {
        while ((got = p2p__control_receive(engine->control, &message, &fd, &lost)) == 1) {
            if (message.type == CONTROL_GENERATION && fd < 0)
                return p2p__fail(world, CAUSE_NO_NEXT_GENERATION, strerror(EMFILE));
            *scoreboard_fd = fd;
            if (message.type == CONTROL_GENERATION) return P2P_OK;
            if (fd >= 0) close(fd);
        }
        if (got < 0) _exit(1); /* the supervisor is gone, and the job with it */
        if (!p2p__must_repair(engine)) return p2p__job_error(world);
        now = p2p__now();
        if (now >= until) return took_too_long(world);
        struct timespec left = {(time_t)((until - now) / UINT64_C(1000000000)),
                                (long)((until - now) % UINT64_C(1000000000))};
        ppoll(&polled, 1, limit ? &left : NULL, NULL);
    }
}

/* ---- From one engine to the next ---- */

/* Waiting for them is an error; those that nothing waits for are freed with the engine. They end before the states of
 * collectives are released, which then find nothing on its way. */
static void lose_requests(p2p_engine *from, p2p_engine *to, p2p_comm *world)
{
    for (p2p_request at = from->requests; at; at = at->all_next) {
        at->comm = world;
        at->done = at->lost = true;
        at->posted = at->guarded = false;
        at->sum = 0;
        at->fresh_link = NULL;
    }
    p2p__release_layers(from);
    for (p2p_request *list = &from->requests; list == &from->requests || list == &from->lost;
         list = list == &from->requests ? &from->lost : NULL)
        while (*list) {
            p2p_request request = *list;
            *list = request->all_next;
            request->kind = REQUEST_RECV; /* no state any more */
            request->all_next = to->lost;
            request->all_link = &to->lost;
            if (to->lost) to->lost->all_link = &request->all_next;
            to->lost = request;
        }
}

static void move_all(p2p_engine *from, p2p_engine *to, p2p_comm *world)
{
    lose_requests(from, to, world);
    p2p__blocks_move(from, to);
    to->kept = from->kept;
    from->kept = NULL;
    to->things = from->things;
    if (to->things) to->things->link = &to->things;
    to->explained = from->explained;
    from->explained = NULL;
    to->explain_end = from->explain_end;
    to->own_clock = from->own_clock;
}

/* The communicators of an engine are gone; the handle of the world is that of the next one. */
static void replace_comms(p2p_engine *from, p2p_engine *to, p2p_comm *world, const p2p_comm *fresh)
{
    for (p2p_comm *comm = from->comms, *next; comm; comm = next) {
        next = comm->next;
        p2p__comm_bury(comm);
        comm->row = to ? to->row : NULL;
    }
    if (!to) return;
    p2p_errors errors = world->errors;
    bool launched = world->launched;
    *world = *fresh;
    world->errors = errors;
    world->launched = launched;
    to->comms = world;
}

static p2p_err enter_generation(p2p_comm *world, int fd)
{
    p2p_engine *old = world->engine, *engine = NULL;
    scoreboard *old_scoreboard = old->scoreboard;
    char why[400];
    scoreboard *b = p2p__scoreboard_attach(fd, why, sizeof why);
    bool keeps_fd = old->memory_fd >= 0;
    int control = b ? fcntl(old->control, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
    if (b && control < 0) snprintf(why, sizeof why, "%s", strerror(errno));
    if (!keeps_fd || control < 0) close(fd);
    if (control >= 0 && p2p__engine_create(old->rank, control, keeps_fd ? fd : -1, b, &engine) != P2P_OK)
        snprintf(why, sizeof why, "no memory for a world of %d ranks", b->size);
    p2p_comm *fresh = engine ? p2p__world_new(engine) : NULL;
    if (!fresh) {
        if (engine) p2p__engine_destroy(engine);
        if (b) p2p__scoreboard_close(b, true);
        return p2p__fail(world, CAUSE_NO_NEXT_GENERATION, why);
    }
    engine->owns_scoreboard = true;
    move_all(old, engine, world);
    replace_comms(old, engine, world, fresh);
    free(fresh);
    p2p__engine_destroy(old);
    p2p__scoreboard_close(old_scoreboard, true);
    return P2P_OK;
}

/* ---- The calls ---- */

/* An error of a generation that has failed does not keep a rank from this call. */
static p2p_err enter(p2p_comm *world, const char *name)
{
    p2p_engine *engine = world ? world->engine : NULL;
    p2p_err poisoned = engine ? engine->poisoned : P2P_OK;
    if (engine) engine->poisoned = P2P_OK;
    p2p_err err = p2p__enter(world, &(p2p_call){name, SHAPE_PLAIN, 0, 0, 0, 0, 0, 0, 0});
    if (err || !engine) return err ? err : P2P_ERR_STATE;
    engine->poisoned = poisoned;
    if (world->context) return p2p__leave(world, p2p__fail(world, CAUSE_NOT_THE_WORLD));
    if (engine->depth > 1) return p2p__leave(world, p2p__fail(world, CAUSE_REPAIR_INSIDE));
    if (!engine->scoreboard->generation.repairs) return p2p__leave(world, p2p__fail(world, CAUSE_NO_REPAIR));
    int failed = atomic_load(&engine->scoreboard->shared->failed) != 0;
    if (!failed) return p2p__leave(world, p2p__fail(world, CAUSE_NOTHING_TO_REPAIR));
    p2p__give_up(engine, P2P_ERR_PEER_DEAD); /* what it was sending is its own again, if it has not been told before */
    return P2P_OK;
}

static p2p_err go_on(p2p_comm **handle, const char *name, enum control_repair how)
{
    p2p_comm *world = handle ? *handle : NULL;
    p2p_err err = enter(world, name);
    if (err) return err;
    int fd = -1;
    show_waiting(world->engine);
    p2p_engine *old = world->engine;
    int generation = old->scoreboard->generation.number;
    p2p__control_tell(old->control, CONTROL_REPAIR, generation, (int)how);
    err = await_generation(world, &fd);
    if (err == P2P_ERR_TIMEOUT) p2p__control_tell(old->control, CONTROL_REPAIR, generation, REPAIR_LATE);
    if (!err) err = enter_generation(world, fd);
    if (!err) return P2P_OK;
    old->poisoned = err;
    return p2p__leave(world, err);
}

p2p_err p2p_repair(p2p_comm **world)
{
    return go_on(world, "p2p_repair", REPAIR_WHOLE);
}

p2p_err p2p_shrink(p2p_comm **world)
{
    return go_on(world, "p2p_shrink", REPAIR_FEWER);
}
