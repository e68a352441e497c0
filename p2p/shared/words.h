/* SPDX-License-Identifier: MIT */
/* words: diagnoses as sentences for people. No program reads what is made here. */
#ifndef PAIRWISE_P2P_WORDS_H
#define PAIRWISE_P2P_WORDS_H

#include "p2p/shared/diagnosis.h"

#define WAITERS_SHOWN 8

/* Text that grows and never overflows. */
typedef struct {
    char text[6000];
    size_t used;
    char advice[400]; /* what to try, which the text ends with; "": nothing */
} p2p_words;

__attribute__((format(printf, 2, 3))) void p2p__add(p2p_words *w, const char *format, ...);

/* "3", "0-2,5", behind `before`. */
void p2p__add_ranks(p2p_words *w, const char *before, const p2p_rank_set *set, int size);

/* How a host is called in every message: its number and its name, since two launchers on one machine have one name. */
#define P2P_HOST "host %d (%s)"

/* In every message for people, before what to try. */
#define P2P_TRY "\n  try: "

/* "rank 3"; in a job of several hosts "rank 3 on host 1 (name)". */
void p2p__add_rank(p2p_words *w, const p2p_place *place);

/* What to try, last; NULL: nothing. */
void p2p__add_advice(p2p_words *w, const char *advice);

/* "p2p_recv(source 1, tag 0)", and with " at ring.c:12" */
void p2p__add_arguments(p2p_words *w, const char *before, const scoreboard_call *call);
void p2p__add_call(p2p_words *w, const char *before, const scoreboard_call *call);

/* "send to 1, tag 0, 8 bytes": an operation that is pending, with the word for a send or for a receive. */
void p2p__add_operation(p2p_words *w, const char *send, const char *receive, const scoreboard_call *call);

/* The same, with the line that posted it: "receive from 0, tag 1, 4 bytes, posted on line 12", or a collective. */
void p2p__add_item(p2p_words *w, const scoreboard_call *item);

/* What a call waits for, if it waits for several operations; a line each. */
void p2p__add_items(p2p_words *w, const p2p_finding *f, const p2p_place *call);

/* Is a call of this name MPI's (mpi/)? */
bool p2p__is_mpi(const char *call);

/* Of a call of MPI's: with MPI's names in the text instead of ours (words_mpi.c). Of others nothing happens. */
void p2p__words_of(const char *call, char *text, size_t bytes);

/* ---- Findings ---- */

void p2p__words_deadlock(p2p_words *w, const p2p_finding *deadlock);
/* The mistake behind it; returns what to try. */
const char *p2p__words_mistake(p2p_words *w, const p2p_finding *deadlock);

/* "was killed by signal 9 (Killed)": how a rank ended. */
void p2p__words_end(p2p_words *w, const p2p_diagnosis *end);

/* "rank 1 was killed by signal 9 (Killed); its last call was ...", and, if asked for, which ranks waited meanwhile. */
/* What to try; a literal. */
const char *p2p__death_advice(const p2p_diagnosis *end);
void p2p__words_death(p2p_words *w, const p2p_finding *death, bool meanwhile);

/* For a second there has been nothing but polling. */
void p2p__words_polling(p2p_words *w, const p2p_finding *polling);

/* "  rank 0, state S (sleeping), waits in p2p_recv(...)": what a rank is doing, and what is pending there; a line each. */
void p2p__words_doing(p2p_words *w, const p2p_finding *job, const p2p_place *place);

/* "mismatch: rank 0 is in coll_broadcast #5 at a.c:3, rank 1 in coll_barrier #5 at a.c:5"; returns what to try, or
 * NULL. */
const char *p2p__words_mismatch(p2p_words *w, const p2p_finding *mismatch);

/* One kind of what p2p_finalize found left, after the others: "2 requests never waited for: irecv from 1, ..."; returns what
 * to try. */
const char *p2p__words_left(p2p_words *w, const p2p_finding *left);

/* For whom a call has waited too long, and what those are doing. */
void p2p__words_timeout(p2p_words *w, const p2p_finding *timeout);

#endif
