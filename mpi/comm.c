/* SPDX-License-Identifier: MIT */
/* Communicators: making, freeing, comparing, naming them. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/internal.h"

/* ---- Handles ---- */

mpi__comm *mpi__comm_of(MPI_Comm handle)
{
    bool freed;
    if (handle == MPI_COMM_WORLD) return mpi__world;
    if (handle == MPI_COMM_SELF) return mpi__self;
    mpi__comm *c = (uintptr_t)handle < 0x1000 ? NULL : mpi__object_of(MPI__COMM, handle, &freed);
    return c && c->p2p ? c : NULL; /* MPI_Comm_idup may not have ended */
}

static bool returns_errors(MPI_Errhandler handler)
{
    return handler != MPI_ERRORS_ARE_FATAL && handler != MPI_ERRORS_ABORT;
}

mpi__comm *mpi__comm_new(p2p_comm *p2p, const mpi__comm *parent)
{
    bool freed;
    mpi__comm *c = mpi__object_new(MPI__COMM, sizeof *c);
    if (!c) return NULL;
    c->handle = (MPI_Comm)(void *)c;
    c->p2p = p2p;
    c->rank = p2p_rank(p2p);
    c->size = p2p_size(p2p);
    c->handler = parent ? parent->handler : MPI_ERRORS_ARE_FATAL;
    c->info = MPI_INFO_NULL;
    mpi__object *h = mpi__object_of(MPI__HANDLER, c->handler, &freed);
    if (h) h->references++;
    p2p_set_errors(p2p, returns_errors(c->handler) ? P2P_ERRORS_RETURN : P2P_ERRORS_FATAL);
    return c;
}

void mpi__comm_keep(mpi__comm *comm)
{
    comm->object.references++;
}

static mpi__comm *unused; /* linked by object.next */

static void bury(mpi__comm *comm)
{
    mpi__races_forget(comm);
    bool freed;
    mpi__object *h = mpi__object_of(MPI__HANDLER, comm->handler, &freed);
    if (h && mpi__release(h)) mpi__object_free(h);
    if (comm->p2p) p2p_free(comm->p2p);
    mpi__cart_free(comm);
    free(comm->graph);
    mpi__info_drop(&comm->info);
    mpi__object_free(comm);
}

/* The last reference may be that of a request that has ended after MPI_Comm_free, in a call that still needs it. */
void mpi__comm_drop(mpi__comm *comm)
{
    if (!mpi__release(comm)) return;
    comm->object.next = (mpi__object *)unused;
    unused = comm;
}

void mpi__comms_bury(void)
{
    while (unused) {
        mpi__comm *comm = unused;
        unused = (mpi__comm *)comm->object.next;
        bury(comm);
    }
}

void mpi__comms_reclaim(void)
{
    mpi__orphans_reap();
    mpi__bsends_reap();
    mpi__comms_bury();
}

API(Comm_rank)(MPI_Comm comm, int *rank)
{
    mpi__comm *c;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Comm_rank"});
    if (code) return code;
    code = mpi__check_pointer(c, rank, "rank");
    if (!code) *rank = c->rank;
    return mpi__end(c, code);
}

API(Comm_size)(MPI_Comm comm, int *size)
{
    mpi__comm *c;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Comm_size"});
    if (code) return code;
    code = mpi__check_pointer(c, size, "size");
    if (!code) *size = c->size;
    return mpi__end(c, code);
}

/* ---- Making them: collectives, which p2p begins and ends under the name of the call ---- */

/* A communicator that p2p has made for c's call. */
static int made(mpi__comm *c, p2p_err err, p2p_comm *p2p, MPI_Comm *handle)
{
    *handle = MPI_COMM_NULL;
    if (err) return mpi__ended(c, err);
    if (!p2p) return MPI_SUCCESS;
    mpi__comm *sub = mpi__comm_new(p2p, c);
    if (!sub) return MPI_ERR_NO_MEM;
    *handle = sub->handle;
    return MPI_SUCCESS;
}

/* Is everything in order so far? p2p then takes the line once more. wrong, unless it is NULL: what `value` is not. */
static int check_value(const char *name, MPI_Comm comm, mpi__comm **c, MPI_Comm *newcomm, int value, const char *wrong)
{
    const char *file;
    int line;
    int code = mpi__begin(c, comm, &(p2p_layer_call){.name = name});
    if (code) return code;
    code = mpi__check_pointer(*c, newcomm, "newcomm");
    if (!code && wrong) code = mpi__wrong(*c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "%d is no %s", value, wrong);
    if (code) return mpi__end(*c, code);
    p2p_layer_line((*c)->p2p, &file, &line);
    mpi__end(*c, MPI_SUCCESS);
    mpi__comms_reclaim();
    p2p__here(file, line);
    return MPI_SUCCESS;
}

