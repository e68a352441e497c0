/* SPDX-License-Identifier: MIT */
/* buffers_overlap: the buffers of a sendrecv overlap. */
// ranks: 2
// expect: overlap
// report: buffer_conflict
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Sendrecv(y, 4, MPI_INT, 1 - rank, 0, y + 2, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
