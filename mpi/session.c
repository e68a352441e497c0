/* SPDX-License-Identifier: MIT */
/*
 * Sessions (MPI 5.0, 11.3): two sets of processes, all of them and this one. They need no MPI_Init. Errors of a call on a
 * session, and those of MPI_Comm_create_from_group, go to the handler that was given for them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/internal.h"

typedef struct {
    mpi__object object;
    MPI_Errhandler handler;
} session;

static const char *const sets[] = {"mpi://WORLD", "mpi://SELF"};
enum { SETS = sizeof sets / sizeof *sets };

int mpi__open_sessions; /* that are open */

/* ---- Whose errors ---- */

static struct {
    MPI_Errhandler handler;
    MPI_Comm handle;
} worlds;

static void lend(MPI_Errhandler handler, MPI_Comm handle)
{
    bool fatal = handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT;
    mpi__world->handler = handler;
    mpi__world->handle = handle; /* what a handler of the program's is given */
    p2p_set_errors(mpi__world->p2p, fatal ? P2P_ERRORS_FATAL : P2P_ERRORS_RETURN);
}

/* Calls on sessions are calls on the world, whose errors go to this handler until `leave`. */
static void enter(MPI_Errhandler handler, void *handle)
{
    if (!mpi__world) return;
    worlds.handler = mpi__world->handler;
    worlds.handle = mpi__world->handle;
    lend(handler, (MPI_Comm)handle);
}

static int leave(int code)
{
    if (mpi__world) lend(worlds.handler, worlds.handle);
    return code;
}

static int end(mpi__comm *c, int code)
{
    return leave(mpi__end(c, code));
}

static int begin(const char *name, MPI_Session handle, mpi__comm **c, session **s)
{
    bool freed = false;
    *s = mpi__object_of(MPI__SESSION, handle, &freed);
    if (*s)
        enter((*s)->handler, (void *)handle);
    else if (mpi__world)
        enter(mpi__world->handler, (void *)mpi__world->handle);
    int code = mpi__begin_local(c, name);
    if (!code && !*s)
        code = mpi__end(*c, mpi__wrong(*c, MPI_ERR_SESSION, P2P_ARGUMENT_OTHER, "%s",
                                       freed ? "the session has been finalized" : "this is no session"));
    return code ? leave(code) : MPI_SUCCESS;
}

static int check_handler(mpi__comm *c, MPI_Errhandler errhandler, mpi__handler **h)
{
    if (mpi__is_handler(errhandler, h)) return MPI_SUCCESS;
    return mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "this is no error handler");
}

/* The call that makes a session or a communicator with this handler, which its own errors go to as well. */
static int begin_with(const char *name, MPI_Errhandler errhandler, mpi__comm **c, mpi__handler **h)
{
    bool known = mpi__is_handler(errhandler, h);
    if (mpi__world) enter(known ? errhandler : mpi__world->handler, (void *)MPI_COMM_NULL);
    int code = mpi__begin_local(c, name);
    if (!code && !known) code = mpi__end(*c, check_handler(*c, errhandler, h));
    return code ? leave(code) : MPI_SUCCESS;
}

/* ---- Sessions ---- */

static int check_set(mpi__comm *c, const char *name, int *set)
{
    for (*set = 0; *set < SETS && name; ++*set)
        if (strcmp(name, sets[*set]) == 0) return MPI_SUCCESS;
    return mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "there is no set of processes \"%s\"" MPI__TRY "%s or %s",
                      name ? name : "", sets[0], sets[1]);
}

/* The level of threads that the info asks for; the lowest where it does not. */
static int level_in(MPI_Info info)
{
    char level[32] = "";
    int length = sizeof level, found = false;
    if (info != MPI_INFO_NULL) PMPI_Info_get_string(info, "thread_level", &length, level, &found);
    return found && strcmp(level, "MPI_THREAD_SINGLE") != 0 ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE;
}

API(Session_init)(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *handle)
{
    mpi__comm *c;
    mpi__handler *h;
    if (mpi__state == MPI__BEFORE) mpi__open("MPI_Session_init");
    int code = begin_with("MPI_Session_init", errhandler, &c, &h);
    if (code) return code;
    code = mpi__check_pointer(c, handle, "session");
    session *s = code ? NULL : mpi__object_new(MPI__SESSION, sizeof *s);
    if (!code && !s) code = mpi__no_memory(c);
    if (code) return end(c, code);
    s->handler = errhandler;
    if (h) h->object.references++;
    mpi__open_sessions++;
    *handle = (MPI_Session)(void *)s;
    end(c, MPI_SUCCESS);
    int level = level_in(info);
    if (level > mpi__thread_level) mpi__thread_level = level;
    return MPI_SUCCESS;
}

API(Session_finalize)(MPI_Session *handle)
{
    mpi__comm *c;
    session *s;
    mpi__handler *h;
    const char *file;
    int line, code = begin("MPI_Session_finalize", handle ? *handle : MPI_SESSION_NULL, &c, &s);
    if (code || !handle) return code;
    p2p_layer_line(c->p2p, &file, &line);
    end(c, MPI_SUCCESS);
    if (mpi__is_handler(s->handler, &h) && h && mpi__release(h)) mpi__object_free(h);
    mpi__object_free(s);
    *handle = MPI_SESSION_NULL;
    return --mpi__open_sessions ? MPI_SUCCESS : mpi__last_session_ends(file, line);
}

API(Session_get_info)(MPI_Session handle, MPI_Info *info)
{
    mpi__comm *c;
    session *s;
    int code = begin("MPI_Session_get_info", handle, &c, &s);
    if (code) return code;
    mpi__end(c, MPI_SUCCESS);
    code = PMPI_Info_create(info);
    if (!code)
        code = PMPI_Info_set(*info, "thread_level",
                             mpi__thread_level == MPI_THREAD_SINGLE ? "MPI_THREAD_SINGLE" : "MPI_THREAD_FUNNELED");
    return leave(code);
}

