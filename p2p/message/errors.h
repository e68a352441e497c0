/* SPDX-License-Identifier: MIT */
/* errors: how every public call begins and ends, what is wrong with it, and what the supervisor is told of that. */
#ifndef PAIRWISE_P2P_ERRORS_H
#define PAIRWISE_P2P_ERRORS_H

#include "p2p/message/state.h"

/* ---- error.c ---- */

/* Every public call begins with enter and ends with leave. enter remembers what is called and from where (only at depth
 * 0), and refuses a communicator that is not usable. `call` needs name, shape, peer, tag and bytes. */
typedef struct {
    const char *name;
    int shape, peer, tag;
    size_t bytes;
    int from, from_tag; /* SHAPE_SENDRECV */
} p2p_call;

p2p_err p2p__enter(p2p_comm *comm, const p2p_call *call);
p2p_err p2p__leave(p2p_comm *comm, p2p_err err);

/* Remember the cause of an error; see causes.h. Returns err. And the same again as when this rank was poisoned. */
p2p_err p2p__fail(p2p_comm *comm, p2p_err err, int class, int argument, const char *advice, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
p2p_err p2p__fail_again(p2p_comm *comm, p2p_err err);

/* From now on every call on any communicator of this rank fails with err and comm's cause. */
p2p_err p2p__poison(p2p_comm *comm, p2p_err err);

/* Show the others that this rank takes no more part: before its program can use again what it was sending. */
void p2p__give_up(p2p_engine *engine, p2p_err err);

/* Has that rank done so? Asked after what lies in its memory has been read: if not, it was still what was sent. */
static inline bool p2p__gave_up(const p2p_engine *engine, int rank)
{
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&engine->scoreboard->rows[rank].gave_up, memory_order_relaxed);
}

/* Refuse a rank, a tag or a buffer that cannot be meant; a receive may leave rank and tag open. A send is refused in a
 * failed job, too. */
p2p_err p2p__check_message(p2p_comm *comm, bool receives, const void *buf, size_t bytes, int peer, int tag);

/* ---- init.c ---- */

/* For calls that return without p2p__enter: forget the line; and may what is wrong be printed? As the world's error
 * mode says. */
void p2p__forget_line(void);
bool p2p__prints_errors(void);
/* The supervisor is to know of a call without a communicator: most often it came before p2p_init. */
void p2p__tell_early(const scoreboard_call *call, const char *text);

/* ---- blame.c: after p2p__fail, what else there is to report ---- */

/* The message that a rank (of the communicator) has sent to this one; an operation posted before; what another rank is
 * in. */
void p2p__blame_message(p2p_comm *comm, const p2p_status *message);
void p2p__blame_request(p2p_comm *comm, const struct p2p_operation *request);
void p2p__blame_rank(p2p_comm *comm, int rank);
p2p_place p2p__place_of(const struct p2p_operation *request, int rank);

/* Findings of their own, instead of one that says what the error is. At most SCOREBOARD_FOUND. Frees the finding. */
void p2p__draft(p2p_engine *engine, p2p_finding *finding);

/* The supervisor is to know of an error of that call, and its text; with drafts: of so many findings. */
void p2p__publish(scoreboard_row *row, int rank, const p2p_blame *blame, const scoreboard_call *call, const char *text,
                  int drafts);

/* ---- leaks.c ---- */

/* P2P_ERR_LEAK, naming what is left, or P2P_OK. */
p2p_err p2p__report_leaks(p2p_comm *world);

/* ---- timeout.c ---- */

/* P2P_ERR_TIMEOUT, naming the ranks that the call waits for, and what they are doing. */
p2p_err p2p__timeout_error(p2p_comm *comm, const scoreboard_wait *wait);

#endif
