/* SPDX-License-Identifier: MIT */
/* iallreduce_written: the result of a collective is written to before it has ended. */
// ranks: 2
// expect: receives into was written to
// report: buffer_conflict
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x[8] = {0}, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Request r;
    MPI_Iallreduce(x, y, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
    y[rank] = 5;
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return x[0] + y[0] > 1000000;
}
