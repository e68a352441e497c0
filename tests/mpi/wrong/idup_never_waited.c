/* SPDX-License-Identifier: MIT */
/* idup_never_waited: the copy of a communicator is freed without having been waited for. */
// ranks: 2
// expect: the communicator is a copy that is not finished yet
// expect: MPI_Wait for the request of MPI_Comm_idup first
// report: invalid_argument/communicator
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Request r;
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &r);
    MPI_Comm_free(&copy);
    MPI_Finalize();
    return 0;
}
