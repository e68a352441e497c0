/* SPDX-License-Identifier: MIT */
#include "bench/util/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/collectives.h"

enum { ALIGNMENT = 64 };

size_t ranks_agree(p2p_comm *world, size_t number)
{
    int64_t agreed = (int64_t)number;

    coll_tree_broadcast(world, &agreed, 1, DTYPE_I64, 0); /* the world's errors are fatal */
    return (size_t)agreed;
}

void *ranks_buffer(const char *bench, size_t bytes)
{
    void *buf = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);

    if (buf)
        memset(buf, 0, bytes);
    else
        fprintf(stderr, "%s: no memory for a buffer of %zu bytes\n", bench, bytes);
    return buf;
}
