/* SPDX-License-Identifier: MIT */
/*
 * ring: all-reduce for large buffers. Every rank talks to its two neighbours only, and sends 2(n-1)/n of the buffer,
 * which is the least possible, however many ranks there are. The picture is in all_reduce.c.
 *
 *      ring_all_reduce          the two halves below, one after the other
 *      ring_reduce_scatter      n - 1 steps; then every rank has one chunk of the result
 *      ring_all_gather          n - 1 steps; then every rank has all chunks
 *      ring_iall_reduce         all-reduce that moves on while the program does something else
 *      ring_chunk               which elements make a chunk
 *
 * All in place, for any count, n = 1 and count < n included. Agreement between the ranks, wrong arguments, bit-identity
 * and what a mean is: as in collectives/collectives.h. Chunk c is combined in the order of the ranks c + 1, c + 2, ...,
 * c (mod n), what has come from the left on the left: another order in each chunk, the same on every rank.
 *
 * Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009;
 * Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", 2005.
 */
#ifndef PAIRWISE_RING_H
#define PAIRWISE_RING_H

#include "dtype/dtype.h"
#include "p2p/p2p.h"

#ifdef __cplusplus
extern "C" {
#endif

/* buf[i] becomes the combination of every rank's buf[i], the same bits on every rank. 2(n-1) steps. */
p2p_err ring_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

/* Begins an all-reduce and returns; it moves on inside p2p_wait, p2p_test and every other call that waits. buf belongs
 * to the library until the request is done. Several may be in flight, begun in the same order on every rank, beside
 * any other traffic. The same bits as ring_all_reduce. */
p2p_err ring_iall_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, p2p_request *request);

/* buf[*first] to buf[*first + *length - 1], this rank's chunk, becomes the combination; the rest of buf is as before.
 * first and length are set on success. */
p2p_err ring_reduce_scatter(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, size_t *first,
                            size_t *length);

/* From the chunk that ring_reduce_scatter leaves on each rank to the whole buffer on every rank. */
p2p_err ring_all_gather(p2p_comm *comm, void *buf, size_t count, enum dtype dtype);

/* Chunk c of n: elements [*first, *first + *length). The first count mod n chunks have one element more. Rank r of n
 * owns chunk r after ring_reduce_scatter. */
void ring_chunk(size_t count, int n, int c, size_t *first, size_t *length);

/* ---- Whose line: see the end of p2p/p2p.h. ---- */

#ifndef P2P_NO_LINES
#define ring_all_reduce(...) (P2P_HERE, ring_all_reduce(__VA_ARGS__))
#define ring_iall_reduce(...) (P2P_HERE, ring_iall_reduce(__VA_ARGS__))
#define ring_reduce_scatter(...) (P2P_HERE, ring_reduce_scatter(__VA_ARGS__))
#define ring_all_gather(...) (P2P_HERE, ring_all_gather(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
