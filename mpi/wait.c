/* SPDX-License-Identifier: MIT */
/* Waiting for requests, and looking whether they have ended: one at a time, all, any or some of them. */
#include <stdlib.h>
#include <string.h>

#include "mpi/internal.h"

static void forget(MPI_Request *handle, mpi__request *r)
{
    if (r->persistent) return;
    *handle = MPI_REQUEST_NULL;
    mpi__request_free(r);
}

/* A set of requests that a call waits for, or looks at. */
typedef struct {
    const char *name;
    mpi__comm *c;
    mpi__comm *failed; /* of the first request that has ended with an error; NULL: none has */
    int cause;         /* p2p's error */
    int count, live;   /* not null, nor persistent and not started */
    MPI_Request *handles;
    mpi__request **requests;
    p2p_request *p2p;
    p2p_status *got;
    uint16_t *kinds; /* of the messages, after a wait for all of them; and what each has ended with, or UNTOLD */
    p2p_err *errors;
    int *codes; /* what each has ended with, in MPI */
    bool has_kinds;
    void *memory, *few[64 * 6 + 32];
} set;

enum { UNTOLD = -1 };

/* Request i of the list. */
static int look(set *s, int i)
{
    static uint64_t calls;
    calls += i == 0;
    int code = mpi__request_look(s->c, s->handles[i], &s->requests[i]);
    mpi__request *r = s->requests[i];
    if (code || !r) return code;
    if (r->listed == calls)
        return mpi__mistake(s->c, MPI_ERR_REQUEST, "request_state",
                            "request %d of the list stands in it twice" MPI__TRY "wait for each request once", i);
    r->listed = calls;
    if (r->persistent && !r->started && !r->awaited.line) p2p_layer_line(s->c->p2p, &r->awaited.file, &r->awaited.line);
    if (!r->active) s->requests[i] = NULL;
    return MPI_SUCCESS;
}

static int open_set(set *s, const char *name, int count, MPI_Request handles[])
{
    mpi__check_state(name);
    s->c = mpi__state == MPI__RUNNING ? mpi__requests_comm(count, handles) : mpi__world;
    s->name = name;
    s->failed = NULL;
    s->count = count;
    s->handles = handles;
    s->memory = NULL;
    s->live = 0;
    int code = mpi__begin_on(
        s->c, &(p2p_layer_call){.name = name, .shape = P2P_CALL_WAIT, .bytes = count > 0 ? (size_t)count : 0});
    if (code) return code;
    if (count < 0) code = mpi__wrong(s->c, MPI_ERR_COUNT, P2P_ARGUMENT_COUNT, "a count of %d is negative", count);
    if (!code && count && !handles) code = mpi__wrong(s->c, MPI_ERR_REQUEST, P2P_ARGUMENT_REQUEST, "requests is NULL");
    if (code) return mpi__end(s->c, code);
    size_t each = sizeof *s->requests + sizeof *s->p2p + sizeof *s->got + sizeof *s->errors + sizeof *s->codes +
                  sizeof *s->kinds;
    void *memory = s->few;
    if ((size_t)count * each > sizeof s->few) memory = s->memory = malloc((size_t)count * each);
    if (!memory) return mpi__end(s->c, mpi__no_memory(s->c));
    s->got = memory;
    s->requests = (mpi__request **)(void *)(s->got + count);
    s->p2p = (p2p_request *)(void *)(s->requests + count);
    s->errors = (p2p_err *)(void *)(s->p2p + count);
    s->codes = (int *)(void *)(s->errors + count);
    s->kinds = (uint16_t *)(void *)(s->codes + count);
    s->has_kinds = false;
    for (int i = 0; i < count && !code; i++) {
        code = look(s, i);
        s->p2p[i] = s->requests[i] ? s->requests[i]->p2p : NULL;
        s->live += s->requests[i] != NULL;
    }
    if (!code) return MPI_SUCCESS;
    free(s->memory);
    return mpi__end(s->c, code);
}

static int close_set(set *s, int code)
{
    free(s->memory);
    if (!code || !s->failed) return mpi__end(s->c, code);
    s->failed->code = s->cause;
    return mpi__end_as(s->c, s->failed, s->name, code);
}

/* For a call that ends all of them: what came, and the error of each. */
static void expect_results(set *s, bool now)
{
    for (int i = 0; now && i < s->count; i++) s->errors[i] = (p2p_err)UNTOLD;
    p2p_layer_kinds(s->c->p2p, now ? s->kinds : NULL);
    p2p_layer_errors(s->c->p2p, now ? s->errors : NULL);
    s->has_kinds = true;
}

