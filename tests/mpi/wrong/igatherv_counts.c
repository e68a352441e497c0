/* SPDX-License-Identifier: MIT */
/* igatherv_counts: a gather of any lengths that returns a request, in which a rank sends less than the root expects. */
// ranks: 2
// expect: rank 1 sends 4 bytes to rank 0, which expects 8
// report: count_mismatch
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x[2] = {1, 2}, y[8] = {0}, counts[] = {2, 2}, places[] = {0, 2};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request r;
    MPI_Igatherv(x, 2 - rank, MPI_INT, y, counts, places, MPI_INT, 0, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return y[0] > 1000000;
}
