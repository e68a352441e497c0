/* SPDX-License-Identifier: MIT */
/* irecv_overlap: two receives into one buffer. */
// ranks: 2
// expect: overlaps that of a receive
// report: buffer_conflict
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Request r[2];
    MPI_Irecv(y, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(y + 2, 4, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