/* Nothing of p2p is under way for it (any more): it has ended. */
static bool is_ended(const set *s, int i)
{
    return s->requests[i] && !s->p2p[i];
}

static bool all_ended(const set *s)
{
    int i = 0;
    while (i < s->count && !s->p2p[i]) i++;
    return i == s->count;
}

/* The call has failed, not a request: those that p2p still has (after PAIRWISE_TIMEOUT) go on, and keep what they use; those
 * that it has given up, in a job that has failed, are no longer its. */
static int fail(set *s, p2p_err err)
{
    for (int i = 0; i < s->count; i++)
        if (is_ended(s, i)) s->requests[i]->p2p = NULL;
    return mpi__p2p(s->c, err);
}

/* The first error counts, with the communicator that it belongs to. */
static int note_error(set *s, mpi__comm *own, int code)
{
    if (code && !s->failed) {
        s->failed = own;
        s->cause = own->code ? own->code : P2P_ERR_ARG;
    }
    if (own != s->c) own->code = 0;
    return code;
}

/* MPI_Request_get_status has ended it, and has returned its error, if it had one. */
static int end_kept(mpi__request *r, MPI_Status *status)
{
    const int code = r->kept.MPI_ERROR;
    mpi__copy_status(status, &r->kept);
    r->has_kept = r->active = false;
    if (!code) return MPI_SUCCESS;
    return mpi__wrong(r->comm, code, P2P_ARGUMENT_REQUEST,
                      "%s at line %d has ended with an error, which MPI_Request_get_status has returned before",
                      r->name ? r->name : "the operation", r->line);
}

/* Request i has ended with err, and nothing of p2p is under way for it. */
static int end_one(set *s, int i, p2p_err err, MPI_Status *status)
{
    static const p2p_status none = {.source = P2P_ANY_SOURCE, .tag = P2P_ANY_TAG};
    mpi__request *r = s->requests[i];
    const p2p_status *got = r->p2p && !err ? &s->got[i] : &none;
    mpi__comm *own = r->comm;
    int code = r->has_kept
                   ? end_kept(r, status)
                   : mpi__request_finish(r, err, got, s->has_kinds ? s->kinds[i] : p2p_layer_kind(own->p2p), status);
    note_error(s, own, code);
    s->codes[i] = code;
    forget(&s->handles[i], r);
    s->requests[i] = NULL;
    s->live--;
    return code;
}

static MPI_Status *status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/* All have ended: err is what p2p has returned for all. */
static int end_all(set *s, p2p_err err, MPI_Status statuses[])
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < s->count; i++) {
        s->codes[i] = MPI_SUCCESS;
        if (!s->requests[i]) {
            mpi__empty_status(status_at(statuses, i), MPI_ANY_SOURCE);
            continue;
        }
        const p2p_err own = s->errors[i] == (p2p_err)UNTOLD ? err : s->errors[i];
        int one = end_one(s, i, s->requests[i]->p2p ? own : P2P_OK, status_at(statuses, i));
        if (one) code = statuses == MPI_STATUSES_IGNORE ? one : MPI_ERR_IN_STATUS;
    }
    for (int i = 0; i < s->count && code == MPI_ERR_IN_STATUS; i++) statuses[i].MPI_ERROR = s->codes[i];
    return code;
}

API(Wait)(MPI_Request *request, MPI_Status *status)
{
    set s;
    int code = open_set(&s, "MPI_Wait", 1, request);
    if (code) return code;
    if (!s.live) {
        mpi__empty_status(status, MPI_ANY_SOURCE);
        return close_set(&s, MPI_SUCCESS);
    }
    p2p_err err = s.p2p[0] ? p2p_wait(&s.p2p[0], &s.got[0]) : P2P_OK;
    return close_set(&s, s.p2p[0] ? fail(&s, err) : end_one(&s, 0, err, status));
}

/* All of them in one wait, so that a diagnosis names all. */
API(Waitall)(int count, MPI_Request requests[], MPI_Status statuses[])
{
    set s;
    int code = open_set(&s, "MPI_Waitall", count, requests);
    if (code) return code;
    expect_results(&s, true);
    p2p_err err = p2p_wait_all((size_t)count, s.p2p, s.got);
    expect_results(&s, false);
    if (all_ended(&s)) return close_set(&s, end_all(&s, err, statuses));
    for (int i = 0; i < count && statuses != MPI_STATUSES_IGNORE; i++)
        statuses[i].MPI_ERROR = s.requests[i] ? MPI_ERR_PENDING : MPI_SUCCESS;
    return close_set(&s, fail(&s, err));
}

