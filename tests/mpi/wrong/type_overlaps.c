/* SPDX-License-Identifier: MIT */
/* type_overlaps: a receive into a type whose parts overlap. */
// ranks: 2
// expect: parts of the type overlap
// report: invalid_argument
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x[8] = {0}, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype type;
    MPI_Type_vector(3, 2, 1, MPI_INT, &type);
    MPI_Type_commit(&type);
    if (rank == 0)
        MPI_Send(x, 6, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(y, 1, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    MPI_Finalize();
    return x[0] + y[0] > 1000000;
}
