/* SPDX-License-Identifier: MIT */
/* type_leak: a type that is never freed. */
// ranks: 2
// status: 0
// expect: note: ranks 0-1: MPI_Finalize()
// expect: type never freed
// report: resource_leak/type
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype t;
    MPI_Type_contiguous(2, MPI_INT, &t);
    MPI_Type_commit(&t);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
