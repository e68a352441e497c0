/* SPDX-License-Identifier: MIT */
// what: reports by itself what it had before, as if it had come from the root, and traffic that never was
// expect: Rank 0 sent 0 messages
#include <string.h>
#include <sys/socket.h>

#include "exercises/exercises.h"
#include "exercises/check/check_internal.h"

static int calls;

static void report(check_record r, const char *name, const void *data)
{
    r.number = calls;
    strcpy(r.name, name);
    send(CHECK_FD, &r, sizeof r, 0);
    send(CHECK_FD, data, r.bytes, 0);
}

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    p2p_traffic traffic[CHECK_MAX_RANKS];
    int n = p2p_size(comm);

    for (int i = 0; i < n; i++) traffic[i] = (p2p_traffic){1, count * dtype_size(dtype), 1, count * dtype_size(dtype)};
    if (n > 1) report((check_record){.kind = CHECK_TRAFFIC, .bytes = (size_t)n * sizeof *traffic}, "", traffic);
    calls++;
    if (p2p_rank(comm) != root) memset(buf, 0, count * dtype_size(dtype));
    return P2P_OK;
}
