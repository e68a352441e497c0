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
void p2p__put_words(const p2p_engine *engine, uint32_t context, uint64_t in_lines, uint64_t number,
                    scoreboard_call *words);
/* Where this rank's row has them, for those who think otherwise. */
scoreboard_call *p2p__words_place(p2p_engine *engine, uint32_t context, uint64_t in_lines);

/* This rank and another (both of the world) think differently of a collective: show how, and what to try. */
void p2p__show_difference(p2p_engine *engine, int other, uint32_t context, uint64_t number);

/* Of two ranks, the lower one first, by what they have shown of the collective that has this number in the lines: a
 * finding, its words, and what to try. */
const char *p2p__difference(const scoreboard *b, const int ranks[2], const scoreboard_call calls[2], uint64_t in_lines,
                            p2p_finding *f, p2p_words *w);

/* ---- split.c: the answer to a split ---- */

/* Its head: a context that no other communicator has or had. */
void p2p__split_head(scoreboard *b, int size, uint32_t head[]);
/* What a rank makes of what it was told. */
p2p_err p2p__comm_build(p2p_comm *comm, uint32_t mine[], p2p_comm **sub);

/* ---- agree.c ---- */

/* Tell the others that this rank is in the open collective, and what it thinks it is: what its row shows. Some bytes
 * may go with it. */
p2p_err p2p__agree_post(p2p_comm *comm, const p2p_fingerprint *what);

/* The open collective will not wait here: now a rank that does must learn that this one has come. */
p2p_err p2p__agree_settle(p2p_comm *comm);

/* ---- explain.c: of the outermost collective, in a job of launch --explain ---- */

void p2p__explain_begin(p2p_comm *comm, const p2p_fingerprint *what);
void p2p__explain_end(p2p_comm *comm, p2p_err err);

/* When this rank came to it, for the others, on its line. */
void p2p__explain_show(const p2p_comm *comm, unsigned char payload[SCOREBOARD_INLINE]);

/* Do ranks see when the others come? They have one clock, and agree on collectives. */
bool p2p__explain_has_times(const p2p_engine *engine);

/* It goes on as this request. */
void p2p__explain_request(p2p_comm *comm, p2p_request request);

/* ---- explain_table.c: what is kept of it, and shown ---- */

enum { EXPLAIN_KINDS = 64, EXPLAIN_SAMPLES = 99 };

typedef struct {
    p2p_fingerprint what;
    const char *algorithm;
    char members[64]; /* the ranks of the communicator */
    int ranks, hosts;
    char why[160];
    bool is_request;
    size_t calls;
    /* Of the first calls, in turn of the last; seconds; should: -1 where it is not known. */
    double took[EXPLAIN_SAMPLES], should[EXPLAIN_SAMPLES];
} p2p_explained_kind;

/* Of a collective that is under way: what it should take. */
typedef struct {
    double began;
    uint64_t number; /* in the lines */
    size_t kind;
    p2p_layer_predicts *predict; /* NULL: not known */
    double plan[];
} p2p_explained_call;

struct p2p_explained {
    size_t count, others;     /* kinds; calls of kinds for which there was no room */
    p2p_explained_call *open; /* NULL: none, or no room */
    char why[160];            /* of the next one */
    p2p_explained_kind kinds[EXPLAIN_KINDS];
};

/* Which of the kinds this call is; EXPLAIN_KINDS: there is no room. */
size_t p2p__explain_kind(p2p_explained *e, const p2p_comm *comm, const p2p_fingerprint *what);

/* On stderr, a table for each communicator. */
void p2p__explain_print(p2p_engine *engine, p2p_explained *e);

/* ---- scratch.c ---- */

/* Bytes of the largest piece that each of so many ranks can have. */
size_t p2p__scratch_largest(int ranks);

/* Bytes of one rank's part. */
size_t p2p__scratch_segment(int ranks);

/* Do these bytes, which go with a line, lie in the scratch memory of so many ranks? */
bool p2p__scratch_holds(size_t ranks, uint64_t offset, size_t bytes);

/* Where that of a communicator of so many ranks begins; 0 and errno: there is no room, or (ESTALE) a later communicator has its
 * index. hold: for a launcher, and until it leaves no rank gives that place back. Where it is known to; 0: not yet. */
memory_place p2p__scratch_place(scoreboard *b, int fd, memory_gap **gaps, uint32_t context, int ranks, bool hold);
void p2p__scratch_leave(scoreboard *b, uint32_t context);
memory_place p2p__scratch_known(const scoreboard *b, uint32_t context);

/* What another communicator with its index has left behind is given back; with `own` its own as well. */
void p2p__scratch_clear(scoreboard *b, int fd, memory_gap **gaps, uint32_t context, bool own);

/* Every communicator that may get scratch memory has this as free_scratch. */
void p2p__scratch_free(p2p_comm *comm, bool last);

#endif
