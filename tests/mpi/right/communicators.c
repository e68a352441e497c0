/* SPDX-License-Identifier: MIT */
/* communicators: split, dup, create, groups, attributes, names, Cartesian grids, error handlers, info. */
// ranks: 4
#include <assert.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#undef NDEBUG
static int rank, size, copies, deletions, handled;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

static void making(void)
{
    MPI_Comm half, twin, evens, few;
    MPI_Group all, some, both;
    int r, s, result, list[2] = {0, 2}, there[2];
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &r);
    MPI_Comm_size(half, &s);
    assert(s == (size + 1 - rank % 2) / 2 && r == s - 1 - rank / 2);
    MPI_Comm_dup(half, &twin);
    MPI_Comm_compare(half, twin, &result);
    assert(result == MPI_CONGRUENT);
    MPI_Comm_compare(MPI_COMM_WORLD, half, &result);
    assert(result == MPI_UNEQUAL);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, list, &some);
    MPI_Group_translate_ranks(some, 2, (const int[]){0, 1}, all, there);
    assert(there[0] == 0 && there[1] == 2);
    MPI_Group_union(some, all, &both);
    MPI_Group_compare(both, all, &result);
    assert(result == MPI_SIMILAR);
    MPI_Comm_create(MPI_COMM_WORLD, some, &evens);
    assert((evens != MPI_COMM_NULL) == (rank == 0 || rank == 2));
    if (evens != MPI_COMM_NULL) {
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 3, &few);
        MPI_Barrier(few);
        MPI_Comm_free(&few);
        MPI_Comm_free(&evens);
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank ? MPI_UNDEFINED : 1, 0, &few);
    assert((few != MPI_COMM_NULL) == !rank);
    if (!rank) MPI_Comm_free(&few);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &few);
    MPI_Comm_rank(few, &r);
    r = r == 0;
    MPI_Allreduce(&r, &s, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const char *hosts = getenv(getenv("TEST_HOSTS") ? "TEST_HOSTS" : "PAIRWISE_HOSTS"); /* tests/launch_hosts.sh */
    /* one for each host */
    assert(s == (hosts ? atoi(hosts) : 1));
    MPI_Comm_free(&few);
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    MPI_Group_free(&both);
    static int x; /* sent until MPI_Finalize */
    x = rank;
    MPI_Request request;
    MPI_Irecv(&s, 1, MPI_INT, 0, 0, twin, &request); /* a communicator goes when nothing is under way on it */
    MPI_Comm_rank(twin, &r);
    if (r == 0) {
        int n;
        MPI_Comm_size(twin, &n);
        for (int i = 0; i < n; i++) {
            MPI_Request q;
            MPI_Isend(&x, 1, MPI_INT, i, 0, twin, &q);
            MPI_Request_free(&q);
        }
    }
    MPI_Comm_free(&twin);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&half);
    assert(half == MPI_COMM_NULL);
}

static void attributes(void)
{
    int key, flag, length, *ub, value = 5;
    void *got;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm twin;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &ub, &flag);
    assert(flag && *ub >= 32767);
    MPI_Comm_create_keyval(copy, forget, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_get_attr(twin, key, &got, &flag);
    assert(flag && got == &value && copies == 1);
    MPI_Comm_free(&twin);
    assert(deletions == 1);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &got, &flag);
    assert(!flag && deletions == 2);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    assert(strcmp(name, "MPI_COMM_WORLD") == 0);
}

static void grids(void)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], from, to, r, keep[2] = {1, 0};
    MPI_Comm grid, row;
    MPI_Dims_create(size, 2, dims);
    assert(dims[0] * dims[1] == size && dims[0] >= dims[1]);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_coords(grid, rank, 2, coords);
    MPI_Cart_rank(grid, coords, &r);
    assert(r == rank);
    MPI_Cart_shift(grid, 0, 1, &from, &to);
    assert(from != MPI_PROC_NULL && to != MPI_PROC_NULL);
    MPI_Cart_shift(grid, 1, 1, &from, &to);
    assert((to == MPI_PROC_NULL) == (coords[1] == dims[1] - 1));
    MPI_Sendrecv(&rank, 1, MPI_INT, to, 0, &r, 1, MPI_INT, from, 0, grid, MPI_STATUS_IGNORE);
    MPI_Cart_sub(grid, keep, &row);
    MPI_Comm_size(row, &r);
    assert(r == dims[0]);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
}

