/* SPDX-License-Identifier: MIT */
/* tag_negative: a negative tag. */
// ranks: 2
// expect: tag -7 is negative
// report: invalid_argument/tag
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Send(&x, 1, MPI_INT, 0, -7, MPI_COMM_WORLD);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
