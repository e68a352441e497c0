/* SPDX-License-Identifier: MIT */
/* freed_while_pending: types, operators, communicators and attributes are freed while operations use them, which end as if
 * nothing had happened. */
// ranks: 3
#include <assert.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#undef NDEBUG
enum { RANKS = 3, GAP = 3, KINDS = 13 };

static int rank, calls;

/* Elements of two ints with a gap between them. The function asks for what the program has freed since. */
static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int bytes;
    MPI_Type_size(*type, &bytes);
    assert(bytes == 2 * (int)sizeof(int));
    for (int i = 0; i < *count; i++)
        for (int k = 0; k < GAP; k += 2) ((int *)inout)[i * GAP + k] += ((int *)in)[i * GAP + k];
    calls++;
}

static MPI_Datatype new_type(void)
{
    MPI_Datatype two, made;
    MPI_Type_vector(2, 1, 2, MPI_INT, &two);
    MPI_Type_create_resized(two, 0, GAP * sizeof(int), &made);
    MPI_Type_commit(&made);
    MPI_Type_free(&two);
    return made;
}

static void begin(int kind, int *out, int *in, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request *r)
{
    int counts[RANKS] = {1, 1, 1}, places[RANKS] = {0, 1, 2}, bytes[RANKS];
    MPI_Datatype types[RANKS] = {t, t, t};
    for (int q = 0; q < RANKS; q++) bytes[q] = q * GAP * (int)sizeof(int);
    switch (kind) {
    case 0: MPI_Ibcast(rank ? in : out, 1, t, 0, c, r); break;
    case 1: MPI_Igather(out, 1, t, in, 1, t, 0, c, r); break;
    case 2: MPI_Igatherv(out, 1, t, in, counts, places, t, 0, c, r); break;
    case 3: MPI_Iallgather(out, 1, t, in, 1, t, c, r); break;
    case 4: MPI_Iallgatherv(out, 1, t, in, counts, places, t, c, r); break;
    case 5: MPI_Iscatter(out, 1, t, in, 1, t, 0, c, r); break;
    case 6: MPI_Iscatterv(out, counts, places, t, in, 1, t, 0, c, r); break;
    case 7: MPI_Ialltoall(out, 1, t, in, 1, t, c, r); break;
    case 8: MPI_Ialltoallw(out, counts, bytes, types, in, counts, bytes, types, c, r); break;
    case 9: MPI_Ireduce(out, in, RANKS, t, op, 0, c, r); break;
    case 10: MPI_Iallreduce(out, in, RANKS, t, op, c, r); break;
    case 11: MPI_Iscan(out, in, RANKS, t, op, c, r); break;
    default: MPI_Ireduce_scatter_block(out, in, 1, t, op, c, r); break;
    }
}

static void prepare(int kind, int *out, int *in, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request *r)
{
    int counts[RANKS] = {1, 1, 1}, places[RANKS] = {0, 1, 2}, bytes[RANKS];
    MPI_Datatype types[RANKS] = {t, t, t};
    MPI_Info i = MPI_INFO_NULL;
    for (int q = 0; q < RANKS; q++) bytes[q] = q * GAP * (int)sizeof(int);
    switch (kind) {
    case 0: MPI_Bcast_init(rank ? in : out, 1, t, 0, c, i, r); break;
    case 1: MPI_Gather_init(out, 1, t, in, 1, t, 0, c, i, r); break;
    case 2: MPI_Gatherv_init(out, 1, t, in, counts, places, t, 0, c, i, r); break;
    case 3: MPI_Allgather_init(out, 1, t, in, 1, t, c, i, r); break;
    case 4: MPI_Allgatherv_init(out, 1, t, in, counts, places, t, c, i, r); break;
    case 5: MPI_Scatter_init(out, 1, t, in, 1, t, 0, c, i, r); break;
    case 6: MPI_Scatterv_init(out, counts, places, t, in, 1, t, 0, c, i, r); break;
    case 7: MPI_Alltoall_init(out, 1, t, in, 1, t, c, i, r); break;
    case 8: MPI_Alltoallw_init(out, counts, bytes, types, in, counts, bytes, types, c, i, r); break;
    case 9: MPI_Reduce_init(out, in, RANKS, t, op, 0, c, i, r); break;
    case 10: MPI_Allreduce_init(out, in, RANKS, t, op, c, i, r); break;
    case 11: MPI_Scan_init(out, in, RANKS, t, op, c, i, r); break;
    default: MPI_Reduce_scatter_block_init(out, in, 1, t, op, c, i, r); break;
    }
}

/* Element e of the result; rank q has 100 q + 10 e + k in part k of element e. */
static int expected(int kind, int e, int k)
{
    int reduced = 300 + 3 * (10 * e + k);
    if (kind == 0) return rank == 0 || e ? -1 : k;
    if (kind == 1 || kind == 2) return rank == 0 ? 100 * e + k : -1;
    if (kind == 3 || kind == 4) return 100 * e + k;
    if (kind == 5 || kind == 6) return e ? -1 : 10 * rank + k;
    if (kind == 7 || kind == 8) return 100 * e + 10 * rank + k;
    if (kind == 9) return rank == 0 ? reduced : -1;
    if (kind == 10) return reduced;
    if (kind == 11) return (rank + 1) * (50 * rank + 10 * e + k);
    return e ? -1 : 300 + 3 * (10 * rank + k);
}

