/* SPDX-License-Identifier: MIT */
/* alltoallw_types: of an exchange in which each pair has types of its own, one pair has different ones. */
// ranks: 3
// expect: rank 1 sends elements of another type than rank 0 receives: MPI_FLOAT was sent, MPI_INT is received
// report: type_mismatch
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x[3] = {0}, y[3] = {0}, counts[] = {1, 1, 1}, places[] = {0, 4, 8};
    MPI_Datatype out[] = {MPI_INT, MPI_INT, MPI_INT}, in[] = {MPI_INT, MPI_INT, MPI_INT};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) out[0] = MPI_FLOAT;
    MPI_Alltoallw(x, counts, places, out, y, counts, places, in, MPI_COMM_WORLD);
    MPI_Finalize();
    return y[0] > 1000000;
}
