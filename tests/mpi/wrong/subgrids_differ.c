/* SPDX-License-Identifier: MIT */
/* subgrids_differ: one rank wants its column, the others their rows. */
// ranks: 4
// expect: not all ranks of this grid have given these remain_dims
// report: communicator_mismatch
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, sizes[] = {2, 2}, periods[] = {0, 0}, row[] = {0, 1}, column[] = {1, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm grid, part;
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid);
    MPI_Cart_sub(grid, rank == 3 ? column : row, &part);
    MPI_Comm_free(&part);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
