/* SPDX-License-Identifier: MIT */
// what: gathers first, then adds up
// expect: The halves are in the wrong order
// expect: First my_ring_reduce_scatter, then
/* SPDX-License-Identifier: MIT */
/*
 * 16_ring_all_reduce: the whole ring.
 *
 *      make test EX=16
 */
#include "exercises/exercises.h"

p2p_err my_ring_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    // and solutions/15_ring_all_gather), or all of it here, by yourself.
    p2p_err err = my_ring_all_gather(comm, buf, count, dtype);
    return err ? err : my_ring_reduce_scatter(comm, buf, count, dtype, op);
}
