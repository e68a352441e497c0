/* SPDX-License-Identifier: MIT */
/* before_init: a call before MPI_Init. */
// ranks: 2
// expect: before MPI_Init
// report: call_order
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank); // line: call
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
