/* SPDX-License-Identifier: MIT */
/* Buffered sends: a copy of the message is sent, whose room is counted against the attached buffer until it has gone. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/internal.h"

typedef struct bsend {
    struct bsend *next;
    p2p_request p2p;
    size_t bytes;
    mpi__comm *comm;
    bool flushed; /* and takes no room any more */
    char data[];
} bsend;

/* One is the process's, the others communicators'; they are listed until they are detached. */
struct mpi__buffer {
    struct mpi__buffer *next;
    void *at;
    size_t bytes, used; /* MPI_BUFFER_AUTOMATIC has no end */
    bsend *list;
    size_t count,
        reaped_at; /* sends in the list; how many may be there before those that have been received are looked for */
    p2p_layer_thing thing;
};

static mpi__buffer process, *attached;

enum reaping { REAP_DONE /* what is known to have ended */, REAP_TEST, REAP_WAIT };

/* Those that have been received give back their room. The others go on, also after an error of the wait (PAIRWISE_TIMEOUT),
 * which is returned. */
static p2p_err reap(mpi__buffer *buffer, enum reaping how)
{
    p2p_err first = P2P_OK;
    for (bsend **at = &buffer->list, *b; (b = *at);) {
        bool done = true;
        p2p_err err = how == REAP_DONE             ? p2p_layer_done(&b->p2p, &done)
                      : how == REAP_WAIT && !first ? p2p_wait(&b->p2p, NULL)
                                                   : p2p_test(&b->p2p, &done, NULL);
        if (b->p2p) {
            if (!first) first = err;
            at = &b->next;
            continue;
        }
        *at = b->next;
        buffer->count--;
        if (!b->flushed) buffer->used -= b->bytes + MPI_BSEND_OVERHEAD;
        mpi__comm_drop(b->comm);
        free(b);
    }
    return first;
}

int mpi__bsend(mpi__comm *c, mpi__piece *piece, int dest, int tag, uint16_t kind)
{
    size_t needed = piece->bytes + MPI_BSEND_OVERHEAD;
    mpi__buffer *buffer = c->buffer ? c->buffer : &process;
    int code;
    (void)kind;
    if (needed > buffer->bytes - buffer->used) reap(buffer, REAP_TEST);
    if (buffer->count >= buffer->reaped_at) {
        reap(buffer, REAP_DONE);
        buffer->reaped_at = 2 * buffer->count + 64;
    }
    bsend *b = needed <= buffer->bytes - buffer->used ? malloc(sizeof *b + piece->bytes) : NULL;
    if (!b && needed <= buffer->bytes - buffer->used) {
        code = mpi__no_memory(c);
    } else if (!b) {
        code = mpi__wrong(
            c, MPI_ERR_BUFFER, P2P_ARGUMENT_BUFFER,
            "the attached buffer (%zu bytes, %zu in use) has no room for %zu bytes and MPI_BSEND_OVERHEAD" MPI__TRY
            "MPI_Buffer_attach with the sum of MPI_Pack_size + MPI_BSEND_OVERHEAD of all messages",
            buffer->bytes, buffer->used, piece->bytes);
    } else {
        *b = (bsend){.next = buffer->list, .bytes = piece->bytes, .comm = c};
        p2p_layer_copy(b->data, piece->at, piece->bytes);
        code = mpi__p2p(c, p2p_isend(c->p2p, b->data, piece->bytes, dest, tag, &b->p2p));
        if (code) {
            free(b);
        } else {
            buffer->list = b;
            buffer->count++;
            buffer->used += needed;
            mpi__comm_keep(c);
        }
    }
    free(piece->owned);
    piece->owned = NULL;
    return code;
}

void mpi__bsends_reap(void)
{
    for (mpi__buffer *b = attached; b; b = b->next) reap(b, REAP_DONE);
}

/* In MPI_Finalize, which ends them all. */
bool mpi__bsends_end(void)
{
    bool left = false;
    for (mpi__buffer *b = attached; b; b = b->next) {
        reap(b, REAP_WAIT);
        left = left || b->list;
    }
    return !left;
}

/* ---- Attaching ---- */

static int attach(const char *name, MPI_Comm comm, bool own, void *at, MPI_Count size)
{
    mpi__comm *c;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = name});
    if (code) return code;
    mpi__buffer *buffer = own ? c->buffer : &process;
    if (buffer && buffer->at)
        return mpi__end(c, mpi__wrong(c, MPI_ERR_BUFFER, P2P_ARGUMENT_BUFFER,
                                      "a buffer of %zu bytes is attached already" MPI__TRY "MPI_Buffer_detach first",
                                      buffer->bytes));
    if (size < 0)
        return mpi__end(c,
                        mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_COUNT, "a size of %lld is negative", (long long)size));
    if (!at) return mpi__end(c, mpi__wrong(c, MPI_ERR_BUFFER, P2P_ARGUMENT_BUFFER, "the buffer is NULL"));
    if (own) c->buffer = buffer = calloc(1, sizeof *buffer);
    if (!buffer) return mpi__end(c, mpi__no_memory(c));
    buffer->at = at;
    buffer->bytes = at == MPI_BUFFER_AUTOMATIC ? SIZE_MAX : (size_t)size;
    buffer->next = attached;
    attached = buffer;
    p2p_layer_made(c->p2p, "buffer", &buffer->thing);
    return mpi__end(c, MPI_SUCCESS);
}

