/* SPDX-License-Identifier: MIT */
/* Split: all ranks send colour and key to rank 0, which sorts, gives each group a context of its own, and sends each
 * rank the context and the members. Messages of this protocol are not counted in p2p_stats. A dup is a split into one
 * group, of which all have agreed that it is one. */
#include <stdlib.h>
#include <string.h>

#include "p2p/group/internal.h"

typedef struct {
    int colour, key, rank;
} proposal;

static p2p_err quiet(p2p_comm *comm, enum request_kind kind, void *buf, size_t bytes, int peer, int tag)
{
    struct p2p_operation request;
    p2p__request_init(&request, kind, comm, comm->context + 1, buf, bytes);
    request.counted = false;
    p2p_err err = kind == REQUEST_SEND ? p2p__start_send(&request, peer, tag, false)
                                       : p2p__start_recv(&request, peer, tag);
    return err ? err : p2p__finish_stacked(comm, (p2p_request[]){&request}, 1, NULL);
}

static int by_colour_key_rank(const void *a, const void *b)
{
    const proposal *x = a, *y = b;
    if (x->colour != y->colour) return x->colour < y->colour ? -1 : 1;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->rank < y->rank ? -1 : 1;
}

#define NO_CONTEXT UINT32_MAX

/* What a rank is told: [0] context, 0 for none; [1] size; [2, 3] base; then the members as ranks of the parent. */
typedef uint32_t *answer;
enum { MEMBERS = WIRE_SPLIT_WORDS };

/* A context that no other communicator has or had, with the lowest free index (so that little memory is touched);
 * NO_CONTEXT if there is none. The lines of its collectives may have served a communicator that is gone: numbers go on
 * from where its were. Each host gives out indices of its own. */
static uint32_t new_context(scoreboard *b, int size, uint64_t *base)
{
    uint32_t hosts = (uint32_t)b->hosts.count, index, unused = 0;
    for (index = (uint32_t)b->hosts.own + 1; index < SCOREBOARD_CONTEXTS; index += hosts, unused = 0)
        if (atomic_compare_exchange_strong(&b->shared->context_users[index], &unused, (uint32_t)size)) break;
    if (index >= SCOREBOARD_CONTEXTS) return NO_CONTEXT;
    *base = atomic_load(&b->shared->context_base[index]) + atomic_exchange(&b->shared->context_used[index], 0);
    atomic_store(&b->shared->context_base[index], *base);
    return 2 * (atomic_fetch_add(&b->shared->context_turn[index], 1) * SCOREBOARD_CONTEXTS + index);
}

void p2p__split_head(scoreboard *b, int size, uint32_t head[])
{
    uint64_t base = 0;
    head[0] = new_context(b, size, &base);
    head[1] = (uint32_t)size;
    memcpy(&head[2], &base, sizeof base);
}

/* In rank 0: a context for each group, of which each member is told. */
static p2p_err arrange(p2p_comm *comm, proposal *proposals, answer text, answer mine)
{
    p2p_err err = P2P_OK;
    for (int i = 1; !err && i < comm->size; i++)
        err = quiet(comm, REQUEST_RECV, &proposals[i], sizeof *proposals, i, WIRE_SPLIT_TAG);
    if (!err) qsort(proposals, (size_t)comm->size, sizeof *proposals, by_colour_key_rank);
    for (int from = 0, to; !err && from < comm->size; from = to) {
        for (to = from; to < comm->size && proposals[to].colour == proposals[from].colour; to++)
            text[MEMBERS + to - from] = (uint32_t)proposals[to].rank;
        bool none = proposals[from].colour == P2P_UNDEFINED;
        text[0] = 0;
        if (!none) p2p__split_head(comm->engine->scoreboard, to - from, text);
        size_t bytes = (MEMBERS + (size_t)(to - from)) * sizeof *text;
        for (int i = from; !err && i < to; i++)
            if (proposals[i].rank == 0)
                memcpy(mine, text, bytes);
            else
                err = quiet(comm, REQUEST_SEND, text, bytes, proposals[i].rank, WIRE_SPLIT_TAG);
    }
    return err;
}

