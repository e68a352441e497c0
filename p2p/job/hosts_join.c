/* SPDX-License-Identifier: MIT */
/* The launchers of several hosts come together, before any rank is started: who has how many ranks, and that all have the same
 * build and settings. */
#include "p2p/job/hosts.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "build_id.h"

#define FIRST_MESSAGE_S 5.0
#define SETTINGS_S 30.0
#define READY_S 60.0

static const char *name_of(const p2p_cluster *hosts, int host)
{
    return hosts->greetings[host].name;
}

/* Who has how many ranks; all of the same build. */
static bool place_ranks(p2p_cluster *hosts, char *why, size_t why_bytes)
{
    int size = 0;
    hosts->map = (scoreboard_hosts){.count = hosts->count, .own = hosts->own};
    for (int h = 0; h < hosts->count; h++) {
        host_greeting *g = &hosts->greetings[h];
        g->build[sizeof g->build - 1] = g->name[sizeof g->name - 1] = 0;
        if (strcmp(g->build, P2P_BUILD_ID) != 0) {
            snprintf(why, why_bytes,
                     "launcher %d, on %s, is Pairwise build %s, launcher %d, on %s, is build %s\n  try: "
                     "the same installation on every host",
                     h, g->name, g->build, hosts->own, name_of(hosts, hosts->own), P2P_BUILD_ID);
            return false;
        }
        size += g->ranks > 0 && g->ranks <= P2P_MAX_RANKS ? g->ranks : P2P_MAX_RANKS + 1;
        hosts->map.beside += strcmp(g->name, name_of(hosts, hosts->own)) == 0;
        if (size > P2P_MAX_RANKS) {
            snprintf(why, why_bytes, "more than %d ranks on %d hosts", P2P_MAX_RANKS, hosts->count);
            return false;
        }
        hosts->map.first[h + 1] = (uint16_t)size;
    }
    hosts->first = hosts->map.first[hosts->own];
    hosts->ranks = hosts->greetings[hosts->own].ranks;
    return true;
}

p2p_cluster *p2p__hosts_join(const p2p_carrier *carrier, int own, int count, int ranks, char *why, size_t why_bytes)
{
    host_greeting greeting = {.ranks = ranks};
    char missing[400];
    p2p_cluster *hosts = calloc(1, sizeof *hosts);
    why[0] = 0;
    if (!hosts) return NULL;
    *hosts = (p2p_cluster){.carrier = carrier, .own = own, .count = count, .spill.fd = -1};
    snprintf(greeting.build, sizeof greeting.build, "%s", P2P_BUILD_ID);
    gethostname(greeting.name, sizeof greeting.name - 1);
    hosts->greetings = calloc((size_t)count, sizeof greeting);
    if (hosts->greetings &&
        !carrier->exchange(&greeting, hosts->greetings, sizeof greeting, FIRST_MESSAGE_S, missing, sizeof missing))
        snprintf(why, why_bytes,
                 "hosts cannot reach each other through %s: %s\n  try: %s, a network that all hosts have",
                 carrier->name, missing, carrier->which_interface);
    else if (hosts->greetings && place_ranks(hosts, why, why_bytes))
        return hosts;
    free(hosts->greetings);
    free(hosts);
    return NULL;
}

/* mpirun binds what it starts to a core, or to a few: meant for one process, not for a launcher and its ranks. */
static void take_cores(int ranks)
{
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) > ranks) return;
    memset(&cores, 0xff, sizeof cores); /* the system takes away those that this process may not have */
    sched_setaffinity(0, sizeof cores, &cores);
}

p2p_cluster *p2p__hosts_open(int ranks, char *why, size_t why_bytes)
{
    int own, count, expected = p2p__hosts_expected(); /* before the library sets variables of its own */
    if (!p2p__carrier->open(&own, &count, why, why_bytes)) return NULL;
    if (count == 1 && expected > 1) {
        snprintf(
            why, why_bytes,
            "%d launchers were started, and %s sees one\n  try: srun --mpi=pmix, or the mpirun of the library that "
            "this launcher is built with",
            expected, p2p__carrier->name);
        return NULL;
    }
    take_cores(ranks);
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* whatever started the launchers has ended, and the job with it */
    return p2p__hosts_join(p2p__carrier, own, count, ranks, why, why_bytes);
}

static void describe_settings(const p2p_config *c, char *text, size_t bytes)
{
    snprintf(text, bytes,
             "PAIRWISE_WORLD=%s PAIRWISE_EAGER=%zu PAIRWISE_UNEXP_MAX=%zu PAIRWISE_DIRECT=%zu PAIRWISE_TIMEOUT=%llu "
             "PAIRWISE_SNDBUF=%zu PAIRWISE_STRICT=%d PAIRWISE_DEBUG=%d PAIRWISE_CRC=%d PAIRWISE_CHECK=%d "
             "PAIRWISE_NETWORK=%d PAIRWISE_TRACE_ROOM=%zu --metrics=%d --record=%d",
             c->world, c->eager, c->unexpected_max, c->direct, (unsigned long long)c->timeout_ns, c->sndbuf, c->strict,
             c->debug, c->crc, c->check, c->network.on, c->trace_room, c->metrics, c->record);
}

bool p2p__hosts_agree(p2p_cluster *hosts, const p2p_config *config, char *why, size_t why_bytes)
{
    char own[600] = "", missing[400], *all = calloc((size_t)hosts->count, sizeof own);
    bool same = all != NULL;
    describe_settings(config, own, sizeof own);
    if (same && !hosts->carrier->exchange(own, all, sizeof own, SETTINGS_S, missing, sizeof missing)) {
        snprintf(why, why_bytes, "%s", missing);
        same = false;
    }
    for (int h = 0; same && h < hosts->count; h++) {
        char *other = all + (size_t)h * sizeof own;
        size_t at = 0;
        other[sizeof own - 1] = 0;
        while (own[at] && own[at] == other[at]) at++;
        same = own[at] == other[at];
        while (at && own[at - 1] != ' ') at--;
        if (!same)
            snprintf(why, why_bytes, "settings differ: launcher %d, on %s, has %.*s, launcher %d, on %s, has %.*s",
                     hosts->own, name_of(hosts, hosts->own), (int)strcspn(own + at, " "), own + at, h,
                     name_of(hosts, h), (int)strcspn(other + at, " "), other + at);
    }
    free(all);
    return same;
}

bool p2p__hosts_ready(p2p_cluster *hosts, bool ready)
{
    char missing[400];
    int own = ready, *all = calloc((size_t)hosts->count, sizeof own);
    bool told = all && hosts->carrier->exchange(&own, all, sizeof own, READY_S, missing, sizeof missing);
    for (int h = 0; told && h < hosts->count; h++) ready = ready && all[h];
    free(all);
    return told && ready;
}
