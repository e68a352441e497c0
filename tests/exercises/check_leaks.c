/* SPDX-License-Identifier: MIT */
/* Inside of communicators. What p2p_finalize would say of requests that nobody waited for, asked before it: for the line in which each was made. */
#include "p2p/message/internal.h"

#include "tests/exercises/check_internal.h"

const char *check_leaks(p2p_comm *world)
{
    p2p__report_leaks(world);
    return world->cause;
}

uint32_t check_context(const p2p_comm *comm)
{
    return comm->context;
}
