/* SPDX-License-Identifier: MIT */
/* ibcast_modified: the buffer of a collective is changed before it has ended. */
// ranks: 2
// expect: the buffer that MPI_Ibcast at
// report: buffer_conflict
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Request r;
    MPI_Ibcast(x, 8, MPI_INT, 0, MPI_COMM_WORLD, &r);
    x[rank] = 5;
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return x[0] > 1000000;
}
