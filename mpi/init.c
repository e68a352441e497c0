/* SPDX-License-Identifier: MIT */
/* Start and end: MPI_Init to MPI_Finalize, and what can be asked at any time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/internal.h"

mpi__comm *mpi__world, *mpi__self;
enum mpi__state mpi__state;
pthread_t mpi__thread;
pid_t mpi__process;
int mpi__thread_level;
static bool initialized, finalized; /* by MPI_Init and MPI_Finalize; sessions need neither */

static mpi__comm *predefined(p2p_comm *p2p, MPI_Comm handle, const char *name)
{
    mpi__comm *c = mpi__comm_new(p2p, NULL);
    if (!c) return NULL;
    c->handle = handle;
    snprintf(c->name, sizeof c->name, "%s", name);
    return c;
}

void mpi__open(const char *name)
{
    p2p_comm *world = NULL, *self = NULL;
    const char *leaks = getenv("PAIRWISE_MPI_LEAKS");
    bool notes = !leaks || strcmp(leaks, "note") == 0;
    if (!notes && strcmp(leaks, "warn") != 0 && strcmp(leaks, "error") != 0) {
        fprintf(stderr, "pairwise: PAIRWISE_MPI_LEAKS is \"%.100s\": error, warn or note is accepted\n", leaks);
        _Exit(2);
    }
    if (p2p_init(&world) != P2P_OK) _Exit(1);
    mpi__types_open();
    mpi__ops_open();
    p2p_layer_compare_kinds(world, mpi__kinds_differ);
    if (p2p_layer_self(world, &self) != P2P_OK || !(mpi__world = predefined(world, MPI_COMM_WORLD, "MPI_COMM_WORLD")) ||
        !(mpi__self = predefined(self, MPI_COMM_SELF, "MPI_COMM_SELF"))) {
        fprintf(stderr, "pairwise: %s: no memory\n", name);
        _Exit(1);
    }
    p2p_layer_call_begin(world, &(p2p_layer_call){.name = name}); /* the first call, of one that leaves with no other */
    p2p_layer_call_end(world, P2P_OK);
    if (notes) p2p_layer_leaks_are_notes(world, leaks != NULL);
    mpi__thread = pthread_self();
    mpi__process = getpid();
    mpi__state = MPI__RUNNING;
}

static int begin(const char *name, int required, int *provided)
{
    if (initialized || mpi__state == MPI__AFTER) {
        mpi__comm *c;
        int code = mpi__begin_local(&c, name);
        return code ? code
                    : mpi__end(c, mpi__mistake(c, MPI_ERR_OTHER, "call_order", "MPI has been initialized already"));
    }
    if (mpi__state == MPI__BEFORE) mpi__open(name);
    initialized = true;
    if (required >= MPI_THREAD_FUNNELED) mpi__thread_level = MPI_THREAD_FUNNELED;
    if (provided) *provided = mpi__thread_level;
    return MPI_SUCCESS;
}

API(Init)(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return begin("MPI_Init", MPI_THREAD_SINGLE, NULL);
}

API(Init_thread)(int *argc, char ***argv, int required, int *provided)
{
    (void)argc, (void)argv;
    return begin("MPI_Init_thread", required, provided);
}

/* The end of what MPI_Init or the first session has begun: all ranks are here. */
static int finish(const char *name, const char *file, int line)
{
    mpi__comm *c;
    int raced = mpi__races_tell();
    p2p__here(file, line);
    int code = mpi__begin_local(&c, name);
    if (code) return code;
    mpi__orphans_end();
    mpi__bsends_end();
    code = mpi__messages_left();
    if (code) return mpi__end(c, code);
    mpi__comms_bury();
    mpi__state = MPI__AFTER;
    const char *leaks = getenv("PAIRWISE_MPI_LEAKS");
    bool only_warn = leaks && strcmp(leaks, "warn") == 0;
    p2p_set_errors(c->p2p, only_warn ? P2P_ERRORS_RETURN : P2P_ERRORS_FATAL); /* no handler is asked about leaks */
    p2p_err err = p2p_finalize(c->p2p);
    if (only_warn && err == P2P_ERR_LEAK) {
        fprintf(stderr, "pairwise: warning: %s\n", p2p_error_message(c->p2p));
        err = P2P_OK;
    }
    p2p_set_errors(c->p2p, P2P_ERRORS_FATAL); /* a call that comes after this is an error that ends the process */
    return raced && !err ? raced : mpi__code_of(err);
}

API(Finalize)(void)
{
    mpi__comm *c;
    int code = mpi__begin_local(&c, "MPI_Finalize");
    if (code) return code;
    if (!initialized)
        return mpi__end(c, mpi__mistake(c, MPI_ERR_OTHER, "call_order", "MPI_Init has not been called, only sessions"));
    const char *file;
    int line;
    p2p_layer_line(c->p2p, &file, &line);
    mpi__end(c, MPI_SUCCESS);
    code = mpi__attributes_free(&mpi__self->attributes, (uintptr_t)MPI_COMM_SELF,
                                false); /* functions of the program's */
    if (!code) code = mpi__attributes_free(&mpi__world->attributes, (uintptr_t)MPI_COMM_WORLD, false);
    if (code) {
        p2p__here(file, line);
        int begun = mpi__begin_local(&c, "MPI_Finalize");
        return begun ? begun : mpi__end(c, mpi__attribute_failed(c, code, "deletes"));
    }
    finalized = true;
    return mpi__open_sessions ? MPI_SUCCESS : finish("MPI_Finalize", file, line);
}

