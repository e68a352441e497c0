/* SPDX-License-Identifier: MIT */
/* create_group_left_out: one rank of the group leaves MPI_Comm_create_group out. */
// ranks: 3
// expect: rank 0 waits in MPI_Comm_create_group() at {create} for rank 2
// reject: unreceived message
// report: deadlock/finished
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Group all;
    MPI_Comm same = MPI_COMM_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    if (rank < 2) MPI_Comm_create_group(MPI_COMM_WORLD, all, 5, &same); // line: create
    if (same != MPI_COMM_NULL) MPI_Comm_free(&same);
    MPI_Group_free(&all);
    MPI_Finalize();
    return 0;
}
