/* SPDX-License-Identifier: MIT */
// what: the second half has n - 2 steps
// expect: Each rank sent 1 message; there are 2(n-1) = 2 steps
#include "exercises/exercises.h"
#include <stdlib.h>
#include <string.h>
p2p_err my_ring_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    int r = p2p_rank(comm), n = p2p_size(comm), right = (r + 1) % n, left = (r + n - 1) % n;
    size_t e = dtype_size(dtype), f = 0, l = 0, g = 0, m = 0;
    char *b = buf;

    char *t = malloc((count / (size_t)n + 1) * e + 1);
    p2p_err err = P2P_OK;
    for (int s = 0; s < n - 1 && !err; s++) {
        my_chunk(count, n, (r - s - 1 + n) % n, &f, &l);
        my_chunk(count, n, (r - s - 2 + 2 * n) % n, &g, &m);
        err = p2p_sendrecv(comm, b + f * e, l * e, right, 1, t, m * e, left, 1, P2P_STATUS_IGNORE);
        if (!err) {
            dtype_reduce(b + g * e, t, m, dtype, op);
        }
    }
    if (op == OP_MEAN) {
        my_chunk(count, n, r, &f, &l);
        dtype_scale(b + f * e, l, dtype, n);
    }
    for (int s = 0; s < n - 2 && !err; s++) {
        my_chunk(count, n, (r - s + n) % n, &f, &l);
        my_chunk(count, n, (r - s - 1 + n) % n, &g, &m);
        err = p2p_sendrecv(comm, b + f * e, l * e, right, 2, b + g * e, m * e, left, 2, P2P_STATUS_IGNORE);
    }

    free(t);
    return err;
}