static int check(const char *name, MPI_Comm comm, mpi__comm **c, MPI_Comm *newcomm)
{
    return check_value(name, comm, c, newcomm, 0, NULL);
}

/* All ranks of c: first what they do is compared, then they are sorted into groups. */
int mpi__split(mpi__comm *c, const char *name, int colour, int key, MPI_Comm *newcomm)
{
    p2p_comm *sub = NULL;
    const p2p_fingerprint what = {.operation = name, .count = SIZE_MAX, .root = -1};
    p2p_err err = p2p_layer_begin(c->p2p, &what);
    if (err) return mpi__ended(c, err);
    mpi__acts();
    err = p2p_split(c->p2p, colour == MPI_UNDEFINED ? P2P_UNDEFINED : colour, key, &sub);
    return made(c, p2p_layer_end(c->p2p, err), sub, newcomm);
}

/* As mpi__split: the ranks of a colour must be `size`, or they have not all given the same. */
int mpi__split_alike(mpi__comm *c, const char *name, int colour, int key, int size, const char *differs,
                     MPI_Comm *newcomm)
{
    const char *file;
    int line, code = mpi__split(c, name, colour, key, newcomm);
    if (code || *newcomm == MPI_COMM_NULL || mpi__comm_of(*newcomm)->size == size) return code;
    p2p_layer_line(c->p2p, &file, &line);
    p2p__here(file, line);
    code = mpi__begin_on(c, &(p2p_layer_call){.name = name});
    return code ? code : mpi__end(c, mpi__mistake(c, MPI_ERR_ARG, "communicator_mismatch", "%s", differs));
}

API(Comm_split)(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    mpi__comm *c;
    const char *wrong = color >= 0 || color == MPI_UNDEFINED ? NULL
                                                             : "colour" MPI__TRY
                                                               "0 or more, or MPI_UNDEFINED to join no group";
    int code = check_value("MPI_Comm_split", comm, &c, newcomm, color, wrong);
    return code ? code : mpi__split(c, "MPI_Comm_split", color, key, newcomm);
}

/* Ranks of a host share memory; nothing smaller is known, so that a split by hardware has no parts. */
API(Comm_split_type)(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    mpi__comm *c;
    char resource[MPI_MAX_INFO_KEY] = "";
    int length = sizeof resource, found = false;
    bool known = split_type == MPI_UNDEFINED ||
                 (split_type >= MPI_COMM_TYPE_SHARED && split_type <= MPI_COMM_TYPE_RESOURCE_GUIDED);
    int code = check_value("MPI_Comm_split_type", comm, &c, newcomm, split_type,
                           known ? NULL : "type to split by" MPI__TRY "MPI_COMM_TYPE_SHARED");
    if (code) return code;
    bool guided = split_type == MPI_COMM_TYPE_HW_GUIDED || split_type == MPI_COMM_TYPE_RESOURCE_GUIDED;
    if (guided && info != MPI_INFO_NULL) {
        const char *file;
        int line;
        p2p_layer_line(c->p2p, &file, &line);
        PMPI_Info_get_string(info, "mpi_hw_resource_type", &length, resource, &found);
        p2p__here(file, line);
    }
    bool shared = split_type == MPI_COMM_TYPE_SHARED || (guided && strcmp(resource, "mpi_shared_memory") == 0);
    return mpi__split(c, "MPI_Comm_split_type", shared ? p2p_host(c->p2p, p2p_rank(c->p2p)) : MPI_UNDEFINED, key,
                      newcomm);
}

/* One that could not be made in full: the program never has it. */
static void discard(mpi__comm *c, MPI_Comm *handle)
{
    mpi__attributes_free(&c->attributes, (uintptr_t)*handle, false);
    *handle = MPI_COMM_NULL;
    c->object.magic = MPI__FREED | MPI__COMM;
    mpi__comm_drop(c);
    mpi__comms_bury();
}

static int dup(const char *name, MPI_Comm comm, MPI_Comm *newcomm)
{
    mpi__comm *c, *to;
    int code = check(name, comm, &c, newcomm);
    if (!code) code = mpi__split(c, name, 0, c->rank, newcomm);
    if (code) return code;
    to = mpi__comm_of(*newcomm);
    code = mpi__cart_copy(to, c);
    if (!code) code = mpi__graph_copy(to, c);
    if (!code) code = mpi__attributes_copy(&to->attributes, &c->attributes, (uintptr_t)comm, false);
    if (!code) return MPI_SUCCESS;
    discard(to, newcomm);
    const char *file;
    int line;
    p2p_layer_line(c->p2p, &file, &line);
    p2p__here(file, line);
    int begun = mpi__begin_on(c, &(p2p_layer_call){.name = name});
    return begun ? begun : mpi__end(c, mpi__attribute_failed(c, code, "copies"));
}

