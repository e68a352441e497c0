/* SPDX-License-Identifier: MIT */
/* icollectives: each collective that returns a request, several in flight, with the results of its blocking twin. */
// ranks: 4
#include <assert.h>
#include <mpi.h>
#include <string.h>

#undef NDEBUG
enum { MOST = 16, KINDS = 19, N = 3 };

static int rank, size;

static void last_digit_first(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    const long *a = in;
    long *b = inout;
    for (int i = 0; i < *count; i++) {
        long scale = 1;
        while (scale <= b[i]) scale *= 10;
        b[i] += a[i] * scale;
    }
}

/* Collective number `kind` from `in` to `out`, with a request or without. */
static void call(int kind, int root, long *in, long *out, MPI_Op order, MPI_Request *r)
{
    int counts[MOST], places[MOST], bytes[MOST];
    MPI_Datatype types[MOST], L = MPI_LONG;
    MPI_Comm w = MPI_COMM_WORLD;
    for (int q = 0; q < size; q++) {
        counts[q] = N;
        places[q] = N * (size - 1 - q);
        bytes[q] = places[q] * (int)sizeof(long);
        types[q] = L;
    }
    switch (kind) {
    case 0: r ? MPI_Ibarrier(w, r) : MPI_Barrier(w); break;
    case 1: r ? MPI_Ibcast(out, N, L, root, w, r) : MPI_Bcast(out, N, L, root, w); break;
    case 2: r ? MPI_Igather(in, N, L, out, N, L, root, w, r) : MPI_Gather(in, N, L, out, N, L, root, w); break;
    case 3:
        r ? MPI_Igatherv(in, N, L, out, counts, places, L, root, w, r)
          : MPI_Gatherv(in, N, L, out, counts, places, L, root, w);
        break;
    case 4: r ? MPI_Iscatter(in, N, L, out, N, L, root, w, r) : MPI_Scatter(in, N, L, out, N, L, root, w); break;
    case 5:
        r ? MPI_Iscatterv(in, counts, places, L, out, N, L, root, w, r)
          : MPI_Scatterv(in, counts, places, L, out, N, L, root, w);
        break;
    case 6: r ? MPI_Iallgather(in, N, L, out, N, L, w, r) : MPI_Allgather(in, N, L, out, N, L, w); break;
    case 7:
        r ? MPI_Iallgatherv(in, N, L, out, counts, places, L, w, r)
          : MPI_Allgatherv(in, N, L, out, counts, places, L, w);
        break;
    case 8: r ? MPI_Ialltoall(in, N, L, out, N, L, w, r) : MPI_Alltoall(in, N, L, out, N, L, w); break;
    case 9:
        r ? MPI_Ialltoallv(in, counts, places, L, out, counts, places, L, w, r)
          : MPI_Alltoallv(in, counts, places, L, out, counts, places, L, w);
        break;
    case 10:
        r ? MPI_Ialltoallw(in, counts, bytes, types, out, counts, bytes, types, w, r)
          : MPI_Alltoallw(in, counts, bytes, types, out, counts, bytes, types, w);
        break;
    case 11: r ? MPI_Ireduce(in, out, N, L, order, root, w, r) : MPI_Reduce(in, out, N, L, order, root, w); break;
    case 12: r ? MPI_Iallreduce(in, out, N, L, order, w, r) : MPI_Allreduce(in, out, N, L, order, w); break;
    case 13: r ? MPI_Iallreduce(in, out, N, L, MPI_MAX, w, r) : MPI_Allreduce(in, out, N, L, MPI_MAX, w); break;
    case 14: r ? MPI_Iscan(in, out, N, L, order, w, r) : MPI_Scan(in, out, N, L, order, w); break;
    case 15:
        if (!rank) memset(out, 0, N * sizeof *out);
        r ? MPI_Iexscan(in, out, N, L, order, w, r) : MPI_Exscan(in, out, N, L, order, w);
        if (!rank && r) MPI_Wait(r, MPI_STATUS_IGNORE);
        if (!rank) memset(out, 0, N * sizeof *out);
        break;
    case 16:
        r ? MPI_Ireduce_scatter_block(in, out, N, L, MPI_SUM, w, r)
          : MPI_Reduce_scatter_block(in, out, N, L, MPI_SUM, w);
        break;
    case 17:
        r ? MPI_Ireduce_scatter_block(in, out, N, L, order, w, r) : MPI_Reduce_scatter_block(in, out, N, L, order, w);
        break;
    case 18:
        for (int q = 0; q < size; q++) counts[q] = q % (N + 1);
        r ? MPI_Ireduce_scatter(in, out, counts, L, MPI_MAX, w, r) : MPI_Reduce_scatter(in, out, counts, L, MPI_MAX, w);
        break;
    default: break;
    }
}

/* They are local: rank 1 begins its own once the message has come that rank 0 sends after all of them. */
static void many_and_a_message(void)
{
    enum { MANY = 40 };
    int values[MANY], sums[MANY], token = 0;
    MPI_Request r[MANY];
    if (rank == 1) MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < MANY; i++) {
        values[i] = rank + i;
        if (i % 3)
            MPI_Iallreduce(&values[i], &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[i]);
        else
            MPI_Ibarrier(MPI_COMM_WORLD, &r[i]);
    }
    if (rank == 0 && size > 1) MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    for (int i = MANY - 1; i >= 0; i--) MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++) assert(i % 3 == 0 || sums[i] == size * (size - 1) / 2 + i * size);
}

int main(int argc, char **argv)
{
    static long in[KINDS][MOST * N], out[KINDS][MOST * N], expected[KINDS][MOST * N];
    MPI_Request r[KINDS];
    MPI_Op order;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Op_create(last_digit_first, 0, &order);
    for (int root = 0; root < size; root++) {
        for (int kind = 0; kind < KINDS; kind++)
            for (int i = 0; i < MOST * N; i++) {
                in[kind][i] = 1 + (rank + i + kind) % 9;
                out[kind][i] = expected[kind][i] = 1000 * rank + i;
            }
        for (int kind = 0; kind < KINDS; kind++) call(kind, root, in[kind], expected[kind], order, NULL);
        for (int kind = 0; kind < KINDS; kind++) call(kind, root, in[kind], out[kind], order, &r[kind]);
        MPI_Waitall(KINDS, r, MPI_STATUSES_IGNORE);
        for (int kind = 0; kind < KINDS; kind++) assert(memcmp(out[kind], expected[kind], sizeof *out) == 0);
    }
    MPI_Op_free(&order);
    many_and_a_message();
    MPI_Finalize();
    return 0;
}
