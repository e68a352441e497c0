/* SPDX-License-Identifier: MIT */
/* gatherv_overlap: a gather whose blocks overlap where they are received. */
// ranks: 3
// expect: the blocks of ranks 0 and 1 overlap in the receive buffer
// report: buffer_conflict
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x[8] = {0}, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int counts[] = {2, 2, 2}, places[] = {0, 1, 4};
    MPI_Gatherv(x, 2, MPI_INT, y, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return x[0] + y[0] > 1000000;
}
