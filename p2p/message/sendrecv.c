/* SPDX-License-Identifier: MIT */
/* A receive and a send at once: both are posted before either is waited for, so mirror images never deadlock. */
#include "p2p/message/internal.h"

/* Both operations live on this frame: after an error no list may point to them. */
static p2p_err exchange(p2p_comm *comm, const p2p_call *call, const void *sendbuf, void *recvbuf, size_t recvbytes,
                        p2p_status *status, bool layer)
{
    p2p_err err = p2p__enter(comm, call);
    if (err) return err;
    err = p2p__check_message(comm, false, sendbuf, call->bytes, call->peer, call->tag);
    if (!err) err = p2p__check_message(comm, true, recvbuf, recvbytes, call->from, call->from_tag);
    uintptr_t from = (uintptr_t)sendbuf, to = (uintptr_t)recvbuf;
    bool overlap = call->bytes && recvbytes && from < to + recvbytes && to < from + call->bytes;
    if (!err && overlap) err = p2p__fail(comm, CAUSE_OVERLAP);
    if (err) return p2p__leave(comm, err);
    struct p2p_operation send, receive;
    uint32_t context = comm->context + layer;
    p2p__request_init(&send, REQUEST_SEND, comm, context, (void *)(uintptr_t)sendbuf, call->bytes);
    p2p__request_init(&receive, REQUEST_RECV, comm, context, recvbuf, recvbytes);
    err = p2p__start_recv(&receive, call->from, call->from_tag);
    if (err) return p2p__leave(comm, err);
    err = p2p__start_send(&send, call->peer, call->tag, false);
    if (!err)
        err = p2p__finish_both(comm, &send, &receive, status);
    else if (!p2p__take_back(&receive))
        p2p__poison(comm, err);
    return p2p__leave(comm, err);
}

p2p_err p2p_sendrecv(p2p_comm *comm, const void *sendbuf, size_t sendbytes, int dest, int sendtag, void *recvbuf,
                     size_t recvbytes, int source, int recvtag, p2p_status *status)
{
    const p2p_call call = {"p2p_sendrecv", SHAPE_SENDRECV, dest, sendtag, sendbytes, source, recvtag};
    return exchange(comm, &call, sendbuf, recvbuf, recvbytes, status, false);
}

p2p_err p2p_layer_sendrecv(p2p_comm *comm, const void *sendbuf, size_t sendbytes, int dest, int sendtag, void *recvbuf,
                           size_t recvbytes, int source, int recvtag, p2p_status *status)
{
    const p2p_call call = {"p2p_layer_sendrecv", SHAPE_SENDRECV, dest, sendtag, sendbytes, source, recvtag};
    return exchange(comm, &call, sendbuf, recvbuf, recvbytes, status, true);
}
