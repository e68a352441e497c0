/* SPDX-License-Identifier: MIT */
/* roots: each rank broadcasts from itself. */
// ranks: 2
// expect: root 1
// report: root_mismatch [0,1]
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bcast(&x, 1, MPI_INT, rank, MPI_COMM_WORLD);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
