/* SPDX-License-Identifier: MIT */
/* no_finalize: the program ends without MPI_Finalize. */
// ranks: 2
// expect: left without
// report: call_order/never_finalized
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
