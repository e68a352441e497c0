/* SPDX-License-Identifier: MIT */
/* mistake_in_operator: a call that an operator's function makes has a mistake. The function has no way to return it. */
// ranks: 2
// expect: MPI_Comm_size() at {size}: the communicator is MPI_COMM_NULL
// report: invalid_argument
#include <mpi.h>

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int size;
    (void)type;
    MPI_Comm_size(MPI_COMM_NULL, &size); // line: size
    for (int i = 0; i < *count; i++) ((int *)inout)[i] += ((int *)in)[i];
}

int main(int argc, char **argv)
{
    int one = 1, sum;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
