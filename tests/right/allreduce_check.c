/* SPDX-License-Identifier: MIT */
/* allreduce_check: all-reduces by every algorithm, buffers on both sides of 64 KiB; the checksum is made of the bits of
 * all results. The values are such that every rounding shows. */
#include <string.h>

#include "collectives/collectives.h"
#include "ring/ring.h"
#include "tests/right/right.h"

enum { MOST = 50000 };

typedef p2p_err (*all_reduce)(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

static float values[MOST];

static p2p_err begun_ring(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    p2p_request request;
    p2p_err err = ring_iall_reduce(comm, buf, count, dtype, op, &request);

    return err ? err : p2p_wait(&request, P2P_STATUS_IGNORE);
}

/* For any number of ranks, the same for every seed. */
static void fill(const right_program *p, size_t count)
{
    for (size_t i = 0; i < count; i++) values[i] = 1.0f / (float)(i + 1) + (float)(p->rank + 1) / 3.0f;
}

static void add_bits(right_program *p, size_t count, uint64_t call)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        right_add(p, (call << 50) + ((uint64_t)i << 32) + bits);
    }
}

int main(int argc, char **argv)
{
    static const all_reduce algorithms[] = {
        coll_naive_all_reduce, coll_tree_all_reduce, coll_recursive_doubling_all_reduce,
        ring_all_reduce,       begun_ring,           coll_all_reduce};
    static const size_t counts[] = {1, 1000, MOST};
    right_program p;

    right_start(&p, argc, argv);
    for (uint64_t call = 0; call < 18; call++) {
        size_t count = counts[call % 3];
        fill(&p, count);
        right_compute(&p);
        algorithms[call / 3](p.world, values, count, DTYPE_F32, call % 2 ? OP_SUM : OP_MEAN);
        add_bits(&p, count, call);
    }
    return right_finish(&p);
}