p2p_err p2p__comm_build(p2p_comm *comm, uint32_t mine[], p2p_comm **sub)
{
    p2p_comm *made = NULL;
    comm->all_refused = mine[0] == NO_CONTEXT;
    if (comm->all_refused) return p2p__fail(comm, CAUSE_TOO_MANY_COMMUNICATORS, SCOREBOARD_CONTEXTS - 1);
    if (mine[0]) {
        int size = (int)mine[1], rank = 0, *world_rank = (int *)(mine + MEMBERS);
        for (int i = 0; i < size; i++) {
            if (world_rank[i] == comm->rank) rank = i;
            world_rank[i] = comm->world_rank[world_rank[i]];
        }
        made = p2p__comm_new(comm->engine, mine[0], rank, size, world_rank);
        if (!made) return p2p__fail(comm, CAUSE_NO_COMMUNICATOR, size);
        const scoreboard *b = comm->engine->scoreboard;
        uint32_t index = made->context / 2 % SCOREBOARD_CONTEXTS;
        /* If another host gave it out, its users here are counted as well: they share scratch memory. */
        if (p2p__context_host(b, index) != b->hosts.own) atomic_fetch_add(&b->shared->context_users[index], 1);
        p2p__scratch_clear(comm->engine->scoreboard, comm->engine->memory_fd, &comm->engine->gaps, made->context,
                           false);
        memcpy(&made->base, &mine[2], sizeof made->base);
        made->posted = made->all_passed = made->base;
        made->errors = comm->errors;
        made->file = comm->engine->call_file;
        made->line = comm->engine->call_line;
        made->free_scratch = p2p__scratch_free; /* even if this rank never had any: it may be the last to free it */
    }
    *sub = made;
    return P2P_OK;
}

static p2p_err split(p2p_comm *comm, proposal own, p2p_comm **sub)
{
    size_t words = MEMBERS + (size_t)comm->size;
    proposal *proposals = calloc((size_t)comm->size, sizeof *proposals);
    answer text = calloc(words, sizeof *text), mine = calloc(words, sizeof *mine);
    p2p_err err = P2P_OK;
    if (!proposals || !text || !mine) {
        err = p2p__fail(comm, CAUSE_NO_SPLIT, comm->size);
        goto release;
    }
    proposals[0] = own;
    if (comm->rank == 0)
        err = arrange(comm, proposals, text, mine);
    else if ((err = quiet(comm, REQUEST_SEND, &own, sizeof own, 0, WIRE_SPLIT_TAG)) == P2P_OK)
        err = quiet(comm, REQUEST_RECV, mine, words * sizeof *mine, 0, WIRE_SPLIT_TAG);
    if (!err) err = p2p__comm_build(comm, mine, sub);
release:
    free(proposals);
    free(text);
    free(mine);
    return err;
}

p2p_err p2p_split(p2p_comm *comm, int colour, int key, p2p_comm **sub)
{
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_split", SHAPE_PLAIN, 0, 0, 0, 0, 0, 0, 0});
    if (err) return err;
    if (!sub) return p2p__leave(comm, p2p__fail(comm, CAUSE_NO_PLACE_FOR_COMMUNICATOR));
    if (colour < 0 && colour != P2P_UNDEFINED) return p2p__leave(comm, p2p__fail(comm, CAUSE_NEGATIVE_COLOUR, colour));
    return p2p__leave(comm, split(comm, (proposal){colour, key, comm->rank}, sub));
}

p2p_err p2p_dup(p2p_comm *comm, p2p_comm **copy)
{
    static const p2p_fingerprint what = {.operation = "p2p_dup", .count = SIZE_MAX, .root = -1};
    if (!copy)
        return p2p_layer_refuse(comm, &what, P2P_ERR_ARG, "there is nowhere to put the communicator: copy is NULL");
    p2p_err err = p2p_layer_begin(comm, &what);
    if (err || !comm) return err;
    return p2p__leave(comm, split(comm, (proposal){0, comm->rank, comm->rank}, copy));
}

p2p_err p2p_layer_subset(p2p_comm *comm, int count, const int ranks[], int tag, p2p_comm **sub)
{
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_layer_subset", SHAPE_PLAIN, 0, 0, 0, 0, 0, 0, 0});
    if (err) return err;
    size_t bytes = (MEMBERS + (size_t)count) * sizeof(uint32_t);
    answer text = calloc(1, bytes);
    if (!text) return p2p__leave(comm, p2p__fail(comm, CAUSE_NO_SPLIT, count));
    tag = WIRE_SPLIT_TAG - 1 - tag;
    if (ranks[0] == comm->rank) { /* the first of them asks for a context, and tells the others once all are there */
        p2p__split_head(comm->engine->scoreboard, count, text);
        for (int i = 0; i < count; i++) text[MEMBERS + i] = (uint32_t)ranks[i];
        for (int i = 1; !err && i < count; i++) err = quiet(comm, REQUEST_RECV, NULL, 0, ranks[i], tag);
        for (int i = 1; !err && i < count; i++) err = quiet(comm, REQUEST_SEND, text, bytes, ranks[i], tag);
    } else {
        err = quiet(comm, REQUEST_SEND, NULL, 0, ranks[0], tag);
        if (!err) err = quiet(comm, REQUEST_RECV, text, bytes, ranks[0], tag);
    }
    if (!err) err = p2p__comm_build(comm, text, sub);
    free(text);
    return p2p__leave(comm, err);
}
