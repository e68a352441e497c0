/* SPDX-License-Identifier: MIT */
/*
 * The calls of a learner's code, in a rank: learn has the linker's tools put check_malloc in place of malloc in the
 * learner's object file, check_p2p_send in place of p2p_send, and so on. What malloc gave must be free when a case has
 * ended; and in a case that fails on purpose no Pairwise call does anything, and one or all return an error, which the
 * learner's function must hand on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/exercises/check_internal.h"

#pragma weak check_number /* a program with a main of its own reports nothing */

enum { PIECES = 4096 }; /* watched at the same time; those beyond are not missed */

typedef struct {
    void *memory;
    size_t bytes;
    const char *from; /* where the call returns to */
    bool shared;      /* from p2p_alloc */
} piece;

static struct {
    piece pieces[PIECES];
    size_t count;
    bool in_cases;
    int fail;                     /* which call; 0: none */
    int made, failed, any_source; /* calls; in a case that fails, how many were made */
    enum check_call_name first;   /* of those that failed */
} calls;

/* ---- Memory ---- */

extern const char __ehdr_start[];
int __sanitizer_get_ownership(const volatile void *memory) __attribute__((weak));

static void *watch(void *memory, size_t bytes, bool shared, const void *from)
{
    if (memory && calls.count < PIECES) calls.pieces[calls.count++] = (piece){memory, bytes, from, shared};
    return memory;
}

static void forget(const void *memory)
{
    for (size_t i = calls.count; memory && i-- > 0;)
        if (calls.pieces[i].memory == memory) {
            calls.pieces[i] = calls.pieces[--calls.count];
            return;
        }
}

/* Also what a test took over from the learner's function and has freed is gone. */
static bool is_left(const piece *p)
{
    return p->shared || !__sanitizer_get_ownership || __sanitizer_get_ownership(p->memory);
}

/* One line, and the place as sanitizers print a stack: learn finds the learner's line by it. */
static void say_left(int number, const piece *p, size_t pieces, size_t bytes)
{
    unsigned long at = (unsigned long)((uintptr_t)p->from - 1);
    fprintf(stderr, CHECK_MEMORY_LEFT "%d: %zu %zu %s\n    #0 0x%lx  (/ranks+0x%lx)\n\n", number, pieces, bytes,
            p->shared ? "p2p_release" : "free", at, at - (unsigned long)(uintptr_t)__ehdr_start);
    fflush(stderr);
}

static void look_for_memory(int number)
{
    const piece *first = NULL;
    size_t pieces = 0, bytes = 0;
    for (size_t i = 0; i < calls.count; i++) {
        if (!is_left(&calls.pieces[i])) continue;
        if (!first) first = &calls.pieces[i];
        pieces++;
        bytes += calls.pieces[i].bytes;
    }
    if (first) say_left(number, first, pieces, bytes);
    calls.count = 0;
}

#define HERE __builtin_return_address(0)

void *check_malloc(size_t bytes)
{
    return watch(malloc(bytes), bytes, false, HERE);
}

void *check_calloc(size_t count, size_t each)
{
    return watch(calloc(count, each), count * each, false, HERE);
}

void *check_realloc(void *memory, size_t bytes)
{
    forget(memory);
    return watch(realloc(memory, bytes), bytes, false, HERE);
}

void *check_aligned_alloc(size_t alignment, size_t bytes)
{
    return watch(aligned_alloc(alignment, bytes), bytes, false, HERE);
}

char *check_strdup(const char *text)
{
    return watch(strdup(text), strlen(text) + 1, false, HERE);
}

void check_free(void *memory)
{
    forget(memory);
    free(memory);
}

/* ---- Pairwise calls: the real one, or none ---- */

/* In a case that fails on purpose no call does anything: those that do not fail say that all went well. */
static p2p_err pretend(enum check_call_name name)
{
    calls.made++;
    if (calls.fail != CHECK_EVERY_CALL && calls.fail != calls.made) return P2P_OK;
    if (!calls.failed++) calls.first = name;
    return CHECK_FAILS_WITH;
}

/* An empty message has come. */
static p2p_err pretend_message(enum check_call_name name, int source, int tag, p2p_status *status)
{
    p2p_err err = pretend(name);
    if (!err && status) *status = (p2p_status){.source = source < 0 ? 0 : source, .tag = tag < 0 ? 0 : tag, .bytes = 0};
    return err;
}

static p2p_err pretend_request(enum check_call_name name, p2p_request *request)
{
    p2p_err err = pretend(name);
    if (!err) *request = P2P_REQUEST_NULL;
    return err;
}

#define OR_PRETEND(name, ...) return calls.fail ? pretend(check_##name##_) : (name)(__VA_ARGS__)

static void note_source(int source)
{
    calls.any_source += source == P2P_ANY_SOURCE;
}

p2p_err check_p2p_alloc(p2p_comm *comm, size_t bytes, void **buf)
{
    p2p_err err = calls.fail ? pretend(check_p2p_alloc_) : P2P_OK;
    if (!err) err = (p2p_alloc)(comm, bytes, buf);
    if (!err) watch(*buf, bytes, true, HERE);
    return err;
}

p2p_err check_p2p_release(p2p_comm *comm, void *buf)
{
    forget(buf);
    p2p_err err = calls.fail ? pretend(check_p2p_release_) : P2P_OK;
    return err ? err : (p2p_release)(comm, buf);
}

