/* SPDX-License-Identifier: MIT */
// what: sets y where it is to be added to.
// expect: y is made of the last of the seconds alone
#include "exercises/exercises.h"

enum { PING = 1, PONG = 2 };

/* One round, seen from rank 0 and from rank 1. */
static p2p_err one_round(p2p_comm *comm, void *buf, size_t bytes)
{
    p2p_err err;

    if (p2p_rank(comm) == 0) {
        err = p2p_send(comm, buf, bytes, 1, PING);
        return err ? err : p2p_recv(comm, buf, bytes, 1, PONG, P2P_STATUS_IGNORE);
    }
    err = p2p_recv(comm, buf, bytes, 0, PING, P2P_STATUS_IGNORE);
    return err ? err : p2p_send(comm, buf, bytes, 0, PONG);
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
    //     slope = sum((bytes[i] - x) * (seconds[i] - y)) / sum((bytes[i] - x)^2)     seconds a byte
    // and at bytes = 0 the line is at y - slope * x. Which of the two is the latency, and what is the bandwidth?
    double x = 0, y = 0, products = 0, squares = 0;

    for (size_t i = 0; i < count; i++) {
        x += (double)bytes[i] / (double)count;
        y = seconds[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        double dx = (double)bytes[i] - x;
        products += dx * (seconds[i] - y);
        squares += dx * dx;
    }
    double slope = products / squares;
    *latency = y - slope * x;
    *bandwidth = 1 / slope;
    return P2P_OK;
}