API(Session_get_num_psets)(MPI_Session handle, MPI_Info info, int *count)
{
    mpi__comm *c;
    session *s;
    (void)info;
    int code = begin("MPI_Session_get_num_psets", handle, &c, &s);
    if (code) return code;
    code = mpi__check_pointer(c, count, "npset_names");
    if (!code) *count = SETS;
    return end(c, code);
}

API(Session_get_nth_pset)(MPI_Session handle, MPI_Info info, int n, int *length, char *name)
{
    mpi__comm *c;
    session *s;
    (void)info;
    int code = begin("MPI_Session_get_nth_pset", handle, &c, &s);
    if (code) return code;
    if (n < 0 || n >= SETS) code = mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "set %d is not in [0,%d)", n, SETS);
    if (!code) code = mpi__check_pointer(c, length, "pset_len");
    if (!code && *length > 0) code = mpi__check_pointer(c, name, "pset_name");
    if (code) return end(c, code);
    if (*length > 0) snprintf(name, (size_t)*length, "%s", sets[n]);
    *length = (int)strlen(sets[n]) + 1;
    return end(c, MPI_SUCCESS);
}

API(Session_get_pset_info)(MPI_Session handle, const char *name, MPI_Info *info)
{
    mpi__comm *c;
    session *s;
    int set = 0, code = begin("MPI_Session_get_pset_info", handle, &c, &s);
    if (code) return code;
    code = check_set(c, name, &set);
    if (code) return end(c, code);
    char size[16];
    snprintf(size, sizeof size, "%d", set == 0 ? c->size : 1);
    mpi__end(c, MPI_SUCCESS);
    code = PMPI_Info_create(info);
    return leave(code ? code : PMPI_Info_set(*info, "mpi_size", size));
}

API(Group_from_session_pset)(MPI_Session handle, const char *name, MPI_Group *group)
{
    mpi__comm *c;
    session *s;
    int set = 0, code = begin("MPI_Group_from_session_pset", handle, &c, &s);
    if (code) return code;
    code = check_set(c, name, &set);
    if (code) return end(c, code);
    return end(c, mpi__group_of_all(c, set == 0 ? mpi__world : mpi__self, group));
}

/* ---- Communicators from groups ---- */

API(Comm_create_from_group)
(MPI_Group group, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newcomm)
{
    static const char name[] = "MPI_Comm_create_from_group";
    mpi__comm *c;
    mpi__handler *h;
    unsigned tag = 0;
    const char *file;
    int line, code = begin_with(name, errhandler, &c, &h);
    (void)info;
    if (code) return code;
    code = mpi__check_pointer(c, newcomm, "newcomm");
    if (!code && !stringtag) code = mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_TAG, "stringtag is NULL");
    if (code) return end(c, code);
    for (const char *at = stringtag; *at; at++) tag = tag * 31 + (unsigned char)*at;
    p2p_layer_line(c->p2p, &file, &line);
    mpi__end(c, MPI_SUCCESS);
    p2p__here(file, line);
    code = leave(mpi__create_group(name, mpi__world, group, (int)(tag >> 2), newcomm));
    return code || *newcomm == MPI_COMM_NULL ? code : PMPI_Comm_set_errhandler(*newcomm, errhandler);
}

/* ---- Their error handlers ---- */

API(Session_create_errhandler)(MPI_Session_errhandler_function *function, MPI_Errhandler *errhandler)
{
    MPI_Comm_errhandler_function *as = (MPI_Comm_errhandler_function *)(void (*)(void))function;
    bool early = mpi__state == MPI__BEFORE && function && errhandler; /* MPI 5.0, 11.4.1 */
    return early ? mpi__handler_new(as, errhandler) : PMPI_Comm_create_errhandler(as, errhandler);
}

API(Session_set_errhandler)(MPI_Session handle, MPI_Errhandler errhandler)
{
    mpi__comm *c;
    session *s;
    mpi__handler *h, *old;
    int code = begin("MPI_Session_set_errhandler", handle, &c, &s);
    if (code) return code;
    code = check_handler(c, errhandler, &h);
    if (code) return end(c, code);
    if (h) h->object.references++;
    if (mpi__is_handler(s->handler, &old) && old && mpi__release(old)) mpi__object_free(old);
    s->handler = errhandler;
    return end(c, MPI_SUCCESS);
}

API(Session_get_errhandler)(MPI_Session handle, MPI_Errhandler *errhandler)
{
    mpi__comm *c;
    session *s;
    mpi__handler *h;
    int code = begin("MPI_Session_get_errhandler", handle, &c, &s);
    if (code) return code;
    code = mpi__check_pointer(c, errhandler, "errhandler");
    if (!code && mpi__is_handler(s->handler, &h) && h) h->object.references++;
    if (!code) *errhandler = s->handler;
    return end(c, code);
}

API(Session_call_errhandler)(MPI_Session handle, int errorcode)
{
    mpi__comm *c;
    session *s;
    mpi__handler *h;
    int code = begin("MPI_Session_call_errhandler", handle, &c, &s);
    if (code) return code;
    if (s->handler == MPI_ERRORS_RETURN) return end(c, MPI_SUCCESS);
    if (!mpi__is_handler(s->handler, &h) || !h)
        return end(c, mpi__mistake(c, errorcode, "invalid_argument", "the program says so: error %d", errorcode));
    end(c, MPI_SUCCESS);
    ((MPI_Session_errhandler_function *)(void (*)(void))h->function)(&handle, &errorcode);
    return MPI_SUCCESS;
}
