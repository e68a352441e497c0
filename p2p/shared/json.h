/* SPDX-License-Identifier: MIT */
/* json: what traces and reports are written with. In a text, what is not UTF-8 becomes U+FFFD. */
#ifndef PAIRWISE_P2P_JSON_H
#define PAIRWISE_P2P_JSON_H

#include <stdio.h>

#include "p2p/shared/rank_set.h"

/* Bytes of the character that begins here in UTF-8; 0: none does. */
size_t p2p__utf8_length(const unsigned char *at);

void p2p__json_text(FILE *file, const char *text);

/* ,"key":value: a text, nothing if it is empty; a number, at most INT64_MAX, which readers have; a list of ranks below `size`. */
void p2p__json_field(FILE *file, const char *key, const char *text);
void p2p__json_number(FILE *file, const char *key, uint64_t number);
void p2p__json_ranks(FILE *file, const char *key, const p2p_rank_set *set, int size);

#endif
