/* SPDX-License-Identifier: MIT */
/* Error handlers, classes, codes and their texts. */
#include <stdio.h>
#include <string.h>

#include "mpi/internal.h"

enum { OWN_MOST = 256 };

/* Classes and codes of the program's: class is its own, of a class; 0: removed. */
static struct {
    int class;
    char text[MPI_MAX_ERROR_STRING];
} own[OWN_MOST];
static int own_count;

static const char *const texts[] = {
    [MPI_SUCCESS] = "no error",
    [MPI_ERR_BUFFER] = "invalid buffer",
    [MPI_ERR_COUNT] = "invalid count",
    [MPI_ERR_TYPE] = "invalid type",
    [MPI_ERR_TAG] = "invalid tag",
    [MPI_ERR_COMM] = "invalid communicator",
    [MPI_ERR_RANK] = "invalid rank",
    [MPI_ERR_REQUEST] = "invalid request",
    [MPI_ERR_ROOT] = "invalid root",
    [MPI_ERR_GROUP] = "invalid group",
    [MPI_ERR_OP] = "invalid operator",
    [MPI_ERR_TOPOLOGY] = "invalid topology",
    [MPI_ERR_DIMS] = "invalid dimensions",
    [MPI_ERR_ARG] = "invalid argument",
    [MPI_ERR_UNKNOWN] = "unknown error",
    [MPI_ERR_TRUNCATE] = "message longer than the receive buffer",
    [MPI_ERR_OTHER] = "an error of another kind",
    [MPI_ERR_INTERN] = "an error inside of MPI",
    [MPI_ERR_PENDING] = "the request has not ended",
    [MPI_ERR_IN_STATUS] = "the errors are in the statuses",
    [MPI_ERR_INFO_KEY] = "the key is too long",
    [MPI_ERR_INFO_NOKEY] = "there is no such key",
    [MPI_ERR_INFO_VALUE] = "the value is too long",
    [MPI_ERR_INFO] = "invalid info",
    [MPI_ERR_KEYVAL] = "invalid key of an attribute",
    [MPI_ERR_NO_MEM] = "out of memory",
    [MPI_ERR_UNSUPPORTED_OPERATION] = "not supported",
    [MPI_ERR_PROC_ABORTED] = "a rank has died or left",
    [MPI_ERR_ERRHANDLER] = "invalid error handler",
};

/* The last errors that calls have returned, of a few codes. */
enum { KEPT = 8 };
static struct {
    int code;
    char text[MPI_MAX_ERROR_STRING];
} kept[KEPT];

void mpi__keep_text(int code, const char *text)
{
    static int next;
    int place = 0;
    while (place < KEPT && kept[place].code != code) place++;
    if (place == KEPT) {
        place = next;
        next = (next + 1) % KEPT;
    }
    kept[place].code = code;
    snprintf(kept[place].text, sizeof kept[place].text, "%s", text);
}

static const char *kept_text(int code)
{
    for (int i = 0; i < KEPT; i++)
        if (code && kept[i].code == code && kept[i].text[0]) return kept[i].text;
    return NULL;
}

API(Error_class)(int errorcode, int *errorclass)
{
    int place = errorcode - MPI_ERR_LASTCODE - 1, code = mpi__place_ever("MPI_Error_class", errorclass, "errorclass");
    if (code) return code;
    *errorclass = errorcode;
    if (place >= 0) *errorclass = place < own_count && own[place].class ? own[place].class : MPI_ERR_UNKNOWN;
    return MPI_SUCCESS;
}

API(Error_string)(int errorcode, char *string, int *resultlen)
{
    int place = errorcode - MPI_ERR_LASTCODE - 1, code = mpi__place_ever("MPI_Error_string", string, "string");
    const char *text = NULL;
    if (!code) code = mpi__place_ever("MPI_Error_string", resultlen, "resultlen");
    if (code) return code;
    if (place >= 0 && place < own_count)
        text = own[place].text;
    else if (errorcode >= 0 && errorcode < (int)(sizeof texts / sizeof *texts))
        text = texts[errorcode];
    const char *whole = kept_text(errorcode);
    if (!text) text = "unknown error";
    int length = whole ? snprintf(string, MPI_MAX_ERROR_STRING, "%s: %s", text, whole)
                       : snprintf(string, MPI_MAX_ERROR_STRING, "%s", text);
    *resultlen = length < MPI_MAX_ERROR_STRING ? length : MPI_MAX_ERROR_STRING - 1;
    return MPI_SUCCESS;
}

int mpi__last_code(void)
{
    return MPI_ERR_LASTCODE + own_count;
}

static int add(const char *name, int class, int *number)
{
    mpi__comm *c;
    int code = mpi__begin_local(&c, name);
    if (!code) code = mpi__place(c, number, "number");
    if (code) return code;
    int place = 0;
    while (place < own_count && own[place].class) place++;
    if (place == OWN_MOST) return mpi__end(c, mpi__no_memory(c));
    if (place == own_count) own_count++;
    *number = MPI_ERR_LASTCODE + 1 + place;
    own[place].class = class ? class : *number;
    own[place].text[0] = '\0';
    return mpi__end(c, MPI_SUCCESS);
}

API(Add_error_class)(int *errorclass)
{
    return add("MPI_Add_error_class", 0, errorclass);
}

API(Add_error_code)(int errorclass, int *errorcode)
{
    return add("MPI_Add_error_code", errorclass, errorcode);
}

