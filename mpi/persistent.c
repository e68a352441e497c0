/* SPDX-License-Identifier: MIT */
/*
 * Persistent collectives: the arguments are kept, and each start is a call of the form that returns a request, whose insides
 * the persistent request takes over until it has ended. Ranks make them in one order, and may start them in any (MPI 4.0, 6.13):
 * so each has a communicator of its own, in which its starts follow each other.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi/internal.h"

enum { LISTS = 6 };

/* What is kept. Lists are copies. */
struct mpi__plan {
    int (*begin)(const mpi__plan *p, MPI_Request *request);
    const void *send;
    void *recv;
    int send_count, recv_count, root; /* root: -1 if there is none */
    MPI_Datatype send_type, recv_type;
    const int *send_counts, *send_places, *recv_counts, *recv_places;
    const MPI_Datatype *send_types, *recv_types;
    MPI_Op op;
    MPI_Comm comm;     /* the program's; then its own, which is its request's as well */
    mpi__comm *parent; /* then the program's */
    void *copies[LISTS];
    /* What it uses is held, and its handles are good at each start: the program may have freed its own. */
    mpi__op *held_op;
    mpi__type **held;
    size_t held_count;
};

void mpi__plan_free(mpi__plan *plan)
{
    if (!plan) return;
    for (int i = 0; i < LISTS; i++) free(plan->copies[i]);
    for (size_t i = 0; i < plan->held_count; i++) mpi__type_drop(plan->held[i]);
    if (plan->held_op) mpi__op_drop(plan->held_op);
    if (plan->parent) mpi__comm_drop(plan->parent);
    free(plan->held);
    free(plan);
}

static void hold_type(mpi__plan *p, MPI_Datatype handle)
{
    mpi__type *t = handle ? mpi__type_of(handle) : NULL;
    if (t) mpi__type_keep(p->held[p->held_count++] = t);
}

/* What is no type, or no operator, is an error at the start. */
static bool hold(mpi__plan *p, const mpi__comm *c)
{
    size_t ranks = (size_t)c->size;
    p->held = malloc((2 * ranks + 2) * sizeof *p->held);
    if (!p->held) return false;
    hold_type(p, p->send_type);
    hold_type(p, p->recv_type);
    for (size_t q = 0; p->send_types && q < ranks; q++) hold_type(p, p->send_types[q]);
    for (size_t q = 0; p->recv_types && q < ranks; q++) hold_type(p, p->recv_types[q]);
    p->held_op = p->op ? mpi__op_of(p->op) : NULL;
    if (p->held_op) mpi__op_keep(p->held_op);
    return true;
}

/* The handles of what is held are good, or as the program has left them. */
static uint32_t lend(const mpi__request *r, int handles, uint32_t magic)
{
    const mpi__plan *p = r->plan;
    const uint32_t before = r->comm->object.magic;
    for (size_t i = 0; i < p->held_count; i++) p->held[i]->handles += handles;
    r->comm->object.magic = magic;
    return before;
}

/* The program may have given its communicator another one since. */
static void take_handler(mpi__comm *own, const mpi__comm *c)
{
    mpi__handler *h;
    if (own->handler == c->handler) return;
    if (mpi__is_handler(own->handler, &h) && h && mpi__release(h)) mpi__object_free(h);
    if (mpi__is_handler(c->handler, &h) && h) h->object.references++;
    own->handler = c->handler;
    bool fatal = c->handler == MPI_ERRORS_ARE_FATAL || c->handler == MPI_ERRORS_ABORT;
    p2p_set_errors(own->p2p, fatal ? P2P_ERRORS_FATAL : P2P_ERRORS_RETURN);
}

