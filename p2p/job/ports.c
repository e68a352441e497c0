/* SPDX-License-Identifier: MIT */
/*
 * The ports of a virtual network's hosts. A rank asks for the port of its host at a time of its own clock (p2p/message/port.c),
 * and who asks first has to get it first, though its process may run last. So a port is given out only when no rank can do
 * anything but wait: then the ranks that ask have said all that they will ever ask before, and the earliest of them (of equal
 * ones the lowest rank first) are next. What all ranks wait for then does not depend on the machine, and so nor do the times.
 */
#include <sched.h>
#include <stdlib.h>

#include "p2p/job/launch.h"

struct p2p_ports {
    bool asked; /* by some rank, since nobody was found to ask */
    p2p_clock host[P2P_MAX_RANKS];
};

p2p_ports *p2p__ports_new(void)
{
    return calloc(1, sizeof(p2p_ports));
}

void p2p__port_asked(p2p_job *job)
{
    if (job->ports) job->ports->asked = true;
}

static void grant(p2p_job *job, int rank)
{
    const p2p_network *network = &job->plan->config.network;
    scoreboard_row *row = &job->scoreboard->rows[rank];
    int to = row->port.to >= 0 && row->port.to < job->size ? row->port.to : rank;
    p2p_clock *out = &job->ports->host[p2p__network_host(network, rank)],
              *in = &job->ports->host[p2p__network_host(network, to)];
    uint64_t cost = row->port.cost, now = row->port.now;
    uint64_t begins = now > out->out_free ? now : out->out_free;
    uint64_t arrives = (begins > in->in_free ? begins : in->in_free) + cost;
    out->out_free = row->port.ends = begins + cost;
    in->in_free = arrives;
    row->port.began = arrives - cost;
    atomic_store_explicit(&row->port.granted, atomic_load(&row->port.asked), memory_order_release);
    atomic_fetch_add(&row->nudges, 1);
    job->ranks[rank].nudges_owed++;
    p2p__nudge(job, rank);
}

bool p2p__ports_look(p2p_job *job)
{
    p2p_rank_set asking;
    uint64_t first = UINT64_MAX;
    if (!job->ports || !job->ports->asked || job->failed) return false;
    bool quiet = p2p__watch_is_quiet(&job->watch, &asking);
    job->ports->asked = false;
    for (int i = 0; i < job->size; i++) {
        if (!p2p__set_has(&asking, i)) continue;
        if (job->scoreboard->rows[i].port.now < first) first = job->scoreboard->rows[i].port.now;
        job->ports->asked = true;
    }
    for (int i = 0; i < job->size && quiet; i++)
        if (p2p__set_has(&asking, i) && job->scoreboard->rows[i].port.now == first) grant(job, i);
    if (job->ports->asked) sched_yield(); /* a rank may be waiting for this core */
    return job->ports->asked;
}
