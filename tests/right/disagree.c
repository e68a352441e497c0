/* SPDX-License-Identifier: MIT */
/*
 * disagree [KIND]: the last rank calls another collective than the others, in one of the nine ways; for tests/hosts.sh. Each
 * rank that is told says of what, and whether its buffer was written meanwhile. Without a kind all call the same.
 */
#include <stdio.h>
#include <string.h>

#include "collectives/collectives.h"
#include "p2p/p2p.h"
#include "ring/ring.h"

enum { COUNT = 40000, CANARY = 0xC3 };

static float a[2 * COUNT];
static int last; /* rank */

#define CALLS(name, call)                \
    static p2p_err name(p2p_comm *world) \
    {                                    \
        return call;                     \
    }

CALLS(all_reduce, coll_all_reduce(world, a, COUNT, DTYPE_F32, OP_SUM))
CALLS(longer, coll_all_reduce(world, a, COUNT + 3, DTYPE_F32, OP_SUM))
CALLS(largest, coll_all_reduce(world, a, COUNT, DTYPE_F32, OP_MAX))
CALLS(integers, coll_all_reduce(world, a, COUNT, DTYPE_I32, OP_SUM))
CALLS(by_ring, ring_all_reduce(world, a, COUNT, DTYPE_F32, OP_SUM))
CALLS(by_tree, coll_tree_all_reduce(world, a, COUNT, DTYPE_F32, OP_SUM))
CALLS(broadcast, coll_broadcast(world, a, COUNT, DTYPE_F32, 0))
CALLS(short_broadcast, coll_broadcast(world, a, COUNT / 2, DTYPE_F32, 0))
CALLS(from_last, coll_broadcast(world, a, COUNT, DTYPE_F32, last))
CALLS(barrier, coll_barrier(world))
CALLS(nothing, p2p_size(world) ? P2P_OK : P2P_ERR_ARG)

static const struct {
    const char *name;
    p2p_err (*others[2])(p2p_comm *world), (*last[2])(p2p_comm *world);
} kinds[] = {
    {"count", {all_reduce, barrier}, {longer, barrier}},
    {"broadcast", {broadcast, barrier}, {short_broadcast, barrier}},
    {"op", {all_reduce, barrier}, {largest, barrier}},
    {"root", {broadcast, barrier}, {from_last, barrier}},
    {"dtype", {all_reduce, barrier}, {integers, barrier}},
    {"kind", {all_reduce, barrier}, {broadcast, barrier}},
    {"order", {all_reduce, barrier}, {barrier, all_reduce}},
    {"algorithm", {by_tree, barrier}, {by_ring, barrier}},
    {"missing", {barrier, all_reduce}, {barrier, nothing}},
    {"", {all_reduce, barrier}, {all_reduce, barrier}},
};

static bool is_untouched(void)
{
    const unsigned char *byte = (const unsigned char *)a;
    for (size_t i = 0; i < sizeof a; i++)
        if (byte[i] != CANARY) return false;
    return true;
}

int main(int argc, char **argv)
{
    p2p_comm *world;
    size_t i = 0;
    p2p_err err = P2P_OK;
    p2p_init(&world);
    p2p_set_errors(world, P2P_ERRORS_RETURN);
    last = p2p_size(world) - 1;
    memset(a, CANARY, sizeof a);
    while (*kinds[i].name && strcmp(kinds[i].name, argc > 1 ? argv[1] : "") != 0) i++;
    for (int call = 0; call < 2 && !err; call++)
        err = (p2p_rank(world) == last ? kinds[i].last : kinds[i].others)[call](world);
    if (err)
        printf("rank %d: %s: %s\n", p2p_rank(world), is_untouched() ? "untouched" : "written",
               p2p_error_message(world));
    return p2p_finalize(world) ? 1 : 0;
}
