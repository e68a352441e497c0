/* SPDX-License-Identifier: MIT */
/*
 * The Pairwise calls of a learner's code, in a rank: learn has the linker's tools put check_p2p_send in place of p2p_send in
 * the learner's object file, and so on. In a case that fails on purpose no Pairwise call does anything, and one or all return an
 * error, which the learner's function must hand on; requests that it has begun by then must be waited for.
 */
#include <stdio.h>
#include <string.h>

#include "exercises/check/check_internal.h"

#pragma weak check_number /* a program with a main of its own reports nothing */

static struct {
    bool in_cases;
    int fail;             /* which call; 0: none */
    int made, any_source; /* calls; in a case that fails, how many were made */
    bool begins;          /* the first one that failed would have begun a request */
    const char *failed;   /* its name; NULL if none has failed */
    check_place at;
} calls;

/* ---- Pairwise calls: the real one, or none ---- */

/* In a case that fails on purpose no call does anything: those that do not fail say that all went well. */
static p2p_err pretend(const char *name)
{
    calls.made++;
    if (calls.fail != CHECK_EVERY_CALL && calls.fail != calls.made) return P2P_OK;
    if (calls.failed) return CHECK_FAILS_WITH;
    calls.failed = name;
    calls.at = check_called;
    return CHECK_FAILS_WITH;
}

/* An empty message has come. */
static p2p_err pretend_message(const char *name, int source, int tag, p2p_status *status)
{
    p2p_err err = pretend(name);
    if (!err && status) *status = (p2p_status){.source = source < 0 ? 0 : source, .tag = tag < 0 ? 0 : tag, .bytes = 0};
    return err;
}

static p2p_err pretend_request(const char *name, p2p_request *request, const void *from)
{
    static char none[256]; /* each address stands for one request */
    bool first = !calls.failed;
    p2p_err err = pretend(name);
    if (err) calls.begins |= first;
    if (!err) *request = check_watch(&none[(size_t)calls.made % sizeof none], 0, CHECK_WAIT, from);
    return err;
}

bool check_pretends(const char *name, p2p_request *request, const void *from, p2p_err *err)
{
    if (calls.fail) *err = request ? pretend_request(name, request, from) : pretend(name);
    return calls.fail != 0;
}

static void end_request(p2p_request *request)
{
    check_forget(*request);
    *request = P2P_REQUEST_NULL;
}

/* ---- Which buffers belong to requests that were not waited for ---- */

enum { UNDER_WAY = 64 }; /* those beyond are not known */

static struct {
    p2p_request request;
    const void *buf;
} under_way[UNDER_WAY];

static void note_request(p2p_err err, p2p_request request, const void *buf)
{
    size_t i = 0;
    while (i < UNDER_WAY && under_way[i].request) i++;
    if (err || !request || i == UNDER_WAY) return;
    under_way[i].request = request;
    under_way[i].buf = buf;
}

bool check_under_way(const void *buf)
{
    for (size_t i = 0; buf && i < UNDER_WAY; i++)
        if (under_way[i].request && under_way[i].buf == buf) return true;
    return false;
}

/* Before a call that may end requests, and behind it. */
static void copy_requests(p2p_request was[UNDER_WAY], size_t count, const p2p_request requests[])
{
    for (size_t i = 0; i < UNDER_WAY; i++) was[i] = i < count ? requests[i] : P2P_REQUEST_NULL;
}

static p2p_err note_ended(p2p_err err, const p2p_request was[UNDER_WAY], size_t count, const p2p_request requests[])
{
    for (size_t i = 0; i < count && i < UNDER_WAY; i++)
        for (size_t k = 0; k < UNDER_WAY && was[i] && !requests[i]; k++)
            if (under_way[k].request == was[i]) under_way[k].request = P2P_REQUEST_NULL;
    return err;
}

#define HERE __builtin_return_address(0)
#define OR_PRETEND(name, ...) return calls.fail ? pretend(#name) : (name)(__VA_ARGS__)

static void note_source(int source)
{
    calls.any_source += source == P2P_ANY_SOURCE;
}