int mpi__plan_start(mpi__request *r)
{
    MPI_Request handle;
    take_handler(r->comm, r->plan->parent);
    const uint32_t before = lend(r, 1, MPI__LIVE | MPI__COMM);
    int code = r->plan->begin(r->plan, &handle);
    lend(r, -1, before);
    if (code) return code;
    mpi__request *inner = (mpi__request *)(void *)handle;
    r->p2p = inner->p2p;
    r->finish = inner->finish;
    r->state = inner->state;
    r->active = r->started = true;
    r->file = inner->file;
    r->line = inner->line;
    mpi__request_free(inner);
    return MPI_SUCCESS;
}

/* A copy of a list that matters on this rank, in place of the list. */
static bool copy(mpi__plan *p, int *used, const void *list, size_t bytes, const void **kept)
{
    *kept = NULL;
    if (!list || !bytes) return true;
    void *own = malloc(bytes);
    if (!own) return false;
    p->copies[(*used)++] = memcpy(own, list, bytes);
    *kept = own;
    return true;
}

static bool copy_lists(mpi__plan *p, const mpi__comm *c)
{
    bool here = p->root < 0 || p->root == c->rank, sends = here && p->send != MPI_IN_PLACE;
    size_t ints = (size_t)c->size * sizeof(int), types = (size_t)c->size * sizeof(MPI_Datatype);
    int used = 0;
    return copy(p, &used, p->send_counts, sends ? ints : 0, (const void **)&p->send_counts) &&
           copy(p, &used, p->send_places, sends ? ints : 0, (const void **)&p->send_places) &&
           copy(p, &used, p->recv_counts, here ? ints : 0, (const void **)&p->recv_counts) &&
           copy(p, &used, p->recv_places, here ? ints : 0, (const void **)&p->recv_places) &&
           copy(p, &used, p->send_types, sends ? types : 0, (const void **)&p->send_types) &&
           copy(p, &used, p->recv_types, here ? types : 0, (const void **)&p->recv_types);
}

static int make(const char *name, const mpi__plan *plan, MPI_Info info, MPI_Request *request)
{
    mpi__comm *c;
    (void)info; /* hints; none is known */
    int code = mpi__begin(&c, plan->comm, &(p2p_layer_call){.name = name});
    if (code) return code;
    if (!request)
        return mpi__end(
            c, mpi__wrong(c, MPI_ERR_REQUEST, P2P_ARGUMENT_REQUEST, "request is NULL: nothing could start this"));
    mpi__request *r = mpi__request_new(c);
    mpi__plan *p = r ? malloc(sizeof *p) : NULL;
    if (p) *p = *plan;
    if (!p || !copy_lists(p, c) || !hold(p, c)) {
        mpi__plan_free(p);
        if (r) mpi__request_free(r);
        return mpi__end(c, mpi__no_memory(c));
    }
    r->plan = p;
    r->name = name;
    r->persistent = r->collective = true;
    p2p_layer_made(c->p2p, "persistent", &r->object.thing);
    mpi__end(c, MPI_SUCCESS);
    p2p__here(r->file, r->line);
    code = mpi__split(c, name, 0, c->rank, &p->comm); /* where all ranks make it, in one order */
    if (code) {
        p2p_layer_given_back(&r->object.thing);
        mpi__request_free(r);
        return code;
    }
    p->parent = c; /* whose reference was the request's */
    r->comm = mpi__comm_of(p->comm);
    p2p_layer_freed(r->comm->p2p);
    *request = (MPI_Request)(void *)r;
    return MPI_SUCCESS;
}

/* ---- Each of them: how it is started, and how it is made ---- */

static int barrier(const mpi__plan *p, MPI_Request *r)
{
    return PMPI_Ibarrier(p->comm, r);
}

API(Barrier_init)(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return make("MPI_Barrier_init", &(mpi__plan){.begin = barrier, .comm = comm, .root = -1}, info, request);
}

static int bcast(const mpi__plan *p, MPI_Request *r)
{
    return PMPI_Ibcast(p->recv, p->recv_count, p->recv_type, p->root, p->comm, r);
}

API(Bcast_init)
(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const mpi__plan plan = {
        .begin = bcast, .recv = buffer, .recv_count = count, .recv_type = datatype, .root = root, .comm = comm};
    return make("MPI_Bcast_init", &plan, info, request);
}

