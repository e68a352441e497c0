/* SPDX-License-Identifier: MIT */
/*
 * 04_tags_and_probe: which message, and how long is it?
 *
 *      make test EX=04
 */
#include <stdlib.h>

#include "exercises/exercises.h"

p2p_err my_pick(p2p_comm *comm, int source, const int tags[], size_t count, int values[])
{
    // TODO: receive `count` messages of one int each from source, the one with tag tags[0] first. values[i] is the one
    // with tag tags[i], in whatever order they were sent.
    // stub: (void)comm, (void)source, (void)tags, (void)count, (void)values;
    // stub: return P2P_ERR_TODO;
    for (size_t i = 0; i < count; i++) {
        p2p_err err = p2p_recv(comm, &values[i], sizeof values[i], source, tags[i], P2P_STATUS_IGNORE);
        if (err) return err;
    }
    return P2P_OK;
    // END TODO
}

p2p_err my_recv_unknown(p2p_comm *comm, int source, int tag, void **data, p2p_status *status)
{
    // TODO: wait until a message is there and see how long it is; take memory for it from malloc; receive that message.
    // stub: (void)comm, (void)source, (void)tag, (void)data, (void)status;
    // stub: return P2P_ERR_TODO;
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
    // END TODO
}
