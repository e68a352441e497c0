/* SPDX-License-Identifier: MIT */
/* icollectives_overlap: two collectives that are under way have one result. */
// ranks: 2
// expect: overlaps one that MPI_Iallreduce on line 15 receives into
// report: buffer_conflict
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x[8] = {0}, y[8] = {0}, counts[2] = {2, 2}, places[2] = {6, 3};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    x[0] = rank;
    MPI_Request r[2];
    MPI_Iallreduce(x, y, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[0]);
    MPI_Iallgatherv(x, 2, MPI_INT, y, counts, places, MPI_INT, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return y[0] > 1000000;
}
