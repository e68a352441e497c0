/* SPDX-License-Identifier: MIT */
// what: calls what there is not
// expect: There is no function tell_everyone
#include "exercises/exercises.h"

p2p_err tell_everyone(p2p_comm *comm, void *buf);

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)count, (void)dtype, (void)root;
    return tell_everyone(comm, buf);
}
