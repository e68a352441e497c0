/* SPDX-License-Identifier: MIT */
/* trace_rank: the hooks that a rank calls. Where nothing is traced, TRACE costs one comparison of a pointer. */
#ifndef PAIRWISE_P2P_TRACE_RANK_H
#define PAIRWISE_P2P_TRACE_RANK_H

#include "p2p/message/internal.h"
#include "p2p/trace/trace.h"

enum { TRACE_NAMES = 256, TRACE_PROBES = 8 };

/* A pool of texts that a rank shares, and where its literals are in it. */
typedef struct {
    trace_pool *pool; /* written only, and compared: others can write there too */
    uint32_t used;
    struct {
        const char *text;
        uint16_t place;
    } names[TRACE_NAMES];
} p2p_texts;

uint16_t p2p__text_place(p2p_texts *texts, const char *text); /* 0: no room */

struct p2p_trace {
    trace_rank *shared; /* written only: other ranks can write there too */
    uint64_t count;     /* what `shared` should say */
    uint32_t open_count;
    uint64_t room, reserve;             /* the reserve is for what p2p_stats says at the end */
    uint32_t order, number;             /* of the outermost collective under way; 0: none */
    uint64_t last;                      /* when something was last noted */
    uint64_t posted;                    /* when the send that is being posted began */
    bool has_out, has_in, has_received; /* what the next messages carry, and what the last one did */
    p2p_part out, in, received;
    const char *watched; /* p2p_layer_watch */
    size_t watched_bytes;
    trace_event *arrived; /* the last message that came without a known part, and where it lies; NULL: none */
    const char *arrived_at;
    size_t arrived_bytes;
    trace_event nowhere; /* for calls nested too deep: not kept */
    p2p_texts texts;
};

/* ---- notes_calls.c: every call, for all that observe it ---- */

void p2p__notes_create(p2p_engine *engine);
void p2p__observe_begin(p2p_engine *engine, const p2p_comm *comm, const p2p_call *call, const char *file, int line);
void p2p__observe_collective(p2p_comm *comm, const p2p_fingerprint *what);
void p2p__observe_end(p2p_engine *engine, p2p_err err);

/* What a short message takes is made of what its sender does before it and its receiver after it: a send is counted when it
 * has left, a receive before it waits. */
static inline void p2p__observe(p2p_engine *engine, const p2p_comm *comm, const p2p_call *call, const char *file,
                                int line)
{
    if (call->name != engine->counted_late || engine->depth > 1) {
        p2p__observe_begin(engine, comm, call, file, line);
        return;
    }
    engine->operation = engine->late_operation;
    engine->late = engine->observed_end = true;
}

/* Metrics: this call is going to sleep, and so is timed; messages that are kept; the call fails. */
void p2p__note_sleep(p2p_engine *engine);
void p2p__note_kept(p2p_engine *engine);
void p2p__note_error(p2p_engine *engine);

/* ---- trace_calls.c, trace_messages.c ---- */

/* The engine's part in it; NULL if nothing is traced, or there is no memory for it. */
p2p_trace *p2p__trace_create(p2p_engine *engine);

void p2p__trace_call(p2p_engine *engine, const p2p_comm *comm, const p2p_call *call, const char *file, int line);
void p2p__trace_end(p2p_engine *engine, p2p_err err);
trace_event *p2p__trace_push(p2p_engine *engine, enum trace_kind kind, const char *name, uint32_t context,
                             const char *file, int line);
int p2p__trace_pop(p2p_engine *engine, uint8_t flags); /* the innermost one; returns its kind */
void p2p__trace_collective(p2p_comm *comm, const p2p_fingerprint *what);
void p2p__trace_sends(p2p_request request);
void p2p__trace_expects(p2p_request request);
void p2p__trace_receives(p2p_request request);
void p2p__trace_moved(p2p_comm *comm, int peer, size_t sent, size_t received); /* without a message; peer: in comm */
void p2p__trace_background(p2p_request request);                               /* a non-blocking collective has ended */
void p2p__trace_compute(p2p_comm *comm, size_t bytes, uint64_t virtual_start, const char *file, int line);
void p2p__trace_stats(const p2p_comm *comm);
uint64_t p2p__trace_clock(const p2p_engine *engine);

/* ---- Between trace_calls.c and trace_messages.c ---- */

trace_event p2p__trace_make(p2p_engine *engine, enum trace_kind kind, uint32_t context); /* of now */
trace_event *p2p__trace_add(p2p_trace *trace, const trace_event *event); /* where it is kept; NULL: no room */
trace_event *p2p__trace_top(p2p_trace *trace); /* the innermost call; NULL if there is none, or it is too deep */

#define TRACE(engine, hook)                                     \
    do {                                                        \
        if (__builtin_expect((engine)->trace != NULL, 0)) hook; \
    } while (0)

#endif
