/* SPDX-License-Identifier: MIT */
/* sendrecv_one_way: each sends to its right neighbour and wants a message from there as well; buffering would not help. */
// ranks: 3
// options: --strict
// expect: deadlock: ranks 0, 1 and 2 wait for each other
// expect: source mismatch: rank 0 has a message with tag 0 from rank 2 waiting (4 bytes), but wants one from rank 1
// reject: buffering
// report: deadlock/source [0,1,2]
// report: 0 waits MPI_Sendrecv {ring}
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x = 0, y = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int right = (rank + 1) % 3;
    MPI_Sendrecv(&x, 1, MPI_INT, right, 0, &y, 1, MPI_INT, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // line: ring
    MPI_Finalize();
    return x + y;
}