/* What has been freed is given out again. */
static void use_memory(void)
{
    void *all[64];
    for (int i = 0; i < 64; i++) memset(all[i] = malloc(16 + 8 * i), 0x41, 16 + 8 * i);
    for (int i = 0; i < 64; i++) free(all[i]);
    for (int i = 0; i < 64; i++) memset(all[i] = malloc(16 + 8 * i), 0x41, 16 + 8 * i);
    for (int i = 0; i < 64; i++) free(all[i]);
}

static void collective(int kind, int persistent)
{
    int out[RANKS * GAP], in[RANKS * GAP];
    MPI_Datatype t = new_type();
    MPI_Op op;
    MPI_Comm c;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Op_create(add, 1, &op);
    for (int i = 0; i < RANKS * GAP; i++) {
        out[i] = 100 * rank + 10 * (i / GAP) + i % GAP;
        in[i] = -1;
    }
    (persistent ? prepare : begin)(kind, out, in, t, op, c, &r);
    MPI_Type_free(&t);
    MPI_Op_free(&op);
    MPI_Comm_free(&c);
    use_memory();
    if (persistent) MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < RANKS * GAP; i++) assert(in[i] == (i % GAP == 1 ? -1 : expected(kind, i / GAP, i % GAP)));
    if (persistent) MPI_Request_free(&r);
}

/* Ranks 0 and 1: a message in an element with a gap, a probe whose communicator is freed, a handler that frees it. */
static void messages(void)
{
    int x[GAP] = {rank, -1, rank}, more = rank ? 0 : 7;
    MPI_Datatype t = new_type();
    MPI_Comm c, others[70];
    MPI_Message taken = MPI_MESSAGE_NULL;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status s;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    if (rank == 0) MPI_Isend(x, 1, t, 1, 0, c, &r);
    if (rank == 1) MPI_Irecv(x, 1, t, 0, 0, c, &r);
    if (rank == 0) MPI_Send(&more, 1, MPI_INT, 1, 3, c);
    if (rank == 1) MPI_Mprobe(0, 3, c, &taken, MPI_STATUS_IGNORE);
    MPI_Type_free(&t);
    MPI_Comm_free(&c);
    for (int i = 0; i < 70; i++) { /* objects that are given out again */
        MPI_Comm_dup(MPI_COMM_SELF, &others[i]);
        MPI_Comm_free(&others[i]);
    }
    use_memory();
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (rank == 1) {
        MPI_Mrecv(&more, 1, MPI_INT, &taken, &s);
        assert(x[0] == 0 && x[1] == -1 && x[2] == 0 && more == 7 && s.MPI_SOURCE == 0 && s.MPI_TAG == 3);
    }
}

/* ---- Attributes ---- */

static int keys[3], deleted;

static int delete_others(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)key, (void)value, (void)extra;
    MPI_Comm_delete_attr(comm, keys[0]);
    MPI_Comm_delete_attr(comm, keys[2]);
    return MPI_SUCCESS;
}

static int count_deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static int delete_while_copied(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    (void)key, (void)extra;
    if (value) MPI_Comm_delete_attr(comm, keys[0]);
    *(void **)copy = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    int x, found;
    void *got;
    MPI_Comm c, twin;
    MPI_Comm_dup(MPI_COMM_SELF, &c);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deleted, &keys[0], NULL);
    MPI_Comm_create_keyval(delete_while_copied, delete_others, &keys[1], NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deleted, &keys[2], NULL);
    for (int i = 0; i < 3; i++) MPI_Comm_set_attr(c, keys[i], &x);
    MPI_Comm_delete_attr(c, keys[1]);
    assert(deleted == 2);
    for (int i = 0; i < 3; i++) MPI_Comm_set_attr(c, keys[i], &x);
    MPI_Comm_dup(c, &twin);
    MPI_Comm_get_attr(twin, keys[1], &got, &found);
    assert(deleted == 3 && found && got == &x);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&c);
    assert(deleted == 4);
    for (int i = 0; i < 3; i++) MPI_Comm_free_keyval(&keys[i]);
}

static int types_deleted;

static int count_type(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)value, (void)extra;
    types_deleted++;
    return MPI_SUCCESS;
}

/* A second handle of a type, which MPI_Type_get_contents gives: its attributes go with the last one. */
static void second_handle(void)
{
    int key, count, found, x;
    MPI_Aint place;
    void *got;
    MPI_Datatype inner = new_type(), outer, same;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_type, &key, NULL);
    MPI_Type_set_attr(inner, key, &x);
    MPI_Type_contiguous(2, inner, &outer);
    MPI_Type_get_contents(outer, 1, 0, 1, &count, &place, &same);
    assert(same == inner);
    MPI_Type_free(&same);
    MPI_Type_get_attr(inner, key, &got, &found);
    assert(found && got == &x && types_deleted == 0);
    MPI_Type_free(&inner);
    MPI_Type_free(&outer);
    assert(types_deleted == 1);
    MPI_Type_free_keyval(&key);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int kind = 0; kind < KINDS; kind++) {
        collective(kind, 0);
        collective(kind, 1);
    }
    messages();
    attributes();
    second_handle();
    MPI_Finalize();
    assert(calls > 0);
    return 0;
}
