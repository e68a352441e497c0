/* SPDX-License-Identifier: MIT */
// what: the mean of the bytes is kept in a size_t
// expect: rounded down to a whole number
// expect: keep x, the sum and its mean, in a double
#include "exercises/exercises.h"

enum { PING = 1, PONG = 2 };

/* One round, seen from rank 0 and from rank 1. */
static p2p_err one_round(p2p_comm *comm, void *buf, size_t bytes)
{
    p2p_err err;
    if (p2p_rank(comm) == 0) {
        err = p2p_send(comm, buf, bytes, 1, PING);
        if (err) return err;
        return p2p_recv(comm, buf, bytes, 1, PONG, P2P_STATUS_IGNORE);
    }
    err = p2p_recv(comm, buf, bytes, 0, PING, P2P_STATUS_IGNORE);
    if (err) return err;
    return p2p_send(comm, buf, bytes, 0, PONG);
}

p2p_err my_ping_pong(p2p_comm *comm, void *buf, size_t bytes, int rounds, double *seconds)
{
    if (p2p_rank(comm) > 1) return P2P_OK;

    double begin = p2p_time(comm);
    for (int i = 0; i < rounds; i++) {
        p2p_err err = one_round(comm, buf, bytes);
        if (err) return err;
    }
    double took = p2p_time(comm) - begin;
    if (p2p_rank(comm) == 0) *seconds = took / (2.0 * rounds);
    return P2P_OK;
}

p2p_err my_fit(const size_t bytes[], const double seconds[], size_t count, double *latency, double *bandwidth)
{
    size_t x = 0;
    double y = 0, above = 0, below = 0;
    for (size_t i = 0; i < count; i++) {
        x += bytes[i];
        y += seconds[i];
    }
    x /= count;
    y /= (double)count;
    for (size_t i = 0; i < count; i++) {
        double dx = (double)bytes[i] - (double)x;
        above += dx * (seconds[i] - y);
        below += dx * dx;
    }
    double slope = above / below;
    *latency = y - slope * (double)x;
    *bandwidth = 1 / slope;
    return P2P_OK;
}