API(Add_error_string)(int errorcode, const char *string)
{
    mpi__comm *c;
    int place = errorcode - MPI_ERR_LASTCODE - 1, code = mpi__begin_local(&c, "MPI_Add_error_string");
    if (!code) code = mpi__place(c, string, "string");
    if (code) return code;
    if (place < 0 || place >= own_count || !own[place].class)
        return mpi__end(
            c, mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "%d is no code of MPI_Add_error_code", errorcode));
    snprintf(own[place].text, sizeof own[place].text, "%s", string);
    return mpi__end(c, MPI_SUCCESS);
}

/* Of a class or code that is there. */
static int removable(const char *name, int number, bool is_class, mpi__comm **c, int *place)
{
    int code = mpi__begin_local(c, name);
    if (code) return code;
    *place = number - MPI_ERR_LASTCODE - 1;
    if (*place < 0 || *place >= own_count || !own[*place].class)
        return mpi__end(*c, mpi__wrong(*c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "%d is none of the program's own", number));
    bool in_use = own[*place].text[0] != '\0';
    for (int i = 0; is_class && i < own_count; i++) in_use = in_use || (i != *place && own[i].class == number);
    if (in_use || is_class != (own[*place].class == number))
        return mpi__end(*c,
                        mpi__wrong(*c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "%s",
                                   in_use ? "it still has a text, or codes of its class" : "a class is not a code"));
    return MPI_SUCCESS;
}

/* Its number is given out again. */
static int removed(mpi__comm *c, int place)
{
    own[place].class = 0;
    while (own_count && !own[own_count - 1].class) own_count--;
    return mpi__end(c, MPI_SUCCESS);
}

API(Remove_error_class)(int errorclass)
{
    mpi__comm *c;
    int place, code = removable("MPI_Remove_error_class", errorclass, true, &c, &place);
    return code ? code : removed(c, place);
}

API(Remove_error_code)(int errorcode)
{
    mpi__comm *c;
    int place, code = removable("MPI_Remove_error_code", errorcode, false, &c, &place);
    return code ? code : removed(c, place);
}

API(Remove_error_string)(int errorcode)
{
    return PMPI_Add_error_string(errorcode, "");
}

/* ---- Handlers ---- */

bool mpi__is_handler(MPI_Errhandler handler, mpi__handler **h)
{
    bool freed;
    *h = (uintptr_t)handler < 0x1000 ? NULL : mpi__object_of(MPI__HANDLER, handler, &freed);
    return *h || handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT || handler == MPI_ERRORS_RETURN;
}

int mpi__handler_new(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler)
{
    mpi__handler *h = mpi__object_new(MPI__HANDLER, sizeof *h);
    if (!h) return MPI_ERR_NO_MEM;
    h->function = function;
    *errhandler = (MPI_Errhandler)(void *)h;
    return MPI_SUCCESS;
}

API(Comm_create_errhandler)(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler)
{
    mpi__comm *c;
    int code = mpi__begin_local(&c, "MPI_Comm_create_errhandler");
    if (!code) code = mpi__place(c, errhandler, "errhandler");
    if (code) return code;
    if (!function)
        return mpi__end(c, mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "the function of the handler is NULL"));
    code = mpi__handler_new(function, errhandler);
    return mpi__end(c, code ? mpi__no_memory(c) : MPI_SUCCESS);
}

API(Comm_set_errhandler)(MPI_Comm comm, MPI_Errhandler errhandler)
{
    mpi__comm *c;
    mpi__handler *h, *old;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Comm_set_errhandler"});
    if (code) return code;
    if (!mpi__is_handler(errhandler, &h))
        return mpi__end(c, mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "this is no error handler"));
    if (h) h->object.references++;
    if (mpi__is_handler(c->handler, &old) && old && mpi__release(old)) mpi__object_free(old);
    c->handler = errhandler;
    bool fatal = errhandler == MPI_ERRORS_ARE_FATAL || errhandler == MPI_ERRORS_ABORT;
    p2p_set_errors(c->p2p, fatal ? P2P_ERRORS_FATAL : P2P_ERRORS_RETURN);
    return mpi__end(c, MPI_SUCCESS);
}

API(Comm_get_errhandler)(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    mpi__comm *c;
    mpi__handler *h;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Comm_get_errhandler"});
    if (!code) code = mpi__place(c, errhandler, "errhandler");
    if (code) return code;
    if (mpi__is_handler(c->handler, &h) && h) h->object.references++;
    *errhandler = c->handler;
    return mpi__end(c, MPI_SUCCESS);
}

API(Errhandler_free)(MPI_Errhandler *errhandler)
{
    mpi__comm *c;
    mpi__handler *h = NULL;
    bool known = errhandler && mpi__is_handler(*errhandler, &h);
    if (!known || mpi__state == MPI__RUNNING) { /* at other times too: MPI 5.0, 11.4.1 */
        int code = mpi__begin_local(&c, "MPI_Errhandler_free");
        if (!code) code = mpi__place(c, errhandler, "errhandler");
        if (code) return code;
        if (!known) code = mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "this is no error handler");
        if (mpi__end(c, code)) return code;
    }
    *errhandler = MPI_ERRHANDLER_NULL;
    if (h && mpi__release(h)) mpi__object_free(h);
    return MPI_SUCCESS;
}

API(Comm_call_errhandler)(MPI_Comm comm, int errorcode)
{
    mpi__comm *c;
    mpi__handler *h;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Comm_call_errhandler"});
    if (code) return code;
    if (c->handler == MPI_ERRORS_RETURN) return mpi__end(c, MPI_SUCCESS);
    if (!mpi__is_handler(c->handler, &h) || !h)
        return mpi__end(c, mpi__mistake(c, errorcode, "invalid_argument", "the program says so: error %d", errorcode));
    mpi__end(c, MPI_SUCCESS);
    h->function(&comm, &errorcode);
    return MPI_SUCCESS;
}