API(Comm_dup)(MPI_Comm comm, MPI_Comm *newcomm)
{
    return dup("MPI_Comm_dup", comm, newcomm);
}

API(Comm_dup_with_info)(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    int code = dup("MPI_Comm_dup_with_info", comm, newcomm);
    return code ? code : PMPI_Comm_set_info(*newcomm, info);
}

/* ---- A copy without waiting: its handle is there at once, but no communicator before the request has ended. ---- */

typedef struct {
    mpi__comm *to;
    p2p_comm *p2p;
} copying;

static int end_idup(mpi__request *r, bool stores)
{
    copying *state = r->state;
    mpi__comm *to = state->to;
    if (stores) to->p2p = state->p2p;
    if (stores) p2p_set_errors(to->p2p, returns_errors(to->handler) ? P2P_ERRORS_RETURN : P2P_ERRORS_FATAL);
    free(state);
    return MPI_SUCCESS;
}

/* All that a copy has, but p2p's. NULL, and *code, if there is no memory or a function of the program's does not want it. */
static mpi__comm *begin_copy(mpi__comm *c, MPI_Info info, int *code)
{
    bool freed;
    mpi__comm *to = mpi__object_new(MPI__COMM, sizeof *to);
    *code = MPI_ERR_NO_MEM;
    if (!to) return NULL;
    to->handle = (MPI_Comm)(void *)to;
    to->rank = c->rank;
    to->size = c->size;
    to->handler = c->handler;
    to->info = MPI_INFO_NULL;
    mpi__object *h = mpi__object_of(MPI__HANDLER, to->handler, &freed);
    if (h) h->references++;
    *code = mpi__cart_copy(to, c);
    if (!*code) *code = mpi__graph_copy(to, c);
    if (!*code && !mpi__info_keep(&to->info, info)) *code = MPI_ERR_NO_MEM;
    if (!*code) *code = mpi__attributes_copy(&to->attributes, &c->attributes, (uintptr_t)c->handle, false);
    if (!*code) return to;
    MPI_Comm handle = to->handle;
    discard(to, &handle);
    return NULL;
}

