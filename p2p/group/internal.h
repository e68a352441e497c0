/* SPDX-License-Identifier: MIT */
/* internal: what the files of this room share. */
#ifndef PAIRWISE_P2P_GROUP_INTERNAL_H
#define PAIRWISE_P2P_GROUP_INTERNAL_H

#include "p2p/message/internal.h"
#include "p2p/shared/words.h"

/* ---- fingerprint.c: what ranks think a collective is, compared by a number, told in words ---- */

/* Show on this rank's row what the open call is, and keep its hash: engine->shown->hash. */
void p2p__show_collective(p2p_engine *engine, const p2p_fingerprint *what, uint64_t number);

/* Keep what the row shows in words, for others to read once they see a hash that is not theirs. */
void p2p__show_words(p2p_engine *engine, uint32_t context, uint64_t in_lines, uint64_t number);

/* This rank and another (both of the world) think differently of a collective: show how, and what to try. */
void p2p__show_difference(p2p_engine *engine, int other, uint32_t context, uint64_t number);

/* Of two ranks, the lower one first, by what they have shown of the collective that has this number in the lines: a
 * finding, its words, and what to try. */
const char *p2p__difference(const int ranks[2], const scoreboard_call calls[2], uint64_t in_lines, p2p_finding *f,
                            p2p_words *w);

/* ---- agree.c ---- */

/* Tell the others that this rank is in the open collective, and what it thinks it is: what its row shows. Some bytes
 * may go with it. */
p2p_err p2p__agree_post(p2p_comm *comm, const p2p_fingerprint *what);

/* The open collective will not wait here: now a rank that does must learn that this one has come. */
p2p_err p2p__agree_settle(p2p_comm *comm);

/* ---- explain.c: of the outermost collective, in a job of launch --explain ---- */

void p2p__explain_begin(p2p_comm *comm, const p2p_fingerprint *what);
void p2p__explain_end(p2p_comm *comm, p2p_err err);

/* ---- scratch.c ---- */

/* Bytes of the largest piece that each of so many ranks can have. */
size_t p2p__scratch_largest(int ranks);

/* Every communicator that may get scratch memory has this as free_scratch. */
void p2p__scratch_free(p2p_comm *comm, bool last);

#endif
