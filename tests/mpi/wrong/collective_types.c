/* SPDX-License-Identifier: MIT */
/* collective_types: int on one rank, float on the other. */
// ranks: 2
// expect: dtype MPI_FLOAT
// report: type_mismatch [0,1]
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bcast(&x, 1, rank ? MPI_FLOAT : MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
