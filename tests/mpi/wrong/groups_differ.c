/* SPDX-License-Identifier: MIT */
/* groups_differ: ranks of a new communicator name other groups. */
// ranks: 2
// expect: not all ranks of the group have given this group
// report: communicator_mismatch
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x[8] = {0}, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm made;
    MPI_Group all, one;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &rank, &one);
    MPI_Comm_create(MPI_COMM_WORLD, rank ? one : all, &made);
    MPI_Comm_free(&made);
    MPI_Group_free(&all);
    MPI_Group_free(&one);
    MPI_Finalize();
    return x[0] + y[0] > 1000000;
}