static struct {
    const char *file;
    int line;
} last_session;

static void finish_at_exit(void)
{
    if (mpi__state == MPI__RUNNING && !mpi__open_sessions && initialized == finalized)
        finish("MPI_Session_finalize", last_session.file, last_session.line);
}

/* More sessions may follow, or MPI_Init: what they share ends when the process does. */
int mpi__last_session_ends(const char *file, int line)
{
    static bool listed;
    last_session.file = file;
    last_session.line = line;
    if (finalized) return finish("MPI_Session_finalize", file, line);
    if (!listed && atexit(finish_at_exit) != 0) return MPI_ERR_OTHER;
    listed = true;
    return MPI_SUCCESS;
}

API(Initialized)(int *flag)
{
    int code = mpi__place_ever("MPI_Initialized", flag, "flag");
    if (code) return code;
    *flag = initialized;
    return MPI_SUCCESS;
}

API(Finalized)(int *flag)
{
    int code = mpi__place_ever("MPI_Finalized", flag, "flag");
    if (code) return code;
    *flag = finalized;
    return MPI_SUCCESS;
}

API(Query_thread)(int *provided)
{
    int code = mpi__place_ever("MPI_Query_thread", provided, "provided");
    if (code) return code;
    *provided = mpi__thread_level;
    return MPI_SUCCESS;
}

API(Is_thread_main)(int *flag)
{
    int code = mpi__place_ever("MPI_Is_thread_main", flag, "flag");
    if (code) return code;
    *flag = mpi__state != MPI__BEFORE && pthread_equal(pthread_self(), mpi__thread);
    return MPI_SUCCESS;
}

API(Abort)(MPI_Comm comm, int errorcode)
{
    mpi__comm *c;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Abort"});
    if (code) return code;
    p2p_abort(c->p2p, errorcode);
    return MPI_SUCCESS;
}

/* ---- Versions, names, time ---- */

API(Get_version)(int *version, int *subversion)
{
    int code = mpi__place_ever("MPI_Get_version", version, "version");
    if (!code) code = mpi__place_ever("MPI_Get_version", subversion, "subversion");
    if (code) return code;
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

API(Abi_get_version)(int *abi_major, int *abi_minor)
{
    int code = mpi__place_ever("MPI_Abi_get_version", abi_major, "abi_major");
    if (!code) code = mpi__place_ever("MPI_Abi_get_version", abi_minor, "abi_minor");
    if (code) return code;
    *abi_major = MPI_ABI_VERSION;
    *abi_minor = MPI_ABI_SUBVERSION;
    return MPI_SUCCESS;
}

API(Get_library_version)(char *version, int *resultlen)
{
    int code = mpi__place_ever("MPI_Get_library_version", version, "version");
    if (!code) code = mpi__place_ever("MPI_Get_library_version", resultlen, "resultlen");
    if (code) return code;
    *resultlen = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "Pairwise %s", PAIRWISE_VERSION);
    return MPI_SUCCESS;
}

API(Get_processor_name)(char *name, int *resultlen)
{
    int code = mpi__place_ever("MPI_Get_processor_name", name, "name");
    if (!code) code = mpi__place_ever("MPI_Get_processor_name", resultlen, "resultlen");
    if (code) return code;
    if (gethostname(name, MPI_MAX_PROCESSOR_NAME) != 0) snprintf(name, MPI_MAX_PROCESSOR_NAME, "localhost");
    name[MPI_MAX_PROCESSOR_NAME - 1] = '\0';
    *resultlen = (int)strlen(name);
    return MPI_SUCCESS;
}

MPI__API(double, Wtime)(void)
{
    return p2p_time(mpi__world ? mpi__world->p2p : NULL);
}

MPI__API(double, Wtick)(void)
{
    return 1e-9;
}

API(Pcontrol)(const int level, ...)
{
    (void)level;
    return MPI_SUCCESS;
}

/* ---- Addresses and memory ---- */

API(Get_address)(const void *location, MPI_Aint *address)
{
    int code = mpi__place_ever("MPI_Get_address", address, "address");
    if (code) return code;
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}

MPI__API(MPI_Aint, Aint_add)(MPI_Aint base, MPI_Aint disp)
{
    return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);
}

MPI__API(MPI_Aint, Aint_diff)(MPI_Aint addr1, MPI_Aint addr2)
{
    return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}

API(Alloc_mem)(MPI_Aint size, MPI_Info info, void *baseptr)
{
    mpi__comm *c;
    int code = mpi__begin_local(&c, "MPI_Alloc_mem");
    (void)info;
    if (code) return code;
    if (size < 0)
        return mpi__end(c,
                        mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "a size of %lld is negative", (long long)size));
    void **at = baseptr;
    *at = malloc(size ? (size_t)size : 1);
    return mpi__end(c, *at ? MPI_SUCCESS : mpi__no_memory(c));
}

API(Free_mem)(void *base)
{
    free(base);
    return MPI_SUCCESS;
}
