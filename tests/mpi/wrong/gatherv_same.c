/* SPDX-License-Identifier: MIT */
/* gatherv_same: the root sends what lies in its receive buffer. */
// ranks: 2
// expect: MPI_Gatherv() at {call}: the send buffer and the receive buffer overlap, at the block of rank 0
// expect: MPI_IN_PLACE as the send buffer
// report: buffer_conflict
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x[4] = {0}, counts[] = {2, 2}, places[] = {0, 2};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Gatherv(x, 2, MPI_INT, x, counts, places, MPI_INT, 0, MPI_COMM_WORLD); // line: call
    MPI_Finalize();
    return 0;
}
