/* SPDX-License-Identifier: MIT */
/* gatherv_counts: a rank sends more than the root expects. */
// ranks: 2
// expect: than the
// report: count_mismatch
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int counts[] = {1, 1}, places[] = {0, 1};
    MPI_Gatherv(y, 1 + rank, MPI_INT, y + 4, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
