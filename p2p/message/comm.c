/* SPDX-License-Identifier: MIT */
/* Communicators: a view of the engine with ranks, a context and counters of its own. */
#include <stdlib.h>
#include <string.h>

#include "p2p/message/trace_rank.h"
#include "p2p/shared/control.h"

/* Hosts, those of a virtual network if it has some, are numbered in order of their first rank. False if there is no memory
 * for it. */
static bool find_hosts(p2p_comm *comm, const scoreboard_hosts *hosts, const p2p_network *network)
{
    int number[P2P_MAX_RANKS] = {0}; /* of each host, and 1 */
    const uint16_t *first = network->placed > 1 ? network->first : hosts->first;
    comm->hosts = 1;
    if (hosts->count == 1 && network->placed <= 1) return true;
    comm->host = calloc((size_t)comm->size, sizeof *comm->host);
    if (!comm->host) return false;
    comm->hosts = 0;
    for (int i = 0; i < comm->size; i++) {
        int at = 0;
        while (comm->world_rank[i] >= first[at + 1]) at++;
        if (!number[at]) number[at] = ++comm->hosts;
        comm->host[i] = (uint16_t)(number[at] - 1);
    }
    return true;
}

p2p_comm *p2p__comm_new(p2p_engine *engine, uint32_t context, int rank, int size, const int *world_rank)
{
    p2p_comm *comm = size > 0 ? calloc(1, sizeof *comm) : NULL;
    if (!comm) return NULL;
    comm->world_rank = malloc((size_t)size * sizeof *comm->world_rank);
    comm->comm_rank = malloc((size_t)engine->size * sizeof *comm->comm_rank);
    comm->traffic = calloc((size_t)size, sizeof *comm->traffic);
    comm->size = size;
    for (int i = 0; comm->world_rank && i < size; i++) comm->world_rank[i] = world_rank ? world_rank[i] : i;
    if (!comm->world_rank || !comm->comm_rank || !comm->traffic ||
        !find_hosts(comm, &engine->scoreboard->hosts, &engine->config.network)) {
        p2p__comm_bury(comm);
        free(comm);
        return NULL;
    }
    for (int i = 0; i < engine->size; i++) comm->comm_rank[i] = -1;
    for (int i = 0; i < size; i++) comm->comm_rank[comm->world_rank[i]] = i;
    comm->engine = engine;
    comm->row = engine->control >= 0 ? engine->row : NULL;
    comm->context = context;
    comm->rank = rank;
    comm->one_host = comm->hosts == 1 || engine->config.network.placed > 1;
    comm->agreed = true; /* no collective is open */
    comm->next = engine->comms;
    engine->comms = comm;
    return comm;
}

p2p_comm *p2p__world_new(p2p_engine *engine)
{
    int members[P2P_MAX_RANKS], count = 0, rank = 0;
    for (int i = 0; i < engine->size; i++) {
        if (p2p__set_has(&engine->scoreboard->generation.gone, i)) continue;
        if (i == engine->rank) rank = count;
        members[count++] = i;
    }
    return p2p__comm_new(engine, 0, rank, count, members);
}

void p2p__comm_bury(p2p_comm *comm)
{
    if (comm->free_scratch) comm->free_scratch(comm, false);
    comm->free_scratch = NULL;
    if (comm->engine) TRACE(comm->engine, p2p__trace_stats(comm));
    free(comm->world_rank);
    free(comm->comm_rank);
    free(comm->traffic);
    free(comm->host);
    free(comm->unshown);
    free(comm->costs.ports);
    comm->unshown = NULL;
    comm->costs.ports = NULL;
    comm->world_rank = comm->comm_rank = NULL;
    comm->traffic = NULL;
    comm->host = NULL;
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

int p2p_host(const p2p_comm *comm, int rank)
{
    if (!comm || !comm->engine || rank < 0 || rank >= comm->size) return -1;
    return comm->host ? comm->host[rank] : 0;
}

int p2p_hosts(const p2p_comm *comm)
{
    return comm && comm->engine ? comm->hosts : 0;
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

bool p2p__await_passed(p2p_engine *engine, uint32_t most)
{
    const scoreboard_came *came = &engine->row->came;
    uint32_t count = atomic_load_explicit(&came->count, memory_order_relaxed);
    while (count - atomic_load_explicit(&came->passed, memory_order_acquire) > most) {
        if (p2p__job_failed(engine)) return false;
        p2p__control_tell(engine->control, CONTROL_CAME, engine->rank, 0);
        p2p__pause(PASSING_PAUSE_NS);
    }
    return true;
}

p2p_err p2p_free(p2p_comm *comm)
{
    if (comm && !comm->engine && comm->context) { /* finalize buried it; only the handle is left */
        p2p__here(NULL, 0);
        free(comm);
        return P2P_OK;
    }
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_free", SHAPE_PLAIN, 0, 0, 0, 0, 0, 0, 0});
    if (err || !comm) return err;
    if (!comm->context) return p2p__leave(comm, p2p__fail(comm, CAUSE_WORLD_NOT_FREED));
    for (p2p_request at = comm->engine->requests; at; at = at->all_next)
        if (at->comm == comm) return p2p__leave(comm, p2p__fail(comm, CAUSE_REQUESTS_PENDING));

    if (comm->scratch && !comm->one_host) p2p__await_passed(comm->engine, 0); /* what goes with lines lies there */
    /* The last rank gives back what the communicator has, and only then can its index be given out again. */
    scoreboard *b = comm->engine->scoreboard;
    uint32_t index = comm->context / 2 % SCOREBOARD_CONTEXTS;
    uint64_t begun = comm->posted - comm->base;
    bool last = p2p__context_left(b, index, begun);
    if (last && comm->free_scratch) comm->free_scratch(comm, true);
    if (last) atomic_store(&b->shared->context_users[index], 0);
    if (p2p__context_host(b, index) != b->hosts.own)
        p2p__control_tell(comm->engine->control, CONTROL_FREED, (int)index, 0);

    err = p2p__leave(comm, P2P_OK);
    p2p_comm **at = &comm->engine->comms;
    while (*at != comm) at = &(*at)->next;
    *at = comm->next;
    p2p__comm_bury(comm);
    free(comm);
    return err;
}
