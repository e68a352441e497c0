/* SPDX-License-Identifier: MIT */
/* errors: what is left as it was when a call returns an error, and what is said of it. */
// ranks: 2
#include <assert.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#undef NDEBUG
enum { MANY = 5000 };
static int rank, refuses, deleted;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    *(void **)out = in;
    *flag = 1;
    return refuses == 2 && rank == 1 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int copy_type(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag)
{
    (void)type, (void)key, (void)extra, (void)in, (void)out;
    *flag = 1;
    return MPI_ERR_OTHER;
}

static int count_deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

/* As many communicators as there can be, and then one: all ranks are told, and go on. */
static void too_many(void)
{
    static MPI_Comm comms[MANY];
    int made = 0, sum = 0, one = 1;
    while (made < MANY && MPI_Comm_dup(MPI_COMM_WORLD, &comms[made]) == MPI_SUCCESS) made++;
    assert(made < MANY && comms[made] == MPI_COMM_NULL);
    for (int i = 0; i < made; i++) MPI_Comm_free(&comms[i]);
    assert(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
    assert(MPI_Comm_dup(MPI_COMM_WORLD, comms) == MPI_SUCCESS);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comms[0]);
    assert(sum == 2);
    MPI_Comm_free(comms);
}

/* A copy function fails on one rank: it has no communicator there, and what was copied before is deleted. */
static void copies_refused(void)
{
    int first, second;
    MPI_Comm twin;
    MPI_Datatype type, type_twin = MPI_INT;
    MPI_Comm_create_keyval(copy, count_deleted, &first, NULL);
    MPI_Comm_create_keyval(copy, count_deleted, &second, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, first, &first);
    MPI_Comm_set_attr(MPI_COMM_WORLD, second, &second);
    refuses = 2;
    int code = MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    assert((code != MPI_SUCCESS) == (rank == 1) && (twin == MPI_COMM_NULL) == (rank == 1));
    if (!code) MPI_Comm_free(&twin);
    refuses = 0;
    MPI_Comm_delete_attr(MPI_COMM_WORLD, first);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, second);
    MPI_Comm_free_keyval(&first);
    MPI_Comm_free_keyval(&second);
    MPI_Type_create_keyval(copy_type, MPI_TYPE_NULL_DELETE_FN, &first, NULL);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_set_attr(type, first, &first);
    assert(MPI_Type_dup(type, &type_twin) != MPI_SUCCESS);
    MPI_Type_delete_attr(type, first);
    MPI_Type_free(&type);
    MPI_Type_free_keyval(&first);
}

/* Numbers of classes and codes that are removed are given out again. */
static void classes(void)
{
    int class, code, asked, *last, flag;
    for (int i = 0; i < 600; i++) {
        MPI_Add_error_class(&class);
        MPI_Add_error_code(class, &code);
        MPI_Error_class(code, &asked);
        assert(asked == class);
        assert(MPI_Remove_error_code(code) == MPI_SUCCESS && MPI_Remove_error_class(class) == MPI_SUCCESS);
    }
    MPI_Error_class(code, &asked);
    assert(asked == MPI_ERR_UNKNOWN);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    assert(flag && *last == MPI_ERR_LASTCODE);
}

/* A name of a predefined type is kept, and given back. */
static void names(void)
{
    int length;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Type_set_name(MPI_INT, "a number");
    MPI_Type_get_name(MPI_INT, name, &length);
    assert(strcmp(name, "a number") == 0 && length == 8);
}

static void infos(void)
{
    char value[8];
    int flag;
    MPI_Comm twin;
    MPI_Request request;
    MPI_Info info, used;
    MPI_Info_create(&info);
    MPI_Info_set(info, "a_hint", "7");
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &twin, &request);
    MPI_Info_free(&info);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_get_info(twin, &used);
    MPI_Info_get(used, "a_hint", 7, value, &flag);
    assert(flag && strcmp(value, "7") == 0);
    MPI_Info_free(&used);
    MPI_Comm_free(&twin);
}

