/* SPDX-License-Identifier: MIT */
// what: receives any tag and takes it for the place
// expect: where their tags, taken as numbers
// expect: A tag is the name of a letter, not its place
#include <stdlib.h>

#include "exercises/exercises.h"

p2p_err my_pick(p2p_comm *comm, int source, const int tags[], size_t count, int values[])
{
    for (size_t i = 0; i < count; i++) {
        p2p_status st;
        int v;
        p2p_err err = p2p_recv(comm, &v, sizeof v, source, P2P_ANY_TAG, &st);
        if (err) return err;
        values[st.tag % (int)count] = v;
    }
    (void)tags;
    return P2P_OK;
}

p2p_err my_recv_unknown(p2p_comm *comm, int source, int tag, void **data, p2p_status *status)
{
    p2p_status seen;
    p2p_err err = p2p_probe(comm, source, tag, &seen);
    if (err) return err;
    void *room = malloc(seen.bytes + 1);
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
