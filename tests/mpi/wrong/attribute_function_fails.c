/* SPDX-License-Identifier: MIT */
/* attribute_function_fails: a function that deletes an attribute returns an error, which ends the job as any other. */
// ranks: 1
// expect: MPI_Comm_free() at {free}: a function of the program's that deletes an attribute has returned error 16
// expect: try: return MPI_SUCCESS from it
// report: invalid_argument
#include <mpi.h>

static int fails(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    return MPI_ERR_OTHER;
}

int main(int argc, char **argv)
{
    int key, value;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, fails, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_attr(comm, key, &value);
    MPI_Comm_free(&comm); // line: free
    MPI_Finalize();
    return 0;
}
