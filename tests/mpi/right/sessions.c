/* SPDX-License-Identifier: MIT */
/* sessions: without MPI_Init, before it, beside it and after MPI_Finalize; their errors go to their handlers. */
// ranks: 3
#include <assert.h>
#include <mpi.h>
#include <string.h>

#undef NDEBUG
static int told, told_comm;
static MPI_Session expected;

static void handle(MPI_Session *session, int *code, ...)
{
    assert(*session == expected && *code != MPI_SUCCESS);
    told++;
}

static void handle_comm(MPI_Comm *comm, int *code, ...)
{
    assert(comm && *code != MPI_SUCCESS);
    told_comm++;
}

static void adds_up(MPI_Session session, const char *tag)
{
    int rank, size, sum = 0;
    MPI_Group all;
    MPI_Comm comm;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Comm_create_from_group(all, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&all);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    assert(sum == size * (size - 1) / 2);
    MPI_Comm_free(&comm);
}

static void errors(MPI_Session session)
{
    MPI_Errhandler own;
    MPI_Group none;
    MPI_Comm comm;
    expected = session;
    assert(MPI_Group_from_session_pset(session, "no such set", &none) != MPI_SUCCESS && told == 1);
    MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
    assert(MPI_Group_from_session_pset(session, "no such set", &none) != MPI_SUCCESS && told == 1);
    MPI_Comm_create_errhandler(handle_comm, &own);
    assert(MPI_Comm_create_from_group(MPI_GROUP_NULL, "tag", MPI_INFO_NULL, own, &comm) != MPI_SUCCESS);
    assert(told_comm == 1);
    MPI_Errhandler_free(&own);
}

int main(int argc, char **argv)
{
    int flag, length = 40;
    char level[40];
    MPI_Errhandler own;
    MPI_Session session, second;
    MPI_Info info;
    MPI_Session_create_errhandler(handle, &own);
    MPI_Session_init(MPI_INFO_NULL, own, &session);
    MPI_Errhandler_free(&own);
    MPI_Initialized(&flag);
    assert(!flag);
    adds_up(session, "one");
    errors(session);
    MPI_Session_finalize(&session);

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_FUNNELED");
    MPI_Session_init(info, MPI_ERRORS_RETURN, &second);
    MPI_Info_free(&info);
    MPI_Session_get_info(second, &info);
    MPI_Info_get_string(info, "thread_level", &length, level, &flag);
    assert(flag && strcmp(level, "MPI_THREAD_FUNNELED") == 0);
    MPI_Info_free(&info);
    MPI_Init(&argc, &argv);
    MPI_Initialized(&flag);
    assert(flag);
    MPI_Session_finalize(&second);
    adds_up(session, "two");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    MPI_Finalized(&flag);
    assert(flag);
    adds_up(session, "three");
    MPI_Session_finalize(&session);
    return 0;
}
