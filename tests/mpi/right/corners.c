/* SPDX-License-Identifier: MIT */
/* corners: what the standard allows and few programs do: empty types and blocks, Fortran's kinds in reductions, the first rank
 * of an exclusive scan, infos outside of MPI_Init and MPI_Finalize, long signatures. */
// ranks: 3
#include <assert.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#undef NDEBUG

static int rank, size;

static MPI_Info new_info(void)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    return info;
}

static void free_info(MPI_Info *info)
{
    int length = 10, flag;
    char value[10];
    MPI_Info_get_string(*info, "key", &length, value, &flag);
    assert(flag && strcmp(value, "value") == 0);
    MPI_Info_free(info);
}

/* ---- Reductions ---- */

static void exclusive(int in_place)
{
    int mine = rank + 1, result = -7, *to = rank ? &result : NULL;
    MPI_Request r;
    if (in_place) result = mine, to = &result;
    MPI_Exscan(in_place ? MPI_IN_PLACE : &mine, to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int first = in_place ? mine : -7;
    assert(result == (rank ? rank * (rank + 1) / 2 : first) && mine == rank + 1);
    result = first;
    MPI_Exscan(in_place ? MPI_IN_PLACE : &mine, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    assert(result == (rank ? rank * (rank + 1) / 2 : first));
    result = first;
    MPI_Iexscan(in_place ? MPI_IN_PLACE : &mine, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    assert(result == (rank ? rank * (rank + 1) / 2 : first) && mine == rank + 1);
}

static void of_fortran(void)
{
    MPI_Datatype real, whole;
    double x = rank + 0.5, sum = 0;
    int n = rank, most = -1;
    MPI_Type_create_f90_real(15, 300, &real);
    MPI_Type_create_f90_integer(9, &whole);
    MPI_Allreduce(&x, &sum, 1, real, MPI_SUM, MPI_COMM_WORLD);
    assert(2 * sum >= size * size && 2 * sum <= size * size);
    MPI_Allreduce(&n, &most, 1, whole, MPI_MAX, MPI_COMM_WORLD);
    assert(most == size - 1);
}

static void nothing(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

static void of_nothing(void)
{
    char in[1], before[1000], out[1], behind[1000], expected[1000];
    const int counts[] = {500, 300, 200};
    MPI_Datatype empty;
    MPI_Op op;
    MPI_Request r;
    memset(before, 3 + rank, sizeof before);
    memset(behind, 3 + rank, sizeof behind);
    memset(expected, 3 + rank, sizeof expected);
    MPI_Type_create_struct(0, NULL, NULL, NULL, &empty);
    MPI_Type_commit(&empty);
    MPI_Op_create(nothing, 1, &op);
    MPI_Allreduce(in, out, 1000, empty, op, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, out, INT_MAX, empty, op, MPI_COMM_WORLD);
    MPI_Reduce_scatter(in, out, counts, empty, op, MPI_COMM_WORLD);
    MPI_Ireduce_scatter(in, out, counts, empty, op, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Iallreduce(in, out, 1000, empty, op, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    assert(memcmp(before, expected, sizeof before) == 0 && memcmp(behind, expected, sizeof behind) == 0);
    MPI_Op_free(&op);
    MPI_Type_free(&empty);
}

/* ---- Blocks, sizes, threads ---- */

/* Block of rank 1 is empty, and lies within that of rank 2, which lies before that of rank 0. */
static void empty_blocks(void)
{
    const int counts[] = {2, 0, 3}, places[] = {3, 1, 0};
    int mine[3] = {10 * rank, 10 * rank + 1, 10 * rank + 2}, all[5] = {0};
    MPI_Request r;
    MPI_Gatherv(mine, counts[rank], MPI_INT, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    assert(rank || (all[0] == 20 && all[2] == 22 && all[3] == 0 && all[4] == 1));
    MPI_Iallgatherv(mine, counts[rank], MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    assert(all[0] == 20 && all[2] == 22 && all[3] == 0 && all[4] == 1);
}

static void sizes(void)
{
    struct pair {
        struct {
            short value;
            int index;
        } pair;
        char more;
    };
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {0, sizeof(int) * 2};
    const MPI_Datatype types[] = {MPI_SHORT_INT, MPI_CHAR};
    int bytes;
    MPI_Aint lb, extent;
    MPI_Count many, again;
    MPI_Datatype made;
    MPI_Status s;
    MPI_Pack_size(INT_MAX, MPI_DOUBLE, MPI_COMM_WORLD, &bytes);
    assert(bytes == MPI_UNDEFINED);
    MPI_Pack_size_c(INT_MAX, MPI_DOUBLE, MPI_COMM_WORLD, &many);
    assert(many == INT_MAX * (MPI_Count)sizeof(double));
    MPI_Status_set_elements_x(&s, MPI_DOUBLE, many);
    MPI_Get_count(&s, MPI_DOUBLE, &bytes);
    assert(bytes == MPI_UNDEFINED);
    MPI_Get_count_c(&s, MPI_DOUBLE, &again);
    assert(again == many);
    MPI_Type_create_struct(2, lengths, places, types, &made);
    MPI_Type_get_extent(made, &lb, &extent);
    assert(extent == sizeof(struct pair));
    MPI_Type_free(&made);
}

static void *not_main(void *flag)
{
    MPI_Is_thread_main(flag);
    return NULL;
}

static void threads(void)
{
    int flag = 0;
    pthread_t thread;
    MPI_Is_thread_main(&flag);
    assert(flag);
    pthread_create(&thread, NULL, not_main, &flag);
    pthread_join(thread, NULL);
    assert(!flag);
}

/* ---- Signatures ---- */

typedef struct {
    int number;
    double values[2500];
} half;

/* The same elements, described as two halves or as one whole, whose signature has over 5,000 types. */
static void long_signatures(void)
{
    static half from[2], to[2];
    static unsigned char packed[2 * sizeof(half)];
    const int lengths[] = {1, 2500, 1, 2500};
    const MPI_Aint places[] = {offsetof(half, number), offsetof(half, values), sizeof(half),
                               sizeof(half) + offsetof(half, values)};
    const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_INT, MPI_DOUBLE};
    int elements, count;
    MPI_Aint bytes, at = 0;
    MPI_Datatype one, both;
    MPI_Status s;
    MPI_Type_create_struct(2, lengths, places, types, &one);
    MPI_Type_create_struct(4, lengths, places, types, &both);
    MPI_Type_commit(&one);
    MPI_Type_commit(&both);
    from[0].number = 1;
    from[1].values[2499] = 5;
    if (rank == 0) memcpy(to, from, sizeof to);
    MPI_Bcast(to, rank ? 2 : 1, rank ? one : both, 0, MPI_COMM_WORLD);
    assert(to[0].number == 1 && to[1].values[2499] >= 5);
    MPI_Sendrecv(from, 1, both, rank, 0, to, 2, one, rank, 0, MPI_COMM_WORLD, &s);
    MPI_Get_count(&s, one, &count);
    MPI_Get_elements(&s, both, &elements);
    assert(count == 2 && elements == 5002);
    MPI_Sendrecv(from, 1, one, rank, 0, to, 1, both, rank, 0, MPI_COMM_WORLD, &s);
    MPI_Get_elements(&s, both, &elements);
    assert(elements == 2501);
    MPI_Pack_external_size("external32", 1, both, &bytes);
    MPI_Pack_external("external32", from, 1, both, packed, sizeof packed, &at);
    assert(bytes == 2 * (4 + 2500 * 8) && at == bytes && packed[0] == 0 && packed[3] == 1);
    MPI_Type_free(&one);
    MPI_Type_free(&both);
}

/* Bytes and unsigned characters are alike, and where they are as long, long and long long. */
static void alike(void)
{
    unsigned char mine = (unsigned char)rank, all[3] = {0};
    const int counts[] = {1, 1, 1}, places[] = {0, 1, 2};
    MPI_Datatype type = rank ? MPI_BYTE : MPI_UNSIGNED_CHAR;
    long one = rank, sum = 0;
    MPI_Request r;
    MPI_Allgather(&mine, 1, type, all, 1, MPI_BYTE, MPI_COMM_WORLD);
    assert(all[0] == 0 && all[1] == 1 && all[2] == 2);
    MPI_Allgatherv(&mine, 1, MPI_UNSIGNED_CHAR, all, counts, places, type, MPI_COMM_WORLD);
    MPI_Bcast(all, 3, type, 0, MPI_COMM_WORLD);
    if (sizeof(long) == sizeof(long long))
        MPI_Allreduce(&one, &sum, 1, rank ? MPI_LONG : MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    assert(sum == (sizeof(long) == sizeof(long long) ? 3 : 0));
    MPI_Ibcast(all, 3, type, 1, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    assert(all[0] == 0 && all[1] == 1 && all[2] == 2);
}

/* Types of different signatures are found among many. */
static void many_types(void)
{
    enum { MANY = 20000 };
    static MPI_Datatype all[MANY];
    for (int i = 0; i < MANY; i++) {
        const int lengths[] = {1 + i % 137, 1 + i / 137};
        const MPI_Aint places[] = {0, 1024};
        const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
        MPI_Type_create_struct(2, lengths, places, types, &all[i]);
    }
    for (int i = 0; i < MANY; i++) MPI_Type_free(&all[i]);
}

int main(int argc, char **argv)
{
    MPI_Info early = new_info(), late;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    exclusive(0);
    exclusive(1);
    of_fortran();
    of_nothing();
    empty_blocks();
    sizes();
    threads();
    long_signatures();
    alike();
    many_types();
    late = new_info();
    free_info(&early);
    MPI_Finalize();
    free_info(&late);
    return 0;
}
