/* SPDX-License-Identifier: MIT */
// what: receives with the wildcards again, not what the probe saw.
// expect: does not fit into a buffer
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
    p2p_status s;
    p2p_err err = p2p_probe(comm, source, tag, &s);
    if (err) return err;
    void *m = malloc(s.bytes + 1);
    if (!m) return P2P_ERR_NOMEM;
    err = p2p_recv(comm, m, s.bytes, source, tag, &s);
    if (err) {
        free(m);
        return err;
    }
    *data = m;
    *status = s;
    return P2P_OK;
}
