/* SPDX-License-Identifier: MIT */
/* after_finalize: a call after MPI_Finalize. */
// ranks: 2
// expect: finalized
// report: call_order
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Finalize();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
