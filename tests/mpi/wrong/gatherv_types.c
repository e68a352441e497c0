/* SPDX-License-Identifier: MIT */
/* gatherv_types: a gather of any lengths, whose types differ. */
// ranks: 2
// expect: elements of another type
// report: type_mismatch
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int counts[] = {1, 1}, places[] = {0, 1};
    MPI_Gatherv(&rank, 1, rank ? MPI_UNSIGNED : MPI_INT, y, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
