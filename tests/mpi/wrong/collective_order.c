/* SPDX-License-Identifier: MIT */
/* collective_order: a broadcast on one rank, a reduction on the other. */
// ranks: 2
// expect: MPI_Bcast
// report: collective_mismatch [0,1]
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else
        MPI_Reduce(&x, y, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