p2p_err check_p2p_alloc(p2p_comm *comm, size_t bytes, void **buf)
{
    p2p_err err = calls.fail ? pretend("p2p_alloc") : P2P_OK;
    if (!err) err = (p2p_alloc)(comm, bytes, buf);
    if (!err) check_watch(*buf, bytes, CHECK_RELEASE, HERE);
    return err;
}

p2p_err check_p2p_release(p2p_comm *comm, void *buf)
{
    check_forget(buf);
    p2p_err err = calls.fail ? pretend("p2p_release") : P2P_OK;
    return err ? err : (p2p_release)(comm, buf);
}

void (*check_before_send)(int dest);
void (*check_on_message)(bool sends, const void *buf, size_t bytes, int peer);
void (*check_on_probe)(int source);

static void note_message(bool sends, const void *buf, size_t bytes, int peer)
{
    if (check_on_message && !calls.fail) check_on_message(sends, buf, bytes, peer);
}

p2p_err check_p2p_send(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag)
{
    if (check_before_send && !calls.fail) check_before_send(dest);
    note_message(true, buf, bytes, dest);
    OR_PRETEND(p2p_send, comm, buf, bytes, dest, tag);
}

p2p_err check_p2p_ssend(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag)
{
    note_message(true, buf, bytes, dest);
    OR_PRETEND(p2p_ssend, comm, buf, bytes, dest, tag);
}

p2p_err check_p2p_recv(p2p_comm *comm, void *buf, size_t bytes, int source, int tag, p2p_status *status)
{
    note_source(source);
    note_message(false, buf, bytes, source);
    if (calls.fail) return pretend_message("p2p_recv", source, tag, status);
    return (p2p_recv)(comm, buf, bytes, source, tag, status);
}

p2p_err check_p2p_sendrecv(p2p_comm *comm, const void *sendbuf, size_t sendbytes, int dest, int sendtag, void *recvbuf,
                           size_t recvbytes, int source, int recvtag, p2p_status *status)
{
    note_source(source);
    note_message(true, sendbuf, sendbytes, dest);
    note_message(false, recvbuf, recvbytes, source);
    if (calls.fail) return pretend_message("p2p_sendrecv", source, recvtag, status);
    return (p2p_sendrecv)(comm, sendbuf, sendbytes, dest, sendtag, recvbuf, recvbytes, source, recvtag, status);
}

/* Which one of several senders' messages a probe finds is not promised: here it is that of the lowest rank, so a receive from
 * P2P_ANY_SOURCE behind it may take another one, which came first. Where orders are tried, it is each of them. */
static void look_lowest(p2p_comm *comm, int source, int tag, p2p_status *status)
{
    bool found = check_given.orders != CHECK_ANY_ORDER, failed = false;
    for (int rank = 0; source == P2P_ANY_SOURCE && rank < p2p_size(comm) && !found && !failed; rank++)
        failed = (p2p_iprobe)(comm, rank, tag, &found, status) != P2P_OK;
}

p2p_err check_p2p_probe(p2p_comm *comm, int source, int tag, p2p_status *status)
{
    note_source(source);
    if (calls.fail) return pretend_message("p2p_probe", source, tag, status);
    p2p_err err = (p2p_probe)(comm, source, tag, status);
    if (!err) look_lowest(comm, source, tag, status);
    if (!err && check_on_probe) check_on_probe(source);
    return err;
}

p2p_err check_p2p_iprobe(p2p_comm *comm, int source, int tag, bool *found, p2p_status *status)
{
    note_source(source);
    if (!calls.fail) {
        p2p_err err = (p2p_iprobe)(comm, source, tag, found, status);
        if (!err && *found) look_lowest(comm, source, tag, status);
        if (!err && *found && check_on_probe) check_on_probe(source);
        return err;
    }
    *found = true;
    return pretend_message("p2p_iprobe", source, tag, status);
}

p2p_err check_p2p_isend(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag, p2p_request *request)
{
    note_message(true, buf, bytes, dest);
    if (calls.fail) return pretend_request("p2p_isend", request, HERE);
    p2p_err err = (p2p_isend)(comm, buf, bytes, dest, tag, request);
    note_request(err, *request, buf);
    return err;
}