static void take_off(mpi__comm *c, mpi__buffer *buffer)
{
    mpi__buffer **link = &attached;
    while (*link != buffer) link = &(*link)->next;
    *link = buffer->next;
    p2p_layer_given_back(&buffer->thing);
    buffer->at = NULL;
    buffer->bytes = 0;
    if (buffer == &process) return;
    free(buffer);
    c->buffer = NULL;
}

void mpi__buffer_drop(mpi__comm *c)
{
    if (!c->buffer) return;
    reap(c->buffer, REAP_WAIT);
    take_off(c, c->buffer);
}

static int detach(const char *name, MPI_Comm comm, bool own, void *address, MPI_Count *size)
{
    mpi__comm *c;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = name});
    if (!code) code = mpi__place(c, address, "address");
    if (!code) code = mpi__place(c, size, "size");
    if (code) return code;
    mpi__buffer *buffer = own ? c->buffer : &process;
    void *at = buffer ? buffer->at : NULL;
    *size = at && at != MPI_BUFFER_AUTOMATIC ? (MPI_Count)buffer->bytes : 0;
    memcpy(address, &at, sizeof at);
    p2p_err err = buffer ? reap(buffer, REAP_WAIT) : P2P_OK;
    if (at && !err) take_off(c, buffer);
    return mpi__end(c, mpi__p2p(c, err));
}

static int detach_int(const char *name, MPI_Comm comm, bool own, void *address, int *size)
{
    MPI_Count bytes = 0;
    int code = detach(name, comm, own, address, &bytes);
    if (!code) *size = bytes > INT_MAX ? MPI_UNDEFINED : (int)bytes;
    return code;
}

/* What is under way lies in copies, so the room that was counted for it is free without a wait. */
static void give_room_back(mpi__buffer *buffer)
{
    for (bsend *b = buffer->list; b; b = b->next) {
        if (!b->flushed) buffer->used -= b->bytes + MPI_BSEND_OVERHEAD;
        b->flushed = true;
    }
}

/* Without a request it waits until all has been received; with one, which has ended at once, it is local. */
static int flush(const char *name, MPI_Comm comm, bool own, MPI_Request *request)
{
    mpi__comm *c;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = name});
    if (code) return code;
    mpi__buffer *buffer = own ? c->buffer : &process;
    p2p_err err = buffer && !request ? reap(buffer, REAP_WAIT) : P2P_OK;
    if (err) return mpi__end(c, mpi__p2p(c, err));
    if (buffer && request) give_room_back(buffer);
    if (request) {
        mpi__request *r = mpi__request_new(c);
        if (!r) return mpi__end(c, mpi__no_memory(c));
        r->active = true;
        *request = (MPI_Request)(void *)r;
    }
    return mpi__end(c, MPI_SUCCESS);
}

API(Buffer_attach)(void *at, int size)
{
    return attach("MPI_Buffer_attach", MPI_COMM_WORLD, false, at, size);
}

API(Buffer_attach_c)(void *at, MPI_Count size)
{
    return attach("MPI_Buffer_attach_c", MPI_COMM_WORLD, false, at, size);
}

API(Comm_attach_buffer)(MPI_Comm comm, void *at, int size)
{
    return attach("MPI_Comm_attach_buffer", comm, true, at, size);
}

API(Comm_attach_buffer_c)(MPI_Comm comm, void *at, MPI_Count size)
{
    return attach("MPI_Comm_attach_buffer_c", comm, true, at, size);
}

API(Buffer_detach)(void *address, int *size)
{
    return detach_int("MPI_Buffer_detach", MPI_COMM_WORLD, false, address, size);
}

API(Buffer_detach_c)(void *address, MPI_Count *size)
{
    return detach("MPI_Buffer_detach_c", MPI_COMM_WORLD, false, address, size);
}

API(Comm_detach_buffer)(MPI_Comm comm, void *address, int *size)
{
    return detach_int("MPI_Comm_detach_buffer", comm, true, address, size);
}

API(Comm_detach_buffer_c)(MPI_Comm comm, void *address, MPI_Count *size)
{
    return detach("MPI_Comm_detach_buffer_c", comm, true, address, size);
}

API(Buffer_flush)(void)
{
    return flush("MPI_Buffer_flush", MPI_COMM_WORLD, false, NULL);
}

API(Comm_flush_buffer)(MPI_Comm comm)
{
    return flush("MPI_Comm_flush_buffer", comm, true, NULL);
}

API(Buffer_iflush)(MPI_Request *request)
{
    return flush("MPI_Buffer_iflush", MPI_COMM_WORLD, false, request);
}

API(Comm_iflush_buffer)(MPI_Comm comm, MPI_Request *request)
{
    return flush("MPI_Comm_iflush_buffer", comm, true, request);
}
