/* SPDX-License-Identifier: MIT */
/*
 * Ring all-reduce. The ranks stand in a ring; each only ever sends to the right and receives from the left:
 *
 *            .---> 0 ---> 1 ---.
 *            |                 |          the buffer of each rank in n chunks (chunks.c):
 *            '---- 3 <--- 2 <--'          | chunk 0 | chunk 1 | chunk 2 | chunk 3 |
 *
 * The index rule, all numbers mod n:
 *
 *      first half (reduce_scatter.c)     step s: rank r sends chunk r - s - 1, receives r - s - 2 and adds its own
 *      second half (all_gather.c)        step s: rank r sends chunk r - s,     receives r - s - 1 and keeps it
 *
 * Four ranks; a, b, c, d are the parts of rank 0, 1, 2, 3. First half, what is sent, "chunk: sum so far":
 *
 *                  rank 0 -> 1    rank 1 -> 2    rank 2 -> 3    rank 3 -> 0
 *      step 0      3: a           0: b           1: c           2: d
 *      step 1      2: da          3: ab          0: bc          1: cd
 *      step 2      1: cda         2: dab         3: abc         0: bcd
 *      then has    0: bcda        1: cdab        2: dabc        3: abcd        rank r has chunk r, complete
 *
 * Second half, the complete chunks that each rank has:
 *
 *                  rank 0         rank 1         rank 2         rank 3
 *      before      0              1              2              3
 *      step 0      0 3            1 0            2 1            3 2
 *      step 1      0 3 2          1 0 3          2 1 0          3 2 1
 *      step 2      0 3 2 1        1 0 3 2        2 1 0 3        3 2 1 0        every rank has every chunk
 *
 * Cost, for n ranks and S bytes: 2(n-1) steps; each rank sends 2(n-1) messages of S/n bytes to its right-hand
 * neighbour, 2(n-1)/n S in all, less than 2 S for any n, and combines (n-1)/n S. All links work in every step:
 *
 *      ring:  2(n-1) (latency + S/n / bandwidth) + (n-1) S/n / combining
 *      naive: 2(n-1) (latency + S / bandwidth)   + S / combining            n times as long, for long buffers
 *
 * Sending a chunk in segments, so that one is combined while the next arrives, was measured and does not pay here:
 * combining takes a tenth of the time that sending takes, and every segment costs a message.
 *
 * No all-reduce sends less (Patarasuk and Yuan 2009), but for short buffers its 2(n-1) latencies lose against the
 * log2 n of recursive doubling (Thakur, Rabenseifner and Gropp 2005).
 *
 * Order: a chunk goes one way round, and its owner alone ends it, so all ranks get the same bits: chunk c is
 * (x[c+1] + x[c+2]) + ... + x[c]. A mean is divided by n at the end of the first half, once, by the chunk's owner.
 */
#include "ring/internal.h"

p2p_err ring_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    const frame__blocks chunks = {.layout = FRAME_CHUNKS, .count = count};
    frame__call call = {.comm = comm,
                        .operation = "ring_all_reduce",
                        .count = count,
                        .dtype = dtype,
                        .has_op = true,
                        .op = op,
                        .reorders = true,
                        .only_reads = true};
    p2p_err err = frame__begin(&call, FRAME_NOTHING, (frame__span){buf, count});
    if (err) return err;
    err = frame__memory(&call, ring__scratch(&call, &chunks));
    if (!err) err = ring__reduce_scatter(&call);
    if (!err) err = ring__all_gather(&call, buf);
    return frame__end(&call, err, NULL);
}
