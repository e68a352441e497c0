/* SPDX-License-Identifier: MIT */
/* type_null: no type. */
// ranks: 2
// expect: MPI_DATATYPE_NULL
// report: invalid_argument/type
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
