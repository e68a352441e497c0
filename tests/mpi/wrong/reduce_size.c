/* SPDX-License-Identifier: MIT */
/* reduce_size: a vector on one rank is longer than on the other. */
// ranks: 2
// expect: count 4
// report: count_mismatch [0,1]
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int z[4];
    MPI_Allreduce(y, z, rank ? 4 : 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
