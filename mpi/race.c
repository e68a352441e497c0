/* SPDX-License-Identifier: MIT */
/*
 * Message races: a receive from any source that could have taken the message of a later receive, which then would wait for
 * ever.
 *
 *      rank 0: MPI_Recv(any source)        rank 1: MPI_Send to 0        rank 2: MPI_Send to 0
 *              MPI_Recv(from rank 2)
 *
 * That it came as it did was luck, where all of this holds:
 *  - the second message matches the first receive, and is the first of its sender since;
 *  - in between this rank has done nothing that others can see (sent, entered a collective, received an MPI_Ssend), so the
 *    message did not wait for the first receive;
 *  - no receive from any source, and no probe, has taken a message of that sender: then the receives from it are as many as
 *    its messages, and one of them has none if the first receive takes one;
 *  - the program has not asked who the first message came from: its status was ignored, or (where accesses are looked at,
 *    accesses.c) not read.
 * Or the later message, if it matches, is too long for the first receive or made of something else, whatever receives it.
 */
#include <stdlib.h>

#include "mpi/internal.h"

enum { OPEN_MOST = 32, FOUND_MOST = 32 };

/* A receive from any source. */
typedef struct {
    mpi__receive receive;
    int source;         /* that it has taken from */
    mpi__region status; /* closed though it begins somewhere: the program has looked, or may have */
} wild;

struct mpi__taken {
    bool adapts;         /* a receive from any source, or a probe, has taken one of its messages */
    uint64_t considered; /* receives from any source up to this one have been compared with a message of its */
};

typedef struct {
    mpi__comm *c; /* NULL: it has been freed, with `certain` */
    mpi__receive first, second;
    bool misfit; /* the message does not fit into the first */
    bool certain;
} race;

uint64_t mpi__receives;
bool mpi__races_open;
static wild open[OPEN_MOST];
static int open_count;
static race found[FOUND_MOST];
static int found_count;

void mpi__races_close(void)
{
    for (int i = 0; i < open_count; i++) {
        mpi__region_close(&open[i].status);
        mpi__type_drop(open[i].receive.type);
    }
    open_count = 0;
    mpi__races_open = false;
}

static mpi__taken *from(mpi__comm *c, int source)
{
    if (!c->taken) c->taken = calloc((size_t)c->size, sizeof *c->taken);
    return c->taken && source >= 0 && source < c->size ? &c->taken[source] : NULL;
}

void mpi__race_adapts(mpi__comm *c, int source)
{
    mpi__taken *t = from(c, source);
    if (t) t->adapts = true;
}

static void took_any(const mpi__receive *r, int source, MPI_Status *status)
{
    if (open_count == OPEN_MOST) return;
    wild *w = &open[open_count++];
    *w = (wild){.receive = *r, .source = source};
    mpi__type_keep(r->type);
    mpi__races_open = true;
    if (status == MPI_STATUS_IGNORE) return;
    if (mpi__looks)
        mpi__region_of_status(&w->status, status);
    else
        w->status.begin = 1;
}

/* The first message of its sender since w: could w have taken it? */
static bool could_take(const wild *w, const mpi__taken *t, const mpi__receive *r, const p2p_status *got)
{
    return w->receive.c == r->c && w->receive.posted < r->posted && w->receive.posted > t->considered &&
           w->source != got->source && (w->receive.tag == MPI_ANY_TAG || w->receive.tag == got->tag);
}

static bool fits(const mpi__receive *r, const p2p_status *got, uint16_t kind)
{
    return got->bytes <= r->room && mpi__is_expected(r->type, got, kind);
}

void mpi__race_received(mpi__comm *c, const mpi__receive *receive, const p2p_status *got, uint16_t kind,
                        MPI_Status *status)
{
    mpi__receive r = *receive;
    mpi__taken *t = open_count ? from(c, got->source) : NULL;
    r.c = c;
    for (int i = 0; t && i < open_count && found_count < FOUND_MOST; i++) {
        const wild *w = &open[i];
        bool asked = w->status.begin && !w->status.link;
        bool misfit = !fits(&w->receive, got, kind);
        if (!could_take(w, t, &r, got) || (!misfit && (asked || r.source == MPI_ANY_SOURCE))) continue;
        found[found_count] = (race){.c = c, .first = w->receive, .second = r, .misfit = misfit};
        found[found_count].second.source = got->source;
        found[found_count++].second.tag = got->tag;
        break;
    }
    if (t) t->considered = r.posted;
    bool synchronous = kind & MPI__SENT_SYNCHRONOUSLY;
    if (synchronous) mpi__races_close();
    if (r.source != MPI_ANY_SOURCE) return;
    mpi__race_adapts(c, got->source);
    if (!synchronous) took_any(&r, got->source, status);
}

static bool stands(const race *one)
{
    if (!one->c || one->misfit) return one->misfit || one->certain;
    return !one->c->taken[one->second.source].adapts;
}

void mpi__races_forget(mpi__comm *c)
{
    for (int i = 0; i < found_count; i++) {
        if (found[i].c != c) continue;
        found[i].certain = stands(&found[i]);
        found[i].c = NULL;
    }
    mpi__races_close();
    free(c->taken);
    c->taken = NULL;
}

int mpi__races_tell(void)
{
    const race *one = NULL;
    if (p2p_layer_orders(mpi__world->p2p)) found_count = 0; /* the order in which it comes first is run */
    for (int i = 0; i < found_count && !one; i++)
        if (stands(&found[i])) one = &found[i];
    mpi__races_close();
    found_count = 0;
    if (!one) return MPI_SUCCESS;
    p2p__here(one->second.file, one->second.line);
    mpi__comm *c = one->c ? one->c : mpi__world;
    int code = mpi__begin_on(
        c, &(p2p_layer_call){
               .name = one->second.name, .shape = P2P_CALL_RECV, .peer = one->second.source, .tag = one->second.tag});
    if (code) return code;
    code = mpi__mistake(c, MPI_ERR_OTHER, "message_race",
                        "the message could have come first, and been taken by %s of any source on line %d%s" MPI__TRY
                        "name the source there, or another tag for each of the two",
                        one->first.name, one->first.line,
                        one->misfit ? ", which it does not fit" : ": then nothing would have come here");
    p2p_layer_other_line(c->p2p, one->first.name, one->first.file, one->first.line);
    return mpi__end(c, code);
}
