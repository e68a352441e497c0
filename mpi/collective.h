/* SPDX-License-Identifier: MIT */
/* collective: what the collectives share, those that wait and those that return a request. */
#ifndef PAIRWISE_MPI_COLLECTIVE_H
#define PAIRWISE_MPI_COLLECTIVE_H

#include "mpi/internal.h"

/* The arguments are in order: ends the call in which they were checked; the next collective of collectives/ begins another
 * one at the same line, under this name. */
void mpi__go_on(mpi__comm *c, const p2p_fingerprint *as);

/* A short collective cannot afford a call for its checks. quick: the communicator, if it is one: they can be made without a
 * call. Where they find nothing, go_on_quick; else they are made once more, after mpi__begin, to say what is wrong. */
mpi__comm *mpi__quick(MPI_Comm comm);
void mpi__go_on_quick(mpi__comm *c, const p2p_fingerprint *as);

int mpi__check_root(mpi__comm *c, int root);
size_t mpi__elements(const mpi__type *type, size_t count); /* predefined ones */
p2p_fingerprint mpi__shown(const char *name, const mpi__type *type, size_t count, int root);
/* What messages of such elements are, in collectives of any lengths, which do not compare anything else. */
uint16_t mpi__shown_kind(const mpi__type *type);
/* Both sides of one rank's own block must be the same. */
int mpi__check_same(mpi__comm *c, const mpi__type *sent, size_t send_count, const mpi__type *received,
                    size_t recv_count);
void *mpi__copy(const void *from, size_t bytes);

/* Blocks of any length at any place, and beside them the same bytes one after the other. Their types are held. */
typedef struct mpi__blocks {
    char *buf, *packed;
    int ranks;
    size_t bytes;
    size_t *counts, *offsets, *elements; /* [ranks] bytes of a block, where it begins in `packed`; elements of it */
    ptrdiff_t *places;                   /* bytes from buf */
    mpi__type **types;
} mpi__blocks;

/* Either all blocks have one type, and displacements count its extent; or each has its own, and they count bytes. */
int mpi__blocks_open(mpi__comm *c, mpi__blocks *b, const void *buf, const int counts[], const int displacements[],
                     MPI_Datatype datatype, const MPI_Datatype datatypes[], bool receives);
/* apart.c: blocks of dense types lie apart from each other. */
int mpi__check_each_apart(mpi__comm *c, const mpi__blocks *b);
/* These elements lie apart from all blocks. instead: what stands for the same memory on both sides. */
int mpi__check_apart(mpi__comm *c, const mpi__blocks *b, const mpi__type *type, const void *buf, size_t count,
                     const char *instead);
int mpi__check_blocks_apart(mpi__comm *c, const mpi__blocks *out, const mpi__blocks *in);
/* All blocks have `count` elements, side by side. */
int mpi__blocks_alike(mpi__comm *c, mpi__blocks *b, const void *buf, int count, MPI_Datatype datatype, bool receives);
/* Where each pair of ranks has types of its own: the kinds of blocks (p2p_fingerprint). free() it; NULL: no memory. */
uint16_t *mpi__block_kinds(const mpi__comm *c, const mpi__blocks *out, const mpi__blocks *in);
void mpi__blocks_pack(mpi__blocks *b);
void mpi__blocks_unpack(mpi__blocks *b);
void mpi__blocks_close(mpi__blocks *b);

/* A reduction: the elements that are combined in place. Its type and its operator are held. */
typedef struct {
    mpi__combiner combiner;
    mpi__type *type;
    void *work, *owned; /* of so many elements */
    size_t count, bytes;
} mpi__reduction;

/* Checks all arguments. `from` may be MPI_IN_PLACE. has_result: this rank's `to` gets the result (or part of it). */
int mpi__reduction_open(mpi__comm *c, mpi__reduction *r, const void *from, void *to, MPI_Count count,
                        MPI_Datatype datatype, MPI_Op op, bool has_result, bool apart);
/* Work beside the result's buffer, if that takes no more than so many bytes. */
void mpi__reduction_aside(mpi__reduction *r, size_t most);
/* Of `count` elements from `first` on, the result goes to `to`. */
void mpi__reduction_store(mpi__reduction *r, void *to, size_t first, size_t count);
void mpi__reduction_close(mpi__reduction *r);
/* Of a result in parts: how long each rank's is, and where it begins; `all` elements in all. */
typedef struct {
    size_t *counts, *offsets, all;
} mpi__parts;

/* Each has counts[rank] elements, or (counts NULL) `each`. free(parts->counts) afterwards, also after an error. */
int mpi__parts_open(mpi__comm *c, mpi__parts *parts, const int counts[], int each);
/* Of elements that have no data there is nothing to combine. */
void mpi__parts_fit(const mpi__comm *c, mpi__parts *parts, const mpi__type *type);
p2p_fingerprint mpi__reduction_shown(const char *name, const mpi__reduction *r, size_t count, int root);

/* watch.c: buffers that the program leaves alone until a collective has ended. Results are put in place at its end, so until
 * then nothing but the program writes there. */
enum { MPI__WATCHED_MOST = 64 << 10 }; /* bytes */

typedef struct {
    mpi__region region;
    mpi__type *held; /* the region's; those of blocks are held by them */
    size_t bytes;
    bool summed;
    uint32_t sum;
} mpi__watched;

typedef struct {
    mpi__watched all[2];
    int count;
} mpi__watch;

/* The blocks stay where they are. No sums are taken of long ones that receive, and of elements with gaps
 * between them. */
void mpi__watch_data(mpi__watch *w, bool sent, mpi__type *type, const void *buf, size_t count);
void mpi__watch_blocks(mpi__watch *w, bool sent, const mpi__blocks *blocks);
void mpi__watch_open(mpi__watch *w, const mpi__request *request);
void mpi__watch_close(mpi__watch *w);
int mpi__watch_check(const mpi__watch *w, mpi__request *request);

#endif
