/* SPDX-License-Identifier: MIT */
/* type_freed: a type that was freed. */
// ranks: 2
// expect: the type has been freed
// report: invalid_argument/type
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype t, copy;
    MPI_Type_contiguous(2, MPI_INT, &t);
    MPI_Type_commit(&t);
    copy = t;
    MPI_Type_free(&t);
    MPI_Send(y, 1, copy, 0, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
