/* SPDX-License-Identifier: MIT */
/*
 * The two ends of a link. With launch --relay they are not joined: each leads to whoever holds the other end of that socket,
 * who carries on what comes. The checker of the course stands there, and counts what ranks send, outside of their processes.
 *
 *      rank a ─── (a, b) ═══ relay ═══ (b, a) ─── rank b
 */
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "p2p/job/launch.h"

static bool make_pair(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
}

static void close_pair(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

/* False with errno; the relay forgets a first end whose second never came. */
static bool hand_over(int relay, int a, int b, int end_of_a, int end_of_b)
{
    return p2p__control_send(relay, (control_message){CONTROL_LINK, a, b}, end_of_a) &&
           p2p__control_send(relay, (control_message){CONTROL_LINK, b, a}, end_of_b);
}

bool p2p__link_ends(const p2p_job *job, int a, int b, int ends[2])
{
    int relay = job->plan->relay, to_a[2], to_b[2];
    if (relay < 0) return make_pair(ends);
    if (!make_pair(to_a)) return false;
    if (!make_pair(to_b)) {
        close_pair(to_a);
        return false;
    }
    bool good = hand_over(relay, a, b, to_a[1], to_b[1]);
    close(to_a[1]);
    close(to_b[1]);
    ends[0] = to_a[0];
    ends[1] = to_b[0];
    if (!good) close_pair(ends);
    return good;
}

void p2p__relay_protect(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}
