/* SPDX-License-Identifier: MIT */
/* send_of_result: a message is sent out of the result of a collective that is under way. */
// ranks: 2
// expect: overlaps one that MPI_Iallreduce on line 15 receives into
// report: buffer_conflict
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x = 1, y = 0, z = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request r;
    x += rank;
    MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
    MPI_Sendrecv(&y, 1, MPI_INT, 1 - rank, 0, &z, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return z > 1000000;
}
