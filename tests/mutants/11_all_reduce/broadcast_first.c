/* SPDX-License-Identifier: MIT */
// what: broadcasts, and then reduces.
// expect: before anything was combined
#include "exercises/exercises.h"
#include <stdlib.h>
p2p_err my_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    p2p_err err = my_broadcast(comm, buf, count, dtype, 0);
    return err ? err : my_reduce(comm, buf, count, dtype, op, 0);
}