/* The field of the error is the program's, but where several statuses are returned with MPI_ERR_IN_STATUS. */
static void statuses(void)
{
    enum { MINE = 77 };
    int out[2] = {1, 2}, in[2], code, index, flag, found, some[2];
    MPI_Status one = {.MPI_ERROR = MINE}, two[2] = {{.MPI_ERROR = MINE}, {.MPI_ERROR = MINE}};
    MPI_Request requests[2];
    MPI_Sendrecv(out, 1, MPI_INT, rank, 0, in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &one);
    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &one);
    MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, &one);
    for (int i = 0; i < 2; i++) MPI_Irecv(&in[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 2; i++) MPI_Send(out, 1, MPI_INT, rank, i, MPI_COMM_WORLD);
    do MPI_Request_get_status(requests[0], &flag, &one);
    while (!flag);
    MPI_Wait(&requests[0], &one);
    MPI_Waitany(2, requests, &index, &one);
    MPI_Test(&requests[0], &flag, &one);
    assert(one.MPI_ERROR == MINE && index == 1);
    for (int i = 0; i < 2; i++) MPI_Irecv(&in[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 2; i++) MPI_Send(out, 1, MPI_INT, rank, i, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, two);
    assert(two[0].MPI_ERROR == MINE && two[1].MPI_ERROR == MINE);
    for (int way = 0; way < 3; way++) { /* the second message does not fit */
        for (int i = 0; i < 2; i++) MPI_Irecv(&in[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &requests[i]);
        for (int i = 0; i < 2; i++) MPI_Send(out, i + 1, MPI_INT, rank, i, MPI_COMM_WORLD);
        two[0].MPI_ERROR = two[1].MPI_ERROR = MINE;
        flag = found = 0;
        if (way == 0)
            code = MPI_Waitall(2, requests, two);
        else if (way == 1)
            do code = MPI_Testall(2, requests, &flag, two);
            while (!flag);
        else
            for (code = MPI_SUCCESS; found != 2; assert(found == 1 || found == 2)) {
                code = MPI_Waitsome(2, requests, &found, some, two);
                if (found == 1 && code == MPI_SUCCESS)
                    code = MPI_Waitsome(2, requests, &found, some, &two[1]), found = 2;
            }
        assert(code == MPI_ERR_IN_STATUS && two[1].MPI_ERROR == MPI_ERR_TRUNCATE);
        assert(two[0].MPI_ERROR == MPI_SUCCESS || (way == 2 && two[0].MPI_ERROR == MINE));
    }
}

/* What is sent and what is received lie apart: also in collectives of any lengths, and in those with a request. */
static void overlaps(void)
{
    int x[8] = {0}, one = 1, none = 0, two = 2;
    MPI_Comm self;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
    assert(MPI_Gatherv(x, 1, MPI_INT, x, &one, &none, MPI_INT, 0, self) == MPI_ERR_BUFFER);
    assert(MPI_Gatherv(x + 1, 2, MPI_INT, x, &two, &two, MPI_INT, 0, self) == MPI_ERR_BUFFER);
    assert(MPI_Scatterv(x, &one, &two, MPI_INT, x + 2, 1, MPI_INT, 0, self) == MPI_ERR_BUFFER);
    assert(MPI_Allgatherv(x, 2, MPI_INT, x, &two, &one, MPI_INT, self) == MPI_ERR_BUFFER);
    assert(MPI_Alltoallv(x, &two, &none, MPI_INT, x, &two, &one, MPI_INT, self) == MPI_ERR_BUFFER);
    assert(MPI_Igather(x, 1, MPI_INT, x, 1, MPI_INT, 0, self, &request) == MPI_ERR_BUFFER);
    assert(MPI_Iscatter(x, 1, MPI_INT, x, 1, MPI_INT, 0, self, &request) == MPI_ERR_BUFFER);
    assert(MPI_Iallgather(x, 2, MPI_INT, x + 1, 2, MPI_INT, self, &request) == MPI_ERR_BUFFER);
    assert(MPI_Ialltoall(x, 2, MPI_INT, x + 1, 2, MPI_INT, self, &request) == MPI_ERR_BUFFER);
    assert(MPI_Ialltoallv(x, &two, &none, MPI_INT, x, &two, &one, MPI_INT, self, &request) == MPI_ERR_BUFFER);
    assert(MPI_Iallreduce(x, x, 1, MPI_INT, MPI_SUM, self, &request) == MPI_ERR_BUFFER);
    assert(MPI_Reduce_local(x, x, 1, MPI_INT, MPI_SUM) == MPI_ERR_BUFFER);
    assert(MPI_Gatherv(x, 1, MPI_INT, x, &one, &one, MPI_INT, 0, self) == MPI_SUCCESS); /* beside each other */
    assert(MPI_Alltoallv(x, &two, &none, MPI_INT, x, &two, &two, MPI_INT, self) == MPI_SUCCESS);
    assert(MPI_Reduce_local(x, x + 1, 1, MPI_INT, MPI_SUM) == MPI_SUCCESS);
    MPI_Comm_free(&self);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    too_many();
    copies_refused();
    classes();
    names();
    infos();
    statuses();
    overlaps();
    assert(MPI_Finalize() == MPI_SUCCESS);
    return 0;
}
