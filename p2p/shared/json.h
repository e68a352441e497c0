/* SPDX-License-Identifier: MIT */
/* json: texts as JSON has them, for traces and reports. What is not UTF-8 becomes U+FFFD. */
#ifndef PAIRWISE_P2P_JSON_H
#define PAIRWISE_P2P_JSON_H

#include <stdio.h>

void p2p__json_text(FILE *file, const char *text);
void p2p__json_field(FILE *file, const char *key, const char *text); /* ,"key":"text"; nothing if it is empty */

#endif
