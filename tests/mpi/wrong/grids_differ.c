/* SPDX-License-Identifier: MIT */
/* grids_differ: ranks of a new grid have other dimensions in mind. */
// ranks: 4
// expect: not all ranks have given this grid
// report: communicator_mismatch
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, wide[] = {2, 2}, high[] = {4, 1}, periods[] = {0, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 2, rank == 1 ? high : wide, periods, 0, &grid);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
