/* SPDX-License-Identifier: MIT */
/*
 * measure: a program round my_ping_pong and my_fit. Nothing to write here. What it prints is of this machine, or, with
 * --network, of a network that does not exist and is the same on every machine.
 * The page says how to build it.
 *
 *      build/launch -n 2 build/my_ping_pong
 *      build/launch -n 2 --network 10GbE build/my_ping_pong
 */
#include <stdio.h>

#include "exercises/exercises.h"

enum { SIZES = 6, LARGEST = 1 << 20, REPEATS = 5 };

static const size_t bytes[SIZES] = {0, 1 << 10, 1 << 12, 1 << 15, 1 << 18, LARGEST};
static const int rounds[SIZES] = {2000, 2000, 2000, 1000, 200, 100};
static char message[LARGEST];

/* The best of a few: whatever else the machine does can only make a message slower. The first try warms up. */
static p2p_err best_time(p2p_comm *world, int i, double *best)
{
    double seconds = 0;

    for (int repeat = 0; repeat < REPEATS; repeat++) {
        p2p_err err = my_ping_pong(world, message, bytes[i], rounds[i], &seconds);
        if (err) return err;
        if (repeat == 0 || seconds < *best) *best = seconds;
    }
    return P2P_OK;
}

static p2p_err measure(p2p_comm *world)
{
    double seconds[SIZES] = {0}, latency, bandwidth;

    for (int i = 0; i < SIZES; i++) {
        p2p_err err = best_time(world, i, &seconds[i]);
        if (err) return err;
    }
    if (p2p_rank(world) != 0) return P2P_OK;
    p2p_err err = my_fit(bytes, seconds, SIZES, &latency, &bandwidth);
    if (err) return err;
    printf("#   bytes   measured      the line\n#              (us)          (us)\n");
    for (int i = 0; i < SIZES; i++)
        printf("%9zu  %9.3f     %9.3f\n", bytes[i], 1e6 * seconds[i], 1e6 * (latency + (double)bytes[i] / bandwidth));
    printf("latency %.3f us, bandwidth %.3f GB/s\n", 1e6 * latency, 1e-9 * bandwidth);
    return P2P_OK;
}

int main(void)
{
    p2p_comm *world;

    p2p_init(&world);
    p2p_err err = p2p_size(world) == 2 ? measure(world) : P2P_ERR_ARG;
    if (err && p2p_rank(world) == 0)
        fprintf(stderr, "measure: %s\n", err == P2P_ERR_ARG ? "start it with two ranks: -n 2" : p2p_strerror(err));
    p2p_finalize(world);
    return err ? 1 : 0;
}
