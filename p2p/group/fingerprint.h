/* SPDX-License-Identifier: MIT */
/* fingerprint: what ranks think a collective is, compared by a number, told in words. For layer.c and agree.c. */
#ifndef PAIRWISE_P2P_FINGERPRINT_H
#define PAIRWISE_P2P_FINGERPRINT_H

#include "p2p/message/internal.h"

/* Show on this rank's row what the open call is, and keep its hash: engine->shown->hash. */
void p2p__show_collective(p2p_engine *engine, const p2p_fingerprint *what, uint64_t number);

/* Keep what the row shows in words, for others to read once they see a hash that is not theirs. */
void p2p__show_words(p2p_engine *engine, uint32_t context, uint64_t number);

/* This rank and another (both of the world) think differently of a collective: how, and what to do. */
void p2p__describe_difference(p2p_engine *engine, int other, uint32_t context, uint64_t number, char *text,
                              size_t bytes);

#endif
