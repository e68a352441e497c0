/* SPDX-License-Identifier: MIT */
/*
 * trace_rank: the hooks that a rank calls. Each does nothing but look at one pointer when nothing is traced.
 */
#ifndef PAIRWISE_P2P_TRACE_RANK_H
#define PAIRWISE_P2P_TRACE_RANK_H

#include "p2p/internal.h"
#include "p2p/trace.h"

/* The engine's part in it; NULL if nothing is traced, or there is no memory for it. */
p2p_trace *p2p__trace_create(p2p_engine *engine);

void p2p__trace_call(p2p_engine *engine, const p2p_comm *comm, const p2p_call *call, const char *file, int line);
void p2p__trace_end(p2p_engine *engine, p2p_err err);
void p2p__trace_collective(p2p_comm *comm, const p2p_fingerprint *what);
void p2p__trace_wait(p2p_engine *engine);
void p2p__trace_wait_end(p2p_engine *engine);
void p2p__trace_posts(p2p_engine *engine);
void p2p__trace_sends(p2p_request request);
void p2p__trace_expects(p2p_request request);
void p2p__trace_receives(p2p_request request);
void p2p__trace_step(p2p_engine *engine, p2p_request request); /* whose step runs; NULL: nobody's */
void p2p__trace_begins(p2p_request request);                   /* a non-blocking collective; and ends: */
void p2p__trace_background(p2p_request request);
void p2p__trace_compute(p2p_comm *comm, size_t bytes, uint64_t virtual_start, const char *file, int line);
void p2p__trace_stats(const p2p_comm *comm);
uint64_t p2p__trace_clock(const p2p_engine *engine);

#define TRACE(engine, hook)                                     \
    do {                                                        \
        if (__builtin_expect((engine)->trace != NULL, 0)) hook; \
    } while (0)

#endif
