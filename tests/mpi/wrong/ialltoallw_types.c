/* SPDX-License-Identifier: MIT */
/* ialltoallw_types: rank 1 sends numbers of another type to rank 0 than it receives. */
// ranks: 3
// expect: rank 1 sends elements of another type than rank 0 receives: MPI_FLOAT was sent, MPI_INT is received
// report: type_mismatch
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x[3] = {0}, y[3] = {0}, counts[3] = {1, 1, 1}, places[3] = {0, 4, 8};
    MPI_Datatype sent[3] = {MPI_INT, MPI_INT, MPI_INT}, received[3] = {MPI_INT, MPI_INT, MPI_INT};
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) sent[0] = MPI_FLOAT;
    MPI_Ialltoallw(x, counts, places, sent, y, counts, places, received, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return y[0];
}
