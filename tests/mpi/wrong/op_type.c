/* SPDX-License-Identifier: MIT */
/* op_type: bits of floating-point numbers. */
// ranks: 2
// expect: does not define
// report: invalid_argument/operator
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    float f = 1, g;
    MPI_Allreduce(&f, &g, 1, MPI_FLOAT, MPI_BAND, MPI_COMM_WORLD);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
