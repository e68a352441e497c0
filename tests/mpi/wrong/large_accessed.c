/* SPDX-License-Identifier: MIT */
/* large_accessed: one element of a large buffer is changed while a reduction has it. */
// ranks: 2
// expect: write() at {write}
// report: buffer_conflict
// report: 0 call write {write}
// report: 0 other MPI_Iallreduce {begin}
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    static float x[40000], y[40000];
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Iallreduce(x, y, 40000, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &r); // line: begin
    if (rank == 0) x[20001] = 1;                                         // line: write
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
