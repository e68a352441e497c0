/* SPDX-License-Identifier: MIT */
/* struct_types: a struct is sent, and received as another one. */
// ranks: 2
// expect: was received as
// report: type_mismatch
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype t;
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {0, 8};
    const MPI_Datatype sent[] = {MPI_INT, MPI_DOUBLE}, received[] = {MPI_INT, MPI_LONG};
    MPI_Type_create_struct(2, lengths, places, rank ? received : sent, &t);
    MPI_Type_commit(&t);
    if (rank == 0) MPI_Send(y, 1, t, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(y, 1, t, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&t);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
