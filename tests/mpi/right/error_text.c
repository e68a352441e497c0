/* SPDX-License-Identifier: MIT */
/* error_text: where errors are returned, MPI_Error_string has the whole explanation of the last one with its code. */
// ranks: 2
#undef NDEBUG
#include <assert.h>
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    char text[MPI_MAX_ERROR_STRING];
    int rank, length, x[4] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_string(MPI_ERR_TRUNCATE, text, &length);
    assert(!strstr(text, "rank 1"));
    if (rank == 0) MPI_Send(x, 4, MPI_INT, 1, 5, MPI_COMM_WORLD);
    if (rank == 1) {
        int code = MPI_Recv(x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        assert(code == MPI_ERR_TRUNCATE);
        MPI_Error_string(code, text, &length);
        assert(length == (int)strlen(text) && strstr(text, "message longer than the receive buffer: rank 1: MPI_Recv"));
        assert(strstr(text, "error_text.c:") && strstr(text, "16 bytes from rank 0 with tag 5"));
    }
    MPI_Finalize();
    return 0;
}
