/* SPDX-License-Identifier: MIT */
/* persistent_leak: a persistent request that is never freed, on a communicator that has been. */
// ranks: 2
// expect: 1 persistent request never freed: MPI_
// expect: try: MPI_Request_free, when it is not started any more
// reject: never waited for
// reject: communicator never freed
// report: request_leak
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Request r;
    MPI_Comm twin;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Recv_init(y, 1, MPI_INT, 1 - rank, 0, twin, &r);
    MPI_Comm_disconnect(&twin);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
