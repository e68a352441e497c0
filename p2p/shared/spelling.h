/* SPDX-License-Identifier: MIT */
#ifndef PAIRWISE_P2P_SPELLING_H
#define PAIRWISE_P2P_SPELLING_H

#include <stddef.h>

/* The name that this word is most likely a slip of; NULL if it is like none. The last of `names` is NULL. */
const char *p2p__nearest(const char *word, const char *const names[]);

#endif