static int idup(const char *name, MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
{
    mpi__comm *c;
    int code = check(name, comm, &c, newcomm);
    if (code) return code;
    const char *file;
    int line;
    p2p_layer_line(c->p2p, &file, &line);
    mpi__comm *to = begin_copy(c, info, &code);
    p2p__here(file, line);
    int begun = mpi__begin_on(c, &(p2p_layer_call){.name = name});
    if (begun) return begun;
    copying *state = malloc(sizeof *state);
    if (to && !request)
        code = mpi__wrong(c, MPI_ERR_REQUEST, P2P_ARGUMENT_REQUEST, "request is NULL: nothing could wait for this");
    else if (!to && code != MPI_ERR_NO_MEM)
        code = mpi__attribute_failed(c, code, "copies");
    mpi__request *r = to && !code && state ? mpi__request_new(c) : NULL;
    if (!r) {
        free(state);
        return mpi__end(c, code && code != MPI_ERR_NO_MEM ? code : mpi__no_memory(c));
    }
    const p2p_fingerprint as = {.operation = name, .count = SIZE_MAX, .root = -1};
    *state = (copying){.to = to};
    r->name = name;
    r->collective = r->active = true;
    r->state = state;
    r->finish = end_idup;
    p2p_layer_call_end(c->p2p, P2P_OK);
    p2p__here(file, line);
    mpi__acts();
    p2p_layer_alias(c->p2p, &as);
    p2p_err err = p2p_layer_idup(c->p2p, &state->p2p, &r->p2p);
    if (err) {
        free(state);
        r->finish = NULL;
        mpi__request_free(r);
        return mpi__ended(c, err);
    }
    *newcomm = to->handle;
    *request = (MPI_Request)(void *)r;
    return MPI_SUCCESS;
}

API(Comm_idup)(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    return idup("MPI_Comm_idup", comm, MPI_INFO_NULL, newcomm, request);
}

API(Comm_idup_with_info)(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
{
    return idup("MPI_Comm_idup_with_info", comm, info, newcomm, request);
}

/* Its ranks in c, for MPI_Comm_create and its kin: NULL if there is no memory, or one is not in c. */
static int *ranks_in(const mpi__comm *c, const mpi__group *g)
{
    int *ranks = malloc(((size_t)g->size + 1) * sizeof *ranks);
    for (int i = 0; ranks && i < g->size; i++) {
        ranks[i] = 0;
        while (ranks[i] < c->size && p2p_layer_world_rank(c->p2p, ranks[i]) != g->world[i]) ranks[i]++;
        if (ranks[i] < c->size) continue;
        free(ranks);
        return NULL;
    }
    return ranks;
}

API(Comm_create)(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    mpi__comm *c;
    mpi__group *g = mpi__group_of(group);
    int code = check("MPI_Comm_create", comm, &c, newcomm);
    if (code) return code;
    int *ranks = g ? ranks_in(c, g) : NULL;
    if (!ranks) {
        code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Comm_create"});
        return code ? code
                    : mpi__end(
                          c, mpi__wrong(c, MPI_ERR_GROUP, P2P_ARGUMENT_OTHER, "%s",
                                        g ? "the group has ranks that the communicator has not" : "this is no group"));
    }
    /* The colour is the lowest rank of the group, which differs where groups differ. */
    int lowest = INT_MAX;
    for (int i = 0; i < g->size; i++) lowest = ranks[i] < lowest ? ranks[i] : lowest;
    free(ranks);
    return mpi__split_alike(c, "MPI_Comm_create", g->rank == MPI_UNDEFINED ? MPI_UNDEFINED : lowest, g->rank, g->size,
                            "not all ranks of the group have given this group" MPI__TRY
                            "the same group on all ranks that are in it",
                            newcomm);
}

int mpi__create_group(const char *name, mpi__comm *c, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    p2p_comm *sub = NULL;
    const mpi__group *g = mpi__group_of(group);
    int code = mpi__begin_on(c, &(p2p_layer_call){.name = name});
    if (code) return code;
    code = mpi__check_pointer(c, newcomm, "newcomm");
    int *ranks = !code && g ? ranks_in(c, g) : NULL;
    if (!code && !ranks)
        code = mpi__wrong(c, MPI_ERR_GROUP, P2P_ARGUMENT_OTHER, "%s",
                          g ? "the group has ranks that the communicator has not" : "this is no group");
    if (!code && tag < 0) code = mpi__wrong(c, MPI_ERR_TAG, P2P_ARGUMENT_TAG, "tag %d is negative", tag);
    if (!code) *newcomm = MPI_COMM_NULL;
    mpi__acts();
    if (!code && g->rank != MPI_UNDEFINED)
        code = mpi__p2p(c, p2p_layer_subset(c->p2p, g->size, ranks, tag % (INT_MAX / 2), &sub));
    free(ranks);
    code = mpi__end(c, code);
    return code ? code : made(c, P2P_OK, sub, newcomm);
}

API(Comm_create_group)(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    static const char name[] = "MPI_Comm_create_group";
    mpi__comm *c;
    int code = check(name, comm, &c, newcomm);
    return code ? code : mpi__create_group(name, c, group, tag, newcomm);
}

/* ---- Freeing ---- */

static int free_comm(const char *name, MPI_Comm *comm)
{
    mpi__comm *c;
    int code = mpi__begin(&c, comm ? *comm : MPI_COMM_NULL, &(p2p_layer_call){.name = name});
    if (code || !comm) return code;
    if (c == mpi__world || c == mpi__self)
        return mpi__end(c, mpi__wrong(c, MPI_ERR_COMM, P2P_ARGUMENT_COMMUNICATOR, "%s cannot be freed", c->name));
    const char *file;
    int line;
    p2p_layer_line(c->p2p, &file, &line);
    mpi__end(c, MPI_SUCCESS);
    code = mpi__attributes_free(&c->attributes, (uintptr_t)*comm, false); /* functions of the program's */
    if (code) {
        p2p__here(file, line);
        int begun = mpi__begin_on(c, &(p2p_layer_call){.name = name});
        return begun ? begun : mpi__end(c, mpi__attribute_failed(c, code, "deletes"));
    }
    mpi__buffer_drop(c);
    p2p_layer_freed(c->p2p);
    *comm = MPI_COMM_NULL;
    c->object.magic = MPI__FREED | MPI__COMM; /* requests may still hold it */
    mpi__comm_drop(c);
    mpi__comms_reclaim();
    return MPI_SUCCESS;
}

API(Comm_free)(MPI_Comm *comm)
{
    return free_comm("MPI_Comm_free", comm);
}

API(Comm_disconnect)(MPI_Comm *comm)
{
    return free_comm("MPI_Comm_disconnect", comm);
}

/* ---- What they are ---- */

API(Comm_compare)(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    mpi__comm *a, *b;
    int code = mpi__begin(&b, comm2, &(p2p_layer_call){.name = "MPI_Comm_compare"});
    if (code) return code;
    mpi__end(b, MPI_SUCCESS);
    code = mpi__begin(&a, comm1, &(p2p_layer_call){.name = "MPI_Comm_compare"});
    if (code) return code;
    int same = 0, found = 0;
    for (int i = 0; i < a->size; i++) {
        int world = p2p_layer_world_rank(a->p2p, i);
        same += i < b->size && p2p_layer_world_rank(b->p2p, i) == world;
        for (int k = 0; k < b->size; k++) found += p2p_layer_world_rank(b->p2p, k) == world;
    }
    code = mpi__place(a, result, "result");
    if (code) return code;
    *result = a == b                                   ? MPI_IDENT
              : a->size != b->size || found != a->size ? MPI_UNEQUAL
              : same == a->size                        ? MPI_CONGRUENT
                                                       : MPI_SIMILAR;
    return mpi__end(a, MPI_SUCCESS);
}

/* No rank was started by another one. */
API(Comm_get_parent)(MPI_Comm *parent)
{
    mpi__comm *c;
    int code = mpi__begin_local(&c, "MPI_Comm_get_parent");
    if (!code) code = mpi__place(c, parent, "parent");
    if (code) return code;
    *parent = MPI_COMM_NULL;
    return mpi__end(c, MPI_SUCCESS);
}

API(Comm_test_inter)(MPI_Comm comm, int *flag)
{
    mpi__comm *c;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Comm_test_inter"});
    if (!code) code = mpi__place(c, flag, "flag");
    if (code) return code;
    *flag = false;
    return mpi__end(c, MPI_SUCCESS);
}

API(Comm_set_name)(MPI_Comm comm, const char *comm_name)
{
    mpi__comm *c;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Comm_set_name"});
    if (code) return code;
    code = mpi__check_pointer(c, comm_name, "comm_name");
    if (!code) snprintf(c->name, sizeof c->name, "%s", comm_name);
    return mpi__end(c, code);
}

API(Comm_get_name)(MPI_Comm comm, char *comm_name, int *resultlen)
{
    mpi__comm *c;
    bool null = comm == MPI_COMM_NULL; /* has a name too */
    int code = mpi__begin(&c, null ? MPI_COMM_WORLD : comm, &(p2p_layer_call){.name = "MPI_Comm_get_name"});
    if (code) return code;
    code = mpi__check_pointer(c, comm_name, "comm_name");
    if (!code) code = mpi__check_pointer(c, resultlen, "resultlen");
    if (!code) *resultlen = snprintf(comm_name, MPI_MAX_OBJECT_NAME, "%s", null ? "MPI_COMM_NULL" : c->name);
    return mpi__end(c, code);
}

API(Comm_set_info)(MPI_Comm comm, MPI_Info info)
{
    mpi__comm *c;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Comm_set_info"});
    if (code) return code;
    return mpi__end(c, mpi__info_keep(&c->info, info) ? MPI_SUCCESS : mpi__no_memory(c)); /* no hint is known */
}

API(Comm_get_info)(MPI_Comm comm, MPI_Info *info_used)
{
    mpi__comm *c;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Comm_get_info"});
    if (!code) code = mpi__place(c, info_used, "info_used");
    if (code) return code;
    mpi__end(c, MPI_SUCCESS);
    code = PMPI_Info_create(info_used);
    return !code && !mpi__info_keep(info_used, c->info) ? MPI_ERR_NO_MEM : code;
}

int mpi__group_of_all(mpi__comm *c, const mpi__comm *of, MPI_Group *group)
{
    int code = mpi__check_pointer(c, group, "group");
    mpi__group *g = code ? NULL : mpi__group_new(of->size);
    if (!code && !g) code = mpi__no_memory(c);
    if (code) return code;
    for (int i = 0; i < of->size; i++) g->world[i] = p2p_layer_world_rank(of->p2p, i);
    g->rank = of->rank;
    p2p_layer_made(c->p2p, "group", &g->object.thing);
    *group = (MPI_Group)(void *)g;
    return MPI_SUCCESS;
}

API(Comm_group)(MPI_Comm comm, MPI_Group *group)
{
    mpi__comm *c;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Comm_group"});
    return code ? code : mpi__end(c, mpi__group_of_all(c, c, group));
}
