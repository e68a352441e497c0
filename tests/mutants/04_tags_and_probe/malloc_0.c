/* SPDX-License-Identifier: MIT */
// what: takes the NULL of malloc(0), which may return it, for a lack of memory
// expect: malloc(0) may return NULL, as it does here
#include <stdlib.h>

#include "exercises/exercises.h"

p2p_err my_pick(p2p_comm *comm, int source, const int tags[], size_t count, int values[])
{
    for (size_t i = 0; i < count; i++) {
        p2p_err err = p2p_recv(comm, &values[i], sizeof(int), source, tags[i], P2P_STATUS_IGNORE);
        if (err) return err;
    }
    return P2P_OK;
}

p2p_err my_recv_unknown(p2p_comm *comm, int source, int tag, void **data, p2p_status *status)
{
    p2p_status seen;
    p2p_err err = p2p_probe(comm, source, tag, &seen);
    if (err) return err;
    void *room = malloc(seen.bytes);
    if (!room) return P2P_ERR_NOMEM;
    err = p2p_recv(comm, room, seen.bytes, seen.source, seen.tag, &seen);
    if (err) {
        free(room);
        return err;
    }
    *data = room;
    *status = seen;
    return P2P_OK;
}
