/* SPDX-License-Identifier: MIT */
/*
 * A message to another host of a virtual network waits for the port that the ranks of its host share: the launcher gives it
 * out (p2p/job/ports.c). Meanwhile this rank receives what comes, but begins nothing new: what it asks for next must not depend
 * on when that comes.
 */
#include "p2p/message/internal.h"
#include "p2p/shared/control.h"

static bool is_granted(p2p_engine *engine, void *arg)
{
    (void)arg;
    const scoreboard_port *port = &engine->row->port;
    return atomic_load_explicit(&port->granted, memory_order_acquire) == atomic_load(&port->asked);
}

static void describe_nothing(p2p_engine *engine, void *arg, scoreboard_wait *wait)
{
    (void)engine, (void)arg, (void)wait; /* it can act, as soon as the others cannot */
}

p2p_err p2p__ask_port(p2p_comm *comm, int to, uint64_t cost, uint64_t *began, uint64_t *ends)
{
    p2p_engine *engine = comm->engine;
    scoreboard_port *port = &engine->row->port;
    p2p_waiting waiting = {
        .ready = is_granted, .describe = describe_nothing, .state = SCOREBOARD_RUNNING, .patient = true};
    port->now = engine->clock->now;
    port->cost = cost;
    port->to = to;
    atomic_fetch_add(&port->asked, 1);
    p2p__control_tell(engine->control, CONTROL_PORT, engine->rank, 0);
    engine->at_port = true;
    p2p_err err = p2p__block(comm, &waiting);
    engine->at_port = false;
    *began = port->began;
    *ends = port->ends;
    return err;
}