/* As close to each other as possible, the largest first; what is given stays. */
static void dimensions(void)
{
    static const struct {
        int nodes, count, given[4], sizes[4];
    } all[] = {{72, 2, {0}, {9, 8}},
               {5040, 3, {0}, {20, 18, 14}},
               {36, 2, {0}, {6, 6}},
               {7, 3, {0}, {7, 1, 1}},
               {1, 2, {0}, {1, 1}},
               {144, 3, {0, 2, 0}, {9, 2, 8}},
               {2147483647, 2, {0}, {2147483647, 1}},
               {1073741824, 4, {0}, {256, 256, 128, 128}}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int dims[4];
        memcpy(dims, all[i].given, sizeof dims);
        MPI_Dims_create(all[i].nodes, all[i].count, dims);
        assert(memcmp(dims, all[i].sizes, (size_t)all[i].count * sizeof *dims) == 0);
    }
}

static void errors(void)
{
    MPI_Errhandler own;
    MPI_Comm twin;
    int code, class, length, x = 0;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_set_errhandler(twin, MPI_ERRORS_RETURN);
    code = MPI_Send(&x, 1, MPI_INT, 99, 0, twin);
    MPI_Error_class(code, &class);
    assert(class == MPI_ERR_RANK);
    MPI_Error_string(code, text, &length);
    assert(length == (int)strlen(text));
    assert(MPI_Send(&x, -1, MPI_INT, 0, 0, twin) == MPI_ERR_COUNT);
    assert(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, twin) == MPI_ERR_TYPE);
    assert(MPI_Send(&x, 1, MPI_INT, 0, -5, twin) == MPI_ERR_TAG);
    assert(MPI_Bcast(&x, 1, MPI_INT, size, twin) == MPI_ERR_ROOT);
    MPI_Comm_create_errhandler(handle, &own);
    MPI_Comm_set_errhandler(twin, own);
    MPI_Errhandler_free(&own);
    MPI_Send(&x, 1, MPI_INT, 99, 0, twin);
    assert(handled == 1);
    MPI_Comm_free(&twin);
}

static void infos(void)
{
    MPI_Info info, twin;
    char value[20];
    int flag, count;
    MPI_Info_create(&info);
    MPI_Info_set(info, "one", "1");
    MPI_Info_set(info, "two", "2");
    MPI_Info_dup(info, &twin);
    MPI_Info_delete(info, "one");
    MPI_Info_get_nkeys(twin, &count);
    assert(count == 2);
    MPI_Info_get(info, "two", 19, value, &flag);
    assert(flag && strcmp(value, "2") == 0);
    MPI_Info_get(info, "one", 19, value, &flag);
    assert(!flag);
    MPI_Info_free(&info);
    MPI_Info_free(&twin);
}

/* Both are local: rank 1 begins its copies once the message has come that rank 0 sends behind them; and of the message that was
 * sent with a buffer none has been received when the flush ends. */
static void local_ones(void)
{
    enum { COPIES = 3 };
    static char room[1000];
    MPI_Comm copies[COPIES];
    MPI_Request r[COPIES], flush;
    int token = rank, got = -1, sum, bytes;
    char *at;
    MPI_Buffer_attach(room, sizeof room);
    if (rank == 1) MPI_Recv(&got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < COPIES; i++) MPI_Comm_idup(MPI_COMM_WORLD, &copies[i], &r[i]);
    MPI_Bsend(&token, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD);
    MPI_Buffer_iflush(&flush);
    MPI_Wait(&flush, MPI_STATUS_IGNORE);
    if (rank == 0 && size > 1) MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&got, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    assert(got == (rank + size - 1) % size);
    MPI_Buffer_detach(&at, &bytes);
    for (int i = COPIES - 1; i >= 0; i--) MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < COPIES; i++) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copies[i]);
        assert(sum == size * (size - 1) / 2);
        MPI_Comm_free(&copies[i]);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    making();
    attributes();
    grids();
    dimensions();
    errors();
    infos();
    local_ones();
    MPI_Finalize();
    return 0;
}
