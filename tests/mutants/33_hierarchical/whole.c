/* SPDX-License-Identifier: MIT */
// what: leaders send each other everything
// expect: as if the whole had gone to each other host
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
        while (hosts[first] != hosts[q]) first++;
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
        for (int k = 1; k < leaders.count && leaders.place == 0 && !err; k++) {
            err = p2p_recv(comm, room, count * sizeof *buf, leaders.ranks[k], SCATTER, P2P_STATUS_IGNORE);
            for (size_t i = 0; i < count && !err; i++) buf[i] += room[i];
        }
        for (int k = 1; k < leaders.count && leaders.place == 0 && !err; k++)
            err = p2p_send(comm, buf, count * sizeof *buf, leaders.ranks[k], GATHER);
        if (!err && leaders.place > 0) err = p2p_send(comm, buf, count * sizeof *buf, leaders.ranks[0], SCATTER);
        if (!err && leaders.place > 0)
            err = p2p_recv(comm, buf, count * sizeof *buf, leaders.ranks[0], GATHER, P2P_STATUS_IGNORE);
        for (size_t i = 0; i < count; i++) buf[i] /= size;
        if (!err) err = hand_out(comm, &mine, buf, count);
    }
    free(room);
    free(ranks);
    return err;
}
