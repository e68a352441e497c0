/* SPDX-License-Identifier: MIT */
/*
 * Stages: memory of a communicator's own that all its ranks share, for collectives; a piece for each rank, made when it is
 * first asked for.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "p2p/internal.h"
#include "p2p/memory.h"
#include "p2p/trace_rank.h"

#define STAGES_IN_TURN 3
#define STAGE_MOST ((size_t)512 << 10)
#define STAGES_MOST ((size_t)96 << 20) /* of a communicator, all ranks and turns: with less, 64 ranks meet too often */

bool p2p_layer_shares_memory(const p2p_comm *comm)
{
    return comm && comm->engine && comm->engine->memory_fd >= 0 && !comm->engine->config.network.on;
}

/* ---- Stages ---- */

static size_t stage_bytes(const p2p_comm *comm)
{
    size_t share = STAGES_MOST / STAGES_IN_TURN / (size_t)comm->size / MEMORY_UNIT * MEMORY_UNIT;
    return share > STAGE_MOST ? STAGE_MOST : share < MEMORY_UNIT ? MEMORY_UNIT : share;
}

static size_t stages_bytes(const p2p_comm *comm)
{
    return stage_bytes(comm) * STAGES_IN_TURN * (size_t)comm->size;
}

static _Atomic uint64_t *place_of(const p2p_comm *comm)
{
    return &comm->engine->board->stage_place[comm->context / 2 % BOARD_CONTEXTS];
}

/* Whoever comes first takes the memory for all. 0 and errno if there is none. */
static memory_place find_stages(p2p_comm *comm)
{
    p2p_engine *engine = comm->engine;
    uint64_t place = atomic_load(place_of(comm));
    if (place) return place;
    memory_place taken = p2p__memory_take(engine->board, engine->memory_fd, stages_bytes(comm), MEMORY_UNIT);
    if (!taken || atomic_compare_exchange_strong(place_of(comm), &place, taken)) return taken;
    p2p__memory_give_back(engine->memory_fd, taken, stages_bytes(comm));
    return place;
}

static p2p_err map_stages(p2p_comm *comm)
{
    memory_place place = find_stages(comm);
    if (place) comm->stages = p2p__memory_map(comm->engine->memory_fd, place, stages_bytes(comm));
    if (comm->stages) return P2P_OK;
    return p2p__fail(comm, P2P_ERR_NOMEM,
                     "no shared memory for a collective of %d ranks (%zu bytes): %s\n"
                     "  try: a higher limit (ulimit -f), or PAIRWISE_WORLD=socket",
                     comm->size, stages_bytes(comm), strerror(errno));
}

p2p_err p2p_layer_stages(p2p_comm *comm, p2p_stages *stages)
{
    p2p_err err = comm->stages ? P2P_OK : map_stages(comm);
    if (err) return err;
    size_t bytes = stage_bytes(comm), turn = comm->stages_used++ % STAGES_IN_TURN;
    *stages = (p2p_stages){comm->stages + turn * bytes, STAGES_IN_TURN * bytes, bytes};
    return P2P_OK;
}

void p2p__stages_unmap(p2p_comm *comm)
{
    if (comm->stages) munmap(comm->stages, stages_bytes(comm));
    comm->stages = NULL;
}

/* Nobody has the communicator any more. */
void p2p__stages_give_back(p2p_comm *comm)
{
    memory_place place = atomic_exchange(place_of(comm), 0);
    if (place) p2p__memory_give_back(comm->engine->memory_fd, place, stages_bytes(comm));
}

/* ---- Counting ---- */

void p2p_layer_count(p2p_comm *comm, int peer, size_t sent, size_t received)
{
    p2p_traffic *traffic = &comm->traffic[peer];
    traffic->messages_sent++;
    traffic->bytes_sent += sent;
    traffic->messages_received++;
    traffic->bytes_received += received;
    TRACE(comm->engine, p2p__trace_moved(comm, peer, sent, received));
}
