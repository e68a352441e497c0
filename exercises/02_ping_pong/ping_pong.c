/* SPDX-License-Identifier: MIT */
/*
 * 02_ping_pong: how long a message takes, and the two numbers that say it for every length.
 *
 *      make test EX=02
 */
#include "exercises/exercises.h"

enum { PING = 1, PONG = 2 };

/* One round, seen from rank 0 and from rank 1. */
static p2p_err one_round(p2p_comm *comm, void *buf, size_t bytes)
{
    // TODO: rank 0 sends buf to rank 1 with tag PING and receives it back with tag PONG; rank 1 does its part.
    (void)comm, (void)buf, (void)bytes;
    return P2P_ERR_TODO;
    // END TODO
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
    // TODO: on rank 0, and only there, set *seconds to what one message took.
    (void)took, (void)seconds;
    return P2P_ERR_TODO;
    // END TODO
}

p2p_err my_fit(const size_t bytes[], const double seconds[], size_t count, double *latency, double *bandwidth)
{
    // TODO: the least-squares line through the points (bytes[i], seconds[i]). With their means x and y,
    //     slope = sum((bytes[i] - x) * (seconds[i] - y)) / sum((bytes[i] - x)^2)     seconds a byte
    // and at bytes = 0 the line is at y - slope * x. Which of the two is the latency, and what is the bandwidth?
    (void)bytes, (void)seconds, (void)count, (void)latency, (void)bandwidth;
    return P2P_ERR_TODO;
    // END TODO
}