p2p_err check_p2p_send(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag)
{
    OR_PRETEND(p2p_send, comm, buf, bytes, dest, tag);
}

p2p_err check_p2p_ssend(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag)
{
    OR_PRETEND(p2p_ssend, comm, buf, bytes, dest, tag);
}

p2p_err check_p2p_recv(p2p_comm *comm, void *buf, size_t bytes, int source, int tag, p2p_status *status)
{
    note_source(source);
    if (calls.fail) return pretend_message(check_p2p_recv_, source, tag, status);
    return (p2p_recv)(comm, buf, bytes, source, tag, status);
}

p2p_err check_p2p_sendrecv(p2p_comm *comm, const void *sendbuf, size_t sendbytes, int dest, int sendtag, void *recvbuf,
                           size_t recvbytes, int source, int recvtag, p2p_status *status)
{
    note_source(source);
    if (calls.fail) return pretend_message(check_p2p_sendrecv_, source, recvtag, status);
    return (p2p_sendrecv)(comm, sendbuf, sendbytes, dest, sendtag, recvbuf, recvbytes, source, recvtag, status);
}

/* Which one of several senders' messages a probe finds is not promised: here it is that of the lowest rank, so a receive from
 * P2P_ANY_SOURCE behind it may take another one, which came first. */
static void look_lowest(p2p_comm *comm, int source, int tag, p2p_status *status)
{
    bool found = false, failed = false;
    for (int rank = 0; source == P2P_ANY_SOURCE && rank < p2p_size(comm) && !found && !failed; rank++)
        failed = (p2p_iprobe)(comm, rank, tag, &found, status) != P2P_OK;
}

p2p_err check_p2p_probe(p2p_comm *comm, int source, int tag, p2p_status *status)
{
    note_source(source);
    if (calls.fail) return pretend_message(check_p2p_probe_, source, tag, status);
    p2p_err err = (p2p_probe)(comm, source, tag, status);
    if (!err) look_lowest(comm, source, tag, status);
    return err;
}

p2p_err check_p2p_iprobe(p2p_comm *comm, int source, int tag, bool *found, p2p_status *status)
{
    note_source(source);
    if (!calls.fail) {
        p2p_err err = (p2p_iprobe)(comm, source, tag, found, status);
        if (!err && *found) look_lowest(comm, source, tag, status);
        return err;
    }
    *found = true;
    return pretend_message(check_p2p_iprobe_, source, tag, status);
}

p2p_err check_p2p_isend(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag, p2p_request *request)
{
    if (calls.fail) return pretend_request(check_p2p_isend_, request);
    return (p2p_isend)(comm, buf, bytes, dest, tag, request);
}

p2p_err check_p2p_irecv(p2p_comm *comm, void *buf, size_t bytes, int source, int tag, p2p_request *request)
{
    note_source(source);
    if (calls.fail) return pretend_request(check_p2p_irecv_, request);
    return (p2p_irecv)(comm, buf, bytes, source, tag, request);
}

p2p_err check_p2p_wait(p2p_request *request, p2p_status *status)
{
    if (calls.fail) return pretend_message(check_p2p_wait_, 0, 0, status);
    return (p2p_wait)(request, status);
}

p2p_err check_p2p_test(p2p_request *request, bool *done, p2p_status *status)
{
    if (!calls.fail) return (p2p_test)(request, done, status);
    *done = true;
    return pretend_message(check_p2p_test_, 0, 0, status);
}

p2p_err check_p2p_wait_all(size_t count, p2p_request requests[], p2p_status statuses[])
{
    OR_PRETEND(p2p_wait_all, count, requests, statuses);
}

p2p_err check_p2p_wait_any(size_t count, p2p_request requests[], size_t *index, p2p_status *status)
{
    if (!calls.fail) return (p2p_wait_any)(count, requests, index, status);
    *index = 0;
    return pretend_message(check_p2p_wait_any_, 0, 0, status);
}

p2p_err check_p2p_test_all(size_t count, p2p_request requests[], bool *done, p2p_status statuses[])
{
    if (!calls.fail) return (p2p_test_all)(count, requests, done, statuses);
    *done = true;
    return pretend(check_p2p_test_all_);
}

p2p_err check_p2p_test_any(size_t count, p2p_request requests[], size_t *index, bool *done, p2p_status *status)
{
    if (!calls.fail) return (p2p_test_any)(count, requests, index, done, status);
    *index = 0;
    *done = true;
    return pretend_message(check_p2p_test_any_, 0, 0, status);
}

/* ---- A case ---- */

void check_calls_begin(const check_case *c)
{
    calls.in_cases = true;
    calls.count = 0;
    calls.made = calls.failed = calls.any_source = 0;
    calls.fail = c->fails;
}

void check_calls_end(const check_case *c)
{
    calls.fail = 0;
    if (calls.failed) check_number(c, CHECK_FAILED, calls.first);
    if (calls.any_source) check_number(c, CHECK_ANY_SOURCE, calls.any_source);
    look_for_memory(c->number);
}

/* A program with a main of its own is one case. */
__attribute__((destructor)) static void at_exit(void)
{
    if (!calls.in_cases) look_for_memory(0);
}
