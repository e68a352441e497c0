/* SPDX-License-Identifier: MIT */
/* internal: what the files of this room share; the engine and memory. */
#ifndef PAIRWISE_P2P_INTERNAL_H
#define PAIRWISE_P2P_INTERNAL_H

#include "p2p/message/errors.h"
#include "p2p/message/operations.h"
#include "p2p/message/state.h"

/* ---- engine.c ---- */

p2p_err p2p__engine_create(int rank, int control, int memory_fd, scoreboard *b,
                           p2p_engine **engine); /* memory_fd is its own */
void p2p__engine_destroy(p2p_engine *engine);

/* Give the world a packet; counts the frame on the scoreboard first. */
p2p_err p2p__post(p2p_engine *engine, p2p_peer *peer, p2p_packet *packet);

/* A frame from this peer has been dealt with. */
void p2p__frame_received(p2p_engine *engine, p2p_peer *peer);

/* A message is not what was sent. Never returns P2P_OK. */
p2p_err p2p__damaged(p2p_engine *engine, const p2p_peer *peer, const wire_header *header);

/* ---- alloc.c ---- */

/* Where in the job's memory file these bytes lie; 0 if there are none, or not all of them lie in one buffer of
 * p2p_alloc. And the bytes at such a place of another rank's, for as long as the job lasts; NULL if this rank cannot
 * map them. */
uint64_t p2p__shared_place(const p2p_engine *engine, const void *buf, size_t bytes);
const void *p2p__shared_bytes(p2p_engine *engine, uint64_t place, size_t bytes);
void p2p__blocks_free(p2p_engine *engine);

#endif
