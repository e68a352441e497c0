/* SPDX-License-Identifier: MIT */
// what: picks by tag, but from any source.
// expect: has sent some with the same tags
#include <stdlib.h>

#include "exercises/exercises.h"

p2p_err my_pick(p2p_comm *comm, int source, const int tags[], size_t count, int values[])
{
    for (size_t i = 0; i < count; i++) {
        p2p_err err = p2p_recv(comm, &values[i], sizeof values[i], P2P_ANY_SOURCE, tags[i], P2P_STATUS_IGNORE);
        if (err) return err;
    }
    (void)source;
    return P2P_OK;
}

p2p_err my_recv_unknown(p2p_comm *comm, int source, int tag, void **data, p2p_status *status)
{
    p2p_status seen;
    p2p_err err = p2p_probe(comm, source, tag, &seen);

    if (err) return err;
    void *memory = malloc(seen.bytes ? seen.bytes : 1); /* malloc(0) may be NULL, which is not "no memory left" */
    if (!memory) return P2P_ERR_NOMEM;
    err = p2p_recv(comm, memory, seen.bytes, seen.source, seen.tag, status);
    if (err)
        free(memory);
    else
        *data = memory;
    return err;
}
