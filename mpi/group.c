/* SPDX-License-Identifier: MIT */
/* Groups: lists of ranks of the world, of which this rank is one or not. */
#include <stdlib.h>
#include <string.h>

#include "mpi/internal.h"

static mpi__group empty = {.object = {.magic = MPI__LIVE | MPI__GROUP, .references = 1}, .rank = MPI_UNDEFINED};

mpi__group *mpi__group_of(MPI_Group handle)
{
    bool freed;
    if (handle == MPI_GROUP_EMPTY) return &empty;
    return (uintptr_t)handle < 0x1000 ? NULL : mpi__object_of(MPI__GROUP, handle, &freed);
}

mpi__group *mpi__group_new(int size)
{
    mpi__group *g = mpi__object_new(MPI__GROUP, sizeof *g);
    if (!g) return NULL;
    g->size = size;
    g->rank = MPI_UNDEFINED;
    g->world = malloc(((size_t)size + 1) * sizeof *g->world);
    if (g->world) return g;
    mpi__object_free(g);
    return NULL;
}

static int begin(const char *name, MPI_Group handle, mpi__comm **c, mpi__group **g)
{
    int code = mpi__begin_local(c, name);
    bool freed = false;
    if (code) return code;
    *g = mpi__group_of(handle);
    if (*g) return MPI_SUCCESS;
    mpi__object_of(MPI__GROUP, handle, &freed);
    return mpi__end(*c, mpi__wrong(*c, MPI_ERR_GROUP, P2P_ARGUMENT_OTHER, "%s",
                                   handle == MPI_GROUP_NULL ? "the group is MPI_GROUP_NULL"
                                   : freed                  ? "the group has been freed"
                                                            : "this is no group: was it ever set?"));
}

static int begin_two(const char *name, MPI_Group one, MPI_Group other, mpi__comm **c, mpi__group **a, mpi__group **b)
{
    int code = begin(name, one, c, a);
    if (code) return code;
    *b = mpi__group_of(other);
    if (*b) return MPI_SUCCESS;
    return mpi__end(*c, mpi__wrong(*c, MPI_ERR_GROUP, P2P_ARGUMENT_OTHER, "the second group is none"));
}

/* Its first `size` ranks are set: the new group's handle. */
static int give(mpi__comm *c, mpi__group *g, int size, MPI_Group *handle)
{
    g->size = size;
    for (int i = 0; i < size; i++)
        if (g->world[i] == mpi__world->rank) g->rank = i;
    if (!size) {
        free(g->world);
        mpi__object_free(g);
        *handle = MPI_GROUP_EMPTY;
        return mpi__end(c, MPI_SUCCESS);
    }
    p2p_layer_made(c->p2p, "group", &g->object.thing);
    *handle = (MPI_Group)(void *)g;
    return mpi__end(c, MPI_SUCCESS);
}

static int find(const mpi__group *g, int world)
{
    for (int i = 0; i < g->size; i++)
        if (g->world[i] == world) return i;
    return MPI_UNDEFINED;
}

API(Group_size)(MPI_Group group, int *size)
{
    mpi__comm *c;
    mpi__group *g;
    int code = begin("MPI_Group_size", group, &c, &g);
    if (!code) code = mpi__place(c, size, "size");
    if (code) return code;
    *size = g->size;
    return mpi__end(c, MPI_SUCCESS);
}

API(Group_rank)(MPI_Group group, int *rank)
{
    mpi__comm *c;
    mpi__group *g;
    int code = begin("MPI_Group_rank", group, &c, &g);
    if (!code) code = mpi__place(c, rank, "rank");
    if (code) return code;
    *rank = g->rank;
    return mpi__end(c, MPI_SUCCESS);
}

static int check_rank(mpi__comm *c, const mpi__group *g, int rank)
{
    if (rank >= 0 && rank < g->size) return MPI_SUCCESS;
    return mpi__wrong(c, MPI_ERR_RANK, P2P_ARGUMENT_RANK, "rank %d is not in the group: not in [0,%d)", rank, g->size);
}

/* A list of so many numbers; or the call has ended with an error. */
static int check_list(mpi__comm *c, int n, const void *list, const char *what)
{
    if (n >= 0 && (list || !n)) return MPI_SUCCESS;
    return mpi__end(c, n < 0 ? mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_COUNT, "a count of %d is negative", n)
                             : mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "%s is NULL, but n is %d", what, n));
}

API(Group_translate_ranks)(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[])
{
    mpi__comm *c;
    mpi__group *a, *b;
    int code = begin_two("MPI_Group_translate_ranks", group1, group2, &c, &a, &b);
    if (!code) code = check_list(c, n, ranks1, "ranks1");
    if (!code) code = check_list(c, n, ranks2, "ranks2");
    if (code) return code;
    for (int i = 0; i < n && !code; i++) {
        if (ranks1[i] == MPI_PROC_NULL)
            ranks2[i] = MPI_PROC_NULL;
        else if (!(code = check_rank(c, a, ranks1[i])))
            ranks2[i] = find(b, a->world[ranks1[i]]);
    }
    return mpi__end(c, code);
}