p2p_err check_p2p_irecv(p2p_comm *comm, void *buf, size_t bytes, int source, int tag, p2p_request *request)
{
    note_source(source);
    note_message(false, buf, bytes, source);
    if (calls.fail) return pretend_request("p2p_irecv", request, HERE);
    p2p_err err = (p2p_irecv)(comm, buf, bytes, source, tag, request);
    note_request(err, *request, buf);
    return err;
}

p2p_err check_p2p_wait(p2p_request *request, p2p_status *status)
{
    p2p_request was[UNDER_WAY];
    copy_requests(was, 1, request);
    if (!calls.fail) return note_ended((p2p_wait)(request, status), was, 1, request);
    end_request(request);
    return pretend_message("p2p_wait", 0, 0, status);
}

p2p_err check_p2p_test(p2p_request *request, bool *done, p2p_status *status)
{
    p2p_request was[UNDER_WAY];
    copy_requests(was, 1, request);
    if (!calls.fail) return note_ended((p2p_test)(request, done, status), was, 1, request);
    end_request(request);
    *done = true;
    return pretend_message("p2p_test", 0, 0, status);
}

p2p_err check_p2p_wait_all(size_t count, p2p_request requests[], p2p_status statuses[])
{
    p2p_request was[UNDER_WAY];
    copy_requests(was, count, requests);
    if (!calls.fail) return note_ended((p2p_wait_all)(count, requests, statuses), was, count, requests);
    for (size_t i = 0; i < count; i++) end_request(&requests[i]);
    return pretend("p2p_wait_all");
}

p2p_err check_p2p_wait_any(size_t count, p2p_request requests[], size_t *index, p2p_status *status)
{
    size_t i = 0;
    p2p_request was[UNDER_WAY];
    copy_requests(was, count, requests);
    if (!calls.fail) return note_ended((p2p_wait_any)(count, requests, index, status), was, count, requests);
    while (i < count && !requests[i]) i++;
    *index = i < count ? i : (size_t)P2P_UNDEFINED;
    if (i < count) end_request(&requests[i]);
    return pretend_message("p2p_wait_any", 0, 0, status);
}

p2p_err check_p2p_test_all(size_t count, p2p_request requests[], bool *done, p2p_status statuses[])
{
    p2p_request was[UNDER_WAY];
    copy_requests(was, count, requests);
    if (!calls.fail) return note_ended((p2p_test_all)(count, requests, done, statuses), was, count, requests);
    *done = true;
    return pretend("p2p_test_all");
}

p2p_err check_p2p_test_any(size_t count, p2p_request requests[], size_t *index, bool *done, p2p_status *status)
{
    p2p_request was[UNDER_WAY];
    copy_requests(was, count, requests);
    if (!calls.fail) return note_ended((p2p_test_any)(count, requests, index, done, status), was, count, requests);
    *index = 0;
    *done = true;
    return pretend_message("p2p_test_any", 0, 0, status);
}

/* ---- A case ---- */

const char *check_failed_call(check_place *at)
{
    *at = calls.at;
    return calls.failed ? calls.failed : "";
}

void check_calls_begin(const check_case *c)
{
    calls.in_cases = true;
    calls.made = calls.any_source = 0;
    calls.failed = NULL;
    calls.at = (check_place){"", 0};
    calls.begins = false;
    calls.fail = c->fails;
    memset(under_way, 0, sizeof under_way);
}

/* Requests that had begun when another one could not begin are not asked for: nearly every program just returns then. */
int check_calls_end(const check_case *c)
{
    char failed[CHECK_WORDS] = "";
    calls.fail = 0;
    if (calls.begins) check_forget_requests();
    if (calls.any_source) check_number(c, CHECK_ANY_SOURCE, calls.any_source);
    if (calls.failed) snprintf(failed, sizeof failed, "%s at %s:%d", calls.failed, calls.at.file, calls.at.line);
    check_look_for_left(c->number, failed);
    return calls.made;
}

/* A program with a main of its own is one case. */
__attribute__((destructor)) static void at_exit(void)
{
    if (!calls.in_cases) check_look_for_left(0, "");
}
