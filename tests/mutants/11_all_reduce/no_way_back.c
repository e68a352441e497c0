/* SPDX-License-Identifier: MIT */
// what: reduces and forgets to broadcast.
// expect: has only its own part
#include "exercises/exercises.h"

p2p_err my_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    return my_reduce(comm, buf, count, dtype, op, 0);
}
