/* SPDX-License-Identifier: MIT */
/*
 * One of the seven functions, by its number: rank 0 prints what it has. Ranks are not equally far when they call it, as in a
 * larger program; the order in which they come is nearly always the same.
 *
 *      build/launch --explore -n 3 build/mistakes 1
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "exercises/exercises.h"

enum { MOST = 16, HELLO = 1 /* a tag */ };

/* What comes before in a larger program: rank 0 has heard from each rank, and each has something else to do, in units of 20 ms. */
static p2p_err do_other_things(p2p_comm *comm, int number)
{
    static const int units[8][3] = {
        [1] = {0, 1, 2}, [3] = {0, 1, 2}, [4] = {0, 2, 1}, [5] = {4, 0, 0}, [6] = {0, 1, 2}};
    int rank = p2p_rank(comm);
    struct timespec left = {.tv_nsec = 20000000L * (rank < 3 ? units[number][rank] : 3)};
    p2p_err err = rank ? p2p_send(comm, NULL, 0, 0, HELLO) : P2P_OK;
    for (int q = 1; q < p2p_size(comm) && !rank && !err; q++)
        err = p2p_recv(comm, NULL, 0, q, HELLO, P2P_STATUS_IGNORE);
    nanosleep(&left, NULL);
    return err;
}

static p2p_err run(p2p_comm *comm, int number, double results[])
{
    double mine[MY_LETTER];
    int rank = p2p_rank(comm), letter = 1 + rank % MY_LETTER;
    for (int i = 0; i < MY_LETTER; i++) mine[i] = 10 * rank + i + 1;
    switch (number) {
    case 1: return my_collect(comm, mine[0], results);
    case 2: return my_two_rounds(comm, mine, results);
    case 3: return my_add_letters(comm, mine, (size_t)letter, results);
    case 4: return my_first_and_others(comm, mine[0], &results[0], &results[1]);
    case 5: return my_look_and_add(comm, mine[0], results);
    case 6: return my_exact_sum(comm, rank == 1 ? 0x1p53 : rank == 2 ? -0x1p53 : 1, results);
    default: return my_sum_and_goodbye(comm, mine[0], results);
    }
}

int main(int argc, char *argv[])
{
    p2p_comm *world;
    double results[MOST] = {0};
    int number = argc == 2 ? atoi(argv[1]) : 0;

    if (p2p_init(&world)) return 1;
    if (number < 1 || number > 7 || p2p_size(world) < 2 || p2p_size(world) > MOST) {
        fprintf(stderr, "usage: launch -n RANKS mistakes NUMBER (2 to %d ranks, 1 to 7)\n", MOST);
        return 2;
    }
    p2p_err err = do_other_things(world, number);
    if (!err) err = run(world, number, results);
    if (p2p_rank(world) == 0) {
        for (int i = 0; i < p2p_size(world); i++) printf("%s%g", i ? " " : "", results[i]);
        printf("\n");
    }
    return err || p2p_finalize(world) ? 1 : 0;
}
