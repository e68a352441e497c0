/* SPDX-License-Identifier: MIT */
/* earlier: names of earlier versions of the standard; callbacks that call MPI; a communicator of one rank. */
// ranks: 2
#include <assert.h>
#include <mpi.h>

#undef NDEBUG
static int deleted;

static int delete_it(MPI_Comm comm, int key, void *value, void *extra)
{
    int sum = 0, one = 1;
    (void)comm, (void)key, (void)value, (void)extra;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* all ranks are here: in MPI_Comm_free */
    deleted += sum;
    return MPI_SUCCESS;
}

static void add_sized(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int size;
    MPI_Type_size(*type, &size); /* may be asked inside of a reduction */
    for (int i = 0; i < *count * size / (int)sizeof(int); i++) ((int *)inout)[i] += ((int *)in)[i];
}

int main(int argc, char **argv)
{
    struct {
        int i;
        double d;
    } record = {0, 0};
    int key, rank, flag, lengths[] = {1, 1}, ones[2] = {1, 1}, sums[2];
    void *value;
    MPI_Aint places[2], start, extent;
    MPI_Datatype type, pair, types[] = {MPI_INT, MPI_DOUBLE};
    MPI_Comm twin, alone;
    MPI_Op op;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Address(&record, &start);
    MPI_Address(&record.i, &places[0]);
    MPI_Address(&record.d, &places[1]);
    for (int i = 0; i < 2; i++) places[i] -= start;
    MPI_Type_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Type_extent(type, &extent);
    assert(extent == sizeof record);
    if (rank == 0) record.i = 7, record.d = 1.5;
    MPI_Bcast(&record, 1, type, 0, MPI_COMM_WORLD);
    assert(record.i == 7 && record.d == 1.5);
    MPI_Type_free(&type);

    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Keyval_create(MPI_NULL_COPY_FN, delete_it, &key, NULL);
    MPI_Attr_put(twin, key, &record);
    MPI_Attr_get(twin, key, &value, &flag);
    assert(flag && value == &record);
    MPI_Comm_free(&twin);
    MPI_Keyval_free(&key);
    assert(deleted == 2);

    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(add_sized, 1, &op);
    MPI_Irecv(&flag, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(ones, sums, 1, pair, op, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(&rank, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    assert(sums[0] == 2 && sums[1] == 2 && flag == 1 - rank);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);

    MPI_Comm_dup(MPI_COMM_SELF, &alone);
    MPI_Barrier(alone);
    MPI_Allreduce(&rank, &flag, 1, MPI_INT, MPI_MAX, MPI_COMM_SELF);
    assert(flag == rank);
    MPI_Comm_free(&alone);
    MPI_Finalize();
    return 0;
}