API(Group_compare)(MPI_Group group1, MPI_Group group2, int *result)
{
    mpi__comm *c;
    mpi__group *a, *b;
    int code = begin_two("MPI_Group_compare", group1, group2, &c, &a, &b);
    if (!code) code = mpi__place(c, result, "result");
    if (code) return code;
    *result = a->size == b->size ? MPI_IDENT : MPI_UNEQUAL;
    for (int i = 0; i < a->size && *result != MPI_UNEQUAL; i++) {
        int at = find(b, a->world[i]);
        if (at != i) *result = at == MPI_UNDEFINED ? MPI_UNEQUAL : MPI_SIMILAR;
    }
    return mpi__end(c, MPI_SUCCESS);
}

/* Those of a that are in b or not; then, for a union, those of b that are not in a. */
static int combine(const char *name, MPI_Group group1, MPI_Group group2, MPI_Group *newgroup, bool in_b, bool out_of_b,
                   bool rest_of_b)
{
    mpi__comm *c;
    mpi__group *a, *b;
    int size = 0, code = begin_two(name, group1, group2, &c, &a, &b);
    if (!code) code = mpi__place(c, newgroup, "newgroup");
    if (code) return code;
    mpi__group *g = mpi__group_new(a->size + b->size);
    if (!g) return mpi__end(c, mpi__no_memory(c));
    for (int i = 0; i < a->size; i++)
        if (find(b, a->world[i]) == MPI_UNDEFINED ? out_of_b : in_b) g->world[size++] = a->world[i];
    for (int i = 0; i < b->size && rest_of_b; i++)
        if (find(a, b->world[i]) == MPI_UNDEFINED) g->world[size++] = b->world[i];
    return give(c, g, size, newgroup);
}

API(Group_union)(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return combine("MPI_Group_union", group1, group2, newgroup, true, true, true);
}

API(Group_intersection)(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return combine("MPI_Group_intersection", group1, group2, newgroup, true, false, false);
}

API(Group_difference)(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return combine("MPI_Group_difference", group1, group2, newgroup, false, true, false);
}

/* The ranks listed, or all but those. */
static int choose(mpi__comm *c, const mpi__group *from, int n, const int ranks[], bool excludes, MPI_Group *newgroup)
{
    int size = 0, code = check_list(c, n, ranks, "ranks");
    if (!code) code = mpi__place(c, newgroup, "newgroup");
    if (code) return code;
    mpi__group *g = mpi__group_new(from->size + n);
    char *listed = calloc((size_t)from->size + 1, 1);
    if (!g || !listed) code = mpi__no_memory(c);
    for (int i = 0; i < n && !code; i++) {
        code = check_rank(c, from, ranks[i]);
        if (!code && listed[ranks[i]])
            code = mpi__wrong(c, MPI_ERR_RANK, P2P_ARGUMENT_RANK, "rank %d is listed twice", ranks[i]);
        if (code) break;
        listed[ranks[i]] = 1;
        if (!excludes) g->world[size++] = from->world[ranks[i]];
    }
    for (int i = 0; i < from->size && excludes && !code; i++)
        if (!listed[i]) g->world[size++] = from->world[i];
    free(listed);
    if (!code) return give(c, g, size, newgroup);
    if (g) free(g->world), mpi__object_free(g);
    return mpi__end(c, code);
}

API(Group_incl)(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    mpi__comm *c;
    mpi__group *g;
    int code = begin("MPI_Group_incl", group, &c, &g);
    return code ? code : choose(c, g, n, ranks, false, newgroup);
}

API(Group_excl)(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    mpi__comm *c;
    mpi__group *g;
    int code = begin("MPI_Group_excl", group, &c, &g);
    return code ? code : choose(c, g, n, ranks, true, newgroup);
}

static int ranges(const char *name, MPI_Group group, int n, int triples[][3], bool excludes, MPI_Group *newgroup)
{
    mpi__comm *c;
    mpi__group *g;
    int code = begin(name, group, &c, &g), count = 0;
    if (!code) code = check_list(c, n, triples, "ranges");
    if (code) return code;
    for (int i = 0; i < n; i++) {
        if (!triples[i][2])
            return mpi__end(c, mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "the stride of range %d is 0", i));
        int span = (triples[i][1] - triples[i][0]) / triples[i][2];
        count += span < 0 ? 0 : span + 1;
    }
    int *ranks = malloc(((size_t)count + 1) * sizeof *ranks);
    if (!ranks) return mpi__end(c, mpi__no_memory(c));
    count = 0;
    for (int i = 0; i < n; i++)
        for (int r = triples[i][0]; triples[i][2] > 0 ? r <= triples[i][1] : r >= triples[i][1]; r += triples[i][2])
            ranks[count++] = r;
    code = choose(c, g, count, ranks, excludes, newgroup);
    free(ranks);
    return code;
}

API(Group_range_incl)(MPI_Group group, int n, int triples[][3], MPI_Group *newgroup)
{
    return ranges("MPI_Group_range_incl", group, n, triples, false, newgroup);
}

API(Group_range_excl)(MPI_Group group, int n, int triples[][3], MPI_Group *newgroup)
{
    return ranges("MPI_Group_range_excl", group, n, triples, true, newgroup);
}

API(Group_free)(MPI_Group *group)
{
    mpi__comm *c;
    mpi__group *g;
    int code = begin("MPI_Group_free", group ? *group : MPI_GROUP_NULL, &c, &g);
    if (code) return code;
    *group = MPI_GROUP_NULL;
    if (g == &empty) return mpi__end(c, MPI_SUCCESS);
    free(g->world);
    mpi__object_free(g);
    return mpi__end(c, MPI_SUCCESS);
}
