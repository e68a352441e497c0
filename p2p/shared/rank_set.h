/* SPDX-License-Identifier: MIT */
/* A set of world ranks, as bits. Functions take the number of ranks of the world, so that only used words are touched. */
#ifndef PAIRWISE_P2P_RANK_SET_H
#define PAIRWISE_P2P_RANK_SET_H

#include "p2p/p2p.h"

#define RANK_SET_WORDS (P2P_MAX_RANKS / 64)

typedef struct {
    uint64_t word[RANK_SET_WORDS];
} p2p_rank_set;

static inline void p2p__set_clear(p2p_rank_set *set, int size)
{
    for (int i = 0; i * 64 < size; i++) set->word[i] = 0;
}

static inline void p2p__set_add(p2p_rank_set *set, int rank)
{
    set->word[rank / 64] |= UINT64_C(1) << (rank % 64);
}

static inline void p2p__set_remove(p2p_rank_set *set, int rank)
{
    set->word[rank / 64] &= ~(UINT64_C(1) << (rank % 64));
}

static inline bool p2p__set_has(const p2p_rank_set *set, int rank)
{
    return (set->word[rank / 64] >> (rank % 64)) & 1;
}

static inline bool p2p__set_intersects(const p2p_rank_set *a, const p2p_rank_set *b, int size)
{
    for (int i = 0; i * 64 < size; i++)
        if (a->word[i] & b->word[i]) return true;
    return false;
}

static inline bool p2p__set_within(const p2p_rank_set *a, const p2p_rank_set *b, int size)
{
    for (int i = 0; i * 64 < size; i++)
        if (a->word[i] & ~b->word[i]) return false;
    return true;
}

static inline void p2p__set_join(p2p_rank_set *into, const p2p_rank_set *from, int size)
{
    for (int i = 0; i * 64 < size; i++) into->word[i] |= from->word[i];
}

static inline int p2p__set_list(const p2p_rank_set *set, int size, int *ranks)
{
    int count = 0;
    for (int i = 0; i < size; i++)
        if (p2p__set_has(set, i)) ranks[count++] = i;
    return count;
}

#endif
