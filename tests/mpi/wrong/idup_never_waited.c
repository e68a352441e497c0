/* SPDX-License-Identifier: MIT */
/* idup_never_waited: the copy of a communicator is freed without having been waited for. */
// ranks: 2
// expect: 1 request never waited for: MPI_Comm_idup from {dup}
// report: request_leak [0]
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Request r;
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &r); // line: dup
    MPI_Comm_free(&copy);
    MPI_Finalize();
    return 0;
}
