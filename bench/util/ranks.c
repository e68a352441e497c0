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

static int note_rank(p2p_comm *world, void *rank)
{
    *(int *)rank = p2p_rank(world);
    return 0;
}

bool ranks_is_first(void)
{
    int rank = 0;

    return !p2p_launched() || (p2p_launch(p2p_launched(), note_rank, &rank, NULL) == P2P_OK && rank == 0);
}

void ranks_need_own_jobs(const char *bench)
{
    if (!p2p_launched()) return;
    fprintf(stderr,
            "%s: starts jobs of different settings to compare them, so it cannot use the launcher's ranks\n"
            "  try: it without a launcher\n",
            bench);
    exit(2);
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