static int any(const char *name, int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    set s;
    size_t i = 0;
    bool done = true;
    p2p_err err = P2P_OK;
    p2p_status got = {.source = P2P_ANY_SOURCE, .tag = P2P_ANY_TAG};
    int code = open_set(&s, name, count, requests);
    if (code) return code;
    if (flag) *flag = true;
    if (!s.live) {
        *index = MPI_UNDEFINED;
        mpi__empty_status(status, MPI_ANY_SOURCE);
        return close_set(&s, MPI_SUCCESS);
    }
    while (i < (size_t)count && !is_ended(&s, (int)i)) i++;
    if (i == (size_t)count)
        err = flag ? p2p_test_any((size_t)count, s.p2p, &i, &done, &got) : p2p_wait_any((size_t)count, s.p2p, &i, &got);
    const bool ended = i < (size_t)count && is_ended(&s, (int)i);
    if (flag) *flag = ended;
    if (!ended) return close_set(&s, err ? fail(&s, err) : MPI_SUCCESS);
    *index = (int)i;
    s.got[i] = got;
    return close_set(&s, end_one(&s, (int)i, err, status));
}

API(Waitany)(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    if (!index) return mpi__place_ever("MPI_Waitany", NULL, "index");
    return any("MPI_Waitany", count, requests, index, NULL, status);
}

API(Testany)(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    if (!index || !flag) return mpi__place_ever("MPI_Testany", NULL, index ? "flag" : "index");
    *index = MPI_UNDEFINED;
    return any("MPI_Testany", count, requests, index, flag, status);
}

API(Test)(MPI_Request *request, int *flag, MPI_Status *status)
{
    int index;
    if (!flag) return mpi__place_ever("MPI_Test", NULL, "flag");
    return any("MPI_Test", 1, request, &index, flag, status);
}

API(Testall)(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    set s;
    bool done = true;
    if (!flag) return mpi__place_ever("MPI_Testall", NULL, "flag");
    int code = open_set(&s, "MPI_Testall", count, requests);
    if (code) return code;
    expect_results(&s, true);
    p2p_err err = p2p_test_all((size_t)count, s.p2p, &done, s.got);
    expect_results(&s, false);
    *flag = all_ended(&s);
    if (*flag) return close_set(&s, end_all(&s, err, statuses));
    return close_set(&s, err ? fail(&s, err) : MPI_SUCCESS);
}

static int some(const char *name, int count, MPI_Request requests[], int *outcount, int indices[],
                MPI_Status statuses[], bool waits)
{
    set s;
    if (!outcount || !indices) return mpi__place_ever(name, NULL, outcount ? "indices" : "outcount");
    int found = 0, code = open_set(&s, name, count, requests);
    if (code) return code;
    if (!s.live) {
        *outcount = MPI_UNDEFINED;
        return close_set(&s, MPI_SUCCESS);
    }
    bool ended = false;
    int from = 0;
    for (int i = 0; i < count; i++) ended = ended || is_ended(&s, i);
    if (waits && !ended) {
        size_t first = (size_t)count;
        p2p_status got;
        p2p_err err = p2p_wait_any((size_t)count, s.p2p, &first, &got);
        *outcount = 0;
        if (first >= (size_t)count) return close_set(&s, fail(&s, err));
        s.got[first] = got;
        from = (int)first + 1; /* what is before had not ended */
        indices[found] = (int)first;
        int one = end_one(&s, (int)first, err, status_at(statuses, found++));
        if (one) code = statuses == MPI_STATUSES_IGNORE ? one : MPI_ERR_IN_STATUS;
    }
    for (int i = from; i < count; i++) {
        bool done = true;
        if (!s.requests[i]) continue;
        p2p_err err = s.p2p[i] ? p2p_test(&s.p2p[i], &done, &s.got[i]) : P2P_OK;
        if (s.p2p[i] && err) code = fail(&s, err);
        if (s.p2p[i]) continue;
        indices[found] = i;
        int one = end_one(&s, i, err, status_at(statuses, found++));
        if (one) code = statuses == MPI_STATUSES_IGNORE ? one : MPI_ERR_IN_STATUS;
    }
    for (int i = 0; i < found && code == MPI_ERR_IN_STATUS; i++) statuses[i].MPI_ERROR = s.codes[indices[i]];
    *outcount = found;
    return close_set(&s, code);
}

API(Waitsome)(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    return some("MPI_Waitsome", incount, requests, outcount, indices, statuses, true);
}

API(Testsome)(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    return some("MPI_Testsome", incount, requests, outcount, indices, statuses, false);
}
