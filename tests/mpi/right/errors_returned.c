/* SPDX-License-Identifier: MIT */
/* errors_returned: of several requests each has its own error, which the handler of its communicator is told. */
// ranks: 2
#include <assert.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#undef NDEBUG

static int rank, told[3];

static void use_memory(void)
{
    void *all[64];
    for (int i = 0; i < 64; i++) memset(all[i] = malloc(16 + 8 * i), 0x41, 16 + 8 * i);
    for (int i = 0; i < 64; i++) free(all[i]);
}

static void tell_world(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    told[0]++;
}

static void tell_one(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    told[1]++;
}

static void tell_two(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    told[2]++;
}

/* The second of three messages is too long for its receive. */
static void one_fails(int how, MPI_Comm one, MPI_Comm two)
{
    int x[3][2] = {{0}}, flag = 0, at, code, more[2] = {4, 5};
    MPI_Comm all[] = {one, two, one};
    MPI_Request r[3];
    MPI_Status s[3] = {{.MPI_ERROR = 77}, {.MPI_ERROR = 77}, {.MPI_ERROR = 77}};
    if (rank == 1) {
        for (int i = 0; i < 3; i++) MPI_Send(more, i == 1 ? 2 : 1, MPI_INT, 0, i, all[i]);
        MPI_Barrier(MPI_COMM_WORLD);
        return;
    }
    for (int i = 0; i < 3; i++) MPI_Irecv(x[i], 1, MPI_INT, 1, i, all[i], &r[i]);
    memset(told, 0, sizeof told);
    if (how == 2) {
        do code = MPI_Request_get_status(r[1], &flag, s);
        while (!code && !flag);
        assert(flag && code == MPI_ERR_TRUNCATE && told[2] == 1);
        assert(MPI_Wait(&r[1], s) == MPI_ERR_TRUNCATE && told[2] == 2);
        assert(MPI_Waitall(3, r, s) == MPI_SUCCESS && told[0] + told[1] == 0);
    } else if (how == 3) {
        assert(MPI_Waitany(1, r, &at, s) == MPI_SUCCESS && MPI_Wait(&r[1], s) == MPI_ERR_TRUNCATE);
        assert(MPI_Wait(&r[2], s) == MPI_SUCCESS && told[2] == 1);
    } else {
        do code = how ? MPI_Testall(3, r, &flag, s) : MPI_Waitall(3, r, s);
        while (how && !flag && !code);
        assert(code == MPI_ERR_IN_STATUS && told[0] == 0 && told[1] == 0 && told[2] == 1);
        assert(s[0].MPI_ERROR == 0 && s[1].MPI_ERROR == MPI_ERR_TRUNCATE && s[2].MPI_ERROR == 0);
    }
    use_memory();
    for (int i = 0; i < 3; i++) assert(r[i] == MPI_REQUEST_NULL && (i == 1 || x[i][0] == 4));
    assert(MPI_Waitall(3, r, s) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_Comm with_handler(MPI_Comm_errhandler_function *function)
{
    MPI_Comm made;
    MPI_Errhandler handler;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_create_errhandler(function, &handler);
    MPI_Comm_set_errhandler(made, handler);
    MPI_Errhandler_free(&handler);
    return made;
}

int main(int argc, char **argv)
{
    MPI_Comm one, two;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_errhandler(tell_world, &handler);
    one = with_handler(tell_one);
    two = with_handler(tell_two);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int how = 0; how < 4; how++) one_fails(how, one, two);
    MPI_Comm_free(&one);
    MPI_Comm_free(&two);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}
