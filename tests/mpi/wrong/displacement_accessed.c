/* SPDX-License-Identifier: MIT */
/* displacement_accessed: the displacement of rank 1's block has overflowed. */
// ranks: 2
// expect: MPI_Allgatherv() at {gather}: the block of rank 1, at displacement -2147483647, begins outside of the memory
// expect: try: displacements count elements from the buffer on; did an index overflow an int?
// report: invalid_argument/buffer
// report: 0 call MPI_Allgatherv {gather}
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, counts[2] = {1, 1}, places[2] = {0, 0}, *all = calloc(2, sizeof *all);
    unsigned sum = 1u + INT_MAX;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    places[1] = (int)(sum + 1);
    MPI_Allgatherv(&rank, 1, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD); // line: gather
    free(all);
    MPI_Finalize();
    return 0;
}
