/* SPDX-License-Identifier: MIT */
/*
 * Sessions (MPI 5.0, 11.3), between MPI_Init and MPI_Finalize: two sets of processes, all of them and this one. Errors go
 * to the handler of MPI_COMM_WORLD.
 */
#include <stdio.h>
#include <string.h>

#include "mpi/internal.h"

typedef struct {
    mpi__object object;
    MPI_Errhandler handler;
} session;

static const char *const sets[] = {"mpi://WORLD", "mpi://SELF"};
enum { SETS = sizeof sets / sizeof *sets };

static int begin(const char *name, MPI_Session handle, mpi__comm **c, session **s)
{
    bool freed = false;
    int code = mpi__begin_local(c, name);
    if (code) return code;
    *s = mpi__object_of(MPI__SESSION, handle, &freed);
    if (*s) return MPI_SUCCESS;
    return mpi__end(*c, mpi__wrong(*c, MPI_ERR_SESSION, P2P_ARGUMENT_OTHER, "%s",
                                   freed ? "the session has been finalized" : "this is no session"));
}

static int check_set(mpi__comm *c, const char *name, int *set)
{
    for (*set = 0; *set < SETS && name; ++*set)
        if (strcmp(name, sets[*set]) == 0) return MPI_SUCCESS;
    return mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "there is no set of processes \"%s\"" MPI__TRY "%s or %s",
                      name ? name : "", sets[0], sets[1]);
}

API(Session_init)(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *handle)
{
    mpi__comm *c;
    mpi__handler *h;
    (void)info;
    int code = mpi__begin_local(&c, "MPI_Session_init");
    if (code) return code;
    session *s = mpi__object_new(MPI__SESSION, sizeof *s);
    if (!s) return mpi__end(c, mpi__no_memory(c));
    s->handler = errhandler;
    if (mpi__is_handler(errhandler, &h) && h) h->object.references++;
    *handle = (MPI_Session)(void *)s;
    return mpi__end(c, MPI_SUCCESS);
}

API(Session_finalize)(MPI_Session *handle)
{
    mpi__comm *c;
    session *s;
    mpi__handler *h;
    int code = begin("MPI_Session_finalize", *handle, &c, &s);
    if (code) return code;
    if (mpi__is_handler(s->handler, &h) && h && mpi__release(h)) mpi__object_free(h);
    mpi__object_free(s);
    *handle = MPI_SESSION_NULL;
    return mpi__end(c, MPI_SUCCESS);
}

API(Session_get_info)(MPI_Session handle, MPI_Info *info)
{
    mpi__comm *c;
    session *s;
    int code = begin("MPI_Session_get_info", handle, &c, &s);
    if (code) return code;
    mpi__end(c, MPI_SUCCESS);
    return PMPI_Info_create(info);
}

API(Session_get_num_psets)(MPI_Session handle, MPI_Info info, int *count)
{
    mpi__comm *c;
    session *s;
    (void)info;
    int code = begin("MPI_Session_get_num_psets", handle, &c, &s);
    if (code) return code;
    *count = SETS;
    return mpi__end(c, MPI_SUCCESS);
}

API(Session_get_nth_pset)(MPI_Session handle, MPI_Info info, int n, int *length, char *name)
{
    mpi__comm *c;
    session *s;
    (void)info;
    int code = begin("MPI_Session_get_nth_pset", handle, &c, &s);
    if (code) return code;
    if (n < 0 || n >= SETS)
        return mpi__end(c, mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "set %d is not in [0,%d)", n, SETS));
    if (*length > 0) snprintf(name, (size_t)*length, "%s", sets[n]);
    *length = (int)strlen(sets[n]) + 1;
    return mpi__end(c, MPI_SUCCESS);
}

API(Session_get_pset_info)(MPI_Session handle, const char *name, MPI_Info *info)
{
    mpi__comm *c;
    session *s;
    int set = 0, code = begin("MPI_Session_get_pset_info", handle, &c, &s);
    if (code) return code;
    code = check_set(c, name, &set);
    if (code) return mpi__end(c, code);
    char size[16];
    snprintf(size, sizeof size, "%d", set == 0 ? c->size : 1);
    mpi__end(c, MPI_SUCCESS);
    code = PMPI_Info_create(info);
    return code ? code : PMPI_Info_set(*info, "mpi_size", size);
}

API(Group_from_session_pset)(MPI_Session handle, const char *name, MPI_Group *group)
{
    mpi__comm *c;
    session *s;
    int set = 0, code = begin("MPI_Group_from_session_pset", handle, &c, &s);
    if (code) return code;
    code = check_set(c, name, &set);
    if (code) return mpi__end(c, code);
    mpi__end(c, MPI_SUCCESS);
    return PMPI_Comm_group(set == 0 ? MPI_COMM_WORLD : MPI_COMM_SELF, group);
}

API(Comm_create_from_group)
(MPI_Group group, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newcomm)
{
    unsigned tag = 0;
    (void)info;
    for (const char *at = stringtag; at && *at; at++) tag = tag * 31 + (unsigned char)*at;
    int code = PMPI_Comm_create_group(MPI_COMM_WORLD, group, (int)(tag >> 2), newcomm);
    return code || *newcomm == MPI_COMM_NULL ? code : PMPI_Comm_set_errhandler(*newcomm, errhandler);
}

API(Session_create_errhandler)(MPI_Session_errhandler_function *function, MPI_Errhandler *errhandler)
{
    return PMPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)(void (*)(void))function, errhandler);
}

API(Session_set_errhandler)(MPI_Session handle, MPI_Errhandler errhandler)
{
    mpi__comm *c;
    session *s;
    mpi__handler *h, *old;
    int code = begin("MPI_Session_set_errhandler", handle, &c, &s);
    if (code) return code;
    if (!mpi__is_handler(errhandler, &h))
        return mpi__end(c, mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "this is no error handler"));
    if (h) h->object.references++;
    if (mpi__is_handler(s->handler, &old) && old && mpi__release(old)) mpi__object_free(old);
    s->handler = errhandler;
    return mpi__end(c, MPI_SUCCESS);
}

API(Session_get_errhandler)(MPI_Session handle, MPI_Errhandler *errhandler)
{
    mpi__comm *c;
    session *s;
    mpi__handler *h;
    int code = begin("MPI_Session_get_errhandler", handle, &c, &s);
    if (code) return code;
    if (mpi__is_handler(s->handler, &h) && h) h->object.references++;
    *errhandler = s->handler;
    return mpi__end(c, MPI_SUCCESS);
}

API(Session_call_errhandler)(MPI_Session handle, int errorcode)
{
    mpi__comm *c;
    session *s;
    mpi__handler *h;
    int code = begin("MPI_Session_call_errhandler", handle, &c, &s);
    if (code) return code;
    if (s->handler == MPI_ERRORS_RETURN) return mpi__end(c, MPI_SUCCESS);
    if (!mpi__is_handler(s->handler, &h) || !h)
        return mpi__end(c, mpi__mistake(c, errorcode, "invalid_argument", "the program says so: error %d", errorcode));
    mpi__end(c, MPI_SUCCESS);
    ((MPI_Session_errhandler_function *)(void (*)(void))h->function)(&handle, &errorcode);
    return MPI_SUCCESS;
}