/* Those that move blocks of one length, with a root or without. */
#define BLOCKS(name, begin_, parameters, root_, start)                                                               \
    static int begin_(const mpi__plan *p, MPI_Request *r)                                                            \
    {                                                                                                                \
        return start;                                                                                                \
    }                                                                                                                \
    API(name##_init)                                                                                                 \
    (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, \
     parameters MPI_Comm comm, MPI_Info info, MPI_Request *request)                                                  \
    {                                                                                                                \
        const mpi__plan plan = {.begin = (begin_),                                                                   \
                                .send = sendbuf,                                                                     \
                                .send_count = sendcount,                                                             \
                                .send_type = sendtype,                                                               \
                                .recv = recvbuf,                                                                     \
                                .recv_count = recvcount,                                                             \
                                .recv_type = recvtype,                                                               \
                                .root = (root_),                                                                     \
                                .comm = comm};                                                                       \
        return make("MPI_" #name "_init", &plan, info, request);                                                     \
    }

#define NO_ROOT
#define WITH_ROOT int root,
#define SENT p->send, p->send_count, p->send_type
#define RECEIVED p->recv, p->recv_count, p->recv_type

BLOCKS(Gather, gather, WITH_ROOT, root, PMPI_Igather(SENT, RECEIVED, p->root, p->comm, r))
BLOCKS(Scatter, scatter, WITH_ROOT, root, PMPI_Iscatter(SENT, RECEIVED, p->root, p->comm, r))
BLOCKS(Allgather, all_gather, NO_ROOT, -1, PMPI_Iallgather(SENT, RECEIVED, p->comm, r))
BLOCKS(Alltoall, all_to_all, NO_ROOT, -1, PMPI_Ialltoall(SENT, RECEIVED, p->comm, r))

static int gatherv(const mpi__plan *p, MPI_Request *r)
{
    return PMPI_Igatherv(SENT, p->recv, p->recv_counts, p->recv_places, p->recv_type, p->root, p->comm, r);
}

API(Gatherv_init)
(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[],
 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const mpi__plan plan = {.begin = gatherv,
                            .send = sendbuf,
                            .send_count = sendcount,
                            .send_type = sendtype,
                            .recv = recvbuf,
                            .recv_counts = recvcounts,
                            .recv_places = displs,
                            .recv_type = recvtype,
                            .root = root,
                            .comm = comm};
    return make("MPI_Gatherv_init", &plan, info, request);
}

static int all_gatherv(const mpi__plan *p, MPI_Request *r)
{
    return PMPI_Iallgatherv(SENT, p->recv, p->recv_counts, p->recv_places, p->recv_type, p->comm, r);
}

API(Allgatherv_init)
(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[],
 MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const mpi__plan plan = {.begin = all_gatherv,
                            .send = sendbuf,
                            .send_count = sendcount,
                            .send_type = sendtype,
                            .recv = recvbuf,
                            .recv_counts = recvcounts,
                            .recv_places = displs,
                            .recv_type = recvtype,
                            .root = -1,
                            .comm = comm};
    return make("MPI_Allgatherv_init", &plan, info, request);
}

static int scatterv(const mpi__plan *p, MPI_Request *r)
{
    return PMPI_Iscatterv(p->send, p->send_counts, p->send_places, p->send_type, RECEIVED, p->root, p->comm, r);
}

API(Scatterv_init)
(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf, int recvcount,
 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const mpi__plan plan = {.begin = scatterv,
                            .send = sendbuf,
                            .send_counts = sendcounts,
                            .send_places = displs,
                            .send_type = sendtype,
                            .recv = recvbuf,
                            .recv_count = recvcount,
                            .recv_type = recvtype,
                            .root = root,
                            .comm = comm};
    return make("MPI_Scatterv_init", &plan, info, request);
}

static int all_to_allv(const mpi__plan *p, MPI_Request *r)
{
    return PMPI_Ialltoallv(p->send, p->send_counts, p->send_places, p->send_type, p->recv, p->recv_counts,
                           p->recv_places, p->recv_type, p->comm, r);
}

API(Alltoallv_init)
(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
 const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const mpi__plan plan = {.begin = all_to_allv,
                            .send = sendbuf,
                            .send_counts = sendcounts,
                            .send_places = sdispls,
                            .send_type = sendtype,
                            .recv = recvbuf,
                            .recv_counts = recvcounts,
                            .recv_places = rdispls,
                            .recv_type = recvtype,
                            .root = -1,
                            .comm = comm};
    return make("MPI_Alltoallv_init", &plan, info, request);
}

static int all_to_allw(const mpi__plan *p, MPI_Request *r)
{
    return PMPI_Ialltoallw(p->send, p->send_counts, p->send_places, p->send_types, p->recv, p->recv_counts,
                           p->recv_places, p->recv_types, p->comm, r);
}

API(Alltoallw_init)
(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
 const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
 MPI_Request *request)
{
    const mpi__plan plan = {.begin = all_to_allw,
                            .send = sendbuf,
                            .send_counts = sendcounts,
                            .send_places = sdispls,
                            .send_types = sendtypes,
                            .recv = recvbuf,
                            .recv_counts = recvcounts,
                            .recv_places = rdispls,
                            .recv_types = recvtypes,
                            .root = -1,
                            .comm = comm};
    return make("MPI_Alltoallw_init", &plan, info, request);
}

static int reduce(const mpi__plan *p, MPI_Request *r)
{
    return PMPI_Ireduce(p->send, p->recv, p->recv_count, p->recv_type, p->op, p->root, p->comm, r);
}

API(Reduce_init)
(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
 MPI_Info info, MPI_Request *request)
{
    const mpi__plan plan = {.begin = reduce,
                            .send = sendbuf,
                            .recv = recvbuf,
                            .recv_count = count,
                            .recv_type = datatype,
                            .op = op,
                            .root = root,
                            .comm = comm};
    return make("MPI_Reduce_init", &plan, info, request);
}

#define REDUCTION(name, begin_, start)                                                                              \
    static int begin_(const mpi__plan *p, MPI_Request *r)                                                           \
    {                                                                                                               \
        return start(p->send, p->recv, p->recv_count, p->recv_type, p->op, p->comm, r);                             \
    }                                                                                                               \
    API(name##_init)                                                                                                \
    (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, \
     MPI_Request *request)                                                                                          \
    {                                                                                                               \
        const mpi__plan plan = {.begin = (begin_),                                                                  \
                                .send = sendbuf,                                                                    \
                                .recv = recvbuf,                                                                    \
                                .recv_count = count,                                                                \
                                .recv_type = datatype,                                                              \
                                .op = op,                                                                           \
                                .root = -1,                                                                         \
                                .comm = comm};                                                                      \
        return make("MPI_" #name "_init", &plan, info, request);                                                    \
    }

REDUCTION(Allreduce, all_reduce, PMPI_Iallreduce)
REDUCTION(Scan, scan, PMPI_Iscan)
REDUCTION(Exscan, exscan, PMPI_Iexscan)
REDUCTION(Reduce_scatter_block, reduce_scatter_block, PMPI_Ireduce_scatter_block)

static int reduce_scatter(const mpi__plan *p, MPI_Request *r)
{
    return PMPI_Ireduce_scatter(p->send, p->recv, p->recv_counts, p->recv_type, p->op, p->comm, r);
}

API(Reduce_scatter_init)
(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
 MPI_Info info, MPI_Request *request)
{
    const mpi__plan plan = {.begin = reduce_scatter,
                            .send = sendbuf,
                            .recv = recvbuf,
                            .recv_counts = recvcounts,
                            .recv_type = datatype,
                            .op = op,
                            .root = -1,
                            .comm = comm};
    return make("MPI_Reduce_scatter_init", &plan, info, request);
}
