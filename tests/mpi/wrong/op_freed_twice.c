/* SPDX-License-Identifier: MIT */
/* op_freed_twice: an operator that is freed twice. */
// ranks: 2
// expect: has been freed already
// report: invalid_argument/operator
#include <mpi.h>
#include <stdlib.h>

static void nothing(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Op op, copy;
    MPI_Op_create(nothing, 1, &op);
    copy = op;
    MPI_Op_free(&op);
    MPI_Op_free(&copy);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
