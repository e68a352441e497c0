/* SPDX-License-Identifier: MIT */
/* Looking whether requests have ended, without ending them: MPI_Request_get_status and its kin. */
#include "mpi/internal.h"

/* What p2p no longer knows is still to be waited for: by the name and the line of what began it. */
static void keep_in_mind(mpi__request *r)
{
    p2p_layer_made(r->comm->p2p, "request", &r->object.thing);
    if (r->name) r->object.thing.name = r->name;
    r->object.thing.file = r->file;
    r->object.thing.line = r->line;
}

/* A call that looks at requests: on the communicator of the first; `own` is that of the request that has failed. */
typedef struct {
    const char *name;
    mpi__comm *c, *own;
    bool done, live; /* the last that was looked at: it has ended; it is neither null nor inactive */
} looker;

static int begin_look(looker *l, const char *name, int count, const MPI_Request requests[])
{
    mpi__check_state(name);
    mpi__comm *c = mpi__state == MPI__RUNNING ? mpi__requests_comm(count, requests) : mpi__world;
    *l = (looker){.name = name, .c = c, .own = c};
    return mpi__begin_on(c, &(p2p_layer_call){.name = name});
}

static int end_look(const looker *l, int code)
{
    return mpi__end_as(l->c, l->own, l->name, code);
}

/* p2p ends what it finds done: that is kept here until the program asks for it. */
static int look_at(looker *l, MPI_Request request, MPI_Status *status)
{
    mpi__request *r;
    p2p_status got;
    l->done = true;
    l->live = false;
    int code = mpi__request_look(l->c, request, &r);
    if (code || !r || !r->active) {
        mpi__empty_status(status, MPI_ANY_SOURCE);
        return code;
    }
    l->live = true;
    l->own = r->comm;
    if (r->p2p) {
        p2p_err err = p2p_test(&r->p2p, &l->done, &got);
        if (r->p2p) return mpi__p2p(r->comm, err);
        l->done = true;
        code = mpi__request_finish(r, err, &got, p2p_layer_kind(r->comm->p2p), &r->kept);
        r->kept.MPI_ERROR = code;
        r->has_kept = r->active = true;
        if (!r->persistent) keep_in_mind(r); /* it is still to be waited for */
    }
    if (!r->has_kept)
        mpi__empty_status(status, r->receives && r->peer == MPI_PROC_NULL ? MPI_PROC_NULL : MPI_ANY_SOURCE);
    else
        mpi__copy_status(status, &r->kept);
    return code;
}

API(Request_get_status)(MPI_Request request, int *flag, MPI_Status *status)
{
    looker l;
    int code = begin_look(&l, "MPI_Request_get_status", 1, &request);
    if (code) return code;
    code = look_at(&l, request, status);
    *flag = l.done;
    return end_look(&l, code);
}

API(Request_get_status_all)(int count, const MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    looker l;
    int code = begin_look(&l, "MPI_Request_get_status_all", count, requests);
    if (code) return code;
    *flag = true;
    for (int i = 0; i < count && !code; i++) {
        code = look_at(&l, requests[i], statuses ? &statuses[i] : MPI_STATUS_IGNORE);
        *flag = *flag && l.done;
    }
    return end_look(&l, code);
}

API(Request_get_status_any)(int count, const MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    looker l;
    bool any = false;
    int code = begin_look(&l, "MPI_Request_get_status_any", count, requests);
    if (code) return code;
    *index = MPI_UNDEFINED;
    for (int i = 0; i < count && !code && *index == MPI_UNDEFINED; i++) {
        MPI_Status one;
        code = look_at(&l, requests[i], &one);
        any = any || l.live;
        if (code || !l.live || !l.done) continue;
        *index = i;
        mpi__copy_status(status, &one);
    }
    *flag = *index != MPI_UNDEFINED || !any;
    if (!code && !any) mpi__empty_status(status, MPI_ANY_SOURCE);
    return end_look(&l, code);
}

API(Request_get_status_some)
(int incount, const MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    looker l;
    bool any = false;
    int found = 0, code = begin_look(&l, "MPI_Request_get_status_some", incount, requests);
    if (code) return code;
    for (int i = 0; i < incount && !code; i++) {
        MPI_Status one;
        code = look_at(&l, requests[i], &one);
        any = any || l.live;
        if (code || !l.live || !l.done) continue;
        if (statuses != MPI_STATUSES_IGNORE) mpi__copy_status(&statuses[found], &one);
        indices[found++] = i;
    }
    *outcount = any ? found : MPI_UNDEFINED;
    return end_look(&l, code);
}
