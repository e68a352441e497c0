/* SPDX-License-Identifier: MIT */
/*
 * One of the seven functions, by its number: rank 0 prints what it has.
 *
 *      build/launch --explore -n 3 build/mistakes 1
 */
#include <stdio.h>
#include <stdlib.h>

#include "exercises/exercises.h"

enum { MOST = 16 };

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
    p2p_err err = run(world, number, results);
    if (p2p_rank(world) == 0) {
        for (int i = 0; i < p2p_size(world); i++) printf("%s%g", i ? " " : "", results[i]);
        printf("\n");
    }
    return err || p2p_finalize(world) ? 1 : 0;
}
