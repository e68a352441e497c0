/* SPDX-License-Identifier: MIT */
/* barrier_left_out: a barrier that one rank leaves out. */
// ranks: 2
// expect: MPI_Barrier
// report: deadlock/
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
