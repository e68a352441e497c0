/* SPDX-License-Identifier: MIT */
/* op_null: no operator. */
// ranks: 2
// expect: MPI_OP_NULL
// report: invalid_argument/operator
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
