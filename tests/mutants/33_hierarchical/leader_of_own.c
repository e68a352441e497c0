/* SPDX-License-Identifier: MIT */
// what: looks for the first rank of its own host, not of the host of q
// expect: No rank has sent anything to another host
// expect: the same list on every rank
/* Exercise 33: what leaves a host is sent once for all its ranks. The page is README.md in this folder. */
#include <stdlib.h>

#include "exercises/exercises.h"

enum { UP = 33, DOWN = 34, SCATTER = 35, GATHER = 36 }; /* tags */

/* Some of the ranks of a communicator, in rising order: ranks[0] to ranks[count - 1]. `place` is where this rank is
 * among them; -1 if it is not. */
typedef struct {
    int count, place;
    int *ranks;
} group;

/* mine becomes the ranks of this rank's host, leaders the first rank of each host. */
static void find_groups(p2p_comm *comm, const int hosts[], group *mine, group *leaders)
{
    int size = p2p_size(comm), rank = p2p_rank(comm);
    *mine = (group){0, -1, mine->ranks};
    *leaders = (group){0, -1, leaders->ranks};
    for (int q = 0; q < size; q++) {
        int first = 0;
        while (hosts[first] != hosts[rank]) first++;
        if (hosts[q] == hosts[rank]) {
            if (q == rank) mine->place = mine->count;
            mine->ranks[mine->count++] = q;
        }
        if (first == q) {
            if (q == rank) leaders->place = leaders->count;
            leaders->ranks[leaders->count++] = q;
        }
    }
}

/* The sum of all buf of the group comes to its first rank; room has as much room as buf. */
static p2p_err add_up(p2p_comm *comm, const group *g, double *buf, size_t count, double *room)
{
    if (g->place) return p2p_send(comm, buf, count * sizeof *buf, g->ranks[0], UP);
    for (int k = 1; k < g->count; k++) {
        p2p_err err = p2p_recv(comm, room, count * sizeof *buf, g->ranks[k], UP, P2P_STATUS_IGNORE);
        if (err) return err;
        for (size_t i = 0; i < count; i++) buf[i] += room[i];
    }
    return P2P_OK;
}

/* One step of the ring: chunk `out` of buf goes to the next rank of the group, and the one before sends chunk `in`, of
 * which this rank has now `length` numbers in room, to be added to or put at buf[first]. */
static p2p_err step(p2p_comm *comm, const group *g, int tag, double *buf, size_t count, int out, int in, double *room,
                    size_t *first, size_t *length)
{
    size_t out_first, out_length;
    my_chunk(count, g->count, (out % g->count + g->count) % g->count, &out_first, &out_length);
    my_chunk(count, g->count, (in % g->count + g->count) % g->count, first, length);
    int right = g->ranks[(g->place + 1) % g->count], left = g->ranks[(g->place + g->count - 1) % g->count];
    return p2p_sendrecv(comm, buf + out_first, out_length * sizeof *buf, right, tag, room, *length * sizeof *buf, left,
                        tag, P2P_STATUS_IGNORE);
}

/* Given: exercises 14 and 15 with places in the group for ranks. buf becomes the sum over the group, on all of it. */
static p2p_err add_round_ring(p2p_comm *comm, const group *g, double *buf, size_t count, double *room)
{
    p2p_err err = P2P_OK;
    size_t first, length;
    for (int s = 0; s < g->count - 1 && !err; s++) {
        err = step(comm, g, SCATTER, buf, count, g->place - s - 1, g->place - s - 2, room, &first, &length);
        for (size_t i = 0; i < length && !err; i++) buf[first + i] += room[i];
    }
    for (int s = 0; s < g->count - 1 && !err; s++) {
        err = step(comm, g, GATHER, buf, count, g->place - s, g->place - s - 1, room, &first, &length);
        for (size_t i = 0; i < length && !err; i++) buf[first + i] = room[i];
    }
    return err;
}

/* What the first rank of the group has in buf comes to all of it. */
static p2p_err hand_out(p2p_comm *comm, const group *g, double *buf, size_t count)
{
    if (g->place) return p2p_recv(comm, buf, count * sizeof *buf, g->ranks[0], DOWN, P2P_STATUS_IGNORE);
    p2p_err err = P2P_OK;
    for (int k = 1; k < g->count && !err; k++) err = p2p_send(comm, buf, count * sizeof *buf, g->ranks[k], DOWN);
    return err;
}

p2p_err my_hierarchical_mean(p2p_comm *comm, const int hosts[], double *buf, size_t count)
{
    int size = p2p_size(comm), *ranks = calloc(2 * (size_t)size, sizeof *ranks);
    double *room = calloc(count + 1, sizeof *room);
    p2p_err err = ranks && room ? P2P_OK : P2P_ERR_NOMEM;

    if (!err) {
        group mine = {.ranks = ranks}, leaders = {.ranks = ranks + size};
        find_groups(comm, hosts, &mine, &leaders);
        err = add_up(comm, &mine, buf, count, room);
        if (!err && leaders.place >= 0) err = add_round_ring(comm, &leaders, buf, count, room);
        for (size_t i = 0; i < count; i++) buf[i] /= size;
        if (!err) err = hand_out(comm, &mine, buf, count);
    }
    free(room);
    free(ranks);
    return err;
}
