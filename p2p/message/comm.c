/* SPDX-License-Identifier: MIT */
/* Communicators: a view of the engine with ranks, a context and counters of its own. */
#include <stdlib.h>
#include <string.h>

#include "p2p/message/trace_rank.h"

p2p_comm *p2p__comm_new(p2p_engine *engine, uint32_t context, int rank, int size, const int *world_rank)
{
    p2p_comm *comm = calloc(1, sizeof *comm);
    if (!comm) return NULL;
    comm->world_rank = malloc((size_t)size * sizeof *comm->world_rank);
    comm->comm_rank = malloc((size_t)engine->size * sizeof *comm->comm_rank);
    comm->traffic = calloc((size_t)size, sizeof *comm->traffic);
    if (!comm->world_rank || !comm->comm_rank || !comm->traffic) {
        p2p__comm_bury(comm);
        free(comm);
        return NULL;
    }
    for (int i = 0; i < engine->size; i++) comm->comm_rank[i] = -1;
    for (int i = 0; i < size; i++) {
        comm->world_rank[i] = world_rank ? world_rank[i] : i;
        comm->comm_rank[comm->world_rank[i]] = i;
    }
    comm->engine = engine;
    comm->row = engine->control >= 0 ? engine->row : NULL;
    comm->context = context;
    comm->rank = rank;
    comm->size = size;
    comm->agreed = true; /* no collective is open */
    comm->next = engine->comms;
    engine->comms = comm;
    return comm;
}

void p2p__comm_bury(p2p_comm *comm)
{
    if (comm->free_scratch) comm->free_scratch(comm, false);
    comm->free_scratch = NULL;
    if (comm->engine) TRACE(comm->engine, p2p__trace_stats(comm));
    free(comm->world_rank);
    free(comm->comm_rank);
    free(comm->traffic);
    comm->world_rank = comm->comm_rank = NULL;
    comm->traffic = NULL;
    comm->engine = NULL;
}

int p2p_rank(const p2p_comm *comm)
{
    return comm && comm->engine ? comm->rank : -1;
}

int p2p_size(const p2p_comm *comm)
{
    return comm && comm->engine ? comm->size : 0;
}

double p2p_time(const p2p_comm *comm)
{
    if (comm && comm->engine && comm->engine->config.network.on) return (double)comm->engine->clock->now * 1e-12;
    return (double)p2p__now() * 1e-9;
}

bool p2p_is_terminal(const p2p_comm *comm)
{
    return comm && comm->engine && comm->engine->scoreboard->terminal;
}

p2p_err p2p_set_errors(p2p_comm *comm, p2p_errors mode)
{
    if (!comm || (mode != P2P_ERRORS_FATAL && mode != P2P_ERRORS_RETURN)) return P2P_ERR_ARG;
    comm->errors = mode;
    return P2P_OK;
}

p2p_err p2p_stats(const p2p_comm *comm, p2p_traffic by_peer[])
{
    if (!comm || !comm->engine) return P2P_ERR_STATE;
    if (!by_peer) return P2P_ERR_ARG;
    memcpy(by_peer, comm->traffic, (size_t)comm->size * sizeof *by_peer);
    return P2P_OK;
}

p2p_err p2p_free(p2p_comm *comm)
{
    if (comm && !comm->engine && comm->context) { /* finalize buried it; only the handle is left */
        p2p__here(NULL, 0);
        free(comm);
        return P2P_OK;
    }
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_free", SHAPE_PLAIN, 0, 0, 0, 0, 0});
    if (err || !comm) return err;
    if (!comm->context) return p2p__leave(comm, p2p__fail(comm, CAUSE_WORLD_NOT_FREED));
    for (p2p_request at = comm->engine->requests; at; at = at->all_next)
        if (at->comm == comm) return p2p__leave(comm, p2p__fail(comm, CAUSE_REQUESTS_PENDING));

    /* The last rank gives back what the communicator has, and only then can its index be given out again. */
    scoreboard_shared *shared = comm->engine->scoreboard->shared;
    _Atomic uint32_t *users = &shared->context_users[comm->context / 2 % SCOREBOARD_CONTEXTS];
    uint32_t left = atomic_load(users);
    while (left > 1 && !atomic_compare_exchange_weak(users, &left, left - 1)) continue;
    if (left <= 1 && comm->free_scratch) comm->free_scratch(comm, true);
    if (left <= 1) atomic_store(users, 0);

    err = p2p__leave(comm, P2P_OK);
    p2p_comm **at = &comm->engine->comms;
    while (*at != comm) at = &(*at)->next;
    *at = comm->next;
    p2p__comm_bury(comm);
    free(comm);
    return err;
}
