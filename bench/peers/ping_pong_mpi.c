/* SPDX-License-Identifier: MIT */
/*
 * ping_pong_mpi: half a round trip of MPI_Send and MPI_Recv between 2 ranks, back to back, as bench/ping_pong.c does
 * it. bench/peers/peers.sh compiles it for each MPI library that is installed.
 *
 *      mpirun -n 2 ping_pong_mpi [MIN_BYTES MAX_BYTES FACTOR]
 *      mpirun -n 2 ping_pong_mpi --start       nothing, with status 0 if there are 2 ranks
 *      ping_pong_mpi --version                 the library's name and version, and all that it says of itself
 *
 * Prints CSV: library,ranks,bytes,us_min,us_median,us_p99,wrong. Status 1 if any byte is wrong.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/peers/library.h"
#include "bench/util/loop.h"
#include "bench/util/sizes.h"
#include "bench/util/stats.h"

enum { MOST_ITERS = 4000, WARMUP_PARTS = 10, GROWTH = 4, WARMUPS = 10, TAG = 1 };

static const double seconds_a_size = 0.15;

static void fill(unsigned char *buf, size_t bytes, size_t key)
{
    for (size_t i = 0; i < bytes; i++) buf[i] = (unsigned char)(i * 7 + (i >> 8) * 3 + key * 13);
}

/* `back`: what rank 1 sends. */
static void bounce(int rank, void *sent, void *got, void *back, size_t bytes)
{
    if (rank == 0) MPI_Send(sent, (int)bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    MPI_Recv(got, (int)bytes, MPI_BYTE, 1 - rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(back, (int)bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
}

/* Rank 0 decides how many more there is time for: none at the end, never many more than there have been. */
static size_t next_chunk(size_t done, double spent_s)
{
    double fit = (seconds_a_size - spent_s) / (spent_s / (double)done);
    size_t limit = done * GROWTH < MOST_ITERS - done ? done * GROWTH : MOST_ITERS - done;
    unsigned long chunk = fit < 1 ? 0 : fit < (double)limit ? (unsigned long)fit : limit;

    MPI_Bcast(&chunk, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    return chunk;
}

/* The first of every chunk follows a broadcast: it does not count, but is checked. */
static size_t measure(int rank, unsigned char *sent, unsigned char *got, size_t bytes, samples *us)
{
    double begin = loop_now_us();
    size_t done = 0, wrong = 0;

    for (size_t chunk = 1; chunk > 0; chunk = next_chunk(done, (loop_now_us() - begin) * 1e-6)) {
        fill(sent, bytes, done);
        bounce(rank, sent, got, got, bytes);
        wrong += rank == 0 && memcmp(sent, got, bytes) != 0;
        for (size_t i = 0; i < chunk; i++, done++) {
            double start = loop_now_us(), half;
            bounce(rank, sent, got, sent, bytes);
            half = (loop_now_us() - start) / 2;
            samples_add(us, &half, 1);
        }
    }
    return wrong;
}

/* The first tenth is warm-up. */
static void print_row(samples *us, size_t bytes, size_t wrong)
{
    const library with = library_find();
    samples rest = {NULL, 0, 0};
    size_t skip = us->count / WARMUP_PARTS;

    samples_add(&rest, us->value + skip, us->count - skip);
    samples_sort(&rest);
    printf("%s,2,%zu,%.3f,%.3f,%.3f,%zu\n", with.name, bytes, samples_percentile(&rest, 0),
           samples_percentile(&rest, 50), samples_percentile(&rest, 99), wrong);
    fflush(stdout);
    samples_free(&rest);
}

/* A process that has just started may not have a core of its own yet: the first size is played for a while before. */
static void warm_up(int rank, unsigned char *sent, unsigned char *got, size_t bytes)
{
    for (int i = 0; i < WARMUPS; i++) {
        samples unused = {NULL, 0, 0};
        measure(rank, sent, got, bytes, &unused);
        samples_free(&unused);
    }
}

static size_t measure_all(int rank, size_t min, size_t max, size_t factor)
{
    unsigned char *sent = calloc(2, max);
    size_t all_wrong = 0;

    if (!sent) {
        fprintf(stderr, "ping_pong_mpi: no memory for two buffers of %zu bytes\n", max);
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
    warm_up(rank, sent, sent + max, min);
    for (size_t bytes = min; bytes <= max; bytes *= factor) {
        samples us = {NULL, 0, 0};
        size_t wrong = measure(rank, sent, sent + max, bytes, &us);
        if (rank == 0) print_row(&us, bytes, wrong);
        all_wrong += wrong;
        samples_free(&us);
    }
    free(sent);
    return all_wrong;
}

int main(int argc, char **argv)
{
    size_t min = 8, max = 16 << 20, factor = 8;
    int rank, ranks;

    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        library_print();
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc == 2 && strcmp(argv[1], "--start") == 0) {
        MPI_Finalize();
        return ranks != 2;
    }
    bool fine = argc == 1 || (argc == 4 && size_parse(argv[1], &min) && size_parse(argv[2], &max) &&
                              size_parse(argv[3], &factor) && min > 0 && factor > 1);
    if (!fine || ranks != 2) {
        if (rank == 0) fprintf(stderr, "usage: mpirun -n 2 ping_pong_mpi [MIN_BYTES MAX_BYTES FACTOR]\n");
        MPI_Finalize();
        return 2;
    }
    if (rank == 0) printf("library,ranks,bytes,us_min,us_median,us_p99,wrong\n");
    size_t wrong = measure_all(rank, min, max, factor);
    MPI_Finalize();
    return wrong ? 1 : 0;
}
