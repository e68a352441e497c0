/* SPDX-License-Identifier: MIT */
/*
 * mpi: what MPI's names and checks cost over p2p's own calls. Both run in the same two processes, round by round in turn:
 *
 *      build/launch --world shm -n 2 build/bench/mpi [ROUNDS]
 *
 * Medians of the rounds, microseconds for one step: ping-pong (one way), an exchange (irecv, isend, wait for both),
 * all-reduce in place; and `mixed`: ten exchanges of 4 KiB, then an all-reduce of 256 KiB.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/internal.h"

enum { MOST = 256 << 10, ROUNDS_MOST = 1000 };

static p2p_comm *world;
static int rank;
static float *out, *in;

static void pp_p2p(size_t bytes)
{
    if (rank == 0) p2p_send(world, out, bytes, 1, 0);
    p2p_recv(world, in, bytes, 1 - rank, 0, P2P_STATUS_IGNORE);
    if (rank == 1) p2p_send(world, out, bytes, 0, 0);
}

static void pp_mpi(size_t bytes)
{
    if (rank == 0) MPI_Send(out, (int)bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(in, (int)bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(out, (int)bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
}

static void exchange_p2p(size_t bytes)
{
    p2p_request r[2];
    p2p_irecv(world, in, bytes, 1 - rank, 0, &r[0]);
    p2p_isend(world, out, bytes, 1 - rank, 0, &r[1]);
    p2p_wait_all(2, r, NULL);
}

static void exchange_mpi(size_t bytes)
{
    MPI_Request r[2];
    MPI_Irecv(in, (int)bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, (int)bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void reduce_p2p(size_t bytes)
{
    coll_all_reduce(world, out, bytes / sizeof *out, DTYPE_F32, OP_SUM);
}

static void reduce_mpi(size_t bytes)
{
    MPI_Allreduce(MPI_IN_PLACE, out, (int)(bytes / sizeof *out), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void mixed_p2p(size_t bytes)
{
    for (int i = 0; i < 10; i++) exchange_p2p(4 << 10);
    reduce_p2p(bytes);
}

static void mixed_mpi(size_t bytes)
{
    for (int i = 0; i < 10; i++) exchange_mpi(4 << 10);
    reduce_mpi(bytes);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double round_of(void (*step)(size_t bytes), size_t bytes, int steps)
{
    coll_barrier(world);
    double begin = p2p_time(world);
    for (int i = 0; i < steps; i++) step(bytes);
    return (p2p_time(world) - begin) / steps * 1e6;
}

static const struct {
    const char *name;
    void (*plain)(size_t bytes), (*mpi)(size_t bytes);
    size_t least, most;
    int parts; /* of a step */
} tests[] = {{"ping-pong", pp_p2p, pp_mpi, 8, 256 << 10, 2},
             {"exchange", exchange_p2p, exchange_mpi, 8, 256 << 10, 1},
             {"all-reduce", reduce_p2p, reduce_mpi, 8, 256 << 10, 1},
             {"mixed", mixed_p2p, mixed_mpi, 256 << 10, 256 << 10, 1}};

int main(int argc, char **argv)
{
    static double plain[ROUNDS_MOST], mpi[ROUNDS_MOST];
    int rounds = argc > 1 ? atoi(argv[1]) : 101, size;
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        printf("Usage: launch --world shm -n 2 build/bench/mpi [ROUNDS]\n"
               "What MPI's names and checks cost over p2p's own calls: medians of so many rounds (101), of both in "
               "turn.\n");
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    out = calloc(1, MOST);
    in = calloc(1, MOST);
    if (size != 2 || rounds < 1 || rounds > ROUNDS_MOST || !out || !in) {
        fprintf(stderr, "bench/mpi: two ranks, and 1 to %d rounds\n", ROUNDS_MOST);
        return 2;
    }
    world = mpi__world->p2p;
    if (rank == 0) printf("# test            bytes      p2p us      MPI us   ratio\n");
    for (size_t t = 0; t < sizeof tests / sizeof *tests; t++)
        for (size_t bytes = tests[t].least; bytes <= tests[t].most; bytes *= 8) {
            int steps = bytes <= 4096 ? 200 : 20;
            for (int i = 0; i < rounds; i++) {
                plain[i] = round_of(tests[t].plain, bytes, steps) / tests[t].parts;
                mpi[i] = round_of(tests[t].mpi, bytes, steps) / tests[t].parts;
            }
            qsort(plain, (size_t)rounds, sizeof *plain, by_value);
            qsort(mpi, (size_t)rounds, sizeof *mpi, by_value);
            double one = plain[rounds / 2], other = mpi[rounds / 2];
            if (rank == 0) printf("%-12s %10zu %11.3f %11.3f %7.2f\n", tests[t].name, bytes, one, other, other / one);
        }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
