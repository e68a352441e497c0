/* SPDX-License-Identifier: MIT */
/* A receive and a send at once: both are posted before either is waited for, so mirror images never deadlock. */
#include "p2p/message/internal.h"

static bool overlap(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    return a_bytes && b_bytes && (uintptr_t)a < (uintptr_t)b + b_bytes && (uintptr_t)b < (uintptr_t)a + a_bytes;
}

static p2p_err check(p2p_comm *comm, const void *sendbuf, size_t sendbytes, int dest, int sendtag, void *recvbuf,
                     size_t recvbytes, int source, int recvtag)
{
    p2p_err err = p2p__check_peer(comm, dest, "dest");
    if (!err) err = p2p__check_tag(comm, sendtag);
    if (!err) err = p2p__check_buffer(comm, sendbuf, sendbytes);
    if (!err && source != P2P_ANY_SOURCE) err = p2p__check_peer(comm, source, "source");
    if (!err && recvtag != P2P_ANY_TAG) err = p2p__check_tag(comm, recvtag);
    if (!err) err = p2p__check_buffer(comm, recvbuf, recvbytes);
    if (!err && overlap(sendbuf, sendbytes, recvbuf, recvbytes)) err = p2p__fail(comm, CAUSE_OVERLAP);
    if (!err && p2p__job_failed(comm->engine)) err = p2p__job_error(comm);
    return err;
}

/* Both requests live on this frame: after an error nothing may point to them. */
static p2p_err run_both(p2p_comm *comm, p2p_request send, p2p_request receive, int dest, int sendtag, int source,
                        int recvtag, p2p_status *status)
{
    p2p_err err = p2p__start_recv(receive, source, recvtag);
    if (err) return err;
    err = p2p__start_send(send, dest, sendtag, false);
    if (err) return p2p__take_back(receive) ? err : p2p__poison(comm, err);
    return p2p__finish_both(comm, send, receive, status);
}

static p2p_err exchange(p2p_comm *comm, const void *sendbuf, size_t sendbytes, int dest, int sendtag, void *recvbuf,
                        size_t recvbytes, int source, int recvtag, p2p_status *status, uint32_t context)
{
    p2p_err err = check(comm, sendbuf, sendbytes, dest, sendtag, recvbuf, recvbytes, source, recvtag);
    if (err) return err;
    struct p2p_operation send, receive;
    p2p__request_init(&send, REQUEST_SEND, comm, (void *)(uintptr_t)sendbuf, sendbytes);
    p2p__request_init(&receive, REQUEST_RECV, comm, recvbuf, recvbytes);
    send.context = receive.context = context;
    return run_both(comm, &send, &receive, dest, sendtag, source, recvtag, status);
}

p2p_err p2p_sendrecv(p2p_comm *comm, const void *sendbuf, size_t sendbytes, int dest, int sendtag, void *recvbuf,
                     size_t recvbytes, int source, int recvtag, p2p_status *status)
{
    p2p_err err = p2p__enter(comm,
                             &(p2p_call){"p2p_sendrecv", SHAPE_SENDRECV, dest, sendtag, sendbytes, source, recvtag});
    if (err) return err;
    return p2p__leave(comm, exchange(comm, sendbuf, sendbytes, dest, sendtag, recvbuf, recvbytes, source, recvtag,
                                     status, comm->context));
}

p2p_err p2p_layer_sendrecv(p2p_comm *comm, const void *sendbuf, size_t sendbytes, int dest, int sendtag, void *recvbuf,
                           size_t recvbytes, int source, int recvtag, p2p_status *status)
{
    p2p_err err =
        p2p__enter(comm, &(p2p_call){"p2p_layer_sendrecv", SHAPE_SENDRECV, dest, sendtag, sendbytes, source, recvtag});
    if (err) return err;
    return p2p__leave(comm, exchange(comm, sendbuf, sendbytes, dest, sendtag, recvbuf, recvbytes, source, recvtag,
                                     status, comm->context + 1));
}
