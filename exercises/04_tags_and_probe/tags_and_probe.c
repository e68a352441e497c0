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
    (void)comm, (void)source, (void)tags, (void)count, (void)values;
    return P2P_ERR_TODO;
    // END TODO
}

p2p_err my_recv_unknown(p2p_comm *comm, int source, int tag, void **data, p2p_status *status)
{
    // TODO: wait until a message is there and see how long it is; take memory for it from malloc; receive that message.
    (void)comm, (void)source, (void)tag, (void)data, (void)status;
    return P2P_ERR_TODO;
    // END TODO
}
